//! Adding and removing documents, in the tables and in the full text.
//!
//! This module keeps tables, full text and counts consistent with each other.
//! `write` begins and ends transactions; analysis has already found the terms
//! and chunks of a document.

use rusqlite::{Connection, OptionalExtension, params};

use super::SqliteWriter;
use super::entries::TOUCHED;
use super::fts5::Replay;
use crate::{EntryRow, Row, State, WriteDocuments, WriteEntries, Writer};
use kodiak_base::error::Result;
use kodiak_text::document::{Document, Version};
use kodiak_text::terms::TermIndexer;
use kodiak_text::{AnalyzedDocument, chunk};

impl WriteDocuments for SqliteWriter {
    fn put_from(&mut self, entry: EntryRow, analyzed: &AnalyzedDocument) -> Result<bool> {
        let document = &analyzed.document;
        // Words must be counted as the full text has them, and the hash of a
        // chunk must be that of the text a model will embed.
        let again;
        let analysis = if analyzed
            .analysis
            .is_made_with(self.chunking, self.stemming())
        {
            &analyzed.analysis
        } else {
            again = self.analyzer().analysis_of(document);
            &again
        };
        let replaced = self.take_out(&document.source, &document.key)?;
        self.counts.add(&analysis.terms, 1);
        let row = self.next_row;
        self.next_row += 1;
        let titles = document.titles();
        let replay = Replay {
            stemming: self.stemming(),
            texts: [&titles, &document.body, &analysis.tags],
            terms: &analysis.terms,
        };
        self.set_triggers(false)?;
        self.with(|connection| {
            insert(connection, row, entry, document)?;
            replay.during(|| insert_full_text(connection, row, document))
        })?;
        self.insert_chunks(row, &analysis.chunks)?;
        let names = [&document.source, &document.key, &document.title];
        self.insert_links(row, names.map(String::as_str), &analysis.links)?;
        Ok(replaced)
    }

    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()> {
        let thread = document.thread.as_ref();
        self.with(|connection| {
            let changed = connection
                .prepare_cached(
                    "UPDATE documents SET entry = ?3, created_at = ?4, updated_at = ?5,
                        markup = ?6, thread = ?7, position = ?8, author = ?9, project = ?10
                     WHERE source = ?1 AND key = ?2 AND (entry, created_at, updated_at,
                        markup, thread, position, author, project)
                        IS NOT (?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                )?
                .execute(params![
                    document.source,
                    document.key,
                    entry,
                    document.created_at,
                    document.updated_at,
                    document.markup.name(),
                    thread.map(|thread| &thread.name),
                    thread.and_then(|thread| thread.position),
                    document.author,
                    document.project,
                ])?;
            if changed > 0 {
                connection
                    .prepare_cached(
                        "INSERT INTO meta (key, value) VALUES (?1, '1')
                         ON CONFLICT (key) DO UPDATE SET value = value + 1",
                    )?
                    .execute([TOUCHED])?;
            }
            Ok(())
        })
    }
}

impl SqliteWriter {
    /// Adds a document with an entry, or replaces the one with the same source and key.
    pub fn put(&mut self, analyzed: &AnalyzedDocument) -> Result<()> {
        let Document { source, key, .. } = &analyzed.document;
        let entry = self.put_entry(source, key, Version::UNKNOWN, 0, None)?;
        self.put_from(entry, analyzed).map(drop)
    }

    /// Deletes a document and removes it from the full text and the counts.
    /// Returns whether there was one.
    pub(super) fn take_out(&mut self, source: &str, key: &str) -> Result<bool> {
        let found: Option<(Row, bool)> = self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, deleted_at IS NULL FROM documents WHERE source = ?1 AND key = ?2",
                )?
                .query_row([source, key], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()
        })?;
        let Some((row, counted)) = found else {
            return Ok(false);
        };
        if counted {
            self.discount(row)?;
        }
        self.set_triggers(false)?;
        self.remove_links(row)?;
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM documents_fts WHERE rowid = ?1")?
                .execute([row])?;
            connection
                .prepare_cached("DELETE FROM documents WHERE id = ?1")?
                .execute([row])?;
            Ok(true)
        })
    }

    /// Subtracts the terms of a document from the counts.
    fn discount(&mut self, row: Row) -> Result<()> {
        let texts: Option<[String; 3]> = self.with(|connection| {
            connection
                .prepare_cached("SELECT title, body, tags FROM documents_text WHERE id = ?1")?
                .query_row([row], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))
                .optional()
        })?;
        if let Some(texts) = texts {
            let stemming = self.stemming();
            let indexer = self
                .old_terms
                .get_or_insert_with(|| TermIndexer::new(stemming));
            let terms = indexer.index(texts.each_ref().map(String::as_str));
            self.counts.add(&terms, -1);
        }
        Ok(())
    }
}

/// Inserts a document into all tables but the full text and the chunks.
fn insert(
    connection: &Connection,
    row: Row,
    entry: EntryRow,
    document: &Document,
) -> rusqlite::Result<()> {
    // Only statements that change one row of one table: any other may have to
    // be undone halfway, and before each of those FTS5 writes out what it has
    // collected.
    connection
        .prepare_cached("INSERT INTO bodies (document, front, body) VALUES (?1, ?2, ?3)")?
        .execute(params![row, document.front, document.body])?;
    for (ordinal, tag) in document.tags.iter().enumerate() {
        let tag = tag_number(connection, tag)?;
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO document_tags (document, tag, ordinal) VALUES (?1, ?2, ?3)",
            )?
            .execute(params![row, tag, ordinal])?;
    }
    for (name, value) in document.flat_fields() {
        connection
            .prepare_cached("INSERT INTO fields (document, name, value) VALUES (?1, ?2, ?3)")?
            .execute(params![row, name, value])?;
    }
    let thread = document.thread.as_ref();
    connection
        .prepare_cached(
            "INSERT INTO documents (id, uid, source, key, kind, title, category, created_at,
                updated_at, hash, problem, chunked, entry, markup, thread, position, author,
                project)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
                ?18)",
        )?
        .execute(params![
            row,
            document.id().hex(),
            document.source,
            document.key,
            document.kind,
            document.title,
            document.category,
            document.created_at,
            document.updated_at,
            document.hash,
            document.problem,
            chunk::FORMAT,
            entry,
            document.markup.name(),
            thread.map(|thread| &thread.name),
            thread.and_then(|thread| thread.position),
            document.author,
            document.project,
        ])
        .map(drop)
}

/// Inserts a document into the full text, in the form of the view
/// `documents_text`.
fn insert_full_text(
    connection: &Connection,
    row: Row,
    document: &Document,
) -> rusqlite::Result<()> {
    // How tags are spelt, and which of them are the same, only the tables know.
    let tags: String = if document.tags.is_empty() {
        String::new()
    } else {
        connection
            .prepare_cached("SELECT tags FROM documents_text WHERE id = ?1")?
            .query_row([row], |row| row.get(0))?
    };
    connection
        .prepare_cached(
            "INSERT INTO documents_fts (rowid, title, body, tags) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![row, document.titles(), document.body, tags])
        .map(drop)
}

/// Returns the number of a tag. Adds the tag if it is new.
fn tag_number(connection: &Connection, tag: &str) -> rusqlite::Result<i64> {
    let known = connection
        .prepare_cached("SELECT id, name FROM tags WHERE name = ?1")?
        .query_row([tag], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let Some((number, name)) = known else {
        return connection
            .prepare_cached("INSERT INTO tags (name) VALUES (?1)")?
            .insert([tag]);
    };
    // The spelling that was written last counts, so that a tag can be renamed
    // from `Work` to `work`.
    if name != tag {
        connection
            .prepare_cached("UPDATE tags SET name = ?2 WHERE id = ?1")?
            .execute(params![number, tag])?;
    }
    Ok(number)
}

#[cfg(test)]
#[path = "documents_tests.rs"]
mod tests;
