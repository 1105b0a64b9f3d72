//! The filter that limits a search before anything is ranked.

use std::sync::Arc;

use super::Row;
use super::vectors::Bitmap;
use kodiak_text::document::Timestamp;

/// Limits on the documents that a search may find. Empty lists and `None` set
/// no limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The document is from any of these sources.
    pub sources: Vec<String>,
    /// The document has all of these tags. A tag includes those below it:
    /// `work` includes `work/atlas`.
    pub tags: Vec<String>,
    /// The document is of any of these kinds.
    pub kinds: Vec<String>,
    /// The document is of none of these kinds.
    pub not_kinds: Vec<String>,
    /// The document is in any of these categories.
    pub categories: Vec<String>,
    /// The document was written or changed at this moment or later.
    pub after: Option<Timestamp>,
    /// The document was written or changed before this moment.
    pub before: Option<Timestamp>,
    /// The document was written at this moment or earlier; if it does not say when,
    /// it was last changed by then.
    pub as_of: Option<Timestamp>,
    /// The document's key begins with any of these.
    pub paths: Vec<String>,
    /// The document's key begins with none of these, each in the source it names or in
    /// all. The empty beginning stands for the whole source.
    pub not_paths: Vec<(Option<String>, String)>,
    /// The document belongs to any of these projects.
    pub projects: Vec<String>,
    /// The document belongs to none of these projects.
    pub not_projects: Vec<String>,
    /// The document has all of these frontmatter fields with these values.
    pub fields: Vec<(String, String)>,
    /// The document is none of these.
    pub without: Vec<Row>,
    /// The documents that exist for the caller, whatever else the filter demands.
    pub scope: Scope,
}

/// The documents that exist for a caller: all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    sources: Option<Vec<String>>,
    project: Option<String>,
    members: Members,
}

/// The documents of a scope in one state of the index, if they were looked up. Two
/// scopes are the same whether they were or not.
#[derive(Clone, Debug, Default)]
struct Members(Option<Arc<Bitmap>>);

impl PartialEq for Members {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Members {}

impl Scope {
    /// Returns the scope with only these sources.
    #[must_use]
    pub fn of_sources(self, sources: Vec<String>) -> Self {
        Self {
            sources: Some(sources),
            project: self.project,
            members: Members::default(),
        }
    }

    /// Returns the scope with only the documents of this project.
    #[must_use]
    pub fn of_project(self, project: String) -> Self {
        Self {
            sources: self.sources,
            project: Some(project),
            members: Members::default(),
        }
    }

    /// Returns the intersection of both scopes. No document is in two projects.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let projects = (&self.project, &other.project);
        let apart = matches!(projects, (Some(one), Some(another)) if one != another);
        let sources = match (&self.sources, &other.sources) {
            _ if apart => Some(Vec::new()),
            (Some(ours), Some(theirs)) => {
                let mut both: Vec<_> = ours
                    .iter()
                    .filter(|one| theirs.contains(one))
                    .cloned()
                    .collect();
                both.sort();
                Some(both)
            }
            (ours, theirs) => ours.clone().or_else(|| theirs.clone()),
        };
        Self {
            sources,
            project: self.project.clone().or_else(|| other.project.clone()),
            members: Members::default(),
        }
    }

    /// Returns the scope with its documents, which spares a store to look them up
    /// for every query.
    #[must_use]
    pub fn with_members(&self, members: Arc<Bitmap>) -> Self {
        Self {
            members: Members(Some(members)),
            ..self.clone()
        }
    }

    /// Returns the names of the sources, or `None` if all sources exist.
    pub fn sources(&self) -> Option<&[String]> {
        self.sources.as_deref()
    }

    /// Returns the project whose documents exist, or `None` if documents of every project
    /// and of none exist.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Reports whether everything exists.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Reports whether a source exists.
    pub fn admits(&self, source: &str) -> bool {
        let among = |sources: &[String]| sources.iter().any(|name| name == source);
        self.sources().is_none_or(among)
    }
}

impl Filter {
    /// Reports whether the filter sets no limit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the documents that the filter admits, if it has only a scope whose
    /// documents are known.
    pub fn members(&self) -> Option<&Arc<Bitmap>> {
        let members = self.scope.members.0.as_ref()?;
        (*self == self.scope_only()).then_some(members)
    }

    /// Returns a filter with only the scope of this one: everything the caller
    /// may see.
    #[must_use]
    pub fn scope_only(&self) -> Self {
        Self {
            scope: self.scope.clone(),
            ..Self::default()
        }
    }

    /// Reports whether the filter admits documents of a source.
    pub fn admits_source(&self, name: &str) -> bool {
        let wanted = self.sources.is_empty() || self.sources.iter().any(|known| known == name);
        wanted && self.scope.admits(name)
    }
}
