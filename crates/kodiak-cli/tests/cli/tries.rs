//! `eval` on several sets at once, and with other parameters.

use insta::assert_snapshot;
use kodiak::store::EmbeddingCache;
use serde_json::{Value, json};

use crate::desk::{Desk, Run};
use crate::eval::{comparison, desk_with_set, write_meanings};

/// A folder with two sets, a folder that is none, and a file.
fn desk_with_sets() -> Desk {
    let desk = desk_with_set();
    std::fs::create_dir(desk.path("sets")).unwrap();
    std::fs::rename(desk.path("fruit"), desk.path("sets/fruit")).unwrap();
    desk.write(
        "sets/bread/corpus.jsonl",
        "{\"_id\": \"a\", \"title\": \"Rye\", \"text\": \"sour\"}\n",
    );
    desk.write(
        "sets/bread/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"rye\"}\n",
    );
    desk.write("sets/bread/qrels.tsv", "q1\ta\t1\n");
    desk.write("sets/lists/words.txt", "no set");
    desk.write("sets/.hidden/words.txt", "no set");
    desk.write("sets/README.md", "not a folder");
    desk
}

/// The run without its times, which differ each time.
fn without_times(mut run: Run) -> Run {
    let column = run.stdout.find("  p50 ms").unwrap();
    let timeless = |line: &str| line.chars().take(column).chain(['\n']).collect::<String>();
    run.stdout = run.stdout.lines().map(timeless).collect();
    run
}

#[test]
fn a_folder_of_sets_stands_for_all_of_them_and_has_a_mean() {
    let desk = desk_with_sets();
    let run = desk.ok(&["eval", "sets", "--mode", "auto", "--mode", "like"]);
    assert_snapshot!(without_times(run), @"
    exit: 0
    --- stdout
      set                  split        mode      fusion  typos  queries  nDCG@10  R@10   R@100  MRR@10
    * bread                test         auto      –       fixed        1   1.0000  1.000  1.000  1.0000
      bread                test         like      –       kept         1   1.0000  1.000  1.000  1.0000
    * fruit                test         auto      –       fixed        2   0.8155  1.000  1.000  0.7500
      fruit                test         like      –       kept         2   0.8155  1.000  1.000  0.7500
    * fruit                typo         auto      –       fixed        1   1.0000  1.000  1.000  1.0000
      fruit                typo         like      –       kept         1   0.0000  0.000  0.000  0.0000
    * mean of 2 sets                    auto      –       fixed        3   0.9077  1.000  1.000  0.8750
      mean of 2 sets                    like      –       kept         3   0.9077  1.000  1.000  0.8750
    * the default search; times are for 100 hits with snippets
    --- stderr
    skipped sets/lists: no corpus
    ");
    let figures = desk.json(&["eval", "sets", "--mode", "auto", "--json"]);
    assert_eq!(
        figures["means"],
        json!([{
            "mode": "auto", "fusion": null, "rerank": null, "typo": true, "default": true,
            "sets": 2, "queries": 3, "ndcg@10": 0.9077, "recall@10": 1.0, "recall@100": 1.0,
            "mrr@10": 0.875,
        }])
    );
    // Of one set there is none.
    let figures = desk.json(&["eval", "sets/fruit", "--json"]);
    assert_eq!(figures["means"], Value::Null);
}

#[test]
fn a_broken_set_among_others_is_an_error() {
    let desk = desk_with_sets();
    desk.write("sets/pasta/corpus.jsonl", "");
    assert_snapshot!(desk.run(&["eval", "sets"]), @"
    exit: 2
    --- stderr
    error: no judgements in sets/pasta
    hint: a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)
    ");
}

#[test]
fn other_parameters_are_compared_with_the_current_ones() {
    let desk = desk_with_sets();
    let arguments = [
        "eval",
        "sets",
        "--mode",
        "lexical",
        "--try",
        "title_weight=0,title_boost=0,title_coverage=0",
        "--try",
        "k1=1.2",
    ];
    // Where titles count for nothing, the note that says it in its text is first.
    assert_snapshot!(comparison(desk.ok(&arguments)), @"
    exit: 0
    --- stdout
    title_weight=0,title_boost=0,title_coverage=0
      set                  split        mode      fusion  typos  queries  baseline  now     change   better  worse  equal  p
      bread                test         lexical   –       fixed        1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      bread                test         lexical   –       kept         1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      fruit                test         lexical   –       fixed        2    0.8155  1.0000  +0.1846       1      0      1  1.0000
      fruit                test         lexical   –       kept         2    0.8155  1.0000  +0.1846       1      0      1  1.0000
      fruit                typo         lexical   –       fixed        1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      fruit                typo         lexical   –       kept         1    0.0000  0.0000  +0.0000       0      0      1  1.0000
      mean of 3 rows                    lexical   –       fixed        4    0.9385  1.0000  +0.0615       1      0      3  1.0000
      mean of 3 rows                    lexical   –       kept         4    0.6052  0.6667  +0.0615       1      0      3  1.0000

    k1=1.2
      set                  split        mode      fusion  typos  queries  baseline  now     change   better  worse  equal  p
      bread                test         lexical   –       fixed        1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      bread                test         lexical   –       kept         1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      fruit                test         lexical   –       fixed        2    0.8155  0.8155  +0.0000       0      0      2  1.0000
      fruit                test         lexical   –       kept         2    0.8155  0.8155  +0.0000       0      0      2  1.0000
      fruit                typo         lexical   –       fixed        1    1.0000  1.0000  +0.0000       0      0      1  1.0000
      fruit                typo         lexical   –       kept         1    0.0000  0.0000  +0.0000       0      0      1  1.0000
      mean of 3 rows                    lexical   –       fixed        4    0.9385  0.9385  +0.0000       0      0      4  1.0000
      mean of 3 rows                    lexical   –       kept         4    0.6052  0.6052  +0.0000       0      0      4  1.0000
    --- stderr
    skipped sets/lists: no corpus
    ");
    let figures = desk.json(&[&arguments[..], &["--split", "test", "--json"]].concat());
    let [first, second] = &figures["tries"].as_array().unwrap()[..] else {
        panic!("{figures}")
    };
    assert_eq!(
        [&first["try"], &second["try"]],
        [
            &json!("title_weight=0,title_boost=0,title_coverage=0"),
            &json!("k1=1.2")
        ]
    );
    // What is tried changes nothing in the run itself.
    assert_eq!(
        figures["sets"][2]["per_query"],
        json!({"q1": 0.6309, "q2": 1.0})
    );
    assert_eq!(first["sets"][2]["per_query"], json!({"q1": 1.0, "q2": 1.0}));
    assert_eq!(first["comparison"][2]["difference"], json!(0.1846));
    assert_eq!(
        first["means"][0],
        json!({
            "mode": "lexical", "fusion": null, "rerank": null, "typo": true, "default": false,
            "rows": 2, "queries": 3, "baseline": 0.9077, "now": 1.0, "difference": 0.0923,
            "better": 1, "worse": 0, "equal": 2, "p": 1.0, "significant": false,
        })
    );
    assert_eq!(second["comparison"][2]["difference"], json!(0.0));
}

#[test]
fn words_can_be_left_whole_without_a_model() {
    let desk = Desk::new();
    desk.write(
        "forms/corpus.jsonl",
        "{\"_id\": \"a\", \"text\": \"one pear\"}\n{\"_id\": \"b\", \"text\": \"plums\"}\n",
    );
    desk.write(
        "forms/queries.jsonl",
        "{\"_id\": \"q1\", \"text\": \"pears\"}\n{\"_id\": \"q2\", \"text\": \"plums\"}\n",
    );
    desk.write("forms/qrels.tsv", "q1\ta\t1\nq2\tb\t1\n");
    let variants = ["stemming=no", "k1=1", "k1=1,stemming=no", "stemming=yes"];
    let mut arguments = vec!["eval", "forms", "--mode", "lexical", "--json"];
    arguments.extend(variants.iter().flat_map(|text| ["--try", text]));
    let figures = desk.json(&arguments);
    // The second row is the one whose words are looked for as they are typed.
    let per_query = |run: &Value| run["sets"][1]["per_query"].clone();
    let found = |pears: f64| json!({"q1": pears, "q2": 1.0});
    assert_eq!(figures["sets"][1]["typo"], json!(false));
    assert_eq!(per_query(&figures), found(1.0));
    let tried: Vec<Value> = figures["tries"]
        .as_array()
        .unwrap()
        .iter()
        .map(per_query)
        .collect();
    assert_eq!(tried, [found(0.0), found(1.0), found(0.0), found(1.0)]);
}

#[test]
fn what_cannot_be_tried_is_said_before_anything_is_measured() {
    let desk = Desk::new();
    assert_snapshot!(desk.run(&["eval", "nowhere", "--try", "k1=0.9,b=2"]), @"
    exit: 2
    --- stderr
    error: --try k1=0.9,b=2: b cannot be '2': it must be a number from 0 to 1
    hint: its current value is 0.75
    ");
    let run = desk.run(&["eval", "nowhere", "--try", "k2=1"]);
    assert_eq!(run.code, Some(2));
    let said = "error: --try k2=1: there is no parameter 'k2'\n\
                hint: parameters and their current values: k1=";
    assert!(run.stderr.starts_with(said), "{run}");
    assert!(run.stderr.contains(", chunk_tokens="), "{run}");
    assert!(run.stderr.ends_with(", stemming=yes\n"), "{run}");
}

#[test]
fn only_what_is_cut_otherwise_is_embedded_anew() {
    let desk = Desk::with_model();
    write_meanings(&desk);
    let cache = desk.models().join("eval-embeddings.db");
    let known = || EmbeddingCache::open(&cache).unwrap().size().unwrap().0;
    let embeddings = |run: &Run| run.stderr.matches("embedding 3 chunks").count();
    let arguments = [
        "eval",
        "topics",
        "--mode",
        "semantic",
        "--try",
        "centroid_weight=0",
    ];
    let run = desk.ok(&arguments);
    assert_eq!((embeddings(&run), known()), (1, 4), "{run}");
    // Larger chunks are the same where all of a text is one.
    let run = desk.ok(&[&arguments[..], &["--try", "chunk_tokens=300"]].concat());
    assert_eq!((embeddings(&run), known()), (0, 4), "{run}");
    let bare = [
        "--try",
        "chunk_path=no",
        "--try",
        "chunk_path=no,centroid_weight=0",
    ];
    let run = desk.ok(&[&arguments[..], &bare].concat());
    assert_eq!((embeddings(&run), known()), (1, 7), "{run}");
}
