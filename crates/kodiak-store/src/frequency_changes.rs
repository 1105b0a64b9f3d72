//! What added and removed documents change in the document frequencies of terms and words,
//! collected in memory until it is written.

use rustc_hash::FxHashMap;

use kodiak_text::terms::DocumentTerms;

/// Changes to the document frequencies that are not written yet.
#[derive(Debug, Default)]
pub struct FrequencyChanges {
    terms: FxHashMap<Box<str>, i64>,
    words: FxHashMap<Box<str>, i64>,
}

impl FrequencyChanges {
    /// Counts a document: `change` is 1 if it is added and -1 if it is removed.
    pub fn add(&mut self, document: &DocumentTerms, change: i64) {
        for (counts, names) in [
            (&mut self.terms, &document.terms),
            (&mut self.words, &document.words),
        ] {
            for name in names.iter() {
                match counts.get_mut(name) {
                    Some(count) => *count += change,
                    None => {
                        counts.insert(Box::from(name), change);
                    }
                }
            }
        }
    }

    /// Returns the terms whose frequency changes, each with the change, in order.
    pub fn terms(&self) -> Vec<(&str, i64)> {
        changed(&self.terms)
    }

    /// Returns the words whose frequency changes, each with the change, in order.
    pub fn words(&self) -> Vec<(&str, i64)> {
        changed(&self.words)
    }
}

/// Returns the names that change. They are sorted, so that neighbouring rows are written
/// together.
fn changed(counts: &FxHashMap<Box<str>, i64>) -> Vec<(&str, i64)> {
    let changes = counts.iter().filter(|(_, change)| **change != 0);
    let mut changes: Vec<(&str, i64)> = changes.map(|(name, change)| (&**name, *change)).collect();
    changes.sort_unstable();
    changes
}
