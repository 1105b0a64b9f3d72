//! Rows in two halves, and what the first of them says about the whole.
//!
//! A byte of a row is cut into two halves of four bits. The high ones are a
//! coarse copy of the row, its coarse 4-bit code: each stands for sixteen values and is
//! taken for their middle. The low ones are the residual, with which the row is
//! whole again, to the bit.
//!
//! Between a row and its code there is an angle, which is known when the row
//! is written. On a sphere, as anywhere, no way is shorter by a detour, so
//!
//! ```text
//! angle(query, row) >= angle(query, code) - angle(code, row)
//! ```
//!
//! and a row whose code is too far away need not be looked at. This holds for
//! every row and every query, whatever their components; nothing is left to
//! chance. How many rows a coarse code can rule out is another matter: for those of
//! usual models the angle is about seven degrees.

use super::format::{ErrorBoundBytes, stride};
use super::quantise::QuantizedQuery;

/// Halves of so many bytes are next to each other: those of one byte belong to
/// components that far apart, so that a kernel need not spread them.
pub(super) const APART: usize = 32;
/// Where sixteen values have their middle, in high halves: 7.5 / 16.
const MIDDLE: f32 = 0.468_75;
/// More than what rounding makes of a cosine in 32 bits, here and in an exact
/// similarity: nothing is ruled out because of it.
const ROUNDING: f64 = 1e-5;

/// Appends the code and the residual of a row, both padded, to what is there.
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

/// A component such that the lowest is 0.
fn byte(component: i8) -> u8 {
    component.cast_unsigned() ^ 0x80
}

/// The two components whose halves are in a byte of a coarse code and of a residual.
pub(super) fn join(code: u8, residual: u8) -> (i8, i8) {
    let low = code << 4 | residual & 0x0F;
    let high = code & 0xF0 | residual >> 4;
    ((low ^ 0x80).cast_signed(), (high ^ 0x80).cast_signed())
}

/// Adds a row, given in its halves and times its scale, to a padded vector.
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

/// How well a coarse code stands for its row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorBound {
    /// What brings the code to the length of one over the cosine of the angle
    /// between the two.
    factor: f32,
    /// The tangent of that angle.
    tangent: f32,
}

impl ErrorBound {
    /// Returns how far the code of a row may be from it.
    pub(super) fn of(row: &[i8]) -> Self {
        // In parts of a high half such that the middle is a whole number.
        let (mut squares, mut coded, mut both) = (0_i64, 0_i64, 0_i64);
        for &component in row {
            let value = i64::from(component);
            let code = 32 * i64::from(byte(component) >> 4) - 241;
            squares += value * value;
            coded += code * code;
            both += value * code;
        }
        // A code's components have the signs of the row's.
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

/// What the code of a row as near to a query as some similarity must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PruningBound {
    /// The cosine and the sine of the angle between the query's bytes and the
    /// farthest such row, times the length of the bytes.
    cosine: f32,
    sine: f32,
    /// What makes a product with high halves, which count from 0, one with
    /// the middles that they stand for.
    zero: i32,
    middle: f32,
}

impl PruningBound {
    /// The limit for rows at least so similar to a query.
    pub(super) fn new(query: &QuantizedQuery, similarity: f32) -> Self {
        let mut limit = Self {
            cosine: f32::NEG_INFINITY,
            sine: 0.0,
            zero: 8 * query.sum,
            middle: MIDDLE * query.sum as f32,
        };
        // The bytes are not quite the query, so rows may be farther from them.
        let farthest = (f64::from(similarity) - ROUNDING).clamp(-1.0, 1.0).acos() + query.angle;
        // Beyond a right angle anything may be near enough: two angles might
        // be more than half a turn, and a row without direction is at one.
        if farthest < std::f64::consts::FRAC_PI_2 {
            limit.cosine = ((farthest.cos() - ROUNDING) * query.length) as f32;
            limit.sine = (farthest.sin() * query.length) as f32;
        }
        limit
    }

    /// Whether a row may be near enough, by the product of its code and the
    /// query's bytes. A fit that is no number rules nothing out.
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
