//! How far the index is behind its sources, in numbers and words.

use kodiak::source::Source;
use kodiak::store::SqliteStore;
use kodiak::sync;
use serde::Serialize;

/// How much happened in a source since it was indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Drift {
    pub(crate) new: usize,
    pub(crate) changed: usize,
    pub(crate) gone: usize,
}

impl Drift {
    /// Compares a source with what the index knows of it.
    pub(crate) fn between(store: &SqliteStore, source: &dyn Source) -> kodiak::Result<Self> {
        let changes = sync::changes(source, store)?;
        Ok(Self {
            new: changes.new.len(),
            changed: changes.changed.len(),
            gone: changes.gone.len(),
        })
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
