//! The picker on a terminal: what is typed, what is opened, and the terminal afterwards.

use std::fs;
use std::io::Read;
use std::process::{Command, Stdio};

use tiny_terminal::{Screen, Session};

use crate::desk::Desk;

const DOWN: &str = "\u{1b}[B";
const ESCAPE: &str = "\u{1b}";
const ENTER: &str = "\r";

/// Returns the program, ready for a terminal, with an editor that writes down what it is
/// told.
fn command(desk: &Desk, arguments: &[&str]) -> Command {
    desk.client(
        "vim",
        "for one in \"$@\"; do echo \"$one\"; done > \"$0.told\"",
    );
    let mut command = desk.command(arguments);
    command
        .env("TERM", "xterm-256color")
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin", desk.path("clients").display()),
        )
        .env("EDITOR", "vim");
    command
}

fn start(desk: &Desk, arguments: &[&str]) -> Session {
    Session::start(&command(desk, arguments), 100, 30, None)
}

fn told(desk: &Desk) -> String {
    fs::read_to_string(desk.path("clients/vim.told")).unwrap_or_default()
}

/// Reports whether the first line below the query, which is selected, has a text.
fn first_hit(text: &'static str) -> impl Fn(&Screen) -> bool {
    move |screen| {
        let shown = screen.to_string();
        let first = shown.lines().nth(2).unwrap_or_default();
        first.starts_with('▌') && first.contains(text)
    }
}

#[test]
fn a_note_is_found_while_typing_and_opened_at_its_line() {
    let desk = Desk::indexed();
    let mut session = start(&desk, &[]);
    session.wait_for_text("recent notes");
    session.type_in("two-minute rul");
    session.wait_for(first_hit("Productivity reading list"));
    session.type_in(DOWN);
    let screen = session.wait_for(|screen| {
        let shown = screen.to_string();
        shown
            .lines()
            .nth(3)
            .is_some_and(|line| line.starts_with('▌'))
            && shown.contains("Two minutes or less?")
    });
    assert!(screen.is_alternate);
    session.type_in(ENTER);
    assert_eq!(session.end(), 0, "{}", session.screen());
    let gtd = desk.path("notes/productivity/gtd.md");
    assert_eq!(told(&desk), format!("+19\n{}\n", gtd.display()));
    assert!(!session.screen().is_alternate);
    let (before, after) = session.modes();
    assert_eq!(before, after);
    // It comes first before anything is typed.
    let session = start(&desk, &["pick"]);
    session.wait_for(first_hit("GTD methodology"));
}

#[test]
fn however_it_ends_the_terminal_is_as_it_was() {
    let desk = Desk::indexed();
    let index = fs::read(desk.index()).unwrap();
    for (how, code) in [
        (ESCAPE, 0),
        ("\u{3}", 130),
        ("SIGTERM", 143),
        ("SIGHUP", 129),
        ("SIGINT", 130),
    ] {
        let mut session = start(&desk, &["pick", "ramen"]);
        let screen = session.wait_for(first_hit("Ramen broth"));
        assert!(screen.is_alternate && screen.marks_pastes, "{how:?}");
        let (before, during) = session.modes();
        assert_ne!(before, during, "{how:?}");
        match how.strip_prefix("SIG") {
            Some(signal) => session.signal(signal),
            None => session.type_in(how),
        }
        assert_eq!(session.end(), code, "{how:?}: {}", session.screen());
        let screen = session.screen();
        assert!(!screen.is_alternate && !screen.marks_pastes, "{how:?}");
        let (before, after) = session.modes();
        assert_eq!(before, after, "{how:?}");
    }
    assert_eq!(told(&desk), "");
    assert_eq!(fs::read(desk.index()).unwrap(), index);
    assert!(!desk.path("data/kodiak/index.db.opened").exists());
}

#[test]
fn it_ends_when_its_terminal_is_closed() {
    let desk = Desk::indexed();
    let mut session = start(&desk, &["pick", "ramen"]);
    session.wait_for(first_hit("Ramen broth"));
    session.hang_up();
    assert_eq!(session.end(), 129);
}

#[test]
fn a_choice_is_printed_for_other_programs() {
    let desk = Desk::indexed();
    let print = |arguments: &[&str], keys: &str| {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let command = command(&desk, arguments);
        let mut session = Session::start(&command, 80, 24, Some(Stdio::from(writer)));
        session.wait_for(first_hit("Ramen broth"));
        session.type_in(keys);
        let code = session.end();
        drop(session);
        let mut printed = String::new();
        reader.read_to_string(&mut printed).unwrap();
        (code, printed)
    };
    let path = "notes/cooking/ramen-broth.md";
    let pick = ["pick", "ramen", "broth", "--print"];
    assert_eq!(print(&pick, ENTER), (0, format!("{path}\n")));
    let line = ["pick", "blanch", "scrub", "--print", "--format", "line"];
    assert_eq!(print(&line, ENTER), (0, format!("{path}:15\n")));
    assert_eq!(print(&pick, ESCAPE), (1, String::new()));
    assert_eq!(told(&desk), "");
}

#[test]
fn a_path_is_copied_and_pasted_text_is_searched_for() {
    let desk = Desk::indexed();
    let mut session = start(&desk, &["pick"]);
    session.wait_for_text("recent notes");
    session.type_in("\u{1b}[200~ramen\nbroth\u{1b}[201~");
    session.wait_for(first_hit("Ramen broth"));
    session.type_in("\u{19}");
    session.wait_for_text("copied /");
    assert!(session.written().contains("\u{1b}]52;c;"));
    // Only a name that is there can be chosen.
    session.type_in("\u{15}qqqqqqqqqqqq");
    session.wait_for_text("Nothing found for \"qqqqqqqqqqqq\".");
    session.type_in(ENTER);
    session.type_in(ESCAPE);
    assert_eq!(session.end(), 0);
}

#[test]
fn without_an_index_or_a_terminal_it_says_what_to_do() {
    let desk = Desk::new();
    let mut session = start(&desk, &[]);
    assert_eq!(session.end(), 2);
    session.wait_for_text("Usage: kodiak");
    let mut session = start(&desk, &["pick"]);
    assert_eq!(session.end(), 2);
    session.wait_for_text("there is no index");
    session.wait_for_text("run `kodiak add FOLDER`");
    assert!(!session.written().contains("\u{1b}[?1049h"));

    let desk = Desk::indexed();
    let dumb = |arguments: &[&str]| {
        let mut command = command(&desk, arguments);
        command.env("TERM", "dumb");
        let mut session = Session::start(&command, 80, 24, None);
        (session.end(), session)
    };
    let (code, session) = dumb(&["pick"]);
    session.wait_for_text("this terminal cannot show a picker");
    assert_eq!(code, 2);
    let (code, session) = dumb(&[]);
    session.wait_for_text("Usage: kodiak");
    assert_eq!(code, 2);

    // Off a terminal there is nothing to draw on.
    let run = desk.run(&[] as &[&str]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("Usage: kodiak"), "{run}");
    let unknown = start(&desk, &["pick", "--source", "nots"]);
    unknown.wait_for_text("'nots'");
}

#[test]
fn a_damaged_index_and_a_missing_source_are_explained() {
    let desk = Desk::indexed();
    fs::rename(desk.path("notes"), desk.path("away")).unwrap();
    let mut session = start(&desk, &["pick", "ramen"]);
    session.wait_for(first_hit("Ramen broth"));
    session.wait_for_text("is missing; its notes are shown as last indexed");
    session.type_in(ENTER);
    assert_eq!(session.end(), 2);
    session.wait_for_text("is gone");

    fs::write(desk.index(), "this is not an index".repeat(1000)).unwrap();
    let mut session = start(&desk, &["pick", "ramen"]);
    assert_eq!(session.end(), 2);
    session.wait_for_text("error:");
    session.wait_for_text("hint:");
}

#[test]
fn the_folder_of_a_note_is_opened() {
    let desk = Desk::indexed();
    // What opens folders on either system.
    for opener in ["xdg-open", "open"] {
        desk.client(opener, "echo \"$1\" > \"$(dirname \"$0\")/opened\"");
    }
    let mut session = start(&desk, &["pick", "ramen"]);
    session.wait_for(first_hit("Ramen broth"));
    session.type_in("\u{f}");
    session.wait_for_text("opened ");
    let folder = desk.path("notes/cooking");
    session.wait_for(|_| desk.path("clients/opened").exists());
    let opened = fs::read_to_string(desk.path("clients/opened")).unwrap();
    assert_eq!(opened.trim(), folder.to_str().unwrap());
    session.type_in(ESCAPE);
    assert_eq!(session.end(), 0, "{}", session.screen());
}
