//! Who may do what, asked before anything is read.
//!
//! Every method of an engine and every search takes a [`Guard`]. The person at
//! the machine holds all of it; a server or a token may hold less. What works on
//! a store directly, below those two, is not guarded.

use crate::error::{Error, Result};
use crate::store::{Filter, Scope};

/// Something that can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Finding documents.
    Search,
    /// Reading documents as a whole.
    Read,
    /// Writing documents.
    Write,
    /// Changing what is indexed and how.
    Admin,
}

impl Capability {
    const ALL: [Self; 4] = [Self::Search, Self::Read, Self::Write, Self::Admin];

    /// Its name, as refusals and settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// What the caller holds, and which sources exist for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    held: Vec<Capability>,
    scope: Scope,
}

impl Guard {
    /// The person at the machine: everything, everywhere.
    pub fn local() -> Self {
        Self::holding(Capability::ALL)
    }

    /// Just these capabilities, everywhere.
    pub fn holding(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Self {
            held: capabilities.into_iter().collect(),
            scope: Scope::default(),
        }
    }

    /// The same, but only these sources exist.
    #[must_use]
    pub fn within(self, sources: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let sources = sources.into_iter().map(Into::into);
        Self {
            scope: Scope::of(sources.collect()),
            ..self
        }
    }

    /// Refuses what is not held.
    pub fn require(&self, capability: Capability) -> Result<()> {
        if self.held.contains(&capability) {
            return Ok(());
        }
        Err(Error::NotAllowed {
            capability: capability.name(),
        })
    }

    /// Returns whether this source exists for the caller.
    pub fn admits(&self, source: &str) -> bool {
        self.scope.admits(source)
    }

    /// The filter with what is outside of the scope shut out.
    pub fn narrow(&self, filter: &Filter) -> Filter {
        Filter {
            scope: self.scope.clone(),
            ..filter.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_what_is_missing() {
        let reader = Guard::holding([Capability::Search, Capability::Read]);
        reader.require(Capability::Read).unwrap();
        let refused = reader.require(Capability::Write).unwrap_err().to_string();
        assert!(refused.contains("'write'"), "{refused}");
        for capability in Capability::ALL {
            Guard::local().require(capability).unwrap();
        }
    }

    #[test]
    fn a_scope_is_no_wish() {
        let wished = Filter {
            sources: vec!["private".into()],
            ..Filter::default()
        };
        let narrowed = Guard::local().within(["work"]).narrow(&wished);
        assert_eq!(narrowed.sources, ["private"]);
        assert_eq!(narrowed.scope.sources(), Some(&["work".to_owned()][..]));
        assert_eq!(Guard::local().narrow(&wished), wished);
    }
}
