//! `eval` on a small set whose figures can be worked out by hand.

use insta::assert_snapshot;
use serde_json::Value;

use crate::desk::Desk;

/// Three notes in two groups; one query is spelt right in the main split and
/// wrong in the other.
fn desk_with_set() -> Desk {
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
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}

#[test]
fn what_is_wrong_with_a_set_comes_with_a_hint() {
    let desk = desk_with_set();
    assert_snapshot!(desk.run(&["eval", "fruit", "--split", "nowhere"]), @"
    exit: 2
    --- stderr
    error: no query was asked: no set has a split of that name
    hint: known splits: test, typo
    ");
    assert_snapshot!(desk.run(&["eval", "nowhere"]), @"
    exit: 2
    --- stderr
    error: could not read nowhere: No such file or directory
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/corpus.jsonl", "{}");
    assert_snapshot!(desk.run(&["eval", "bare"]), @"
    exit: 2
    --- stderr
    error: no judgements in bare
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/qrels.tsv", "q1\ta\t1\n");
    assert_snapshot!(desk.run(&["eval", "bare"]), @"
    exit: 2
    --- stderr
    error: no queries for bare/qrels.tsv: neither queries.jsonl nor queries_test.jsonl is in bare
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
    desk.write("bare/queries.jsonl", r#"{"_id": "q1", "text": "apples"}"#);
    assert_snapshot!(desk.run(&["eval", "bare"]), @r#"
    exit: 2
    --- stderr
    error: line 1 of bare/corpus.jsonl: no "_id"
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    "#);
    desk.write("fruit/queries.jsonl", "nonsense");
    assert_snapshot!(desk.run(&["eval", "fruit"]), @"
    exit: 2
    --- stderr
    error: line 1 of fruit/queries.jsonl: not a JSON object: expected ident at column 2
    hint: a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}
