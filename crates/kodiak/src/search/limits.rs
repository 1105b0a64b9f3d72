//! How many documents each stage of a search handles.

use crate::rank::Tuning;

/// At most so many hits more than wanted are fetched, in case some are gone.
const MAX_SPARE: usize = 20;

/// The four numbers a search is bounded by, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// Hits the caller wants.
    pub(super) hits: usize,
    /// Documents ranked for presentation: hits that turn out to be gone are made
    /// up for from a few more.
    pub(super) fetched: usize,
    /// Candidates each retriever puts up where two are fused.
    pub(super) candidates: usize,
    /// Lexical scores kept, for candidates that only meaning puts up.
    pub(super) rescoring_depth: usize,
}

impl Limits {
    /// Returns the limits of a search for so many hits.
    pub(super) fn of(hits: usize, tuning: &Tuning) -> Self {
        let fetched = hits.saturating_add(hits.min(MAX_SPARE));
        let candidates = fetched.max(tuning.candidates);
        Self {
            hits,
            fetched,
            candidates,
            rescoring_depth: candidates.max(tuning.rescoring_depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_at_least_the_one_before() {
        let tuning = Tuning::default();
        for hits in [0, 1, 10, 100, 1_000, usize::MAX] {
            let limits = Limits::of(hits, &tuning);
            assert!(limits.hits <= limits.fetched, "{limits:?}");
            assert!(limits.fetched <= limits.candidates, "{limits:?}");
            assert!(limits.candidates <= limits.rescoring_depth, "{limits:?}");
        }
        assert_eq!(Limits::of(10, &tuning).fetched, 20);
        assert_eq!(Limits::of(100, &tuning).fetched, 120);
    }
}
