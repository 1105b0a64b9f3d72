//! Whatever happens to a folder, a look finds what a listing would.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::markdown::{FolderOptions, MarkdownFolder};
use kodiak::source::{Known, KnownEntry, Listing, Look, Reading, Source};
use kodiak_base::Result;
use kodiak_text::document::Version;

/// An index that knows entries and containers only.
#[derive(Default)]
struct Memory {
    entries: BTreeMap<String, Version>,
    containers: HashMap<String, Version>,
}

impl Known for Memory {
    fn containers(&self) -> Result<HashMap<String, Version>> {
        Ok(self.containers.clone())
    }

    fn each_entry(&self, visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> Result<()> {
        let known = |(key, &version): (&'_ String, &Version)| {
            visit(KnownEntry {
                key,
                version,
                skipped: false,
            })
        };
        let _ = self.entries.iter().try_for_each(known);
        Ok(())
    }
}

impl Memory {
    fn of(folder: &MarkdownFolder) -> Self {
        let Listing {
            entries,
            containers,
            ..
        } = folder.list().unwrap();
        let mut memory = Self::default();
        for entry in entries {
            memory.read(folder, &entry);
        }
        let containers = containers.into_iter();
        memory.containers = containers.map(|one| (one.key, one.version)).collect();
        memory
    }

    /// Reads an entry as a sync does: a fresh file has no version.
    fn read(&mut self, folder: &MarkdownFolder, entry: &kodiak::source::Entry) {
        let reading = folder.read(entry, &mut |_| {}).unwrap();
        let Reading::Read { version } = reading else {
            panic!("{entry:?}: {reading:?}");
        };
        self.entries.insert(entry.key.clone(), version);
    }

    fn apply(&mut self, folder: &MarkdownFolder, look: Look) {
        for entry in &look.entries {
            self.read(folder, entry);
        }
        for key in &look.gone {
            assert!(self.entries.remove(key).is_some(), "{key} was not known");
        }
        let containers = look.containers.into_iter();
        self.containers
            .extend(containers.map(|one| (one.key, one.version)));
        for key in &look.containers_gone {
            assert!(self.containers.remove(key).is_some(), "{key}");
        }
    }

    fn keys(&self) -> Vec<&str> {
        self.entries.keys().map(String::as_str).collect()
    }
}

fn open(root: &Path) -> MarkdownFolder {
    MarkdownFolder::new("notes", root, FolderOptions::default()).unwrap()
}

fn look(folder: &MarkdownFolder, memory: &Memory) -> Look {
    let deadline = Instant::now() + Duration::from_mins(10);
    folder.changes_since(memory, deadline).unwrap()
}

/// Something that happens in a folder.
#[derive(Clone, Debug)]
enum Event {
    Write(&'static str, u8),
    Delete(&'static str),
    Rename(&'static str, &'static str),
    Look,
}

const NAMES: [&str; 10] = [
    "a.md",
    "b.md",
    "x/a.md",
    "x/y/b.md",
    "x/y/z/c.md",
    "w/a.txt",
    ".gitignore",
    "x/.gitignore",
    "x/y/.ignore",
    "x/picture.png",
];
const FOLDERS: [&str; 4] = ["x", "x/y", "w", "v"];
const RULES: [&str; 4] = ["", "y/\n", "a.md\n", "*.md\n!b.md\n"];

fn event() -> impl Strategy<Value = Event> {
    let name = || prop::sample::select(NAMES.to_vec());
    let folder = || prop::sample::select(FOLDERS.to_vec());
    prop_oneof![
        4 => (name(), any::<u8>()).prop_map(|(name, text)| Event::Write(name, text)),
        1 => name().prop_map(Event::Delete),
        1 => folder().prop_map(Event::Delete),
        1 => (name(), name()).prop_map(|(from, to)| Event::Rename(from, to)),
        1 => (folder(), folder()).prop_map(|(from, to)| Event::Rename(from, to)),
        2 => Just(Event::Look),
    ]
}

/// Does it if it can be done.
fn happen(root: &Path, event: &Event) {
    match event {
        Event::Write(name, text) => {
            let path = root.join(name);
            let text = if name.ends_with("ignore") {
                RULES[*text as usize % RULES.len()].to_owned()
            } else {
                format!("text {text:03}")
            };
            if fs::create_dir_all(path.parent().unwrap()).is_ok() {
                let _ = fs::write(path, text);
            }
        }
        Event::Delete(name) => {
            let path = root.join(name);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(path));
        }
        Event::Rename(from, to) => {
            let _ = fs::rename(root.join(from), root.join(to));
        }
        Event::Look => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_look_finds_what_a_listing_finds(events in prop::collection::vec(event(), 1..24)) {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("a.md"), "text 000").unwrap();
        let folder = open(place.path());
        let mut memory = Memory::of(&folder);
        for event in events.iter().chain([&Event::Look]) {
            happen(place.path(), event);
            if !matches!(event, Event::Look) {
                continue;
            }
            let found = look(&folder, &memory);
            prop_assert!(found.finished);
            memory.apply(&folder, found);
            let now = folder.list().unwrap();
            let mut listed: Vec<&str> = now.entries.iter().map(|one| one.key.as_str()).collect();
            listed.sort_unstable();
            prop_assert_eq!(memory.keys(), listed);
            for entry in &now.entries {
                let known = &memory.entries[&entry.key];
                prop_assert!(!known.differs_from(entry.version), "{:?}", entry);
            }
            let mut containers: Vec<_> = now.containers.into_iter().map(|one| one.key).collect();
            let mut known: Vec<_> = memory.containers.keys().cloned().collect();
            containers.sort_unstable();
            known.sort_unstable();
            prop_assert_eq!(known, containers);
        }
    }
}

#[test]
fn a_folder_that_just_changed_is_listed_again() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.md"), "text").unwrap();
    let folder = open(place.path());
    let mut memory = Memory::of(&folder);
    // Another file in the same tick would not show.
    assert_eq!(memory.containers[""], Version::UNKNOWN);
    std::thread::sleep(Duration::from_millis(60));
    let found = look(&folder, &memory);
    assert_eq!(found.containers.len(), 1);
    assert_eq!(found.entries.len(), 1);
    memory.apply(&folder, found);
    assert!(memory.containers[""].is_known());
    assert!(look(&folder, &memory).is_empty());
}

#[test]
fn no_time_means_nothing_is_known() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a.md"), "text").unwrap();
    let folder = open(place.path());
    let memory = Memory::of(&folder);
    fs::remove_file(place.path().join("a.md")).unwrap();
    let found = folder.changes_since(&memory, Instant::now()).unwrap();
    assert_eq!(found, Look::default());
    // Nor is anything known without containers.
    let memory = Memory::default();
    assert!(!look(&folder, &memory).finished);
}
