//! The inner products that a search spends its time in, as wide as the
//! processor allows. With its submodules, this is one of the two unsafe parts
//! of `vectors`; the other is `bytes`.
//!
//! The portable version is plain Rust, which the compiler turns into vector
//! instructions for any processor, though not the best ones. Processors with
//! AVX2 have their own version in `avx2`. Both give the same result to the bit.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod fetch;

pub(super) use fetch::fetch;

use super::coarse_code::{APART, ErrorBound, PruningBound, join};
use super::format::ErrorBoundBytes;
use super::quantise::QuantizedQuery;

/// The most rows that are prefiltered at once: the result has one bit per row.
pub(super) const PREFILTER_ROWS: usize = u64::BITS as usize;

/// A piece of a vector, sixteen numbers of sixteen bits: processors multiply
/// these and add them in pairs, several at once. The last piece of a vector is
/// padded with zeros.
pub(crate) type Lane = [i16; 16];

/// The inner products in the version for this processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kernel {
    /// Whether this processor has AVX2. Private, so that only `detect` sets it.
    #[cfg(target_arch = "x86_64")]
    avx2: bool,
    #[cfg(target_arch = "x86_64")]
    fetch_ahead: bool,
}

impl Kernel {
    /// Returns the best version for this processor.
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "x86_64")]
            fetch_ahead: false,
        }
    }

    /// Returns the version that runs everywhere.
    #[cfg(test)]
    pub(super) fn portable() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            avx2: false,
            #[cfg(target_arch = "x86_64")]
            fetch_ahead: false,
        }
    }

    /// Sets whether `prefilter` prefetches the codes that follow.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn fetching_ahead(mut self, fetch_ahead: bool) -> Self {
        self.fetch_ahead = fetch_ahead;
        self
    }

    /// Changes nothing: there is no prefetching on this processor.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn fetching_ahead(self, _fetch_ahead: bool) -> Self {
        self
    }

    /// Returns a bit for each row that may be within the limit, judged by its
    /// code. The lowest bit is the first row's. There are at most `PREFILTER_ROWS`
    /// rows.
    #[inline]
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(clippy::unused_self, reason = "there is one version only")
    )]
    pub(super) fn prefilter(
        self,
        codes: &[u8],
        error_bounds: &[ErrorBoundBytes],
        query: &QuantizedQuery,
        limit: PruningBound,
    ) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "the caller answers for the processor")]
            // SAFETY: the function is safe but for its instructions, and
            // `detect` has found that this processor has them.
            return unsafe { avx2::prefilter(codes, error_bounds, query, limit, self.fetch_ahead) };
        }
        prefilter_by(coarse_product, codes, error_bounds, query, limit)
    }

    /// Returns the inner product of a whole row, given as its two halves, and a
    /// query.
    #[inline]
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(clippy::unused_self, reason = "there is one version only")
    )]
    pub(super) fn product(self, code: &[u8], residual: &[u8], query: &QuantizedQuery) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "the caller answers for the processor")]
            // SAFETY: as in `prefilter`.
            return unsafe { avx2::product(code, residual, &query.values) };
        }
        product(code, residual, &query.values)
    }

    /// Returns the inner products of four vectors with another. They wrap
    /// around if 32 bits are not enough.
    #[inline]
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(clippy::unused_self, reason = "there is one version only")
    )]
    pub(crate) fn four_products(self, four: [&[Lane]; 4], with: &[Lane]) -> [i32; 4] {
        #[cfg(target_arch = "x86_64")]
        if self.avx2 {
            #[expect(unsafe_code, reason = "the caller answers for the processor")]
            // SAFETY: as in `prefilter`.
            return unsafe { avx2::four_products(four, with) };
        }
        four.map(|vector| lanes_product(vector, with))
    }
}

#[expect(
    clippy::inline_always,
    reason = "only what is inlined is compiled for the caller's processor"
)]
#[inline(always)]
fn prefilter_by(
    coarse_product: impl Fn(&[u8], &[i8]) -> i32,
    codes: &[u8],
    error_bounds: &[ErrorBoundBytes],
    query: &QuantizedQuery,
    limit: PruningBound,
) -> u64 {
    debug_assert!(error_bounds.len() <= PREFILTER_ROWS);
    let stride = query.bytes.len() / 2;
    let mut near = 0;
    for (at, &fit) in error_bounds.iter().enumerate() {
        let code = &codes[at * stride..(at + 1) * stride];
        let product = coarse_product(code, &query.bytes);
        near |= u64::from(limit.admits(product, ErrorBound::decode(fit))) << at;
    }
    near
}

/// Returns the inner product of a coarse code and a query's bytes.
fn coarse_product(code: &[u8], query: &[i8]) -> i32 {
    let query = query.as_chunks::<APART>().0.as_chunks::<2>().0;
    let mut sum = 0;
    for (code, [low, high]) in code.as_chunks::<APART>().0.iter().zip(query) {
        for at in 0..APART {
            sum += i32::from(code[at] & 0x0F) * i32::from(low[at]);
            sum += i32::from(code[at] >> 4) * i32::from(high[at]);
        }
    }
    sum
}

/// Returns the inner product of a row and a query's values. It cannot overflow,
/// because `QuantizedQuery` limits the values.
fn product(code: &[u8], residual: &[u8], query: &[i16]) -> i32 {
    let query = query.as_chunks::<APART>().0.as_chunks::<2>().0;
    let code = code.as_chunks::<APART>().0.iter();
    let mut sum = 0;
    for ((code, residual), [low, high]) in code.zip(residual.as_chunks::<APART>().0).zip(query) {
        for at in 0..APART {
            let components = join(code[at], residual[at]);
            sum += i32::from(components.0) * i32::from(low[at]);
            sum += i32::from(components.1) * i32::from(high[at]);
        }
    }
    sum
}

fn lanes_product(left: &[Lane], right: &[Lane]) -> i32 {
    let products = left.as_flattened().iter().zip(right.as_flattened());
    products
        .map(|(&left, &right)| i32::from(left).wrapping_mul(i32::from(right)))
        .fold(0, i32::wrapping_add)
}

#[cfg(test)]
#[path = "kernel_tests.rs"]
mod tests;
