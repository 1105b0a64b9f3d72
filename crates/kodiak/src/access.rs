//! Access control, checked before anything is read.
//!
//! Every engine method that reads or writes, and every search, takes a
//! [`Guard`]. The person at the machine holds all capabilities; a server or a
//! token may hold fewer. Code that uses a store directly, below those two, is
//! not guarded.

use crate::error::{Error, Result};
use crate::store::{Filter, Scope};

/// A kind of access that can be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// Finding documents.
    Search,
    /// Reading whole documents.
    Read,
    /// Writing documents.
    Write,
    /// Changing the sources and the settings of the index.
    Admin,
}

impl Capability {
    const ALL: [Self; 4] = [Self::Search, Self::Read, Self::Write, Self::Admin];

    /// Returns its name, as errors and settings spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// The capabilities of a caller, and the documents that exist for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    held: Vec<Capability>,
    scope: Scope,
    /// What is counted and compared for the caller. It is wider than the scope where
    /// a method looks only among some of what exists for the caller.
    view: Scope,
    /// The name of the caller, recorded in everything that it writes.
    writer: Option<String>,
}

impl Guard {
    /// Returns the guard of the person at the machine: all capabilities, and
    /// everything exists.
    pub fn local() -> Self {
        Self::holding(Capability::ALL)
    }

    /// Returns a guard with these capabilities, for which everything exists.
    pub fn holding(capabilities: impl IntoIterator<Item = Capability>) -> Self {
        Self {
            held: capabilities.into_iter().collect(),
            scope: Scope::default(),
            view: Scope::default(),
            writer: None,
        }
    }

    /// Returns a guard with all capabilities for which the same exists.
    #[must_use]
    pub fn with_all_capabilities(&self) -> Self {
        Self {
            held: Capability::ALL.to_vec(),
            scope: self.scope.clone(),
            view: self.view.clone(),
            writer: self.writer.clone(),
        }
    }

    /// Returns a guard that looks only among these sources. Unlike [`Guard::within`], it
    /// still counts everything that exists for the caller.
    #[must_use]
    pub fn among(&self, sources: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let sources = sources.into_iter().map(Into::into);
        Self {
            held: self.held.clone(),
            scope: self.scope.clone().of_sources(sources.collect()),
            view: self.view.clone(),
            writer: self.writer.clone(),
        }
    }

    /// Restricts the guard: only these sources exist for the caller.
    #[must_use]
    pub fn within(self, sources: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let sources: Vec<String> = sources.into_iter().map(Into::into).collect();
        Self {
            scope: self.scope.of_sources(sources.clone()),
            view: self.view.of_sources(sources),
            held: self.held,
            writer: self.writer,
        }
    }

    /// Restricts the guard: only the documents of this project exist for the caller;
    /// documents without a project do not.
    #[must_use]
    pub fn in_project(self, project: impl Into<String>) -> Self {
        let project = project.into();
        Self {
            scope: self.scope.of_project(project.clone()),
            view: self.view.of_project(project),
            held: self.held,
            writer: self.writer,
        }
    }

    /// Names the caller. Documents that it creates record this name as their author, and
    /// documents that it changes as their editor. A caller without a name leaves no record.
    #[must_use]
    pub fn writing_as(mut self, name: impl Into<String>) -> Self {
        self.writer = Some(name.into());
        self
    }

    /// Returns the name of the caller, if it has one.
    pub fn writer(&self) -> Option<&str> {
        self.writer.as_deref()
    }

    /// Returns the project that the caller is restricted to.
    pub fn project(&self) -> Option<&str> {
        self.scope.project()
    }

    /// Returns what is counted and compared for the caller.
    pub(crate) fn view(&self) -> &Scope {
        &self.view
    }

    /// Reports whether everything exists for the caller.
    pub fn sees_everything(&self) -> bool {
        self.scope.is_everything()
    }

    /// Reports whether the same exists for the callers of both guards, and both may do the
    /// same with it. Their names do not count.
    pub fn sees_like(&self, other: &Self) -> bool {
        let same = |one: &[Capability], other: &[Capability]| {
            one.iter().all(|capability| other.contains(capability))
        };
        self.scope == other.scope
            && self.view == other.view
            && same(&self.held, &other.held)
            && same(&other.held, &self.held)
    }

    /// Returns the guard that allows only what both guards allow.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let held = self.held.iter().copied();
        Self {
            held: held.filter(|one| other.held.contains(one)).collect(),
            scope: self.scope.and(&other.scope),
            view: self.view.and(&other.view),
            // The name that was given last, which is that of a token.
            writer: other.writer.clone().or_else(|| self.writer.clone()),
        }
    }

    /// Fails if a capability is not held.
    pub fn require(&self, capability: Capability) -> Result<()> {
        if self.held.contains(&capability) {
            return Ok(());
        }
        Err(Error::NotAllowed {
            capability: capability.name(),
        })
    }

    /// Fails unless everything exists for the caller.
    pub fn require_everything(&self) -> Result<()> {
        if self.sees_everything() {
            return Ok(());
        }
        Err(Error::OutOfScope)
    }

    /// Fails if the caller is restricted to a project.
    pub fn require_all_projects(&self) -> Result<()> {
        self.project().map_or(Ok(()), |_| Err(Error::OutOfScope))
    }

    /// Reports whether this source exists for the caller.
    pub fn admits(&self, source: &str) -> bool {
        self.scope.admits(source)
    }

    /// Returns the filter restricted to the scope.
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
    fn two_guards_allow_what_both_do() {
        let server = Guard::local().within(["work", "home"]);
        let token = Guard::holding([Capability::Search]).within(["home", "private"]);
        let both = server.and(&token);
        both.require(Capability::Search).unwrap();
        both.require(Capability::Read).unwrap_err();
        let admitted = ["work", "home", "private"].map(|source| both.admits(source));
        assert_eq!(admitted, [false, true, false]);
        assert_eq!(both, token.and(&server));
        assert!(Guard::local().and(&Guard::local()).sees_everything());
        let atlas = Guard::local().in_project("atlas");
        assert_eq!(Guard::local().and(&atlas).project(), Some("atlas"));
        assert_eq!(atlas.and(&Guard::local()).project(), Some("atlas"));
        assert_eq!(atlas.and(&atlas), atlas);
        // No document is in two projects.
        let neither = atlas.and(&Guard::local().in_project("other"));
        assert!(!neither.admits("work") && neither.project().is_some());
        let nothing = Guard::local()
            .within(["a"])
            .and(&Guard::local().within(["b"]));
        assert!(!nothing.admits("a") && !nothing.admits("b") && !nothing.sees_everything());
    }

    #[test]
    fn callers_see_alike_whatever_they_are_called() {
        let reader = || Guard::holding([Capability::Search, Capability::Read]).within(["work"]);
        let other = Guard::holding([Capability::Read, Capability::Search]).within(["work"]);
        assert!(
            reader()
                .writing_as("ada")
                .sees_like(&other.clone().writing_as("bob"))
        );
        for different in [
            Guard::local().within(["work"]),
            Guard::holding([Capability::Search]).within(["work"]),
            reader().in_project("atlas"),
            Guard::holding([Capability::Search, Capability::Read]),
            reader().among(["home"]),
        ] {
            assert!(!reader().sees_like(&different) && !different.sees_like(&reader()));
        }
    }

    #[test]
    fn a_caller_keeps_its_name() {
        let ada = Guard::local().writing_as("ada");
        for guard in [
            ada.with_all_capabilities(),
            ada.among(["a"]),
            ada.clone().within(["a"]),
            ada.clone().in_project("atlas"),
            ada.and(&Guard::local()),
            Guard::local().and(&ada),
        ] {
            assert_eq!(guard.writer(), Some("ada"));
        }
        assert_eq!(Guard::local().writer(), None);
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
