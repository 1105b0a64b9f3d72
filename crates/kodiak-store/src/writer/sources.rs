//! Sources, and the containers in them.

use kodiak_base::error::Result;
use kodiak_text::document::Version;

/// Records sources and their containers.
pub trait WriteSources {
    /// Adds a source, or updates the location of a known one.
    fn put_source(&mut self, name: &str, location: &str) -> Result<()>;

    /// Records that a source was synced completely at this moment.
    fn mark_synced(&mut self, name: &str, at: i64) -> Result<()>;

    /// Removes a source and everything indexed from it.
    fn remove_source(&mut self, name: &str) -> Result<()>;

    /// Records the version of a container.
    fn put_container(&mut self, source: &str, key: &str, version: Version) -> Result<()>;

    /// Removes the record of a container. The entries in it stay.
    fn remove_container(&mut self, source: &str, key: &str) -> Result<()>;
}
