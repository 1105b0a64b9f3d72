//! A process is killed while it writes to a server. The next one finishes its work: nothing is
//! lost, and nothing is there twice.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::place::{Index, Machine, on_each_server};

/// The number of notes.
const NOTES: usize = 250;

/// Returns how long a command takes.
fn time(machine: &Machine, arguments: &[&str]) -> Duration {
    let started = Instant::now();
    machine.ok(arguments);
    started.elapsed()
}

/// Kills commands at moments that are spread over the time that they take.
struct Killer {
    whole: Duration,
    /// The number of parts of that time. A command is killed in the middle of the next one.
    parts: u32,
    next: u32,
    kills: usize,
}

impl Killer {
    fn new(whole: Duration, parts: u32) -> Self {
        Self {
            whole,
            parts,
            next: 0,
            kills: 0,
        }
    }

    /// Starts a command and kills it. Returns when.
    fn kill(&mut self, machine: &Machine, arguments: &[&str]) -> Duration {
        let delay = self.whole * (2 * self.next + 1) / (2 * self.parts);
        self.next += 1;
        let mut child = machine
            .command(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(delay);
        child.kill().unwrap();
        if child.wait().unwrap().success() {
            // The machine was busier when the whole was timed.
            self.whole = delay;
        } else {
            self.kills += 1;
        }
        delay
    }

    fn assert_killed(&self, least: usize) {
        assert!(self.kills >= least, "only {} were killed", self.kills);
    }
}

fn write(machine: &Machine, round: usize, notes: std::ops::Range<usize>) {
    write_in(machine, "notes", round, notes);
}

fn write_in(machine: &Machine, folder: &str, round: usize, notes: std::ops::Range<usize>) {
    for number in notes {
        let text = format!("# Note {number}\n\nThe number {number} of round{round} marker.\n");
        machine.write(&format!("{folder}/{number}.md"), &text);
    }
}

/// Runs a command until no other process holds the lock of one that was killed.
fn finish(machine: &Machine, arguments: &[&str]) {
    crate::programs::until("the lock is free", || {
        machine.run(arguments).code == Some(0)
    });
}

/// Checks that an index has each note once, as the files are.
fn assert_whole(index: &Index, machine: &Machine, round: usize, about: &str) {
    machine.ok(&["doctor"]);
    for (word, count) in [
        ("marker".to_owned(), NOTES),
        (format!("round{round}"), NOTES),
    ] {
        let run = machine.ok(&["search", "--json", "-n", "3", &format!("\"{word}\"")]);
        let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(answer["total"], count, "{about}: {word}");
    }
    let sums =
        "SELECT (SELECT count(*) FROM documents), (SELECT count(DISTINCT key) FROM documents),
        (SELECT documents FROM state)";
    assert_eq!(
        query(index, sums),
        format!("{NOTES}|{NOTES}|{NOTES}"),
        "{about}"
    );
}

/// Returns what a statement selects from an index.
fn query(index: &Index, sql: &str) -> String {
    let (server, schema) = index.address().split_once("?schema=").unwrap();
    let port = server
        .rsplit_once(':')
        .unwrap()
        .1
        .split('/')
        .next()
        .unwrap();
    let sql = format!("SET search_path TO {schema}; {sql}");
    crate::programs::sql_at(port.parse().unwrap(), &sql).unwrap()
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_sync_that_is_killed_loses_and_doubles_nothing() {
    on_each_server(|index| {
        let machine = index.machine();
        write(&machine, 0, 0..NOTES);
        let mut killer = Killer::new(time(&machine, &["add", "notes", "--yes"]), 6);
        for round in 1..=6 {
            // Every sync of changed notes also merges segments.
            write(&machine, round, 0..NOTES);
            let delay = killer.kill(&machine, &["index"]);
            finish(&machine, &["index"]);
            assert_whole(
                index,
                &machine,
                round,
                &format!("round {round} after {delay:?}"),
            );
        }
        killer.assert_killed(3);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_rebuild_that_is_killed_leaves_the_index_as_it_was() {
    on_each_server(|index| {
        let machine = index.machine();
        write(&machine, 0, 0..NOTES);
        machine.ok(&["add", "notes", "--yes"]);
        let mut killer = Killer::new(time(&machine, &["index", "--rebuild"]), 4);
        for _ in 0..4 {
            let delay = killer.kill(&machine, &["index", "--rebuild"]);
            assert_whole(index, &machine, 0, &format!("after {delay:?}"));
            finish(&machine, &["index"]);
        }
        killer.assert_killed(2);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_purge_that_is_killed_is_finished_by_the_next_command() {
    on_each_server(|index| {
        let machine = index.machine();
        machine.ok(&["team", "init"]);
        for number in 0..4 {
            machine.ok(&["remember", &format!("The number {number} stays.")]);
        }
        let purge = |id: &str| ["forget", "--purge", "--yes", id].map(str::to_owned);
        let mut killer = None;
        for round in 0..7 {
            let (id, secret) = (format!("secret{round}"), format!("zwielicht{round}quasar"));
            machine.ok(&["remember", &secret, "--id", &id]);
            let line = purge(&id);
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            match &mut killer {
                None => killer = Some(Killer::new(time(&machine, &line), 12)),
                Some(killer) => {
                    killer.kill(&machine, &line);
                    finish(&machine, &["index"]);
                }
            }
            // Where it was killed before it had begun, it is still there as a whole.
            let found = machine.found(&secret).len();
            let kept = query(index, &holding(index, &secret));
            if found == 0 {
                assert_eq!(kept, "", "round {round}");
            } else {
                finish(&machine, &line);
                assert_eq!(query(index, &holding(index, &secret)), "", "round {round}");
            }
            assert_eq!(machine.found("stays").len(), 4);
        }
        killer.unwrap().assert_killed(3);
        machine.ok(&["doctor"]);
        assert_eq!(query(index, "SELECT count(*) FROM journals"), "0");
    });
}

/// Returns a statement that selects the tables that have a text in one of their rows.
fn holding(index: &Index, text: &str) -> String {
    let tables = query(
        index,
        "SELECT string_agg(table_name, ' ') FROM information_schema.tables
         WHERE table_schema = current_schema()",
    );
    let each = tables.split(' ').map(|table| {
        // Bytes are shown as digits.
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        format!(
            "SELECT '{table}' WHERE EXISTS (SELECT FROM {table} AS t
             WHERE t::text LIKE '%{text}%' OR t::text LIKE '%{hex}%')"
        )
    });
    each.collect::<Vec<_>>().join(" UNION ALL ")
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn embedding_that_is_killed_goes_on_from_there() {
    on_each_server(|index| {
        let machine = index.machine().using(tiny_model::NAME);
        tiny_model::write(&machine.path("tiny")).unwrap();
        machine.ok(&["model", "install", "--from", "tiny"]);
        let embedded = || -> usize {
            query(index, "SELECT count(*) FROM embeddings")
                .parse()
                .unwrap()
        };
        // Each round has as many new chunks as the first, whose time decides when the others
        // are killed.
        let part = NOTES / 5;
        write(&machine, 0, 0..part);
        machine.ok(&["add", "notes", "--yes", "--no-semantic"]);
        let mut killer = Killer::new(time(&machine, &["index"]), 4);
        assert_eq!(embedded(), part);
        let mut before = part;
        for written in (part..NOTES).step_by(part) {
            write(&machine, 0, written..written + part);
            finish(&machine, &["index", "--no-semantic"]);
            let delay = killer.kill(&machine, &["index"]);
            let after = embedded();
            assert!(after >= before, "{after} after {before}, {delay:?}");
            before = after;
        }
        finish(&machine, &["index"]);
        killer.assert_killed(2);
        // Each chunk has one vector.
        let sums = "SELECT (SELECT count(*) FROM chunks), (SELECT count(*) FROM embeddings),
            (SELECT count(DISTINCT chunk) FROM embeddings)";
        assert_eq!(query(index, sums), format!("{NOTES}|{NOTES}|{NOTES}"));
        assert_whole(index, &machine, 0, "in the end");
    });
}

/// Returns the number of rows of vectors that were ever inserted, and of those that are there.
fn vectors(index: &Index) -> (usize, usize) {
    let sums = "SELECT (SELECT last_value FROM embeddings_id_seq), count(DISTINCT chunk)
        FROM embeddings";
    let sums = query(index, sums);
    let (inserted, there) = sums.split_once('|').unwrap();
    (inserted.parse().unwrap(), there.parse().unwrap())
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn processes_that_embed_at_once_share_the_work_even_if_one_is_killed() {
    on_each_server(|index| {
        let machines: Vec<Machine> = (0..3)
            .map(|number| {
                let machine = index.machine().using(tiny_model::NAME);
                tiny_model::write(&machine.path("tiny")).unwrap();
                machine.ok(&["model", "install", "--from", "tiny"]);
                let folder = if number == 0 {
                    "notes".to_owned()
                } else {
                    format!("own{number}")
                };
                write_in(&machine, &folder, 0, 0..if number == 0 { NOTES } else { 1 });
                machine.ok(&["add", &folder, "--yes", "--no-semantic"]);
                machine
            })
            .collect();
        assert_eq!(query(index, "SELECT count(*) FROM embeddings"), "0");
        let start = |machine: &Machine| {
            let mut command = machine.command(&["index"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let mut children: Vec<_> = machines.iter().map(start).collect();
        // One is killed while it has claimed something.
        let started = Instant::now();
        while query(index, "SELECT count(DISTINCT holder) FROM claims") != "3"
            && started.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        let mut killed = children.remove(0);
        killed.kill().unwrap();
        killed.wait().unwrap();
        for child in children {
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert!(ended.status.success(), "{said}");
        }
        let (inserted, there) = vectors(index);
        let all = NOTES + machines.len() - 1;
        assert_eq!(there, all);
        // Only the one that was killed may have sent a group that was not committed.
        assert!(inserted <= all + 64, "{inserted}");
        machines[0].ok(&["doctor"]);
        // Nothing is left to do.
        machines[1].ok(&["index"]);
        assert_eq!(vectors(index), (inserted, there));
    });
}
