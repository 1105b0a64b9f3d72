//! Data beside an index that may contain text of its documents, such as the indexes of
//! folders that were searched once. The program that keeps such data provides a function
//! that erases it, which every erasing calls, whichever process carries it out.

use std::fmt;

use crate::error::Result;

type Erase = Box<dyn Fn(&[(String, String)]) -> Result<()> + Send + Sync>;

/// Everything beside an index that an erasing covers.
#[derive(Default)]
pub(super) struct Surroundings(Vec<Erase>);

impl Surroundings {
    pub(super) fn add(
        &mut self,
        erase: impl Fn(&[(String, String)]) -> Result<()> + Send + Sync + 'static,
    ) {
        self.0.push(Box::new(erase));
    }

    /// Erases the text of these documents from the data, each given by its source and its
    /// key.
    pub(super) fn erase(&self, documents: &[(String, String)]) -> Result<()> {
        self.0.iter().try_for_each(|erase| erase(documents))
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Surroundings({})", self.0.len())
    }
}
