//! `eval --queries`: judged queries over a folder of notes.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::desk::{Desk, Run};

/// Six notes, and three files of queries over them.
fn desk_with_queries(desk: Desk) -> Desk {
    for (name, text) in [
        ("bread", "# Bread\n\nSourdough rises overnight in a basket."),
        ("soup", "# Soup\n\nLentils simmer with cumin for an hour."),
        ("bear", "# Bears\n\nA bear sleeps all winter in its den."),
        (
            "bike",
            "# Bicycle\n\nOil the chain after every ride in the rain.",
        ),
        ("tax", "# Tax\n\nThe office wants all receipts by July."),
        ("tent", "# Tent\n\nDry the canvas before it is folded."),
    ] {
        desk.write(&format!("garden/{name}.md"), text);
    }
    desk.write(
        "wordy-queries.tsv",
        "sourdough basket\tgarden/bread.md\r\noil the chain\tbike.md,bike.md\r\n",
    );
    desk.write(
        "meaning-queries.tsv",
        "animals that hibernate\tgarden/bear.md\ncamping shelter\tgarden/tent.md\n",
    );
    desk.write("absent-queries.tsv", "submarine\nquantum physics\n");
    desk
}

const QUERIES: [&str; 8] = [
    "eval",
    "garden",
    "--queries",
    "wordy-queries.tsv",
    "--queries",
    "meaning-queries.tsv",
    "--queries",
    "absent-queries.tsv",
];

fn with<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [&QUERIES, arguments].concat()
}

/// The run with `T` for every time.
fn without_times(mut run: Run) -> Run {
    let timeless = |line: &str| match line.rsplit_once(' ') {
        Some((rest, time)) if time.parse::<f64>().is_ok() => {
            format!("{}  T\n", rest.trim_end())
        }
        _ => format!("{line}\n"),
    };
    run.stdout = run.stdout.lines().map(timeless).collect();
    run
}

#[test]
fn queries_over_notes_as_a_table() {
    let desk = desk_with_queries(Desk::new());
    let run = desk.ok(&with(&["--sizes", "2,6", "--seed", "4"]));
    assert!(
        run.stdout.lines().all(|line| line.chars().count() <= 100),
        "{run}"
    );
    assert_snapshot!(without_times(run), @"
    exit: 0
    --- stdout
        notes  queries  mode      typos  count  hit@1  hit@3  hit@10  denied  refused  p50 ms
    *       6  wordy    auto      fixed      2      2      2       2     0/2        –  T
            6  wordy    lexical   fixed      2      2      2       2     0/2        –  T
            6  wordy    lexical   kept       2      2      2       2     0/2        –  T
            6  wordy    like      kept       2      1      1       1       –        –  T
    *       6  meaning  auto      fixed      2      0      0       0       –        –  T
            6  meaning  lexical   fixed      2      0      0       0       –        –  T
            6  meaning  lexical   kept       2      0      0       0       –        –  T
            6  meaning  like      kept       2      0      0       0       –        –  T
    *       6  absent   auto      fixed      2      –      –       –       –      2/2  T
            6  absent   lexical   fixed      2      –      –       –       –      2/2  T
            6  absent   lexical   kept       2      –      –       –       –      2/2  T
            6  absent   like      kept       2      –      –       –       –        –  T
    *       2  wordy    auto      fixed      2      2      2       2     0/2        –  T
    *       2  meaning  auto      fixed      2      0      0       0       –        –  T
    *       2  absent   auto      fixed      2      –      –       –       –      2/2  T
    * the default search, asked for ten hits
    denied: of the queries with a target among the first three, those answered with nothing relevant
    refused: of the queries that no note answers, those answered with nothing relevant
    --- stderr
    a size of 6 means all notes: the folder has 6
    ");
    // The index is thrown away, and the user's own is not touched.
    assert!(!desk.index().exists() && !desk.config().exists());
}

#[test]
fn a_curve_shows_other_lines() {
    let desk = desk_with_queries(Desk::new());
    let run = desk.ok(&with(&["--mode", "auto", "--curve"]));
    let (_, curve) = run.stdout.split_once("\n\n").unwrap();
    let lines: Vec<&str> = curve.lines().collect();
    // No target of the second file was found, so no answer can be denied.
    assert_eq!(
        lines[..2],
        ["6 notes", "below  wordy denied  absent refused"]
    );
    assert_eq!(lines[2], " 0.05           0 %           100 %");
    assert_eq!(lines[20], " 0.95           0 %           100 %");
    assert_eq!(lines.len(), 22, "{curve}");
}

#[test]
fn queries_over_notes_as_json() {
    let desk = desk_with_queries(Desk::new());
    let figures = desk.json(&with(&["--mode", "auto", "--sizes", "2", "--json"]));
    assert_eq!(figures["sets"], json!([]));
    let rows = figures["notes"].as_array().unwrap();
    let told: Vec<Value> = rows
        .iter()
        .map(|row| {
            json!([
                row["name"],
                row["notes"],
                row["whole"],
                row["queries"],
                row["absent"]
            ])
        })
        .collect();
    assert_eq!(
        told,
        [
            json!(["wordy", 6, true, 2, 0]),
            json!(["meaning", 6, true, 2, 0]),
            json!(["absent", 6, true, 2, 2]),
            json!(["wordy", 2, false, 2, 0]),
            json!(["meaning", 2, false, 2, 0]),
            json!(["absent", 2, false, 2, 2]),
        ]
    );
    let asked = &rows[0]["per_query"][1];
    assert_eq!(asked["query"], "oil the chain");
    assert_eq!(
        (&asked["rank"], &asked["top"]),
        (&json!(1), &json!("bike.md"))
    );
    assert!(
        asked["answered"].is_f64() && asked["relevant"].is_u64(),
        "{asked}"
    );
    assert_eq!(asked["similarity"], Value::Null);
    // The same notes are drawn again.
    let drawn = |figures: &Value| figures["notes"][3]["per_query"].clone();
    let again = desk.json(&with(&["--mode", "auto", "--sizes", "2", "--json"]));
    assert_eq!(drawn(&figures), drawn(&again));
}

#[test]
fn with_a_model_similarities_are_told() {
    let desk = desk_with_queries(Desk::with_model());
    // The tiny model knows few words, these among them.
    desk.write(
        "garden/gtd.md",
        "# GTD methodology\n\nCapture, then clarify.",
    );
    let query = "how does task planning work\tgarden/gtd.md\n";
    desk.write("meaning-queries.tsv", query);
    let figures = desk.json(&with(&["--json", "--sizes", "3"]));
    let rows = figures["notes"].as_array().unwrap();
    let whole = rows.iter().filter(|row| row["whole"] == true);
    let modes: Vec<&Value> = whole
        .filter(|row| row["name"] == "meaning")
        .map(|row| &row["mode"])
        .collect();
    let all = ["auto", "hybrid", "semantic", "lexical", "lexical", "like"];
    assert_eq!(modes, all);
    let compared = rows.iter().filter(|row| row["name"] == "meaning");
    let compared = compared.filter(|row| !row["model"].is_null());
    for row in compared {
        assert_eq!(row["per_query"][0]["rank"], 1, "{row}");
        assert!(row["per_query"][0]["similarity"].is_f64(), "{row}");
    }
    // Small collections are searched in the default mode only.
    let small = rows.iter().filter(|row| row["whole"] == false);
    let small: Vec<&Value> = small.map(|row| &row["mode"]).collect();
    assert_eq!(small, ["auto"; 3]);
}

#[test]
fn what_is_wrong_with_queries_is_said() {
    let desk = desk_with_queries(Desk::new());
    desk.write("odd.tsv", b"sourdough\tbread.md\n\xff\n");
    assert_snapshot!(desk.run(&["eval", "garden", "--queries", "odd.tsv"]), @"
    exit: 2
    --- stderr
    error: odd.tsv, line 2: not valid UTF-8
    hint: each line is a query, a tab and the paths of the notes that answer it, separated by commas; or only a query that no note answers
    ");
    assert_snapshot!(desk.run(&["eval", "nowhere", "--queries", "wordy-queries.tsv"]), @"
    exit: 2
    --- stderr
    error: the folder nowhere does not exist
    hint: check the spelling, and whether its drive is connected
    ");
    let run = desk.run(&with(&["--sizes", "0"]));
    assert_eq!(run.code, Some(2), "{run}");
    let run = desk.run(&["eval", "garden", "--sizes", "5"]);
    assert!(run.stderr.contains("--queries"), "{run}");
    let run = desk.run(&with(&["--relevance"]));
    assert!(run.stderr.contains("cannot be used with"), "{run}");
}

#[test]
#[ignore = "needs KODIAK_TEST_MODEL"]
fn with_the_real_model_notes_are_found_by_meaning_and_absent_questions_refused() {
    let desk = desk_with_queries(Desk::with_real_model());
    let figures = desk.json(&with(&["--mode", "auto", "--sizes", "4", "--json"]));
    for row in figures["notes"].as_array().unwrap() {
        if row["name"] == "absent" {
            assert_eq!(row["refused"], 2, "{row}");
        } else {
            assert_eq!(row["hit@1"], 2, "{row}");
        }
    }
}
