//! Sources that were registered after an engine was built.
//!
//! An engine may wait for its turn at writing while another process registers a source
//! and indexes it. Whatever removes the sources that it does not know asks here first,
//! while it holds the lock: a process that registers a source indexes it only after that.

use std::fmt;

use crate::error::Result;
use crate::source::Source;

/// A source by its name, opened if that is possible now.
pub type LaterSource = (String, Result<Box<dyn Source>>);

/// Where an engine learns of sources that were registered after it was built.
pub(super) struct Later(Box<dyn Fn() -> Vec<LaterSource> + Send + Sync>);

impl Later {
    pub(super) fn new(registered: impl Fn() -> Vec<LaterSource> + Send + Sync + 'static) -> Self {
        Self(Box::new(registered))
    }

    /// Returns the sources that are registered now and that are not among those with
    /// these names.
    pub(super) fn sources(&self, known: &[String]) -> Vec<LaterSource> {
        let mut sources = (self.0)();
        sources.retain(|(name, _)| !known.contains(name));
        sources
    }
}

impl Default for Later {
    fn default() -> Self {
        Self::new(Vec::new)
    }
}

impl fmt::Debug for Later {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Later")
    }
}
