//! Documents in the order in which they were written.

use super::{Row, StoredDocument};
use kodiak_text::document::Timestamp;

/// The place of a document in the order of time. Documents of the same second are in the
/// order of their keys, which for memories is the order of time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// When it was written or, if it does not say so, last changed.
    pub at: Timestamp,
    /// Its key.
    pub key: String,
    /// Its number.
    pub row: Row,
}

impl Moment {
    /// Returns the moment of a document.
    pub fn of(document: &StoredDocument) -> Self {
        Self {
            at: document.created_at.unwrap_or(document.updated_at),
            key: document.key.clone(),
            row: document.row,
        }
    }
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// The documents were written at this moment or later.
    pub after: Option<Timestamp>,
    /// The documents were written before this moment.
    pub before: Option<Timestamp>,
    /// The stretch begins next to this document, which is not part of it.
    pub beside: Option<Moment>,
    /// Whether the earliest come first, and come after `beside`. Otherwise it is the
    /// other way around.
    pub forward: bool,
    /// The highest number of documents.
    pub limit: usize,
}

impl Stretch {
    /// Returns the documents of these moments that are part of the stretch, in order.
    pub(super) fn of(&self, mut moments: Vec<Moment>) -> Vec<Row> {
        moments.retain(|moment| {
            let beside = self.beside.as_ref();
            self.after.is_none_or(|after| moment.at >= after)
                && self.before.is_none_or(|before| moment.at < before)
                && beside.is_none_or(|beside| {
                    if self.forward {
                        moment > beside
                    } else {
                        moment < beside
                    }
                })
        });
        moments.sort_unstable();
        if !self.forward {
            moments.reverse();
        }
        let rows = moments.into_iter().map(|moment| moment.row);
        rows.take(self.limit).collect()
    }
}
