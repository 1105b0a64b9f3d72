//! The terminal after a panic.

#![cfg(target_os = "linux")]

use std::process::Command;
use std::sync::Arc;

use kodiak::search::Request;
use kodiak::{Engine, Error, Job};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use kodiak_picker::{Host, Item, Problem, Searcher};
use tiny_terminal::Session;

/// The variable that names the folder for the run on a terminal.
const FOLDER: &str = "KODIAK_PICKER_TEST";

struct Panics;

impl Host for Panics {
    fn place(&self, _: &str, path: &str) -> String {
        path.to_owned()
    }

    fn path(&self, _: &Item) -> String {
        panic!("a mistake of the program")
    }

    fn open_folder(&self, _: &Item) -> Result<String, String> {
        Err(String::new())
    }

    fn explain(&self, error: Error) -> Problem {
        Problem {
            text: error.to_string(),
            hints: Vec::new(),
        }
    }
}

/// Runs the picker, if this process was started for that.
#[test]
fn on_the_terminal() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = std::path::PathBuf::from(folder);
    let source = MarkdownFolder::new("notes", &folder.join("notes"), FolderOptions::default());
    let engine = Engine::builder(folder.join("index.db"))
        .source(source.unwrap())
        .open()
        .unwrap();
    let guard = kodiak::access::Guard::local();
    engine
        .sync(&guard, kodiak::engine::ToSync::All, &Job::default())
        .unwrap();
    let searcher = Searcher {
        engine,
        history: None,
        request: Request::default(),
        host: Arc::new(Panics),
    };
    kodiak_picker::run(&searcher, "", Vec::new()).unwrap();
}

#[test]
fn a_panic_leaves_the_terminal_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("notes")).unwrap();
    std::fs::write(folder.path().join("notes/a.md"), "# A note\n").unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "on_the_terminal", "--nocapture"])
        .env(FOLDER, folder.path())
        .env("TERM", "xterm");
    let mut session = Session::start(&command, 80, 24, None);
    let screen = session.wait_for_text("A note");
    assert!(screen.is_alternate && screen.marks_pastes);
    let (before, during) = session.modes();
    assert_ne!(before, during);
    // Ctrl-Y asks the program for the path.
    session.type_in("\u{19}");
    assert_ne!(session.end(), 0);
    let screen = session.wait_for_text("a mistake of the program");
    assert!(!screen.is_alternate && !screen.marks_pastes, "{screen}");
    let (before, after) = session.modes();
    assert_eq!(before, after);
}
