//! Memories through the engine: what is remembered once is found again, under the
//! same name, and what was corrected is history.

mod namesakes;
mod recalling;
mod similar;
mod trashed;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use kodiak::access::{Capability, Guard};
use kodiak::engine::{Job, ToSync};
use kodiak::search::Request;
use kodiak::source::Draft;
use kodiak::store::Filter;
use kodiak::tombstones::Tombstones;
use kodiak::{Engine, Error, date};
use kodiak_memory::{Holding, MemoryFolder, MemoryOptions};
use kodiak_memory::{Memories, Memory, Remembered, TimelineRequest};
use kodiak_notes::Notes;
use tempfile::TempDir;

struct Place {
    folder: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir_all(place.root().join("articles")).unwrap();
        place
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("memory")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let names = fs::read_dir(self.root()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names
            .filter(|name| {
                std::path::Path::new(name)
                    .extension()
                    .is_some_and(|extension| extension == "md")
            })
            .collect()
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index.db")
    }

    fn engine(&self) -> Engine {
        let options = |holding| MemoryOptions {
            holding,
            ..MemoryOptions::default()
        };
        let memories = options(Holding::Memories);
        let memories = MemoryFolder::new("memory", &self.root(), memories).unwrap();
        let articles = self.root().join("articles");
        let articles = MemoryFolder::new("article", &articles, options(Holding::Articles));
        Engine::builder(self.index())
            .tombstones(Tombstones::at(self.folder.path().join("forgotten")))
            .source(memories)
            .source(articles.unwrap())
            .open()
            .unwrap()
    }
}

fn me() -> Guard {
    Guard::local()
}

fn memory(text: &str) -> Memory {
    Memory {
        source: "memory".to_owned(),
        text: text.to_owned(),
        ..Memory::default()
    }
}

fn remember(engine: &Engine, memory: &Memory) -> Remembered {
    Memories::new(engine)
        .remember(&me(), memory, &Job::default())
        .unwrap()
}

fn sync(engine: &Engine) {
    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert!(report.is_complete(), "{report:?}");
}

fn request(query: &str) -> Request {
    Request {
        query: query.to_owned(),
        ..Request::default()
    }
}

fn found(engine: &Engine, request: &Request) -> Vec<String> {
    let hits = engine.search(&me(), request).unwrap().hits;
    hits.into_iter().map(|hit| hit.card.path).collect()
}

#[test]
fn an_identical_text_is_stored_once_and_a_similar_one_unless_it_must() {
    let place = Place::new();
    let engine = place.engine();
    let text = "The API allows 100 requests a minute.";
    let first = remember(&engine, &memory(text));
    assert!(!first.deduplicated && first.indexed && first.tokens > 4);
    assert_eq!(
        found(&engine, &request("minute")),
        std::slice::from_ref(&first.key)
    );
    for (text, force, stored) in [
        (text, false, false),
        (text, true, false),
        (" The API allows\n100 requests a minute. ", true, false),
        ("The API allowed 100 requests a minute!", false, false),
        ("The API allowed 100 requests a minute!", true, true),
        ("The API allows 200 requests a minute.", false, true),
        ("The API never allows 100 requests a minute.", false, true),
    ] {
        let memory = Memory {
            force,
            ..memory(text)
        };
        let remembered = remember(&engine, &memory);
        assert_eq!(!remembered.deduplicated, stored, "{text} {remembered:?}");
        assert_eq!(remembered.similarity.is_some(), !stored);
        if !stored && !force {
            assert_eq!((&remembered.id, &remembered.key), (&first.id, &first.key));
        }
    }
    assert_eq!(place.files().len(), 4);
    // Also where there is no index.
    drop(engine);
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(place.folder.path().join(name));
    }
    let engine = place.engine();
    assert!(remember(&engine, &memory(text)).deduplicated);
    assert_eq!(place.files().len(), 4);
}

#[test]
fn a_memory_keeps_its_id_through_renaming_and_a_new_index() {
    let place = Place::new();
    let engine = place.engine();
    let one = remember(&engine, &memory("Alpha is the first letter."));
    let other = remember(&engine, &memory("Omega is the last one."));
    let file = |key: &str| place.root().join(format!("{key}.md"));
    fs::create_dir(place.root().join("deep")).unwrap();
    fs::rename(file(&one.key), place.root().join("deep/Renamed.md")).unwrap();
    sync(&engine);
    let id = |engine: &Engine, query: &str| {
        let hits = engine.search(&me(), &request(query)).unwrap().hits;
        hits.into_iter()
            .map(|hit| (hit.card.id, hit.card.path, hit.entry))
            .collect::<Vec<_>>()
    };
    let renamed = (
        one.id.clone(),
        one.key.clone(),
        "deep/Renamed.md".to_owned(),
    );
    assert_eq!(id(&engine, "alpha"), std::slice::from_ref(&renamed));
    drop(engine);
    fs::remove_file(place.index()).unwrap();
    let engine = place.engine();
    sync(&engine);
    assert_eq!(id(&engine, "alpha"), [renamed]);
    assert_eq!(id(&engine, "omega")[0].0, other.id);
    // By its file, too.
    let found = engine.get(&me(), &"memory/deep/Renamed.md".parse().unwrap());
    assert_eq!(found.unwrap().document.key, one.key);
}

#[test]
fn two_files_with_one_id_are_both_found_and_reported() {
    let place = Place::new();
    place.write("a.md", "---\nid: same\n---\nfirst zebra\n");
    place.write("b.md", "---\nid: same\n---\nsecond zebra\n");
    let engine = place.engine();
    for _ in 0..2 {
        sync(&engine);
        assert_eq!(
            found(&engine, &request("zebra"))
                .into_iter()
                .collect::<BTreeSet<_>>(),
            ["b.md".to_owned(), "same".to_owned()].into()
        );
    }
    let problems = engine.view(&me()).indexed_sources().unwrap();
    let problems = &problems
        .iter()
        .find(|one| one.name == "memory")
        .unwrap()
        .problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(
        problems[0].0 == "b.md" && problems[0].1.contains("a.md"),
        "{problems:?}"
    );
    // The file that is meant is forgotten, and the other gets its id.
    Memories::new(&engine)
        .forget(&me(), &["a.md".to_owned()], &Job::default())
        .unwrap();
    assert!(!place.root().join("a.md").exists() && place.root().join("b.md").exists());
    sync(&engine);
    assert_eq!(found(&engine, &request("zebra")), ["same"]);
    let sources = engine.view(&me()).indexed_sources().unwrap();
    assert!(sources.iter().all(|source| source.problems.is_empty()));
}

#[test]
fn a_timeline_lists_in_few_words_and_observations_whole() {
    let place = Place::new();
    let engine = place.engine();
    let mut ids = Vec::new();
    for day in 1..=9 {
        ids.push(remember(
            &engine,
            &Memory {
                created_at: date::parse(&format!("2026-01-0{day}")),
                kind: Some(if day % 2 == 0 { "error" } else { "decision" }.to_owned()),
                tags: vec![format!("day{day}")],
                summary: (day == 5).then(|| "in short".to_owned()),
                ..memory(&format!(
                    "Event {day} {}",
                    "of great importance ".repeat(20)
                ))
            },
        ));
    }
    let list = |request: &TimelineRequest| {
        let timeline = Memories::new(&engine).timeline(&me(), request).unwrap();
        let entries = timeline.entries.into_iter();
        entries
            .map(|entry| entry.written_at()[8..10].to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all = TimelineRequest {
        limit: 4,
        ..TimelineRequest::default()
    };
    assert_eq!(list(&all), "06 07 08 09");
    let between = TimelineRequest {
        after: date::parse("2026-01-02"),
        before: date::parse("2026-01-05"),
        limit: 9,
        ..TimelineRequest::default()
    };
    assert_eq!(list(&between), "02 03 04");
    let around = TimelineRequest {
        around: Some(ids[4].key.clone()),
        context: 2,
        ..TimelineRequest::default()
    };
    assert_eq!(list(&around), "03 04 05 06 07");
    let errors = TimelineRequest {
        filter: Filter {
            kinds: vec!["error".to_owned()],
            ..Filter::default()
        },
        ..around.clone()
    };
    assert_eq!(list(&errors), "02 04 05 06 08");
    let timeline = Memories::new(&engine).timeline(&me(), &around).unwrap();
    let middle = &timeline.entries[2];
    assert!(middle.anchor && middle.summary == "in short" && middle.tags == ["day5"]);
    assert!(middle.tokens > 50 && timeline.tokens > 50);
    let first = &timeline.entries[0].summary;
    assert!(
        first.chars().count() <= 101 && first.ends_with('…'),
        "{first}"
    );

    let names = [&ids[3].key, "#zzzz", &ids[1].id, &ids[3].id, "nothing"];
    let names = names.map(str::to_owned);
    let found = Memories::new(&engine).observations(&me(), &names).unwrap();
    let keys: Vec<&str> = found
        .observations
        .iter()
        .map(|one| one.path.as_str())
        .collect();
    assert_eq!(keys, [&ids[3].key, &ids[1].key]);
    assert_eq!(found.missing, ["#zzzz", "nothing"]);
    assert!(found.observations[0].text.starts_with("Event 4"));
    assert_eq!(
        found.tokens,
        found
            .observations
            .iter()
            .map(|one| one.tokens)
            .sum::<usize>()
    );
    let blind = Guard::holding([Capability::Search]);
    Memories::new(&engine)
        .observations(&blind, &names)
        .unwrap_err();
    Memories::new(&engine).timeline(&blind, &all).unwrap_err();
}

#[test]
fn a_timeline_around_a_name_that_means_nothing_to_the_caller_is_an_error() {
    let place = Place::new();
    let engine = place.engine();
    let remembered = remember(&engine, &memory("Fax machines are in the basement."));
    // For this caller there is nothing to list either.
    let stranger = Guard::local().within(["elsewhere"]);
    for name in [remembered.id, "nowhere".to_owned()] {
        let around = TimelineRequest {
            around: Some(name),
            limit: 5,
            ..TimelineRequest::default()
        };
        let timeline = Memories::new(&engine).timeline(&stranger, &around);
        assert!(matches!(timeline, Err(Error::NoDocument { .. })));
    }
}

#[test]
fn forgetting_moves_to_the_trash_and_retention_spares_what_is_protected() {
    let place = Place::new();
    let engine = place.engine();
    let old = Memory {
        created_at: date::parse("2020-01-01"),
        ..memory("Fax machines are in the basement.")
    };
    let old = remember(&engine, &old);
    let kept = remember(
        &engine,
        &Memory {
            created_at: date::parse("2020-01-02"),
            protected: true,
            ..memory("The founding year is 1998.")
        },
    );
    let new = remember(&engine, &memory("Scanners are on the third floor."));
    let cutoff = date::parse("2025-01-01").unwrap();
    let retired = Memories::new(&engine)
        .retire(&me(), cutoff, &Job::default())
        .unwrap();
    let moved: Vec<&str> = retired.moved.iter().map(|one| one.key.as_str()).collect();
    assert_eq!((moved, retired.protected), (vec![old.key.as_str()], 1));
    assert!(place.root().join(format!(".trash/{}.md", old.key)).exists());
    assert_eq!(found(&engine, &request("basement")), [] as [&str; 0]);
    let names = [new.id.clone(), "nonsense of nobody".to_owned()];
    Memories::new(&engine)
        .forget(&me(), &names, &Job::default())
        .unwrap_err();
    assert_eq!(
        found(&engine, &request("scanners")),
        std::slice::from_ref(&new.key)
    );
    let forgotten = Memories::new(&engine)
        .forget(&me(), &names[..1], &Job::default())
        .unwrap();
    assert_eq!(forgotten[0].title, "Scanners are on the third floor.");
    assert_eq!(found(&engine, &request("scanners")), [] as [&str; 0]);
    Notes::new(&engine)
        .restore(&me(), "memory", &format!("{}.md", new.key), &Job::default())
        .unwrap();
    assert_eq!(found(&engine, &request("scanners")), [new.key]);
    let erased = Memories::new(&engine)
        .purge_named(&me(), std::slice::from_ref(&kept.key), &Job::default())
        .unwrap();
    assert_eq!(erased, 1);
    assert_eq!(found(&engine, &request("founding")), [] as [&str; 0]);
    assert!(!place.root().join(format!("{}.md", kept.key)).exists());
}

#[test]
fn a_session_goes_on_after_it_was_erased_but_an_id_does_not_come_back() {
    let place = Place::new();
    let engine = place.engine();
    let job = Job::default();
    let said = |id: &str, text: &str| Memory {
        id: Some(id.to_owned()),
        session: Some("s-17".to_owned()),
        ..memory(text)
    };
    remember(&engine, &said("first", "Okapis live in the forest."));
    fs::rename(place.root().join("first.md"), place.root().join("moved.md")).unwrap();
    sync(&engine);
    let guard = Memories::new(&engine).only_memories_and_sessions(&me());
    assert_eq!(
        Memories::new(&engine)
            .purge_session(&guard, "s-17", &job)
            .unwrap(),
        1
    );
    assert!(place.files().is_empty());
    let again = Memories::new(&engine).remember(&me(), &said("first", "Okapis again."), &job);
    assert!(again.unwrap_err().to_string().contains("first"));
    remember(&engine, &said("second", "Okapis are shy."));
    sync(&engine);
    assert_eq!(found(&engine, &request("okapis")), ["second"]);
}

#[test]
fn who_is_held_to_a_project_learns_nothing_of_others() {
    let place = Place::new();
    let engine = place.engine();
    let secret = Memory {
        project: Some("/src/web".to_owned()),
        ..memory("The launch of the shop is on the first of May.")
    };
    let theirs = remember(&engine, &secret);
    let held = me().in_project("/src/api");
    let job = Job::default();
    let mine = Memories::new(&engine)
        .remember(&held, &memory(&secret.text), &job)
        .unwrap();
    assert!(!mine.deduplicated);
    assert_ne!(mine.key, theirs.key);
    let written = fs::read_to_string(place.root().join(format!("{}.md", mine.key))).unwrap();
    assert!(written.contains("/src/api"), "{written}");
    assert!(
        Memories::new(&engine)
            .remember(&held, &memory(&secret.text), &job)
            .unwrap()
            .deduplicated
    );
    let superseding = Memory {
        supersedes: vec![theirs.key.clone()],
        ..memory("Nothing is known of a launch.")
    };
    let refused = Memories::new(&engine)
        .remember(&held, &superseding, &job)
        .unwrap_err();
    assert!(matches!(refused, Error::NoDocument { .. }), "{refused}");
    Memories::new(&engine)
        .forget(&held, std::slice::from_ref(&theirs.key), &job)
        .unwrap_err();
    let seen = Memories::new(&engine)
        .observations(&held, &[theirs.key.clone(), mine.key])
        .unwrap();
    assert_eq!(seen.missing, [theirs.key]);
    let reader = Guard::holding([Capability::Search, Capability::Read]);
    let refused = Memories::new(&engine)
        .remember(&reader, &memory("x"), &job)
        .unwrap_err();
    assert!(matches!(refused, Error::NotAllowed { .. }), "{refused}");
}

#[test]
fn secrets_and_what_cannot_be_written_are_refused_or_replaced() {
    let place = Place::new();
    let engine = place.engine();
    let key = format!("AKIA{}", "IOSFODNN7QXYPLQR");
    let mut secret = memory(&format!("The key is {key}, keep it."));
    secret.title = Some(format!("About {key}"));
    secret.summary = Some(key.clone());
    secret
        .metadata
        .insert("note".to_owned(), key.clone().into());
    let remembered = remember(&engine, &secret);
    let text = fs::read_to_string(place.root().join(format!("{}.md", remembered.key))).unwrap();
    assert!(
        !text.contains(&key) && text.matches("[redacted:").count() == 4,
        "{text}"
    );
    let refused = |memory: Memory| {
        let error = Memories::new(&engine)
            .remember(&me(), &memory, &Job::default())
            .unwrap_err();
        error.to_string()
    };
    assert!(refused(memory(" \n")).contains("no text"));
    let escape = Memory {
        id: Some("../escape".to_owned()),
        ..memory("x")
    };
    assert!(refused(escape).contains("../escape"));
    let taken = Memory {
        id: Some(remembered.key.clone()),
        ..memory("x")
    };
    assert!(refused(taken).contains(&remembered.key));
    let mut own = memory("x");
    own.metadata.insert("Supersedes".to_owned(), "y".into());
    assert!(refused(own).contains("Supersedes"));
    let other = Memory {
        source: "nowhere".to_owned(),
        ..memory("x")
    };
    assert!(refused(other).contains("nowhere"));
    assert_eq!(place.files().len(), 1);
}

#[test]
fn pages_of_memories_have_no_secrets_either_and_status_counts_them() {
    let place = Place::new();
    let engine = place.engine();
    let key = format!("AKIA{}", "IOSFODNN7QXYPLQR");
    let gone = |left_out: usize, expected: usize| {
        assert_eq!(left_out, expected);
        for name in place.files() {
            let text = fs::read_to_string(place.root().join(&name)).unwrap();
            assert!(!text.contains(&key) && !text.contains("hunter2"), "{text}");
        }
    };
    let draft = Draft {
        title: format!("About {key}"),
        body: "My password is hunter2.\n".to_owned(),
        ..Draft::default()
    };
    let job = Job::default();
    let saved = Notes::new(&engine)
        .create(&me(), "memory", &draft, &job)
        .unwrap();
    gone(saved.secrets_left_out, 2);
    let page = Notes::new(&engine)
        .text(&me(), "memory", &saved.key)
        .unwrap();
    let text = format!("{}\nexport DB_PASSWORD=hunter2x {key}\n", page.text);
    let changed = Notes::new(&engine).replace(&me(), "memory", &saved.key, &text, page.hash, &job);
    gone(changed.unwrap().secrets_left_out, 2);
    let renamed =
        Notes::new(&engine).rename(&me(), "memory", &saved.key, &format!("Of {key}"), &job);
    gone(renamed.unwrap().secrets_left_out, 1);
    let page = Notes::new(&engine)
        .text(&me(), "memory", &saved.key)
        .unwrap();
    let updated = Notes::new(&engine).update(&me(), "memory", &saved.key, &draft, page.hash, &job);
    gone(updated.unwrap().secrets_left_out, 2);
    let refused = Draft {
        key: Some(key.clone()),
        ..draft
    };
    let error = Notes::new(&engine)
        .create(&me(), "memory", &refused, &job)
        .unwrap_err();
    assert!(!error.to_string().contains(&key), "{error}");

    let remembered = remember(&engine, &memory(&format!("{key} and {key}")));
    gone(remembered.secrets_left_out, 2);
    let again = remember(&engine, &memory(&format!("{key} and {key}")));
    assert!(again.deduplicated);
    assert_eq!(again.secrets_left_out, 2);
    sync(&engine);
    let status = engine.status(&me()).unwrap();
    let counts: Vec<_> = status
        .sources
        .iter()
        .map(|one| one.secrets_left_out)
        .collect();
    assert_eq!(counts, [4, 0]);
}
