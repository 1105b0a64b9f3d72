//! Searching the example notes.

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn a_folder_is_searched_without_having_been_added() {
    let desk = Desk::with_notes();
    let run = desk.ok(&["search", "ownership borrowing", "--in", "notes", "-n", "1"]);
    // The id depends on where the folder is.
    assert!(
        run.stdout
            .starts_with("1. Rust ownership notes\n   notes/programming/rust-ownership.md:13  "),
        "{run}"
    );
    let said = format!("{run}");
    let (_, said) = said.split_once("--- stderr\n").unwrap();
    assert_snapshot!(said, @"
    indexing [DESK]/notes: 42 files to read
    [DESK]/notes: 42 notes (42 added)
    ");
    // The second time there is nothing to index and nothing to say.
    let again = desk.ok(&["search", "ownership", "--in", "notes", "-n", "1"]);
    assert_eq!(again.stderr, "");
}

#[test]
fn inside_a_source_no_second_source_is_made() {
    let desk = Desk::indexed();
    let found = desk.found(&["water", "--in", "notes/cooking"]);
    assert!(!found.is_empty());
    assert!(
        found.iter().all(|path| path.starts_with("cooking/")),
        "{found:?}"
    );
    let deeper = desk.found(&["water", "--in", "notes/cooking", "--path", "coffee"]);
    assert_eq!(deeper, ["cooking/coffee-brewing.md"]);
    assert_eq!(
        desk.json(&["sources", "--json"]).as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_part_that_its_source_leaves_out_is_visited() {
    let desk = Desk::indexed();
    desk.write(
        "notes/.private/diary.md",
        "# Diary\n\nThe wombat came back.\n",
    );
    assert!(desk.found(&["wombat"]).is_empty());
    assert_eq!(
        desk.found(&["wombat", "--in", "notes/.private"]),
        ["diary.md"]
    );
}

#[test]
fn what_changed_is_found_at_once() {
    let desk = Desk::indexed();
    desk.write("notes/new.md", "# Brand new\n\nAll about wombats.\n");
    assert!(desk.found(&["wombats", "--no-refresh"]).is_empty());
    let within = ["wombats", "--no-refresh", "--in", "notes"];
    assert_eq!(desk.found(&within), ["new.md"]);
}

#[test]
fn nothing_found() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "xylophone", "zyzzyva"]), @r#"
    exit: 1
    --- stderr
    nothing found for "xylophone zyzzyva"
    "#);
    assert_snapshot!(desk.run(&["search", "-q", "xylophone"]), @"exit: 1");
}

#[test]
fn similar_titles_are_offered_where_nothing_is_found() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "--exact", "pomodorro"]), @r#"
    exit: 1
    --- stderr
    nothing found for "pomodorro"
    did you mean: Pomodoro technique (8d3b0c)
    "#);
}

#[test]
fn a_typing_error_is_corrected_and_said() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "pomodorro", "tecnique", "-n", "1"]), @r#"
    exit: 0
    --- stdout
    1. Pomodoro technique
       notes/productivity/pomodoro.md:2  8d3b0c  [focus, timeboxing, habits]
       Work against a kitchen timer: 25 minutes on one thing, 5 minutes away from
       the desk. After four rounds take a long pause of 20 to 30 minutes.
    --- stderr
    showing results for "pomodoro technique"
    1 of 2 notes
    "#);
    let answer = desk.json(&["search", "--json", "pomodorro"]);
    assert_eq!(answer["corrected"], "pomodoro");
}

#[test]
fn a_phrase_that_no_note_has_falls_back_to_its_words() {
    let desk = Desk::indexed();
    let run = desk.run(&["search", "\"technique pomodoro\"", "--files"]);
    assert_eq!(run.code, Some(0));
    assert!(run.stdout.contains("pomodoro.md"), "{}", run.stdout);
    let said = "no note has the phrase \"technique pomodoro\"; its words were searched for instead";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    let run = desk.run(&["search", "\"technique pomodoro\"", "--files", "--exact"]);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""));
    let run = desk.run(&["search", "\"pomodoro technique\"", "--files"]);
    assert_eq!(run.code, Some(0));
}

#[test]
fn every_language_is_found() {
    let desk = Desk::indexed();
    for (query, path) in [
        ("麻婆豆腐", "travel/chengdu-food.md"),
        ("ผัดไทย", "travel/bangkok-street-food.md"),
        ("Kartoffeln", "cooking/kartoffelsuppe.md"),
        ("दाल", "cooking/dal-tadka.md"),
        ("紅葉", "travel/kyoto.md"),
        ("吾輩", "reading/wagahai-neko.md"),
    ] {
        let found = desk.found(&[query]);
        assert_eq!(found.first().map(String::as_str), Some(path), "{query}");
    }
    assert_snapshot!(desk.run(&["search", "अरहर", "-n", "1"]), @"
    exit: 0
    --- stdout
    1. दाल तड़का
       notes/cooking/dal-tadka.md:13  37274a  [दाल, शाकाहारी, dinner, खाना]
       एक कप अरहर की दाल, आधा कप मसूर; हल्दी आधा चम्मच, नमक स्वाद के अनुसार; दो टमाटर, एक
       प्याज़, अदरक और लहसुन; घी दो बड़े चम्मच, जीरा, राई, सूखी लाल मिर्च, हींग चुटकी भर ·
       बनाने का तरीका: दाल को धोकर आधे…
    ");
}

#[test]
fn filters() {
    let desk = Desk::indexed();
    assert_eq!(
        desk.found(&["--tag", "#email"]),
        ["productivity/inbox-zero.md"]
    );
    assert_eq!(
        desk.found(&["timer", "--where", "status=evergreen"]),
        ["productivity/pomodoro.md"]
    );
    assert_eq!(
        desk.found(&["timer", "--where", "status=nonsense"]),
        [] as [&str; 0]
    );
    let recipes = desk.found(&["--kind", "recipe"]);
    assert_eq!(recipes.len(), 4, "{recipes:?}");
    assert!(
        recipes.iter().all(|path| path.starts_with("cooking/")),
        "{recipes:?}"
    );
    assert_eq!(
        desk.found(&["--category", "lists"]),
        ["productivity/reading-list.md"]
    );
    let travel = desk.found(&["*", "--path", "./travel/", "-n", "50"]);
    assert_eq!(travel.len(), 6, "{travel:?}");
    assert_eq!(
        desk.found(&["gtd", "--source", "notes", "-n", "1"]).len(),
        1
    );
}

#[test]
fn dates_limit_by_when_notes_were_changed() {
    let desk = Desk::indexed();
    let old = desk.found(&["gtd", "--before", "2024-02"]);
    assert!(
        old.contains(&"productivity/bullet-journal.md".to_owned()),
        "{old:?}"
    );
    let recent = desk.found(&["--after", "2025-09-07", "--before", "2025-09-08"]);
    assert!(
        recent.contains(&"productivity/gtd.md".to_owned()),
        "{recent:?}"
    );
    assert!(desk.found(&["gtd", "--after", "2100"]).is_empty());
    assert_snapshot!(desk.run(&["search", "gtd", "--after", "next week"]), @"
    exit: 2
    --- stderr
    error: 'next week' is not a valid date
    hint: write dates as 2026-01-31, 2026-01, 2026, today, yesterday, 7d, 2w, 3m or 1y
    ");
}

#[test]
fn a_source_that_is_not_known() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "gtd", "--source", "ntoes"]), @"
    exit: 2
    --- stderr
    error: there is no source named 'ntoes'
    hint: did you mean 'notes'?
    hint: known sources: notes
    ");
}

#[test]
fn json_is_the_answer_and_nothing_else() {
    let desk = Desk::with_notes();
    desk.configure("refresh_ms", 60_000);
    let run = desk.run(&[
        "search",
        "certificate",
        "--in",
        "notes",
        "--json",
        "-n",
        "1",
    ]);
    assert_eq!(run.code, Some(0));
    assert!(run.stderr.contains("notes: 42 files to read"), "{run}");
    assert_eq!(
        run.stdout.lines().count(),
        1,
        "one line where no terminal is"
    );
    let answer: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let keys: Vec<&String> = answer.as_object().unwrap().keys().collect();
    assert_snapshot!(format!("{keys:?}"), @r#"["answered", "complete", "contained", "embedded", "hits", "incomplete", "intent", "notice_codes", "notices", "query", "relevant", "retrievers", "took_ms", "total"]"#);
    let hit = answer["hits"][0].as_object().unwrap();
    let keys: Vec<&String> = hit.keys().collect();
    assert_snapshot!(format!("{keys:?}"), @r#"["category", "created_at", "file", "found_by", "id", "kind", "line", "marks", "path", "relevance", "score", "snippet", "source", "tags", "title", "updated_at", "uri"]"#);
    let snippet = hit["snippet"].as_str().unwrap();
    let mark = &hit["marks"][0];
    let range = mark[0].as_u64().unwrap() as usize..mark[1].as_u64().unwrap() as usize;
    assert!(
        snippet[range].to_lowercase().starts_with("certificate"),
        "{snippet}"
    );

    let nothing = desk.run(&["search", "xylophone", "--in", "notes", "--json"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (Some(1), ""));
    assert!(nothing.stdout.contains("\"hits\":[]"), "{nothing}");
}

#[test]
fn files_are_absolute_and_come_once() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "pomodoro", "timer", "--files", "-n", "1"]), @"
    exit: 0
    --- stdout
    [DESK]/notes/productivity/pomodoro.md
    ");
}

#[test]
fn literal_text_is_found_inside_of_words() {
    let desk = Desk::indexed();
    assert!(desk.found(&["omodor", "--exact"]).is_empty());
    assert_snapshot!(desk.run(&["search", "omodoro tech", "--mode", "like", "-n", "1", "-v"]), @"
    exit: 0
    --- stdout
    1. Pomodoro technique
       notes/productivity/pomodoro.md:2  8d3b0c  [focus, timeboxing, habits]
       Work against a kitchen timer: 25 minutes on one thing, 5 minutes away from
       the desk. After four rounds take a long pause of 20 to 30 minutes.
    --- stderr
    2 notes matched in [MS] ms (lexical: like)
    1 of 2 notes
    ");
}

#[test]
fn the_ranking_can_be_explained() {
    let desk = Desk::indexed();
    let run = desk.ok(&["search", "pomodoro", "--explain", "-n", "1"]);
    assert!(
        run.stdout.contains("lexical rank 1, lexical score "),
        "{run}"
    );
    assert!(run.stdout.contains("pomodoro: 1 in title, "), "{run}");
    let answer = desk.json(&["search", "pomodoro", "--explain", "--json", "-n", "1"]);
    assert_eq!(answer["hits"][0]["explanation"]["lexical_rank"], 1);
}

#[test]
fn operators_reach_the_search() {
    let desk = Desk::indexed();
    assert_eq!(
        desk.found(&["\"two-minute rule\" -kettle"]),
        ["productivity/reading-list.md"]
    );
    assert!(desk.found(&["\"two-minute rule\" -checklist"]).is_empty());
    let all = desk.found(&["pomodoro", "kettle", "--all"]);
    assert_eq!(all, ["productivity/pomodoro.md"]);
    let without = desk.run(&["search", "--", "-gtd", "pomodoro"]);
    assert_eq!(without.code, Some(0), "{without}");
}

#[test]
fn a_word_with_a_dash_is_excluded_as_typed() {
    let desk = Desk::indexed();
    let all = desk.found(&["water"]);
    let some = desk.found(&["water", "-ramen", "-n", "40"]);
    assert!(all.contains(&"cooking/ramen-broth.md".to_owned()));
    assert!(!some.contains(&"cooking/ramen-broth.md".to_owned()) && !some.is_empty());
    assert_eq!(some, desk.found(&["-n40", "--", "water", "-ramen"]));
    assert_eq!(desk.run(&["search", "water", "--ramen"]).code, Some(2));
}

#[test]
fn dates_may_be_relative() {
    let desk = Desk::indexed();
    desk.write("notes/new.md", "# New\n\nA new wombat.\n");
    let now = std::fs::File::options()
        .append(true)
        .open(desk.path("notes/new.md"))
        .unwrap();
    now.set_modified(std::time::SystemTime::now()).unwrap();
    desk.ok(&["index"]);
    for date in ["today", "yesterday", "7d", "2w", "1m", "1y"] {
        let found = desk.found(&["wombat", "--after", date]);
        // A test that runs over midnight has a note from yesterday.
        assert!(found == ["new.md"] || date == "today", "{date}");
        assert!(desk.found(&["wombat", "--before", date]).is_empty() || date == "today");
    }
    assert_snapshot!(desk.run(&["search", "x", "--after", "2025", "--before", "2024"]), @"
    exit: 2
    --- stderr
    error: no date is on or after 2025 and before 2024
    hint: --after is the earlier date, --before the later one
    ");
}

#[test]
fn a_filter_that_excludes_everything_is_named() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "pomodoro", "--tag", "nosuch", "--after", "2020"]), @r#"
    exit: 1
    --- stderr
    nothing found for "pomodoro"
    no note matches --tag nosuch --after 2020
    "#);
    assert_snapshot!(desk.run(&["search", "pomodoro", "--tag", "coffee"]), @r#"
    exit: 1
    --- stderr
    nothing found for "pomodoro"
    2 notes match without --tag coffee
    "#);
    assert_snapshot!(desk.run(&["search", "--exact", "xylophone", "--tag", "coffee"]), @r#"
    exit: 1
    --- stderr
    nothing found for "xylophone"
    "#);
}

#[test]
fn what_is_gone_or_excluded_is_not_suggested() {
    let desk = Desk::indexed();
    let offered = |arguments: &[&str]| {
        let run = desk.run(&[&["search", "--exact", "pomodorro"], arguments].concat());
        run.stderr.contains("did you mean: Pomodoro technique")
    };
    assert!(offered(&[]));
    assert!(offered(&["--tag", "focus"]));
    assert!(!offered(&["--tag", "coffee"]));
    std::fs::remove_file(desk.path("notes/productivity/pomodoro.md")).unwrap();
    assert!(!offered(&[]));
}

#[test]
fn what_is_typed_has_to_exist() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "pomodoro", "--model", "nosuch"]), @"
    exit: 2
    --- stderr
    error: there is no model named 'nosuch'
    hint: known models: all-minilm-l6-v2, bge-base-en-v1.5, bge-reranker-base, bge-small-en-v1.5, embeddinggemma-300m, granite-embedding-30m-english, granite-embedding-30m-english-f32, jina-reranker-v1-tiny-en, ms-marco-minilm-l6-v2, multilingual-e5-small, mxbai-embed-large-v1, nomic-embed-text-v1.5, snowflake-arctic-embed-m-v2.0, snowflake-arctic-embed-s
    hint: to install your own model, run `kodiak model install --from FOLDER`
    ");
    assert_snapshot!(desk.run(&["search", "pomodoro", "--config", "nosuch.toml"]), @"
    exit: 2
    --- stderr
    error: the config [DESK]/nosuch.toml does not exist
    hint: check the spelling, or leave out --config to use the default one
    ");
    assert_eq!(desk.run(&["index", "--model", "nosuch"]).code, Some(2));
    // Verbs that write the config may begin one.
    desk.ok(&["add", "notes", "--config", "new.toml", "--index", "new.db"]);
    assert!(desk.path("new.toml").exists());
}

#[test]
fn no_query_is_an_error() {
    let desk = Desk::indexed();
    for query in [
        "",
        " ",
        "\"",
        "(((",
        "*",
        "-",
        "--",
        "AND",
        "OR OR",
        "NEAR(",
        "title:",
        "tag:#",
        "a:b:c",
        "🐻",
        "\u{200b}",
        "e\u{301}",
        "'; DROP TABLE documents; --",
        "%",
        "_",
        "\\",
        "\u{1b}[31m",
        "SELECT * FROM",
        "foo-bar",
        "what's up?",
        "C++",
        "a^2",
        "{}",
        "[[Wiki]]",
        "\n\n",
        "NOT",
    ] {
        let run = desk.run(&["search", "--", query]);
        assert!(matches!(run.code, Some(0 | 1)), "{query:?}: {run}");
        assert!(
            !run.stderr.contains('\u{1b}') && !run.stdout.contains('\u{1b}'),
            "{run}"
        );
    }
    let pasted = "productivity systems and a lot of other words ".repeat(2_000);
    let run = desk.run(&["search", &pasted]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let one_word = "ä".repeat(50_000);
    let run = desk.run(&["search", &one_word]);
    assert_eq!(run.code, Some(1));
    assert!(run.stderr.len() < 1_000, "{}", run.stderr);
}

#[test]
fn control_characters_in_notes_reach_no_terminal() {
    let desk = Desk::new();
    desk.write(
        "notes/a\u{1b}]0;x\u{7}.md",
        "# Title \u{1b}[2J\u{9b}31m\n\nwombat \u{1b}[31mred\u{7}\n",
    );
    desk.ok(&["add", "notes"]);
    let run = desk.ok(&["search", "wombat", "--color", "never"]);
    let harmful = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
    assert!(!harmful(&run.stdout), "{:?}", run.stdout);
    assert!(run.stdout.contains("Title \\u{1b}[2J"), "{run}");
    assert!(!harmful(&desk.run(&["status", "-v"]).stdout));
}

#[test]
fn colours_only_where_they_are_wanted() {
    let desk = Desk::indexed();
    let colored = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut command = desk.command(&["search", "pomodoro", "-n", "1"]);
        command.args(arguments).envs(variable);
        desk.finish(&mut command).stdout.contains('\u{1b}')
    };
    assert!(!colored(&[], None));
    assert!(colored(&["--color", "always"], None));
    assert!(colored(&[], Some(("CLICOLOR_FORCE", "1"))));
    assert!(!colored(
        &["--color", "never"],
        Some(("CLICOLOR_FORCE", "1"))
    ));
    assert!(!colored(&[], Some(("NO_COLOR", "1"))));
}

#[test]
fn hits_that_are_gone_are_left_out_and_changed_ones_are_marked() {
    let desk = Desk::indexed();
    std::fs::remove_file(desk.path("notes/productivity/pomodoro.md")).unwrap();
    desk.write(
        "notes/productivity/deep-work.md",
        "# Deep work\n\nNothing about timers.\n",
    );
    let run = desk.run(&["search", "pomodoro", "-n", "50", "--no-refresh"]);
    assert!(!run.stdout.contains("productivity/pomodoro.md"), "{run}");
    assert!(
        run.stdout.contains("(changed since it was indexed)"),
        "{run}"
    );
    assert!(run.stderr.contains("1 note was left out"), "{run}");
}

#[test]
fn the_limit_comes_from_the_config() {
    let desk = Desk::indexed();
    let mut config = std::fs::read_to_string(desk.config()).unwrap();
    config.push_str("\n[search]\nlimit = 2\n");
    std::fs::write(desk.config(), config).unwrap();
    assert_eq!(desk.found(&["*"]).len(), 2);
    assert_eq!(desk.found(&["*", "-n", "3"]).len(), 3);
}

#[test]
fn hits_from_a_missing_folder_are_shown_and_it_is_said() {
    let desk = Desk::indexed();
    desk.write("second/a.md", "wombat");
    desk.ok(&["add", "second"]);
    std::fs::rename(desk.path("notes"), desk.path("unplugged")).unwrap();
    let said = "the folder of 'notes' is missing; its notes are shown as last indexed";
    let run = desk.ok(&["search", "pomodoro", "-n", "3"]);
    assert!(
        run.stdout.contains("notes/productivity/pomodoro.md"),
        "{run}"
    );
    assert_eq!(run.stderr, format!("{said}\n"));
    let answer = desk.json(&["search", "pomodoro", "--json"]);
    assert_eq!(answer["notices"], serde_json::json!([said]));
    // Where nothing comes from it, there is nothing to say.
    assert_eq!(desk.ok(&["search", "wombat"]).stderr, "");
}

#[test]
fn many_tags_are_not_all_shown() {
    let desk = Desk::new();
    let tags = |number: usize| {
        let tags: Vec<String> = (1..=number).map(|tag| format!("t{tag}")).collect();
        format!("---\ntags: [{}]\n---\nwombat\n", tags.join(", "))
    };
    desk.write("notes/eight.md", tags(8));
    desk.write("notes/ten.md", tags(10));
    desk.ok(&["add", "notes"]);
    let run = desk.ok(&["search", "wombat"]);
    assert!(run.stdout.contains(", t8]"), "{run}");
    assert!(run.stdout.contains(", t8 … +2]"), "{run}");
    let answer = desk.json(&["search", "wombat", "--path", "ten", "--json"]);
    assert_eq!(answer["hits"][0]["tags"].as_array().unwrap().len(), 10);
}

#[test]
fn what_turns_the_direction_of_a_line_is_spelt_out() {
    let desk = Desk::new();
    desk.write(
        "notes/a\u{202e}dm.exe.md",
        "# Title \u{2066}x\n\nwombat \u{202a}left \u{200f}right\n",
    );
    desk.ok(&["add", "notes"]);
    let run = desk.ok(&["search", "wombat"]);
    for spelt in ["a\\u{202e}dm", "Title \\u{2066}x", "\\u{202a}left"] {
        assert!(run.stdout.contains(spelt), "{run}");
    }
    assert!(run.stdout.contains("\\u{200f}right"), "{run}");
    let signs = run.stdout.replace('\n', "");
    assert!(!signs.contains(kodiak::escape::is_harmful), "{run}");
}
