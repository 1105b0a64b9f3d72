//! The sources that an index has documents of.

use std::collections::HashMap;

use crate::Filter;
use kodiak_base::error::Result;
use kodiak_text::document::{Timestamp, Version};

/// The state of a source in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub location: String,
    /// When it was last synced completely.
    pub synced_at: Option<Timestamp>,
    /// The number of its documents in the index.
    pub documents: u64,
    /// The files that were skipped, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The documents that were indexed in spite of a problem, each with the
    /// problem.
    pub problems: Vec<(String, String)>,
}

/// Returns the records of sources.
pub trait Sources {
    /// Returns the sources in the index with their counts, sorted by name.
    fn sources(&self) -> Result<Vec<SourceStatus>>;

    /// Returns the sources that a filter admits, each with its location.
    fn locations(&self, filter: &Filter) -> Result<Vec<(String, String)>>;

    /// Returns the stored version of every container of a source, by key.
    fn containers(&self, source: &str) -> Result<HashMap<String, Version>>;

    /// Returns the number of documents indexed from a source.
    fn documents_of_source(&self, source: &str) -> Result<u64>;
}
