//! A note is meant by the same names in every verb that takes one.

#![cfg(unix)]

use crate::desk::{Desk, Run};

/// Runs a verb with an editor that prints what it is told.
fn run(desk: &Desk, arguments: &[&str]) -> Run {
    let mut command = desk.command(arguments);
    desk.finish(command.env("EDITOR", "/bin/echo"))
}

#[test]
fn a_name_means_the_same_note_in_every_verb() {
    let desk = Desk::new();
    let file = desk.write(
        "notes/sub/deep.md",
        "---\naliases: [the abyss]\n---\n# Deep thoughts\n\nfour bears\nfive bears\n",
    );
    desk.write("notes/other.md", "# Other\n\nsix bears and a cave\n");
    desk.write("notes/third.md", "# Third\n\nno bears in any cave\n");
    // The home folder has another way to the notes.
    std::fs::create_dir_all(desk.path("home")).unwrap();
    std::os::unix::fs::symlink(desk.path("notes"), desk.path("home/brain")).unwrap();
    desk.ok(&["add", "notes", "--name", "brain", "--writable"]);
    let id = desk.json(&["get", "--json", "brain/sub/deep.md"])["id"].clone();
    let id = id.as_str().unwrap();
    for name in [
        id,
        &format!("#{id}"),
        &id[..4],
        "kodiak://brain/sub/deep.md",
        "brain/sub/deep.md",
        "sub/deep.md",
        "deep.md",
        "deep",
        "Deep thoughts",
        "deep THOUGHTS",
        "the abyss",
        // As a shell completes it.
        "notes/sub/deep.md",
        "./notes/sub/deep.md",
        file.to_str().unwrap(),
        // As a hit is shown in another folder, in quotes.
        "~/brain/sub/deep.md",
    ] {
        for (verb, expected) in [
            (vec!["get", name], "four bears"),
            (vec!["get", name, "brain/other.md"], "brain/sub/deep.md\n"),
            (vec!["get", "brain/other.md", name], "brain/sub/deep.md\n"),
            (vec!["similar", name], "1. Other"),
            (vec!["open", name], "notes/sub/deep.md"),
            (
                vec!["page", "edit", name],
                "nothing changed in brain/sub/deep.md",
            ),
            (vec!["tag", "add", name, "x"], "brain/sub/deep.md has #x"),
            (
                vec!["tag", "remove", name, "x"],
                "brain/sub/deep.md no longer has #x",
            ),
            (
                vec!["timeline", "--source", "brain", "--around", name],
                "> ",
            ),
        ] {
            let run = run(&desk, &verb);
            let said = format!("{}{}", run.stdout, run.stderr);
            assert_eq!(run.code, Some(0), "{verb:?}: {run}");
            assert!(said.contains(expected), "{verb:?}: {run}");
        }
        // With lines.
        for verb in [vec!["get"], vec!["get", "brain/other.md"]] {
            let with_lines = format!("{name}:7");
            let run = run(&desk, &[verb, vec![&with_lines]].concat());
            let text = &run.stdout;
            assert!(
                text.contains("five bears") && !text.contains("four"),
                "{name}: {run}"
            );
        }
    }
}

#[test]
fn a_memory_is_forgotten_by_any_of_its_names() {
    let desk = Desk::new();
    for kind in ["id", "#id", "path", "uri", "file"] {
        let text = format!("The {kind} of the kettle is kept.");
        let memory = desk.json(&["remember", &text, "--json"]);
        let id = memory["id"].as_str().unwrap().to_owned();
        let name = match kind {
            "id" => id,
            "#id" => format!("#{id}"),
            "file" => {
                let file = desk.json(&["get", &id, "--json"])["file"].clone();
                file.as_str().unwrap().to_owned()
            }
            field => memory[field].as_str().unwrap().to_owned(),
        };
        let run = desk.ok(&["forget", &name]);
        let path = memory["path"].as_str().unwrap();
        assert!(run.stderr.contains(path), "{kind}: {run}");
    }
}

#[test]
fn a_range_of_lines_is_read_or_refused_by_every_verb() {
    let desk = Desk::new();
    desk.write("notes/deep.md", "# Deep\n\nfour bears\nfive bears\n");
    desk.write("notes/other.md", "# Other\n\nsix bears, see [[Deep]]\n");
    desk.ok(&["add", "notes", "--writable"]);
    // These are about the whole note.
    for (verb, expected) in [
        (vec!["similar", "deep:3-4"], "1. Other"),
        (vec!["links", "deep:3-4"], "linked from 1 note"),
        (
            vec!["timeline", "--source", "notes", "--around", "deep:3"],
            "> ",
        ),
        (vec!["tag", "add", "deep:3", "x"], "has #x"),
        (vec!["tag", "remove", "deep:3", "x"], "no longer has #x"),
        (vec!["open", "deep:4"], "deep.md"),
        (vec!["page", "edit", "deep:4"], "deep.md"),
    ] {
        let mut command = desk.command(&verb);
        let run = desk.finish(command.env("EDITOR", "/bin/echo"));
        let said = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.code, Some(0), "{verb:?}: {run}");
        assert!(said.contains(expected), "{verb:?}: {run}");
    }
    // What removes or moves a note never means some of its lines.
    let memory = desk.json(&["remember", "The kettle leaks.\nSince May.", "--json"]);
    let id = memory["id"].as_str().unwrap();
    let lines = format!("{id}:1-1");
    for verb in [
        vec!["page", "delete", "deep:3-4"],
        vec!["page", "rename", "deep:3-4", "Shallow"],
        vec!["forget", &lines],
        vec!["forget", "--purge", &lines],
        vec!["remember", "The kettle is new.", "--supersedes", &lines],
    ] {
        let run = desk.run(&verb);
        assert_eq!(run.code, Some(2), "{verb:?}: {run}");
        assert!(run.stderr.contains("lines"), "{verb:?}: {run}");
    }
    assert!(desk.path("notes/deep.md").exists());
    desk.ok(&["get", id]);
}

#[test]
fn a_name_that_leads_nowhere_is_an_error_alone_and_among_others() {
    let desk = Desk::new();
    desk.write("notes/deep.md", "# Deep\n\nfour bears\n");
    desk.ok(&["add", "notes"]);
    for names in [
        &["nope"][..],
        &["nope", "nada"],
        &["nope", "deep"],
        &["deep:9", "nope"],
    ] {
        let run = desk.run(&[&["get"], names].concat());
        assert_eq!(run.code, Some(2), "{names:?}: {run}");
        assert!(run.stderr.contains("nope"), "{names:?}: {run}");
    }
}
