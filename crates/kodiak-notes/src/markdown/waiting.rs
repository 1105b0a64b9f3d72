//! The files that were written and may not be indexed yet.
//!
//! A process that adds a memory must know all others, also those that another process has
//! written a moment ago and that the index does not have yet. To look at every file
//! for that would take too long, so a hidden file lists the few in question. It is
//! only read and written by the process that has its turn at the folder.

use std::path::{Path, PathBuf};

use super::{MarkdownFolder, stays_inside};
use kodiak_base::files;
use kodiak_base::files::folder::Folder;
use kodiak_base::files::temporary::{Rights, Temporary};
use kodiak_base::{Error, Result};

/// The hidden file with the paths of such files, one on each line.
const FILE: &str = ".kodiak-waiting";
/// The most bytes of it.
const MAX_BYTES: u64 = 1 << 20;

impl MarkdownFolder {
    fn waiting_file(&self) -> PathBuf {
        self.root().join(FILE)
    }

    /// Returns the paths of the files that may not be indexed yet.
    pub(super) fn waiting(&self) -> Vec<String> {
        // Without the list, at worst a memory is stored twice.
        let text = files::read_text(self.waiting_file(), MAX_BYTES).unwrap_or_default();
        let paths = text.lines().filter(|path| stays_inside(path));
        paths.map(str::to_owned).collect()
    }

    /// Replaces the list by these paths.
    pub(super) fn set_waiting(&self, paths: &[String]) -> Result<()> {
        let file = self.waiting_file();
        if paths.is_empty() && !file.exists() {
            return Ok(());
        }
        let text: String = paths.iter().map(|path| format!("{path}\n")).collect();
        let root = self.root();
        let folder = Folder::root(root).map_err(Error::io("open the folder", root))?;
        Temporary::write(&folder, text.as_bytes(), Rights::AsFolder)
            .and_then(|complete| complete.replace(Path::new(FILE)))
            .map_err(Error::io("write", &file))?;
        Ok(())
    }
}
