//! How far the index is behind its sources, found cheaply: nothing is read.

use std::collections::HashSet;

use kodiak::source::{MarkdownFolder, Source};
use kodiak::store::{SourceStatus, SqliteStore};
use serde::Serialize;

/// What happened in a source's folder since it was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    pub(crate) new: usize,
    pub(crate) changed: usize,
    pub(crate) gone: usize,
}

impl Drift {
    /// Compares a folder with what the index knows of it.
    pub(crate) fn between(
        store: &SqliteStore,
        folder: &MarkdownFolder,
        status: &SourceStatus,
    ) -> kodiak::Result<Self> {
        let mut indexed = store.stamps(&status.name)?;
        let skipped: HashSet<&str> = status.skipped.iter().map(|(key, _)| key.as_str()).collect();
        let mut drift = Self::default();
        let listing = folder.list()?;
        for entry in listing.entries {
            match indexed.remove(&entry.key) {
                Some(known) => drift.changed += usize::from(known.differs_from(entry.stamp)),
                None => drift.new += usize::from(!skipped.contains(entry.key.as_str())),
            }
        }
        // What lies in a folder that cannot be read may well be there.
        let hidden = |key: &String| {
            let mut folders = listing.left_out.iter().filter(|one| one.key.ends_with('/'));
            folders.any(|folder| key.starts_with(&folder.key))
        };
        drift.gone = indexed.keys().filter(|key| !hidden(key)).count();
        Ok(drift)
    }

    /// Whether the index is in step.
    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// `3 new, 1 changed`.
    pub(crate) fn phrase(self) -> String {
        let parts = [
            (self.new, "new"),
            (self.changed, "changed"),
            (self.gone, "gone"),
        ];
        let said = parts.iter().filter(|(number, _)| *number > 0);
        let said: Vec<String> = said
            .map(|(number, what)| format!("{number} {what}"))
            .collect();
        said.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases() {
        let drift = Drift {
            new: 3,
            changed: 0,
            gone: 1,
        };
        assert_eq!(drift.phrase(), "3 new, 1 gone");
        assert!(Drift::default().is_none());
    }
}
