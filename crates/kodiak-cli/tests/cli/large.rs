//! Folders with very many files: asking before they are indexed, and the space that they
//! leave.

use std::fs;
use std::process::{Command, Stdio};

use insta::assert_snapshot;

use unicode_width::UnicodeWidthStr;

use crate::desk::{Desk, Run, replaced_between};
use crate::screen::{SMALL, Window};

const NARROW: Window = Window {
    rows: 12,
    columns: 40,
};

/// Runs the program on a terminal, with this typed; `None` where no program makes one.
fn on_terminal(desk: &Desk, line: &str, typed: &str) -> Option<Run> {
    let exists = Command::new("script").arg("--version").output().ok()?;
    if !exists.status.success() {
        return None;
    }
    let program = env!("CARGO_BIN_EXE_kodiak");
    let input = desk.write("typed", typed);
    let mut command = Command::new("script");
    command
        .args(["-qec", &format!("{program} {line}"), "/dev/null"])
        .env_clear()
        .envs(
            desk.command(&["x"])
                .get_envs()
                .filter_map(|(key, value)| Some((key, value?))),
        )
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("TERM", "xterm")
        .stdin(Stdio::from(fs::File::open(input).unwrap()))
        .current_dir(desk.path("."));
    Some(desk.finish(&mut command))
}

#[test]
fn the_home_folder_is_confirmed() {
    let desk = Desk::new();
    desk.write("home/a.md", "# A\n");
    desk.write("home/notes/b.md", "# B\n");
    assert_snapshot!(desk.run(&["add", "home"]), @"
    exit: 2
    --- stderr
    error: [DESK]/home, your home folder, has 2 files; confirm that you want to index all of them
    hint: add one of its subfolders, limit it with --glob, or confirm with --yes
    ");
    assert_snapshot!(desk.run(&["add", "."]), @"
    exit: 2
    --- stderr
    error: [DESK] has 2 files; confirm that you want to index all of them
    hint: add one of its subfolders, limit it with --glob, or confirm with --yes
    ");
    assert!(!desk.config().exists());
    desk.ok(&["add", "home/notes"]);
    if let Some(run) = on_terminal(&desk, "add home", "n\n") {
        assert_eq!(run.code, Some(0), "{run}");
        let asked = "your home folder, has 2 files. Index all of them? [y/N]";
        assert!(run.stdout.contains(asked), "{run}");
        assert!(run.stdout.contains("nothing was added"), "{run}");
        assert_eq!(desk.ok(&["sources", "--names"]).stdout, "notes\n");
        let run = on_terminal(&desk, "add home", "y\n").unwrap();
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(desk.ok(&["sources", "--names"]).stdout, "notes\nhome\n");
        desk.ok(&["remove", "home"]);
    }
    desk.ok(&["add", "home", "--yes"]);
    // What is registered is brought up to date without a question.
    desk.ok(&["add", "home"]);
}

#[test]
fn very_many_files_are_confirmed() {
    let desk = Desk::new();
    let folder = desk.path("many");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..5_001 {
        fs::write(folder.join(format!("{number}.md")), "").unwrap();
    }
    let run = desk.run(&["add", "many"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("/many has 5001 files"), "{run}");
    assert!(!desk.config().exists());
}

/// A small folder and a large one, indexed.
fn small_and_large() -> Desk {
    let desk = Desk::new();
    desk.write("small/a.md", "# Ramen\n\nBroth.\n");
    for number in 0..60 {
        let words = (0..4_000).map(|word| format!("w{} ", word * 61 + number));
        let text = format!("# Large {number}\n\n{}\n", words.collect::<String>());
        desk.write(&format!("large/{number}.md"), text);
    }
    desk.ok(&["add", "small"]);
    desk.ok(&["add", "large"]);
    desk
}

#[test]
fn a_removal_shows_how_far_it_is() {
    let desk = small_and_large();
    for (number, window) in [SMALL, NARROW].into_iter().enumerate() {
        if number > 0 {
            desk.ok(&["add", "large"]);
        }
        let shown = desk.on_terminal(window, &["remove", "large"]);
        assert_eq!(shown.code, Some(0), "{shown}");
        let frames: Vec<&str> = shown
            .raw
            .split(['\r', '\n'])
            .map(|frame| frame.trim_start_matches("\u{1b}[2K").trim_end())
            .filter(|frame| !frame.is_empty())
            .collect();
        let at = |part: &str| frames.iter().position(|frame| frame.contains(part));
        // From the first frame on, the bar is complete.
        let first = frames[0];
        assert!(first.starts_with("removing large ["), "{frames:#?}");
        assert!(first.ends_with("0/60 files"), "{frames:#?}");
        let counting = frames
            .iter()
            .take_while(|frame| frame.contains("/60 files"));
        let counting = counting.count();
        assert!(counting > 1, "{frames:#?}");
        // What follows the last file is named, and so is the space.
        let updating = at("updating the index").unwrap();
        let compacting = at("giving back the space").unwrap();
        assert!(counting <= updating && updating < compacting, "{frames:#?}");
        for frame in &frames {
            let fits = frame.width() <= usize::from(window.columns);
            assert!(fits, "{frames:#?}");
        }
        // Nothing of it is left.
        let words: Vec<&str> = shown
            .lines
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        let text = replaced_between(&words.join(" "), "the index is ", " smaller", "[SIZE]");
        assert_eq!(
            text,
            "the index is [SIZE] smaller removed 'large'; its files were not touched"
        );
    }
    // A person who wants silence gets none of it.
    desk.ok(&["add", "large"]);
    let shown = desk.on_terminal(SMALL, &["remove", "large", "--quiet"]);
    assert_eq!((shown.code, shown.raw.as_str()), (Some(0), ""));
}

#[test]
fn a_removed_source_gives_its_space_back() {
    let desk = small_and_large();
    let size = || fs::metadata(desk.index()).unwrap().len();
    let before = size();
    assert!(before > 2 << 20, "{before}");
    desk.ok(&["remove", "large"]);
    let after = size();
    assert!(after < before / 4, "{before} bytes, then {after}");
    desk.ok(&["doctor"]);
    assert_eq!(desk.found(&["broth"]), ["a.md"]);
}

#[test]
fn a_server_on_a_terminal_says_what_it_waits_for() {
    let desk = Desk::indexed();
    let Some(run) = on_terminal(&desk, "mcp", "") else {
        return;
    };
    assert!(run.stdout.contains("waiting for an MCP client"), "{run}");
    assert!(run.stdout.contains("`kodiak mcp install CLIENT`"), "{run}");
    // A client reads nothing else.
    let run = desk.run(&["mcp"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
}
