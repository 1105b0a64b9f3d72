//! A hook over an engine, without a client and without a model.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

use std::fs;

use kodiak::access::Guard;
use kodiak::{Engine, Job};
use kodiak_hook::{Event, Hook, HookOptions, MAX_TOKENS, Told, Verdict};
use kodiak_memory::{MemoryFolder, MemoryOptions};

const PROMPT: &str = "When does the lighthouse generator get new diesel?";

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (number, text) in [
            "Reviews need two people.",
            "Releases are tagged by hand.",
            "The importer reads CSV files only.",
            "Use four spaces in Python.",
        ]
        .into_iter()
        .enumerate()
        {
            place.write(&format!("filler-{number}"), "", text);
        }
        place
    }

    fn write(&self, id: &str, front: &str, text: &str) {
        let file = self.folder.path().join(format!("memory/{id}.md"));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = format!("---\nid: {id}\nproject: /p\n{front}---\n{text}\n");
        fs::write(file, text).unwrap();
    }

    fn engine(&self) -> Engine {
        let memories = self.folder.path().join("memory");
        let source = MemoryFolder::new("memory", &memories, MemoryOptions::default()).unwrap();
        let engine = Engine::builder(self.folder.path().join("index.db")).source(source);
        let engine = engine.open().unwrap();
        engine
            .sync(
                &Guard::local(),
                kodiak::engine::ToSync::All,
                &Job::default(),
            )
            .unwrap();
        engine
    }
}

fn event(session: &str) -> Event {
    Event {
        name: "UserPromptSubmit".into(),
        session_id: Some(session.into()),
        cwd: Some("/p".into()),
        prompt: Some(PROMPT.into()),
        ..Event::default()
    }
}

#[test]
fn the_documents_of_the_current_session_do_not_exist() {
    let place = Place::new();
    place.write(
        "diesel",
        "session: s-1\n",
        "The lighthouse generator does get new diesel in May.",
    );
    let engine = place.engine();
    let hook = Hook::new(&engine, HookOptions::default());
    let own = hook.consider(&event("s-1"), &Told::default()).unwrap();
    assert!(own.context.is_none(), "{own:?}");
    let found = own.candidates.iter().any(|one| one.hit.path == "diesel");
    assert!(!found, "{own:?}");
    let other = hook.prompt(&event("s-2"), &Told::default()).unwrap();
    assert!(other.unwrap().text.contains("in May"));
}

#[test]
fn a_turn_is_told_with_what_was_said_then() {
    let place = Place::new();
    for (number, text) in [
        "Ana: Morning, Ben.",
        "Ana: Does the lighthouse generator get new diesel soon?",
        "Ben: Yes, when the ferry comes.",
        "Ana: So it is the third of May.",
        "Ben: What a fine day it is.",
    ]
    .into_iter()
    .enumerate()
    {
        let front = format!("session: old\ncreated_at: 2026-01-0{}\n", number + 1);
        place.write(&format!("turn-{number}"), &front, text);
    }
    let engine = place.engine();
    let hook = Hook::new(&engine, HookOptions::default());
    let context = hook.prompt(&event("s"), &Told::default()).unwrap().unwrap();
    assert!(context.text.contains("third of May"), "{}", context.text);
    assert!(!context.text.contains("fine day") && !context.text.contains("Morning"));
    assert_eq!(context.items.iter().map(Vec::len).collect::<Vec<_>>(), [3]);
    // What was told with it is not told again.
    let mut told = Told::default();
    told.add(context.documents());
    let again = hook.consider(&event("s"), &told).unwrap();
    assert!(again.context.is_none());
    assert_eq!(again.candidates[0].verdict, Verdict::ToldBefore);
}

#[test]
fn two_that_are_about_equal_are_not_told() {
    let place = Place::new();
    for (id, text) in [
        (
            "one",
            "The lighthouse generator does get new diesel in May.",
        ),
        (
            "two",
            "In winter the lighthouse generator does get new diesel from Kiel.",
        ),
    ] {
        place.write(id, "", text);
    }
    let engine = place.engine();
    let hook = Hook::new(&engine, HookOptions::default());
    let considered = hook.consider(&event("s"), &Told::default()).unwrap();
    assert!(considered.context.is_none(), "{considered:#?}");
    assert_eq!(considered.candidates[0].verdict, Verdict::NotAlone);
}

#[test]
fn little_is_told_of_much() {
    let place = Place::new();
    let text = "The lighthouse generator does get new diesel in May. ".repeat(2_000);
    place.write("long", "", &text);
    let engine = place.engine();
    let hook = Hook::new(&engine, HookOptions::default());
    let context = hook.prompt(&event("s"), &Told::default()).unwrap().unwrap();
    let tokens = context.tokens();
    assert!(tokens <= MAX_TOKENS, "{tokens}");
    // Without a folder nothing is known to belong to the project.
    let nowhere = Event {
        cwd: None,
        ..event("s")
    };
    assert!(hook.prompt(&nowhere, &Told::default()).unwrap().is_none());
}
