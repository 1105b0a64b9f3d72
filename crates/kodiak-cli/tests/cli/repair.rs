//! Checks of the doctor beyond the index file: the model, and the embeddings.

use std::fs;
use std::path::PathBuf;

use insta::assert_snapshot;

use crate::desk::Desk;
use crate::meaning::embedded;

/// The weights of the installed model.
fn weights(desk: &Desk) -> PathBuf {
    let installed = fs::read_dir(desk.models()).unwrap();
    let folder = installed
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir());
    folder.unwrap().join("model.onnx")
}

#[test]
fn a_sound_model_and_all_embeddings_are_told() {
    let desk = embedded();
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 0
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 7 notes
    ok       notes: up to date with [DESK]/notes
    ok       the model tiny is intact
    ok       7 chunks, all embedded
    ");
}

#[test]
fn a_model_that_is_damaged_is_found() {
    for damage in ["cut short", "zeroed inside"] {
        let desk = embedded();
        let path = weights(&desk);
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        if damage == "cut short" {
            bytes.truncate(middle);
        } else {
            bytes[middle..middle + 64].fill(0);
        }
        fs::write(&path, bytes).unwrap();
        let run = desk.run(&["doctor"]);
        assert_eq!(run.code, Some(1), "{damage}: {run}");
        assert!(run.stdout.contains("it is not what was installed"), "{run}");
        assert!(
            run.stdout.contains("run `kodiak model remove tiny`"),
            "{run}"
        );
        // Not even with --fix is anything embedded with it.
        let run = desk.run(&["doctor", "--fix"]);
        assert_eq!(run.code, Some(1), "{damage}: {run}");
        assert!(!run.stdout.contains("fixed"), "{run}");
    }
}

#[test]
fn a_model_that_is_missing_is_named() {
    let desk = embedded();
    fs::remove_dir_all(desk.models()).unwrap();
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 1
    --- stdout
    ok       the config [DESK]/config/kodiak/config.toml registers 1 source
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 7 notes
    ok       notes: up to date with [DESK]/notes
    problem  the model tiny is not installed
             run `kodiak model install tiny`
    ");
}

#[test]
fn a_text_that_is_no_text_is_built_anew_and_embedded() {
    let desk = embedded();
    let mut bytes = fs::read(desk.index()).unwrap();
    // A title as the table has it, not as the text does.
    let title = b"GTD";
    let at = bytes.windows(title.len()).position(|part| part == title);
    bytes[at.unwrap()] = 0xff;
    fs::write(desk.index(), bytes).unwrap();
    let run = desk.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{run}");
    let run = desk.run(&["doctor", "--fix"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("7 chunks, all embedded"), "{run}");
}

#[test]
fn a_format_that_was_set_back_is_built_anew_and_embedded() {
    let desk = embedded();
    let mut bytes = fs::read(desk.index()).unwrap();
    // Where SQLite keeps `user_version`.
    bytes[60..64].copy_from_slice(&1_u32.to_be_bytes());
    fs::write(desk.index(), bytes).unwrap();
    let run = desk.run(&["index"]);
    assert_eq!(run.code, Some(2), "{run}");
    let run = desk.run(&["doctor"]);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stdout.contains("its tables are not those of format 1"),
        "{run}"
    );
    let run = desk.run(&["doctor", "--fix"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(run.stdout.contains("7 chunks, all embedded"), "{run}");
    desk.ok(&["index"]);
}
