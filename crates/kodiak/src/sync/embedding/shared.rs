//! Embedding beside other processes: what each of them claims, and waiting for the rest.
//!
//! Processes walk the same order, and each leaves out the groups that others have claimed.
//! One that has reached the end waits for those that are still at work, because what they
//! have claimed is free again if they end early.

use std::time::{Duration, Instant};

use super::{Backfill, PAGE};
use crate::error::Result;
use crate::store::Pending;
use crate::sync::access::WriteAccess;

/// The interval at which one that waits looks whether chunks are free.
const LOOK: Duration = Duration::from_millis(500);
/// The interval at which it checks whether the run is over.
const POLL: Duration = Duration::from_millis(20);

impl Backfill<'_> {
    /// Claims chunks in place of those claimed before. Returns those that this process may
    /// embed.
    pub(super) fn claim(&mut self, chunks: &[Pending]) -> Result<Vec<Pending>> {
        let Some(lock) = &mut self.lock else {
            return Ok(chunks.to_vec());
        };
        let claimed = lock.claim(self.drive.embedder.identity(), chunks)?;
        self.left_to_others += chunks.len() - claimed.len();
        Ok(claimed)
    }

    /// Waits until no chunk is pending, or one is that no other process has claimed. Returns
    /// `false` if the run is over before that.
    pub(super) fn wait_for_others(&mut self, access: &dyn WriteAccess) -> Result<bool> {
        self.claim(&[])?;
        loop {
            let looked = Instant::now();
            while looked.elapsed() < LOOK {
                if self.drive.is_over() {
                    return Ok(false);
                }
                std::thread::sleep(POLL);
            }
            let mut after = None;
            loop {
                let page =
                    self.in_model(access, |writer, model| writer.pending(model, after, PAGE))?;
                let is_last = page.len() < PAGE;
                after = page.last().map(|last| last.place);
                let page = self.without_failed(page);
                if page.is_empty() && is_last {
                    return Ok(true);
                }
                if !self.claim(&page)?.is_empty() {
                    return Ok(true);
                }
                if is_last {
                    break;
                }
            }
        }
    }
}
