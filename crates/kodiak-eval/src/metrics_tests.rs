//! Tests cases computed by hand, and properties of every ranking.

use proptest::prelude::*;

use super::*;

fn judgements(grades: &[(&str, i32)]) -> Judgements {
    grades
        .iter()
        .map(|&(document, grade)| (document.to_owned(), grade))
        .collect()
}

#[track_caller]
fn assert_close(actual: f64, expected: f64) {
    assert!(
        (actual - expected).abs() < 1e-6,
        "{actual} is not {expected}"
    );
}

#[test]
fn graded_relevance() {
    let judged = judgements(&[("a", 3), ("b", 2), ("c", 1), ("d", 0)]);
    let ranked = ["b", "unjudged", "a", "d", "c"];
    // Gain:  2/log2(2) + 3/log2(4) + 1/log2(6) = 2 + 1.5      + 0.386853 = 3.886853
    // Ideal: 3/log2(2) + 2/log2(3) + 1/log2(4) = 3 + 1.261860 + 0.5      = 4.761860
    assert_close(ndcg(&ranked, &judged, 10), 3.886_853 / 4.761_860);
    // Cut at 2: gain 2, ideal 3 + 1.261860.
    assert_close(ndcg(&ranked, &judged, 2), 2.0 / 4.261_860);
    // Grades do not matter to the others: a and b of a, b, c are in the first 3.
    assert_close(recall(&ranked, &judged, 3), 2.0 / 3.0);
    assert_close(recall(&ranked, &judged, 10), 1.0);
    assert_close(reciprocal_rank(&ranked, &judged, 10), 1.0);
}

#[test]
fn negative_grades_are_irrelevant() {
    let judged = judgements(&[("a", 1), ("spam", -2)]);
    // The gain of spam is 0, not -2: 1/log2(3) = 0.630930 of an ideal 1.
    assert_close(ndcg(&["spam", "a"], &judged, 10), 0.630_930);
    assert_close(recall(&["spam"], &judged, 10), 0.0);
    assert_close(reciprocal_rank(&["spam", "a"], &judged, 10), 0.5);
}

#[test]
fn more_relevant_documents_than_places() {
    let judged = judgements(&[("a", 1), ("b", 1), ("c", 1)]);
    // Two places, both filled well: as good as two places can be, yet a third of
    // the relevant documents is missing.
    assert_close(ndcg(&["c", "a"], &judged, 2), 1.0);
    assert_close(recall(&["c", "a"], &judged, 2), 2.0 / 3.0);
    // The ideal takes the best grades of all judged documents, found or not:
    // 1/log2(2) of 3/log2(2).
    let judged = judgements(&[("a", 1), ("b", 3)]);
    assert_close(ndcg(&["a"], &judged, 1), 1.0 / 3.0);
}

#[test]
fn the_cut_is_inclusive() {
    let judged = judgements(&[("a", 1)]);
    let ranked = ["x", "y", "a"];
    // Rank 3: 1/log2(4) = 0.5.
    assert_close(ndcg(&ranked, &judged, 3), 0.5);
    assert_close(recall(&ranked, &judged, 3), 1.0);
    assert_close(reciprocal_rank(&ranked, &judged, 3), 1.0 / 3.0);
    assert_close(ndcg(&ranked, &judged, 2), 0.0);
    assert_close(recall(&ranked, &judged, 2), 0.0);
    assert_close(reciprocal_rank(&ranked, &judged, 2), 0.0);
}

#[test]
fn no_hits_is_zero_without_a_sign() {
    let judged = judgements(&[("a", 1)]);
    for ranked in [&["x", "y"][..], &[]] {
        for value in [
            ndcg(ranked, &judged, 10),
            recall(ranked, &judged, 10),
            reciprocal_rank(ranked, &judged, 10),
        ] {
            assert_eq!(format!("{value:.1}"), "0.0");
        }
    }
    assert_close(ndcg(&["a"], &judged, 0), 0.0);
}

#[test]
fn a_repeated_document_counts_once_and_keeps_its_place() {
    let judged = judgements(&[("a", 1), ("b", 1)]);
    let ranked = ["a", "a", "b"];
    // Gain:  1/log2(2) + 0 + 1/log2(4) = 1.5
    // Ideal: 1/log2(2) + 1/log2(3)     = 1.630930
    assert_close(ndcg(&ranked, &judged, 10), 1.5 / 1.630_930);
    assert_close(recall(&ranked, &judged, 2), 0.5);
    assert_close(recall(&ranked, &judged, 3), 1.0);
    assert_close(reciprocal_rank(&["x", "x", "a"], &judged, 10), 1.0 / 3.0);
}

#[test]
fn queries_without_a_relevant_document_are_recognised() {
    assert!(has_relevant(&judgements(&[("a", 0), ("b", 1)])));
    assert!(!has_relevant(&judgements(&[("a", 0), ("b", -1)])));
    assert!(!has_relevant(&judgements(&[])));
    assert_close(ndcg(&["a"], &judgements(&[("a", 0)]), 10), 0.0);
    assert_close(recall(&["a"], &judgements(&[("a", 0)]), 10), 0.0);
}

#[test]
fn percentiles_by_nearest_rank() {
    let milliseconds =
        |count: u64| -> Vec<Duration> { (1..=count).map(Duration::from_millis).collect() };
    for (count, percent, expected) in [
        // Nothing measured.
        (0, 50, 0),
        (0, 95, 0),
        // The only value is every percentile.
        (1, 50, 1),
        (1, 95, 1),
        // ceil(0.5 * 2) = 1, ceil(0.95 * 2) = 2.
        (2, 50, 1),
        (2, 95, 2),
        // ceil(0.5 * 3) = 2.
        (3, 50, 2),
        // Exactly 19 of 20, one more of 21: ceil(19.95) = 20.
        (20, 95, 19),
        (21, 95, 20),
        (100, 50, 50),
        (100, 95, 95),
    ] {
        assert_eq!(
            percentile(&milliseconds(count), percent),
            Duration::from_millis(expected),
            "percentile {percent} of {count}"
        );
    }
}

#[test]
fn an_empty_tally_is_all_zero() {
    let summary = Tally::default().summary();
    let zero = Summary {
        metrics: Metrics::default(),
        p50_ms: 0.0,
        p95_ms: 0.0,
    };
    assert_eq!(summary, zero);
    assert!(summary.metrics.ndcg_at_10.is_sign_positive());
}

#[test]
fn a_tally_takes_the_mean_over_queries() {
    let mut tally = Tally::default();
    // Slower first: the percentiles must not depend on the order.
    let first = judgements(&[("a", 1)]);
    tally.add(&["a"], &first, Duration::from_micros(4500));
    // Ten others come first, so b at rank 11 counts for recall@100 alone, and c is
    // never found.
    let second = judgements(&[("b", 1), ("c", 1)]);
    let ranked = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "b"];
    tally.add(&ranked, &second, Duration::from_micros(1500));

    assert_eq!(tally.per_query, [1.0, 0.0]);
    let summary = tally.summary();
    let metrics = summary.metrics;
    assert_eq!(metrics.queries, 2);
    assert_close(metrics.ndcg_at_10, 0.5);
    assert_close(metrics.recall_at_10, 0.5);
    // (1 + 1/2) / 2
    assert_close(metrics.recall_at_100, 0.75);
    assert_close(metrics.mrr_at_10, 0.5);
    assert_close(summary.p50_ms, 1.5);
    assert_close(summary.p95_ms, 4.5);
}

/// More documents than are judged, so that rankings hold unjudged ones too.
const DOCUMENTS: usize = 16;

fn name(document: usize) -> String {
    format!("d{document}")
}

/// Judgements of the first few documents, with grades in the given range.
fn any_judgements(grades: std::ops::RangeInclusive<i32>) -> impl Strategy<Value = Judgements> {
    prop::collection::vec(grades, 0..12).prop_map(|grades| (0..).map(name).zip(grades).collect())
}

fn any_ranking() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec((0..DOCUMENTS).prop_map(name), 0..30)
}

/// Every document once, and two places of which the first is higher up.
fn any_move() -> impl Strategy<Value = (Vec<String>, usize, usize)> {
    let documents: Vec<String> = (0..DOCUMENTS).map(name).collect();
    let places = (1..DOCUMENTS).prop_flat_map(|from| (0..from, Just(from)));
    (Just(documents).prop_shuffle(), places).prop_map(|(ranked, (to, from))| (ranked, to, from))
}

fn borrowed(ranked: &[String]) -> Vec<&str> {
    ranked.iter().map(String::as_str).collect()
}

proptest! {
    #[test]
    fn measures_stay_within_zero_and_one(
        ranked in any_ranking(),
        judged in any_judgements(-2..=4),
        k in 0usize..20,
    ) {
        let ranked = borrowed(&ranked);
        for value in [
            ndcg(&ranked, &judged, k),
            recall(&ranked, &judged, k),
            reciprocal_rank(&ranked, &judged, k),
        ] {
            prop_assert!((0.0..=1.0).contains(&value), "{value}");
        }
    }

    #[test]
    fn the_ideal_ranking_scores_one(judged in any_judgements(-2..=4), k in 1usize..20) {
        prop_assume!(has_relevant(&judged));
        let mut ranked: Vec<&str> = judged.keys().map(String::as_str).collect();
        ranked.sort_by_key(|&document| -judged[document]);
        prop_assert!((ndcg(&ranked, &judged, k) - 1.0).abs() < 1e-12);
        prop_assert!((reciprocal_rank(&ranked, &judged, k) - 1.0).abs() < 1e-12);
    }

    /// Those it overtakes each fall back one place.
    #[test]
    fn moving_a_relevant_document_up_is_never_worse(
        (ranked, to, from) in any_move(),
        mut judged in any_judgements(0..=1),
        k in 1usize..20,
    ) {
        judged.insert(ranked[from].clone(), 1);
        let before = borrowed(&ranked);
        let mut after = before.clone();
        after[to..=from].rotate_right(1);
        prop_assert!(ndcg(&after, &judged, k) >= ndcg(&before, &judged, k) - 1e-12);
        prop_assert!(
            reciprocal_rank(&after, &judged, k) >= reciprocal_rank(&before, &judged, k)
        );
    }

    /// With grades, overtaking a better document does cost something, so this one
    /// changes places with one that is no better.
    #[test]
    fn changing_places_with_a_lesser_document_is_never_worse(
        (ranked, to, from) in any_move(),
        mut judged in any_judgements(-2..=4),
        k in 1usize..20,
    ) {
        let grade = judged.get(&ranked[to]).copied().unwrap_or(0).max(1);
        let better = judged.entry(ranked[from].clone()).or_insert(grade);
        *better = grade.max(*better);
        let before = borrowed(&ranked);
        let mut after = before.clone();
        after.swap(to, from);
        prop_assert!(ndcg(&after, &judged, k) >= ndcg(&before, &judged, k) - 1e-12);
        prop_assert!(
            reciprocal_rank(&after, &judged, k) >= reciprocal_rank(&before, &judged, k)
        );
    }
}
