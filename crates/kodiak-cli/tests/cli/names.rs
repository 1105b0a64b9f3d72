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
