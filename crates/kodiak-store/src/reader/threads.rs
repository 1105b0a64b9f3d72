//! Conversations and sessions.

use std::collections::HashMap;

use crate::Row;
use kodiak_base::error::Result;

/// Returns which documents belong together, and who said each.
pub trait Threads {
    /// Returns the threads that contain any of these documents, each with all
    /// of its documents in order.
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>>;

    /// Returns the author or speaker of each of these documents, where known.
    fn authors_of(&self, rows: &[Row]) -> Result<HashMap<Row, String>>;
}
