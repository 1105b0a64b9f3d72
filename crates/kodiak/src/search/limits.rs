//! The number of documents each stage of a search handles.

use crate::rank::Tuning;

/// The number of best candidates that are inspected.
pub(super) const INSPECTED: usize = 30;

/// The number of best candidates that are reranked.
pub(super) const RERANKED: usize = 20;

/// The bytes of a body that are read to judge a document. The subject of a query seldom
/// occurs only at the end of a long text.
pub(super) const MAX_BODY_BYTES: usize = 64 << 10;

/// The highest number of spare hits that are fetched in case some are gone.
const MAX_SPARE: usize = 20;

/// The number of copies that are fetched beyond the hits and collapsed into them.
const MAX_COPIES: usize = 200;

/// The four limits of a search, from the smallest to the largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limits {
    /// The number of hits the caller wants.
    pub(super) hits: usize,
    /// The number of documents ranked for presentation: a few more than hits, to
    /// replace those that turn out to be gone.
    pub(super) fetched: usize,
    /// The number of candidates each retriever supplies to a fusion.
    pub(super) candidates: usize,
    /// The number of lexical scores kept for candidates that only semantic
    /// retrieval finds.
    pub(super) rescoring_depth: usize,
}

impl Limits {
    /// Returns the limits of a search for this many hits.
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

    /// Returns the limits that also have room for copies of the hits.
    pub(super) fn with_copies(self) -> Self {
        let wider = |limit: usize| limit.saturating_add(MAX_COPIES);
        Self {
            hits: wider(self.hits),
            fetched: wider(self.fetched),
            candidates: wider(self.candidates),
            rescoring_depth: wider(self.rescoring_depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_limit_is_at_least_the_one_before() {
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
