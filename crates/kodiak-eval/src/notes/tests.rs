//! Tests figures of made-up answers, and whole runs over a few notes.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use kodiak::search::Mode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::figures::{Asked, Manner};
use super::*;
use crate::runner::Setting;
use crate::{Evaluation, Figures, Models};

/// Notes of one topic each. `copies/` has a copy of one of them.
fn garden() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bread = "# Bread\n\nSourdough rises overnight in a basket, and rye needs longer.\n";
    let notes = [
        ("garden/kitchen/bread.md", bread),
        (
            "garden/kitchen/soup.md",
            "# Soup\n\nLentils simmer with cumin.",
        ),
        ("garden/bear.md", "# Bears\n\nA bear sleeps all winter."),
        ("garden/bike.md", "# Bicycle\n\nOil the chain after rain."),
        (
            "garden/tax.md",
            "# Tax\n\nThe office wants receipts by July.",
        ),
        (
            "garden/tent.md",
            "# Tent\n\nDry the canvas before folding it.",
        ),
    ];
    for (name, text) in notes {
        write(folder.path(), name, text);
    }
    write(
        folder.path(),
        "known-queries.tsv",
        "sourdough\tkitchen/bread.md\noil the chain\tgarden/bike.md\nlentils\tgarden/kitchen/\n",
    );
    write(
        folder.path(),
        "absent.tsv",
        "submarine\nquantum chromodynamics\n",
    );
    folder
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

fn options(folder: &TempDir) -> Options {
    let path = |name: &str| folder.path().join(name);
    Options {
        folders: vec![path("garden")],
        queries: vec![path("known-queries.tsv"), path("absent.tsv")],
        scratch: folder.path().to_owned(),
        ..Options::default()
    }
}

fn sizes(sizes: &[usize]) -> Vec<NonZeroUsize> {
    let sizes = sizes.iter().filter_map(|&size| NonZeroUsize::new(size));
    sizes.collect()
}

/// Runs an evaluation without a model. Returns the figures, and the notices and
/// warnings.
fn run(options: Options) -> (Figures, Vec<String>) {
    let told = Mutex::new(Vec::new());
    let listener = |event: Event<'_>| {
        if let Event::Notice(text) | Event::Warning(text) = event {
            told.lock().unwrap().push(text.to_owned());
        }
    };
    let evaluation = Evaluation::prepare(options, &listener).unwrap();
    let figures = evaluation.run(&Models::default(), &listener).unwrap();
    (figures, told.into_inner().unwrap())
}

/// The rows as JSON, without times.
fn rows(figures: &Figures) -> Vec<Value> {
    let mut rows = serde_json::to_value(figures).unwrap()["notes"].take();
    let rows = rows.as_array_mut().unwrap();
    for row in rows.iter_mut() {
        let row = row.as_object_mut().unwrap();
        assert!(row.remove("p50_ms").is_some() && row.remove("p95_ms").is_some());
    }
    std::mem::take(rows)
}

fn asked(rank: Option<usize>, answered: Option<f64>, relevant: Option<usize>) -> Asked {
    Asked {
        query: "q".to_owned(),
        absent: false,
        rank,
        answered,
        contained: None,
        relevant,
        hits: 10,
        top: None,
        similarity: None,
        took: Duration::from_millis(4),
    }
}

fn row(asked: Vec<Asked>) -> NotesRow {
    let file = JudgedFile {
        label: "known".to_owned(),
        queries: Vec::new(),
    };
    let manner = Manner {
        setting: Setting::ALL[0],
        tried: "",
        model: Some("tiny"),
        reranker: None,
        notes: 12,
        whole: true,
        curve: true,
    };
    NotesRow::new(&file, manner, asked)
}

#[test]
fn denied_and_refused_have_their_own_queries() {
    let absent = |answered, relevant, hits| Asked {
        absent: true,
        hits,
        ..asked(None, answered, relevant)
    };
    let row = row(vec![
        asked(Some(1), Some(0.9), Some(2)),
        asked(Some(3), Some(0.22), Some(0)),
        // A target in the fourth place was not answered right, so it is not denied.
        asked(Some(4), Some(0.1), Some(0)),
        asked(None, Some(0.1), Some(0)),
        absent(Some(0.05), Some(0), 10),
        absent(Some(0.7), Some(1), 10),
        // An answer without a hit refuses, judged or not.
        absent(None, None, 0),
        absent(None, None, 10),
    ]);
    let counts = serde_json::to_value(&row.counts).unwrap();
    let expected = json!({
        "queries": 8, "absent": 4, "hit@1": 1, "hit@3": 2, "hit@10": 3, "denied": 1, "refused": 2,
    });
    assert_eq!(counts, expected);
    let curve: Vec<(f64, Option<f64>, Option<f64>)> = row
        .curve
        .iter()
        .map(|point| (point.line, point.denied, point.refused))
        .collect();
    assert_eq!(curve.len(), 19);
    // A line is not below itself, and an answer without a judgement is on no side.
    assert_eq!(curve[0], (0.05, Some(0.0), Some(0.3333)));
    assert_eq!(curve[1], (0.1, Some(0.0), Some(0.6667)));
    assert_eq!(curve[4], (0.25, Some(0.5), Some(0.6667)));
    assert_eq!(curve[18], (0.95, Some(1.0), Some(1.0)));
}

#[test]
fn without_judgements_nothing_is_denied_or_refused() {
    let row = row(vec![asked(Some(1), None, None)]);
    assert_eq!((row.counts.denied, row.counts.refused), (None, None));
    let line = table::line(&row, 5);
    assert!(line.contains("      1       –        –     4.0"), "{line}");
    assert!(row.curve.iter().all(|point| point.refused.is_none()));
}

#[test]
fn targets_may_begin_with_the_name_of_the_folder() {
    let folder = garden();
    let notes = NotesFolder::read(&folder.path().join("garden/.")).unwrap();
    let matching = |target: &str| {
        let places = notes.matching(&[target.to_owned()]);
        let keys = places
            .into_iter()
            .map(|place| notes.documents[place].key.as_str());
        keys.collect::<Vec<_>>()
    };
    assert_eq!(matching("kitchen/bread.md"), ["kitchen/bread.md"]);
    assert_eq!(matching("garden/kitchen/bread.md"), ["kitchen/bread.md"]);
    assert_eq!(
        matching("kitchen/"),
        ["kitchen/bread.md", "kitchen/soup.md"]
    );
    assert_eq!(matching("garden/t"), ["tax.md", "tent.md"]);
    assert_eq!(matching("gardenbear.md"), [""; 0]);
    assert_eq!(matching("other/bear.md"), [""; 0]);
}

#[test]
fn the_whole_folder_is_searched_in_every_mode() {
    let folder = garden();
    let (figures, told) = run(options(&folder));
    let rows = rows(&figures);
    let ways: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {}",
                row["name"], row["mode"], row["typo"], row["notes"]
            )
        })
        .collect();
    let expected = [
        r#""known" "auto" true 6"#,
        r#""known" "lexical" true 6"#,
        r#""known" "lexical" false 6"#,
        r#""known" "like" false 6"#,
        r#""absent" "auto" true 6"#,
        r#""absent" "lexical" true 6"#,
        r#""absent" "lexical" false 6"#,
        r#""absent" "like" false 6"#,
    ];
    assert_eq!(ways, expected);
    assert!(told.is_empty(), "{told:?}");
    assert_eq!(
        (&rows[0]["hit@1"], &rows[0]["denied"], &rows[0]["default"]),
        (&json!(3), &json!(0), &json!(true))
    );
    assert_eq!(rows[4]["refused"], json!(2));
    // Searching for a substring judges nothing.
    assert_eq!(rows[3]["denied"], Value::Null);
    let first = &rows[0]["per_query"][0];
    assert_eq!(
        (&first["query"], &first["rank"], &first["top"]),
        (&json!("sourdough"), &json!(1), &json!("kitchen/bread.md"))
    );
    assert!(
        first["answered"].is_f64() && first["relevant"] == json!(1),
        "{first}"
    );
    let absent = &rows[4]["per_query"][0];
    assert_eq!(
        (&absent["absent"], &absent["rank"]),
        (&json!(true), &Value::Null)
    );
    assert!(rows.iter().all(|row| row.get("curve").is_none()));
}

#[test]
fn small_collections_hold_the_answer_and_are_the_same_for_a_seed() {
    let folder = garden();
    let measured = |seed| {
        let options = Options {
            sizes: sizes(&[3, 1, 3, 6, 99]),
            seed,
            curve: true,
            ..options(&folder)
        };
        run(options)
    };
    let (figures, told) = measured(7);
    assert_eq!(told, ["a size of 6 means all notes: the folder has 6"]);
    let small: Vec<Value> = rows(&figures)
        .into_iter()
        .filter(|row| row["whole"] == json!(false))
        .collect();
    let ways = small
        .iter()
        .map(|row| (row["notes"].as_u64().unwrap(), row["mode"].as_str()));
    let auto = Some("auto");
    assert_eq!(
        ways.collect::<Vec<_>>(),
        [(1, auto), (1, auto), (3, auto), (3, auto)]
    );
    // `lentils` has two targets, and only the bread may have been drawn.
    let known = &small[2];
    assert_eq!((&known["hit@1"], &known["queries"]), (&json!(3), &json!(3)));
    assert!(known["per_query"][0]["hits"].as_u64().unwrap() <= 3);
    assert_eq!(known["curve"].as_array().unwrap().len(), 19);
    assert_eq!(rows(&figures), rows(&measured(7).0));
    let table = figures.tables();
    assert!(
        table.lines().all(|line| line.chars().count() <= 100),
        "{table}"
    );
    assert!(
        table.contains("\n3 notes\nbelow  known denied  absent refused\n"),
        "{table}"
    );
}

#[test]
fn parameters_are_tried_beside_the_current_ones() {
    let folder = garden();
    let (figures, _) = run(Options {
        modes: vec![Mode::Lexical],
        tries: vec!["k1=0.9".to_owned(), "stemming=no".to_owned()],
        sizes: sizes(&[2]),
        limit_queries: Some(1),
        ..options(&folder)
    });
    let rows = rows(&figures);
    let tried: Vec<&str> = rows
        .iter()
        .map(|row| row.get("try").and_then(Value::as_str).unwrap_or("today"))
        .collect();
    // Two files, each whole and small, in two ways: with typos fixed and kept.
    assert_eq!(
        tried,
        [["today"; 8], ["k1=0.9"; 8], ["stemming=no"; 8]].concat()
    );
    assert!(rows.iter().all(|row| row["queries"] == json!(1)));
    let table = figures.tables();
    assert!(
        table.contains("\nstemming=no\n    notes  queries"),
        "{table}"
    );
}

#[test]
fn a_copy_of_the_target_is_as_good() {
    let folder = garden();
    let bread = fs::read_to_string(folder.path().join("garden/kitchen/bread.md")).unwrap();
    write(folder.path(), "garden/a-copy.md", &bread);
    write(folder.path(), "garden/z-copy.md", &bread);
    for target in ["a-copy.md", "z-copy.md", "kitchen/bread.md"] {
        let file = format!("sourdough\t{target}\n");
        let queries = vec![write(folder.path(), "known.tsv", &file)];
        let options = Options {
            queries,
            modes: vec![Mode::Auto],
            ..options(&folder)
        };
        let rows = rows(&run(options).0);
        assert_eq!(rows[0]["hit@1"], json!(1), "{target}");
        assert_eq!(rows[0]["per_query"][0]["hits"], json!(1), "{target}");
    }
}

#[test]
fn queries_that_cannot_be_judged_are_told() {
    let folder = garden();
    let lost = "oil\tbike.md\nferry\tboats/\nhelm\tboats/\n";
    write(folder.path(), "known-queries.tsv", lost);
    let (figures, told) = run(options(&folder));
    let expected = "known: 2 queries left out, because no note matches the targets: ferry";
    assert_eq!(told, [expected]);
    assert_eq!(rows(&figures)[0]["queries"], json!(1));
    let problem = |options: Options| {
        Evaluation::prepare(options, &|_| {})
            .unwrap_err()
            .to_string()
    };
    write(folder.path(), "known-queries.tsv", "ferry\tboats/\n");
    let only_lost = Options {
        queries: vec![folder.path().join("known-queries.tsv")],
        ..options(&folder)
    };
    assert_eq!(
        problem(only_lost),
        "nothing can be measured: no note matches any target"
    );
    let mut two = options(&folder);
    two.folders.push(folder.path().to_owned());
    assert_eq!(
        problem(two),
        "queries are asked of one folder of notes, and 2 were given"
    );
    let empty = Options {
        folders: vec![folder.path().join("empty")],
        ..options(&folder)
    };
    fs::create_dir(&empty.folders[0]).unwrap();
    assert!(problem(empty).starts_with("there are no notes in "));
    let missing = Options {
        queries: vec![folder.path().join("missing.tsv")],
        ..options(&folder)
    };
    assert!(problem(missing).contains("missing.tsv"));
}
