//! The formats of an answer, its order, and the paths in it.

use insta::assert_snapshot;

use crate::desk::Desk;

#[test]
fn one_line_for_each_hit() {
    let desk = Desk::indexed();
    assert_snapshot!(desk.run(&["search", "water", "--format", "line", "-n", "2"]), @"
    exit: 0
    --- stdout
    notes/cooking/coffee-brewing.md:8:Coffee brewing ratios
    notes/cooking/sourdough-starter.md:14:Sourdough starter
    ");
    let mut command = desk.command(&["search", "water", "--format", "line", "-n", "2"]);
    let run = desk.finish(command.current_dir(desk.path("notes/travel")));
    assert_snapshot!(run, @"
    exit: 0
    --- stdout
    ../cooking/coffee-brewing.md:8:Coffee brewing ratios
    ../cooking/sourdough-starter.md:14:Sourdough starter
    ");
}

#[test]
fn nul_separates_what_programs_read() {
    let desk = Desk::indexed();
    for (format, expected) in [
        (
            "files",
            format!(
                "{}\0",
                desk.path("notes/productivity/pomodoro.md").display()
            ),
        ),
        (
            "line",
            "notes/productivity/pomodoro.md:2:Pomodoro technique\0".to_owned(),
        ),
    ] {
        let arguments = ["search", "pomodoro", "-0", "-n", "1", "--format", format];
        assert_eq!(desk.ok(&arguments).stdout, expected);
    }
    assert_snapshot!(desk.run(&["search", "pomodoro", "-0"]), @"
    exit: 2
    --- stderr
    error: --null is for lists of files and lines
    hint: add --format files or --format line
    ");
}

#[test]
fn flags_are_other_names_of_formats() {
    let desk = Desk::indexed();
    for (flag, format) in [("--json", "json"), ("--files", "files")] {
        // On a busy machine one of two looks for changes may be out of time.
        let search = ["search", "pomodoro", "--no-refresh"];
        let short = desk.ok(&[&search[..], &[flag]].concat());
        let long = desk.ok(&[&search[..], &["--format", format]].concat());
        let untimed = |text: &str| text.split("\"took_ms\"").next().unwrap().to_owned();
        assert_eq!(untimed(&short.stdout), untimed(&long.stdout));
    }
    for arguments in [
        &["search", "x", "--json", "--format", "line"][..],
        &["search", "x", "--format", "yaml"],
    ] {
        assert_eq!(desk.run(arguments).code, Some(2));
    }
}

#[test]
fn hits_are_sorted_after_they_are_chosen() {
    let desk = Desk::indexed();
    let found = |order: &str| desk.found(&["water", "-n", "3", "--sort", order]);
    let best = found("score");
    let (by_title, by_date) = (found("title"), found("date"));
    assert_eq!(by_title, {
        let mut sorted = best.clone();
        sorted.sort_by_key(|path| match path.as_str() {
            "cooking/coffee-brewing.md" => 0,
            "cooking/ramen-broth.md" => 1,
            _ => 2,
        });
        sorted
    });
    assert_ne!(by_title, best);
    let answer = desk.json(&["search", "water", "-n", "3", "--sort", "date", "--json"]);
    let dates: Vec<&str> = answer["hits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hit| hit["updated_at"].as_str().unwrap())
        .collect();
    assert!(dates.is_sorted_by(|one, other| one >= other), "{dates:?}");
    let mut same = by_date.clone();
    same.sort();
    let mut all = best.clone();
    all.sort();
    assert_eq!(same, all);
}

#[test]
fn the_number_of_all_matches_is_told() {
    let desk = Desk::indexed();
    let all = desk.json(&["search", "water", "--json"])["total"]
        .as_u64()
        .unwrap();
    let some = desk.ok(&["search", "water", "-n", "2"]);
    assert_eq!(some.stderr, format!("2 of {all} notes\n"));
    assert_eq!(desk.ok(&["search", "water", "-n", "40"]).stderr, "");
    assert_eq!(desk.ok(&["search", "water", "-n", "2", "-q"]).stderr, "");
    assert_eq!(
        desk.ok(&["search", "water", "-n", "2", "--files"]).stderr,
        ""
    );
}

#[test]
fn json_names_the_file() {
    let desk = Desk::indexed();
    let hit = &desk.json(&["search", "pomodoro", "--json", "-n", "1"])["hits"][0];
    let file = desk.path("notes/productivity/pomodoro.md");
    assert_eq!(hit["file"], file.to_str().unwrap());
    assert_eq!(hit["path"], "productivity/pomodoro.md");
}

#[test]
fn paths_are_shown_from_the_current_folder_if_they_are_in_it() {
    let desk = Desk::indexed();
    let absolute = desk.path("notes/productivity/pomodoro.md");
    let absolute = absolute.to_str().unwrap();
    for (folder, expected) in [
        ("", "notes/productivity/pomodoro.md"),
        ("notes/productivity", "pomodoro.md"),
        ("notes/travel", absolute),
        ("home", absolute),
    ] {
        std::fs::create_dir_all(desk.path(folder)).unwrap();
        let mut command = desk.command(&["search", "pomodoro", "-n", "1"]);
        let run = desk.finish(command.current_dir(desk.path(folder)));
        let expected = format!("   {expected}:2  ");
        assert!(run.stdout.contains(&expected), "{folder}: {run}");
    }
}

#[test]
fn paths_as_shown_are_taken_everywhere() {
    let desk = Desk::with_notes();
    desk.ok(&["add", "notes", "--name", "brain"]);
    let absolute = desk.path("notes/cooking/ramen-broth.md");
    let absolute = absolute.to_str().unwrap();
    for path in [
        absolute,
        "brain/cooking/ramen-broth.md",
        "notes/cooking/ramen-broth.md",
        "./notes/cooking/ramen-broth.md",
        "cooking/ramen-broth.md",
    ] {
        assert_eq!(
            desk.found(&["water", "--path", path]),
            ["cooking/ramen-broth.md"],
            "{path}"
        );
        let got = desk.ok(&["get", path]).stdout;
        assert!(got.contains("Ramen broth"), "{path}");
    }
    let mut command = desk.command(&["search", "water", "--path", "ramen-broth.md", "--files"]);
    let run = desk.finish(command.current_dir(desk.path("notes/cooking")));
    assert_eq!(run.stdout, format!("{absolute}\n"));
}

#[test]
fn copies_are_named_beside_the_best_of_them() {
    let desk = Desk::indexed();
    let note = std::fs::read_to_string(desk.path("notes/productivity/pomodoro.md")).unwrap();
    for copy in ["backup/pomodoro.md", "productivity/pomodoro (1).md"] {
        desk.write(&format!("notes/{copy}"), &note);
    }
    desk.ok(&["index"]);
    assert_snapshot!(desk.run(&["search", "pomodoro technique", "-n", "2"]), @"
    exit: 0
    --- stdout
    1. Pomodoro technique
       notes/productivity/pomodoro.md:2  8d3b0c  [focus, timeboxing, habits]
       Work against a kitchen timer: 25 minutes on one thing, 5 minutes away from
       the desk. After four rounds take a long pause of 20 to 30 minutes.
       also in notes/backup/pomodoro.md and notes/productivity/pomodoro (1).md

    2. Deep work
       notes/productivity/deep-work.md:19  89f3b5  [deep-work]
       Compare with the Pomodoro technique, which is better for errands than for
       concentration.
    ");
    assert_snapshot!(desk.run(&["search", "pomodoro technique", "-n", "2", "--format", "line"]), @"
    exit: 0
    --- stdout
    notes/productivity/pomodoro.md:2:Pomodoro technique
    notes/productivity/deep-work.md:19:Deep work
    --- stderr
    2 copies left out: --all-copies lists them too
    ");
    let all = [
        "search",
        "pomodoro technique",
        "-n",
        "3",
        "--format",
        "line",
        "--all-copies",
    ];
    assert_snapshot!(desk.run(&all), @"
    exit: 0
    --- stdout
    notes/productivity/pomodoro.md:2:Pomodoro technique
    notes/backup/pomodoro.md:2:Pomodoro technique
    notes/productivity/pomodoro (1).md:2:Pomodoro technique
    ");
}
