//! Names of notes on a terminal: paths that a shell takes, links to their files, and lines
//! that fit.

use crate::desk::Desk;
use crate::screen::{LARGE, SMALL, Window};
use crate::screens::{on, remembered};
use crate::sessions::{node, piped};

#[test]
fn paths_are_links_that_can_be_pasted() {
    let desk = Desk::new();
    let file = desk.write(
        "home/My notes/it's tea.md",
        "# Tea\n\nThe kettle whistles.\n",
    );
    desk.write("home/My notes/-dash.md", "# Dash\n\nA kettle, dashed.\n");
    desk.ok(&["add", "home/My notes", "--name", "notes"]);
    let from = |folder: &str, arguments: &[&str]| {
        let mut command = desk.command(arguments);
        desk.show(LARGE, command.current_dir(desk.path(folder)))
    };
    // From elsewhere, below the home folder and in it.
    for (folder, expected) in [
        ("data", r"~/My\ notes/it\'s\ tea.md:3"),
        ("home", r"My\ notes/it\'s\ tea.md:3"),
        ("home/My notes", r"it\'s\ tea.md:3"),
    ] {
        let shown = from(folder, &["search", "kettle whistles", "-n", "1"]);
        assert!(shown.text().contains(expected), "{folder}: {shown}");
        // A shell passes on what the program, `cat` and `--path` take.
        let path = expected.strip_suffix(":3").unwrap();
        let program = env!("CARGO_BIN_EXE_kodiak");
        for line in [
            format!("{program} get {expected}"),
            format!("{program} get {path}"),
            format!("{program} search --path {expected} kettle"),
            format!("cat {path}"),
        ] {
            let mut command = desk.command::<&str>(&[]);
            let variables: Vec<_> = command
                .get_envs()
                .map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned)))
                .collect();
            command = std::process::Command::new("/bin/sh");
            command
                .args(["-c", &line])
                .env_clear()
                .current_dir(desk.path(folder));
            command.env("PATH", "/usr/bin:/bin");
            for (name, value) in variables {
                command.env(name, value.unwrap_or_default());
            }
            let run = desk.finish(&mut command);
            assert!(run.stdout.contains("The kettle whistles"), "{line}: {run}");
        }
    }
    let shown = from("home/My notes", &["search", "kettle dashed", "-n", "1"]);
    assert!(shown.text().contains("./-dash.md:3"), "{shown}");
    // The link has the machine and the file, whatever is shown of it.
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap().to_owned();
    let address = file
        .to_str()
        .unwrap()
        .replace(' ', "%20")
        .replace('\'', "%27");
    let link = format!("\u{1b}]8;;file://{host}{address}\u{1b}\\");
    let query = ["search", "kettle whistles", "-n", "1"];
    assert!(from("data", &query).raw.contains(&link));
    let mut command = desk.command(&query);
    let shown = desk.show(LARGE, command.env("NO_COLOR", "1"));
    assert!(
        shown.raw.contains(&link) && !shown.raw.contains("\u{1b}[1m"),
        "{shown}"
    );
    for arguments in [
        &["--color", "never"][..],
        &["--json"],
        &["--format", "line"],
    ] {
        let shown = from("data", &[&query[..], arguments].concat());
        assert!(!shown.raw.contains("\u{1b}]8;"), "{shown}");
    }
    assert!(!desk.ok(&query).stdout.contains('\u{1b}'));
    // A tilde that no shell has expanded, and a file that is gone.
    for arguments in [
        &["get", "~/My notes/it's tea.md:3"][..],
        &["search", "--path", "~/My notes/it's", "kettle"],
        &["similar", "~/My notes/it's tea.md"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(0), "{arguments:?}");
    }
}

#[test]
fn every_name_of_a_note_can_be_pasted_and_opened() {
    let desk = Desk::new();
    desk.write(
        "home/My notes/it's tea.md",
        "# Tea\n\nThe kettle, see [[Pot]].\n",
    );
    desk.write("home/My notes/pot.md", "# Pot\n\nFor tea.\n");
    desk.ok(&["add", "home/My notes", "--name", "notes", "--writable"]);
    desk.ok(&["remember", "The kettle leaks.", "--id", "leak"]);
    desk.ok(&["forget", "leak"]);
    let tea = r"~/My\ notes/it\'s\ tea.md";
    let root = desk.path("");
    let root = root.to_str().unwrap().trim_end_matches('/').to_owned();
    let memory = format!("{root}/data/kodiak/memory/leak.md");
    let new = format!("{root}/home/My%20notes/New%20one.md");
    let old = format!("{root}/home/My%20notes/Old.md");
    let folder = format!("{root}/home/My%20notes");
    let tea_file = format!("{root}/home/My%20notes/it%27s%20tea.md");
    for (verb, shown, opens) in [
        (vec!["page", "list"], tea, &tea_file),
        (vec!["links", "pot"], tea, &tea_file),
        (vec!["get", "Tea", "Pot"], tea, &tea_file),
        (
            vec!["page", "edit", "Tea", "--append", "Hot."],
            tea,
            &tea_file,
        ),
        (vec!["memory", "restore", "leak"], "leak.md", &memory),
        (
            vec!["page", "new", "New one", "--source", "notes"],
            r"~/My\ notes/New\ one.md",
            &new,
        ),
        (
            vec!["page", "rename", "New one", "Old"],
            r"~/My\ notes/Old.md",
            &old,
        ),
        (vec!["status"], r"~/My\ notes", &folder),
    ] {
        let mut command = desk.command(&verb);
        let run = desk.show(LARGE, command.current_dir(desk.path("data")));
        assert_eq!(run.code, Some(0), "{verb:?}: {run}");
        assert!(run.text().contains(shown), "{verb:?}: {run}");
        let link = run.raw.split("\u{1b}]8;;file://").skip(1);
        let addresses = link.filter_map(|it| it.split('\u{1b}').next());
        let mut paths = addresses.map(|it| it.find('/').map_or("", |at| &it[at..]));
        assert!(
            paths.any(|path| path == opens.as_str()),
            "{verb:?}: {:?}",
            run.raw
        );
        // A program gets names without sequences.
        if verb[0] != "page" || verb[1] == "list" {
            let piped = desk.run(&verb);
            assert!(!piped.to_string().contains('\u{1b}'), "{verb:?}: {piped}");
        }
    }
    // What was moved to the trash has no file; its name is taken by what restores it.
    let run = desk.ok(&["page", "delete", "Old"]);
    let name = run.stderr.split(' ').nth(1).unwrap().to_owned();
    desk.ok(&["page", "restore", &name]);
    let run = desk.ok(&["forget", "leak"]);
    let name = run.stderr.split(' ').nth(1).unwrap().to_owned();
    desk.ok(&["memory", "restore", &name]);
}

#[test]
fn records_that_sessions_ask_names_can_be_opened() {
    let desk = Desk::with_model();
    let lines: String = (1..=9)
        .map(|number| {
            let broth = "Simmered pork and garlic, then added noodles";
            let lessons = ["Broth needs time", "Garlic burns quickly"];
            format!("{}\n", node(&format!("id{number}"), 1, broth, &lessons))
        })
        .collect();
    let run = piped(&desk, &["sessions", "add", "-q"], &lines);
    assert_eq!(run.code, Some(0), "{run}");
    let host = rustix::system::uname();
    let host = host.nodename().to_str().unwrap().to_owned();
    let root = desk.path("data/kodiak/sessions/nodes/2026/02");
    let link = |number: usize, shown: &str| {
        let file = format!("{}/id{number}-v1.json", root.display());
        format!("\u{1b}]8;;file://{host}{file}\u{1b}\\\u{1b}[2m{shown}\u{1b}[0m\u{1b}]8;;\u{1b}\\")
    };
    // In full, on one line, and below a lesson.
    for (arguments, window, shown) in [
        (&["ask", "noodles", "-n", "1"][..], SMALL, "sessions/id"),
        (&["ask", "noodles"], SMALL, "sessions/id"),
        (&["ask", "--lessons"], SMALL, "id"),
    ] {
        let run = desk.on_terminal(window, &[&["sessions"], arguments].concat());
        assert_eq!(run.code, Some(0), "{run}");
        let named = (1..=9).filter(|number| run.text().contains(&format!("{shown}{number}")));
        let named: Vec<usize> = named.collect();
        assert!(!named.is_empty(), "{run}");
        for number in named {
            let link = link(number, &format!("{shown}{number}"));
            assert!(run.raw.contains(&link), "{link:?} {:?}", run.raw);
        }
        assert!(run.scrolled() == 0, "{run}");
        let piped = desk.run(&[&["sessions"], arguments].concat());
        assert!(!piped.to_string().contains('\u{1b}'), "{piped}");
    }
    // A search that finds a record links it as well.
    let run = desk.on_terminal(SMALL, &["search", "pork garlic", "-n", "1"]);
    assert!(run.raw.contains("/nodes/2026/02/id"), "{:?}", run.raw);
}

#[test]
fn a_brief_line_has_its_sentence_however_long_the_path_is() {
    let desk = Desk::new();
    for number in 0..12 {
        let folder = "a-folder-with-a-long-name/and-another-one";
        desk.write(
            &format!("notes/{folder}/note-number-{number:02}.md"),
            format!("# Note {number}\n\nHere the kettle whistles for {number} minutes.\n"),
        );
    }
    desk.ok(&["add", "notes"]);
    for columns in [60, 80, 120] {
        let window = Window { rows: 24, columns };
        let shown = on(&desk, window, &["search", "kettle", "-n", "12"]);
        let text = shown.text();
        let brief = text
            .lines()
            .filter(|line| line.contains("  Note ") || line.contains(". Note "));
        let brief: Vec<&str> = brief.filter(|line| line.contains('…')).collect();
        assert!(brief.len() > 4, "{shown}");
        for line in brief {
            assert!(line.contains("kettle") && line.contains(".md:3"), "{shown}");
        }
    }
}

#[test]
fn tables_are_as_wide_as_the_terminal() {
    use unicode_width::UnicodeWidthStr;

    let desk = Desk::indexed();
    remembered(&desk);
    desk.ok(&["add", "notes", "--writable"]);
    desk.write("a folder/b.md", "# B\n\nA numbat.\n");
    desk.ok(&["search", "numbat", "--in", "a folder"]);
    let title = "A title that is far too long for a line of a table on a small terminal";
    desk.ok(&[
        "page",
        "new",
        title,
        "--source",
        "notes",
        "--folder",
        "very/deep/folders",
    ]);
    desk.ok(&[
        "page",
        "new",
        "Gone",
        "--source",
        "notes",
        "--folder",
        "very/deep/folders",
    ]);
    desk.ok(&["page", "delete", "Gone"]);
    desk.ok(&[
        "token",
        "create",
        "a-rather-long-name",
        "--source",
        "notes",
        "--expires",
        "30d",
    ]);
    for arguments in [
        &["model", "list"][..],
        &["timeline"],
        &["sources"],
        &["tag", "list"],
        &["status"],
        &["doctor"],
        &["page", "list"],
        &["page", "list", "--trash"],
        &["memory", "list"],
        &["token", "list"],
        &["links", "gtd"],
        &["search", "how do I sleep better"],
    ] {
        for columns in [60, 80, 120] {
            let window = Window { rows: 80, columns };
            let shown = desk.on_terminal(window, arguments);
            for line in shown.lines.iter().map(|line| line.trim_end()) {
                // A path that is wider stays whole, so that it can be copied.
                let is_path = line.trim().split(' ').count() == 1;
                let fits = line.width() <= usize::from(columns);
                assert!(fits || is_path, "{arguments:?} in {columns}: {line}");
            }
        }
    }
}

#[test]
fn messages_are_wrapped_between_words() {
    let desk = Desk::indexed();
    let window = Window {
        rows: 12,
        columns: 40,
    };
    for arguments in [
        &["search", "zzzqq", "--tag", "a tag that no note has"][..],
        &["remove", "an unknown source with a long name"],
        &["get", "a note that does not exist in any folder"],
    ] {
        let shown = desk.on_terminal(window, arguments);
        let lines = shown.lines.iter().map(|line| line.trim_end());
        let long: Vec<&str> = lines.filter(|line| line.len() > 40).collect();
        assert!(long.is_empty(), "{arguments:?}: {shown}");
        assert!(shown.lines.len() > 1, "{arguments:?}: {shown}");
    }
}
