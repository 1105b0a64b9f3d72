//! Folders that are exchanged for links while something is written: nothing leaves the
//! root, and nothing outside it is read.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::source::{Draft, Source, WritableSource};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use kodiak_notes::Notes;
use kodiak_notes::{FolderOptions, MarkdownFolder};
use kodiak_sessions::{SessionOptions, SessionRecords};
use rustix::fs::{RenameFlags, renameat_with};

use crate::collection::ask;
use crate::sessions::EXAMPLE;

/// How long each kind of writing continues.
const LONG: Duration = Duration::from_millis(2_500);

/// A root with folders and links of the same names, and a folder outside it.
struct Place {
    place: tempfile::TempDir,
    /// Pairs of a folder and of a link that leads out, as names in an open folder: the
    /// folder above may be a link itself by then.
    pairs: Vec<(fs::File, PathBuf, PathBuf)>,
}

impl Place {
    /// Makes a root with these folders, each with a link beside it.
    fn new(folders: &[&str]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let mut made = Self {
            place,
            pairs: Vec::new(),
        };
        for (number, name) in folders.iter().enumerate() {
            let folder = made.root().join(name);
            let outside = made.outside().join(name);
            fs::create_dir_all(&folder).unwrap();
            fs::create_dir_all(&outside).unwrap();
            for name in ["a.md", "b.md"] {
                fs::write(folder.join(name), "# A\n\ninside #old\n").unwrap();
                fs::write(outside.join(name), "# A\n\nforeignword #old\n").unwrap();
            }
            let (above, name) = (folder.parent().unwrap(), folder.file_name().unwrap());
            let link = PathBuf::from(format!(".link-{number}"));
            symlink(&outside, above.join(&link)).unwrap();
            let above = fs::File::open(above).unwrap();
            made.pairs.push((above, name.into(), link));
        }
        made
    }

    fn root(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("root")
    }

    fn outside(&self) -> PathBuf {
        self.place.path().canonicalize().unwrap().join("outside")
    }

    /// Returns the files outside the root, with what they say.
    fn files_outside(&self) -> BTreeMap<PathBuf, String> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.outside()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    files.insert(path, text);
                }
            }
        }
        files
    }

    /// Runs `work` again and again while folders and links are exchanged, and checks
    /// that nothing outside the root has changed.
    fn swap_during(&self, mut work: impl FnMut(u64)) {
        let before = self.files_outside();
        let done = AtomicBool::new(false);
        let mut rounds = 0;
        std::thread::scope(|scope| {
            for (above, folder, link) in &self.pairs {
                let done = &done;
                scope.spawn(move || {
                    while !done.load(Ordering::Relaxed) {
                        let exchange = RenameFlags::EXCHANGE;
                        let _ = renameat_with(above, folder, above, link, exchange);
                    }
                });
            }
            let started = Instant::now();
            // On a busy machine a round takes long.
            while started.elapsed() < LONG || rounds < 40 {
                work(rounds);
                rounds += 1;
            }
            done.store(true, Ordering::Relaxed);
        });
        assert_eq!(self.files_outside(), before);
    }
}

fn draft(title: &str, folder: &str) -> Draft {
    Draft {
        title: title.to_owned(),
        body: format!("body of {title}"),
        folder: Some(folder.to_owned()),
        ..Draft::default()
    }
}

#[test]
fn pages_stay_in_their_root() {
    let place = Place::new(&["sub", ".trash", ".trash/sub"]);
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", &place.root(), options).unwrap();
    let mut created = 0;
    place.swap_during(|round| {
        if let Ok(key) = source.create(&draft(&format!("Page {round}"), "sub")) {
            created += 1;
            let _ = source.delete(&key);
            let _ = source.restore(&key);
            let _ = source.rename(&key, &format!("Renamed {round}"), None);
        }
        let _ = source.create(&draft(&format!("Deep {round}"), "sub/deep/er"));
        if let Ok(text) = source.text("sub/a.md") {
            assert!(!text.contains("foreignword"), "{text}");
            let seen = *blake3::hash(text.as_bytes()).as_bytes();
            let _ = source.replace("sub/a.md", &format!("{text}.\n"), seen);
        }
        purge(&source, "sub/b.md");
        let _ = source.trash();
        let listing = source.list().unwrap();
        for entry in &listing.entries {
            let _ = source.read(entry, &mut |document| {
                assert!(!document.body.contains("foreignword"), "{document:?}");
            });
        }
    });
    assert!(created > 0);
}

/// Erases every copy of a note.
fn purge(source: &dyn WritableSource, key: &str) {
    for copy in source.copies(key).unwrap_or_default() {
        let _ = source.erase_copy(&copy);
    }
}

#[test]
fn memories_and_records_stay_in_their_root() {
    let place = Place::new(&["nodes/2026", ".trash"]);
    let root = place.root();
    let memories = MemoryFolder::new("memory", &root, MemoryOptions::default()).unwrap();
    let options = SessionOptions {
        writable: true,
        ..SessionOptions::default()
    };
    let records = SessionRecords::new("sessions", &root, options).unwrap();
    let mut stored = 0;
    place.swap_during(|round| {
        let id = format!("9f2c4e1ab0d3{round:04}");
        let text = EXAMPLE.replace("9f2c4e1ab0d37756", &id);
        let outcome = records.store(&[text]);
        stored += usize::from(outcome.is_ok_and(|all| all[0].is_ok()));
        let _ = records.forget(&[&id]);
        if let Ok(key) = memories.create(&draft("", "")) {
            let _ = memories.delete(&key);
            purge(&memories, &key);
        }
    });
    assert!(stored > 0);
}

#[test]
fn a_tag_is_renamed_in_its_root_and_nothing_else_is_indexed() {
    let place = Place::new(&["sub", "other"]);
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", &place.root(), options).unwrap();
    let engine = Engine::builder(place.place.path().join("index.db"))
        .source(source)
        .open()
        .unwrap();
    let (me, job) = (Guard::local(), Job::default());
    engine.sync(&me, ToSync::All, &job).unwrap();
    place.swap_during(|round| {
        let (from, to) = if round % 2 == 0 {
            ("old", "new")
        } else {
            ("new", "old")
        };
        let _ = Notes::new(&engine).rename_tag(&me, from, to, &job);
        let _ = engine.sync(&me, ToSync::All, &job);
    });
    let answer = engine.search(&me, &ask("foreignword")).unwrap();
    assert_eq!(answer.total, 0, "{answer:?}");
}
