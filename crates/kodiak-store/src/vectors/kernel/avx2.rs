//! The inner products for processors with AVX2.

use std::arch::x86_64::{
    __m256i, _mm_add_epi32, _mm_cvtsi128_si32, _mm_shuffle_epi32, _mm256_add_epi16,
    _mm256_add_epi32, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cvtepi8_epi16,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_setzero_si256, _mm256_slli_epi16,
    _mm256_srli_epi16, _mm256_xor_si256,
};

use super::super::coarse_code::{APART, PruningBound};
use super::super::format::ErrorBoundBytes;
use super::super::quantise::QuantizedQuery;
use super::fetch::fetch_behind;
use super::{Lane, prefilter_by};

#[target_feature(enable = "avx2")]
pub(super) fn prefilter(
    codes: &[u8],
    error_bounds: &[ErrorBoundBytes],
    query: &QuantizedQuery,
    limit: PruningBound,
    fetch_ahead: bool,
) -> u64 {
    if fetch_ahead {
        let product = |code: &[u8], query: &[i8]| coarse_product::<true>(code, query);
        prefilter_by(product, codes, error_bounds, query, limit)
    } else {
        let product = |code: &[u8], query: &[i8]| coarse_product::<false>(code, query);
        prefilter_by(product, codes, error_bounds, query, limit)
    }
}

/// Computes 128 products at a time: one cache line of halves.
#[target_feature(enable = "avx2")]
#[inline]
fn coarse_product<const FETCH_AHEAD: bool>(code: &[u8], query: &[i8]) -> i32 {
    let code = code.as_chunks::<APART>().0.as_chunks::<2>().0;
    let query = query.as_chunks::<APART>().0.as_chunks::<4>().0;
    let low_half = _mm256_set1_epi8(0x0F);
    let ones = _mm256_set1_epi16(1);
    let mut sum = _mm256_setzero_si256();
    for (line, query) in code.iter().zip(query) {
        if FETCH_AHEAD {
            fetch_behind(line.as_flattened());
        }
        // Sixteen bits are enough for a cache line, in which each lane adds
        // eight products: a half is at most 15 and a query's byte at most 127,
        // and 8 * 15 * 127 = 15,240.
        let mut short = _mm256_setzero_si256();
        for part in 0..2 {
            let both = load(&line[part]);
            let low = _mm256_and_si256(both, low_half);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), low_half);
            let low = _mm256_maddubs_epi16(low, load(&query[2 * part]));
            let high = _mm256_maddubs_epi16(high, load(&query[2 * part + 1]));
            short = _mm256_add_epi16(short, _mm256_add_epi16(low, high));
        }
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(short, ones));
    }
    added_up(sum)
}

/// Computes 64 products at a time, with components joined from their halves.
#[target_feature(enable = "avx2")]
pub(super) fn product(code: &[u8], residual: &[u8], query: &[i16]) -> i32 {
    let code = code.as_chunks::<APART>().0.iter();
    let residual = residual.as_chunks::<APART>().0;
    let query = query.as_chunks::<16>().0.as_chunks::<4>().0;
    let low_half = _mm256_set1_epi8(0x0F);
    let high_half = _mm256_set1_epi8(0xF0_u8.cast_signed());
    let sign = _mm256_set1_epi8(i8::MIN);
    let mut sum = _mm256_setzero_si256();
    for ((code, residual), query) in code.zip(residual).zip(query) {
        let (code, residual) = (load(code), load(residual));
        let low = _mm256_or_si256(
            _mm256_and_si256(_mm256_slli_epi16::<4>(code), high_half),
            _mm256_and_si256(residual, low_half),
        );
        let high = _mm256_or_si256(
            _mm256_and_si256(code, high_half),
            _mm256_and_si256(_mm256_srli_epi16::<4>(residual), low_half),
        );
        for (half, components) in [low, high].into_iter().enumerate() {
            let components = _mm256_xor_si256(components, sign);
            let quarters = [
                _mm256_castsi256_si128(components),
                _mm256_extracti128_si256::<1>(components),
            ];
            for (quarter, components) in quarters.into_iter().enumerate() {
                let query = load(&query[2 * half + quarter]);
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(components), query);
                sum = _mm256_add_epi32(sum, products);
            }
        }
    }
    added_up(sum)
}

#[target_feature(enable = "avx2")]
pub(super) fn four_products(four: [&[Lane]; 4], with: &[Lane]) -> [i32; 4] {
    let [one, two, three, last] = four;
    let mut sums = [_mm256_setzero_si256(); 4];
    let lanes = one.iter().zip(two).zip(three).zip(last).zip(with);
    for ((((one, two), three), last), with) in lanes {
        let with = load(with);
        sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(load(one), with));
        sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(load(two), with));
        sums[2] = _mm256_add_epi32(sums[2], _mm256_madd_epi16(load(three), with));
        sums[3] = _mm256_add_epi32(sums[3], _mm256_madd_epi16(load(last), with));
    }
    [
        added_up(sums[0]),
        added_up(sums[1]),
        added_up(sums[2]),
        added_up(sums[3]),
    ]
}

/// Loads an array of integers that takes 32 bytes.
#[target_feature(enable = "avx2")]
#[inline]
fn load<T: Number, const COUNT: usize>(numbers: &[T; COUNT]) -> __m256i {
    const { assert!(size_of::<[T; COUNT]>() == size_of::<__m256i>()) };
    #[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
    // SAFETY: the array is as long as what is loaded, consists of integers
    // only, and this load needs no alignment.
    unsafe {
        _mm256_loadu_si256(numbers.as_ptr().cast())
    }
}

/// Types without padding or pointers.
trait Number {}
impl Number for u8 {}
impl Number for i8 {}
impl Number for i16 {}

/// Returns the sum of the eight numbers.
#[target_feature(enable = "avx2")]
#[inline]
fn added_up(sums: __m256i) -> i32 {
    let four = _mm_add_epi32(
        _mm256_castsi256_si128(sums),
        _mm256_extracti128_si256::<1>(sums),
    );
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    let one = _mm_add_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
    _mm_cvtsi128_si32(one)
}
