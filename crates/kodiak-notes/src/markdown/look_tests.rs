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
    /// How many entries are checked in turn, if not all are, and after which one.
    share: Option<usize>,
    after: i64,
}

impl Known for Memory {
    fn containers(&self) -> Result<HashMap<String, Version>> {
        Ok(self.containers.clone())
    }

    fn each_entry(&self, visit: &mut dyn FnMut(KnownEntry<'_>) -> ControlFlow<()>) -> Result<()> {
        let places = (1..).zip(&self.entries);
        let (before, after): (Vec<_>, Vec<_>) = places.partition(|(at, _)| *at <= self.after);
        let known = |(at, (key, &version)): (i64, (&'_ String, &Version))| {
            visit(KnownEntry {
                key,
                version,
                skipped: false,
                turn: Some(at),
            })
        };
        let _ = after.into_iter().chain(before).try_for_each(known);
        Ok(())
    }

    fn share(&self) -> usize {
        self.share.unwrap_or(usize::MAX)
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

/// Creates a folder with notes in two folders whose versions can be trusted.
fn trusted(place: &Path) -> (MarkdownFolder, Memory) {
    for number in 0..20 {
        let path = place.join(format!("{}/{number:02}.md", number % 2));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "text").unwrap();
    }
    std::thread::sleep(Duration::from_millis(60));
    let folder = open(place);
    let memory = Memory::of(&folder);
    (folder, memory)
}

fn changed(look: &Look) -> Vec<&str> {
    look.entries
        .iter()
        .map(|entry| entry.key.as_str())
        .collect()
}

#[test]
fn a_share_of_the_files_is_checked_and_the_others_in_their_turn() {
    let place = tempfile::tempdir().unwrap();
    let (folder, mut memory) = trusted(place.path());
    memory.share = Some(6);
    for number in 0..20 {
        let path = place.path().join(format!("{}/{number:02}.md", number % 2));
        fs::write(path, "edited").unwrap();
    }
    let mut found = Vec::new();
    for turn in [6, 12, 18, 4] {
        let found_now = look(&folder, &memory);
        assert!(found_now.in_turn && !found_now.finished);
        assert_eq!(found_now.turn, Some(turn));
        assert_eq!(found_now.entries.len(), 6);
        found.extend(changed(&found_now).into_iter().map(str::to_owned));
        memory.after = turn;
    }
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 20);
    // As many as there are is all of them.
    memory.share = Some(20);
    let all = look(&folder, &memory);
    assert!(all.finished && !all.in_turn);
    assert_eq!(all.entries.len(), 20);
}

#[test]
fn what_changes_a_folder_is_found_whose_turn_it_may_be() {
    let place = tempfile::tempdir().unwrap();
    let (folder, mut memory) = trusted(place.path());
    memory.share = Some(1);
    let path = |name: &str| place.path().join(name);
    // The last one, edited by an editor that renames, among files of other folders.
    fs::write(path("1/new"), "edited").unwrap();
    fs::rename(path("1/new"), path("1/19.md")).unwrap();
    fs::write(path("1/21.md"), "new").unwrap();
    fs::remove_file(path("1/01.md")).unwrap();
    // Of an unchanged folder, only the file whose turn it is.
    fs::write(path("0/00.md"), "edited").unwrap();
    fs::write(path("0/18.md"), "edited").unwrap();
    let found = look(&folder, &memory);
    assert_eq!(found.gone, ["1/01.md"]);
    let mut keys = changed(&found);
    keys.sort_unstable();
    assert_eq!(keys, ["0/00.md", "1/19.md", "1/21.md"]);
    assert!(found.in_turn && !found.finished);
    assert_eq!(found.turn, Some(1));
    memory.apply(&folder, found);
    memory.share = None;
    let found = look(&folder, &memory);
    assert!(found.finished && changed(&found).contains(&"0/18.md"));
}

#[test]
fn a_look_that_is_late_goes_on_where_it_stopped() {
    let place = tempfile::tempdir().unwrap();
    let (folder, mut memory) = trusted(place.path());
    memory.share = Some(6);
    let found = folder.changes_since(&memory, Instant::now()).unwrap();
    assert!(!found.finished && !found.in_turn);
    assert_eq!(found.turn, None);
}
