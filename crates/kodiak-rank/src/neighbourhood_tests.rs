use proptest::prelude::*;

use super::*;
use crate::vector::dot;

const SHARE: f64 = 0.3;

fn unit(degrees: f32) -> Vec<f32> {
    let angle = degrees.to_radians();
    vec![angle.cos(), angle.sin()]
}

/// Compares every vector with every other, by cosine.
fn nearest(vectors: &[&[f32]], k: usize) -> Vec<Vec<(usize, f64)>> {
    let others = |one: usize| {
        let others = (0..vectors.len()).filter(|&other| other != one);
        let mut others: Vec<(usize, f64)> = others
            .map(|other| (other, f64::from(dot(vectors[one], vectors[other])).max(0.0)))
            .collect();
        others.sort_by(|left, right| right.1.total_cmp(&left.1));
        others.truncate(k);
        others
    };
    (0..vectors.len()).map(others).collect()
}

fn of(scores: &[f64], vectors: &[Option<&[f32]>], k: usize) -> Neighbourhood {
    Neighbourhood::of(scores, vectors, |vectors| nearest(vectors, k))
}

fn neighbourhood(vectors: &[Vec<f32>]) -> Neighbourhood {
    let vectors: Vec<Option<&[f32]>> = vectors.iter().map(|one| Some(one.as_slice())).collect();
    of(&vec![0.0; vectors.len()], &vectors, 10)
}

fn smoothed(neighbourhood: &Neighbourhood, scores: &[f64], share: f64) -> Vec<f64> {
    let mut scores = scores.to_vec();
    neighbourhood.smooth(&mut scores, share, |_| false);
    scores
}

#[test]
fn smoothing_pulls_neighbours_towards_each_other() {
    // Two pairs, far apart. In each, one member has a score and the other none.
    let all = neighbourhood(&[unit(0.0), unit(5.0), unit(90.0), unit(95.0)]);
    let scores = smoothed(&all, &[2.0, 0.0, -2.0, 0.0], SHARE);
    assert!(scores[1] > 0.5 && scores[3] < -0.5, "{scores:?}");
    assert!(scores[0] > scores[1] && scores[2] < scores[3], "{scores:?}");
}

#[test]
fn a_hub_between_the_others_loses() {
    let all = neighbourhood(&[unit(0.0), unit(30.0), unit(60.0)]);
    let mut scores = [1.0; 3];
    all.penalise_hubs(&mut scores, 0.2);
    assert!(scores[1] < scores[0] && scores[1] < scores[2], "{scores:?}");
}

#[test]
fn a_candidate_without_a_vector_neither_changes_nor_changes_others() {
    let vector = unit(0.0);
    let vectors = [Some(vector.as_slice()), None, Some(vector.as_slice())];
    let all = of(&[0.0; 3], &vectors, 10);
    assert_eq!(smoothed(&all, &[1.0, 50.0, 1.0], SHARE), [1.0, 50.0, 1.0]);
    let mut scores = [1.0, 50.0, 1.0];
    all.penalise_hubs(&mut scores, 0.2);
    assert!((scores[1] - 50.0).abs() < 1e-9, "{scores:?}");
}

#[test]
fn a_skipped_candidate_keeps_its_score_but_changes_its_neighbours() {
    let all = neighbourhood(&[unit(0.0), unit(0.0)]);
    let mut scores = [4.0, 0.0];
    all.smooth(&mut scores, SHARE, |at| at == 0);
    assert!((scores[0] - 4.0).abs() < 1e-9, "{scores:?}");
    assert!((scores[1] - 1.2).abs() < 1e-6, "{scores:?}");
}

#[test]
fn smoothing_without_neighbours_or_share_changes_nothing() {
    let (one, other) = (unit(0.0), unit(5.0));
    let vectors = [Some(one.as_slice()), Some(other.as_slice())];
    let alone = of(&[0.0; 2], &vectors, 0);
    assert_eq!(smoothed(&alone, &[2.0, 0.0], SHARE), [2.0, 0.0]);
    let both = of(&[0.0; 2], &vectors, 10);
    assert_eq!(smoothed(&both, &[2.0, 0.0], 0.0), [2.0, 0.0]);
}

#[test]
fn only_the_best_of_many_candidates_are_compared() {
    let count = MAX_COMPARED * 2;
    let scores: Vec<f64> = (0..count).map(|at| at as f64).collect();
    let vectors = vec![Some([1.0, 0.0].as_slice()); count];
    let all = of(&scores, &vectors, 3);
    let (worse, better) = all.neighbours.split_at(MAX_COMPARED);
    assert!(worse.iter().all(Vec::is_empty));
    assert!(better.iter().all(|neighbours| neighbours.len() == 3));
}

proptest! {
    #[test]
    fn scores_stay_finite(
        vectors in prop::collection::vec(prop::collection::vec(-1.0_f32..1.0, 3), 0..40),
        best in -5.0_f64..5.0,
    ) {
        let all = neighbourhood(&vectors);
        let mut scores: Vec<f64> = (0..vectors.len()).map(|at| best - at as f64).collect();
        all.penalise_hubs(&mut scores, 0.2);
        let scores = smoothed(&all, &scores, SHARE);
        prop_assert!(scores.iter().all(|score| score.is_finite()));
    }
}
