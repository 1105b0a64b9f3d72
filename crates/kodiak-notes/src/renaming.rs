//! The record of a tag's renaming: which files change, and from what to what.
//!
//! It is written before the first file changes and removed after the last, so that any
//! process that finds one finishes the work. It never says more about a note than its
//! name and two hashes.

use serde::{Deserialize, Serialize};

use kodiak::access::Guard;

/// The suffix of the journal.
pub(super) const SUFFIX: &str = ".tag-rename";

/// A renaming that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Renaming {
    /// The tag as it was.
    pub(super) from: String,
    /// The tag as it becomes.
    pub(super) to: String,
    /// The hash of the requested name, if a secret was left out of it.
    #[serde(default)]
    pub(super) asked: Option<[u8; 32]>,
    /// The name of who asked for it, if it has one.
    #[serde(default)]
    pub(super) by: Option<String>,
    /// The files that carry it.
    pub(super) files: Vec<Planned>,
}

/// A file to be rewritten.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(super) struct Planned {
    pub(super) source: String,
    pub(super) key: String,
    /// The hash of its text before.
    pub(super) before: [u8; 32],
    /// The hash of its text afterwards.
    pub(super) after: [u8; 32],
}

impl Renaming {
    /// Returns the hash that stands for a requested tag.
    pub(super) fn hash_of(tag: &str) -> [u8; 32] {
        *blake3::hash(tag.as_bytes()).as_bytes()
    }

    /// Reports whether it was asked for under this name, of which something was left out.
    pub(super) fn asked_for(&self, to: &str) -> bool {
        self.asked == Some(Self::hash_of(to))
    }

    /// Reports whether a caller may finish the work: every source exists for it.
    pub(super) fn is_within(&self, guard: &Guard) -> bool {
        self.files.iter().all(|file| guard.admits(&file.source))
    }
}
