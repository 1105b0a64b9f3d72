//! Tests small sets in every layout that is accepted.

use tempfile::TempDir;

use super::*;

const CORPUS: &str = r#"{"_id": "d1", "title": "Bears", "text": "Kodiak bears"}"#;
const QUERIES: &str = concat!(
    r#"{"_id": "q1", "text": "first"}"#,
    "\n",
    r#"{"_id": "q2", "text": "second"}"#,
    "\n",
);
const QRELS: &str = "query-id\tcorpus-id\tscore\nq1\td1\t1\n";

/// A folder named `bears` with these files in it.
fn folder(files: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("bears");
    fs::create_dir(&folder).unwrap();
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    (parent, folder)
}

fn documents(corpus: &str) -> Result<Vec<Document>> {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", corpus),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
    ]);
    open(&folder)?.documents().collect()
}

fn queries(queries: &str, qrels: &str) -> Result<Vec<JudgedQuery>> {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", queries),
        ("qrels.tsv", qrels),
    ]);
    open(&folder)?.queries("")
}

/// Id, text and sorted judgements, for short comparisons.
fn brief(queries: &[JudgedQuery]) -> Vec<String> {
    queries
        .iter()
        .map(|query| {
            let mut judged: Vec<_> = query.judged.iter().collect();
            judged.sort();
            format!("{} {} {judged:?}", query.id, query.text)
        })
        .collect()
}

/// The whole chain on one line, without the folder, which differs on each run.
#[track_caller]
fn problem<T>(result: Result<T>) -> String {
    let Err(error) = result else {
        panic!("expected an error");
    };
    let message = format!("{error:#}");
    let mut words = Vec::new();
    for word in message.split(' ') {
        let start = word.find("bears").filter(|_| word.starts_with('/'));
        words.push(&word[start.unwrap_or(0)..]);
    }
    words.join(" ")
}

#[test]
fn the_flat_layout() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("README.md", "not part of it"),
    ]);
    let set = open(&folder).unwrap();
    assert_eq!(set.name, "bears");
    assert_eq!(set.splits, [""]);
    assert_eq!(split_label(&set.splits[0]), "test");
    let documents: Vec<_> = set.documents().map(Result::unwrap).collect();
    assert_eq!(documents.len(), 1);
    let Document {
        key, title, body, ..
    } = &documents[0];
    assert_eq!([key, title, body], ["d1", "Bears", "Kodiak bears"]);
    let queries = set.queries("").unwrap();
    assert_eq!(brief(&queries), [r#"q1 first [("d1", 1)]"#]);
    assert_eq!(set.queries("test").unwrap(), queries);
}

#[test]
fn the_original_layout() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels/train.tsv", "query-id\tcorpus-id\tscore\nq2\td1\t1\n"),
        ("qrels/test.tsv", QRELS),
        ("qrels/._test.tsv", "left by macOS"),
        ("qrels/README.md", "not part of it"),
    ]);
    let set = open(&folder).unwrap();
    assert_eq!(set.splits, ["", "train"]);
    assert_eq!(
        brief(&set.queries("").unwrap()),
        [r#"q1 first [("d1", 1)]"#]
    );
    assert_eq!(
        brief(&set.queries("train").unwrap()),
        [r#"q2 second [("d1", 1)]"#]
    );
}

#[test]
fn named_splits_with_and_without_their_own_queries() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("queries_typo.jsonl", r#"{"_id": "q1", "text": "frist"}"#),
        ("qrels_typo.tsv", QRELS),
        ("qrels_dev.tsv", "q2\td1\t2\n"),
        ("queries_unjudged.jsonl", QUERIES),
    ]);
    let set = open(&folder).unwrap();
    assert_eq!(set.splits, ["", "dev", "typo"]);
    assert_eq!(
        brief(&set.queries("typo").unwrap()),
        [r#"q1 frist [("d1", 1)]"#]
    );
    assert_eq!(
        brief(&set.queries("dev").unwrap()),
        [r#"q2 second [("d1", 2)]"#]
    );
    assert_eq!(
        problem(set.queries("train")),
        "no split \"train\" in bears; it has test, dev, typo"
    );
}

#[test]
fn a_set_may_have_named_splits_only() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries_dev.jsonl", QUERIES),
        ("qrels_dev.tsv", QRELS),
    ]);
    let set = open(&folder).unwrap();
    assert_eq!(set.splits, ["dev"]);
    assert_eq!(
        problem(set.queries("")),
        "no split \"test\" in bears; it has dev"
    );
}

#[test]
fn the_flat_layout_goes_before_the_others() {
    let other = r#"{"_id": "q1", "text": "other"}"#;
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("queries_test.jsonl", other),
        ("qrels_test.tsv", "q1\td1\t2\n"),
        ("qrels/test.tsv", "q1\td1\t3\n"),
    ]);
    let grade = || brief(&open(&folder).unwrap().queries("").unwrap());
    assert_eq!(grade(), [r#"q1 first [("d1", 1)]"#]);
    fs::remove_file(folder.join("qrels.tsv")).unwrap();
    assert_eq!(grade(), [r#"q1 other [("d1", 2)]"#]);
    fs::remove_file(folder.join("qrels_test.tsv")).unwrap();
    fs::remove_file(folder.join("queries_test.jsonl")).unwrap();
    assert_eq!(grade(), [r#"q1 first [("d1", 3)]"#]);
}

#[test]
fn the_name_of_a_folder_that_is_not_spelled_out() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
        ("qrels/test.tsv", QRELS),
    ]);
    assert_eq!(open(&folder.join("qrels/..")).unwrap().name, "bears");
    assert_eq!(open(&folder.join(".")).unwrap().name, "bears");
}

#[test]
fn document_fields() {
    let documents = documents(concat!(
        r#"{"_id": 17, "text": "a", "group": 3, "date": "ignored"}"#,
        "\n\n   \n",
        r#"{"_id": "18", "title": null, "text": "", "group": "g"}"#,
    ))
    .unwrap();
    let brief: Vec<String> = documents
        .iter()
        .map(|d| format!("{} {:?} {:?} {:?}", d.key, d.title, d.body, d.fields))
        .collect();
    assert_eq!(
        brief,
        [
            r#"17 "" "a" {"thread": String("3")}"#,
            r#"18 "" "" {"thread": String("g")}"#
        ]
    );
}

#[test]
fn queries_come_in_file_order_and_only_with_a_relevant_document() {
    let found = queries(
        concat!(
            r#"{"_id": "z", "text": "last by name", "group": "g"}"#,
            "\n",
            r#"{"_id": "unjudged", "text": "-"}"#,
            "\n",
            r#"{"_id": "hopeless", "text": "-"}"#,
            "\n",
            r#"{"_id": 7, "text": "a number"}"#,
            "\n",
            r#"{"_id": "z", "text": "again"}"#,
        ),
        "7\td2\t0\n7\td1\t2\nhopeless\td1\t0\nz\td1\t1\nabsent\td1\t1\n",
    )
    .unwrap();
    assert_eq!(
        brief(&found),
        [
            r#"z last by name [("d1", 1)]"#,
            r#"7 a number [("d1", 2), ("d2", 0)]"#,
        ]
    );
    let group = ("thread".to_owned(), "g".to_owned());
    assert_eq!(found[0].filter.fields, [group]);
    assert!(found[1].filter.is_empty());
}

#[test]
fn judgements_in_each_accepted_form() {
    for qrels in [
        "query-id\tcorpus-id\tscore\nq1\td 1\t1\nq1\td2\t-1\n",
        "q1\td 1\t1\nq1\td2\t-1",
        "\nquery-id\tcorpus-id\tscore\n\nq1\td 1\t1\n \nq1\td2\t-1\n",
        "q1\t0\td 1\t1\nq1\tQ0\td2\t-1\n",
        "\u{feff}query-id\tcorpus-id\tscore\r\nq1\td 1\t1\r\nq1\td2\t-1\r\n",
    ] {
        let found = queries(QUERIES, qrels).unwrap();
        assert_eq!(brief(&found), [r#"q1 first [("d 1", 1), ("d2", -1)]"#]);
    }
    let found = queries(QUERIES, "q1 0  d1 1\nq2 0 d1  1\n").unwrap();
    assert_eq!(
        brief(&found),
        [r#"q1 first [("d1", 1)]"#, r#"q2 second [("d1", 1)]"#]
    );
}

#[test]
fn windows_line_ends() {
    let corpus = format!("\u{feff}{CORPUS}\r\n\r\n{}\r\n", CORPUS.replace("d1", "d2"));
    let documents = documents(&corpus).unwrap();
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[1].key, "d2");
    assert_eq!(documents[1].body, "Kodiak bears");
    let found = queries(
        &QUERIES.replace('\n', "\r\n"),
        "query-id\tcorpus-id\tscore\r\nq2\td1\t1\r\n",
    )
    .unwrap();
    assert_eq!(brief(&found), [r#"q2 second [("d1", 1)]"#]);
}

#[test]
fn folders_that_are_not_sets() {
    let (parent, empty) = folder(&[]);
    assert_eq!(
        problem(open(&empty)),
        "neither corpus.jsonl nor corpus.json is in bears"
    );
    assert!(problem(open(&parent.path().join("absent"))).starts_with("could not read "));
    let (_parent, unjudged) = folder(&[("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)]);
    assert_eq!(problem(open(&unjudged)), "no judgements in bears");
    let (_parent, unasked) = folder(&[("corpus.jsonl", CORPUS), ("qrels_dev.tsv", QRELS)]);
    assert_eq!(
        problem(open(&unasked)),
        "no queries for bears/qrels_dev.tsv: neither queries_dev.jsonl nor queries.jsonl is \
         in bears"
    );
}

#[test]
fn errors_in_json_name_the_line() {
    for (line, expected) in [
        (r#"{"text": "a"}"#, r#"no "_id""#),
        (r#"{"_id": null, "text": "a"}"#, r#"no "_id""#),
        (r#"{"_id": "d"}"#, r#"no "text""#),
        (
            r#"{"_id": 1.5, "text": "a"}"#,
            r#""_id" is neither a string nor a whole number"#,
        ),
        (
            r#"{"_id": "d", "text": ["a"]}"#,
            r#""text" is not a string"#,
        ),
        (
            r#"{"_id": "d", "text": "a", "group": {}}"#,
            r#""group" is neither a string nor a whole number"#,
        ),
        (
            r#"{"_id": "d", "text""#,
            "not a JSON object: EOF while parsing an object at column 19",
        ),
        (
            r#"["d", "a"]"#,
            "not a JSON object: invalid type: sequence, expected a map",
        ),
    ] {
        // Blank lines count, or an editor would jump to another line.
        assert_eq!(
            problem(documents(&format!("{CORPUS}\n\n{line}\n{CORPUS}\n"))),
            format!("line 3 of bears/corpus.jsonl: {expected}")
        );
        assert_eq!(
            problem(queries(&format!("{QUERIES}{line}"), QRELS)),
            format!("line 3 of bears/queries.jsonl: {expected}")
        );
    }
}

#[test]
fn errors_in_judgements_name_the_line() {
    for (line, expected) in [
        ("q1\td1\tgood", "score \"good\" is not a whole number"),
        ("q1\td1\t0.5", "score \"0.5\" is not a whole number"),
        (
            "q1\td1",
            "expected 3 columns (query-id, corpus-id, score) or 4 (query-id, 0, corpus-id, \
             score), found 2",
        ),
    ] {
        assert_eq!(
            problem(queries(QUERIES, &format!("{QRELS}{line}\n"))),
            format!("line 3 of bears/qrels.tsv: {expected}")
        );
    }
}

#[test]
fn files_that_cannot_be_read_end_the_iteration() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", CORPUS),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
    ]);
    let set = open(&folder).unwrap();
    fs::write(
        folder.join("corpus.jsonl"),
        [CORPUS.as_bytes(), b"\n\xff\n"].concat(),
    )
    .unwrap();
    let mut documents = set.documents();
    assert!(documents.next().unwrap().is_ok());
    assert_eq!(
        problem(documents.next().unwrap()),
        "could not read line 2 of bears/corpus.jsonl: stream did not contain valid UTF-8"
    );
    assert!(documents.next().is_none());

    fs::remove_file(folder.join("corpus.jsonl")).unwrap();
    let mut documents = set.documents();
    let missing = problem(documents.next().unwrap());
    assert!(
        missing.starts_with("could not read bears/corpus.jsonl: "),
        "{missing}"
    );
    assert!(documents.next().is_none());
}

#[test]
fn a_bad_line_does_not_hide_the_good_ones_after_it() {
    let (_parent, folder) = folder(&[
        ("corpus.jsonl", &format!("{{}}\n{CORPUS}\n")),
        ("queries.jsonl", QUERIES),
        ("qrels.tsv", QRELS),
    ]);
    let found: Vec<bool> = open(&folder)
        .unwrap()
        .documents()
        .map(|document| document.is_ok())
        .collect();
    assert_eq!(found, [false, true]);
}
