//! Nothing we do changes a source: paths, bytes and times stay.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::desk::Desk;

type Picture = BTreeMap<String, (Option<Vec<u8>>, SystemTime, u32)>;

/// Every file and folder below `root` with its bytes, time and permissions.
fn picture(root: &Path) -> Picture {
    fn walk(folder: &Path, picture: &mut Picture) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let bytes = metadata.is_file().then(|| fs::read(&path).unwrap());
            let facts = (bytes, metadata.modified().unwrap(), mode(&metadata));
            picture.insert(path.to_str().unwrap().to_owned(), facts);
            if metadata.is_dir() {
                walk(&path, picture);
            }
        }
    }
    let mut found = Picture::new();
    walk(root, &mut found);
    let metadata = fs::metadata(root).unwrap();
    found.insert(
        String::new(),
        (None, metadata.modified().unwrap(), mode(&metadata)),
    );
    found
}

#[cfg(unix)]
fn mode(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions())
}

#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0
}

#[test]
fn no_verb_touches_the_notes() {
    let desk = Desk::with_notes();
    desk.write("notes/broken.md", "---\ntags: [a\n---\nx");
    desk.write("notes/.gitignore", "*.tmp\n");
    desk.write("notes/binary.md", [0, 1, 2]);
    let notes = desk.path("notes");
    let before = picture(&notes);
    let unchanged = |after: &str| {
        assert!(picture(&notes) == before, "the notes changed after {after}");
    };
    for arguments in [
        &["search", "gtd", "--in", "notes"][..],
        &["add", "notes"],
        &["index"],
        &["index", "--rebuild"],
        &["search", "productivty systems", "--explain"],
        &["search", "water", "--in", "notes/cooking", "--json"],
        &["get", "notes/productivity/gtd.md"],
        &["status"],
        &["sources"],
        &["config", "show"],
        &["doctor"],
    ] {
        desk.ok(arguments);
        unchanged(&arguments.join(" "));
    }
    fs::write(desk.index(), "damaged").unwrap();
    desk.ok(&["doctor", "--fix"]);
    unchanged("doctor --fix");

    let mut watching = desk.command(&["index", "--watch"]);
    let mut watching = watching.spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    watching.kill().unwrap();
    watching.wait().unwrap();
    unchanged("index --watch");

    desk.ok(&["remove", "notes"]);
    unchanged("remove");
}
