//! Counts, what is recent, conversations and events.

use kodiak::engine::ToSync;
use kodiak::{Guard, Job};
use kodiak_server::token::{Grant, TokenFile, Tokens};
use kodiak_server::{Server, Settled};
use serde_json::{Value, json};

use super::Served;
use crate::desk::{Desk, reader};
use crate::two_worlds::tiny;
use crate::web::token;

/// Writes notes of two projects, with tags, kinds and dates.
fn desk() -> Desk {
    let desk = Desk::new();
    for (name, project, tag, kind, date) in [
        ("a", "/w/atlas", "food", "note", "2026-01-05"),
        ("b", "/w/atlas", "Food", "note", "2026-01-20"),
        ("c", "/w/atlas", "home", "session", "2026-03-01"),
        ("d", "/w/other", "food", "note", "2026-01-06"),
        ("e", "/w/other", "sea", "note", "2025-12-31"),
    ] {
        desk.write(
            &format!("notes/{name}.md"),
            &format!(
                "---\nproject: {project}\ntags: [{tag}]\nkind: {kind}\ncreated: {date}\n---\n\
                 Ramen broth {name}.\n"
            ),
        );
    }
    desk.write("notes/f.md", "---\ncreated: 2026-01-05\n---\nBread.\n");
    desk
}

fn pairs(values: &Value) -> Vec<(String, u64)> {
    let values = values.as_array().unwrap().iter();
    let name = |one: &Value| {
        one.get("value")
            .or(one.get("start"))
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    values
        .map(|one| (name(one), one["count"].as_u64().unwrap()))
        .collect()
}

fn expected(pairs: &[(&str, u64)]) -> Vec<(String, u64)> {
    let pairs = pairs.iter();
    pairs
        .map(|(name, count)| ((*name).to_owned(), *count))
        .collect()
}

#[test]
fn facets_count_what_the_words_find() {
    let desk = desk();
    let reached = Served::start(&desk.server(reader()));
    let facets = |body: Value| reached.post("/api/facets", &body).json();
    let all = facets(json!({}));
    assert_eq!((&all["total"], all.get("of")), (&json!(6), None));
    assert_eq!(pairs(&all["sources"]), expected(&[("notes", 6)]));
    let found = facets(json!({"query": "ramen"}));
    assert_eq!(found["total"], 5);
    let tags: Vec<(String, u64)> = pairs(&found["tags"])
        .into_iter()
        .map(|(tag, count)| (tag.to_lowercase(), count))
        .collect();
    assert_eq!(tags, expected(&[("food", 3), ("home", 1), ("sea", 1)]));
    assert_eq!(
        pairs(&found["kinds"]),
        expected(&[("note", 4), ("session", 1)])
    );
    assert_eq!(
        pairs(&found["projects"]),
        expected(&[("/w/atlas", 3), ("/w/other", 2)])
    );
    assert_eq!(
        pairs(&found["months"]),
        expected(&[("2025-12", 1), ("2026-01", 3), ("2026-03", 1)])
    );
    // The same words as a search: misspelt, begun, filtered in the query.
    assert_eq!(facets(json!({"query": "ramne"}))["total"], 5);
    assert_eq!(
        facets(json!({"query": "ram", "as_you_type": true}))["total"],
        5
    );
    assert_eq!(facets(json!({"query": "ramen tag:food"}))["total"], 3);
    assert_eq!(facets(json!({"query": "", "tags": ["sea"]}))["total"], 1);
    assert_eq!(facets(json!({"query": "ramen -broth"}))["total"], 0);
    assert_eq!(facets(json!({"query": "xyzzy"}))["total"], 0);
    assert_eq!(facets(json!({"query": "!?"}))["total"], 0);
    assert_eq!(facets(json!({"query": "*"}))["total"], 6);
    for odd in ["\"", "((", "*", "'%", "title:", "AND OR NOT"] {
        assert_eq!(
            reached.post("/api/facets", &json!({"query": odd})).status,
            200,
            "{odd}"
        );
    }
    assert_eq!(
        reached.post("/api/facets", &json!({"nonsense": 1})).status,
        400
    );
    assert_eq!(
        reached
            .post("/api/facets", &json!({"sources": ["none"]}))
            .status,
        400
    );
}

#[test]
fn the_timeline_is_counted_in_buckets() {
    let desk = desk();
    let reached = Served::start(&desk.server(reader()));
    let counts = |query: &str| {
        reached
            .get(&format!("/api/timeline/counts?source=notes&{query}"))
            .json()
    };
    let months = counts("unit=month");
    assert_eq!(months["unit"], "month");
    assert_eq!(
        pairs(&months["buckets"]),
        expected(&[
            ("2025-12-01", 1),
            ("2026-01-01", 4),
            ("2026-02-01", 0),
            ("2026-03-01", 1)
        ])
    );
    assert_eq!(counts("")["unit"], "day");
    let week = counts("unit=week&from=2026-01-05&to=2026-01-12");
    assert_eq!(pairs(&week["buckets"]), expected(&[("2026-01-05", 3)]));
    assert_eq!(
        pairs(&counts("unit=month&tag=sea")["buckets"]),
        expected(&[("2025-12-01", 1)])
    );
    assert_eq!(reached.get("/api/timeline/counts?unit=year").status, 400);
    // Everything is more than memories and sessions; a source that is named counts.
    let all = reached.get("/api/timeline?everything=true").json();
    assert_eq!(all["entries"].as_array().unwrap().len(), 6);
    let counted = reached.get("/api/timeline/counts?everything=true&unit=month");
    assert_eq!(counted.json(), months);
    for path in ["/api/timeline", "/api/timeline/counts"] {
        assert_eq!(reached.get(&format!("{path}?everything=some")).status, 400);
    }
    // They are the counts of what the timeline lists.
    let listed = reached.get("/api/timeline?source=notes").json();
    assert_eq!(listed["entries"].as_array().unwrap().len(), 6);
    assert_eq!(
        reached.get("/api/timeline/counts").json()["buckets"],
        json!([])
    );
}

#[test]
fn what_the_owner_opens_is_recorded_and_no_others_see_it() {
    let desk = desk();
    let engine = desk.indexed(&["notes"]);
    let mut settled = Settled::new(engine.clone());
    settled.history = engine.history();
    let server = Server::of(settled, desk.options(reader()));
    let other = token(&desk, "other", Grant::default());
    let local = Served::start(&server);
    let tokens = TokenFile::new(desk.path("tokens.json"));
    let reached = Served::with_tokens(&server, Some(tokens));
    let recent = |limit: usize| local.get(&format!("/api/recent?limit={limit}")).json();
    assert_eq!(recent(3)["opened"], json!([]));
    assert_eq!(recent(3)["changed"].as_array().unwrap().len(), 3);
    let open = |reached: &Served, token: &str, id: &str| {
        reached
            .send("POST", "/api/opened", token, &json!({"id": id}).to_string())
            .status
    };
    assert_eq!(open(&reached, &other, "a"), 204);
    assert_eq!(recent(3)["opened"], json!([]));
    assert_eq!((open(&local, "", "b"), open(&local, "", "d")), (204, 204));
    assert_eq!(open(&local, "", "nowhere"), 404);
    let opened = recent(10)["opened"].clone();
    let paths: Vec<&str> = opened
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["d.md", "b.md"]);
    assert!(opened[0]["opened_at"].is_string());
    assert_eq!(recent(10)["often"], json!([]));
    for id in ["b", "d", "d", "d", "c"] {
        open(&local, "", id);
    }
    let paths = |cards: &Value| -> Vec<String> {
        let cards = cards.as_array().unwrap().iter();
        let path = |card: &Value| card["path"].as_str().unwrap().to_owned();
        cards.map(path).collect()
    };
    // A note that has gone takes no place.
    for _ in 0..3 {
        let history = engine.history().unwrap();
        history
            .record("notes", "gone.md", kodiak::date::now())
            .unwrap();
    }
    let listed = recent(10);
    assert_eq!(paths(&listed["opened"]), ["c.md", "d.md", "b.md"]);
    assert_eq!(paths(&listed["often"]), ["d.md", "b.md"]);
    assert!(listed["often"][0]["opened_at"].is_string());
    let listed = recent(1);
    assert_eq!(paths(&listed["opened"]), ["c.md"]);
    assert_eq!(paths(&listed["often"]), ["d.md"]);
    let seen = reached.send("GET", "/api/recent", &other, "").json();
    assert_eq!((&seen["opened"], &seen["often"]), (&json!([]), &json!([])));
    // It lets hits pass that are about as relevant, for the owner alone.
    let first = |answer: Value| answer["hits"][0]["path"].as_str().unwrap().to_owned();
    let search = json!({"query": "ramen broth", "mode": "lexical"});
    assert_eq!(first(local.post("/api/search", &search).json()), "d.md");
    let theirs = reached
        .send("POST", "/api/search", &other, &search.to_string())
        .json();
    assert_ne!(first(theirs), "d.md");
}

#[test]
fn a_conversation_is_read_in_parts() {
    let desk = Desk::new();
    for number in 0..100 {
        desk.write(
            &format!("notes/{number:03}.md"),
            &format!("---\nthread: talk\nauthor: user\ncreated: 2026-01-01 10:{:02}:{:02}\n---\nTurn <b>{number}</b>.\n", number / 60, number % 60),
        );
    }
    desk.write("notes/alone.md", "Alone.\n");
    let reached = Served::start(&desk.server(reader()));
    let talk = |path: &str| reached.get(&format!("/api/documents/{path}")).json();
    let part = talk("050.md/conversation");
    let turns = part["turns"].as_array().unwrap();
    assert_eq!(
        (turns.len(), &part["earlier"], &part["later"]),
        (40, &json!(true), &json!(true))
    );
    let found: Vec<&Value> = turns.iter().filter(|turn| turn["found"] == true).collect();
    assert_eq!(found.len(), 1);
    assert!(
        found[0]["html"]
            .as_str()
            .unwrap()
            .contains("Turn <b>50</b>.")
    );
    let first = turns[0]["id"].as_str().unwrap();
    let before = talk(&format!("050.md/conversation?before={first}"));
    let earlier = before["turns"].as_array().unwrap();
    assert_eq!(
        (earlier.len(), &before["earlier"], &before["later"]),
        (30, &json!(false), &json!(true))
    );
    assert!(earlier[29]["html"].as_str().unwrap().contains("<b>29</b>"));
    let last = turns[39]["id"].as_str().unwrap();
    let after = talk(&format!("050.md/conversation?after={last}"));
    assert_eq!(
        (after["turns"].as_array().unwrap().len(), &after["later"]),
        (30, &json!(false))
    );
    assert_eq!(reached.get("/api/documents/alone/conversation").status, 404);
    assert_eq!(
        reached
            .get("/api/documents/050.md/conversation?before=nowhere")
            .status,
        404
    );
    assert_eq!(
        reached
            .get("/api/documents/050.md/conversation?before=x&after=y")
            .status,
        400
    );
}

#[test]
fn events_say_when_something_moves() {
    let desk = desk();
    desk.write("memory/m.md", "---\nid: m\n---\nThe port is 7000.\n");
    let engine = desk.with_memory_and(&["notes"], Some(tiny()));
    let server = Server::new(engine.clone(), desk.options(reader()));
    let reached = Served::start(&server);
    let mut events = reached.events("");
    let (name, status) = events.next().unwrap();
    assert_eq!((name.as_str(), &status["documents"]), ("status", &json!(7)));
    assert_eq!(status, reached.get("/api/status").json());
    assert_eq!(
        status["embedding"]["embedded"],
        status["embedding"]["chunks"]
    );
    desk.write("notes/g.md", "New words.\n");
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    let mut names = Vec::new();
    while !names.iter().any(|name| name == "documents") {
        let (name, said) = events.next().unwrap();
        if name == "status" {
            assert_eq!(said["documents"], 8);
            assert!(said["embedding"]["embedded"].as_u64() < said["embedding"]["chunks"].as_u64());
        }
        names.push(name);
    }
    engine
        .embed(&Guard::local(), None, &Job::default())
        .unwrap();
    let all = |said: &Value| said["embedding"]["embedded"] == said["embedding"]["chunks"];
    while !all(&events.next().unwrap().1) {}
    // The end of the server ends the stream.
    drop(reached);
    while events.next().is_some() {}
}

#[test]
fn events_keep_to_the_scope_and_end_with_the_token() {
    let desk = desk();
    desk.write("secret/s.md", "---\nproject: /w/other\n---\nHidden.\n");
    let engine = desk.indexed(&["notes", "secret"]);
    let server = Server::new(engine.clone(), desk.options(reader()));
    let source = token(
        &desk,
        "source",
        Grant {
            sources: vec!["notes".to_owned()],
            ..Grant::default()
        },
    );
    let tokens = || TokenFile::new(desk.path("tokens.json"));
    let reached = Served::with_tokens(&server, Some(tokens()));
    let mut events = reached.events(&source);
    let (_, status) = events.next().unwrap();
    assert_eq!(status["sources"].as_array().unwrap().len(), 1);
    desk.write("secret/t.md", "---\nproject: /w/other\n---\nHidden, too.\n");
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    desk.write("notes/g.md", "Seen.\n");
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    // The first that is heard of is what is inside.
    loop {
        let (name, said) = events.next().unwrap();
        assert!(!said.to_string().contains("\"secret\""), "{said}");
        if name == "documents" {
            break;
        }
        assert!(said["documents"] == 6 || said["documents"] == 7, "{said}");
    }
    tokens().revoke("source", "test").unwrap();
    while events.next().is_some() {}
    assert_eq!(reached.send("GET", "/api/events", "", "").status, 401);
}
