//! Tests floors for a handful of rows.

use std::collections::BTreeMap;

use super::super::figures::{Subject, Way};
use super::super::metrics::Metrics;
use super::*;

fn row(split: &str, mode: &str, fusion: Option<&str>, typo: bool, ndcg_at_10: f64) -> Row {
    Row {
        subject: Subject {
            name: "notes".to_owned(),
            split: split.to_owned(),
            way: Way {
                mode: mode.to_owned(),
                fusion: fusion.map(str::to_owned),
                rerank: None,
                typo,
            },
        },
        default: false,
        model: None,
        metrics: Metrics {
            queries: 1,
            ndcg_at_10,
            ..Metrics::default()
        },
        p50_ms: 0.0,
        p95_ms: 0.0,
        per_query: BTreeMap::new(),
    }
}

fn rows() -> Vec<Row> {
    vec![
        row("word", "lexical", None, true, 0.9),
        row("word", "lexical", None, false, 0.8),
        row("word", "hybrid", Some("rrf"), true, 0.7),
        row("word", "hybrid", Some("convex"), true, 0.6),
    ]
}

fn floors(text: &str) -> Result<Vec<Floor>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("floors.json");
    fs::write(&path, format!(r#"{{"floors": [{text}]}}"#)).unwrap();
    read(&path)
}

#[track_caller]
fn assert_missed(floor: &str, expected: &[&str]) {
    assert_eq!(missed(&floors(floor).unwrap(), &rows()), expected);
}

#[test]
fn every_row_a_floor_is_for_must_reach_it() {
    assert_missed(
        r#"{"split": "word", "mode": "lexical", "ndcg@10": 0.8}"#,
        &[],
    );
    assert_missed(
        r#"{"split": "word", "mode": "lexical", "ndcg@10": 0.85}"#,
        &["notes word, lexical, typos kept: nDCG@10 is 0.8000, below the floor of 0.85"],
    );
    assert_missed(
        r#"{"split": "word", "mode": "hybrid", "ndcg@10": 0.75}"#,
        &[
            "notes word, hybrid, rrf: nDCG@10 is 0.7000, below the floor of 0.75",
            "notes word, hybrid, convex: nDCG@10 is 0.6000, below the floor of 0.75",
        ],
    );
}

#[test]
fn name_fusion_and_typo_narrow_it_down() {
    for floor in [
        r#"{"split": "word", "mode": "lexical", "typo": true, "ndcg@10": 0.9}"#,
        r#"{"split": "word", "mode": "hybrid", "fusion": "rrf", "ndcg@10": 0.7}"#,
        r#"{"name": "notes", "split": "word", "mode": "lexical", "ndcg@10": 0.8}"#,
    ] {
        assert_missed(floor, &[]);
    }
}

#[test]
fn a_floor_is_for_runs_with_its_model() {
    let mut rows = rows();
    for row in &mut rows[2..] {
        row.model = Some("tiny".to_owned());
    }
    let missed = |model: &str| {
        let floor = format!(r#"{{"split": "word", "mode": "hybrid", {model} "ndcg@10": 0.65}}"#);
        missed(&floors(&floor).unwrap(), &rows)
    };
    assert_eq!(
        missed(r#""model": "tiny","#),
        ["notes word, hybrid, convex: nDCG@10 is 0.6000, below the floor of 0.65"]
    );
    assert_eq!(
        missed(r#""model": "other","#),
        ["nothing was measured for the floor word, hybrid, other"]
    );
    assert_eq!(
        missed(""),
        ["nothing was measured for the floor word, hybrid"]
    );
}

#[test]
fn words_are_the_same_with_any_model() {
    let concerns = |floor: &str, model| {
        let text = format!(r#"{{"split": "word", {floor}, "ndcg@10": 0}}"#);
        floors(&text).unwrap()[0].concerns(model)
    };
    for (floor, without, with, with_another) in [
        (r#""mode": "auto""#, true, false, false),
        (r#""mode": "lexical""#, true, true, true),
        (r#""mode": "auto", "model": "tiny""#, false, true, false),
        (r#""mode": "lexical", "model": "tiny""#, false, true, false),
    ] {
        assert_eq!(concerns(floor, None), without, "{floor}");
        assert_eq!(concerns(floor, Some("tiny")), with, "{floor}");
        assert_eq!(concerns(floor, Some("other")), with_another, "{floor}");
    }
}

#[test]
fn a_floor_without_a_row_is_missed() {
    for (floor, label) in [
        (r#""split": "typo", "mode": "lexical""#, "typo, lexical"),
        (r#""split": "word", "mode": "semantic""#, "word, semantic"),
        (
            r#""name": "other", "split": "word", "mode": "hybrid", "fusion": "rrf", "typo": false"#,
            "other, word, hybrid, rrf, typos kept",
        ),
    ] {
        let expected = format!("nothing was measured for the floor {label}");
        assert_missed(&format!(r#"{{{floor}, "ndcg@10": 0}}"#), &[&expected]);
    }
}

#[test]
fn what_holds_no_floors_is_refused() {
    for floor in [
        r#"{"split": "word", "mode": "auto"}"#,
        r#"{"split": "word", "ndcg@10": 1}"#,
        r#"{"split": "word", "mode": "auto", "ndcg@10": 1, "recall@10": 1}"#,
        r#"{"split": "word", "mode": "auto", "ndcg@10": "1"}"#,
    ] {
        let message = floors(floor).unwrap_err().to_string();
        assert!(
            message.contains("floors.json is not a file of floors: "),
            "{message}"
        );
    }
    let message = read(Path::new("nowhere.json")).unwrap_err().to_string();
    assert!(
        message.starts_with("could not read the floors nowhere.json: "),
        "{message}"
    );
}
