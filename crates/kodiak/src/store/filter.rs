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
    /// The sources that exist for the caller at all, whatever else is asked for.
    pub scope: Scope,
}

/// The sources that exist for a caller; by default all of them. Only a
/// [`Guard`](crate::access::Guard) makes a narrower one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Option<Vec<String>>);

impl Scope {
    pub(crate) fn of(sources: Vec<String>) -> Self {
        Self(Some(sources))
    }

    /// Returns the names of the sources; `None` where all of them exist.
    pub fn sources(&self) -> Option<&[String]> {
        self.0.as_deref()
    }

    /// Returns whether this source exists.
    pub fn admits(&self, source: &str) -> bool {
        let among = |sources: &[String]| sources.iter().any(|name| name == source);
        self.sources().is_none_or(among)
    }
}

impl Filter {
    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Just the scope of this filter: everything the caller may see.
    #[must_use]
    pub fn scope_only(&self) -> Self {
        Self {
            scope: self.scope.clone(),
            ..Self::default()
        }
    }

    /// Whether documents of this source get through.
    pub fn admits_source(&self, name: &str) -> bool {
        let wanted = self.sources.is_empty() || self.sources.iter().any(|known| known == name);
        wanted && self.scope.admits(name)
    }
}
