//! Rounding a matrix to eight bits.

/// The largest value of a weight. A product of it with an unsigned byte, added
/// to another such product, still fits 16 bits, in which many processors
/// compute. With 127, the result would depend on the processor.
const MAX_WEIGHT: f32 = 64.0;

/// A matrix of signed bytes with a scale for each column.
#[derive(Debug)]
pub(super) struct Quantised {
    /// The values, one row after the other, as bytes.
    pub(super) values: Vec<u8>,
    /// The value of a 1 in each column.
    pub(super) scales: Vec<f32>,
}

/// Rounds a matrix to bytes, each column by its own range. A scale for all of
/// them would lose several times as much.
pub(super) fn by_column(matrix: &[f32], columns: usize) -> Quantised {
    let mut ranges = vec![0.0_f32; columns];
    for row in matrix.chunks_exact(columns) {
        for (range, number) in ranges.iter_mut().zip(row) {
            *range = range.max(number.abs());
        }
    }
    let scale = |&range: &f32| if range > 0.0 { range / MAX_WEIGHT } else { 1.0 };
    let scales: Vec<f32> = ranges.iter().map(scale).collect();
    let mut values = Vec::with_capacity(matrix.len());
    for row in matrix.chunks_exact(columns) {
        let columns = row.iter().zip(&scales);
        values.extend(columns.map(|(number, scale)| {
            let rounded = (number / scale).round_ties_even();
            (rounded as i8).cast_unsigned()
        }));
    }
    Quantised { values, scales }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_number_moves_by_more_than_half_a_step(
            matrix in prop::collection::vec(-100.0_f32..100.0, 12),
        ) {
            let quantised = by_column(&matrix, 3);
            for (at, number) in matrix.iter().enumerate() {
                let scale = quantised.scales[at % 3];
                let value = quantised.values[at].cast_signed();
                prop_assert!((-64..=64).contains(&value));
                let error = (f32::from(value) * scale - number).abs();
                prop_assert!(error <= scale * 0.5001, "{error} {scale}");
            }
        }
    }

    #[test]
    fn a_column_of_zeros_stays_zero() {
        let quantised = by_column(&[0.0, 2.0, 0.0, -1.0], 2);
        let values: Vec<i8> = quantised
            .values
            .iter()
            .map(|byte| byte.cast_signed())
            .collect();
        assert_eq!(values, [0, 64, 0, -32]);
    }
}
