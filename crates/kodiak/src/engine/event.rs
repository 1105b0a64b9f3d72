//! What long work tells whoever waits for it, and how it is told to stop.

use std::fmt;

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::sync::Report;

/// Something that happened while the engine worked.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Another process is writing, and is waited for.
    Waiting {
        /// Who it is.
        holder: &'a str,
    },
    /// A source is looked through for changes.
    Listing {
        /// Its name.
        source: &'a str,
    },
    /// So many entries of a source have to be read.
    Found {
        /// Its name.
        source: &'a str,
        /// How many.
        entries: usize,
    },
    /// So many of them are indexed.
    Indexed {
        /// The source's name.
        source: &'a str,
        /// How many.
        entries: usize,
    },
    /// A source is in step with the index.
    Synced {
        /// Its name.
        source: &'a str,
        /// Where it is.
        location: &'a str,
        /// What changed.
        report: &'a Report,
    },
    /// A source could not be synced, and keeps its documents.
    SourceFailed {
        /// Its name.
        source: &'a str,
        /// Why.
        error: &'a Error,
        /// How many documents it keeps.
        kept: u64,
    },
    /// A source that is no longer registered was taken out of the index.
    SourceForgotten {
        /// Its name.
        source: &'a str,
        /// How many documents it had.
        documents: u64,
    },
    /// So much has to be embedded.
    EmbeddingFound {
        /// The model's name.
        model: &'a str,
        /// How many chunks.
        chunks: usize,
        /// How much text they are, in bytes.
        bytes: u64,
    },
    /// So much of it is embedded.
    Embedded {
        /// How many chunks.
        chunks: usize,
        /// How much text they are, in bytes.
        bytes: u64,
    },
    /// Something went wrong that costs time and no answer.
    Warning {
        /// What.
        error: &'a Error,
    },
}

/// Long work as its caller sees it: whom it tells what it does, and whether it
/// is to go on.
#[derive(Clone, Default)]
pub struct Job<'a> {
    listener: Option<&'a (dyn Fn(Event<'_>) + Sync)>,
    cancel: Cancel,
}

impl<'a> Job<'a> {
    /// Tells `listener` what happens.
    pub fn new(listener: &'a (dyn Fn(Event<'_>) + Sync)) -> Self {
        Self {
            listener: Some(listener),
            cancel: Cancel::default(),
        }
    }

    /// Stops at the next opportunity once `cancel` says so.
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

    /// Fails once the work is to stop.
    pub(super) fn check(&self) -> Result<()> {
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
