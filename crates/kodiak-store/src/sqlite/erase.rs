//! Erasing documents so that none of their bytes is left in a file.
//!
//! A deleted row stays in the file until its space is used again, the full text only marks
//! documents as deleted, and the write-ahead log keeps the latest writes. So the full text
//! is merged, the file is rewritten, and the log is emptied. That takes as long as copying
//! the index, and is rare.

use rusqlite::Connection;

use super::vector_file::vector_path;
use super::{BUSY, SqliteWriter, log, stemming};
use crate::{EraseStep, Erasing, FrequencyChanges, Transactions, Upkeep, remove_beside};
use kodiak_base::error::{Cause, Error, Result};

impl Erasing for SqliteWriter {
    fn erase(
        &mut self,
        documents: &[(String, String)],
        before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize> {
        before(EraseStep::Rows);
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
        before(EraseStep::Vocabulary);
        self.rebuild_vocabulary()?;
        before(EraseStep::FullText);
        self.with(merge_full_text)?;
        before(EraseStep::Rewriting);
        self.with(rewrite)?;
        before(EraseStep::Vectors);
        // The file beside the index still has the vectors.
        remove_vectors(&self.path)?;
        self.remake_vectors()?;
        before(EraseStep::SetAside);
        remove_set_aside(&self.path)?;
        Ok(removed)
    }

    fn empty_log(&mut self) -> Result<()> {
        if !self.with(|connection| log::empty_log(connection, BUSY))? {
            return Err(Error::Database {
                path: self.path.clone(),
                detail: "another process is reading it".to_owned(),
                cause: Cause::Busy,
            });
        }
        Ok(())
    }

    fn start_over(&mut self) -> Result<()> {
        // Any damage to the tables disappears with them. The stemming stays the same.
        self.counts = FrequencyChanges::default();
        self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT type, name FROM sqlite_schema
                 WHERE name NOT LIKE 'sqlite_%' AND name NOT LIKE 'documents\\_fts\\_%' ESCAPE '\\'
                 AND name NOT LIKE 'links\\_fts\\_%' ESCAPE '\\'
                 AND type IN ('trigger', 'view', 'table')
                 ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END,
                          CASE name WHEN 'documents' THEN 2 WHEN 'tags' THEN 2 WHEN 'models' THEN 2
                                    WHEN 'chunks' THEN 1 WHEN 'entries' THEN 3 ELSE 0 END",
            )?;
            let objects: Vec<(String, String)> = statement
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?;
            drop(statement);
            for (kind, name) in objects {
                connection.execute_batch(&format!("DROP {kind} IF EXISTS \"{name}\""))?;
            }
            for migration in super::MIGRATIONS {
                connection.execute_batch(migration)?;
            }
            stemming::write(connection, self.stemming)
        })?;
        self.find_next_row()
    }
}

impl SqliteWriter {
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
}

/// Merges the parts of the full text, without deleted documents.
pub(super) fn merge_full_text(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "INSERT INTO documents_fts (documents_fts) VALUES ('optimize');
         INSERT INTO links_fts (links_fts) VALUES ('optimize');",
    )
}

/// Rewrites the whole file. The copy is made in a file, not in memory, because
/// an index may be larger than that.
pub(super) fn rewrite(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY;")
}

/// Deletes damaged indexes that were set aside: they hold the same texts, and everything
/// that can be recovered from them is in the index that replaced them.
fn remove_set_aside(index: &std::path::Path) -> Result<()> {
    let name = index.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!("{name}.damaged");
    remove_beside(index, |beside| beside.starts_with(&prefix))
}

/// Deletes the vector file and the unfinished ones of killed processes.
fn remove_vectors(index: &std::path::Path) -> Result<()> {
    let path = vector_path(index);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = format!("{name}.");
    remove_beside(index, |beside| {
        beside == name || (beside.starts_with(&unfinished) && beside.ends_with(".unfinished"))
    })
}
