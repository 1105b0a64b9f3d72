//! Tests that no row within the limit is ruled out.

use proptest::prelude::*;

use super::super::kernel::Kernel;
use super::super::quantise::{ROW_TOP, quantise};
use super::*;

/// Returns a vector as a row of the matrix, and its scale.
fn row(vector: &[f32]) -> (Vec<i8>, f32) {
    let mut values = Vec::new();
    let scale = quantise(vector, ROW_TOP, &mut values);
    (values.iter().map(|&value| value as i8).collect(), scale)
}

/// Reports whether the code of a vector may be within the limit.
fn admitted(vector: &[f32], query: &QuantizedQuery, limit: PruningBound) -> bool {
    let (row, _) = row(vector);
    let (mut code, mut residual) = (Vec::new(), Vec::new());
    split(&row, &mut code, &mut residual);
    let fit = ErrorBound::of(&row).encode();
    Kernel::portable().prefilter(&code, &[fit], query, limit) == 1
}

/// Returns the similarity of a vector and a query as the scan computes it.
fn similarity(vector: &[f32], query: &QuantizedQuery) -> f32 {
    let (row, scale) = row(vector);
    let (mut code, mut residual) = (Vec::new(), Vec::new());
    split(&row, &mut code, &mut residual);
    Kernel::portable().product(&code, &residual, query) as f32 * scale * query.scale
}

/// Returns vectors of several kinds: evenly distributed, nearly zero except for
/// a few components, and with few distinct components.
fn vector(dimensions: usize) -> impl Strategy<Value = Vec<f32>> {
    let skewed = prop_oneof![8 => -0.05_f32..0.05, 1 => -1.0_f32..1.0, 4 => Just(0.0)];
    prop_oneof![
        prop::collection::vec(-1.0_f32..1.0, dimensions),
        prop::collection::vec(skewed, dimensions),
        prop::collection::vec((-1_i8..=1).prop_map(f32::from), dimensions),
        prop::collection::vec(0.0_f32..1.0, dimensions),
    ]
}

proptest! {
    #[test]
    fn the_halves_make_the_row_again(row in prop::collection::vec(any::<i8>(), 0..300)) {
        let (mut code, mut residual) = (Vec::new(), Vec::new());
        split(&row, &mut code, &mut residual);
        prop_assert_eq!(code.len(), stride(row.len()));
        prop_assert_eq!(residual.len(), stride(row.len()));
        let mut joined = vec![0; 2 * code.len()];
        for (at, (&code, &residual)) in code.iter().zip(&residual).enumerate() {
            let low = at / APART * 2 * APART + at % APART;
            (joined[low], joined[low + APART]) = join(code, residual);
        }
        prop_assert_eq!(&joined[..row.len()], &row);
        prop_assert!(joined[row.len()..].iter().all(|&padding| padding == 0));
    }

    #[test]
    fn a_row_is_always_within_the_limit_of_its_own_similarity(
        (left, right, part) in (0_usize..300)
            .prop_flat_map(|dimensions| (vector(dimensions), vector(dimensions), 0.0_f32..1.0)),
    ) {
        // From far apart to identical.
        let mixed: Vec<f32> = left
            .iter()
            .zip(&right)
            .map(|(left, right)| left * part + right * (1.0 - part))
            .collect();
        for query in [&left, &mixed, &right] {
            let query = QuantizedQuery::new(query);
            let limit = PruningBound::new(&query, similarity(&right, &query));
            prop_assert!(admitted(&right, &query, limit));
        }
    }
}

/// The error of a coarse code, used as a query, is the worst case: the code is
/// at a right angle to what brings the row nearer.
#[test]
fn what_a_coarse_code_lost_is_not_forgotten() {
    for dimensions in [1, 2, 7, 64, 384, 1000] {
        let vector: Vec<f32> = (0..dimensions).map(|at| (at as f32 * 1.7).sin()).collect();
        let (row, _) = row(&vector);
        let lost = |&component: &i8| f32::from(byte(component) & 0x0F) - 7.5;
        for share in [0.0, 0.1, 0.5, 1.0, 3.0, 100.0] {
            let query: Vec<f32> = row
                .iter()
                .map(|component| f32::from(*component) + share * lost(component))
                .collect();
            let query = QuantizedQuery::new(&query);
            let limit = PruningBound::new(&query, similarity(&vector, &query));
            assert!(admitted(&vector, &query, limit), "{dimensions} {share}");
        }
    }
}

#[test]
fn what_is_far_is_ruled_out() {
    let wave = |step: f32| -> Vec<f32> { (0..384).map(|at| (at as f32 * step).sin()).collect() };
    let query = QuantizedQuery::new(&wave(0.7));
    assert!(!admitted(
        &wave(1.1),
        &query,
        PruningBound::new(&query, 0.2)
    ));
    assert!(admitted(
        &wave(0.7),
        &query,
        PruningBound::new(&query, 0.99)
    ));
    assert!(!admitted(
        &[0.0; 384],
        &query,
        PruningBound::new(&query, 0.2)
    ));
    // Nothing is ruled out if any similarity will do, or if the query has no
    // direction.
    assert!(admitted(
        &wave(1.1),
        &query,
        PruningBound::new(&query, f32::NEG_INFINITY)
    ));
    let nothing = QuantizedQuery::new(&[0.0; 384]);
    assert!(admitted(
        &wave(1.1),
        &nothing,
        PruningBound::new(&nothing, 0.0)
    ));
}

#[test]
fn a_damaged_error_bound_rules_nothing_out() {
    let query = QuantizedQuery::new(&[1.0, 0.5]);
    let fit = ErrorBound::decode([[0xFF; 4]; 2]);
    assert!(PruningBound::new(&query, 0.9).admits(0, fit));
}

#[test]
fn an_error_bound_is_read_as_it_was_written() {
    let fit = ErrorBound::of(&[127, -3, 40]);
    assert_eq!(ErrorBound::decode(fit.encode()), fit);
    assert!(fit.factor > 0.0 && fit.tangent > 0.0);
    let nothing = ErrorBound::of(&[0, 0]);
    assert_eq!((nothing.factor, nothing.tangent), (0.0, 0.0));
}
