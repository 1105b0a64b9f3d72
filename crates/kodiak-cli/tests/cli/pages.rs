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
    assert_snapshot!(run, @"
    exit: 0
    --- stdout
    [DESK]/data/kodiak/pages/Ramen broth.md
    --- stderr
    new pages go to [DESK]/data/kodiak/pages, which is now the source 'pages'
    ");
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
    let again = desk.ok(&["page", "new", "Ramen broth", "--again"]);
    assert_snapshot!(again, @"
    exit: 0
    --- stdout
    [DESK]/data/kodiak/pages/Ramen broth 2.md
    ");
    let config = fs::read_to_string(desk.config()).unwrap();
    assert!(config.contains("writable = true"), "{config}");
    assert_snapshot!(desk.run(&["sources"]), @"
    exit: 0
    --- stdout
    name   kind                notes  indexed   path
    pages  markdown, writable  2      just now  [DESK]/data/kodiak/pages
    ");
    // Both are of the same second or not, so their order is not certain.
    let all = desk.ok(&["page", "list"]).stdout;
    assert!(all.contains("103ce2") && all.contains("516ef9"), "{all}");
    assert_snapshot!(desk.run(&["page", "list", "--tag", "cooking"]), @"
    exit: 0
    --- stdout
    id      changed   title         path                  tags
    103ce2  just now  Ramen: broth  pages/Ramen broth.md  cooking/soup
    ");
    let json = desk.ok(&["page", "list", "--json", "--tag", "cooking"]);
    assert_snapshot!(stable(&json.to_string()), @r##"
    exit: 0
    --- stdout
    [{"id":"103ce2","uri":"kodiak://pages/Ramen%20broth.md","source":"pages","path":"Ramen broth.md","file":"[DESK]/data/kodiak/pages/Ramen broth.md","kind":"note","title":"Ramen: broth","tags":["cooking/soup"],"created_at":"[TIME]","updated_at":"[TIME]"}]
    "##);
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
    assert_snapshot!(run, @"
    exit: 2
    --- stderr
    error: the source 'notes' is read-only
    hint: to allow it, run `kodiak add [DESK]/notes --writable`
    ");
}

#[test]
fn a_page_is_edited_renamed_deleted_and_restored() {
    let desk = Desk::new();
    desk.ok(&["page", "new", "Alpha", "--text", "zebra"]);
    assert_snapshot!(desk.run(&["page", "edit", "alpha", "--append", "- giraffe"]), @"
    exit: 0
    --- stderr
    changed pages/Alpha.md
    ");
    assert_eq!(desk.found(&["giraffe", "--no-refresh"]), ["Alpha.md"]);
    desk.ok(&["page", "edit", "alpha", "--text", "# Alpha\n\nlion"]);
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Alpha.md"]);
    assert!(desk.found(&["zebra", "--no-refresh"]).is_empty());
    assert_snapshot!(desk.run(&["page", "rename", "alpha", "Beta", "two"]), @"
    exit: 0
    --- stdout
    [DESK]/data/kodiak/pages/Beta two.md
    ");
    assert!(read(&desk, &format!("{PAGES}/Beta two.md")).ends_with("# Beta two\n\nlion\n"));
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Beta two.md"]);
    assert_snapshot!(desk.run(&["page", "delete", "beta two"]), @"
    exit: 0
    --- stderr
    moved pages/Beta two.md to the trash
    ");
    assert!(desk.found(&["lion", "--no-refresh"]).is_empty());
    assert!(desk.found(&["lion"]).is_empty());
    assert_snapshot!(desk.run(&["page", "list"]), @"
    exit: 0
    --- stderr
    there are no pages
    hint: write one with `kodiak page new TITLE`
    ");
    assert_snapshot!(desk.run(&["page", "list", "--trash"]), @"
    exit: 0
    --- stdout
    deleted   title     path
    just now  Beta two  pages/Beta two.md
    ");
    let json = desk.ok(&["page", "list", "--trash", "--json"]);
    assert_snapshot!(stable(&json.to_string()), @r##"
    exit: 0
    --- stdout
    [{"source":"pages","name":"Beta two.md","path":"Beta two.md","title":"Beta two","deleted_at":"[TIME]"}]
    "##);
    desk.ok(&["page", "new", "Beta two", "--text", "tiger"]);
    assert_snapshot!(desk.run(&["page", "restore", "Beta two"]), @"
    exit: 2
    --- stderr
    error: the note 'Beta two.md' already exists; choose another name, or change that note
    hint: rename or delete that note first
    ");
    assert!(read(&desk, &format!("{PAGES}/Beta two.md")).ends_with("tiger\n"));
    desk.ok(&["page", "rename", "beta two", "Gamma"]);
    assert_snapshot!(desk.run(&["page", "restore", "pages/Beta two.md"]), @"
    exit: 0
    --- stdout
    [DESK]/data/kodiak/pages/Beta two.md
    ");
    assert_eq!(desk.found(&["lion", "--no-refresh"]), ["Beta two.md"]);
    assert_snapshot!(desk.run(&["page", "list", "--trash"]), @"
    exit: 0
    --- stderr
    the trash is empty
    ");
    assert_snapshot!(desk.run(&["page", "restore", "nothing"]), @"
    exit: 2
    --- stderr
    error: there is no page 'nothing' in the trash
    hint: run `kodiak page list --trash` to list the trash
    ");
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
    assert_snapshot!(edit("edit"), @"
    exit: 0
    --- stderr
    changed pages/Alpha.md
    ");
    assert_eq!(desk.found(&["okapi", "--no-refresh"]), ["Alpha.md"]);
    assert_snapshot!(edit("/bin/true"), @"
    exit: 0
    --- stderr
    nothing changed in pages/Alpha.md
    ");
    assert_eq!(edit("/bin/false").code, Some(2));
}

#[test]
fn only_folders_marked_writable_are_written_to() {
    let desk = Desk::indexed();
    let before = read(&desk, "notes/productivity/gtd.md");
    assert_snapshot!(desk.run(&["page", "delete", "GTD methodology"]), @"
    exit: 2
    --- stderr
    error: the source 'notes' is read-only
    hint: to allow it, run `kodiak add [DESK]/notes --writable`
    ");
    assert_snapshot!(desk.run(&["tag", "add", "GTD methodology", "x"]), @"
    exit: 2
    --- stderr
    error: the source 'notes' is read-only
    hint: to allow it, run `kodiak add [DESK]/notes --writable`
    ");
    assert_snapshot!(desk.run(&["page", "new", "x", "--source", "notes"]), @"
    exit: 2
    --- stderr
    error: the source 'notes' is read-only
    hint: to allow it, run `kodiak add [DESK]/notes --writable`
    ");
    assert_snapshot!(desk.run(&["tag", "rename", "gtd", "done"]), @"
    exit: 2
    --- stderr
    warning: 3 notes still have #gtd: the source 'notes' is read-only
    hint: to allow it, run `kodiak add [DESK]/notes --writable`
    ");
    assert_eq!(read(&desk, "notes/productivity/gtd.md"), before);
    assert_snapshot!(desk.run(&["add", "notes", "--writable"]), @"
    exit: 0
    --- stderr
    [DESK]/notes is already registered as 'notes'
    'notes' is now writable
    notes: 42 notes (nothing changed)
    ");
    assert_snapshot!(desk.run(&["tag", "add", "GTD methodology", "#new"]), @"
    exit: 0
    --- stderr
    notes/productivity/gtd.md has #new
    ");
    assert_snapshot!(desk.run(&["tag", "remove", "GTD methodology", "new"]), @"
    exit: 0
    --- stderr
    notes/productivity/gtd.md no longer has #new
    ");
    assert_eq!(read(&desk, "notes/productivity/gtd.md"), before);
    assert_snapshot!(desk.run(&["sources"]), @"
    exit: 0
    --- stdout
    name   kind                notes  indexed   path
    notes  markdown, writable  42     just now  [DESK]/notes
    ");
    // A new page goes there now: no other folder is made.
    desk.ok(&["page", "new", "Fresh", "--folder", "sub"]);
    assert!(desk.path("notes/sub/Fresh.md").is_file());
}

#[test]
fn an_empty_folder_can_be_added_for_writing() {
    let desk = Desk::new();
    fs::create_dir(desk.path("empty")).unwrap();
    assert_snapshot!(desk.run(&["add", "empty", "--writable"]), @"
    exit: 0
    --- stderr
    added [DESK]/empty as 'empty'
    'empty' is now writable
    empty: 0 notes (nothing changed)
    warning: no notes found in [DESK]/empty
    ");
    desk.ok(&["page", "new", "First"]);
    assert!(desk.path("empty/First.md").is_file());
    desk.write("empty/alpha.md", "no frontmatter\n");
    assert_snapshot!(desk.run(&["page", "edit", "alpha", "--text", "---\nx: 1\n---\n"]), @"
    exit: 2
    --- stderr
    error: the text starts with what looks like frontmatter
    hint: leave the frontmatter out: the page keeps its own
    ");
    // What another program has just written is found too.
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
    assert_snapshot!(desk.run(&["tag", "list"]), @"
    exit: 0
    --- stdout
    tag            notes
    #cooking       3
    #cooking/soup  1
    #work          1
    ");
    assert_snapshot!(desk.run(&["tag", "rename", "cooking", "kitchen"]), @"
    exit: 2
    --- stderr
    renamed #cooking to #kitchen in 2 notes
    warning: notes/c.org still has #cooking: the tags of Org files are not rewritten
    ");
    assert_eq!(
        read(&desk, "notes/a.md"),
        "---\ntags: [kitchen, work]\n---\n#kitchen/soup\n"
    );
    assert_snapshot!(desk.run(&["tag", "list", "--json"]), @r#"
    exit: 0
    --- stdout
    [{"tag":"cooking","documents":1},{"tag":"kitchen","documents":2},{"tag":"kitchen/soup","documents":1},{"tag":"work","documents":1}]
    "#);
    assert_snapshot!(desk.run(&["tag", "rename", "nothing", "kitchen"]), @"
    exit: 1
    --- stderr
    no note has #nothing
    ");
    assert_snapshot!(desk.run(&["tag", "rename", "work", "a,b"]), @"
    exit: 2
    --- stderr
    error: 'a,b' cannot be a tag: it has a comma, a # or a control character
    hint: write tags such as cooking or cooking/soup
    ");
    assert_snapshot!(desk.run(&["tag", "add", "missing", "x"]), @"
    exit: 2
    --- stderr
    error: there is no note 'missing'
    hint: run `kodiak search` to find notes and their ids
    ");
}
