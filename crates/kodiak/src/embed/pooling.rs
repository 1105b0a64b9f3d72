//! From a model's output to one vector of length one.
//!
//! Where the output comes from is `graph`'s.

use super::Pooling;
use crate::vector::dot;

/// What a model gave for one text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Output {
    /// A vector for each token, one after the other.
    Tokens {
        /// All their numbers.
        values: Vec<f32>,
        /// How long each is.
        width: usize,
    },
    /// A vector for the whole text: the model pools by itself.
    Text(Vec<f32>),
}

/// The text's vector, `dimensions` long. Tokens that the mask has as 0 do not
/// count. A vector without direction stays all zeros.
pub(super) fn pool(
    output: Output,
    mask: &[u32],
    pooling: Pooling,
    dimensions: usize,
) -> Result<Vec<f32>, String> {
    let mut vector = match output {
        Output::Text(values) => values,
        Output::Tokens { values, width } if width == dimensions => match pooling {
            Pooling::Mean => mean(&values, mask, width),
            Pooling::Cls => values.get(..width).unwrap_or_default().to_vec(),
        },
        Output::Tokens { width, .. } => return Err(wrong_length(width, dimensions)),
    };
    if vector.len() != dimensions {
        return Err(wrong_length(vector.len(), dimensions));
    }
    normalise(&mut vector)?;
    Ok(vector)
}

fn wrong_length(found: usize, expected: usize) -> String {
    format!("its vectors have {found} numbers instead of {expected}")
}

/// The mean of the tokens that count.
fn mean(values: &[f32], mask: &[u32], width: usize) -> Vec<f32> {
    let mut sum = vec![0.0; width];
    let mut count = 0.0_f32;
    let tokens = values.chunks_exact(width.max(1)).zip(mask);
    for (token, _) in tokens.filter(|&(_, &mask)| mask != 0) {
        count += 1.0;
        for (sum, value) in sum.iter_mut().zip(token) {
            *sum += value;
        }
    }
    // Dividing keeps the sum of very many tokens from being too long a vector
    // for its length to be a number.
    for sum in &mut sum {
        *sum /= count.max(1.0);
    }
    sum
}

/// Makes a vector one long, unless it has no length at all.
fn normalise(vector: &mut [f32]) -> Result<(), String> {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    // `max` passes over what is no number, so each is looked at.
    if !vector.iter().all(|value| value.is_finite()) {
        return Err("its vector contains what is no number".to_owned());
    }
    if largest == 0.0 {
        return Ok(());
    }
    // Squares of very large or small numbers leave the range of the type;
    // those of numbers up to one do not.
    for value in &mut *vector {
        *value /= largest;
    }
    let length = dot(vector, vector).sqrt();
    for value in vector {
        *value /= length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(values: &[f32]) -> Output {
        Output::Tokens {
            values: values.to_vec(),
            width: 2,
        }
    }

    #[test]
    fn the_mean_leaves_out_what_is_masked() {
        let three = tokens(&[3.0, 0.0, 3.0, 8.0, 100.0, -100.0]);
        let pooled = pool(three, &[1, 1, 0], Pooling::Mean, 2).unwrap();
        assert_eq!(pooled, [0.6, 0.8]);
    }

    #[test]
    fn the_first_token_can_stand_for_all() {
        let two = tokens(&[0.0, -5.0, 3.0, 4.0]);
        assert_eq!(pool(two, &[1, 1], Pooling::Cls, 2), Ok(vec![0.0, -1.0]));
    }

    #[test]
    fn a_models_own_pooling_is_kept() {
        let text = Output::Text(vec![6.0, 8.0]);
        assert_eq!(pool(text, &[1], Pooling::Mean, 2), Ok(vec![0.6, 0.8]));
    }

    #[test]
    fn a_vector_without_direction_stays_zero() {
        let zeros = Ok(vec![0.0, 0.0]);
        let nothing = tokens(&[0.0, 0.0, 0.0, 0.0]);
        assert_eq!(pool(nothing, &[1, 1], Pooling::Mean, 2), zeros);
        let all_masked = tokens(&[1.0, 2.0]);
        assert_eq!(pool(all_masked, &[0], Pooling::Mean, 2), zeros);
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for place in 0..2 {
                let mut values = [1.0; 2];
                values[place] = value;
                for pooling in [Pooling::Mean, Pooling::Cls] {
                    let refused = pool(tokens(&values), &[1], pooling, 2);
                    assert!(refused.unwrap_err().contains("no number"), "{values:?}");
                }
            }
        }
    }

    #[test]
    fn another_length_is_refused() {
        let error = pool(tokens(&[1.0, 2.0]), &[1], Pooling::Mean, 3).unwrap_err();
        assert_eq!(error, "its vectors have 2 numbers instead of 3");
        let error = pool(Output::Text(vec![]), &[1], Pooling::Mean, 3).unwrap_err();
        assert_eq!(error, "its vectors have 0 numbers instead of 3");
    }

    proptest! {
        #[test]
        fn every_vector_is_one_long_or_zero(
            values in prop::collection::vec(-1e38_f32..1e38, 2..60),
            scale in prop::sample::select(vec![1e-40_f32, 1e-20, 1.0, 1e-38]),
        ) {
            let values: Vec<f32> = values.iter().map(|value| value * scale).collect();
            let dimensions = values.len();
            let vector = pool(Output::Text(values), &[], Pooling::Mean, dimensions).unwrap();
            let length = dot(&vector, &vector);
            prop_assert!((length - 1.0).abs() < 1e-4 || length == 0.0, "{length}");
        }
    }
}
