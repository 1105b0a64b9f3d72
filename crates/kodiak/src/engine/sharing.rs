//! An index that several machines share, each with its own sources.
//!
//! The location of a source says in the index which machine it is on. A machine reads and
//! changes only its own sources: it neither removes unknown sources nor compares the
//! sources of others with its files. Two machines cannot use one name.

use crate::error::{Error, Result};
use crate::store::{Filter, Reader};

/// Separates the name of a machine from a location on it.
const SEPARATOR: &str = ":";

/// This machine, among those that share an index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// Its name, which no other one has. It is shown to the others.
    pub name: String,
    /// The sources that every machine has alike, because they are kept in the index.
    pub everywhere: Vec<String>,
}

impl Machine {
    /// Returns where a source is as the index says it.
    pub fn place(&self, source: &str, location: &str) -> String {
        if self.has_everywhere(source) {
            return location.to_owned();
        }
        format!("{}{SEPARATOR}{location}", self.name)
    }

    /// Returns where a source of another machine is, as the index says it; `None` if this
    /// machine may use the name.
    pub fn elsewhere(&self, source: &str, reader: &dyn Reader) -> Result<Option<String>> {
        if self.has_everywhere(source) {
            return Ok(None);
        }
        let only = Filter {
            sources: vec![source.to_owned()],
            ..Filter::default()
        };
        let known = reader.locations(&only)?.into_iter();
        let known = known.map(|(_, place)| place).next();
        Ok(known.filter(|place| !self.is_here(place)))
    }

    /// Returns the location of a source of this machine, given where it is as the index says
    /// it; `None` for one of another machine, and for one that every machine has.
    pub fn location<'p>(&self, place: &'p str) -> Option<&'p str> {
        let rest = place.strip_prefix(self.name.as_str())?;
        rest.strip_prefix(SEPARATOR)
    }

    /// Fails if another machine has a source of this name.
    pub(super) fn require_own(&self, source: &str, reader: &dyn Reader) -> Result<()> {
        match self.elsewhere(source, reader)? {
            None => Ok(()),
            Some(location) => Err(Error::SourceElsewhere {
                name: source.to_owned(),
                location,
            }),
        }
    }

    fn has_everywhere(&self, source: &str) -> bool {
        self.everywhere.iter().any(|name| name == source)
    }

    fn is_here(&self, place: &str) -> bool {
        self.location(place).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_that_of_one_machine() {
        let machine = |name: &str| Machine {
            name: name.to_owned(),
            everywhere: vec!["memory".to_owned()],
        };
        let (desk, desktop) = (machine("desk"), machine("desktop"));
        let place = desk.place("notes", "/notes");
        assert_eq!(place, "desk:/notes");
        assert!(desk.is_here(&place) && !desktop.is_here(&place));
        assert!(!desk.is_here(&desktop.place("notes", "/notes")));
        assert_eq!(desk.location(&place), Some("/notes"));
        assert_eq!(desktop.location(&place), None);
        assert_eq!(desk.place("memory", "postgres://x"), "postgres://x");
    }
}
