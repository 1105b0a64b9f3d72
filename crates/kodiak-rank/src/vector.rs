//! Arithmetic on embeddings: dot product, centroid, normalisation.
//!
//! For plain `f32` vectors only. Quantised vectors and their kernels are in
//! `store::vectors`.

/// Returns the dot product of two vectors, which is their cosine if both have
/// length one. The excess of a longer vector does not count.
pub fn dot(left: &[f32], right: &[f32]) -> f32 {
    /// Partial sums that run side by side. A single sum would wait for each
    /// addition to finish before the next, and could not be vectorised.
    const LANES: usize = 16;
    let length = left.len().min(right.len());
    let (left, left_rest) = left[..length].as_chunks::<LANES>();
    let (right, right_rest) = right[..length].as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest
        .iter()
        .zip(right_rest)
        .map(|(left, right)| left * right)
        .sum();
    sums.iter().sum::<f32>() + rest
}

/// Returns the centroid of vectors, scaled to length one, or `None` if there
/// are no vectors or they cancel each other out.
pub fn centroid(vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; vectors.first()?.len()];
    for vector in vectors {
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += number;
        }
    }
    normalised(sum)
}

/// Returns a vector scaled to length one, or `None` if all its components are
/// zero.
pub fn normalised(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = dot(&vector, &vector).sqrt();
    if length == 0.0 {
        return None;
    }
    for number in &mut vector {
        *number /= length;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_product_ends_where_the_shorter_vector_does() {
        let long: Vec<f32> = vec![1.0; 40];
        assert!((dot(&long, &long[..17]) - 17.0).abs() < f32::EPSILON);
        assert!(dot(&long, &[]).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn a_product_is_the_sum_of_products(
            pairs in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..500)
        ) {
            let (left, right): (Vec<f32>, Vec<f32>) = pairs.iter().copied().unzip();
            let plain: f64 = pairs
                .iter()
                .map(|&(left, right)| f64::from(left) * f64::from(right))
                .sum();
            prop_assert!((f64::from(dot(&left, &right)) - plain).abs() < 1e-3);
        }
    }

    #[test]
    fn a_centroid_has_length_one_and_points_between() {
        let centroid = centroid(&[vec![3.0, 0.0], vec![0.0, 3.0]]).unwrap();
        assert!((dot(&centroid, &centroid) - 1.0).abs() < 1e-6);
        assert!((centroid[0] - centroid[1]).abs() < 1e-6);
    }

    #[test]
    fn nothing_and_opposites_have_no_centroid() {
        assert_eq!(centroid(&[]), None);
        assert_eq!(centroid(&[vec![1.0, 0.0], vec![-1.0, 0.0]]), None);
        assert_eq!(normalised(vec![0.0; 3]), None);
        assert_eq!(normalised(vec![0.0, -4.0]), Some(vec![0.0, -1.0]));
    }
}
