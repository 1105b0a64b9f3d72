//! Tests of every version of the kernel against a plain multiplication.

use proptest::prelude::*;

use super::super::coarse_code::split;
use super::*;

/// Returns the codes, the residuals and the error bounds of rows.
fn halves(rows: &[Vec<i8>]) -> (Vec<u8>, Vec<u8>, Vec<ErrorBoundBytes>) {
    let (mut codes, mut residuals) = (Vec::new(), Vec::new());
    for row in rows {
        split(row, &mut codes, &mut residuals);
    }
    let error_bounds = rows
        .iter()
        .map(|row| ErrorBound::of(row).encode())
        .collect();
    (codes, residuals, error_bounds)
}

proptest! {
    #[test]
    fn every_version_agrees_to_the_bit(
        vectors in (0_usize..600).prop_flat_map(|length| {
            prop::collection::vec(prop::collection::vec(any::<i8>(), length), 2..6)
        }),
        similarity in 0.0_f32..1.0,
    ) {
        let floats: Vec<f32> = vectors[0].iter().map(|&value| f32::from(value)).collect();
        let query = QuantizedQuery::new(&floats);
        let rows = &vectors[1..];
        let (codes, residuals, error_bounds) = halves(rows);
        let stride = query.values.len() / 2;
        let limit = PruningBound::new(&query, similarity);
        let mut near = 0;
        for (at, row) in rows.iter().enumerate() {
            let high = |&component: &i8| (i64::from(component) + 128) >> 4;
            let coded: i64 = row
                .iter()
                .zip(&query.bytes)
                .map(|(component, &byte)| high(component) * i64::from(byte))
                .sum();
            near |= u64::from(limit.admits(coded as i32, ErrorBound::decode(error_bounds[at]))) << at;
            let by_hand: i64 = row
                .iter()
                .zip(&query.values)
                .map(|(&left, &right)| i64::from(left) * i64::from(right))
                .sum();
            let row = at * stride..(at + 1) * stride;
            let (code, residual) = (&codes[row.clone()], &residuals[row]);
            for kernel in [Kernel::portable(), Kernel::detect()] {
                prop_assert_eq!(i64::from(kernel.product(code, residual, &query)), by_hand);
            }
        }
        for fetch_ahead in [false, true] {
            for kernel in [Kernel::portable(), Kernel::detect()] {
                let kernel = kernel.fetching_ahead(fetch_ahead);
                prop_assert_eq!(kernel.prefilter(&codes, &error_bounds, &query, limit), near);
            }
        }
    }
}

proptest! {
    #[test]
    fn four_at_once_are_as_one_by_one(
        vectors in (0_usize..8).prop_flat_map(|length| {
            prop::collection::vec(prop::collection::vec(any::<Lane>(), length), 5)
        }),
    ) {
        let [one, two, three, four, with] = &vectors[..] else { unreachable!() };
        let by_hand = |vector: &Vec<Lane>| -> i64 {
            let products = vector.as_flattened().iter().zip(with.as_flattened());
            products.map(|(&left, &right)| i64::from(left) * i64::from(right)).sum()
        };
        let expected = [one, two, three, four].map(|vector| by_hand(vector) as i32);
        for kernel in [Kernel::portable(), Kernel::detect()] {
            let four: [&[Lane]; 4] = [one, two, three, four];
            prop_assert_eq!(kernel.four_products(four, with), expected);
        }
    }
}

#[test]
fn the_largest_products_do_not_overflow() {
    for length in [64, 384, 8192, 1 << 16] {
        for (sign, component) in [(-1.0, i8::MIN), (1.0, i8::MAX), (-1.0, i8::MAX)] {
            let query = QuantizedQuery::new(&vec![sign; length]);
            let (code, residual, error_bounds) = halves(&[vec![component; length]]);
            let by_hand = length as i64 * i64::from(query.values[0]) * i64::from(component);
            // Within the limit of a row in its own direction, but not of its
            // opposite.
            let limit = PruningBound::new(&query, 0.99);
            for kernel in [Kernel::portable(), Kernel::detect()] {
                let product = kernel.product(&code, &residual, &query);
                assert_eq!(i64::from(product), by_hand, "{length}");
                let near = kernel.prefilter(&code, &error_bounds, &query, limit);
                assert_eq!(near, u64::from(by_hand > 0), "{length}");
            }
        }
    }
}

#[test]
fn a_whole_piece_has_a_bit_for_each_row() {
    let rows: Vec<Vec<i8>> = (0..PREFILTER_ROWS as i8)
        .map(|at| vec![if at % 3 == 0 { 127 } else { -127 }, at])
        .collect();
    let (codes, _, error_bounds) = halves(&rows);
    let query = QuantizedQuery::new(&[1.0, 0.0]);
    let limit = PruningBound::new(&query, 0.5);
    let expected = (0..PREFILTER_ROWS).filter(|at| at % 3 == 0);
    let expected = expected.fold(0_u64, |near, at| near | 1 << at);
    for kernel in [Kernel::portable(), Kernel::detect()] {
        assert_eq!(
            kernel.prefilter(&codes, &error_bounds, &query, limit),
            expected
        );
    }
}
