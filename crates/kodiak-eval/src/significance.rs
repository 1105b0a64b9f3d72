//! Tests whether the difference between two runs is more than chance.
//!
//! This is the paired randomisation test. If the two ways of searching were
//! equally good, each query's difference might as well have the opposite sign.
//! The p value is how often random signs give a sum at least as far from zero as
//! the observed one. The test assumes nothing about the distribution of scores.

use fastrand::Rng;

/// The maximum number of differences for which all sums are enumerated: there
/// are only 16,384 of them.
const MAX_ENUMERATED: usize = 14;

/// The number of random draws of signs where there are more differences.
const ROUNDS: u32 = 10_000;

/// The seed of the random signs, fixed so that the same figures give the same p.
const SEED: u64 = 0x6b6f_6469_616b;

/// Returns the probability of a sum at least this far from zero if the signs
/// were random. To test a weighted sum, pass weighted differences. The result is
/// never zero, and one if nothing differs.
pub(super) fn p_value(differences: &[f64]) -> f64 {
    let differences: Vec<f64> = differences
        .iter()
        .copied()
        .filter(|&difference| difference != 0.0)
        .collect();
    let observed = differences.iter().sum::<f64>().abs();
    // Rounding makes equal sums differ a little with other signs.
    let reach: f64 = differences.iter().map(|difference| difference.abs()).sum();
    let enough = observed - reach * 1e-9;
    if differences.len() <= MAX_ENUMERATED {
        let count = 1_u64 << differences.len();
        let extreme = (0..count).filter(|&signs| signed_sum(&differences, || signs) >= enough);
        return extreme.count() as f64 / count as f64;
    }
    let mut random = Rng::with_seed(SEED);
    let extreme = (0..ROUNDS)
        .filter(|_| signed_sum(&differences, || random.u64(..)) >= enough)
        .count();
    // The observed signs are one of the possible draws, so p is never zero.
    (extreme as f64 + 1.0) / (f64::from(ROUNDS) + 1.0)
}

/// Returns the absolute sum after each difference whose bit is set changes its
/// sign. Calls `bits` once for every 64 differences.
fn signed_sum(differences: &[f64], mut bits: impl FnMut() -> u64) -> f64 {
    let mut sum = 0.0;
    for some in differences.chunks(64) {
        let bits = bits();
        for (place, difference) in some.iter().enumerate() {
            let changed = bits >> place & 1 == 1;
            sum += if changed { -difference } else { *difference };
        }
    }
    sum.abs()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn assert_p(differences: &[f64], expected: f64) {
        let found = p_value(differences);
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn nothing_differs() {
        assert_p(&[], 1.0);
        assert_p(&[0.0; 100], 1.0);
    }

    #[test]
    fn few_differences_are_enumerated() {
        // Only all signs alike reach as far: 2 of 2 to the 5.
        assert_p(&[0.1; 5], 2.0 / 32.0);
        assert_p(&[-0.1; 5], 2.0 / 32.0);
        // Equal queries say nothing.
        assert_p(&[0.1, 0.0, 0.1, 0.1, 0.0, 0.1, 0.1], 2.0 / 32.0);
        // Four up, one down, sum 0.3: reached by none or one of five changed, on
        // either side: 2 * (1 + 5).
        assert_p(&[0.1, 0.1, -0.1, 0.1, 0.1], 12.0 / 32.0);
        // Of the sums ±0.3 ± 0.1 half reach 0.4.
        assert_p(&[0.3, 0.1], 0.5);
        // The sum is zero, which every draw reaches.
        assert_p(&[0.2, -0.2], 1.0);
        assert_p(&[0.5], 1.0);
        // The largest number of differences that is enumerated.
        assert_p(&[0.7; 14], 2.0 / 16_384.0);
    }

    #[test]
    fn sums_that_differ_by_rounding_are_the_same() {
        // 0.1 + 0.2 is not 0.3 in binary, so the observed zero comes out as
        // 5.6e-17. Every draw must reach it all the same.
        assert_p(&[0.1, 0.2, -0.3], 1.0);
        // Only ±0.6 reaches 0.6, whichever way it is added up.
        assert_p(&[0.1, 0.2, 0.3], 2.0 / 8.0);
    }

    #[test]
    fn many_differences_are_sampled() {
        // If no draw reaches as far, p is one in 10,001.
        assert_p(&[0.1; 100], 1.0 / 10_001.0);
        // More than 64, so that a second word of bits is used. With half of the
        // differences up and half down, every draw reaches the sum.
        let balanced: Vec<f64> = (0..200).map(|n| [0.1, -0.1][n % 2]).collect();
        assert_p(&balanced, 1.0);
        // Sixteen of twenty up: the sign test gives 2 * (1 + 20 + 190 + 1140 +
        // 4845) / 2^20 = 0.01182.
        let most: Vec<f64> = (0..20).map(|n| if n < 16 { 0.1 } else { -0.1 }).collect();
        let found = p_value(&most);
        assert!((found - 0.011_82).abs() < 0.004, "{found}");
    }

    #[test]
    fn the_same_differences_always_give_the_same_p() {
        let differences: Vec<f64> = (0..100)
            .map(|n| f64::from(n * 37 % 101) / 100.0 - 0.45)
            .collect();
        // The sum 4.86 is 1.638 standard deviations from zero, which the normal
        // distribution exceeds with a probability of 0.101. The exact value
        // depends on the seed, which must stay fixed for runs to be repeatable.
        assert_p(&differences, 1_033.0 / 10_001.0);
    }

    proptest! {
        // Drawing signs takes a while without optimisation.
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn sides_can_be_swapped(differences in prop::collection::vec(-1.0..1.0_f64, 0..40)) {
            let swapped: Vec<f64> = differences.iter().map(|difference| -difference).collect();
            let p = p_value(&differences);
            prop_assert!(p > 0.0 && p <= 1.0);
            prop_assert!((p - p_value(&swapped)).abs() < 1e-12);
        }

        /// Only the proportions of the differences count, not their unit.
        #[test]
        fn scaling_changes_nothing(
            differences in prop::collection::vec(-10_000..10_000_i32, 0..30),
            power in 0..6_i32,
        ) {
            let scaled = |factor: f64| -> Vec<f64> {
                differences.iter().map(|&units| f64::from(units) * factor).collect()
            };
            let p = p_value(&scaled(1.0));
            prop_assert!((p - p_value(&scaled(2.0_f64.powi(power)))).abs() < 1e-12);
        }
    }
}
