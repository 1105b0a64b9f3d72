//! Indexing what changes while it changes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use kodiak::store::WriteLock;

use crate::desk::Desk;

/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// A running `kodiak index --watch`, ended with the test.
pub(crate) struct Watching {
    child: Child,
    said: Receiver<String>,
}

impl Watching {
    pub(crate) fn start(desk: &Desk) -> Self {
        let mut command = desk.command(&["index", "--watch"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let (sender, said) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .try_for_each(|line| sender.send(line))
        });
        let watching = Self { child, said };
        watching.expect("watching");
        watching
    }

    /// Waits until a line with this text is said.
    pub(crate) fn expect(&self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let line = self
                .said
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("never said: {text}"));
            if line.contains(text) {
                return line;
            }
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn changes_are_indexed_as_they_come() {
    let desk = Desk::indexed();
    let watching = Watching::start(&desk);
    desk.write("notes/new.md", "# New\n\nwombat\n");
    watching.expect("notes: 43 notes (1 added)");
    assert_eq!(desk.found(&["wombat"]), ["new.md"]);
    desk.write("notes/new.md", "# New\n\nwombat and capybara\n");
    watching.expect("1 updated");
    assert_eq!(desk.found(&["capybara"]), ["new.md"]);
    std::fs::rename(desk.path("notes/new.md"), desk.path("notes/newer.md")).unwrap();
    watching.expect("1 removed");
    assert_eq!(desk.found(&["capybara"]), ["newer.md"]);
    // The lock is free in between.
    desk.ok(&["index"]);
}

#[test]
fn a_drive_that_goes_away_keeps_its_notes() {
    let desk = Desk::new();
    desk.write("drive/inner/a.md", "# Wombat\n\nThe wombat digs.\n");
    desk.write("drive/inner/b.md", "# Burrow\n\nA wombat lives there.\n");
    desk.ok(&["add", "drive"]);
    let watching = Watching::start(&desk);
    std::fs::rename(desk.path("drive/inner"), desk.path("unplugged")).unwrap();
    watching.expect("there are no longer any notes in");
    assert_eq!(desk.found(&["--no-refresh", "wombat"]).len(), 2);
    std::fs::rename(desk.path("unplugged"), desk.path("drive/inner")).unwrap();
    desk.write("drive/new.md", "# New\n\nquokka\n");
    watching.expect("drive: 3 notes (1 added)");
    assert_eq!(desk.found(&["wombat"]).len(), 2);
}

#[test]
fn another_writer_is_waited_for() {
    let desk = Desk::indexed();
    let watching = Watching::start(&desk);
    let lock = WriteLock::acquire(&desk.index(), "process 4711 (kodiak index)").unwrap();
    desk.write("notes/new.md", "# New\n\nwombat\n");
    watching.expect("waiting for process 4711");
    drop(lock);
    watching.expect("1 added");
    assert_eq!(desk.found(&["wombat"]), ["new.md"]);
}

#[test]
fn an_index_among_the_notes_would_never_be_quiet() {
    let desk = Desk::with_notes();
    desk.ok(&["add", "notes", "--index", "notes/index.db"]);
    let run = desk.run(&["index", "--watch", "--index", "notes/index.db"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("a folder to be watched"), "{run}");
}

#[test]
fn sources_that_come_and_go_are_followed() {
    let desk = Desk::indexed();
    let watching = Watching::start(&desk);
    desk.write("second/a.md", "# First\n\nquokka\n");
    desk.ok(&["add", "second"]);
    watching.expect("watching 2 folders");
    desk.write("second/b.md", "# Second\n\nwombat\n");
    watching.expect("second: 2 notes (1 added)");
    assert_eq!(desk.found(&["wombat"]), ["b.md"]);
    desk.ok(&["remove", "second"]);
    watching.expect("watching 1 folder;");
    desk.write("second/c.md", "# Third\n\ncapybara\n");
    desk.write("notes/new.md", "# New\n\nnumbat\n");
    watching.expect("notes: 43 notes (1 added)");
    assert!(desk.found(&["capybara"]).is_empty());
}
