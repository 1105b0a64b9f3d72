//! Ten processes on one index: each gets what it wants, and none is refused.

use std::fs;
use std::process::{Child, Stdio};

use crate::desk::{Desk, Run};

fn spawn(desk: &Desk, arguments: &[&str]) -> Child {
    let mut command = desk.command(arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[test]
fn ten_processes_share_one_index() {
    let desk = Desk::with_model();
    for folder in 0..4 {
        for note in 0..60 {
            let text = format!("# Note {note}\n\nramen noodles, folder{folder} note{note}\n");
            desk.write(&format!("folder{folder}/{note}.md"), text);
        }
    }
    desk.ok(&["add", "folder0", "--no-semantic"]);
    let all: [&[&str]; 10] = [
        &["index"],
        &["add", "folder1"],
        &["add", "folder2"],
        &["search", "noodles", "--in", "folder3", "--no-semantic"],
        &["index", "--rebuild"],
        &["index"],
        &["search", "ramen noodles"],
        &["search", "noodles", "--in", "folder0"],
        &["status"],
        &["search", "ramen"],
    ];
    let running: Vec<(&[&str], Child)> = all
        .iter()
        .map(|arguments| (*arguments, spawn(&desk, arguments)))
        .collect();
    for (arguments, child) in running {
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let about = format!("{arguments:?}\n{printed}\n{told}");
        assert_eq!(output.status.code(), Some(0), "{about}");
        for word in ["error", "being written", "warning"] {
            assert!(!told.contains(word), "{about}");
        }
    }
    // Nothing is lost, in whichever order they came.
    desk.ok(&["index"]);
    let run: Run = desk.ok(&["doctor"]);
    assert!(run.stdout.contains("contains 180 notes"), "{run}");
    assert!(run.stdout.contains("180 chunks, all embedded"), "{run}");
    assert_eq!(
        desk.found(&["folder3 note59", "--all", "--in", "folder3"])
            .len(),
        1
    );
    for folder in 0..3 {
        let query = format!("folder{folder} note59");
        assert_eq!(desk.found(&[&query, "--all"]).len(), 1, "{query}");
    }
}

#[test]
fn a_folder_that_cannot_be_indexed_is_not_registered() {
    let desk = Desk::new();
    desk.write("early/a.md", "ramen noodles");
    desk.write("late/b.md", "ramen noodles");
    // Without a config, and with one.
    for first in [true, false] {
        let aside = desk.path("aside.db");
        if !first {
            desk.ok(&["add", "early", "--no-semantic"]);
            fs::rename(desk.index(), &aside).unwrap();
        }
        let before = fs::read(desk.config()).ok();
        assert_eq!(before.is_none(), first);
        fs::create_dir_all(desk.index().parent().unwrap()).unwrap();
        fs::write(desk.index(), "not an index").unwrap();
        let run = desk.run(&["add", "late", "--no-semantic"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert_eq!(fs::read(desk.config()).ok(), before, "{run}");
        fs::remove_file(desk.index()).unwrap();
        if !first {
            fs::rename(&aside, desk.index()).unwrap();
        }
    }
    desk.ok(&["add", "late", "--no-semantic"]);
    assert_eq!(desk.found(&["noodles", "--source", "late"]).len(), 1);
}
