//! Opening notes in other programs, and creating them there. The other programs
//! are scripts that write down what they are told.

#![cfg(unix)]

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use tiny_bear::{Bear, Generation, Note};

use crate::desk::{Desk, Run};

/// Writes a line for each argument.
const WRITE_DOWN: &str = "for one in \"$@\"; do echo \"$one\"; done > \"$0.told\"";

fn told(desk: &Desk, program: &str) -> String {
    let file = desk.path(&format!("clients/{program}.told"));
    fs::read_to_string(file).unwrap_or_default()
}

fn with_open(desk: &Desk, arguments: &[&str]) -> Run {
    desk.client("open", WRITE_DOWN);
    let mut command = desk.command(arguments);
    desk.finish(command.env("PATH", desk.path("clients")))
}

#[test]
fn a_file_is_opened_in_the_editor_at_the_line() {
    let desk = Desk::indexed();
    for program in ["vim", "code", "edit"] {
        desk.client(program, WRITE_DOWN);
    }
    let clients = desk.path("clients").display().to_string();
    let file = desk.path("notes/productivity/gtd.md").display().to_string();
    let note = format!("{file}:3");
    for (variable, editor, program, expected) in [
        ("EDITOR", "vim".to_owned(), "vim", format!("+3\n{file}\n")),
        (
            "VISUAL",
            format!("'{clients}/code' --wait"),
            "code",
            format!("--wait\n-g\n{file}:3\n"),
        ),
        ("EDITOR", "edit".to_owned(), "edit", format!("{file}\n")),
    ] {
        let mut command = desk.command(&["open", &note]);
        command.env(variable, editor).env("PATH", &clients);
        let run = desk.finish(&mut command);
        assert_eq!(run.code, Some(0), "{run}");
        assert_eq!(told(&desk, program), expected);
    }
    // By its title, at the beginning.
    let mut command = desk.command(&["open", "GTD methodology"]);
    command.env("VISUAL", "vim").env("EDITOR", "edit");
    desk.finish(command.env("PATH", &clients));
    assert_eq!(told(&desk, "vim"), format!("+1\n{file}\n"));
}

#[test]
fn without_an_editor_there_is_vi() {
    let desk = Desk::indexed();
    desk.client("vi", "printf '%s\\n' \"$@\" > vi.told");
    let file = desk.path("notes/productivity/gtd.md");
    let mut command = desk.command(&["open", "GTD methodology"]);
    let run = desk.finish(command.env("PATH", desk.path("clients")));
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        fs::read_to_string(desk.path("vi.told")).unwrap(),
        format!("+1\n{}\n", file.display())
    );
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["open", "GTD methodology"]), @"
    exit: 2
    --- stderr
    error: no editor is set, and there is no vi
    hint: set VISUAL or EDITOR, for example EDITOR=nano
    ");
    let mut command = desk.command(&["open", "GTD methodology"]);
    let run = desk.finish(command.env("EDITOR", "false"));
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("the editor `false` failed"), "{run}");
    fs::remove_file(desk.path("notes/productivity/gtd.md")).unwrap();
    let mut command = desk.command(&["open", "GTD methodology"]);
    assert_snapshot!(desk.finish(command.env("EDITOR", "true")), @"
    exit: 2
    --- stderr
    error: the file [DESK]/notes/productivity/gtd.md is gone
    hint: run `kodiak get cfc0e8` to see its indexed text
    ");
}

#[test]
fn a_note_of_bear_is_opened_in_bear() {
    let desk = Desk::new();
    let bear = Bear::create(&desk.path("database.sqlite"), Generation::Newer).unwrap();
    bear.add(&Note::new("A-1", "Ramen", "# Ramen\n\nBroth."))
        .unwrap();
    desk.ok(&["add", "--bear", "database.sqlite"]);
    let run = with_open(&desk, &["open", "A-1:3"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        told(&desk, "open"),
        "bear://x-callback-url/open-note?id=A-1\n"
    );
    assert_snapshot!(desk.run(&["open", "Ramen"]), @"
    exit: 2
    --- stderr
    error: notes of Bear can only be opened and created on macOS: there is no `open` for its addresses
    hint: `kodiak get` prints a note anywhere
    ");
}

#[test]
fn a_new_note_is_created_by_bear() {
    let desk = Desk::new();
    let arguments = ["note", "new", "Ramen &", "broth", "--tag", "cooking/soup"];
    let run = with_open(
        &desk,
        &[&arguments[..], &["--tag", "slow food", "--text", "4 h"]].concat(),
    );
    assert_snapshot!(run, @r#"
    exit: 0
    --- stderr
    Bear has been asked to create "Ramen & broth"
    "#);
    assert_eq!(
        told(&desk, "open"),
        "bear://x-callback-url/create?text=%23%20Ramen%20%26%20broth%0A%23cooking%2Fsoup%20\
         %23slow%20food%23%0A%0A4%20h&open_note=no&show_window=no\n"
    );
    // The text from standard input.
    let mut command = desk.command(&["note", "new", "Piped", "--text", "-"]);
    command
        .env("PATH", desk.path("clients"))
        .stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"from a pipe")
        .unwrap();
    assert!(child.wait().unwrap().success());
    assert!(told(&desk, "open").contains("%23%20Piped%0A%0Afrom%20a%20pipe&"));
    // Nothing of Kodiak's own is made for that.
    assert!(!desk.index().exists() && !desk.config().exists());
}

#[test]
fn without_bear_no_note_is_created() {
    let desk = Desk::new();
    let new = ["note", "new", "Ramen"];
    assert_snapshot!(desk.run(&new), @"
    exit: 2
    --- stderr
    error: notes of Bear can only be opened and created on macOS: there is no `open` for its addresses
    hint: `kodiak page new` writes a page as a file anywhere
    ");
    // Another program of this name is not asked.
    desk.client("xdg-open", WRITE_DOWN);
    std::os::unix::fs::symlink("xdg-open", desk.path("clients/open")).unwrap();
    let mut command = desk.command(&new);
    let run = desk.finish(command.env("PATH", desk.path("clients")));
    assert_eq!(run.code, Some(2), "{run}");
    fs::remove_file(desk.path("clients/open")).unwrap();
    // What it says is passed on.
    desk.client(
        "open",
        "echo 'No application knows how to open it.' >&2; exit 1",
    );
    let mut command = desk.command(&new);
    assert_snapshot!(desk.finish(command.env("PATH", desk.path("clients"))), @"
    exit: 2
    --- stderr
    error: Bear could not be opened: No application knows how to open it.
    hint: check whether Bear is installed
    ");
    assert_eq!(desk.run(&["note", "new", " "]).code, Some(2));
}

/// Returns the command of an option for fzf that begins like this, with its
/// placeholders replaced.
fn fzf_command(told: &str, beginning: &str, values: &[(&str, &str)]) -> String {
    let option = told.lines().find_map(|line| line.strip_prefix(beginning));
    let mut command = option
        .unwrap_or_else(|| panic!("{beginning}: {told}"))
        .to_owned();
    for (placeholder, value) in values {
        command = command.replace(placeholder, &format!("'{value}'"));
    }
    command
}

#[test]
fn fzf_searches_as_people_type() {
    let desk = Desk::indexed();
    desk.client("fzf", WRITE_DOWN);
    desk.client("vim", WRITE_DOWN);
    let script = desk.ok(&["completions", "bash"]).stdout;
    desk.write("kodiak.bash", format!("{script}\nkodiak-fzf some words\n"));
    let program = env!("CARGO_BIN_EXE_kodiak");
    std::os::unix::fs::symlink(program, desk.path("clients/kodiak")).unwrap();
    let path = format!("{}:/usr/bin:/bin", desk.path("clients").display());
    let in_shell = |shell: &str, arguments: &[&str]| -> Run {
        // As the program is run otherwise, but through a shell.
        let environment = desk.command::<&str>(&[]);
        let mut command = Command::new(shell);
        command
            .args(arguments)
            .env_clear()
            .current_dir(desk.path(""));
        for (name, value) in environment.get_envs() {
            command.env(name, value.unwrap());
        }
        command.env("PATH", &path).env("EDITOR", "vim");
        desk.finish(command.stdin(Stdio::null()))
    };
    if Command::new("bash").arg("--version").output().is_err() {
        // Not every machine has it.
        return;
    }
    let run = in_shell("bash", &["kodiak.bash"]);
    assert_eq!(run.code, Some(0), "{run}");
    let told_fzf = told(&desk, "fzf");
    assert!(told_fzf.starts_with("--query\nsome words\n"), "{told_fzf}");

    let reload = fzf_command(&told_fzf, "change:reload:", &[("{q}", "gtd -travel")]);
    let found = in_shell("sh", &["-c", &reload]);
    let first = found.stdout.lines().next().unwrap().to_owned();
    assert!(first.ends_with(":GTD methodology"), "{found}");
    // A line has the path, the line and the title, as it is shown.
    assert_eq!(
        first.split(':').next().unwrap(),
        "notes/productivity/gtd.md"
    );
    assert!(!told_fzf.contains("--with-nth"), "{told_fzf}");
    // A word that is being typed finds longer ones, also if a note has it as it is, and no
    // key waits for a model.
    desk.write("notes/hydro.md", "# Power\n\nThe hydro plant was closed.\n");
    desk.write(
        "notes/lettuce.md",
        "# Lettuce\n\nHydroponics in the cellar.\n",
    );
    desk.ok(&["index"]);
    let reload = fzf_command(&told_fzf, "change:reload:", &[("{q}", "hydro")]);
    assert!(reload.contains("--model none"), "{reload}");
    let found = in_shell("sh", &["-c", &reload]).stdout;
    assert!(
        found.contains("Power") && found.contains("Lettuce"),
        "{found}"
    );
    // What is not complete yet is not an error.
    let reload = fzf_command(&told_fzf, "start:reload:", &[("{q}", "")]);
    assert_eq!(in_shell("sh", &["-c", &reload]).code, Some(0));

    let mut parts = first.split(':');
    let values = [
        ("{1}", parts.next().unwrap()),
        ("{2}", parts.next().unwrap()),
    ];
    let preview = fzf_command(&told_fzf, "kodiak get ", &values);
    let shown = in_shell("sh", &["-c", &format!("kodiak get {preview}")]);
    assert!(shown.stdout.contains("GTD methodology"), "{shown}");
    let marked: Vec<&str> = shown
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("> "))
        .collect();
    assert_eq!(marked.len(), 1, "{shown}");
    assert!(marked[0].trim_start().starts_with(values[1].1), "{shown}");
    let enter = fzf_command(&told_fzf, "enter:become:", &values);
    let opened = in_shell("sh", &["-c", &enter]);
    assert_eq!(opened.code, Some(0), "{opened}");
    let gtd = desk.path("notes/productivity/gtd.md");
    assert_eq!(
        told(&desk, "vim"),
        format!("+{}\n{}\n", values[1].1, gtd.display())
    );
}
