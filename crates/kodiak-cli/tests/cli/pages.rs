//! Pages and tags from the command line.

use std::fs;

use insta::assert_snapshot;

use crate::desk::Desk;

/// Hides what differs from run to run.
fn stable(text: &str) -> String {
    let now = kodiak::date::format(kodiak::date::now());
    let year = &now[..4];
    let words = text.split('"').map(|part| {
        let is_time = part.len() == 20 && part.starts_with(year) && part.ends_with('Z');
        if is_time { "[TIME]" } else { part }
    });
    words.collect::<Vec<_>>().join("\"")
}

fn read(desk: &Desk, name: &str) -> String {
    fs::read_to_string(desk.path(name)).unwrap()
}

const PAGES: &str = "data/kodiak/pages";

#[test]
fn the_first_page_makes_a_workspace() {
    let desk = Desk::new();
    let run = desk.run(&[
        "page",
        "new",
        "Ramen:",
        "broth",
        "--tag",
        "cooking/soup",
        "--text",
        "Four hours.",
    ]);
    assert_snapshot!(run, @"");
    let text = read(&desk, &format!("{PAGES}/Ramen broth.md"));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "---");
    assert!(text.contains("\ntitle: \"Ramen: broth\"\n"), "{text}");
    assert!(text.contains("\ncreated: 20"), "{text}");
    assert!(
        text.ends_with("\ntags: [cooking/soup]\n---\nFour hours.\n"),
        "{text}"
    );
    assert_eq!(desk.found(&["hours", "--no-refresh"]), ["Ramen broth.md"]);
    let again = desk.ok(&["page", "new", "Ramen broth"]);
    assert_snapshot!(again, @"");
    let config = fs::read_to_string(desk.config()).unwrap();
    assert!(config.contains("writable = true"), "{config}");
    assert_snapshot!(desk.run(&["sources"]), @"");
    assert_snapshot!(desk.run(&["page", "list"]), @"");
    let json = desk.ok(&["page", "list", "--json", "--tag", "cooking"]);
    assert_snapshot!(stable(&json.to_string()), @"");
}

#[test]
fn the_workspace_can_be_chosen() {
    let desk = Desk::new();
    let mut command = desk.command(&["page", "new", "One"]);
    let run = desk.finish(command.env("KODIAK_PAGES", desk.path("mine")));
    assert_eq!(run.code, Some(0), "{run}");
    assert!(desk.path("mine/One.md").is_file());

    let desk = Desk::new();
    desk.write("config/kodiak/config.toml", "pages = \"../../own\"\n");
    desk.ok(&["page", "new", "Two"]);
    assert!(desk.path("own/Two.md").is_file());

    // A folder that is only read stays so.
    let desk = Desk::indexed();
    let mut command = desk.command(&["page", "new", "Three"]);
    let run = desk.finish(command.env("KODIAK_PAGES", desk.path("notes")));
    assert_snapshot!(run, @"");
}

#[test]
fn a_page_is_edited_renamed_deleted_and_restored() {
    let desk = Desk::new();
    desk.ok(&["page", "new", "Alpha", "--text", "zebra"]);
    assert_snapshot!(desk.run(&["page", "edit", "alpha", "--append", "- giraffe"]), @"");
    assert_eq!(desk.found(&["giraffe", "--no-refresh"]), ["Alpha.md"]);
    desk.ok(&["page", "edit", "alpha", "--text", "# Alpha\n\nlion"]);
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Alpha.md"]);
    assert!(desk.found(&["zebra", "--no-refresh"]).is_empty());
    assert_snapshot!(desk.run(&["page", "edit", "alpha", "--text", "---\nx: 1\n---\n"]), @"");
    assert_snapshot!(desk.run(&["page", "rename", "alpha", "Beta", "two"]), @"");
    assert!(read(&desk, &format!("{PAGES}/Beta two.md")).ends_with("# Beta two\n\nlion\n"));
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Beta two.md"]);
    assert_snapshot!(desk.run(&["page", "delete", "beta two"]), @"");
    assert!(desk.found(&["lion", "--no-refresh"]).is_empty());
    assert!(desk.found(&["lion"]).is_empty());
    assert_snapshot!(desk.run(&["page", "list"]), @"");
    assert_snapshot!(desk.run(&["page", "list", "--trash"]), @"");
    let json = desk.ok(&["page", "list", "--trash", "--json"]);
    assert_snapshot!(stable(&json.to_string()), @"");
    desk.ok(&["page", "new", "Beta two", "--text", "tiger"]);
    assert_snapshot!(desk.run(&["page", "restore", "Beta two"]), @"");
    assert!(read(&desk, &format!("{PAGES}/Beta two.md")).ends_with("tiger\n"));
    desk.ok(&["page", "rename", "beta two", "Gamma"]);
    assert_snapshot!(desk.run(&["page", "restore", "pages/Beta two.md"]), @"");
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Beta two.md"]);
    assert_snapshot!(desk.run(&["page", "list", "--trash"]), @"");
    assert_snapshot!(desk.run(&["page", "restore", "nothing"]), @"");
}

#[cfg(unix)]
#[test]
fn a_page_is_edited_in_the_editor_and_indexed() {
    let desk = Desk::new();
    desk.ok(&["page", "new", "Alpha", "--text", "zebra"]);
    desk.client("edit", "printf 'okapi\\n' >> \"$1\"");
    let edit = |editor: &str| {
        let mut command = desk.command(&["page", "edit", "alpha"]);
        command
            .env("EDITOR", editor)
            .env("PATH", desk.path("clients"));
        desk.finish(&mut command)
    };
    assert_snapshot!(edit("edit"), @"");
    assert_eq!(desk.found(&["okapi", "--no-refresh"]), ["Alpha.md"]);
    assert_snapshot!(edit("/bin/true"), @"");
    assert_eq!(edit("/bin/false").code, Some(2));
}

#[test]
fn only_folders_marked_writable_are_written_to() {
    let desk = Desk::indexed();
    let before = read(&desk, "notes/productivity/gtd.md");
    assert_snapshot!(desk.run(&["page", "delete", "GTD methodology"]), @"");
    assert_snapshot!(desk.run(&["tag", "add", "GTD methodology", "x"]), @"");
    assert_snapshot!(desk.run(&["page", "new", "x", "--source", "notes"]), @"");
    assert_snapshot!(desk.run(&["tag", "rename", "gtd", "done"]), @"");
    assert_eq!(read(&desk, "notes/productivity/gtd.md"), before);
    assert_snapshot!(desk.run(&["add", "notes", "--writable"]), @"");
    assert_snapshot!(desk.run(&["tag", "add", "GTD methodology", "#new"]), @"");
    assert_snapshot!(desk.run(&["tag", "remove", "GTD methodology", "new"]), @"");
    assert_eq!(read(&desk, "notes/productivity/gtd.md"), before);
    assert_snapshot!(desk.run(&["sources"]), @"");
    // A new page goes there now: no other folder is made.
    desk.ok(&["page", "new", "Fresh", "--folder", "sub"]);
    assert!(desk.path("notes/sub/Fresh.md").is_file());
}

#[test]
fn an_empty_folder_can_be_added_for_writing() {
    let desk = Desk::new();
    fs::create_dir(desk.path("empty")).unwrap();
    assert_snapshot!(desk.run(&["add", "empty", "--writable"]), @"");
    desk.ok(&["page", "new", "First"]);
    assert!(desk.path("empty/First.md").is_file());
    // What somebody else has just written is found too.
    desk.write("empty/other.md", "#x\n");
    desk.ok(&["page", "delete", "other"]);
    assert!(!desk.path("empty/other.md").exists());
}

#[test]
fn tags_are_listed_and_renamed() {
    let desk = Desk::new();
    desk.write(
        "notes/a.md",
        "---\ntags: [cooking, work]\n---\n#cooking/soup\n",
    );
    desk.write("notes/b.md", "#cooking\n");
    desk.write("notes/c.org", "* T :cooking:\n");
    desk.ok(&["add", "notes", "--writable"]);
    assert_snapshot!(desk.run(&["tag", "list"]), @"");
    assert_snapshot!(desk.run(&["tag", "rename", "cooking", "kitchen"]), @"");
    assert_eq!(
        read(&desk, "notes/a.md"),
        "---\ntags: [kitchen, work]\n---\n#kitchen/soup\n"
    );
    assert_snapshot!(desk.run(&["tag", "list", "--json"]), @"");
    assert_snapshot!(desk.run(&["tag", "rename", "nothing", "kitchen"]), @"");
    assert_snapshot!(desk.run(&["tag", "rename", "work", "a,b"]), @"");
    assert_snapshot!(desk.run(&["tag", "add", "missing", "x"]), @"");
}
