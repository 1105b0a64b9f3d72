//! Finding documents by name. Every command, tool and route that takes a name uses this
//! module, so that a name means the same everywhere.
//!
//! `search/lookup.rs` decides how to read a name.

use super::View;
use crate::document::Reference;
use crate::error::{Error, Result};
use crate::search::Found;

impl View<'_, '_> {
    /// Finds the document that a typed name means: an id or its beginning, a path, an
    /// address, a title or an alias, with or without lines. A title may end like a line
    /// range, so a name that means nothing with lines is tried without them. Changes are
    /// looked for as in [`Engine::get`](super::Engine::get).
    pub fn find(&self, typed: &str) -> Result<Found> {
        // If both readings fail, the error of the likelier one is reported.
        let error = match typed.parse::<Reference>() {
            Ok(reference) => match self.engine.get(self.guard, &reference) {
                Err(error @ Error::NoDocument { .. }) if reference.lines.is_some() => error,
                found => return found,
            },
            Err(error) => error,
        };
        match self.engine.get(self.guard, &Reference::whole(typed)) {
            Err(Error::NoDocument { .. }) => Err(error),
            found => found,
        }
    }
}
