//! What a page is told that it can offer: to write, to open, and to show more.

use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::{Engine, Job};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_server::token::Grant;
use kodiak_server::{Location, Locator, Options, Server, Settled};
use serde_json::{Value, json};

use super::Served;
use crate::desk::{Desk, reader, writer};
use crate::web::{Browser, Web, token};

/// Returns an engine over two folders, of which one can be written to, and memories.
fn engine(desk: &Desk) -> Engine {
    let folder = |name: &str, writable| {
        let options = FolderOptions {
            writable,
            ..FolderOptions::default()
        };
        MarkdownFolder::new(name, &desk.path(name), options).unwrap()
    };
    desk.write("notes/tea.md", "Three minutes.\n");
    desk.write("book/leaf.md", "Printed, and not to be changed.\n");
    desk.write("memory/own.md", "---\nid: own\n---\nNo milk.\n");
    let memory = MemoryFolder::new("memory", &desk.path("memory"), MemoryOptions::default());
    let engine = Engine::builder(desk.path("index.db"))
        .source(folder("notes", true))
        .source(folder("book", false))
        .source(memory.unwrap())
        .open()
        .unwrap();
    let (all, job) = (Guard::local(), Job::default());
    engine.sync(&all, ToSync::All, &job).unwrap();
    engine
}

/// Returns a server that opens documents, and knows where those of folders are.
fn server(desk: &Desk, mut options: Options, opens: bool) -> Server {
    if opens {
        options.opener = Some(Arc::new(|_, _| Ok(())));
    }
    let mut settled = Settled::new(engine(desk));
    settled.locator = Some(Locator::new(|found| {
        let inside = found.document.source != "memory";
        Location {
            file: inside.then(|| format!("/home/me/{}", found.document.key)),
            url: None,
        }
    }));
    Server::of(settled, options)
}

/// Returns the sources that a browser is told it may write pages to, and of each document
/// whether it can be changed and opened.
fn offered(web: &Web, browser: &Browser) -> (Vec<String>, Vec<(bool, bool)>) {
    let status = web.ask(browser, "GET", "/api/status", None).json();
    let sources = status["sources"].as_array().unwrap().iter();
    let writable = sources.filter(|source| source["writable"] == true);
    let writable = writable.map(|source| source["name"].as_str().unwrap().to_owned());
    let documents = ["notes%2Ftea.md", "book%2Fleaf.md", "memory%2Fown"].map(|id| {
        let path = format!("/api/documents/{id}/rendered");
        let document = web.ask(browser, "GET", &path, None).json();
        let flag = |name: &str| document[name].as_bool().unwrap();
        (flag("editable"), flag("opens"))
    });
    (writable.collect(), documents.to_vec())
}

#[test]
fn only_what_can_be_done_is_offered() {
    let desk = Desk::new();
    let web = Web::start(&desk, &server(&desk, desk.options(writer()), true));
    let owner = web.owner();
    let (writable, documents) = offered(&web, &owner);
    // Memories have a way of their own, and no file that is told of.
    assert_eq!(writable, ["notes"]);
    assert_eq!(documents, [(true, true), (false, true), (true, false)]);
    // It is as it was said.
    for (name, status) in [("notes%2Ftea.md", 200), ("book%2Fleaf.md", 403)] {
        let tags = format!("/api/documents/{name}/tags");
        let tagged = web.ask(&owner, "POST", &tags, Some(&json!({"add": ["x"]})));
        assert_eq!(tagged.status, status, "{tagged:?}");
    }
    let grant = |write| Grant {
        write,
        ..Grant::default()
    };
    let other = web.signed_in(&json!({"token": token(&desk, "other", grant(true))}));
    let (writable, documents) = offered(&web, &other);
    assert_eq!(writable, ["notes"]);
    assert_eq!(documents, [(true, false), (false, false), (true, false)]);
    let guest = web.signed_in(&json!({"token": token(&desk, "guest", grant(false))}));
    let (writable, documents) = offered(&web, &guest);
    assert!(writable.is_empty());
    assert_eq!(documents, [(false, false); 3]);
}

/// Such as at an address that other machines reach.
#[test]
fn a_server_without_an_editor_offers_none() {
    let desk = Desk::new();
    let web = Web::start(&desk, &server(&desk, desk.options(writer()), false));
    let (_, documents) = offered(&web, &web.owner());
    assert_eq!(documents, [(true, false), (false, false), (true, false)]);
    let desk = Desk::new();
    let web = Web::start(&desk, &server(&desk, desk.options(reader()), true));
    let (writable, documents) = offered(&web, &web.owner());
    assert!(writable.is_empty());
    assert_eq!(documents, [(false, false); 3]);
}

#[test]
fn more_hits_follow_those_that_are_shown() {
    let desk = Desk::new();
    for number in 0..45 {
        // None is a copy of another one, and each has another score.
        let others: Vec<String> = (0..number + 9)
            .map(|at| format!("leaf{number}x{at}"))
            .collect();
        let text = format!("Tea with {}.\n", others.join(" "));
        desk.write(&format!("notes/{number:02}.md"), &text);
    }
    let served = Served::start(&desk.server(reader()));
    let search = |limit: usize, offset: usize| {
        let asked = json!({"query": "tea", "mode": "lexical", "limit": limit, "offset": offset});
        served.post("/api/search", &asked)
    };
    let paths = |answer: &Value| {
        let hits = answer["hits"].as_array().unwrap().iter();
        hits.map(|hit| hit["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = search(100, 0).json();
    let (first, second, last) = (
        search(20, 0).json(),
        search(20, 20).json(),
        search(20, 40).json(),
    );
    let parts = [&first, &second, &last].map(&paths);
    assert_eq!(parts.concat(), paths(&all));
    assert_eq!(parts[2].len(), 5);
    assert_eq!(
        [&all, &second, &last].map(|it| &it["total"]),
        [&json!(45); 3]
    );
    let relevant = |answer: &Value| answer["relevant"].as_u64().unwrap();
    let parts = [&first, &second, &last].map(relevant);
    assert_eq!(parts.iter().sum::<u64>(), relevant(&all));
    assert!(paths(&search(20, 1_000).json()).is_empty());
    assert_eq!(search(20, 1_001).status, 400);
}

#[test]
fn what_is_cut_of_a_turn_is_said() {
    let desk = Desk::new();
    let turn = |name: &str, text: &str| {
        let head = "---\nthread: talk\nauthor: user\ncreated: 2026-01-01\n---\n";
        desk.write(&format!("notes/{name}.md"), &format!("{head}{text}\n"));
    };
    turn("short", "A word.");
    turn("long", &"word ".repeat(10_000));
    let served = Served::start(&desk.server(reader()));
    let part = served.get("/api/documents/short.md/conversation").json();
    let turns = part["turns"].as_array().unwrap().iter();
    let cut: Vec<(bool, bool)> = turns
        .map(|turn| {
            let length = turn["html"].as_str().unwrap().len();
            (length > 1_000, turn["cut"] == true)
        })
        .collect();
    assert!(
        cut.contains(&(true, true)) && cut.contains(&(false, false)),
        "{cut:?}"
    );
}
