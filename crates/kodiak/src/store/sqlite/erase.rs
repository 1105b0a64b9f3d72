//! Erasing documents so that none of their bytes is left in a file.
//!
//! A deleted row stays in the file until its space is used again, the full text
//! only marks documents as deleted, and the write-ahead log keeps what was written
//! last. So the full text is merged, the file is written anew, and the log is
//! emptied. That takes as long as copying the index, and is rare.

use rusqlite::Connection;

use super::SqliteWriter;
use crate::error::{Cause, Error, Result};

impl SqliteWriter {
    /// Removes documents, given by source and key, and every trace of them, also
    /// of what they said before. Returns how many there were. Not allowed inside a
    /// transaction.
    pub fn erase(&mut self, documents: &[(String, String)]) -> Result<usize> {
        // Also for the copy of the file that is made below.
        self.configure("PRAGMA secure_delete = ON")?;
        self.begin()?;
        let removed = match self.take_out_all(documents) {
            Ok(removed) => removed,
            Err(error) => {
                self.roll_back()?;
                return Err(error);
            }
        };
        self.commit()?;
        self.rebuild_vocabulary()?;
        self.with(|connection| {
            // Merges everything, and leaves out what was deleted.
            connection.execute_batch(
                "INSERT INTO documents_fts (documents_fts) VALUES ('optimize');
                 INSERT INTO links_fts (links_fts) VALUES ('optimize');",
            )?;
            rewrite(connection)
        })?;
        self.empty_log()?;
        // The file beside the index still has the vectors.
        self.remake_vectors()?;
        remove_set_aside(&self.path)?;
        Ok(removed)
    }

    fn take_out_all(&mut self, documents: &[(String, String)]) -> Result<usize> {
        let mut removed = 0;
        for (source, key) in documents {
            removed += usize::from(self.take_out(source, key)?);
        }
        self.flush()?;
        self.with(|connection| {
            connection.execute("DELETE FROM terms WHERE documents <= 0", [])?;
            connection.execute(
                "DELETE FROM tags WHERE id NOT IN (SELECT tag FROM document_tags)",
                [],
            )
        })?;
        Ok(removed)
    }

    fn empty_log(&self) -> Result<()> {
        let busy: bool = self.with(|connection| {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        })?;
        if busy {
            return Err(Error::Database {
                path: self.path.clone(),
                detail: "another process reads it, so its log still has the erased text; \
                         run this again"
                    .to_owned(),
                cause: Cause::Busy,
            });
        }
        Ok(())
    }
}

/// Writes the whole file anew. The copy is made in a file, not in memory, because
/// an index may be larger than that.
fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")
}

/// Deletes damaged indexes that were set aside: they hold the same texts, and what
/// can be had from them is in the index that replaced them.
fn remove_set_aside(index: &std::path::Path) -> Result<()> {
    let (Some(folder), Some(name)) = (index.parent(), index.file_name()) else {
        return Ok(());
    };
    let prefix = format!("{}.damaged", name.to_string_lossy());
    let failed = Error::io("read the folder", folder);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return Err(failed(error)),
    };
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            let path = entry.path();
            std::fs::remove_file(&path).map_err(Error::io("delete", &path))?;
        }
    }
    Ok(())
}
