//! Quantisation: vectors as small integers, scaled so that the largest
//! component takes the whole range.
//!
//! Only the direction of a vector matters. Each vector has a scale that brings
//! its integers to length one, so the scaled product of two vectors is their
//! cosine.

use super::format::{MAX_DIMENSIONS, stride};

/// The largest integer in a row of the matrix.
pub(super) const ROW_TOP: i16 = i8::MAX as i16;

/// The vector of a query, ready to be compared with rows.
///
/// It has sixteen bits where rows have eight. The processor widens both to
/// sixteen anyway, so only the rounding of the row is left. For coarse codes,
/// eight bits are enough.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantizedQuery {
    /// The components in sixteen bits, padded with zeros to the length of a
    /// row.
    pub(super) values: Vec<i16>,
    pub(super) scale: f32,
    /// The components in eight bits, for coarse codes.
    pub(super) bytes: Vec<i8>,
    /// The sum of the bytes.
    pub(super) sum: i32,
    /// The length of the bytes as a vector.
    pub(super) length: f64,
    /// The angle between `bytes` and `values`.
    pub(super) angle: f64,
    dimensions: usize,
}

impl QuantizedQuery {
    /// Quantises a vector of any length. Components that are not finite count
    /// as 0. A vector without any other component is similar to nothing.
    pub fn new(vector: &[f32]) -> Self {
        let (mut values, mut small) = (Vec::new(), Vec::new());
        let scale = quantise(vector, query_top(vector.len()), &mut values);
        quantise(vector, ROW_TOP, &mut small);
        values.resize(2 * stride(vector.len()), 0);
        small.resize(values.len(), 0);
        Self {
            scale,
            sum: small.iter().map(|&value| i32::from(value)).sum(),
            length: length(&small),
            angle: angle(&values, &small),
            // The values fit a byte: this is what `ROW_TOP` guarantees.
            bytes: small.iter().map(|&value| value as i8).collect(),
            values,
            dimensions: vector.len(),
        }
    }

    /// Returns the cosine to a vector that is not in a file, to the bit as it would be if a
    /// file had it; 0 for a vector with another number of dimensions.
    pub fn similarity(&self, vector: &[f32]) -> f32 {
        if vector.len() != self.dimensions {
            return 0.0;
        }
        let mut values = Vec::new();
        let scale = quantise(vector, ROW_TOP, &mut values);
        let products = values.iter().zip(&self.values);
        let products = products.map(|(&one, &other)| i32::from(one) * i32::from(other));
        products.sum::<i32>() as f32 * scale * self.scale
    }

    /// Returns the number of dimensions of the vector.
    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }
}

/// Returns a vector as a vector file has it: rounded, and scaled to length one.
pub fn rounded(vector: &[f32]) -> Vec<f32> {
    let mut values = Vec::new();
    let scale = quantise(vector, ROW_TOP, &mut values);
    let component = |&value: &i16| scale * f32::from(value);
    values.iter().map(component).collect()
}

/// Returns the largest integer that a query may contain, so that its product
/// with any row fits 32 bits. A damaged file may contain any byte.
fn query_top(dimensions: usize) -> i16 {
    let largest = usize::from(i8::MIN.unsigned_abs());
    let room = i32::MAX as usize / (largest * dimensions.max(1));
    // Vectors for which nothing is left are too long for any file.
    debug_assert!(room > 0 || dimensions > MAX_DIMENSIONS);
    room.min(i16::MAX as usize) as i16
}

/// Fills `values` with the components of a vector as integers up to `top`.
/// Returns the factor that brings them to length one; 0 for a vector of length
/// 0.
pub(super) fn quantise(vector: &[f32], top: i16, values: &mut Vec<i16>) -> f32 {
    let usable = |component: &f32| {
        if component.is_finite() {
            f64::from(*component)
        } else {
            0.0
        }
    };
    let largest = vector
        .iter()
        .map(usable)
        .fold(0.0, |largest: f64, component| largest.max(component.abs()));
    // In f64 even the smallest f32 has a finite reciprocal.
    let factor = if largest > 0.0 {
        f64::from(top) / largest
    } else {
        0.0
    };
    values.clear();
    values.extend(
        vector
            .iter()
            .map(|component| (usable(component) * factor).round() as i16),
    );
    let squares: i64 = values
        .iter()
        .map(|&value| i64::from(value) * i64::from(value))
        .sum();
    if squares > 0 {
        (1.0 / (squares as f64).sqrt()) as f32
    } else {
        0.0
    }
}

/// Returns the length of a vector of integers.
fn length(values: &[i16]) -> f64 {
    let squares = values.iter().map(|&value| f64::from(value).powi(2));
    squares.sum::<f64>().sqrt()
}

/// Returns the angle between two vectors of integers; 0 if one has no
/// direction.
fn angle(left: &[i16], right: &[i16]) -> f64 {
    let (left_length, right_length) = (length(left), length(right));
    if left_length == 0.0 || right_length == 0.0 {
        return 0.0;
    }
    // From the chord: the cosine of a small angle is too imprecise.
    let chord: f64 = left
        .iter()
        .zip(right)
        .map(|(&left, &right)| f64::from(left) / left_length - f64::from(right) / right_length)
        .map(|difference| difference * difference)
        .sum();
    2.0 * (chord.sqrt() / 2.0).min(1.0).asin()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rounded_vector_has_its_direction_and_length_one() {
        let vector = [0.3, -0.5, 0.25, 0.0];
        let rounded = rounded(&vector);
        let product = |one: &[f32], other: &[f32]| -> f32 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        assert!((product(&rounded, &rounded) - 1.0).abs() < 1e-6);
        let length = product(&vector, &vector).sqrt();
        assert!(product(&rounded, &vector) / length > 0.9999);
        assert_eq!(super::rounded(&[0.0, f32::NAN]), [0.0, 0.0]);
    }

    #[test]
    fn the_largest_component_takes_the_whole_range() {
        let mut values = Vec::new();
        let scale = quantise(&[0.0, -0.5, 0.25], ROW_TOP, &mut values);
        assert_eq!(values, [0, -127, 64]);
        let length = f64::from(scale) * f64::from(127 * 127 + 64 * 64_i32).sqrt();
        assert!((length - 1.0).abs() < 1e-6, "{length}");
    }

    #[test]
    fn what_is_no_number_counts_as_nothing() {
        let mut values = Vec::new();
        let odd = [f32::NAN, 1.0, f32::INFINITY, f32::NEG_INFINITY];
        assert!(quantise(&odd, ROW_TOP, &mut values) > 0.0);
        assert_eq!(values, [0, 127, 0, 0]);
        for nothing in [&[][..], &[0.0, -0.0], &[f32::NAN]] {
            assert!(quantise(nothing, ROW_TOP, &mut values) == 0.0);
            assert!(values.iter().all(|&value| value == 0));
        }
    }

    #[test]
    fn the_smallest_and_the_largest_numbers_keep_their_direction() {
        let mut values = Vec::new();
        for size in [f32::from_bits(2), f32::MIN_POSITIVE, f32::MAX] {
            quantise(&[size, -size / 2.0], ROW_TOP, &mut values);
            assert_eq!(values, [127, -64]);
        }
    }

    #[test]
    fn the_sum_of_the_largest_products_fits() {
        for dimensions in [0, 1, 384, 1024, 4096, MAX_DIMENSIONS] {
            let sum = dimensions as i64 * i64::from(query_top(dimensions)) * 128;
            assert!(sum <= i64::from(i32::MAX), "{dimensions}: {sum}");
            assert!(query_top(dimensions) > 127);
        }
    }

    #[test]
    fn the_bytes_of_a_query_are_near_its_values() {
        let vector: Vec<f32> = (0..384).map(|at| (at as f32 * 0.7).sin()).collect();
        let query = QuantizedQuery::new(&vector);
        assert!(query.angle > 0.0 && query.angle < 0.01, "{}", query.angle);
        assert_eq!(query.bytes.len(), query.values.len());
        let sum: i32 = query.bytes.iter().map(|&byte| i32::from(byte)).sum();
        assert_eq!(query.sum, sum);
        let right = angle(&[3, 0], &[0, 5]);
        assert!((right - std::f64::consts::FRAC_PI_2).abs() < 1e-12);
        assert!(QuantizedQuery::new(&[0.0, 0.0]).angle == 0.0);
    }
}
