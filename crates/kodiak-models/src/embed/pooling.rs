//! Pooling: from a model's output to one vector of length one.
//!
//! `runtime` produces the output.

use super::Pooling;
use super::normalise::{NotFinite, normalise};
use crate::runtime::Output;

/// Why an output cannot be pooled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The output is invalid for every text.
    Model(String),
    /// The output is invalid for this text.
    Text(String),
}

impl From<NotFinite> for Fault {
    fn from(_: NotFinite) -> Self {
        Self::Text("its vector has a component that is not finite".to_owned())
    }
}

/// Returns the vector of the text, with `dimensions` components. An output with
/// two axes was pooled by the model itself. Tokens whose mask is 0 do not
/// count. A vector without direction stays all zeros.
pub(super) fn pool(
    output: Output,
    mask: &[u32],
    pooling: Pooling,
    dimensions: usize,
) -> Result<Vec<f32>, Fault> {
    let Output { shape, values } = output;
    let ([1, _, width] | [1, width]) = shape[..] else {
        return Err(Fault::Model(format!("its output has the shape {shape:?}")));
    };
    if width != dimensions {
        return Err(Fault::Model(wrong_length(width, dimensions)));
    }
    let mut vector = match pooling {
        _ if shape.len() == 2 && pooling != Pooling::Pair => values,
        Pooling::Own => {
            let detail = "it has no output 'sentence_embedding'";
            return Err(Fault::Model(detail.to_owned()));
        }
        Pooling::Pair => {
            let detail = "it scores pairs of texts and makes no vectors";
            return Err(Fault::Model(detail.to_owned()));
        }
        Pooling::Mean => mean(&values, mask, width),
        // A text without tokens has no first one.
        Pooling::Cls => values
            .get(..width)
            .map_or(vec![0.0; width], <[f32]>::to_vec),
    };
    normalise(&mut vector)?;
    Ok(vector)
}

/// Cuts a vector to its first components and scales it to length one again. Some
/// models are trained to be normalised over all components first.
pub(super) fn shorten(
    mut vector: Vec<f32>,
    dimensions: usize,
    layer_norm: bool,
) -> Result<Vec<f32>, Fault> {
    if dimensions >= vector.len() {
        return Ok(vector);
    }
    // What has no direction stays zero.
    if layer_norm && vector.iter().any(|&value| value != 0.0) {
        let mean = vector.iter().sum::<f32>() / vector.len() as f32;
        // The scale does not matter: the result has length one.
        for value in &mut vector {
            *value -= mean;
        }
    }
    vector.truncate(dimensions);
    normalise(&mut vector)?;
    Ok(vector)
}

/// Returns the message for vectors whose length differs from the model's
/// description.
pub(super) fn wrong_length(found: usize, expected: usize) -> String {
    format!("its vectors have {found} numbers instead of {expected}")
}

/// Returns the mean of the tokens that count.
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
    // The mean instead of the sum, so that the length of the vector stays
    // finite even with very many tokens.
    for sum in &mut sum {
        *sum /= count.max(1.0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use kodiak_rank::vector::dot;

    fn tokens(values: &[f32]) -> Output {
        Output {
            shape: vec![1, values.len() / 2, 2],
            values: values.to_vec(),
        }
    }

    fn text(values: Vec<f32>) -> Output {
        Output {
            shape: vec![1, values.len()],
            values,
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
        let pooled = text(vec![6.0, 8.0]);
        assert_eq!(pool(pooled, &[1], Pooling::Mean, 2), Ok(vec![0.6, 0.8]));
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
                    let refused = pool(tokens(&values), &[1], pooling, 2).unwrap_err();
                    assert!(matches!(refused, Fault::Text(_)), "{values:?}: {refused:?}");
                }
            }
        }
    }

    #[test]
    fn another_length_is_refused() {
        let refused = |output| match pool(output, &[1], Pooling::Mean, 3) {
            Err(Fault::Model(detail)) => detail,
            other => panic!("{other:?}"),
        };
        let two = refused(tokens(&[1.0, 2.0]));
        assert_eq!(two, "its vectors have 2 numbers instead of 3");
        let none = refused(text(vec![]));
        assert_eq!(none, "its vectors have 0 numbers instead of 3");
        let scalar = refused(Output {
            shape: vec![3],
            values: vec![1.0; 3],
        });
        assert_eq!(scalar, "its output has the shape [3]");
    }

    proptest! {
        #[test]
        fn every_vector_is_one_long_or_zero(
            values in prop::collection::vec(-1e38_f32..1e38, 2..60),
            scale in prop::sample::select(vec![1e-40_f32, 1e-20, 1.0, 1e-38]),
        ) {
            let values: Vec<f32> = values.iter().map(|value| value * scale).collect();
            let dimensions = values.len();
            let vector = pool(text(values), &[], Pooling::Mean, dimensions).unwrap();
            let length = dot(&vector, &vector);
            prop_assert!((length - 1.0).abs() < 1e-4 || length == 0.0, "{length}");
        }
    }
}
