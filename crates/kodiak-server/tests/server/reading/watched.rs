//! An open page hears of changes by any program, also of those made while it was away.

use std::fs;
use std::time::{Duration, SystemTime};

use kodiak::access::Guard;
use kodiak::engine::ToSync;
use kodiak::{Engine, Job};
use kodiak_server::token::{Grant, TokenFile};
use kodiak_server::{Server, Upkeep};
use serde_json::{Value, json};

use super::{Events, Served};
use crate::desk::{Desk, reader};
use crate::web::token;

const NEVER: Duration = Duration::from_hours(1);

/// Reads events until one says that documents have changed. Returns the names of those
/// before it.
fn until_changed(events: &mut Events) -> Vec<String> {
    let mut names = Vec::new();
    loop {
        let (name, _) = events.next().expect("the stream has ended");
        if name == "documents" {
            return names;
        }
        names.push(name);
    }
}

fn sync(engine: &Engine) {
    let (guard, job) = (Guard::local(), Job::default());
    engine.sync(&guard, ToSync::All, &job).unwrap();
}

fn text(reached: &Served, id: &str) -> Value {
    let found = reached.get(&format!("/api/documents/{id}/rendered")).json();
    found["html"].clone()
}

/// A note is changed by another program, and nothing is searched for.
#[test]
fn a_change_on_disk_is_heard() {
    let desk = Desk::new();
    desk.write("notes/tea.md", "Three minutes.\n");
    let server = Server::new(desk.indexed(&["notes"]), desk.options(reader()));
    let reached = Served::start(&server);
    let mut events = reached.events("");
    events.next().unwrap();
    let _upkeep = Upkeep::begin(&server, Guard::local(), NEVER).unwrap();
    // The first may be found by the sync at the start.
    for minutes in [
        "four minutes",
        "five minutes",
        "six minutes",
        "seven minutes",
    ] {
        desk.write("notes/tea.md", &format!("Not {minutes}.\n"));
        until_changed(&mut events);
        let html = text(&reached, "tea").to_string();
        assert!(html.contains(minutes), "{html}");
    }
    fs::remove_file(desk.path("notes/tea.md")).unwrap();
    desk.write("notes/more.md", "More.\n");
    until_changed(&mut events);
}

/// It is neither among the newest documents nor does it change their number.
#[test]
fn a_change_to_an_old_file_is_heard() {
    let desk = Desk::new();
    for number in 0..40 {
        desk.write(
            &format!("notes/{number:02}.md"),
            &format!("Number {number}.\n"),
        );
    }
    let engine = desk.indexed(&["notes"]);
    let narrow = Grant {
        sources: vec!["notes".to_owned()],
        ..Grant::default()
    };
    let narrow = token(&desk, "narrow", narrow);
    let all = token(&desk, "all", Grant::default());
    let server = Server::new(engine.clone(), desk.options(reader()));
    let reached = Served::with_tokens(&server, Some(TokenFile::new(desk.path("tokens.json"))));
    let mut streams = [&all, &narrow].map(|token| reached.events(token));
    for events in &mut streams {
        assert_eq!(events.next().unwrap().0, "status");
    }
    desk.write("notes/07.md", "Another text, from long ago.\n");
    let old = fs::File::options()
        .append(true)
        .open(desk.path("notes/07.md"))
        .unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_hours(1);
    old.set_modified(long_ago).unwrap();
    sync(&engine);
    for events in &mut streams {
        until_changed(events);
    }
}

#[test]
fn whoever_comes_back_hears_what_was_missed() {
    let desk = Desk::new();
    desk.write("notes/tea.md", "Three minutes.\n");
    desk.write("secret/plan.md", "Nobody knows.\n");
    let engine = desk.indexed(&["notes", "secret"]);
    let narrow = Grant {
        sources: vec!["notes".to_owned()],
        ..Grant::default()
    };
    let narrow = token(&desk, "narrow", narrow);
    let all = token(&desk, "all", Grant::default());
    let server = Server::new(engine.clone(), desk.options(reader()));
    let reached = Served::with_tokens(&server, Some(TokenFile::new(desk.path("tokens.json"))));
    let last = [&all, &narrow].map(|token| {
        let mut events = reached.events(token);
        events.next().unwrap();
        assert_eq!(events.id.len(), 32);
        events.id
    });
    // What has changed outside is missed by those alone who may see it.
    desk.write("secret/plan.md", "Now you know.\n");
    sync(&engine);
    let mut events = reached.events_since(&all, &last[0]);
    assert_eq!(until_changed(&mut events), ["status"]);
    let mut events = reached.events_since(&narrow, &last[1]);
    assert_eq!(events.next().unwrap().0, "status");
    assert_eq!(events.id, last[1]);
    desk.write("notes/tea.md", "Four minutes.\n");
    desk.write("notes/more.md", "More.\n");
    sync(&engine);
    // It is heard with the status that has it, and not before.
    let (name, status) = events.next().unwrap();
    assert_eq!((&*name, &status["documents"]), ("status", &json!(2)));
    assert_eq!(events.next().unwrap().0, "documents");
    let mut events = reached.events_since(&narrow, &last[1]);
    assert_eq!(until_changed(&mut events), ["status"]);
    let same = std::mem::take(&mut events.id);
    assert_ne!(same, last[1]);
}
