//! Tests comparisons of invented runs, with changes computed by hand.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::metrics::Metrics;
use super::*;

/// A row of this run; its means are not looked at.
fn row(split: &str, mode: &str, fusion: Option<&str>, scores: &[f64]) -> Row {
    Row {
        subject: Subject {
            name: "set".to_owned(),
            split: split.to_owned(),
            way: Way {
                mode: mode.to_owned(),
                fusion: fusion.map(str::to_owned),
                rerank: None,
                typo: true,
            },
        },
        model: None,
        default: mode == "auto",
        metrics: Metrics::default(),
        p50_ms: 0.0,
        p95_ms: 0.0,
        per_query: (1..)
            .map(|n| format!("q{n:03}"))
            .zip(scores.iter().copied())
            .collect(),
    }
}

/// The same rows as a later run reads them.
fn printed(rows: &[Row]) -> Baseline {
    let json = serde_json::to_string(&json!({ "sets": rows })).unwrap();
    serde_json::from_str(&json).unwrap()
}

fn changed(before: &[f64], now: &[f64]) -> Change {
    let before = printed(&[row("test", "auto", None, before)]);
    let report = compare(&[row("test", "auto", None, now)], &before);
    assert!(report.notices.is_empty());
    report.rows[0].change.clone()
}

#[test]
fn the_same_run_again() {
    let scores = [0.5, 0.6309, 1.0, 0.0];
    let expected = Change {
        queries: 4,
        baseline: 0.5327,
        now: 0.5327,
        difference: 0.0,
        better: 0,
        worse: 0,
        equal: 4,
        p: 1.0,
        significant: false,
    };
    assert_eq!(changed(&scores, &scores), expected);
}

#[test]
fn better_and_worse_queries() {
    // Five of five better by the same: 2 of 2 to the 5 throws.
    let change = changed(&[0.5; 5], &[0.6; 5]);
    assert_eq!((change.better, change.worse, change.equal), (5, 0, 0));
    assert_eq!((change.baseline, change.now), (0.5, 0.6));
    assert_eq!((change.difference, change.p), (0.1, 0.0625));
    assert!(!change.significant);
    // A sixth makes it 2 of 64, which is unlikely enough.
    let change = changed(&[0.5; 6], &[0.4; 6]);
    assert_eq!((change.better, change.worse), (0, 6));
    assert_eq!((change.difference, change.p), (-0.1, 0.0313));
    assert!(change.significant);
    // One up by 0.5, one down by 0.25, one as it was: all of ±0.5 ± 0.25 are at
    // least 0.25 from zero.
    let change = changed(&[0.5, 0.5, 0.5], &[1.0, 0.25, 0.5]);
    assert_eq!((change.better, change.worse, change.equal), (1, 1, 1));
    assert_eq!((change.difference, change.p), (0.0833, 1.0));
}

#[test]
fn each_row_counts_the_same_in_the_mean() {
    // One split loses 0.1 on its only query, the other gains 0.4 on each of four:
    // (-0.1 + 0.4) / 2. Weighed, the five queries differ by the same, and four up
    // and one down is reached by 2 * (1 + 5) of 32 throws. Unweighed it would be 4.
    let before = [
        row("one", "auto", None, &[0.5]),
        row("other", "auto", None, &[0.5; 4]),
        row("other", "like", None, &[0.1; 4]),
    ];
    let now = [
        row("one", "auto", None, &[0.4]),
        row("other", "auto", None, &[0.9; 4]),
        row("other", "like", None, &[0.9; 4]),
    ];
    let report = compare(&now, &printed(&before));
    assert_eq!(report.rows.len(), 3);
    // Of a way of searching with one row there is no mean.
    let [mean] = &report.means[..] else {
        panic!("{:?}", report.means)
    };
    assert_eq!((mean.way.mode.as_str(), mean.default), ("auto", true));
    assert_eq!((mean.rows, mean.change.queries), (2, 5));
    assert_eq!((mean.change.baseline, mean.change.now), (0.5, 0.65));
    assert_eq!((mean.change.better, mean.change.worse), (4, 1));
    assert_eq!((mean.change.difference, mean.change.p), (0.15, 0.375));
}

#[test]
fn rows_are_compared_with_those_searched_alike() {
    let before = [
        row("test", "hybrid", Some("rrf"), &[0.1]),
        row("test", "hybrid", Some("convex"), &[0.2]),
        row("test", "like", None, &[0.3]),
        row("test", "auto", None, &[0.4]),
    ];
    let now = [
        // What a user gets is compared though it is found in another way.
        row("test", "auto", Some("convex"), &[0.5]),
        row("test", "hybrid", Some("convex"), &[0.6]),
        row("test", "semantic", None, &[0.7]),
        row("dev", "auto", Some("convex"), &[0.8]),
    ];
    let report = compare(&now, &printed(&before));
    let found: Vec<(&str, f64, f64)> = report
        .rows
        .iter()
        .map(|row| {
            (
                row.subject.way.mode.as_str(),
                row.change.baseline,
                row.change.now,
            )
        })
        .collect();
    assert_eq!(found, [("auto", 0.4, 0.5), ("hybrid", 0.2, 0.6)]);
    assert!(report.means.is_empty());
    assert_eq!(
        report.notices,
        [
            "only in this run: set test, semantic; set dev, auto, convex",
            "only in the baseline: set test, hybrid, rrf; set test, like",
        ]
    );
}

#[test]
fn queries_that_one_side_has_are_named_and_left_out() {
    let mut before = [
        row("test", "auto", None, &[0.5; 9]),
        row("test", "like", None, &[0.5; 9]),
    ];
    for row in &mut before {
        row.per_query.insert("gone".to_owned(), 1.0);
        row.per_query.remove("q009");
    }
    let now = [
        row("test", "auto", None, &[0.25; 16]),
        row("test", "like", None, &[0.25; 16]),
    ];
    let report = compare(&now, &printed(&before));
    let change = &report.rows[0].change;
    assert_eq!((change.queries, change.worse), (8, 8));
    assert_eq!((change.baseline, change.now), (0.5, 0.25));
    assert_eq!(
        report.notices,
        [
            "queries of set test only in this run: q009; q010; q011; q012; q013; and 3 more",
            "queries of set test only in the baseline: gone",
        ]
    );
}

#[test]
fn runs_without_a_query_in_common() {
    let mut before = row("test", "auto", None, &[0.5]);
    before.per_query = [("other".to_owned(), 0.5)].into();
    let report = compare(&[row("test", "auto", None, &[0.5])], &printed(&[before]));
    assert!(report.rows.is_empty() && report.means.is_empty());
    assert_eq!(report.notices.len(), 2);
}

#[test]
fn a_row_keeps_its_shape() {
    let printed = serde_json::to_value(row("test", "auto", None, &[0.5])).unwrap();
    let Value::Object(fields) = printed else {
        panic!("{printed}")
    };
    for field in [
        "name",
        "split",
        "mode",
        "fusion",
        "rerank",
        "typo",
        "default",
        "queries",
        "ndcg@10",
        "recall@10",
        "recall@100",
        "mrr@10",
        "p50_ms",
        "p95_ms",
        "per_query",
    ] {
        assert!(fields.contains_key(field), "{field}");
    }
}

#[test]
fn what_is_no_baseline_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("before.json");
    for text in [
        "",
        "[]",
        r#"{"hits": []}"#,
        r#"{"sets": [{"name": "set", "split": "test", "mode": "auto", "typo": true}]}"#,
    ] {
        fs::write(&path, text).unwrap();
        let message = read(&path).unwrap_err().to_string();
        assert!(
            message.contains("before.json is not a baseline: "),
            "{message}"
        );
    }
    let message = read(&folder.path().join("none")).unwrap_err().to_string();
    assert!(
        message.starts_with("could not read the baseline "),
        "{message}"
    );
}

/// Scores as they are printed.
fn any_scores() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let score = || (0..=10_000_u32).prop_map(|units| f64::from(units) / 10_000.0);
    prop::collection::vec((score(), score()), 1..40)
}

proptest! {
    // Throwing signs takes a while without optimisation.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn swapping_the_runs_swaps_the_change(scores in any_scores()) {
        let (before, now): (Vec<f64>, Vec<f64>) = scores.into_iter().unzip();
        let there = changed(&before, &now);
        let back = changed(&now, &before);
        prop_assert!((there.p - back.p).abs() < 1e-9);
        prop_assert!((there.difference + back.difference).abs() < 1e-9);
        prop_assert_eq!((there.baseline, there.now), (back.now, back.baseline));
        prop_assert_eq!((there.better, there.worse, there.equal), (back.worse, back.better, back.equal));
        prop_assert_eq!(there.better + there.worse + there.equal, before.len());
    }

    #[test]
    fn in_a_mean_of_equal_rows_the_rows_change_nothing(scores in any_scores(), rows in 1..4_usize) {
        let pairs: Vec<Pair> = scores.iter().map(|&(before, now)| Pair { before, now }).collect();
        let one = Change::over(&[&pairs]);
        let several = Change::over(&vec![pairs.as_slice(); rows]);
        prop_assert!((one.now - several.now).abs() < 2e-4);
        prop_assert!((one.baseline - several.baseline).abs() < 2e-4);
        prop_assert_eq!(several.queries, pairs.len() * rows);
        prop_assert_eq!(several.better, one.better * rows);
    }
}
