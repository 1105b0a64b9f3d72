//! Vectors of length one, whatever numbers a model or a provider returned.

use kodiak_rank::vector::dot;

/// A component of a vector is infinite or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotFinite;

/// Scales a vector to length one, unless it is zero.
pub(super) fn normalise(vector: &mut [f32]) -> Result<(), NotFinite> {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, value| largest.max(value.abs()));
    // `max` ignores NaN, so each component is checked.
    if !vector.iter().all(|value| value.is_finite()) {
        return Err(NotFinite);
    }
    if largest == 0.0 {
        return Ok(());
    }
    // Squares of very large or very small numbers leave the range of the type.
    // Squares of numbers up to one do not.
    for value in &mut *vector {
        *value /= largest;
    }
    let length = dot(vector, vector).sqrt();
    for value in vector {
        *value /= length;
    }
    Ok(())
}
