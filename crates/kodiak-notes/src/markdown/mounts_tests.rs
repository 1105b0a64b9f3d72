//! A drive that is mounted below the root and goes away takes no note with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::search::{Answer, Request};
use kodiak::source::Source;

use crate::markdown::{FolderOptions, MarkdownFolder};

/// Returns another device for what is in a folder that has a file of this name.
fn device(path: &Path) -> Option<u64> {
    let mounted = |folder: &Path| folder.join(".mounted").exists();
    path.exists()
        .then(|| 1 + path.ancestors().filter(|folder| mounted(folder)).count() as u64)
}

/// Notes in a folder and on a drive in it.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for (name, text) in [
            ("notes/a.md", "# A\n\nwalnuts\n"),
            ("notes/x/b.md", "# B\n\nwalnuts\n"),
            ("notes/x/disk/.mounted", ""),
            ("notes/x/disk/c.md", "# C\n\nwalnuts\n"),
            ("notes/x/disk/y/d.md", "# D\n\nwalnuts\n"),
        ] {
            let path = place.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        std::thread::sleep(Duration::from_millis(60));
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn source(&self) -> MarkdownFolder {
        let options = FolderOptions::default();
        MarkdownFolder {
            device,
            ..MarkdownFolder::new("notes", &self.path("notes"), options).unwrap()
        }
    }

    fn engine(&self) -> Engine {
        Engine::builder(self.path("index.db"))
            .source(self.source())
            .refresh(Duration::from_mins(1))
            .open()
            .unwrap()
    }

    /// Leaves the mount point empty.
    fn unmount(&self) {
        fs::rename(self.path("notes/x/disk"), self.path("aside")).unwrap();
        fs::create_dir(self.path("notes/x/disk")).unwrap();
    }

    fn mount(&self) {
        fs::remove_dir_all(self.path("notes/x/disk")).unwrap();
        fs::rename(self.path("aside"), self.path("notes/x/disk")).unwrap();
    }
}

fn me() -> Guard {
    Guard::local()
}

fn search(engine: &Engine) -> Answer {
    engine.search(&me(), &Request::new("walnuts")).unwrap()
}

#[track_caller]
fn assert_all(engine: &Engine) {
    let answer = search(engine);
    assert_eq!(answer.hits.len(), 4, "{answer:?}");
    assert!(answer.is_complete(), "{answer:?}");
}

/// All notes are found, and the answer says that some cannot be read.
#[track_caller]
fn assert_kept(engine: &Engine) {
    for _ in 0..2 {
        let answer = search(engine);
        assert_eq!(answer.hits.len(), 4, "{answer:?}");
        assert_eq!(answer.completeness.codes(), ["entries-unreadable"]);
    }
}

#[test]
fn a_mount_point_is_marked() {
    let place = Place::new();
    let listing = place.source().list().unwrap();
    let marks = listing.containers.iter().map(|one| one.key.as_str());
    let marks: Vec<_> = marks.filter(|key| key.ends_with("/.")).collect();
    assert_eq!(marks, ["x/disk/."]);
}

#[test]
fn a_sync_keeps_what_a_drive_holds_that_is_away() {
    let place = Place::new();
    let engine = place.engine();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert_all(&engine);
    place.unmount();
    for _ in 0..2 {
        let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
        assert!(!report.changed(), "{report:?}");
        assert_kept(&engine);
    }
    place.mount();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert_all(&engine);
}

#[test]
fn a_search_keeps_what_a_drive_holds_that_is_away() {
    let place = Place::new();
    let engine = place.engine();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    place.unmount();
    assert_kept(&engine);
    // Another change is found as ever.
    fs::write(place.path("notes/x/e.md"), "# E\n\nwalnuts\n").unwrap();
    assert_eq!(search(&engine).hits.len(), 5);
    fs::remove_file(place.path("notes/x/e.md")).unwrap();
    assert_kept(&engine);
    place.mount();
    assert_all(&engine);
}

#[test]
fn a_rebuild_waits_for_a_drive_that_is_away() {
    let place = Place::new();
    let engine = place.engine();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    place.unmount();
    let error = engine.rebuild(&me(), false, &Job::default()).unwrap_err();
    assert!(error.to_string().contains("x/disk"), "{error}");
    assert_kept(&engine);
    place.mount();
    engine.rebuild(&me(), false, &Job::default()).unwrap();
    assert_all(&engine);
}

#[test]
fn what_was_deleted_is_gone() {
    let place = Place::new();
    let engine = place.engine();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    // On the drive, all of it.
    fs::remove_file(place.path("notes/x/disk/c.md")).unwrap();
    fs::remove_dir_all(place.path("notes/x/disk/y")).unwrap();
    assert_eq!(search(&engine).hits.len(), 2);
    let report = engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    assert!(report.is_complete());
    // The mount point itself, while the drive is away.
    let place = Place::new();
    let engine = place.engine();
    engine.sync(&me(), ToSync::All, &Job::default()).unwrap();
    place.unmount();
    assert_kept(&engine);
    fs::remove_dir(place.path("notes/x/disk")).unwrap();
    assert_eq!(search(&engine).hits.len(), 2);
}
