//! Reading from a replica that is behind, and from one that is gone.

use std::time::Duration;

use serde_json::{Value, json};

use crate::place::Machine;
use crate::programs::{Postgres, free_port, until};
use crate::served::Served;
use crate::servers::{begin, remember};

/// Returns the address of an index that is read from a replica.
fn with_replica(database: &Postgres, port: u16) -> String {
    format!("{}&replica=127.0.0.1:{port}", database.address("team"))
}

/// Returns the number of hits, and what is said of the replica.
fn search(served: &Served, token: &str, query: &str) -> (usize, Option<String>) {
    let (status, answer) = served.send("POST", "/api/search", token, &json!({"query": query}));
    assert_eq!(status, 200, "{answer}");
    let said = said_of_replica(&answer);
    (answer["hits"].as_array().unwrap().len(), said)
}

fn said_of_replica(answer: &Value) -> Option<String> {
    let notices = answer["notices"].as_array().unwrap().iter();
    let said: Vec<&str> = notices
        .filter_map(Value::as_str)
        .filter(|notice| notice.contains("replica"))
        .collect();
    let codes = answer["notice_codes"].as_array().unwrap();
    let has_code = codes.contains(&json!("read-from-replica"));
    assert_eq!(said.len(), usize::from(has_code), "{answer}");
    let is_behind = said.first().is_some_and(|said| !said.contains(" 0 s"));
    let incomplete = answer["incomplete"].as_array().unwrap();
    assert_eq!(
        incomplete.contains(&json!("read-from-replica")),
        is_behind,
        "{answer}"
    );
    said.first().map(|said| (*said).to_owned())
}

/// Returns by how many seconds a replica says to be behind.
fn seconds(said: &str) -> u64 {
    let (_, rest) = said
        .split_once("up to ")
        .unwrap_or_else(|| panic!("{said}"));
    let (number, unit) = rest.trim_end_matches(" behind").split_once(' ').unwrap();
    let number: u64 = number.parse().unwrap();
    if unit == "minutes" {
        number * 60
    } else {
        number
    }
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn an_answer_from_a_replica_says_how_far_it_is_behind() {
    let database = Postgres::start("replicated", &[]);
    let near = Machine::with_index(&database.address("team"));
    let owner = begin(&near);
    near.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
    near.ok(&["add", "notes"]);
    let replica = Postgres::replica_of(&database, &[]);
    let far = Machine::with_index(&with_replica(&database, replica.port));
    let caught_up = || {
        let sent = database.sql("SELECT pg_current_wal_lsn()");
        until("the replica has it", || {
            replica.sql(&format!("SELECT pg_last_wal_replay_lsn() >= '{sent}'")) == "t"
        });
    };
    caught_up();

    // One that has everything says so, in JSON, in text and to agents.
    let served = Served::start(&far);
    assert_eq!(search(&served, &owner, "kettle").0, 1);
    until("the replica is up to date", || {
        let said = search(&served, &owner, "kettle").1;
        said.is_some_and(|said| said.contains("which is 0 s behind"))
    });
    let run = far.ok(&["search", "kettle"]);
    assert!(run.to_string().contains("was read from a replica"), "{run}");
    assert_eq!(far.found("kettle"), ["tea.md"]);
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "kettle"}}});
    let (_, told) = served.send("POST", "/mcp", &owner, &call);
    assert!(
        told.to_string().contains("was read from a replica"),
        "{told}"
    );
    // Without a replica nothing is said.
    let answer = near.ok(&["search", "--json", "kettle"]).stdout;
    assert_eq!(
        said_of_replica(&serde_json::from_str(&answer).unwrap()),
        None
    );

    // What another machine has written since is not there yet, and the answer says so.
    replica.sql("SELECT pg_wal_replay_pause()");
    near.write("notes/bread.md", "# Bread\n\nThe dough rises.\n");
    near.ok(&["index"]);
    assert_eq!(near.found("dough"), ["bread.md"]);
    std::thread::sleep(Duration::from_secs(2));
    let run = far.run(&["search", "--json", "--no-refresh", "dough"]);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    let said = said_of_replica(&answer).unwrap_or_else(|| panic!("{answer}"));
    assert_eq!(answer["hits"], json!([]), "{answer}");
    assert!(seconds(&said) >= 2, "{said}");
    // A server that has looked at the other one since then asks that again.
    let (hits, said) = search(&served, &owner, "dough");
    assert!(hits == 1 || said.is_some_and(|said| seconds(&said) >= 2));
    // What this server writes, it finds at once, and goes back to no earlier state.
    assert_eq!(
        remember(&served, &owner, "The oven is too hot at the back."),
        201
    );
    for query in ["oven", "dough"] {
        assert_eq!(search(&served, &owner, query), (1, None), "{query}");
    }
    assert_eq!(
        remember(&served, &owner, "The oven is too hot at the back."),
        200
    );
    // Another server, which has written nothing, finds the memory as well, because those
    // are looked for where they are written.
    let other = Served::start(&far);
    until("another server finds it", || {
        search(&other, &owner, "oven").0 == 1
    });

    // Once the replica has it, it is read again.
    replica.sql("SELECT pg_wal_replay_resume()");
    caught_up();
    until("the replica is read again", || {
        let (hits, said) = search(&served, &owner, "dough");
        assert_eq!(hits, 1);
        said.is_some()
    });

    // A replica that is gone is missed by no answer.
    drop(replica);
    for query in ["oven", "dough", "kettle"] {
        assert_eq!(search(&served, &owner, query), (1, None), "{query}");
    }
    assert_eq!(far.found("dough"), ["bread.md"]);
    let never = Machine::with_index(&with_replica(&database, free_port()));
    assert_eq!(never.found("dough"), ["bread.md"]);
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_SERVERS"]
fn a_replica_that_applies_late_or_hears_nothing_is_not_said_to_be_up_to_date() {
    let database = Postgres::start("delayed", &[]);
    let near = Machine::with_index(&database.address("team"));
    begin(&near);
    near.write("notes/tea.md", "# Tea\n\nThe kettle whistles.\n");
    near.ok(&["add", "notes"]);
    let replica = Postgres::replica_of(&database, &["recovery_min_apply_delay='1h'"]);
    let far = Machine::with_index(&with_replica(&database, replica.port));
    near.write("notes/bread.md", "# Bread\n\nThe dough rises.\n");
    near.ok(&["index"]);
    let sent = database.sql("SELECT pg_current_wal_lsn()");
    until("the replica has received it", || {
        replica.sql(&format!("SELECT pg_last_wal_receive_lsn() >= '{sent}'")) == "t"
    });
    let said = || {
        let run = far.run(&["search", "--json", "--no-refresh", "dough"]);
        let answer: Value = serde_json::from_str(&run.stdout).unwrap();
        (
            answer["hits"].as_array().unwrap().len(),
            said_of_replica(&answer),
        )
    };
    let (hits, first) = said();
    let first = first.expect("nothing is said of the replica");
    assert!(hits == 0 && !first.contains(" 0 s"), "{hits}: {first}");
    // Nothing more is received, so that all that was received can be replayed.
    replica.sql("ALTER SYSTEM SET recovery_min_apply_delay = 0");
    replica.sql("ALTER SYSTEM SET primary_conninfo = ''");
    replica.sql("SELECT pg_reload_conf()");
    until("everything is replayed and nothing is received", || {
        replica.sql(&format!(
            "SELECT pg_last_wal_replay_lsn() >= '{sent}'
             AND NOT EXISTS (SELECT FROM pg_stat_wal_receiver)"
        )) == "t"
    });
    std::thread::sleep(Duration::from_millis(1_100));
    let (hits, cut_off) = said();
    let cut_off = cut_off.expect("nothing is said of the replica");
    assert!(hits == 1 && seconds(&cut_off) >= 1, "{hits}: {cut_off}");
}
