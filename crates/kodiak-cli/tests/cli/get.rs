//! Printing one note.

use insta::assert_snapshot;

use crate::desk::Desk;

const KEY: &str = "productivity/inbox-zero.md";

#[test]
fn a_note_by_everything_it_goes_by() {
    let desk = Desk::indexed();
    let text = std::fs::read_to_string(desk.path("notes").join(KEY)).unwrap();
    let answer = desk.json(&["get", "--json", &format!("notes/{KEY}")]);
    let id = answer["id"].as_str().unwrap().to_owned();
    let file = desk.path("notes").join(KEY);
    for name in [
        id.as_str(),
        &format!("#{id}"),
        KEY,
        "inbox-zero.md",
        "notes/productivity/inbox-zero.md",
        "./notes/productivity/inbox-zero.md",
        "notes/../notes/productivity/inbox-zero.md",
        file.to_str().unwrap(),
        "kodiak://notes/productivity/inbox-zero.md",
        "Inbox zero",
        "inbox ZERO",
        "inbox-zero",
        "Inbox_Zero",
        "inbox",
        &id[..4],
        &format!("#{}", &id[..4]),
    ] {
        let run = desk.ok(&["get", name]);
        assert_eq!(run.stdout, text, "{name}");
        assert_eq!(run.stderr, "", "{name}");
    }
}

#[test]
fn the_text_is_the_file_to_the_byte() {
    let desk = Desk::new();
    for (name, text) in [
        ("plain.md", "no newline at the end"),
        ("windows.md", "---\r\ntitle: x\r\n---\r\na\r\nb\r\n"),
        ("mark.md", "\u{feff}# With a byte order mark\n"),
        ("front.md", "---\ntags: [a]\n---\n\n\n# T\n"),
        ("control.md", "a\u{1b}[31mb\tc\n"),
        ("empty.md", ""),
    ] {
        desk.write(&format!("notes/{name}"), text);
    }
    desk.ok(&["add", "notes"]);
    for name in [
        "plain.md",
        "windows.md",
        "mark.md",
        "front.md",
        "control.md",
        "empty.md",
    ] {
        let file = std::fs::read_to_string(desk.path("notes").join(name)).unwrap();
        let run = desk.ok(&["get", &format!("notes/{name}")]);
        assert_eq!(run.stdout, file, "{name}");
    }
}

#[test]
fn some_lines_with_their_numbers() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["get", "gtd.md:9-12", "-l"]), @"
    exit: 0
    --- stdout
     9  Getting things done, the way I actually do it after three restarts.
    10
    11  ## Five steps
    12
    ");
    assert_snapshot!(desk.run(&["get", "gtd.md:2"]), @"
    exit: 0
    --- stdout
    title: GTD methodology
    ");
}

#[test]
fn facts_as_json() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["get", "gtd.md:9-10", "--json"]), @r##"
    exit: 0
    --- stdout
    {"id":"cfc0e8","uri":"kodiak://notes/productivity/gtd.md","source":"notes","path":"productivity/gtd.md","file":"[DESK]/notes/productivity/gtd.md","kind":"article","title":"GTD methodology","tags":["gtd","habits","planning"],"created_at":"2023-02-18T00:00:00Z","updated_at":"2025-09-07T00:00:00Z","lines":[9,10],"line_count":29,"text":"Getting things done, the way I actually do it after three restarts.\n\n"}
    "##);
}

#[test]
fn lines_of_which_some_are_not_there() {
    let desk = Desk::indexed();
    for arguments in [
        &["get", "gtd.md:28-40"][..],
        &["get", "gtd.md:28-40", "--json"],
        &["get", "gtd.md:28-40", "gtd.md:1-2"],
    ] {
        let run = desk.ok(arguments);
        let said = "notes/productivity/gtd.md: line 40 is beyond the end of the note, which has 29 lines\n";
        assert!(run.stderr.starts_with(said), "{run}");
    }
    for within in ["gtd.md:28-29", "gtd.md:28-", "gtd.md"] {
        assert_eq!(desk.ok(&["get", within]).stderr, "", "{within}");
    }
    for (lines, beyond) in [("28-40", 40), ("1-29", 0), ("3-", 0)] {
        let run = desk.ok(&["similar", &format!("gtd.md:{lines}"), "--json"]);
        let said = format!("line {beyond} is beyond the end of the note, which has 29 lines");
        assert_eq!(run.stdout.contains(&said), beyond > 0, "{run}");
        assert_eq!(run.stdout.contains("lines-beyond-end"), beyond > 0, "{run}");
    }
    let run = desk.run(&["similar", "gtd.md:500"]);
    assert_eq!(run.code, Some(2), "{run}");
}

#[test]
fn lines_that_are_not_there() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["get", "gtd.md:500-510"]), @"
    exit: 2
    --- stderr
    error: line 500 is beyond the end of notes/productivity/gtd.md, which has 29 lines
    hint: choose lines from 1 to 29
    ");
    assert_snapshot!(desk.run(&["get", "gtd.md:9-3"]), @"
    exit: 2
    --- stderr
    error: '9-3' is not a line range
    hint: write lines as 7, 10-20, or 10- for line 10 to the end
    ");
    let clipped = desk.ok(&["get", "gtd.md:29-400"]);
    assert_eq!(clipped.stdout.lines().count(), 1);
}

#[test]
fn a_title_may_look_like_a_range() {
    let desk = Desk::new();
    desk.write("notes/a.md", "# Standup 9:30\n\nDaily.\n");
    desk.write("notes/at 12:30.md", "# Lunch\n");
    desk.ok(&["add", "notes"]);
    assert!(desk.ok(&["get", "Standup 9:30"]).stdout.contains("Daily"));
    assert!(desk.ok(&["get", "at 12:30.md"]).stdout.contains("Lunch"));
    assert!(
        desk.ok(&["get", "Standup 9:30:1"])
            .stdout
            .starts_with("# Standup")
    );
}

#[test]
fn a_name_that_fits_nothing() {
    let desk = Desk::indexed();
    let run = desk.run(&["get", "pomodro.md"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr
            .starts_with("error: there is no note 'pomodro.md'\n"),
        "{run}"
    );
    assert!(run.stderr.contains("hint: did you mean "), "{run}");
    assert!(
        run.stderr.contains(" notes/productivity/pomodoro.md?"),
        "{run}"
    );
    assert_eq!(run.stdout, "");
}

#[test]
fn a_name_that_fits_several() {
    let desk = Desk::new();
    desk.write("notes/one/same.md", "# One\n");
    desk.write("notes/two/same.md", "# Two\n");
    desk.ok(&["add", "notes"]);
    assert_snapshot!(desk.run(&["get", "same.md"]), @"
    exit: 2
    --- stderr
    error: 'same.md' matches 2 notes
    hint: one of them is 970ea2 notes/one/same.md
    hint: one of them is a8de77 notes/two/same.md
    ");
}

#[test]
fn a_title_wins_over_a_file_name() {
    let desk = Desk::new();
    desk.write("notes/ramen.md", "# Soup\n");
    desk.write("notes/a.md", "# Ramen\n");
    desk.write("notes/b.md", "# Ramen broth, light\n");
    desk.write("notes/c.md", "# Ramen broth, rich\n");
    desk.ok(&["add", "notes"]);
    assert_eq!(desk.ok(&["get", "ramen"]).stdout, "# Ramen\n");
    assert_eq!(
        desk.ok(&["get", "RAMEN broth, rich"]).stdout,
        "# Ramen broth, rich\n"
    );
    assert_snapshot!(desk.run(&["get", "ramen broth"]), @"
    exit: 2
    --- stderr
    error: 'ramen broth' matches 2 notes
    hint: one of them is c482aa notes/b.md
    hint: one of them is 82e814 notes/c.md
    ");
    assert_eq!(desk.run(&["similar", "ramen broth"]).code, Some(2));
}

#[test]
fn a_file_that_changed_is_printed_as_it_is_unless_nothing_is_refreshed() {
    let desk = Desk::indexed();
    desk.configure("refresh_ms", 60_000);
    desk.write("notes/productivity/inbox-zero.md", "changed");
    let run = desk.ok(&["get", "inbox-zero.md"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("changed", ""));
    desk.write("notes/productivity/new.md", "just written");
    assert_eq!(desk.ok(&["get", "new.md"]).stdout, "just written");
    desk.ok(&["index"]);
    desk.configure("refresh_ms", 0);
    desk.write("notes/productivity/inbox-zero.md", "changed again");
    let run = desk.ok(&["get", "inbox-zero.md"]);
    assert_eq!(run.stdout, "changed");
    assert!(run.stderr.contains("has changed since"), "{run}");
    std::fs::remove_file(desk.path("notes/productivity/inbox-zero.md")).unwrap();
    let run = desk.ok(&["get", "inbox-zero.md"]);
    assert!(run.stderr.contains("is gone"), "{run}");
}

/// Every name that means a note alone means it beside another.
#[test]
fn several_notes_by_everything_they_go_by() {
    let desk = Desk::new();
    desk.write("notes/only.md", "# Mine\n\nfrom notes\n");
    desk.write("work/only.md", "# Theirs\n\nfrom work\n");
    desk.write("notes/sub/deep.md", "# Deep thoughts\n\nfour\nfive\n");
    desk.write("notes/at 9:30.md", "# Standup 9:30\n\ndaily\n");
    desk.write("work/other.md", "---\ntitle: Other\n---\nother text\n");
    desk.ok(&["add", "notes"]);
    desk.ok(&["add", "work"]);
    let id = |key: &str| {
        let id = desk.json(&["get", "--json", key])["id"].clone();
        id.as_str().unwrap().to_owned()
    };
    let (deep, other) = (id("deep.md"), id("other.md"));
    for (name, text) in [
        ("kodiak://notes/only.md", "from notes"),
        ("kodiak://work/only.md", "from work"),
        ("notes/only.md", "from notes"),
        ("./work/only.md", "from work"),
        ("notes/sub/deep.md", "four"),
        ("sub/deep.md", "four"),
        ("deep", "four"),
        ("Deep thoughts", "four"),
        (&deep, "four"),
        (&format!("#{deep}"), "four"),
        ("Standup 9:30", "daily"),
        ("at 9:30.md", "daily"),
    ] {
        for names in [[name, &other], [&other, name]] {
            let run = desk.ok(&["get", names[0], names[1]]);
            assert!(run.stdout.contains(text), "{name}: {run}");
            assert!(run.stdout.contains("other text"), "{name}: {run}");
            assert_eq!(
                run.stdout.matches("from ").count(),
                text.matches("from ").count()
            );
        }
    }
    let file = desk.path("notes/sub/deep.md");
    let lines = format!("{}:3", file.to_str().unwrap());
    let run = desk.ok(&[
        "get",
        &format!("{deep}:3-3"),
        "kodiak://notes/sub/deep.md:4-",
        &lines,
    ]);
    assert_eq!(
        run.stdout.matches("four").count(),
        1,
        "the same lines come once: {run}"
    );
    assert!(
        run.stdout.contains("notes/sub/deep.md:4-4\nfive\n"),
        "{run}"
    );
    assert!(!run.stdout.contains("# Deep"), "{run}");
    let answer = desk.json(&["get", "--json", "other.md:4", "deep"]);
    assert_eq!(answer["observations"][0]["text"], "other text\n");
    assert_eq!(
        answer["observations"][0]["lines"],
        serde_json::json!([4, 4])
    );
    assert!(answer["observations"][1].get("lines").is_none());

    assert_snapshot!(desk.run(&["get", "deep", "only.md", "deep:99", "zzzz"]), @"
    exit: 2
    --- stdout
    b8c5ae notes/sub/deep.md
    # Deep thoughts

    four
    five
    --- stderr
    about 8 tokens
    warning: 'only.md' matches 2 notes
    hint: one of them is 33a619 notes/only.md
    hint: one of them is 90ef76 work/only.md
    warning: line 99 is beyond the end of notes/sub/deep.md, which has 4 lines
    hint: choose lines from 1 to 4
    warning: there is no note 'zzzz'
    hint: run `kodiak search` to find notes and their ids
    ");
    let run = desk.run(&["get", "nothing", "only.md"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(2), ""), "{run}");
}

#[test]
fn a_shared_folder_and_extension_make_no_names_alike() {
    let desk = Desk::indexed();
    let run = desk.run(&["get", "notes/wxyz.md"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(!run.stderr.contains("did you mean"), "{run}");
    let run = desk.run(&["get", "notes/ramen-brot.md"]);
    assert!(
        run.stderr.contains("notes/cooking/ramen-broth.md?"),
        "{run}"
    );
}
