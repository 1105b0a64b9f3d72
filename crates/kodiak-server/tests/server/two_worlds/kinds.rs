//! What worlds have beside notes and memories: articles, records and transcripts of
//! sessions, notes of Bear, and a source in the folder of another one.

use kodiak::engine::EngineBuilder;
use kodiak_bear::{BearDatabase, BearOptions};
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_sessions::transcripts::Agent;
use kodiak_sessions::{SessionOptions, SessionRecords, TranscriptOptions, TranscriptSource};
use serde_json::json;
use tiny_bear::{Bear, Generation, Note};

use super::words::{INSIDE, OUTSIDE};
use super::{Dice, Worlds, note};
use crate::desk::Desk;

/// What a memory and an article say that are outside.
pub(super) const KNOWN: &str = "A quokka and a walrus see a sliver of the shadow.";

const PROJECTS: [&str; 2] = ["/work/atlas", "/work/hidden"];

/// Writes what is inside, and an outside that the seed decides about.
pub(super) fn write(desk: &Desk, outside: Option<u64>) {
    desk.write("work/.ignore", "inner/\n");
    desk.write("work/sub/deep.svg", "<svg/>");
    let mut dice = Dice(5);
    write_of(desk, &mut dice, &INSIDE, 0, 3);
    let Some(seed) = outside else {
        return;
    };
    let mut dice = Dice(seed);
    let both: Vec<&str> = INSIDE.into_iter().chain(OUTSIDE).collect();
    for name in ["memory/known", "articles/known"] {
        let front = format!("id: known\nproject: {}", PROJECTS[1]);
        desk.write(
            &format!("{name}.md"),
            &format!("---\n{front}\n---\n{KNOWN}\n"),
        );
    }
    let count = 1 + dice.roll(6);
    write_of(desk, &mut dice, &both, 1, count);
    for number in 0..=dice.roll(5) {
        let text = note(&mut dice, &both, PROJECTS[1], true);
        desk.write(&format!("work/inner/{number}.md"), &text);
    }
    desk.write("work/inner/deep.svg", "<svg/>");
    std::fs::create_dir_all(desk.path("bear")).unwrap();
    let bear = Bear::create(&desk.path("bear/database.sqlite"), Generation::Newer).unwrap();
    for number in 0..=dice.roll(5) {
        let (title, text) = (dice.words(&both, 2), dice.words(&both, 20));
        let written = Note::new(&format!("B{number}"), &title, &text).tagged(&["food"]);
        bear.add(&written).unwrap();
    }
}

/// Writes documents of sessions and articles of one of the projects.
fn write_of(desk: &Desk, dice: &mut Dice, words: &[&str], project: usize, count: usize) {
    let folder = PROJECTS[project];
    for number in 0..count {
        // None of the ids begins like another one.
        let id = format!("{}{number}", ["inner", "outer"][project]);
        let text = dice.words(words, 20);
        let front = format!(
            "id: {id}\ntitle: {}\nproject: {folder}",
            dice.words(words, 2)
        );
        desk.write(
            &format!("articles/{id}.md"),
            &format!("---\n{front}\n---\n{text}.\n"),
        );
        let record = json!({
            "id": format!("{id}rec"), "version": 1,
            "classification": {"type": "debugging", "project": folder},
            "content": {"summary": dice.words(words, 10), "outcome": "partial",
                "keyDecisions": [{"what": dice.words(words, 3), "why": dice.words(words, 3)}]},
            "lessons": {"task": [{"summary": dice.words(words, 5)}]},
            "metadata": {"timestamp": "2025-02-03T04:05:06Z"},
            "semantic": {"tags": ["food"], "topics": ["evening"]},
        });
        let name = format!("records/nodes/2025/02/{id}rec-v1.json");
        desk.write(&name, &record.to_string());
        let turns: Vec<String> = (0..3)
            .map(|turn| {
                let said = json!({
                    "type": "user", "uuid": format!("{id}u{turn}"), "sessionId": format!("{id}s"),
                    "cwd": folder, "timestamp": format!("2025-03-0{}T10:00:00Z", turn + 1),
                    "message": {"id": format!("{id}m{turn}"),
                        "content": [{"type": "text", "text": dice.words(words, 12)}]},
                });
                format!("{said}\n")
            })
            .collect();
        desk.write(&format!("agent/projects/p/{id}s.jsonl"), &turns.concat());
    }
}

/// Adds the sources of these.
pub(super) fn add(desk: &Desk, worlds: Worlds, mut builder: EngineBuilder) -> EngineBuilder {
    let articles = MemoryOptions {
        holding: Holding::Articles,
        ..MemoryOptions::default()
    };
    let agent = TranscriptOptions::default();
    builder = builder
        .source(MemoryFolder::new("articles", &desk.path("articles"), articles).unwrap())
        .source(
            SessionRecords::new("records", &desk.path("records"), SessionOptions::default())
                .unwrap(),
        )
        .source(
            TranscriptSource::new("talks", Agent::ClaudeCode, &desk.path("agent"), agent).unwrap(),
        );
    if worlds == Worlds::Alone {
        return builder;
    }
    let database = desk.path("bear/database.sqlite");
    builder
        .source(BearDatabase::new("bear", &database, BearOptions::default()).unwrap())
        .source(
            MarkdownFolder::new("inner", &desk.path("work/inner"), FolderOptions::default())
                .unwrap(),
        )
}
