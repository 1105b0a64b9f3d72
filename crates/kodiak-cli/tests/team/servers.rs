//! Two servers over one index: tokens, authors and news.

use std::time::Instant;

use kodiak::store::Store;
use kodiak_postgres::{Address, PostgresIndex};
use serde_json::{Value, json};

use crate::place::{Index, Machine, on_each_server};
use crate::served::{LONG, Served};

/// Returns the token in what `kodiak team` printed.
fn token(printed: &str) -> String {
    let entry: Value = serde_json::from_str(printed).unwrap();
    let server = &entry["mcpServers"]["kodiak"];
    assert!(server["url"].as_str().unwrap().ends_with("/mcp"));
    let header = server["headers"]["Authorization"].as_str().unwrap();
    header.strip_prefix("Bearer ").unwrap().to_owned()
}

fn invite(machine: &Machine, options: &[&str]) -> String {
    let line = ["team", "invite", "--url", "http://127.0.0.1:7700"];
    let line: Vec<&str> = line.iter().chain(options).copied().collect();
    let printed = machine.ok(&line).stdout;
    assert_eq!(printed.lines().count(), 1, "{printed}");
    token(&printed)
}

fn search(served: &Served, token: &str, query: &str) -> (u16, Vec<Value>) {
    let (status, said) = served.send("POST", "/api/search", token, &json!({"query": query}));
    let hits = said["hits"].as_array().cloned().unwrap_or_default();
    (status, hits)
}

pub(crate) fn remember(served: &Served, token: &str, text: &str) -> u16 {
    served
        .send("POST", "/api/memories", token, &json!({"text": text}))
        .0
}

/// Creates the index and returns a machine with the first token.
fn begun(index: &Index) -> (Machine, String) {
    let machine = index.machine();
    let first = begin(&machine);
    (machine, first)
}

/// Creates the index of a machine and returns the first token.
pub(crate) fn begin(machine: &Machine) -> String {
    token(&machine.ok(&["team", "init"]).stdout)
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn what_one_writes_at_one_server_others_find_at_another() {
    on_each_server(|index| {
        let (machine, owner) = begun(index);
        let again = machine.ok(&["team", "init"]);
        assert!(again.stdout.is_empty(), "{again}");
        assert!(again.stderr.contains("already"), "{again}");
        let ada = invite(&machine, &["ada"]);
        let bob = invite(&machine, &["bob", "--read", "--expires", "90d"]);
        let (first, second) = (
            Served::start(&index.machine()),
            Served::start(&index.machine()),
        );
        assert_eq!(remember(&first, &ada, "The kettle whistles at noon."), 201);
        let (status, hits) = search(&second, &bob, "kettle");
        assert_eq!((status, hits.len()), (200, 1), "{hits:?}");
        assert_eq!(hits[0]["author"], "ada", "{hits:?}");
        // The same text at once is one memory, wherever it is said.
        assert_eq!(
            remember(&second, &owner, "The kettle whistles at noon."),
            200
        );
        // A token to read with does not write.
        assert_eq!(remember(&second, &bob, "The dough rises."), 403);
        // A token is refused from its revocation on, by every server.
        machine.ok(&["token", "revoke", "ada"]);
        for served in [&first, &second] {
            assert_eq!(search(served, &ada, "kettle").0, 401);
            assert_eq!(search(served, &bob, "kettle").0, 200);
        }
        let listed = machine.ok(&["token", "list"]).stdout;
        assert!(
            listed.contains("bob") && !listed.contains("ada"),
            "{listed}"
        );
        let wrong = search(&first, "kodiak_0", "kettle");
        assert_eq!(wrong.0, 401);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn a_token_of_a_project_or_a_source_sees_nothing_else() {
    on_each_server(|index| {
        let (machine, owner) = begun(index);
        let atlas = invite(&machine, &["ada", "--project", "/work/atlas"]);
        let pages = invite(&machine, &["bob", "--source", "pages"]);
        machine
            .run(&[
                "team", "invite", "eve", "--url", "http://x", "--source", "nowhere",
            ])
            .failed_with(&["nowhere"]);
        let served = Served::start(&index.machine());
        assert_eq!(
            remember(&served, &owner, "The kettle whistles at noon."),
            201
        );
        assert_eq!(
            remember(&served, &atlas, "The kettle of atlas is green."),
            201
        );
        let page = json!({"title": "Kettle", "text": "A page about the kettle."});
        assert_eq!(served.send("POST", "/api/pages", &owner, &page).0, 201);
        let sources = |token: &str| {
            let (_, hits) = search(&served, token, "kettle");
            let mut found: Vec<String> = hits
                .iter()
                .map(|hit| hit["source"].as_str().unwrap().to_owned())
                .collect();
            found.sort();
            found
        };
        assert_eq!(sources(&owner), ["memory", "memory", "pages"]);
        assert_eq!(sources(&atlas), ["memory"]);
        assert_eq!(sources(&pages), ["pages"]);
    });
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn news_of_one_server_reach_those_who_listen_at_another() {
    on_each_server(|index| {
        let (_machine, owner) = begun(index);
        let (first, second) = (
            Served::start(&index.machine()),
            Served::start(&index.machine()),
        );
        let mut events = second.events(&owner);
        assert!(events.any(|line| line == "event: status"));
        assert_eq!(
            remember(&first, &owner, "The kettle whistles at noon."),
            201
        );
        let written = Instant::now();
        assert!(events.any(|line| line == "event: documents"));
        assert!(written.elapsed() < LONG);
    });
}

/// A damaged index is set aside by `kodiak doctor --fix`.
#[test]
#[ignore = "needs servers: tests/postgres/with starts them and sets KODIAK_TEST_POSTGRES"]
fn an_index_that_is_set_aside_leaves_memories_and_tokens() {
    on_each_server(|index| {
        let (machine, owner) = begun(index);
        machine.ok(&["remember", "The kettle whistles at noon."]);
        let aside = index.store().set_aside("test").unwrap();
        assert_eq!(machine.run(&["search", "kettle"]).code, Some(2));
        machine.ok(&["index"]);
        assert_eq!(machine.found("kettle").len(), 1);
        let served = Served::start(&index.machine());
        assert_eq!(search(&served, &owner, "kettle").0, 200);
        let schema = aside
            .to_string_lossy()
            .rsplit('#')
            .next()
            .unwrap()
            .to_owned();
        let aside = Address::parse(index.address())
            .unwrap()
            .with_schema(&schema);
        PostgresIndex::new(aside).delete().unwrap();
    });
}
