//! A search on a server: the same answers as from SQLite, in few round trips.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::date;
use kodiak::embed::Embedder;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::source::Source;
use kodiak::store::{Filter, Store};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use serde_json::Value;

use crate::collection::{Collection, ask_in};
use crate::embedders::{Scripted, tiny};
use crate::servers::{Server, servers};
use crate::store_calls::{MAX_CALLS, QUERIES, collection, requests, talk};

const WHY: &str = "tests/postgres/with starts servers and sets KODIAK_TEST_POSTGRES";

fn indexed(server: Server, source: MarkdownFolder, model: Arc<dyn Embedder>) -> Arc<Server> {
    let server = Arc::new(server);
    let engine = Engine::builder_over(Arc::clone(&server) as Arc<dyn Store>)
        .source(source)
        .model(model)
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap();
    let (me, job) = (Guard::local(), Job::default());
    engine.sync(&me, ToSync::All, &job).unwrap();
    engine.embed(&me, None, &job).unwrap();
    server
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_search_takes_at_most_eight_round_trips() {
    let model = Scripted::tiny();
    let notes = collection(&*model);
    // It was removed after the files were indexed, as from SQLite.
    notes.write(
        "menus/7.md",
        "# Menu 7\n\nNoodles with garlic for dinner 7.\n",
    );
    let sources: Vec<Box<dyn Source>> = vec![Box::new(notes.source())];
    let servers = servers();
    assert!(!servers.is_empty(), "{WHY}");
    for server in servers {
        let server = indexed(server, notes.source(), model.clone());
        talk(&mut *server.writer("test").unwrap());
        let mut beyond = Vec::new();
        let (mut all, mut searches) = (0, 0);
        for (about, request) in QUERIES.into_iter().flat_map(requests) {
            let reader = server.open().unwrap();
            Router::new(&reader, &sources, Guard::local())
                .with_embedder(Some(model.clone()))
                .with_deadline(Duration::from_mins(1))
                .search(&request)
                .unwrap();
            let trips = reader.round_trips();
            (all, searches) = (all + trips, searches + 1);
            if trips > MAX_CALLS {
                beyond.push(format!("{about}: {trips} round trips"));
            }
        }
        assert!(beyond.is_empty(), "{beyond:#?}");
        // None at all would mean that nothing was counted.
        assert!(all >= searches, "{all} round trips of {searches} searches");
    }
}

/// Reads the queries of the judged collection over the example notes.
fn judged() -> Vec<(String, Filter)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judged");
    let mut queries = Vec::new();
    for split in ["word", "meaning", "typo", "languages", "filters"] {
        let path = folder.join(format!("queries_{split}.jsonl"));
        for line in std::fs::read_to_string(path).unwrap().lines() {
            let query: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| query[name].as_str().map(str::to_owned);
            let tags = query["tags"].as_array().cloned().unwrap_or_default();
            let tags = tags.iter().map(|tag| tag.as_str().unwrap().to_owned());
            let day = |name: &str| text(name).and_then(|day| date::parse(&day));
            let filter = Filter {
                tags: tags.collect(),
                kinds: text("kind").into_iter().collect(),
                after: day("after"),
                before: day("before"),
                ..Filter::default()
            };
            queries.push((text("text").unwrap(), filter));
        }
    }
    queries
}

/// What the two stores may differ in: the order in which numbers are added.
const ROUNDING: f64 = 1e-9;

fn assert_same(about: &str, one: &Answer, other: &Answer) {
    let hits = |answer: &Answer| {
        let hits = answer.hits.iter();
        hits.map(|hit| (hit.path.clone(), hit.score))
            .collect::<Vec<_>>()
    };
    let (one_hits, other_hits) = (hits(one), hits(other));
    let same = one_hits.len() == other_hits.len()
        && one_hits
            .iter()
            .zip(&other_hits)
            .all(|(one, other)| one.0 == other.0 && (one.1 - other.1).abs() <= ROUNDING);
    assert!(same, "{about}:\n{one_hits:?}\n{other_hits:?}");
    assert_eq!(one.total, other.total, "{about}");
}

#[test]
#[ignore = "needs servers: tests/postgres/with starts them"]
fn a_server_answers_as_sqlite_does() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/notes");
    let source = || MarkdownFolder::new("notes", &examples, FolderOptions::default()).unwrap();
    let place = Collection::new(&[]);
    let model = tiny();
    let servers = servers();
    assert!(!servers.is_empty(), "{WHY}");
    let engine = |store: Arc<dyn Store>| {
        Engine::builder_over(store)
            .source(source())
            .model(model.clone())
            .deadline(Duration::from_mins(1))
            .open()
            .unwrap()
    };
    let (me, job) = (Guard::local(), Job::default());
    let sqlite = engine(Arc::new(place.index()));
    sqlite.sync(&me, ToSync::All, &job).unwrap();
    sqlite.embed(&me, None, &job).unwrap();
    let mut queries = judged();
    for query in [
        "\"weekly review\"",
        "rust -ownership",
        "coff*",
        "sleep OR coffee",
        "NEAR(token bucket, 4)",
        "title:lisbon",
        "+outage +redis",
        "the of and",
    ] {
        queries.push((query.to_owned(), Filter::default()));
    }
    let scopes = [Guard::local(), Guard::local().within(["notes"])];
    let mut found: HashMap<&str, usize> = HashMap::new();
    for server in servers {
        let place = server.place().to_path_buf();
        let server = engine(indexed(server, source(), model.clone()));
        for (query, filter) in &queries {
            for (mode, name) in [(Mode::Lexical, "lexical"), (Mode::Hybrid, "hybrid")] {
                for guard in &scopes {
                    let request = Request {
                        filter: filter.clone(),
                        ..ask_in(mode, query)
                    };
                    let one = sqlite.search(guard, &request).unwrap();
                    let other = server.search(guard, &request).unwrap();
                    let about = format!("{} {name} {query}", place.display());
                    assert_same(&about, &one, &other);
                    *found.entry(name).or_default() += one.hits.len();
                }
            }
        }
    }
    assert!(found["lexical"] > 500 && found["hybrid"] > 500, "{found:?}");
}
