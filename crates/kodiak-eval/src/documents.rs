//! Presents the documents of a test set as a source.

use std::path::PathBuf;

use kodiak::source::{Entry, Listing, Presence, Reading, Source, Version};
use kodiak::{Document, Result};

/// Documents in memory, each an entry of its own, in order.
#[derive(Debug)]
pub(super) struct TestDocuments(pub(super) Vec<Document>);

impl TestDocuments {
    /// Returns the key of an entry. Entries are sorted by key, so the key is
    /// padded to keep the documents in order.
    fn key(number: usize) -> String {
        format!("{number:012}")
    }

    fn get(&self, key: &str) -> Option<&Document> {
        self.0.get(key.parse::<usize>().ok()?)
    }
}

impl Source for TestDocuments {
    fn name(&self) -> &str {
        super::corpus::SOURCE
    }

    fn kind(&self) -> &'static str {
        "test set"
    }

    fn location(&self) -> String {
        String::new()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn list(&self) -> Result<Listing> {
        let entry = |(number, document): (usize, &Document)| Entry {
            key: Self::key(number),
            version: Version::of(document.key.as_bytes()),
            size_hint: document.body.len() as u64,
        };
        Ok(Listing {
            entries: self.0.iter().enumerate().map(entry).collect(),
            ..Listing::default()
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        match self.get(&entry.key) {
            Some(document) => {
                emit(document.clone());
                Ok(Reading::Read {
                    version: entry.version,
                })
            }
            None => Ok(Reading::Gone),
        }
    }

    fn presence(&self, entry_key: &str) -> Presence {
        match self.get(entry_key) {
            Some(document) => Presence::There(Version::of(document.key.as_bytes())),
            None => Presence::Gone,
        }
    }
}
