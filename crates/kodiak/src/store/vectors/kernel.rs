//! The multiplication that a scan spends its time in, as wide as the processor
//! allows: the other of the two unsafe places here.
//!
//! `dot` is plain Rust that the compiler turns into vector instructions of any
//! processor, but only into half as wide ones as AVX2 has: those processors
//! have a version of their own. Both give the same to the bit.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_add_epi32, _mm256_cvtepi8_epi16,
    _mm256_extract_epi32, _mm256_hadd_epi32, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_setzero_si256,
};

use super::quantise::Prepared;

/// How far ahead of the multiplication rows are fetched, in bytes. Processors
/// fetch ahead by themselves, but not over the border of a page.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 4096;

/// How rows are multiplied on this processor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel {
    /// Whether this processor has AVX2. Private: only `detect` sets it.
    #[cfg(target_arch = "x86_64")]
    avx2: bool,
    fetch_ahead: bool,
}

impl Kernel {
    /// The best for this processor.
    pub(super) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: is_x86_feature_detected!("avx2"),
            fetch_ahead: false,
        }
    }

    /// The version that runs everywhere.
    #[cfg(test)]
    pub(super) fn portable() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: false,
            fetch_ahead: false,
        }
    }

    /// Whether the rows that follow will be needed next.
    pub(super) fn fetching_ahead(mut self, fetch_ahead: bool) -> Self {
        self.fetch_ahead = fetch_ahead;
        self
    }

    /// The first of the rows most similar to the query, counted from 0, and its
    /// cosine. Rows are as long as the query with its padding; there is at
    /// least one.
    #[inline]
    pub(super) fn best(self, rows: &[u8], scales: &[[u8; 4]], query: &Prepared) -> (usize, f32) {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "the caller answers for the processor")]
            // SAFETY: the function is safe but for its instructions, and
            // `detect` has found that this processor has them.
            return unsafe { best_avx2(rows, scales, query, self.fetch_ahead) };
        }
        best_by(dot, rows, scales, query, self.fetch_ahead)
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn best_avx2(rows: &[u8], scales: &[[u8; 4]], query: &Prepared, fetch_ahead: bool) -> (usize, f32) {
    let dot = |row: &[u8], query: &[i16]| dot_avx2(row, query);
    best_by(dot, rows, scales, query, fetch_ahead)
}

#[expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the caller's processor"
)]
#[inline(always)]
fn best_by(
    dot: impl Fn(&[u8], &[i16]) -> i32,
    rows: &[u8],
    scales: &[[u8; 4]],
    query: &Prepared,
    fetch_ahead: bool,
) -> (usize, f32) {
    let mut best = (0, f32::NEG_INFINITY);
    let rows = rows.chunks_exact(query.values.len());
    for (at, (row, &scale)) in rows.zip(scales).enumerate() {
        if fetch_ahead {
            fetch(row);
        }
        let similarity = dot(row, &query.values) as f32 * f32::from_le_bytes(scale) * query.scale;
        if similarity > best.1 {
            best = (at, similarity);
        }
    }
    best
}

/// Asks for as many bytes as a row has, some way behind it.
#[inline]
fn fetch(row: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..row.len()).step_by(64) {
        let address = row.as_ptr().wrapping_add(AHEAD + line);
        #[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
        // SAFETY: a prefetch is a hint. It reads nothing that the program
        // could see and does not fault, whatever the address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

/// The sum of the products. It cannot overflow: `Prepared` sees to that.
fn dot(row: &[u8], query: &[i16]) -> i32 {
    row.iter()
        .zip(query)
        .map(|(&byte, &value)| i32::from(byte.cast_signed()) * i32::from(value))
        .sum()
}

/// The same for rows of whole cache lines, 32 products at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn dot_avx2(row: &[u8], query: &[i16]) -> i32 {
    let row = row.as_chunks::<16>().0.as_chunks::<2>().0;
    let query = query.as_chunks::<16>().0.as_chunks::<2>().0;
    let mut sums = [_mm256_setzero_si256(); 2];
    for (row, query) in row.iter().zip(query) {
        for half in 0..2 {
            #[expect(unsafe_code, reason = "the intrinsics take pointers")]
            // SAFETY: both arrays are as long as what is loaded, 16 and 32
            // bytes, and these loads need no alignment.
            let (row, query) = unsafe {
                (
                    _mm_loadu_si128(row[half].as_ptr().cast()),
                    _mm256_loadu_si256(query[half].as_ptr().cast()),
                )
            };
            let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(row), query);
            sums[half] = _mm256_add_epi32(sums[half], products);
        }
    }
    let sums = _mm256_add_epi32(sums[0], sums[1]);
    let pairs = _mm256_hadd_epi32(sums, sums);
    let fours = _mm256_hadd_epi32(pairs, pairs);
    _mm256_extract_epi32::<0>(fours) + _mm256_extract_epi32::<4>(fours)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_version_agrees_to_the_bit(
            vectors in (0_usize..100).prop_flat_map(|length| {
                prop::collection::vec(prop::collection::vec(any::<i8>(), length), 2..6)
            }),
        ) {
            let floats: Vec<f32> = vectors[0].iter().map(|&value| f32::from(value)).collect();
            let query = Prepared::new(&floats);
            let rows: Vec<u8> = vectors[1..]
                .iter()
                .flat_map(|row| {
                    let mut padded: Vec<u8> = row.iter().map(|value| value.cast_unsigned()).collect();
                    padded.resize(query.values.len(), 0);
                    padded
                })
                .collect();
            let scales = vec![0.01_f32.to_le_bytes(); vectors.len() - 1];
            let by_hand = vectors[1..].iter().enumerate().map(|(at, row)| {
                let sum: i64 = row
                    .iter()
                    .zip(&query.values)
                    .map(|(&left, &right)| i64::from(left) * i64::from(right))
                    .sum();
                (at, sum as f32 * 0.01 * query.scale)
            });
            let by_hand = by_hand
                .reduce(|best, next| if next.1 > best.1 { next } else { best })
                .unwrap();
            prop_assert_eq!(Kernel::portable().best(&rows, &scales, &query), by_hand);
            for fetch_ahead in [false, true] {
                let kernel = Kernel::detect().fetching_ahead(fetch_ahead);
                prop_assert_eq!(kernel.best(&rows, &scales, &query), by_hand);
            }
        }
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        for length in [64, 384, 8192, 1 << 16] {
            let query = Prepared::new(&vec![-1.0; length]);
            let rows = vec![i8::MIN.cast_unsigned(); length];
            let scale = 1.0 / (128.0 * (length as f32).sqrt());
            for kernel in [Kernel::portable(), Kernel::detect()] {
                let (_, similarity) = kernel.best(&rows, &[scale.to_le_bytes()], &query);
                assert!((similarity - 1.0).abs() < 1e-5, "{length}: {similarity}");
            }
        }
    }
}
