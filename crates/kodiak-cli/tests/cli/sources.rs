//! Adding, removing and listing sources; the config.

use std::fs;

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn a_folder_is_added_once() {
    let desk = Desk::with_notes();
    assert_snapshot!(desk.run(&["add", "notes"]), @"
    exit: 0
    --- stderr
    indexing notes: 42 files to read
    added [DESK]/notes as 'notes'
    notes: 42 notes (42 added)
    ");
    assert_snapshot!(desk.run(&["add", "notes"]), @"
    exit: 0
    --- stderr
    [DESK]/notes is already registered as 'notes'
    notes: 42 notes (nothing changed)
    ");
    assert_snapshot!(desk.run(&["add", "notes/", "--name", "other"]), @"
    exit: 2
    --- stderr
    error: [DESK]/notes is already registered as 'notes'
    hint: to name it 'other', run `kodiak remove notes` first; this deletes no files
    ");
    assert_snapshot!(fs::read_to_string(desk.config()).unwrap().replace(desk.path("").to_str().unwrap(), "[DESK]/"), @r#"
    [[source]]
    name = "notes"
    kind = "markdown"
    path = "[DESK]/notes"
    "#);
}

#[test]
fn what_cannot_be_added() {
    let desk = Desk::new();
    desk.write("file.md", "x");
    desk.write("pictures/a.png", "x");
    fs::create_dir(desk.path("empty")).unwrap();
    assert_snapshot!(desk.run(&["add", "missing"]), @"
    exit: 2
    --- stderr
    error: the folder [DESK]/missing does not exist
    hint: check the spelling, and whether its drive is connected
    ");
    assert_snapshot!(desk.run(&["add", "file.md"]), @"
    exit: 2
    --- stderr
    error: [DESK]/file.md is a file, not a folder
    hint: name the folder that contains it: [DESK]
    ");
    assert_snapshot!(desk.run(&["add", "empty"]), @"
    exit: 2
    --- stderr
    error: no notes found in [DESK]/empty
    hint: names of notes end in .md, .markdown, .mdx, .txt or .org; to index other files, add a pattern such as --glob '*.rst'
    ");
    assert_snapshot!(desk.run(&["add", "pictures", "--glob", "*.jpg", "--glob", "*.gif"]), @"
    exit: 2
    --- stderr
    error: no notes found in [DESK]/pictures
    hint: no file matches --glob *.jpg --glob *.gif
    ");
    assert_snapshot!(desk.run(&["add", "pictures", "--glob", "{"]), @"
    exit: 2
    --- stderr
    error: the pattern '{' is not a valid glob: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)
    hint: write patterns such as '*.md', 'journal/**' or '!drafts/', in quotes
    ");
    assert!(!desk.config().exists(), "nothing is registered");
    assert!(!desk.index().exists(), "nothing is made");
    assert!(!desk.path("data").exists());
}

#[test]
fn names() {
    let desk = Desk::new();
    desk.write("a/My Notes/x.md", "wombat");
    desk.write("b/my notes/x.md", "wombat");
    desk.write("c/other/x.md", "wombat");
    desk.ok(&["add", "a/My Notes"]);
    desk.ok(&["add", "b/my notes"]);
    assert_snapshot!(desk.run(&["add", "c/other", "--name", "my-notes"]), @"
    exit: 2
    --- stderr
    error: the name 'my-notes' is already used for [DESK]/a/My Notes
    hint: choose another name with --name, or run `kodiak remove my-notes` first
    ");
    desk.ok(&["add", "c/other", "--name", "Öther: One"]);
    let sources = desk.json(&["sources", "--json"]);
    let names: Vec<&str> = sources
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["my-notes", "my-notes-2", "Öther--One"]);
    assert_eq!(desk.found(&["wombat", "--source", "my-notes-2"]), ["x.md"]);
}

#[test]
fn globs_choose_files_and_can_be_changed() {
    let desk = Desk::new();
    desk.write("docs/a.rst", "wombat");
    desk.write("docs/b.md", "wombat");
    desk.ok(&["add", "docs", "--glob", "*.rst"]);
    assert_eq!(desk.found(&["wombat"]), ["a.rst"]);
    desk.ok(&["add", "docs"]);
    assert_eq!(desk.found(&["wombat"]), ["a.rst"]);
    desk.ok(&["add", "docs", "--glob", "*.md"]);
    assert_eq!(desk.found(&["wombat"]), ["b.md"]);
    desk.ok(&["index"]);
    assert_eq!(desk.found(&["wombat"]), ["b.md"]);
}

#[test]
fn sources_that_overlap_are_pointed_out() {
    let desk = Desk::indexed();
    let inside = desk.ok(&["add", "notes/cooking"]);
    assert!(
        inside.stderr.contains("inside the source 'notes'"),
        "{inside}"
    );
    desk.ok(&["remove", "notes"]);
    let around = desk.ok(&["add", "notes"]);
    assert!(
        around.stderr.contains("contains the source 'cooking'"),
        "{around}"
    );
}

#[test]
fn the_list() {
    let desk = Desk::with_notes();
    assert_snapshot!(desk.run(&["sources"]), @"
    exit: 0
    --- stderr
    no source is registered yet
    hint: run `kodiak add FOLDER`
    ");
    desk.ok(&["add", "notes"]);
    desk.write("日記/a.md", "x");
    desk.ok(&["add", "日記"]);
    fs::remove_dir_all(desk.path("日記")).unwrap();
    assert_snapshot!(desk.run(&["sources"]), @"
    exit: 0
    --- stdout
    name   kind      notes  indexed   path
    notes  markdown  42     just now  [DESK]/notes
    日記   markdown  1      just now  [DESK]/日記  (missing)
    ");
    assert_snapshot!(desk.run(&["sources", "--json"]), @r#"
    exit: 0
    --- stdout
    [{"name":"notes","kind":"markdown","path":"[DESK]/notes","exists":true,"glob":[],"writable":false,"documents":42,"indexed_at":"[TIME]"},{"name":"日記","kind":"markdown","path":"[DESK]/日記","exists":false,"error":"the folder [DESK]/日記 does not exist","glob":[],"writable":false,"documents":1,"indexed_at":"[TIME]"}]
    "#);
}

#[test]
fn removing_forgets_and_touches_nothing() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["remove", "ntes"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'ntes'
    hint: did you mean 'notes'?
    hint: known sources: notes
    ");
    assert_snapshot!(desk.run(&["remove", "notes"]), @"
    exit: 0
    --- stderr
    removed 'notes'; its files were not touched
    ");
    assert_snapshot!(desk.run(&["remove", "notes"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'notes'
    hint: no source is registered yet: run `kodiak add FOLDER`
    ");
    assert!(desk.path("notes/productivity/gtd.md").exists());
    assert!(desk.found(&["gtd"]).is_empty());
    desk.ok(&["add", "notes"]);
    assert!(!desk.found(&["gtd"]).is_empty());
}

#[test]
fn a_config_written_by_hand() {
    let desk = Desk::with_notes();
    desk.write(
        "config/kodiak/config.toml",
        "# mine\n[[source]]\nname = \"mine\" # best\npath = \"../../notes/cooking\"\n",
    );
    let run = desk.ok(&["index"]);
    assert!(run.stderr.contains("mine: 6 notes (6 added)"), "{run}");
    desk.ok(&["add", "notes/travel"]);
    let config = fs::read_to_string(desk.config()).unwrap();
    assert!(
        config.starts_with("# mine\n[[source]]\nname = \"mine\" # best\n"),
        "{config}"
    );
    let taken_out = config.split("\n\n").next().unwrap().to_owned() + "\n";
    fs::write(desk.config(), taken_out).unwrap();
    let run = desk.ok(&["index"]);
    assert!(
        run.stderr
            .contains("travel: no longer registered, 6 notes removed"),
        "{run}"
    );
}

#[test]
fn a_config_with_a_mistake() {
    let desk = Desk::indexed();
    fs::write(desk.config(), "[search]\nlimit = 3\nlimti = 4\n").unwrap();
    assert_snapshot!(desk.run(&["search", "gtd"]), @"
    exit: 2
    --- stderr
    error: the config [DESK]/config/kodiak/config.toml:3 is not valid: unknown key `limti`, did you mean `limit`?
    hint: correct the file, or use another with --config PATH
    ");
    assert_snapshot!(desk.run(&["doctor"]), @"
    exit: 1
    --- stdout
    problem  the config [DESK]/config/kodiak/config.toml:3 is not valid: unknown key `limti`, did you mean `limit`?
             correct the file, or use another with --config PATH
    ok       the index [DESK]/data/kodiak/index.db is intact and contains 42 notes
    ");
    let before = fs::read(desk.config()).unwrap();
    assert_eq!(desk.run(&["add", "notes"]).code, Some(2));
    assert_eq!(fs::read(desk.config()).unwrap(), before);
}

#[test]
fn the_configuration_is_shown() {
    let desk = Desk::with_notes();
    assert_snapshot!(desk.run(&["config", "show"]), @r#"
    exit: 0
    --- stdout
    # config: [DESK]/config/kodiak/config.toml (does not exist yet)
    # index: [DESK]/data/kodiak/index.db (does not exist yet)

    max_file_size = "10 MiB"
    model = "none"
    offline = false

    [search]
    limit = 10
    fusion = "convex"
    keyword = "fused"
    lexical_weight = 0.5
    semantic_weight = 0.5
    deadline_ms = 2000
    refresh_ms = 30
    pager = false
    history = true

    [brain]
    remember_queries = false
    "#);
    desk.ok(&["add", "notes", "--glob", "*.md"]);
    assert_snapshot!(desk.run(&["config", "show", "--json"]), @r#"
    exit: 0
    --- stdout
    {"config":"[DESK]/config/kodiak/config.toml","config_exists":true,"index":"[DESK]/data/kodiak/index.db","index_exists":true,"settings":{"max_file_size":"10 MiB","model":"none","offline":false,"search":{"limit":10,"fusion":"convex","keyword":"fused","lexical_weight":0.5,"semantic_weight":0.5,"deadline_ms":2000,"refresh_ms":30,"pager":false,"history":true},"brain":{"remember_queries":false},"source":[{"name":"notes","kind":"markdown","path":"[DESK]/notes","glob":["*.md"]}]}}
    "#);
}

#[test]
fn config_and_index_may_be_elsewhere() {
    let desk = Desk::with_notes();
    let index = desk.path("elsewhere");
    fs::create_dir(&index).unwrap();
    let mut command = desk.command(&["add", "notes"]);
    command
        .env("KODIAK_INDEX", &index)
        .env("KODIAK_CONFIG", desk.path("my.toml"));
    assert_eq!(desk.finish(&mut command).code, Some(0));
    assert!(index.join("index.db").exists());
    assert!(desk.path("my.toml").exists());
    assert!(!desk.config().exists() && !desk.index().exists());
    let found = desk.ok(&[
        "--index",
        "elsewhere/index.db",
        "search",
        "gtd",
        "--config",
        "my.toml",
    ]);
    assert!(found.stdout.contains("GTD methodology"));
    let mut command = desk.command(&["config", "show"]);
    command.env("KODIAK_INDEX", "").env("KODIAK_CONFIG", "");
    assert!(
        desk.finish(&mut command)
            .stdout
            .contains("data/kodiak/index.db")
    );
}

#[test]
fn what_needs_no_config_needs_no_environment() {
    let desk = Desk::with_notes();
    let mut command = desk.command(&["completions", "fish"]);
    command.env_clear();
    assert_eq!(desk.finish(&mut command).code, Some(0));
}
