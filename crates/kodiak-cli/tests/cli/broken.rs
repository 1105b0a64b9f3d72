//! Indexes that are missing, damaged, too new, or in places they cannot be.

use std::fs;

use insta::assert_snapshot;

use crate::desk::Desk;

fn random_bytes() -> Vec<u8> {
    let mut state = 1_u32;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..20_000).map(next).collect()
}

#[test]
fn without_an_index_the_next_step_is_named() {
    let desk = Desk::with_notes();
    assert_snapshot!(desk.run(&["search", "gtd"]), @"
    exit: 2
    --- stderr
    error: there is no index at [DESK]/data/kodiak/index.db yet
    hint: run `kodiak add FOLDER`, or search a folder with `kodiak search … --in FOLDER`
    ");
    assert_snapshot!(desk.run(&["get", "gtd.md"]), @"
    exit: 2
    --- stderr
    error: there is no index at [DESK]/data/kodiak/index.db yet
    hint: run `kodiak add FOLDER`, or search a folder with `kodiak search … --in FOLDER`
    ");
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 0
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 0 sources
    ok       there is no index at [DESK]/data/kodiak/index.db yet, and there is nothing to index
    ");
    desk.ok(&["add", "notes"]);
    fs::remove_file(desk.index()).unwrap();
    assert_snapshot!(desk.run(&["search", "gtd"]), @"
    exit: 2
    --- stderr
    error: there is no index at [DESK]/data/kodiak/index.db yet
    hint: run `kodiak index`
    ");
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 1
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    problem  there is no index at [DESK]/data/kodiak/index.db yet
             run `kodiak index`
    ");
    assert_snapshot!(desk.run(&["doctor", "--fix"]), @"
    exit: 0
    --- stdout
    fixed    the index was brought up to date with all sources
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    ok       notes: up to date with [DESK]/notes
    --- stderr
    indexing notes: 42 files to read
    notes: 42 notes (42 added)
    ");
    assert!(!desk.found(&["gtd"]).is_empty());
}

#[test]
fn an_index_that_is_no_database() {
    let desk = Desk::indexed();
    let _ = fs::remove_file(desk.path("data/kodiak/index.db-wal"));
    fs::write(desk.index(), random_bytes()).unwrap();
    assert_snapshot!(desk.run(&["search", "gtd"]), @"
    exit: 2
    --- stderr
    error: the index [DESK]/data/kodiak/index.db is damaged: file is not a database
    hint: run `kodiak doctor --fix` to rebuild it from your notes
    ");
    for verb in ["status", "index", "sources"] {
        let run = desk.run(&[verb]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("is damaged"), "{run}");
        assert!(run.stderr.contains("doctor --fix"), "{run}");
    }
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 1
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    problem  the index [DESK]/data/kodiak/index.db is damaged: file is not a database
             run `kodiak doctor --fix` to rebuild it from your notes
    ");
    assert_snapshot!(desk.run(&["doctor", "--fix"]), @"
    exit: 0
    --- stdout
    fixed    the damaged index was set aside as [DESK]/data/kodiak/index.db.damaged-[TIME]
    fixed    the index was brought up to date with all sources
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    ok       notes: up to date with [DESK]/notes
    --- stderr
    indexing notes: 42 files to read
    notes: 42 notes (42 added)
    ");
    assert_eq!(desk.found(&["pomodoro", "-n", "1"]).len(), 1);
    let kept = fs::read_dir(desk.path("data/kodiak")).unwrap();
    let kept = kept.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .contains("damaged")
    });
    assert_eq!(kept.count(), 1);
    assert_snapshot!(desk.run(&["doctor", "--json"]), @r#"
    exit: 0
    --- stdout
    {"ok":true,"fixed":[],"checks":[{"ok":true,"message":"the config [DESK]/config/kodiak/config.toml registers 1 source"},{"ok":true,"message":"the index [DESK]/data/kodiak/index.db is intact and contains 42 notes"},{"ok":true,"message":"notes: up to date with [DESK]/notes"}]}
    "#);
}

#[test]
fn an_index_with_damaged_pages() {
    let desk = Desk::indexed();
    desk.ok(&["index", "--rebuild"]);
    let mut bytes = fs::read(desk.index()).unwrap();
    let (from, to) = (bytes.len() / 4, bytes.len() / 4 * 3);
    for byte in &mut bytes[from..to] {
        *byte ^= 0x5a;
    }
    fs::write(desk.index(), bytes).unwrap();
    for log in ["index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(desk.path("data/kodiak").join(log));
    }
    let run = desk.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{run}");
    let run = desk.run(&["doctor", "--fix"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(desk.found(&["pomodoro", "-n", "1"]).len(), 1);
}

#[test]
fn an_index_from_a_later_version_is_left_alone() {
    let desk = Desk::indexed();
    desk.ok(&["index", "--rebuild"]);
    for log in ["index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(desk.path("data/kodiak").join(log));
    }
    let mut bytes = fs::read(desk.index()).unwrap();
    // Where SQLite keeps the user_version.
    bytes[60..64].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(desk.index(), &bytes).unwrap();
    assert_snapshot!(desk.run(&["search", "gtd"]), @"
    exit: 2
    --- stderr
    error: the index [DESK]/data/kodiak/index.db has format 99, but this version reads formats up to 7
    hint: update Kodiak, or build a separate index for this version with `kodiak index --rebuild --index OTHER`
    ");
    for arguments in [
        &["index"][..],
        &["index", "--rebuild"],
        &["doctor", "--fix"],
        &["status"],
    ] {
        let run = desk.run(arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains("has format 99"), "{run}");
    }
    assert_eq!(fs::read(desk.index()).unwrap(), bytes);
}

#[test]
fn the_doctor_brings_the_index_up_to_date() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 0
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    ok       notes: up to date with [DESK]/notes
    ");
    desk.write("notes/new.md", "new");
    fs::remove_file(desk.path("notes/templates.md")).unwrap();
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 1
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    problem  notes: 1 new, 1 gone since it was indexed
             run `kodiak index`
    ");
    assert_snapshot!(desk.run(&["doctor", "--fix"]), @"
    exit: 0
    --- stdout
    fixed    the index was brought up to date with all sources
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    ok       notes: up to date with [DESK]/notes
    --- stderr
    indexing notes: 1 file to read
    notes: 42 notes (1 added, 1 removed)
    ");
}

#[test]
fn a_place_where_no_index_can_be() {
    let desk = Desk::with_notes();
    desk.write("file", "not a folder");
    assert_snapshot!(desk.run(&["add", "notes", "--index", "file/index.db"]), @"
    exit: 2
    --- stderr
    error: could not create the folder [DESK]/file: File exists
    hint: choose another location for the index with --index PATH
    ");
    assert!(!desk.config().exists(), "nothing is registered");
    assert_eq!(
        fs::read_to_string(desk.path("file")).unwrap(),
        "not a folder"
    );
}

#[test]
fn a_database_of_another_program_is_not_an_index() {
    let desk = Desk::indexed();
    desk.ok(&["index", "--rebuild"]);
    let mut bytes = fs::read(desk.index()).unwrap();
    // An index whose tables have other names.
    let name = b"documents";
    for at in 0..bytes.len() - name.len() {
        if &bytes[at..at + name.len()] == name {
            bytes[at..at + name.len()].copy_from_slice(b"sometable");
        }
    }
    let other = desk.write("other.db", &bytes);
    for arguments in [&["search", "gtd"][..], &["index"], &["doctor", "--fix"]] {
        let mut command = desk.command(arguments);
        let run = desk.finish(command.arg("--index").arg(&other));
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.lines().count() <= 2, "{run}");
    }
    assert_eq!(fs::read(&other).unwrap(), bytes);
}

#[test]
fn the_doctor_cannot_bring_a_missing_folder_back() {
    let desk = Desk::indexed();
    fs::rename(desk.path("notes"), desk.path("unplugged")).unwrap();
    assert_snapshot!(desk.run(&["doctor", "--fix"]), @"
    exit: 1
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    problem  notes: the folder [DESK]/notes does not exist
             connect its drive, or run `kodiak remove notes` to remove the source
    ");
    // What can be done for the others is done.
    desk.write("second/a.md", "wombat");
    desk.ok(&["add", "second"]);
    desk.write("second/b.md", "wombat too");
    assert_snapshot!(desk.run(&["doctor", "--fix"]), @"
    exit: 1
    --- stdout
    fixed    the index was brought up to date with second
    ok       the config [DESK]/config/kodiak/config.toml registers 2 sources
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 44 notes
    problem  notes: the folder [DESK]/notes does not exist
             connect its drive, or run `kodiak remove notes` to remove the source
    ok       second: up to date with [DESK]/second
    --- stderr
    warning: notes: not indexed, 42 notes kept: the folder [DESK]/notes does not exist
    hint: connect its drive, or run `kodiak remove notes` to remove the source
    indexing second: 1 file to read
    second: 2 notes (1 added)
    ");
    assert_eq!(desk.found(&["pomodoro", "-n", "1"]).len(), 1);
}

#[test]
fn a_file_that_is_no_index_is_left_alone() {
    let desk = Desk::indexed();
    let files = || {
        let mut files: Vec<_> = fs::read_dir(desk.path("notes/productivity"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (fs::read(&path).unwrap(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let note = "notes/productivity/gtd.md";
    for arguments in [
        &["doctor", "--fix"][..],
        &["doctor"],
        &["search", "gtd"],
        &["index"],
        &["index", "--rebuild"],
        &["add", "notes"],
    ] {
        let run = desk.run(&[&["--index", note], arguments].concat());
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(run.stdout, "", "{run}");
        assert!(
            run.stderr
                .contains("hint: choose another location for the index with --index PATH"),
            "{run}"
        );
        assert!(files() == before, "{} changed the folder", arguments[0]);
    }
}
