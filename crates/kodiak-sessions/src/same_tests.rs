use proptest::prelude::*;

use super::super::judged::{self, Pair};
use super::*;

/// Returns how alike the judged lessons are by their characters.
fn judged() -> Vec<(Pair, Option<f64>)> {
    let pairs = judged::read(include_str!("judged/lessons.tsv")).into_iter();
    pairs
        .map(|pair| {
            let alike = Compared::of(pair.one).likeness(&Compared::of(pair.other));
            (pair, alike)
        })
        .collect()
}

/// Lessons that are taken for the same hide one of them, so that counts three times as
/// much as saying the same twice.
const HIDDEN: usize = 3;

#[test]
fn the_threshold_is_the_one_that_judges_best() {
    let all = judged();
    let alike: Vec<(bool, f64)> = all
        .iter()
        .map(|(pair, alike)| (pair.same, alike.unwrap_or(0.0)))
        .collect();
    let cost = |threshold: f64| judged::cost(&alike, threshold, HIDDEN);
    let best = judged::best(&alike, HIDDEN);
    assert!(
        best.contains(&ALIKE),
        "{ALIKE} costs {}, and the best are {best:?} with {}",
        cost(ALIKE),
        cost(*best.start())
    );
}

#[test]
fn what_was_judged_different_stays_apart() {
    for (pair, _) in judged() {
        let together = groups(&[pair.one, pair.other], None).len() == 1;
        // A stop word that is a subject here, which only a model can tell.
        let known = pair.one.contains("mobile app");
        assert!(pair.same || !together || known, "{pair:?}");
    }
    let found = judged()
        .into_iter()
        .filter(|(pair, alike)| pair.same && alike.is_some_and(|alike| alike >= ALIKE));
    let found = found.count();
    // The other pairs have no words in common, or too few.
    assert!(found >= 26, "only {found} of 32 are found");
}

#[test]
fn wordings_of_one_lesson_are_one_group() {
    let texts = [
        "Redis MULTI/EXEC is essential for atomic increment + expire operations",
        "Load testing should simulate burst patterns",
        "redis multi/exec is essential for atomic increment and expire operations.",
        "Redis MULTI/EXEC is not essential for atomic increment + expire operations",
        "Load tests should simulate burst patterns",
        "Set a limit of 100 requests per minute",
        "Set a limit of 200 requests per minute",
    ];
    let expected = [vec![0, 2], vec![1, 4], vec![3], vec![5], vec![6]];
    assert_eq!(groups(&texts, None), expected);
}

#[test]
fn vectors_group_what_words_do_not() {
    let texts = [
        "Cache invalidation needs an owner",
        "Somebody has to be responsible for expiring entries",
        "Nobody should be responsible, not even for expiring entries",
        "Write tests first",
    ];
    let near = vec![0.99, 0.141_067_36];
    let vectors = Vectors {
        vectors: vec![
            Some(vec![1.0, 0.0]),
            Some(near.clone()),
            Some(near),
            Some(vec![0.0, 1.0]),
        ],
        minimum: 0.15,
    };
    let expected = [vec![0, 1], vec![2], vec![3]];
    assert_eq!(groups(&texts, Some(&vectors)), expected);
    assert_eq!(groups(&texts, None).len(), 4);
}

proptest! {
    #[test]
    fn every_statement_is_in_one_group(texts in proptest::collection::vec("[a-c ]{0,12}", 0..20)) {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut all: Vec<usize> = groups(&texts, None).concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..texts.len()).collect::<Vec<_>>());
    }
}

/// Vectors of a real model find what words do not, and must hide nothing.
#[test]
#[ignore = "needs the real model, which KODIAK_TEST_MODEL names"]
fn close_vectors_say_the_same() {
    use kodiak::embed::{Embedder, OnnxEmbedder, Role};
    let folder = std::env::var_os("KODIAK_TEST_MODEL").expect("KODIAK_TEST_MODEL is set");
    let place = tempfile::tempdir().unwrap();
    let model = kodiak::model::install_from_folder(folder.as_ref(), None, place.path()).unwrap();
    let model = OnnxEmbedder::new(model);
    let embed = |text: &str| model.embed_one(text, Role::Document).unwrap();
    let unrelated = 1.0 - model.minimum_similarity();
    let apart = |pair: &Pair| {
        let (one, other) = (Compared::of(pair.one), Compared::of(pair.other));
        let reworded = one.shares_most_with(&other) && one.replaces_in(&other);
        let apart = (1.0 - dot(&embed(pair.one), &embed(pair.other))) / unrelated;
        let comparable = one.decisive.agrees_with(&other.decisive) && !reworded;
        if comparable { apart } else { 1.0 }
    };
    let pairs = judged().into_iter();
    let close: Vec<(bool, f64)> = pairs
        .map(|(pair, _)| (pair.same, f64::from(1.0 - apart(&pair))))
        .collect();
    let cost = |limit: f64| judged::cost(&close, 1.0 - limit, HIDDEN);
    let costs: Vec<(f64, usize)> = (1..=40)
        .map(|step| f64::from(step) / 100.0)
        .map(|limit| (limit, cost(limit)))
        .collect();
    let least = costs.iter().map(|(_, cost)| *cost).min().unwrap();
    assert_eq!(cost(f64::from(CLOSE)), least, "{costs:?}");
}
