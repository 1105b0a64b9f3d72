//! A process that is killed while it writes leaves every file old or new. The
//! long version of this is `bench crash`.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::desk::Desk;

const NOTES: usize = 20;
const ROUNDS: usize = 5;

fn text(note: usize, round: usize) -> String {
    let filler = "words and more words\r\n".repeat(200 * (note % 4));
    format!("---\r\ntags: [t{round}, keep]\r\n---\r\nnote{note} #t{round}/sub\r\n{filler}end")
}

/// Runs the program and kills it after a part of the time that it takes.
fn kill_within(desk: &Desk, arguments: &[&str], delay: Duration) {
    let mut command = desk.command(arguments);
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(delay);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn killed_writers_leave_every_file_old_or_new() {
    let desk = Desk::new();
    for note in 0..NOTES {
        desk.write(&format!("notes/{note}.md"), text(note, 0));
    }
    desk.write("notes/page.md", "version0\n");
    desk.ok(&["add", "notes", "--writable"]);
    let whole = Instant::now();
    desk.run(&["tag", "rename", "t0", "t1"]);
    let whole = whole.elapsed();
    let read = |name: &str| fs::read_to_string(desk.path("notes").join(name)).ok();
    for round in 1..=ROUNDS {
        let (from, to) = (format!("t{round}"), format!("t{}", round + 1));
        let part = |of: usize| whole * of as u32 / (ROUNDS as u32);
        kill_within(&desk, &["tag", "rename", &from, &to], part(round));
        for note in 0..NOTES {
            let now = read(&format!("{note}.md"));
            let fits = |round| now.as_ref() == Some(&text(note, round));
            assert!(fits(round) || fits(round + 1), "{round} {note}: {now:?}");
        }
        // The next run finishes it, or finds that nothing is left.
        let run = desk.run(&["tag", "rename", &from, &to]);
        assert!(matches!(run.code, Some(0 | 1)), "{run}");
        for note in 0..NOTES {
            let now = read(&format!("{note}.md"));
            assert_eq!(now, Some(text(note, round + 1)), "{run}");
        }
        let arguments = ["search", "--tag", &to, "--json", "--no-refresh"];
        assert_eq!(desk.json(&arguments)["total"], NOTES, "{run}");

        let new = format!("version{round}");
        let edit = ["page", "edit", "notes/page.md", "--text", &new];
        kill_within(&desk, &edit, part(round) / 2);
        let now = read("page.md").unwrap();
        let old = format!("version{}\n", round - 1);
        assert!(now == old || now == format!("{new}\n"), "{now:?}");
        desk.ok(&edit);
        kill_within(&desk, &["page", "delete", "notes/page.md"], part(round) / 2);
        let (there, trashed) = (read("page.md"), read(".trash/page.md"));
        assert_eq!(
            usize::from(there.is_some()) + usize::from(trashed.is_some()),
            1
        );
        assert_eq!(there.or(trashed), Some(format!("{new}\n")));
        if read("page.md").is_none() {
            desk.ok(&["page", "restore", "page.md"]);
        }
    }
    desk.ok(&["index"]);
    desk.ok(&["doctor"]);
}

/// `index` finishes a renaming as well: people who do not write run nothing else.
#[test]
fn index_finishes_an_interrupted_renaming() {
    let desk = Desk::new();
    desk.write("notes/a.md", "one #old\n");
    desk.ok(&["add", "notes", "--writable"]);
    let hash = |text: &str| blake3::hash(text.as_bytes()).as_bytes().to_vec();
    let journal = serde_json::json!({"from": "old", "to": "new", "files": [{
        "source": "notes", "key": "a.md",
        "before": hash("one #old\n"), "after": hash("one #new\n"),
    }]});
    let index = desk.json(&["status", "--json"])["index"].clone();
    let path = format!("{}.tag-rename", index.as_str().unwrap());
    fs::write(&path, journal.to_string()).unwrap();
    desk.ok(&["index"]);
    let text = fs::read_to_string(desk.path("notes/a.md")).unwrap();
    assert_eq!(text, "one #new\n");
    assert!(!std::path::Path::new(&path).exists());
    let found = desk.json(&["search", "--tag", "new", "--json", "--no-refresh"]);
    assert_eq!(found["total"], 1);
}
