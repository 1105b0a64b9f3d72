//! `eval` on a small set whose figures can be worked out by hand, and on the
//! example notes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use kodiak::store::EmbeddingCache;
use serde_json::{Value, json};

use crate::desk::{Desk, Run, copy};

/// Three notes in two groups; one query is spelt right in the main split and
/// wrong in the other.
pub(crate) fn desk_with_set() -> Desk {
    let desk = Desk::new();
    desk.write(
        "fruit/corpus.jsonl",
        r#"{"_id": "a", "title": "Apples", "text": "red and green", "group": "one"}
{"_id": "b", "title": "", "text": "apples and pears", "group": "two"}
{"_id": "c", "title": "", "text": "plums, nothing else"}
"#,
    );
    desk.write(
        "fruit/queries.jsonl",
        r#"{"_id": "q1", "text": "apples"}
{"_id": "q2", "text": "apples", "group": "two"}
"#,
    );
    // For q1 the second hit is the relevant one: nDCG is 1 / log2(3) = 0.6309.
    // For q2 only its group is searched, where it comes first.
    desk.write(
        "fruit/qrels.tsv",
        "query-id\tcorpus-id\tscore\nq1\tb\t1\nq2\tb\t1\n",
    );
    desk.write(
        "fruit/queries_typo.jsonl",
        "{\"_id\": \"q3\", \"text\": \"plumms\"}\n",
    );
    desk.write("fruit/qrels_typo.tsv", "q3\tc\t1\n");
    desk
}

fn rows(desk: &Desk, arguments: &[&str]) -> Vec<Value> {
    let mut all = vec!["eval", "fruit", "--json"];
    all.extend(arguments);
    let run = desk.ok(&all);
    let figures: Value = serde_json::from_str(&run.stdout).unwrap();
    figures["sets"].as_array().unwrap().clone()
}

#[test]
fn figures_as_json() {
    let desk = desk_with_set();
    let rows = rows(&desk, &[]);
    let told: Vec<String> = rows
        .iter()
        .map(|row| {
            format!(
                "{} {} {} typo={} default={} queries={} ndcg={} mrr={} recall={}",
                row["name"],
                row["split"],
                row["mode"],
                row["typo"],
                row["default"],
                row["queries"],
                row["ndcg@10"],
                row["mrr@10"],
                row["recall@100"]
            )
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    "fruit" "test" "auto" typo=true default=true queries=2 ndcg=0.8155 mrr=0.75 recall=1.0
    "fruit" "test" "lexical" typo=true default=false queries=2 ndcg=0.8155 mrr=0.75 recall=1.0
    "fruit" "test" "lexical" typo=false default=false queries=2 ndcg=0.8155 mrr=0.75 recall=1.0
    "fruit" "test" "like" typo=false default=false queries=2 ndcg=0.8155 mrr=0.75 recall=1.0
    "fruit" "typo" "auto" typo=true default=true queries=1 ndcg=1.0 mrr=1.0 recall=1.0
    "fruit" "typo" "lexical" typo=true default=false queries=1 ndcg=1.0 mrr=1.0 recall=1.0
    "fruit" "typo" "lexical" typo=false default=false queries=1 ndcg=0.0 mrr=0.0 recall=0.0
    "fruit" "typo" "like" typo=false default=false queries=1 ndcg=0.0 mrr=0.0 recall=0.0
    "#);
}

#[test]
fn modes_splits_and_queries_can_be_chosen() {
    let desk = desk_with_set();
    let chosen = rows(
        &desk,
        &["--mode", "like", "--split", "test", "--limit-queries", "1"],
    );
    assert_eq!(chosen.len(), 1);
    assert_eq!(
        (&chosen[0]["queries"], &chosen[0]["mode"]),
        (&1.into(), &"like".into())
    );
    let run = desk.run(&["eval", "fruit", "--split", "nowhere"]);
    assert_eq!(run.code, Some(2));
}

#[test]
fn a_table_for_people_and_no_trace_left() {
    let desk = desk_with_set();
    let run = desk.ok(&["eval", "fruit", "--mode", "auto"]);
    assert!(run.stdout.contains("* fruit"), "{}", run.stdout);
    assert!(run.stdout.lines().count() == 4, "{}", run.stdout);
    // The index is thrown away, and the user's own is not touched.
    assert!(!desk.index().exists() && !desk.config().exists());
}

#[test]
fn what_is_no_test_set_is_said() {
    let desk = Desk::new();
    desk.write("empty/readme.txt", "nothing");
    let run = desk.run(&["eval", "empty"]);
    assert_eq!(run.code, Some(2));
    assert!(run.stderr.contains("corpus.jsonl"), "{}", run.stderr);
}

#[test]
fn a_set_without_a_relevant_document_has_no_figures() {
    let desk = desk_with_set();
    desk.write("fruit/qrels_typo.tsv", "q3\tc\t0\n");
    let run = desk.ok(&["eval", "fruit", "--mode", "auto", "--json"]);
    let figures: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(figures["sets"].as_array().unwrap().len(), 1);
    assert_eq!(
        run.stderr,
        "warning: fruit typo has no query with a relevant document\n"
    );
    desk.write("fruit/qrels.tsv", "q1\tb\t0\nq9\tb\t1\n");
    assert_snapshot!(desk.run(&["eval", "fruit"]), @"
    exit: 2
    --- stderr
    error: fruit has no query with a relevant document
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}

#[test]
fn what_is_wrong_with_a_set_comes_with_a_hint() {
    let desk = desk_with_set();
    assert_snapshot!(desk.run(&["eval", "fruit", "--split", "nowhere"]), @"
    exit: 2
    --- stderr
    error: nothing was measured: no set has a split of that name
    hint: known splits: test, typo
    ");
    assert_snapshot!(desk.run(&["eval", "nowhere"]), @"
    exit: 2
    --- stderr
    error: could not read nowhere: No such file or directory
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/corpus.jsonl", "{}");
    assert_snapshot!(desk.run(&["eval", "bare"]), @"
    exit: 2
    --- stderr
    error: no judgements in bare
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/qrels.tsv", "q1\ta\t1\n");
    assert_snapshot!(desk.run(&["eval", "bare"]), @"
    exit: 2
    --- stderr
    error: no queries for bare/qrels.tsv: neither queries.jsonl nor queries_test.jsonl is in bare
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/queries.jsonl", r#"{"_id": "q1", "text": "apples"}"#);
    assert_snapshot!(desk.run(&["eval", "bare"]), @r#"
    exit: 2
    --- stderr
    error: line 1 of bare/corpus.jsonl: no "_id"
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    "#);
    desk.write("fruit/queries.jsonl", "nonsense");
    assert_snapshot!(desk.run(&["eval", "fruit"]), @"
    exit: 2
    --- stderr
    error: line 1 of fruit/queries.jsonl: not a JSON object: expected ident at column 2
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}

/// The judged set over the example notes.
pub(crate) fn judged() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/judged")
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The judged queries of a split.
pub(crate) fn judged_queries(split: &str) -> Vec<Value> {
    let lines = fs::read_to_string(judged().join(format!("queries_{split}.jsonl"))).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

const SPLITS: [&str; 5] = ["filters", "languages", "meaning", "typo", "word"];

#[test]
fn the_example_notes_are_found_as_well_as_they_must_be() {
    let desk = Desk::new();
    let set = judged();
    let set = set.to_str().unwrap();
    let figures = desk.json(&["eval", set, "--json"]);
    let rows = figures["sets"].as_array().unwrap();
    let held = assert_reached(rows, |floor| floor["model"].is_null());
    assert!(held >= 2 * SPLITS.len(), "{held}");
    let floors = judged().join("floors.json");
    desk.ok(&["eval", set, "--floors", floors.to_str().unwrap()]);
}

/// Holds the rows to the floors of the example notes, as far as these are
/// `held`, and gives back how many rows that was about.
pub(crate) fn assert_reached(rows: &[Value], held: impl Fn(&Value) -> bool) -> usize {
    let floors = read_json(&judged().join("floors.json"));
    let mut checked = 0;
    for floor in floors["floors"].as_array().unwrap() {
        if !held(floor) {
            continue;
        }
        let is_for = |row: &&Value| {
            let mut narrowed = ["name", "split", "mode", "fusion", "typo"].iter();
            row["model"] == floor["model"]
                && narrowed.all(|&field| floor[field].is_null() || floor[field] == row[field])
        };
        let mut measured = rows.iter().filter(is_for).peekable();
        assert!(measured.peek().is_some(), "no row for {floor}");
        for row in measured {
            let reached = row["ndcg@10"].as_f64() >= floor["ndcg@10"].as_f64();
            assert!(reached, "{} is below {floor}", row["ndcg@10"]);
            checked += 1;
        }
    }
    checked
}

/// A set in which words and meanings disagree.
pub(crate) fn write_meanings(desk: &Desk) {
    desk.write(
        "topics/corpus.jsonl",
        r#"{"_id": "gtd", "title": "GTD methodology", "text": "capture, then clarify"}
{"_id": "soup", "title": "Ramen broth", "text": "pork and garlic"}
{"_id": "trip", "title": "Management of luggage", "text": "passport, visa, train and hotel"}
"#,
    );
    desk.write(
        "topics/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"how does task planning work\"}\n",
    );
    desk.write("topics/qrels.tsv", "q1\tgtd\t1\n");
}

#[test]
fn with_a_model_every_way_of_searching_is_measured() {
    let desk = Desk::with_model();
    write_meanings(&desk);
    let run = desk.ok(&["eval", "topics", "--json"]);
    assert!(run.stderr.contains("embedding 3 chunks with tiny"), "{run}");
    let figures: Value = serde_json::from_str(&run.stdout).unwrap();
    let told: Vec<String> = figures["sets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            let part = |field: &str| row[field].to_string();
            let parts = ["mode", "fusion", "typo", "model", "default", "ndcg@10"].map(part);
            parts.join(" ")
        })
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
    "auto" "convex" true "tiny" true 1.0
    "auto" "rrf" true "tiny" false 1.0
    "hybrid" "convex" true "tiny" false 1.0
    "hybrid" "rrf" true "tiny" false 1.0
    "semantic" null true "tiny" false 1.0
    "lexical" null true null false 0.0
    "lexical" null false null false 0.0
    "like" null false null false 0.0
    "#);
    // The second time nothing is embedded, neither notes nor queries.
    let cache = desk.models().join("eval-embeddings.db");
    let known = || EmbeddingCache::open(&cache).unwrap().size().unwrap().0;
    let before = known();
    assert_eq!(before, 4);
    let run = desk.ok(&["eval", "topics", "-v"]);
    assert!(!run.stderr.contains("embedding"), "{run}");
    assert_eq!(known(), before);
    let stars = run
        .stdout
        .lines()
        .filter(|line| line.starts_with("* topics"));
    let stars: Vec<&str> = stars.collect();
    assert_eq!(stars.len(), 1, "{run}");
    assert!(stars[0].contains("auto      convex"), "{run}");
    // The model that is measured with is not a model to be listed.
    let listed = desk.ok(&["model", "list"]).stdout;
    assert!(!listed.contains("eval"), "{listed}");
    // Without the model, its ways of searching are left out.
    for arguments in [&["--no-semantic"][..], &["--model", "none"]] {
        let all = [&["eval", "topics", "--json"], arguments].concat();
        let figures = desk.json(&all);
        let rows = figures["sets"].as_array().unwrap();
        assert_eq!(rows.len(), 4, "{rows:?}");
        assert!(rows.iter().all(|row| row["model"].is_null()), "{rows:?}");
    }
}

#[test]
fn floors_are_for_runs_with_their_model() {
    let desk = Desk::with_model();
    write_meanings(&desk);
    desk.write(
        "floors.json",
        r#"{"floors": [
            {"split": "test", "mode": "auto", "ndcg@10": 0.9},
            {"split": "test", "mode": "lexical", "ndcg@10": 0.9},
            {"split": "test", "mode": "auto", "model": "tiny", "ndcg@10": 0.9},
            {"split": "test", "mode": "semantic", "model": "tiny", "ndcg@10": 0.9},
            {"split": "test", "mode": "auto", "model": "other", "ndcg@10": 0.9}]}"#,
    );
    let told = |arguments: &[&str]| {
        let all = [&["eval", "topics", "--floors", "floors.json"], arguments].concat();
        let mut run = desk.run(&all);
        run.stdout.clear();
        run
    };
    assert_snapshot!(told(&[]), @"
    exit: 2
    --- stderr
    embedding 3 chunks with tiny
    2 floors for other models not checked: this run uses the model tiny
    warning: topics test, lexical: nDCG@10 is 0.0000, below the floor of 0.9
    warning: topics test, lexical, typos kept: nDCG@10 is 0.0000, below the floor of 0.9
    error: not every floor was reached
    hint: use `--compare` with an earlier run to see which figures fell
    ");
    assert_snapshot!(told(&["--no-semantic"]), @"
    exit: 2
    --- stderr
    3 floors for other models not checked: this run uses no model
    warning: topics test, auto: nDCG@10 is 0.0000, below the floor of 0.9
    warning: topics test, lexical: nDCG@10 is 0.0000, below the floor of 0.9
    warning: topics test, lexical, typos kept: nDCG@10 is 0.0000, below the floor of 0.9
    error: not every floor was reached
    hint: use `--compare` with an earlier run to see which figures fell
    ");
    assert_snapshot!(told(&["--mode", "auto"]), @"
    exit: 0
    --- stderr
    2 floors for other models not checked: this run uses the model tiny
    ");
}

#[test]
fn every_judgement_is_about_a_query_and_a_note() {
    let notes = judged().join("../notes");
    let mut seen = BTreeSet::new();
    for split in SPLITS {
        let mut wanted: BTreeSet<String> = BTreeSet::new();
        for query in judged_queries(split) {
            let id = query["_id"].as_str().unwrap().to_owned();
            assert!(seen.insert(id.clone()), "{id} twice");
            wanted.insert(id);
        }
        let asked = wanted.clone();
        let judgements = fs::read_to_string(judged().join(format!("qrels_{split}.tsv"))).unwrap();
        for line in judgements.lines().skip(1) {
            let columns: Vec<&str> = line.split('\t').collect();
            let [query, note, grade] = columns[..] else {
                panic!("{line}")
            };
            assert!(asked.contains(query), "{line}");
            assert!(notes.join(note).is_file(), "{line}");
            assert!(["1", "2"].contains(&grade), "{line}");
            if grade == "2" {
                wanted.remove(query);
            }
        }
        assert!(wanted.is_empty(), "nothing is wanted by {wanted:?}");
    }
    assert!(seen.len() >= 70, "{}", seen.len());
}

#[test]
fn filters_of_a_query_are_applied() {
    let desk = Desk::with_notes();
    copy(&judged(), &desk.path("judged"));
    let found = |desk: &Desk| {
        let figures = desk.json(&[
            "eval", "judged", "--split", "filters", "--mode", "lexical", "--json",
        ]);
        figures["sets"][0]["per_query"].as_object().unwrap().clone()
    };
    let with = found(&desk);
    // The same queries with nothing but their words.
    let bare: String = judged_queries("filters")
        .iter()
        .map(|query| format!("{}\n", json!({"_id": query["_id"], "text": query["text"]})))
        .collect();
    desk.write("judged/queries_filters.jsonl", bare);
    let without = found(&desk);
    assert_eq!(with.len(), without.len());
    for (id, score) in &with {
        assert!(
            score.as_f64() > without[id].as_f64(),
            "{id} needs no filter"
        );
    }
    desk.write(
        "judged/queries_filters.jsonl",
        r#"{"_id": "filters-01", "text": "jonas", "after": "soon"}"#,
    );
    let run = desk.run(&["eval", "judged", "--split", "filters"]);
    assert_eq!(run.code, Some(2));
    assert!(
        run.stderr.starts_with(
            "error: line 1 of judged/queries_filters.jsonl: \"after\": 'soon' is not a valid date\n"
        ),
        "{run}"
    );
}

#[test]
fn a_folder_of_notes_that_is_not_there_is_named() {
    let desk = Desk::new();
    copy(&judged(), &desk.path("judged"));
    assert_snapshot!(desk.run(&["eval", "judged", "--split", "word"]), @"
    exit: 2
    --- stderr
    error: judged/corpus.json: the folder judged/../notes does not exist
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}

#[test]
fn floors_that_are_not_reached_fail() {
    let desk = desk_with_set();
    desk.write(
        "floors.json",
        r#"{"floors": [
            {"split": "test", "mode": "auto", "ndcg@10": 0.8155},
            {"split": "typo", "mode": "lexical", "typo": true, "ndcg@10": 1},
            {"split": "typo", "mode": "lexical", "ndcg@10": 0.5},
            {"name": "vegetables", "split": "test", "mode": "auto", "ndcg@10": 0.1}]}"#,
    );
    let mut run = desk.run(&["eval", "fruit", "--floors", "floors.json"]);
    assert!(run.stdout.contains("* fruit"), "{run}");
    run.stdout.clear();
    assert_snapshot!(run, @"
    exit: 2
    --- stderr
    warning: fruit typo, lexical, typos kept: nDCG@10 is 0.0000, below the floor of 0.5
    warning: nothing was measured for the floor vegetables, test, auto
    error: not every floor was reached
    hint: use `--compare` with an earlier run to see which figures fell
    ");
    // What was not asked for is not missed.
    desk.ok(&[
        "eval",
        "fruit",
        "--floors",
        "floors.json",
        "--split",
        "typo",
        "--mode",
        "auto",
    ]);
    let run = desk.run(&[
        "eval",
        "fruit",
        "--floors",
        "floors.json",
        "--limit-queries",
        "1",
    ]);
    assert_eq!(run.code, Some(2));
    desk.write("floors.json", r#"{"floors": {}}"#);
    assert_snapshot!(desk.run(&["eval", "fruit", "--floors", "floors.json"]), @r#"
    exit: 2
    --- stderr
    error: floors.json is not a file of floors: invalid type: map, expected a sequence at line 1 column 11
    hint: write floors as {"floors": [{"split": "test", "mode": "auto", "ndcg@10": 0.7}]}, with "name", "fusion", "typo" and "model" as options
    "#);
}

/// What comes below the figures, whose times differ from run to run.
pub(crate) fn comparison(mut run: Run) -> Run {
    run.stdout = run.stdout.split_once("\n\n").unwrap().1.to_owned();
    run
}

#[test]
fn a_run_is_compared_with_an_earlier_one() {
    let desk = desk_with_set();
    let before = desk.ok(&[
        "eval", "fruit", "--mode", "auto", "--mode", "like", "--json",
    ]);
    desk.write("before.json", &before.stdout);
    // The note that stood in the way of the first query is gone.
    let corpus = fs::read_to_string(desk.path("fruit/corpus.jsonl")).unwrap();
    desk.write("fruit/corpus.jsonl", corpus.replace("Apples", "Berries"));
    desk.write(
        "fruit/queries_typo.jsonl",
        "{\"_id\": \"q4\", \"text\": \"plumms\"}\n",
    );
    desk.write("fruit/qrels_typo.tsv", "q4\tc\t1\n");
    let arguments = [
        "eval",
        "fruit",
        "--compare",
        "before.json",
        "--mode",
        "auto",
    ];
    assert_snapshot!(comparison(desk.ok(&arguments)), @"
    exit: 0
    --- stdout
      set                  split        mode      fusion  typos  queries  baseline  now     change   better  worse  equal  p
    * fruit                test         auto      –       fixed        2    0.8155  1.0000  +0.1846       1      0      1  1.0000
    --- stderr
    queries of fruit typo only in this run: q4
    queries of fruit typo only in the baseline: q3
    only in the baseline: fruit test, like, typos kept; fruit typo, like, typos kept
    ");
    let figures = desk.json(&[&arguments[..], &["--json"]].concat());
    assert_eq!(
        figures["comparison"],
        json!([{
            "name": "fruit", "split": "test", "mode": "auto", "fusion": null, "rerank": null,
            "typo": true, "default": true, "queries": 2, "baseline": 0.8155, "now": 1.0,
            "difference": 0.1846, "better": 1, "worse": 0, "equal": 1, "p": 1.0,
            "significant": false,
        }])
    );
    // Of one row there is no mean.
    assert_eq!(figures["comparison_means"], Value::Null);
    assert_eq!(
        figures["sets"][0]["per_query"],
        json!({"q1": 1.0, "q2": 1.0})
    );
}

#[test]
fn what_cannot_be_compared_is_said() {
    let desk = desk_with_set();
    assert_snapshot!(desk.run(&["eval", "fruit", "--compare", "before.json"]), @r#"
    exit: 2
    --- stderr
    error: could not read the baseline before.json: No such file or directory
    hint: a baseline is the output of `kodiak eval … --json`, with "per_query" in every row
    "#);
    // As printed before there were figures for each query.
    desk.write(
        "before.json",
        r#"{"sets": [{"name": "fruit", "split": "test", "mode": "auto", "typo": true}]}"#,
    );
    assert_snapshot!(desk.run(&["eval", "fruit", "--compare", "before.json"]), @r#"
    exit: 2
    --- stderr
    error: before.json is not a baseline: missing field `per_query` at line 1 column 74
    hint: a baseline is the output of `kodiak eval … --json`, with "per_query" in every row
    "#);
    desk.write("before.json", r#"{"sets": []}"#);
    let mut run = desk.ok(&[
        "eval",
        "fruit",
        "--split",
        "typo",
        "--compare",
        "before.json",
    ]);
    run.stdout.clear();
    assert_snapshot!(run, @"
    exit: 0
    --- stderr
    only in this run: fruit typo, auto; fruit typo, lexical; fruit typo, lexical, typos kept; fruit typo, like, typos kept
    warning: nothing was compared: the baseline has no query in common with this run
    ");
}
