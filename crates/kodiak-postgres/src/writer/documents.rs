//! Storing and removing documents.

use std::collections::HashSet;

use super::PostgresWriter;
use super::buffer::{Looked, MOST_REMOVED, NewDocument, NewEntry};
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::{EntryRow, Row, State as _, WriteDocuments, WriteEntries, Writer as _};
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::{Document, DocumentId, Version};

/// The tables in which numbers are looked up.
#[derive(Clone, Copy)]
enum Table {
    Documents,
    Entries,
}

impl WriteDocuments for PostgresWriter {
    fn put_from(&mut self, entry: EntryRow, analyzed: &AnalyzedDocument) -> Result<bool> {
        self.change(|writer| writer.put(entry, analyzed))
    }

    fn touch(&mut self, entry: EntryRow, document: &Document) -> Result<()> {
        self.change(|writer| {
            let uid = document.id().hex();
            let Some(row) = writer.look_up(Table::Documents, &document.source, &uid)? else {
                return Ok(());
            };
            if writer.with(|open| open.buffer.holds(row))? {
                writer.write_out()?;
            }
            let mut around = document.clone();
            around.body = String::new();
            around.front = String::new();
            around.lines = None;
            let is_full = writer.with(|open| {
                // A document is touched once in each statement.
                let known = open
                    .buffer
                    .touched
                    .iter()
                    .position(|(_, one)| one.id() == around.id());
                if let Some(at) = known {
                    open.buffer.touched.remove(at);
                }
                open.buffer.touched.push((entry, around));
                open.buffer.is_full()
            })?;
            if is_full {
                writer.write_out()?;
            }
            Ok(())
        })
    }
}

impl WriteEntries for PostgresWriter {
    fn put_entry(
        &mut self,
        source: &str,
        key: &str,
        version: Version,
        size: u64,
        skipped: Option<&str>,
    ) -> Result<EntryRow> {
        self.change(|writer| {
            let uid = DocumentId::new(source, key).hex();
            let known = writer.look_up(Table::Entries, source, &uid)?;
            writer.with(|open| {
                let row = known.unwrap_or_else(|| {
                    open.last_entry += 1;
                    open.last_entry
                });
                open.entries.set(uid.clone(), Some(row));
                let entry = NewEntry {
                    row,
                    source: source.to_owned(),
                    key: key.to_owned(),
                    version: version.0,
                    size,
                    skipped: skipped.map(str::to_owned),
                };
                open.buffer.entries.insert(uid, entry);
                row
            })
        })
    }

    fn clear_entry(&mut self, _source: &str, entry: EntryRow) -> Result<usize> {
        self.change(|writer| {
            let rows = writer.rows_of_entry(entry)?;
            writer.remove(&rows)?;
            Ok(rows.len())
        })
    }

    fn remove_entry(&mut self, source: &str, entry: EntryRow) -> Result<usize> {
        self.change(|writer| {
            let removed = writer.clear_entry(source, entry)?;
            writer.with(|open| {
                open.entries.forget(&HashSet::from([entry]));
                open.buffer.entries.retain(|_, one| one.row != entry);
                let delete = Query::new("DELETE FROM entries WHERE id = $1").with(entry);
                open.buffer.last.push(delete);
            })?;
            Ok(removed)
        })
    }

    fn remove_from_entry(&mut self, source: &str, entry: EntryRow, key: &str) -> Result<bool> {
        self.change(|writer| {
            let uid = DocumentId::new(source, key).hex();
            let query = Query::new("SELECT id FROM documents WHERE uid = $1 AND entry = $2");
            let rows = writer.rows_among(query.with(uid).with(entry))?;
            writer.remove(&rows)?;
            Ok(!rows.is_empty())
        })
    }
}

impl PostgresWriter {
    fn put(&mut self, entry: EntryRow, analyzed: &AnalyzedDocument) -> Result<bool> {
        let document = &analyzed.document;
        let stemming = self.reader.stemming();
        // Of tags that differ in case, the first one stays.
        let mut seen = HashSet::new();
        let mut own = document.clone();
        own.lines = None;
        own.tags.retain(|tag| seen.insert(tag.to_ascii_lowercase()));
        let again;
        let is_as_needed = own.tags.len() == document.tags.len()
            && analyzed.analysis.is_made_with(self.chunking, stemming);
        let analysis = if is_as_needed {
            &analyzed.analysis
        } else {
            again = self.analyzer().analysis_of(&own);
            &again
        };
        let uid = document.id().hex();
        let known = self.look_up(Table::Documents, &document.source, &uid)?;
        if let Some(row) = known {
            self.remove(&[row])?;
        }
        let is_full = self.with(|open| {
            open.last_document += 1;
            let row = open.last_document;
            open.documents.set(uid.clone(), Some(row));
            let chunks = analysis.chunks.iter().map(|(chunk, hash)| {
                open.last_chunk += 1;
                (open.last_chunk, chunk.clone(), *hash)
            });
            let new = NewDocument {
                row,
                entry,
                uid,
                titles: own.titles().into_owned(),
                tags: analysis.tags.clone(),
                chunks: chunks.collect(),
                links: analysis.links.clone(),
                document: own,
            };
            open.buffer.add(new, &analysis.terms);
            open.buffer.is_full()
        })?;
        if is_full {
            self.write_out()?;
        }
        Ok(known.is_some())
    }

    /// Removes documents.
    pub(super) fn remove(&self, rows: &[Row]) -> Result<()> {
        // One that was collected must be stored before it can be taken out.
        if self.with(|open| rows.iter().any(|row| open.buffer.holds(*row)))? {
            self.write_out()?;
        }
        self.with(|open| open.documents.forget(&rows.iter().copied().collect()))?;
        for rows in rows.chunks(MOST_REMOVED) {
            let is_full = self.with(|open| {
                open.buffer.removed.extend(rows);
                open.buffer.is_full()
            })?;
            if is_full {
                self.write_out()?;
            }
        }
        Ok(())
    }

    /// Returns the documents of an entry. What was collected is sent first only if it has
    /// something of the entry, so that many entries are removed together.
    fn rows_of_entry(&self, entry: EntryRow) -> Result<Vec<Row>> {
        let is_collected = self.with(|open| {
            let buffer = &open.buffer;
            buffer.documents.iter().any(|one| one.entry == entry) || !buffer.touched.is_empty()
        })?;
        let query = Query::new("SELECT id FROM documents WHERE entry = $1").with(entry);
        if is_collected {
            return self.rows_among(query);
        }
        let rows = self.reader.rows_of(query)?;
        let mut rows: Vec<Row> = rows.iter().map(|row| get(row, 0)).collect::<Result<_>>()?;
        self.with(|open| rows.retain(|row| !open.buffer.removed.contains(row)))?;
        Ok(rows)
    }

    /// Returns the numbers that a statement selects, of what is there after what was
    /// collected.
    pub(super) fn rows_among(&self, query: Query) -> Result<Vec<Row>> {
        let rows = self.execute(query)?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    /// Returns the number of a document or an entry of a source, given its id.
    fn look_up(&self, table: Table, source: &str, uid: &str) -> Result<Option<i64>> {
        let looked = self.with(|open| match table {
            Table::Documents => open.documents.look(source, uid),
            Table::Entries => open.entries.look(source, uid),
        })?;
        let name = match table {
            Table::Documents => "documents",
            Table::Entries => "entries",
        };
        match looked {
            Looked::Known(known) => return Ok(known),
            Looked::AskForIt => {
                let query = Query::new(format!("SELECT id FROM {name} WHERE uid = $1")).with(uid);
                let rows = self.reader.rows_of(query)?;
                let found: Option<i64> = rows.first().map(|row| get(row, 0)).transpose()?;
                self.with(|open| match table {
                    Table::Documents => open.documents.set(uid.to_owned(), found),
                    Table::Entries => open.entries.set(uid.to_owned(), found),
                })?;
                return Ok(found);
            }
            Looked::AskForAll => {}
        }
        let query = Query::new(format!("SELECT uid, id FROM {name} WHERE source = $1"));
        let rows = self.reader.rows_of(query.with(source))?;
        let all = rows.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let mut all: Vec<(String, i64)> = all.collect::<Result<_>>()?;
        self.with(|open| {
            let lookups = match table {
                Table::Documents => {
                    // They are still there.
                    let removed: HashSet<Row> = open.buffer.removed.iter().copied().collect();
                    all.retain(|(_, row)| !removed.contains(row));
                    &mut open.documents
                }
                Table::Entries => &mut open.entries,
            };
            lookups.set_all(source, all);
        })?;
        match self.with(|open| match table {
            Table::Documents => open.documents.look(source, uid),
            Table::Entries => open.entries.look(source, uid),
        })? {
            Looked::Known(known) => Ok(known),
            Looked::AskForIt | Looked::AskForAll => Ok(None),
        }
    }
}
