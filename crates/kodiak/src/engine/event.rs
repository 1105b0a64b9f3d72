//! Events that report on long work, and the handle that cancels it.

use std::fmt;

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::store::EraseStep;
use crate::sync::Report;

/// Something that happened while the engine was working.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Another process is writing, and the engine waits for it.
    Waiting {
        /// The name of that process.
        holder: &'a str,
    },
    /// A source is being searched for changes.
    Listing {
        /// Its name.
        source: &'a str,
    },
    /// This many entries of a source must be read.
    Found {
        /// The source's name.
        source: &'a str,
        /// The number of entries.
        entries: usize,
    },
    /// This many of them are indexed.
    Indexed {
        /// The source's name.
        source: &'a str,
        /// The number of entries.
        entries: usize,
    },
    /// A source is now up to date in the index.
    Synced {
        /// Its name.
        source: &'a str,
        /// Where it is.
        location: &'a str,
        /// The changes.
        report: &'a Report,
    },
    /// A source could not be synced, and keeps its documents.
    SourceFailed {
        /// Its name.
        source: &'a str,
        /// The reason.
        error: &'a Error,
        /// The number of documents it keeps.
        kept: u64,
    },
    /// A source is being removed from the index.
    Removing {
        /// Its name.
        source: &'a str,
        /// The number of entries that are removed. Once all are removed, the change is
        /// committed and the full-text index optimised.
        removed: usize,
        /// The number of entries that it had.
        entries: usize,
    },
    /// The index is rewritten, to give unused space back to the system.
    Compacting,
    /// The index was rewritten.
    Compacted {
        /// The number of bytes that it is smaller; 0 if the store does not know.
        bytes: u64,
    },
    /// A source that is no longer registered was removed from the index.
    SourceForgotten {
        /// Its name.
        source: &'a str,
        /// The number of documents it had.
        documents: u64,
    },
    /// This much must be embedded.
    EmbeddingFound {
        /// The model's name.
        model: &'a str,
        /// The number of chunks.
        chunks: usize,
        /// The bytes of their text.
        bytes: u64,
        /// The number of chunks that were embedded earlier, if this continues that work
        /// and is not a small update.
        earlier: usize,
    },
    /// This much of it is embedded.
    Embedded {
        /// The number of chunks.
        chunks: usize,
        /// The bytes of their text.
        bytes: u64,
    },
    /// A step of erasing documents begins.
    Erasing {
        /// The step.
        step: EraseStep,
    },
    /// An erasing that was interrupted earlier is finished.
    ErasureFinished {
        /// The number of documents.
        documents: usize,
    },
    /// An erasing that was interrupted earlier could not be finished yet.
    ErasureUnfinished {
        /// The reason.
        error: &'a Error,
    },
    /// A problem that costs time but no results.
    Warning {
        /// The problem.
        error: &'a Error,
    },
}

/// A handle on long work: it receives the events and can cancel the work.
#[derive(Clone, Default)]
pub struct Job<'a> {
    listener: Option<&'a (dyn Fn(Event<'_>) + Sync)>,
    cancel: Cancel,
}

impl<'a> Job<'a> {
    /// Makes a job that passes events to `listener`.
    pub fn new(listener: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        Self {
            listener: Some(listener),
            cancel: Cancel::default(),
        }
    }

    /// Makes the job stop at the next opportunity after `cancel` is triggered.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    pub(super) fn tell(&self, event: Event<'_>) {
        if let Some(listener) = self.listener {
            listener(event);
        }
    }

    pub(super) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Fails if the work was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Job")
            .field("listened_to", &self.listener.is_some())
            .field("cancelled", &self.cancel.is_cancelled())
            .finish()
    }
}
