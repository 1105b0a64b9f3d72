//! What lies beside an index and may say what its documents say, such as the indexes of
//! folders that were searched once. The program that puts it there says how it is erased,
//! and every erasing does that, whichever process carries it out.

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

    /// Erases what may say what these documents say, each given by its source and its key.
    pub(super) fn erase(&self, documents: &[(String, String)]) -> Result<()> {
        self.0.iter().try_for_each(|erase| erase(documents))
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Surroundings({})", self.0.len())
    }
}
