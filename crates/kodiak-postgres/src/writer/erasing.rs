//! Erasing documents.

use super::PostgresWriter;
use super::buffer::{Buffer, Lookups};
use crate::address::quoted;
use crate::merging::Which;
use crate::schema::{ANALYSIS, GENERATION};
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::{EraseStep, Erasing, Transactions, Upkeep as _};
use kodiak_text::document::DocumentId;

/// The tables whose content goes when an index is emptied.
const CONTENT: &str =
    "sources, entries, containers, documents, bodies, tags, document_tags, fields,
     segments, postings, terms, words, links, link_terms, names, chunks, models, embeddings,
     embedding_failures";

/// The tables beside it from which something may have been erased.
const TEAM: [&str; 2] = ["team_files", "journals"];

/// Returns all tables from which something may have been erased.
fn tables() -> Vec<&'static str> {
    CONTENT.split(',').map(str::trim).chain(TEAM).collect()
}

impl Erasing for PostgresWriter {
    /// Rewrites the segments of the documents, so that no row has any of their text.
    /// [`Erasing::empty_log`] takes the deleted rows out of the tables.
    fn erase(
        &mut self,
        documents: &[(String, String)],
        before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize> {
        before(EraseStep::Rows);
        self.begin()?;
        let erased = self.erase_rows(documents, before);
        match erased {
            Ok(removed) => {
                self.commit()?;
                self.reader.shared.cache.clear();
                self.reader.shared.known.clear();
                before(EraseStep::Vectors);
                self.reader.erase_derived()?;
                before(EraseStep::SetAside);
                self.drop_set_aside()?;
                Ok(removed)
            }
            Err(error) => {
                self.roll_back()?;
                Err(error)
            }
        }
    }

    /// Writes the tables anew that had texts of what was erased. The server keeps its log, and
    /// copies elsewhere, for as long as it is told to.
    fn empty_log(&mut self) -> Result<()> {
        self.reader.shared.rewrite(&tables())
    }

    fn start_over(&mut self) -> Result<()> {
        self.change(|writer| {
            writer.with(|open| {
                open.buffer = Buffer::default();
                open.documents = Lookups::default();
                open.entries = Lookups::default();
                open.written += 1;
                open.dirty = true;
            })?;
            let revision = writer.with(|open| open.revision + open.written)?;
            let mut queries: Vec<Query> = CONTENT
                .split(',')
                .map(|table| Query::new(format!("DELETE FROM {}", table.trim())))
                .collect();
            // What was before is not part of its past.
            queries.push(Query::new("DELETE FROM states"));
            queries.push(
                Query::new(format!(
                    "UPDATE state SET generation = {GENERATION}, revision = $1, changed = $1,
                        documents = 0, length = 0, analysis = $2 RETURNING generation"
                ))
                .with(revision)
                .with(ANALYSIS),
            );
            let answers = writer.reader.ask(&queries)?;
            writer.reader.forget_live();
            if let Some(row) = answers.last().and_then(|rows| rows.first()) {
                writer.reader.set_generation(get(row, 0)?);
            }
            Ok(())
        })
    }
}

impl PostgresWriter {
    fn erase_rows(
        &mut self,
        documents: &[(String, String)],
        before: &mut dyn FnMut(EraseStep),
    ) -> Result<usize> {
        let uids = documents
            .iter()
            .map(|(source, key)| DocumentId::new(source, key).hex());
        let uids: Vec<String> = uids.collect();
        let query = Query::new("SELECT id FROM documents WHERE uid = ANY($1)").with(&uids[..]);
        let rows = self.rows_among(query)?;
        self.remove(&rows)?;
        self.note_change()?;
        before(EraseStep::Vocabulary);
        self.rebuild_vocabulary()?;
        before(EraseStep::FullText);
        self.merge(Which::WithDeleted)?;
        // The other servers drop what they keep.
        self.execute(Query::new("UPDATE state SET erased = erased + 1"))?;
        Ok(rows.len())
    }

    /// Deletes damaged indexes that were set aside: they hold the same texts.
    fn drop_set_aside(&self) -> Result<()> {
        let shared = &self.reader.shared;
        let connection = shared.pool.take()?;
        connection.set_patience(crate::connection::LONG);
        let named = Query::new(
            "SELECT nspname::text FROM pg_namespace
             WHERE starts_with(nspname::text, $1) AND substr(nspname::text, length($1) + 1) ~ '^[0-9]{17}$'",
        );
        let named = named.with(format!("{}_", shared.schema()));
        let answers = connection.send(None, &[named], None)?;
        for row in &answers[0] {
            let name: &str = get(row, 0)?;
            connection.send(
                Some(&format!("DROP SCHEMA {} CASCADE", quoted(name))),
                &[],
                None,
            )?;
        }
        shared.pool.give(connection);
        Ok(())
    }
}
