//! People change notes and memories on the page, and take it back.

use std::fs;
use std::sync::{Arc, Mutex};

use kodiak::access::Guard;
use kodiak_server::Server;
use kodiak_server::token::Grant;
use serde_json::{Value, json};

use crate::desk::{Desk, reader, writer};
use crate::web::{Browser, Reply, Web, token};

const GTD: &str = "---\ntags: [work, Planning]\n---\n# Getting things done\n\nA #habit of mine.\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("notes/gtd.md", GTD);
    desk.write("notes/ramen.md", "# Ramen\n\nBroth and noodles.\n");
    desk.write(
        "memory/own.md",
        "---\nid: own\n---\nThe cache is dropped at midnight.\n",
    );
    desk
}

fn server(desk: &Desk, guard: Guard) -> Server {
    let mut options = desk.options(guard);
    options.memory_source = Some("memory".to_owned());
    Server::new(desk.with_memory(&["notes"]), options)
}

fn found(web: &Web, browser: &Browser, query: &str) -> Vec<String> {
    let asked = json!({"query": query, "mode": "lexical"});
    let answer = web.ask(browser, "POST", "/api/search", Some(&asked)).json();
    let hits = answer["hits"].as_array().unwrap().clone();
    hits.iter()
        .map(|hit| hit["path"].as_str().unwrap().to_owned())
        .collect()
}

fn undo(web: &Web, browser: &Browser, done: &Reply) -> Reply {
    let undo = done.json()["undo"].clone();
    assert_eq!(undo.as_str().map(str::len), Some(32), "{done:?}");
    web.ask(browser, "POST", "/api/undo", Some(&json!({"undo": undo})))
}

#[test]
fn a_new_page_can_be_taken_back_once() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let owner = web.owner();
    let page =
        json!({"title": " Sourdough  bread ", "text": "Flour, water, salt.", "tags": ["#food"]});
    // Where several sources can be written to, memories are none of them.
    let made = web.ask(&owner, "POST", "/api/pages", Some(&page));
    assert_eq!(made.status, 201, "{made:?}");
    let card = made.json();
    assert_eq!(
        (&card["title"], &card["source"], &card["tags"]),
        (&json!("Sourdough bread"), &json!("notes"), &json!(["food"]))
    );
    let path = card["path"].as_str().unwrap();
    let file = desk.path("notes").join(path);
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .ends_with("Flour, water, salt.\n")
    );
    assert_eq!(found(&web, &owner, "flour"), [path]);

    let again = web.ask(&owner, "POST", "/api/pages", Some(&page));
    assert_eq!((again.status, again.code().as_str()), (409, "conflict"));
    assert!(
        again.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains(path)
    );

    let gone = undo(&web, &owner, &made);
    assert_eq!((gone.status, gone.body.len()), (204, 0));
    assert!(!file.exists() && desk.path("notes/.trash").join(path).exists());
    assert!(found(&web, &owner, "flour").is_empty());
    let twice = undo(&web, &owner, &made);
    assert_eq!((twice.status, twice.code().as_str()), (404, "not-found"));
}

#[test]
fn a_new_memory_can_be_taken_back() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let owner = web.owner();
    let memory =
        json!({"text": "Deploys wait for the quokka.", "kind": "decision", "tags": ["ops"]});
    let made = web.ask(&owner, "POST", "/api/memories", Some(&memory));
    assert_eq!(made.status, 201, "{made:?}");
    let card = made.json();
    assert_eq!(
        (&card["kind"], &card["source"]),
        (&json!("decision"), &json!("memory"))
    );
    assert_eq!(found(&web, &owner, "quokka").len(), 1);
    // What is known is not written again, and there is nothing to take back.
    let known = web.ask(&owner, "POST", "/api/memories", Some(&memory));
    assert_eq!((known.status, &known.json()["id"]), (200, &card["id"]));
    assert!(known.json()["undo"].is_null() && known.json()["notice"].is_string());
    assert_eq!(undo(&web, &owner, &made).status, 204);
    assert!(found(&web, &owner, "quokka").is_empty());
}

#[test]
fn tags_come_back_as_they_were() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let owner = web.owner();
    let change = json!({"add": ["later"], "remove": ["planning", "habit"]});
    let path = "/api/documents/notes%2Fgtd.md/tags";
    let changed = web.ask(&owner, "POST", path, Some(&change));
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(changed.json()["tags"], json!(["work", "later"]));
    let file = desk.path("notes/gtd.md");
    assert!(
        fs::read_to_string(&file)
            .unwrap()
            .contains("A habit of mine")
    );
    let back = undo(&web, &owner, &changed);
    assert_eq!((back.status, &back.json()["path"]), (200, &json!("gtd.md")));
    assert_eq!(fs::read_to_string(&file).unwrap(), GTD);
    assert_eq!(back.json()["tags"], json!(["work", "Planning", "habit"]));

    // What was changed in between is left.
    let changed = web.ask(&owner, "POST", path, Some(&json!({"add": ["soon"]})));
    let edited = format!("{}More.\n", fs::read_to_string(&file).unwrap());
    fs::write(&file, &edited).unwrap();
    let refused = undo(&web, &owner, &changed);
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
    assert_eq!(fs::read_to_string(&file).unwrap(), edited);
    assert_eq!(undo(&web, &owner, &changed).status, 404);

    // Memories have tags as well.
    let path = "/api/documents/memory%2Fown/tags";
    let changed = web.ask(&owner, "POST", path, Some(&json!({"add": ["cache"]})));
    assert_eq!(changed.json()["tags"], json!(["cache"]), "{changed:?}");
    assert_eq!(undo(&web, &owner, &changed).json()["tags"], json!([]));
}

#[test]
fn what_is_in_the_trash_comes_back() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let owner = web.owner();
    for (name, file, word) in [
        ("notes%2Framen.md", "notes/ramen.md", "noodles"),
        ("memory%2Fown", "memory/own.md", "midnight"),
    ] {
        let text = fs::read(desk.path(file)).unwrap();
        let path = format!("/api/documents/{name}");
        let gone = web.ask(&owner, "DELETE", &path, None);
        assert_eq!(gone.status, 200, "{gone:?}");
        assert!(!desk.path(file).exists(), "{name}");
        assert!(found(&web, &owner, word).is_empty(), "{name}");
        assert_eq!(web.ask(&owner, "DELETE", &path, None).status, 404);
        let back = undo(&web, &owner, &gone);
        assert_eq!(back.status, 200, "{back:?}");
        assert!(back.json()["id"].is_string());
        assert_eq!(fs::read(desk.path(file)).unwrap(), text);
        assert_eq!(found(&web, &owner, word).len(), 1, "{name}");
        assert_eq!(undo(&web, &owner, &gone).status, 404);
    }
    // Another one has taken its place.
    let gone = web.ask(&owner, "DELETE", "/api/documents/notes%2Framen.md", None);
    desk.write("notes/ramen.md", "# Another\n");
    assert_eq!(undo(&web, &owner, &gone).code(), "conflict");
    assert_eq!(
        fs::read_to_string(desk.path("notes/ramen.md")).unwrap(),
        "# Another\n"
    );
    // Another one was deleted since, and is not what the caller means.
    let engine_web = Web::start(&desk, &server(&desk, writer()));
    let other = engine_web.owner();
    let first = engine_web.ask(&other, "DELETE", "/api/documents/notes%2Fgtd.md", None);
    let trash = desk.path("notes/.trash/gtd.md");
    fs::remove_file(&trash).unwrap();
    let refused = undo(&engine_web, &other, &first);
    assert_eq!((refused.status, refused.code().as_str()), (409, "conflict"));
}

#[test]
fn only_the_one_that_did_it_takes_it_back() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let write = || Grant {
        write: true,
        ..Grant::default()
    };
    let [first, second] = ["first", "second"].map(|name| token(&desk, name, write()));
    let one = web.signed_in(&json!({"token": first}));
    let other = web.signed_in(&json!({"token": second}));
    let owner = web.owner();
    let page = json!({"title": "Mine"});
    let by_token = web.ask(&one, "POST", "/api/pages", Some(&page));
    let page = json!({"title": "Ours"});
    let by_owner = web.ask(&owner, "POST", "/api/pages", Some(&page));
    for browser in [&other, &owner] {
        assert_eq!(undo(&web, browser, &by_token).code(), "not-found");
    }
    for browser in [&one, &other] {
        assert_eq!(undo(&web, browser, &by_owner).code(), "not-found");
    }
    // It is the holder that counts, not the session.
    assert_eq!(undo(&web, &web.owner(), &by_owner).status, 204);
    let bearer = format!("Bearer {first}");
    let body = json!({"undo": by_token.json()["undo"]});
    let undone = web.post("/api/undo", &[("Authorization", &bearer)], &body);
    assert_eq!(undone.status, 204, "{undone:?}");
}

/// The routes that write, with bodies that would work.
fn routes() -> Vec<(&'static str, &'static str, Option<Value>)> {
    vec![
        ("POST", "/api/pages", Some(json!({"title": "New"}))),
        ("POST", "/api/memories", Some(json!({"text": "New."}))),
        (
            "POST",
            "/api/documents/notes%2Fgtd.md/tags",
            Some(json!({"add": ["a"]})),
        ),
        (
            "POST",
            "/api/documents/nowhere/tags",
            Some(json!({"add": ["a"]})),
        ),
        ("DELETE", "/api/documents/notes%2Fgtd.md", None),
        ("DELETE", "/api/documents/nowhere", None),
        (
            "POST",
            "/api/documents/notes%2Fgtd.md/open",
            Some(json!({})),
        ),
        ("POST", "/api/undo", Some(json!({"undo": "x"}))),
    ]
}

#[test]
fn nothing_is_written_without_the_right_to() {
    let desk = desk();
    let read_only = Web::start(&desk, &server(&desk, reader()));
    let writing = Web::start(&desk, &server(&desk, writer()));
    let reads = token(&desk, "reads", Grant::default());
    let writes = Grant {
        write: true,
        ..Grant::default()
    };
    let writes = token(&desk, "writes", writes);
    let files = || {
        let folders = ["notes", "memory"].map(|name| fs::read_dir(desk.path(name)).unwrap());
        folders.map(Iterator::count)
    };
    let before = files();
    for (web, browser) in [
        (&read_only, read_only.owner()),
        (&read_only, read_only.signed_in(&json!({"token": writes}))),
        (&writing, writing.signed_in(&json!({"token": reads}))),
    ] {
        for (method, path, body) in routes() {
            let refused = web.ask(&browser, method, path, body.as_ref());
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (403, "not-allowed"),
                "{method} {path}"
            );
        }
    }
    // Nor without both secrets of a session.
    let mut owner = writing.owner();
    owner.secret.replace_range(..1, "x");
    for (method, path, body) in routes() {
        let refused = writing.ask(&owner, method, path, body.as_ref());
        assert_eq!(refused.status, 401, "{method} {path}");
    }
    assert_eq!(files(), before);
    assert_eq!(fs::read_to_string(desk.path("notes/gtd.md")).unwrap(), GTD);
}

#[test]
fn a_caller_of_a_project_changes_nothing_else() {
    let desk = desk();
    desk.write(
        "notes/plan.md",
        "---\nproject: /work/atlas\n---\n# Plan\n\nZebras.\n",
    );
    let web = Web::start(&desk, &server(&desk, writer()));
    let grant = Grant {
        write: true,
        project: Some("/work/atlas".to_owned()),
        ..Grant::default()
    };
    let held = web.signed_in(&json!({"token": token(&desk, "held", grant)}));
    for (method, path, body) in [
        (
            "POST",
            "/api/documents/notes%2Fgtd.md/tags",
            Some(json!({"add": ["a"]})),
        ),
        ("DELETE", "/api/documents/notes%2Fgtd.md", None),
        ("DELETE", "/api/documents/memory%2Fown", None),
    ] {
        let refused = web.ask(&held, method, path, body.as_ref());
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (404, "not-found"),
            "{path}"
        );
    }
    assert_eq!(fs::read_to_string(desk.path("notes/gtd.md")).unwrap(), GTD);
    // Its own it may change, and take that back.
    let text = fs::read_to_string(desk.path("notes/plan.md")).unwrap();
    let path = "/api/documents/notes%2Fplan.md";
    let changed = web.ask(
        &held,
        "POST",
        &format!("{path}/tags"),
        Some(&json!({"add": ["a"]})),
    );
    assert_eq!(undo(&web, &held, &changed).status, 200, "{changed:?}");
    let gone = web.ask(&held, "DELETE", path, None);
    let back = undo(&web, &held, &gone);
    assert_eq!(
        (back.status, &back.json()["path"]),
        (200, &json!("plan.md"))
    );
    assert_eq!(
        fs::read_to_string(desk.path("notes/plan.md")).unwrap(),
        text
    );
    let page = json!({"title": "Atlas", "source": "notes"});
    let made = web.ask(&held, "POST", "/api/pages", Some(&page));
    assert_eq!(
        (made.status, &made.json()["project"]),
        (201, &json!("/work/atlas"))
    );
    assert_eq!(undo(&web, &held, &made).status, 204);
    let memory = json!({"text": "Zebras sleep.", "project": "/work/other"});
    let made = web.ask(&held, "POST", "/api/memories", Some(&memory));
    assert_eq!(
        (made.status, &made.json()["project"]),
        (201, &json!("/work/atlas"))
    );
    assert_eq!(undo(&web, &held, &made).status, 204);
}

#[test]
fn what_is_asked_for_is_checked() {
    let desk = desk();
    let web = Web::start(&desk, &server(&desk, writer()));
    let owner = web.owner();
    let tags = "/api/documents/notes%2Fgtd.md/tags";
    for (path, body) in [
        ("/api/pages", json!({})),
        ("/api/pages", json!({"title": " "})),
        ("/api/pages", json!({"title": "a".repeat(2_000)})),
        ("/api/pages", json!({"title": "a", "tags": vec!["a"; 101]})),
        ("/api/pages", json!({"title": "a", "source": "nowhere"})),
        ("/api/pages", json!({"title": "a", "id": "b"})),
        ("/api/memories", json!({"text": 1})),
        (
            "/api/memories",
            json!({"text": "a", "kind": "b".repeat(1_000)}),
        ),
        (tags, json!({})),
        (tags, json!({"add": [], "remove": []})),
        (tags, json!({"add": ["a b #c"]})),
        (tags, json!({"add": [""]})),
        ("/api/undo", json!({"undo": 1})),
        ("/api/documents/notes%2Fgtd.md/open", json!({"line": -1})),
    ] {
        let refused = web.ask(&owner, "POST", path, Some(&body));
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (400, "bad-request"),
            "{path} {body} {refused:?}"
        );
    }
    assert_eq!(fs::read_to_string(desk.path("notes/gtd.md")).unwrap(), GTD);
    // A form of another page would not be JSON.
    let headers = [
        ("Cookie", owner.cookie.as_str()),
        ("Kodiak-Secret", owner.secret.as_str()),
        ("Content-Type", "text/plain"),
    ];
    let refused = web.send("POST", "/api/pages", &headers, r#"{"title": "a"}"#);
    assert_eq!(refused.code(), "not-json");
}

#[test]
fn the_editor_is_opened_for_the_owner_alone() {
    let desk = desk();
    let opened: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&opened);
    let mut options = desk.options(writer());
    options.opener = Some(Arc::new(move |_, found| {
        let place = format!("{}:{}", found.document.key, found.lines.from);
        kept.lock().unwrap().push(place.clone());
        if place.starts_with("ramen") {
            return Err("there is no editor".to_owned());
        }
        Ok(())
    }));
    let web = Web::start(&desk, &Server::new(desk.with_memory(&["notes"]), options));
    let write = Grant {
        write: true,
        ..Grant::default()
    };
    let other = web.signed_in(&json!({"token": token(&desk, "other", write)}));
    let owner = web.owner();
    let open = |browser: &Browser, name: &str, body: Value| {
        let path = format!("/api/documents/notes%2F{name}.md/open");
        web.ask(browser, "POST", &path, Some(&body))
    };
    assert_eq!(open(&other, "gtd", json!({})).code(), "not-allowed");
    assert_eq!(open(&owner, "gtd", json!({})).status, 204);
    assert_eq!(open(&owner, "gtd", json!({"line": 3})).status, 204);
    assert_eq!(open(&owner, "gtd", json!({"line": 999})).status, 204);
    let failed = open(&owner, "ramen", json!({"line": 1}));
    assert_eq!((failed.status, failed.code().as_str()), (500, "not-opened"));
    assert!(
        failed.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no editor")
    );
    assert_eq!(open(&owner, "nowhere", json!({})).status, 404);
    let opened = opened.lock().unwrap().clone();
    assert_eq!(opened.len(), 4, "{opened:?}");
    assert_eq!(
        (opened[1].as_str(), opened[3].as_str()),
        ("gtd.md:3", "ramen.md:1")
    );
}
