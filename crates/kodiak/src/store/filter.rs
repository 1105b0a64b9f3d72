//! What a search is limited to, before anything is ranked.

use crate::document::Timestamp;

/// Limits on the documents a search may see. Empty lists and `None` limit
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Any of these sources.
    pub sources: Vec<String>,
    /// All of these tags; a tag includes those below it (`work`, `work/atlas`).
    pub tags: Vec<String>,
    /// Any of these kinds.
    pub kinds: Vec<String>,
    /// Any of these categories.
    pub categories: Vec<String>,
    /// Written or changed at this moment or later.
    pub after: Option<Timestamp>,
    /// Written or changed before this moment.
    pub before: Option<Timestamp>,
    /// Keys that begin with any of these.
    pub paths: Vec<String>,
    /// All of these frontmatter fields with these values.
    pub fields: Vec<(String, String)>,
}

impl Filter {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
