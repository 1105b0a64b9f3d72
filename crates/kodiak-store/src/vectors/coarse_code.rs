//! Rows split into two halves, and the bound that the first half puts on the
//! whole.
//!
//! Each byte of a row is split into two halves of four bits. The high halves
//! are a coarse copy of the row, its 4-bit code: each stands for sixteen values
//! and counts as their middle. The low halves are the residual. Code and
//! residual together restore the row to the bit.
//!
//! The angle between a row and its code is known when the row is written. By
//! the triangle inequality on the sphere,
//!
//! ```text
//! angle(query, row) >= angle(query, code) - angle(code, row)
//! ```
//!
//! so a row whose code is too far away need not be compared in full. This is a
//! bound, not a heuristic: it holds for every row and every query, whatever
//! their components. How many rows it rules out is another matter. For the
//! vectors of common models the angle between row and code is about seven
//! degrees.

use super::format::{ErrorBoundBytes, stride};
use super::quantise::QuantizedQuery;

/// The distance between the two components whose halves share a byte. With 32
/// consecutive low nibbles and 32 consecutive high ones, a kernel need not
/// shuffle them.
pub(super) const APART: usize = 32;
/// The middle of the sixteen values of a high half, relative to the lowest of
/// them and in units of a high half: 7.5 / 16.
const MIDDLE: f32 = 0.468_75;
/// More than the rounding error of a 32-bit cosine, both here and in an exact
/// similarity, so that rounding rules nothing out.
const ROUNDING: f64 = 1e-5;

/// Appends the padded code and the padded residual of a row.
pub(super) fn split(row: &[i8], codes: &mut Vec<u8>, residuals: &mut Vec<u8>) {
    let half = stride(row.len());
    let unsigned = |at: usize| byte(row.get(at).copied().unwrap_or(0));
    for at in 0..half {
        let low = at / APART * 2 * APART + at % APART;
        let (low, high) = (unsigned(low), unsigned(low + APART));
        codes.push(high & 0xF0 | low >> 4);
        residuals.push(high << 4 | low & 0x0F);
    }
}

/// Shifts a component so that the lowest becomes 0.
fn byte(component: i8) -> u8 {
    component.cast_unsigned() ^ 0x80
}

/// Returns the two components whose halves are in a byte of a code and a byte
/// of a residual.
pub(super) fn join(code: u8, residual: u8) -> (i8, i8) {
    let low = code << 4 | residual & 0x0F;
    let high = code & 0xF0 | residual >> 4;
    ((low ^ 0x80).cast_signed(), (high ^ 0x80).cast_signed())
}

/// Adds a row, given as its two halves and multiplied by its scale, to a padded
/// vector.
pub(super) fn add(code: &[u8], residual: &[u8], scale: f32, sum: &mut [f32]) {
    let code = code.as_chunks::<APART>().0.iter();
    let residual = residual.as_chunks::<APART>().0;
    let sum = sum.as_chunks_mut::<APART>().0.as_chunks_mut::<2>().0;
    for ((code, residual), [low, high]) in code.zip(residual).zip(sum) {
        for at in 0..APART {
            let components = join(code[at], residual[at]);
            low[at] += scale * f32::from(components.0);
            high[at] += scale * f32::from(components.1);
        }
    }
}

/// How far a coarse code may be from its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorBound {
    /// The factor that scales the code to the length 1 / cos(angle between code
    /// and row).
    factor: f32,
    /// The tangent of that angle.
    tangent: f32,
}

impl ErrorBound {
    /// Computes how far the code of a row is from it.
    pub(super) fn of(row: &[i8]) -> Self {
        // In units of 1/32 of a high half, so that its middle is a whole
        // number.
        let (mut squares, mut coded, mut both) = (0_i64, 0_i64, 0_i64);
        for &component in row {
            let value = i64::from(component);
            let code = 32 * i64::from(byte(component) >> 4) - 241;
            squares += value * value;
            coded += code * code;
            both += value * code;
        }
        // The components of a code have the signs of the row's, so this is zero
        // only for a row without direction.
        if both == 0 {
            return Self {
                factor: 0.0,
                tangent: 0.0,
            };
        }
        let (squares, coded, both) = (squares as f64, coded as f64, both as f64);
        let across = (squares * coded - both * both).max(0.0);
        Self {
            factor: (32.0 * squares.sqrt() / both) as f32,
            tangent: (across.sqrt() / both) as f32,
        }
    }

    pub(super) fn encode(self) -> ErrorBoundBytes {
        [self.factor.to_le_bytes(), self.tangent.to_le_bytes()]
    }

    #[inline]
    pub(super) fn decode([factor, tangent]: ErrorBoundBytes) -> Self {
        Self {
            factor: f32::from_le_bytes(factor),
            tangent: f32::from_le_bytes(tangent),
        }
    }
}

/// The bound that the code of a row must reach for the row to have at least
/// some similarity with a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PruningBound {
    /// The cosine and the sine of the angle between the query's bytes and the
    /// farthest admissible row, times the length of the bytes.
    cosine: f32,
    sine: f32,
    /// The two corrections that turn a product with high halves, which count
    /// from 0, into a product with the middles that they stand for.
    zero: i32,
    middle: f32,
}

impl PruningBound {
    /// Computes the bound for rows with at least this similarity to a query.
    pub(super) fn new(query: &QuantizedQuery, similarity: f32) -> Self {
        let mut limit = Self {
            cosine: f32::NEG_INFINITY,
            sine: 0.0,
            zero: 8 * query.sum,
            middle: MIDDLE * query.sum as f32,
        };
        // The bytes are not quite the query, so admissible rows may be farther
        // from them.
        let farthest = (f64::from(similarity) - ROUNDING).clamp(-1.0, 1.0).acos() + query.angle;
        // Beyond a right angle every row is admitted: the two angles might add
        // up to more than half a turn, and a row without direction counts as
        // being at a right angle.
        if farthest < std::f64::consts::FRAC_PI_2 {
            limit.cosine = ((farthest.cos() - ROUNDING) * query.length) as f32;
            limit.sine = (farthest.sin() * query.length) as f32;
        }
        limit
    }

    /// Reports whether a row may be similar enough, given the product of its code
    /// and the query's bytes. An error bound that is not a number rules nothing
    /// out.
    #[inline]
    pub(super) fn admits(self, product: i32, fit: ErrorBound) -> bool {
        // With angles s between code and row and t between query and row,
        // cos(s + t) / cos(s) = cos(t) - sin(t) * tan(s).
        let near = ((product - self.zero) as f32 + self.middle) * fit.factor;
        let too_far = near < self.cosine - self.sine * fit.tangent;
        !too_far
    }
}

#[cfg(test)]
#[path = "coarse_code_tests.rs"]
mod tests;
