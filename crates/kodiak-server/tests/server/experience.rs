//! Answers of the tools for memories, articles and sessions.

use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::{Engine, Job};
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_server::{Server, ToolAnswer};
use kodiak_sessions::{SessionOptions, SessionRecords};
use serde_json::{Value, json};

use crate::desk::{Desk, call, reader, writer};

/// A session record.
const SESSION: &str = r#"{
    "id": "9f2c4e1ab0d37756", "version": 1,
    "classification": {"type": "coding", "project": "/work/atlas"},
    "content": {
        "summary": "Implemented rate limiting for the API",
        "outcome": "success",
        "keyDecisions": [{"what": "Used a token bucket", "why": "bursts are predictable"}]
    },
    "lessons": {"project": [{"summary": "Load tests must simulate bursts"}]},
    "metadata": {"timestamp": "2026-01-15T10:00:00Z"},
    "semantic": {"tags": ["api"], "topics": ["rate limiting"]}
}"#;

/// Returns an engine over memories, articles and sessions.
pub(crate) fn engine(desk: &Desk) -> Engine {
    desk.write("sessions/nodes/2026/01/9f2c4e1ab0d37756-v1.json", SESSION);
    let mut builder = Engine::builder(desk.path("index.db"));
    for (name, holding) in [
        ("memory", Holding::Memories),
        ("article", Holding::Articles),
    ] {
        std::fs::create_dir_all(desk.path(name)).unwrap();
        let options = MemoryOptions {
            holding,
            ..MemoryOptions::default()
        };
        builder = builder.source(MemoryFolder::new(name, &desk.path(name), options).unwrap());
    }
    let sessions = desk.path("sessions");
    let sessions = SessionRecords::new("sessions", &sessions, SessionOptions::default());
    let engine = builder.source(sessions.unwrap()).open().unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    engine
}

fn server(desk: &Desk, guard: Guard) -> Server {
    let mut options = desk.options(guard);
    options.memory_source = Some("memory".to_owned());
    options.article_source = Some("article".to_owned());
    Server::new(engine(desk), options)
}

fn id(answer: &ToolAnswer) -> String {
    assert!(!answer.failed, "{}", answer.text);
    let structured = answer.structured.as_ref().unwrap();
    structured["id"].as_str().unwrap().to_owned()
}

#[test]
fn what_is_remembered_is_found_read_and_not_stored_twice() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    let text = "The staging database is refreshed every Monday morning.";
    let first = call(
        &server,
        "remember",
        json!({"text": text, "kind": "context", "tags": ["#staging"], "project": "atlas"}),
    );
    let said = format!("Remembered as {}.", id(&first));
    assert!(first.text.starts_with(&said), "{}", first.text);
    let again = call(&server, "store_observation", json!({"content": text}));
    assert!(
        again.text.starts_with("Known already as "),
        "{}",
        again.text
    );
    assert_eq!(id(&first), id(&again));
    let found = call(
        &server,
        "search_memories",
        json!({"query": "staging database"}),
    );
    let hit = &found.structured.unwrap()["hits"][0];
    assert_eq!(hit["id"], id(&first));
    assert!(
        hit["score"].is_number() && hit["snippet"].is_string(),
        "{hit}"
    );
    let read = call(
        &server,
        "get_observations",
        json!({"ids": [id(&first), "#ffffff"]}),
    );
    assert!(
        read.text.contains(text) && read.text.contains("not found: #ffffff"),
        "{}",
        read.text
    );
    let observation = &read.structured.unwrap()["observations"][0];
    assert_eq!(observation["content"].as_str().unwrap().trim(), text);
    assert_eq!(
        (&observation["type"], &observation["tags"]),
        (&json!("context"), &json!(["staging"]))
    );
    for name in ["get_observations", "get"] {
        assert!(call(&server, name, json!({"ids": ["#ffffff"]})).failed);
    }
}

#[test]
fn a_newer_memory_supersedes_an_older_one() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    let old = id(&call(
        &server,
        "save_memory",
        json!({"content": "Deploys run on Fridays."}),
    ));
    let new = call(
        &server,
        "remember",
        json!({"text": "Deploys run on Tuesdays now.", "supersedes": [old]}),
    );
    let found = call(&server, "recall_memory", json!({"query": "deploys run"}));
    let hits = found.structured.unwrap()["hits"].clone();
    assert_eq!(
        (&hits[0]["id"], &hits[1]["id"]),
        (&json!(id(&new)), &json!(old))
    );
    assert_eq!(hits[1]["superseded_by"], json!(id(&new)));
}

#[test]
fn articles_are_kept_apart() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    let article = json!({
        "title": "How bread rises", "content": "Yeast makes gas.", "source_type": "web",
        "source_ref": "https://example.org/bread",
    });
    let saved = id(&call(&server, "save_article", article));
    let recalled = |name: &str| {
        let found = call(&server, name, json!({"query": "yeast"}))
            .structured
            .unwrap();
        found["hits"].as_array().unwrap().clone()
    };
    assert_eq!(recalled("recall_article")[0]["id"], json!(saved));
    assert_eq!(recalled("search_knowledge")[0]["id"], json!(saved));
    assert!(recalled("recall_memory").is_empty());
    let untitled = call(
        &server,
        "save_article",
        json!({"title": " ", "content": "x"}),
    );
    assert!(
        untitled.failed && untitled.text.contains("title"),
        "{}",
        untitled.text
    );
}

#[test]
fn the_timeline_goes_back_from_the_newest() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    for text in ["Alpha came first.", "Beta was next, as planned."] {
        assert!(!call(&server, "remember", json!({"text": text})).failed);
    }
    let listed = |arguments: Value| call(&server, "timeline", arguments);
    let all = listed(json!({}));
    let entries = all.structured.unwrap()["hits"].clone();
    assert_eq!(entries.as_array().unwrap().len(), 3);
    let last = &entries[2];
    assert_eq!(last["type"], "session");
    assert_eq!(last["created_at"], "2026-01-15T10:00:00Z");
    assert!(
        last["tokens"].is_number() && last["summary"].is_string(),
        "{last}"
    );
    let period = listed(json!({"start_date": "2026-01-15", "end_date": "2026-01-15"}));
    assert_eq!(period.structured.unwrap()["total"], 1);
    let nothing = listed(json!({"from": "2020", "to": "2021"}));
    assert_eq!(nothing.structured.unwrap()["total"], 0);
    let around = listed(json!({"around": last["id"], "context": 1}));
    let around = around.structured.unwrap();
    assert_eq!(around["hits"][0]["anchor"], true);
    assert_eq!(around["total"], 2);
    assert!(listed(json!({"from": "2021", "to": "2020"})).failed);
    assert!(listed(json!({"around": "#ffffff"})).failed);
}

#[test]
fn sessions_tell_what_was_decided_and_learned() {
    let desk = Desk::new();
    let server = server(&desk, reader());
    let asked = call(
        &server,
        "brain_query",
        json!({"query": "rate limiting", "limit": 3}),
    );
    for said in [
        "token bucket\" (why: \"bursts",
        "Learned: \"Load tests",
        "success",
    ] {
        assert!(asked.text.contains(said), "{}", asked.text);
    }
    let hit = &asked.structured.unwrap()["hits"][0];
    assert_eq!(hit["session"], "9f2c4e1ab0d37756");
    assert_eq!(hit["decisions"][0]["why"], "bursts are predictable");
    let elsewhere = json!({"query": "rate limiting", "project": "other"});
    assert!(call(&server, "brain_query", elsewhere).failed);
    let like = call(
        &server,
        "similar_sessions",
        json!({"text": "limiting bursts"}),
    );
    assert_eq!(like.structured.unwrap()["total"], 1);
    let itself = call(&server, "similar_sessions", json!({"id": hit["id"]}));
    assert_eq!(itself.structured.unwrap()["total"], 0);
    assert!(call(&server, "similar_sessions", json!({})).failed);
}

#[test]
fn nothing_is_remembered_where_there_is_no_room() {
    let desk = Desk::new();
    let server = Server::new(engine(&desk), desk.options(writer()));
    let names: Vec<&str> = server
        .tools(&server.caller())
        .iter()
        .map(|tool| tool.name)
        .collect();
    assert!(
        !names.contains(&"remember") && names.contains(&"search_memories"),
        "{names:?}"
    );
    assert!(call(&server, "remember", json!({"text": "x"})).failed);
}

#[test]
fn an_uncertain_answer_says_what_no_memory_or_session_contains() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    let text = "Bursts of requests are refused.";
    id(&call(&server, "remember", json!({"text": text})));
    let query = "gauge symmetry of quantum chromodynamics bursts";
    for (tool, subject) in [
        ("search_memories", "no memory or session"),
        ("recall_memory", "no memory"),
        ("search_knowledge", "nothing"),
        ("brain_query", "no session"),
    ] {
        let answer = call(&server, tool, json!({"query": query}));
        let said = format!("{subject} contains all of \"{query}\"; the hits are closest by words");
        let mut lines = answer.text.lines();
        assert!(
            lines.any(|line| line == format!("Note: {said}")),
            "{}",
            answer.text
        );
        let structured = answer.structured.unwrap();
        assert!(!structured["hits"].as_array().unwrap().is_empty(), "{tool}");
        assert!(
            structured["remarks"]
                .as_array()
                .unwrap()
                .contains(&json!(said)),
            "{tool}"
        );
    }
    let found = call(&server, "note_search", json!({"queries": [query]}));
    let comment =
        format!("<!-- nothing contains all of \"{query}\"; the hits are closest by words -->");
    assert!(found.text.contains(&comment), "{}", found.text);
}

#[test]
fn secrets_are_left_out_of_every_way_to_write_a_memory() {
    let desk = Desk::new();
    let server = server(&desk, writer());
    let token = "ghp_aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hI5";
    let first = call(
        &server,
        "remember",
        json!({"text": format!("Use {token}; my password is hunter2."), "project": token}),
    );
    assert!(
        first.text.ends_with(" 3 secrets left out."),
        "{}",
        first.text
    );
    assert_eq!(first.structured.as_ref().unwrap()["secrets_left_out"], 3);
    let more = json!({"id": id(&first), "append": format!("Or {token}.")});
    let changed = call(&server, "page_update", more);
    assert!(
        changed.text.ends_with(" 1 secret left out."),
        "{}",
        changed.text
    );
    let page = json!({"title": "Keys", "content": format!("It is {token}"), "source": "memory"});
    let created = call(&server, "page_create", page);
    assert_eq!(created.structured.unwrap()["secrets_left_out"], 1);
    let named = json!({"content": "x", "metadata": {token: "1"}});
    let refused = call(&server, "store_observation", named);
    assert!(
        refused.failed && !refused.text.contains(token),
        "{}",
        refused.text
    );
    for file in std::fs::read_dir(desk.path("memory")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(token) && !text.contains("hunter2"), "{text}");
    }
    let status = call(&server, "status", json!({})).structured.unwrap();
    assert_eq!(status["sources"][0]["secrets_left_out"], 5, "{status}");
}
