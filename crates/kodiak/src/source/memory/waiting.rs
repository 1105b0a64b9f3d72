//! The memories that were written and may not be indexed yet.
//!
//! Whoever adds a memory must know all others, also those that another process has
//! written a moment ago and that the index does not have yet. To look at every file
//! for that would take too long, so a hidden file lists the few in question. It is
//! only read and written by whoever has the turn at the folder.

use std::fs;
use std::path::PathBuf;

use super::MemoryFolder;
use crate::error::Result;
use crate::source::markdown::files::Temporary;
use crate::source::markdown::stays_inside;

/// The hidden file with the paths of such memories, one on each line.
const FILE: &str = ".kodiak-waiting";

impl MemoryFolder {
    fn waiting_file(&self) -> PathBuf {
        self.folder.root().join(FILE)
    }

    /// Returns the paths of the memories that may not be indexed yet.
    pub(crate) fn waiting(&self) -> Vec<String> {
        // Without the list, at worst a memory is stored twice.
        let text = fs::read_to_string(self.waiting_file()).unwrap_or_default();
        let paths = text.lines().filter(|path| stays_inside(path));
        paths.map(str::to_owned).collect()
    }

    /// Replaces the list by these paths.
    pub(crate) fn set_waiting(&self, paths: &[String]) -> Result<()> {
        let file = self.waiting_file();
        if paths.is_empty() && !file.exists() {
            return Ok(());
        }
        let text: String = paths.iter().map(|path| format!("{path}\n")).collect();
        Temporary::write(self.folder.root(), &text, None)?.replace(&file)
    }
}
