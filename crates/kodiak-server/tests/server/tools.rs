//! Answers of every tool over the example notes.

use serde_json::{Value, json};

use crate::desk::{Desk, call, reader, writer};
use crate::two_worlds::tiny;

/// Shows both forms of an answer.
fn shown(server: &kodiak_server::Server, name: &str, arguments: Value) -> String {
    let answer = call(server, name, arguments);
    let mut shown = answer.text;
    if answer.failed {
        shown.insert_str(0, "(failed)\n");
    }
    if let Some(value) = answer.structured {
        shown.push_str(&format!(
            "\n\n{}",
            serde_json::to_string_pretty(&value).unwrap()
        ));
    }
    shown
}

#[test]
fn search() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let ask = |arguments| shown(&server, "search", arguments);
    insta::assert_snapshot!("search", ask(json!({"query": "ramen broth", "limit": 2})));
    insta::assert_snapshot!(
        "search_filtered",
        ask(json!({"query": "", "tags": ["#dinner"], "kinds": ["recipe"], "after": "2024"}))
    );
    insta::assert_snapshot!("search_misspelt", ask(json!({"query": "kartofelsuppe"})));
    insta::assert_snapshot!("search_nothing", ask(json!({"query": "zyzzyva"})));
    insta::assert_snapshot!(
        "search_unknown_source",
        ask(json!({"query": "a", "sources": ["note"]}))
    );
}

#[test]
fn get() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let ask = |ids: Value| shown(&server, "get", json!({"ids": ids}));
    insta::assert_snapshot!(
        "get_lines",
        ask(json!(["notes/cooking/kartoffelsuppe.md:9-12"]))
    );
    insta::assert_snapshot!(
        "get_several",
        ask(json!([
            "notes/cooking/kartoffelsuppe.md:2-3",
            "#abcdef01",
            "kartofelsuppe"
        ]))
    );
    insta::assert_snapshot!("get_none", ask(json!("kartofelsuppe.md")));
}

#[test]
fn get_with_links() {
    let desk = Desk::new();
    desk.write("notes/a.md", "# Alpha\n\n[[Beta]] and [gone](\"x>>>\").\n");
    desk.write("notes/b.md", "# Beta\n\n[up](a.md) [[none]]\n");
    desk.write("notes/c.md", "# Gamma\n\nThe alpha of it.\n");
    let server = desk.server(reader());
    let text = call(&server, "get", json!({"ids": ["a.md"], "links": true})).text;
    let (_, links) = text.rsplit_once(">>>\n").unwrap();
    insta::assert_snapshot!(links, @r#"
    links to c482aa "Beta" [notes/b.md]
    linked from c482aa "Beta" [notes/b.md]
    broken link "\"x>>>\""
    mentioned in 82e814 "Gamma" [notes/c.md:3]
    "#);
    let plain = call(&server, "get", json!({"ids": ["a.md"]})).text;
    assert!(text.starts_with(plain.trim_end()), "{plain}");
    // Links are kept within the tokens, too.
    let call_short = json!({"ids": ["a.md"], "links": true, "max_tokens": 110});
    let short = call(&server, "get", call_short).text;
    assert!(short.contains("left out]"), "{short}");
}

#[test]
fn lines_beyond_the_end() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let note = "notes/cooking/kartoffelsuppe.md";
    let whole = call(&server, "get", json!({"ids": [note]})).text;
    let (_, count) = whole.lines().next().unwrap().rsplit_once(" of ").unwrap();
    let count: usize = count.parse().unwrap();
    let said =
        |line: usize| format!("line {line} is beyond the end of the note, which has {count} lines");
    let last = format!("{note}:{count}-{}", count + 30);
    let outside = format!("{note}:{}-{}", count + 1, count + 30);
    for tool in ["get", "get_observations"] {
        let ask = |ids: &[&str]| call(&server, tool, json!({"ids": ids}));
        // Some of the lines are there.
        let answer = ask(&[last.as_str()]);
        assert!(!answer.failed, "{tool}: {}", answer.text);
        assert_eq!(answer.text.matches(&said(count + 30)).count(), 1, "{tool}");
        if let Some(value) = answer.structured {
            assert_eq!(value["observations"][0]["notice"], said(count + 30));
        }
        for within in [
            format!("{note}:{count}"),
            format!("{note}:2-"),
            note.to_owned(),
        ] {
            let answer = ask(&[within.as_str()]);
            assert!(!answer.text.contains("beyond"), "{tool}: {}", answer.text);
        }
        // None of them is: that is a refusal, which says why.
        let answer = ask(&[outside.as_str()]);
        assert!(answer.failed, "{tool}: {}", answer.text);
        assert!(answer.text.contains(&said(count + 1)), "{}", answer.text);
        // Beside another document it is a remark.
        let answer = ask(&[outside.as_str(), "notes/cooking/ramen-broth.md:1-2"]);
        assert!(!answer.failed, "{tool}: {}", answer.text);
        assert!(answer.text.contains(&said(count + 1)), "{}", answer.text);
        assert_eq!(answer.text.matches("<<<").count(), 1, "{}", answer.text);
        assert!(!answer.text.contains("not found"), "{}", answer.text);
    }
}

#[test]
fn timeline() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let period = json!({"from": "2024-02", "to": "2024-05", "limit": 3});
    insta::assert_snapshot!("timeline", shown(&server, "timeline", period));
    let around = json!({"around": "notes/cooking/ramen-broth.md", "context": 1});
    insta::assert_snapshot!("timeline_around", shown(&server, "timeline", around));
}

#[test]
fn knowledge() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let query = json!({"query": "ramen broth", "kinds": ["recipe"]});
    insta::assert_snapshot!(
        "search_knowledge",
        shown(&server, "search_knowledge", query)
    );
    let memories = json!({"query": "ramen broth"});
    insta::assert_snapshot!("recall_memory", shown(&server, "recall_memory", memories));
}

#[test]
fn status() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let shown = shown(&server, "status", json!({}));
    // The only moments are those of indexing.
    let day = kodiak::date::format(kodiak::date::now())[..11].to_owned();
    let mut parts = shown.split(&day);
    let mut shown = parts.next().unwrap().to_owned();
    for part in parts {
        shown.push_str("[moment]");
        shown.push_str(&part["00:00:00Z".len()..]);
    }
    insta::assert_snapshot!("status", shown);
    // Vectors stay when the settings name no model any more, and nothing uses them.
    let desk = Desk::new();
    desk.write("notes/a.md", "A bear sleeps in the cave.\n");
    desk.write("memory/b.md", "Bears eat berries.\n");
    let meaning = |model: Option<_>| {
        let engine = desk.with_memory_and(&["notes"], model);
        let server = kodiak_server::Server::new(engine, desk.options(reader()));
        let answer = call(&server, "status", json!({}));
        answer.structured.unwrap()["meaning"].clone()
    };
    assert_eq!(meaning(Some(tiny())), "tiny");
    assert_eq!(meaning(None), "off in the settings");
    assert_eq!(meaning(Some(tiny())), "tiny");
    let empty = Desk::new();
    let server = kodiak_server::Server::new(empty.engine(&["notes"]), empty.options(reader()));
    let answer = call(&server, "status", json!({}));
    assert!(
        answer.text.contains("nothing is indexed yet"),
        "{}",
        answer.text
    );
    let answer = call(&server, "search", json!({"query": "a"}));
    assert!(
        answer.failed && answer.text.contains("nothing is indexed yet"),
        "{}",
        answer.text
    );
}

#[test]
fn notes() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let ask = |name, arguments| shown(&server, name, arguments);
    insta::assert_snapshot!(
        "note_search",
        ask(
            "note_search",
            json!({"queries": ["kartoffelsuppe", "coffee"], "max_tokens": 400})
        )
    );
    insta::assert_snapshot!(
        "note_search_by_tag",
        ask("note_search", json!({"queries": "*", "tags": ["coffee"]}))
    );
    insta::assert_snapshot!(
        "note_search_nothing",
        ask("note_search", json!({"queries": ["zyzzyva"]}))
    );
    let soup = json!(["notes/cooking/kartoffelsuppe.md"]);
    let within = ask("note_search", json!({"queries": ["winter"], "ids": soup}));
    assert_eq!(within.matches("<match ").count(), 1, "{within}");
    insta::assert_snapshot!(
        "note_get",
        ask("note_get", json!({"ids": soup, "lines": ["2", "9-10"]}))
    );
    let whole = ask("note_get", json!({"ids": soup}));
    assert!(
        whole.starts_with("<note id=\"") && whole.ends_with("</note>"),
        "{whole}"
    );
    insta::assert_snapshot!("note_create_off", ask("note_create", json!({"title": "x"})));
}

#[test]
fn answers_can_be_wrapped() {
    let desk = Desk::with_examples();
    let mut options = desk.options(reader());
    options.wrapped = true;
    let server = kodiak_server::Server::new(desk.indexed(&["notes"]), options);
    let good = call(&server, "note_search", json!({"queries": ["zyzzyva"]}));
    let value: Value = serde_json::from_str(&good.text).unwrap();
    assert_eq!((&value["type"], good.failed), (&json!("success"), false));
    let bad = call(&server, "note_get", json!({"ids": ["#00000000"]}));
    let value: Value = serde_json::from_str(&bad.text).unwrap();
    assert_eq!((&value["type"], bad.failed), (&json!("error"), false));
    assert!(
        value["message"].as_str().unwrap().contains("no note"),
        "{value}"
    );
    assert_eq!(
        (&value["trace"], &value["transient"]),
        (&json!([]), &json!(true))
    );
}

#[test]
fn bear_is_asked_to_create_notes() {
    use std::sync::{Arc, Mutex};
    let desk = Desk::with_examples();
    let created = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&created);
    let mut options = desk.options(reader());
    options.note_creator = Some(Arc::new(move |note| {
        kept.lock().unwrap().push(note.clone());
        Ok(())
    }));
    let server = kodiak_server::Server::new(desk.indexed(&["notes"]), options);
    let note = json!({"title": " A  title ", "tags": ["a"], "content": "text"});
    let answer = call(&server, "note_create", note);
    assert_eq!(answer.text, "Bear has been asked to create \"A title\".");
    let created = created.lock().unwrap();
    assert_eq!((created[0].title.as_str(), created.len()), ("A title", 1));
}

#[test]
fn pages() {
    let desk = Desk::with_examples();
    let server = desk.server(writer());
    let page = json!({"title": "Sourdough diary", "content": "Fed it.", "tags": ["bread"]});
    insta::assert_snapshot!("page_create", shown(&server, "page_create", page));
    let more = json!({"id": "notes/Sourdough diary.md", "append": "It rose."});
    insta::assert_snapshot!("page_update", shown(&server, "page_update", more));
    let text = call(&server, "get", json!({"ids": ["Sourdough diary"]})).text;
    assert!(text.contains("\nFed it.\nIt rose.\n"), "{text}");
    desk.write("notes/plain.md", "Plain.\n");
    let front = json!({"id": "notes/plain.md", "content": "---\ntitle: x\n---\n"});
    assert!(call(&server, "page_update", front).failed);
    let rename = json!({"id": "Sourdough diary", "title": "Bread diary"});
    let renamed = call(&server, "page_update", rename);
    assert_eq!(renamed.text, "Changed \"notes/Bread diary.md\".");
    let tags = json!({"from": "bread", "to": "baking/bread"});
    insta::assert_snapshot!("tag_rename", shown(&server, "tag_rename", tags));
    let found = call(&server, "search", json!({"query": "", "tags": ["baking"]}));
    assert!(found.text.contains("Bread diary"), "{}", found.text);
}

/// A server keeps running while another process registers more.
#[test]
fn upkeep_leaves_what_was_registered_later() {
    use std::time::{Duration, Instant};
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    desk.write("later/new.md", "# Marzipan\n");
    desk.indexed(&["notes", "later"]);
    desk.write("notes/fresh.md", "# Freshly written\n");
    let hour = Duration::from_hours(1);
    let upkeep = kodiak_server::Upkeep::begin(&server, kodiak::access::Guard::local(), hour);
    let begun = Instant::now();
    let synced = || {
        server
            .engine()
            .search(&reader(), &as_it_is("freshly"))
            .unwrap()
            .total
            == 1
    };
    while !synced() {
        assert!(begun.elapsed() < Duration::from_mins(1), "it never synced");
        std::thread::sleep(Duration::from_millis(20));
    }
    drop(upkeep);
    let found = call(&server, "search", json!({"query": "marzipan"}));
    assert!(found.text.contains("later/new.md"), "{}", found.text);
}

/// Returns a request that looks for no changes itself.
fn as_it_is(query: &str) -> kodiak::search::Request {
    kodiak::search::Request {
        refresh: false,
        ..kodiak::search::Request::new(query)
    }
}

#[test]
fn nothing_that_writes_is_offered_to_readers() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let names: Vec<&str> = server
        .tools(&server.caller())
        .iter()
        .map(|tool| tool.name)
        .collect();
    let mut once = names.clone();
    once.sort_unstable();
    once.dedup();
    assert_eq!(once.len(), names.len(), "one tool per name");
    let all = server.tools(&kodiak_server::Caller::new(writer()));
    assert!(all.len() > names.len());
    for tool in all {
        let writes = tool.effect != kodiak_server::tool::Effect::Reads;
        assert_eq!(writes, !names.contains(&tool.name), "{}", tool.name);
    }
    let refused = call(&server, "page_create", json!({"title": "x"}));
    assert!(
        refused.failed && refused.text.contains("--allow-write"),
        "{}",
        refused.text
    );
}
