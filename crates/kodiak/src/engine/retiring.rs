//! Moving kept copies to the trash of their sources, and out of the index.
//!
//! It is journaled like an erasing, so that an interrupted one is finished. A moved copy
//! leaves no tombstone, so an entry comes back with its original; but repetitions elsewhere
//! in the source do not take its place.

use super::Engine;
use super::erasure::Erasure;
use crate::access::Guard;
use crate::document::Timestamp;
use crate::error::Result;
use crate::source::ExpiredCopy;
use crate::tombstones;

impl Engine {
    pub(super) fn plan_retiring(
        &self,
        copies: &[(String, ExpiredCopy)],
        at: Timestamp,
    ) -> Result<Erasure> {
        let mut erasure = Erasure {
            retired_at: at,
            ..Erasure::default()
        };
        let mut repeated = Vec::new();
        for (name, copy) in copies {
            let keys = copy.documents.iter();
            let documents: Vec<(String, String)> =
                keys.map(|key| (name.clone(), key.clone())).collect();
            let mut targets = self.targets(&documents)?;
            erasure.documents += targets.len();
            for target in &mut targets {
                // Also what is not indexed is in the copy that is moved.
                target.entry = Some(copy.entry.clone());
            }
            erasure.targets.extend(targets);
            erasure.add_hashes(&self.hashes_of(&documents)?);
            erasure.retired.push((name.clone(), copy.entry.clone()));
            let kept = self.source(&Guard::local(), name)?.kept_copies();
            let threads = kept.map(|kept| kept.repeated_threads(&copy.entry));
            let threads = threads.unwrap_or_default().into_iter();
            repeated.extend(threads.map(|thread| (name.clone(), thread)));
        }
        erasure.tombstones = tombstones::hashes(&[], &repeated);
        Ok(erasure)
    }
}
