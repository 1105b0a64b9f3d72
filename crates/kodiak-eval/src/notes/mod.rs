//! Judged queries over a folder of notes: how often a search finds the right note,
//! denies that it did, and refuses questions that no note answers.
//!
//! `queries` reads the files of queries, `folder` the notes, and `sample` draws small
//! collections from them. `run` asks the queries as a user would, `progress` asks them
//! while notes are embedded, `figures` holds what was found, and `table` lays it out.

mod figures;
mod folder;
mod progress;
mod queries;
mod run;
mod sample;
mod table;

use anyhow::Result;

pub(super) use figures::NotesRow;
pub use progress::{EmbeddedRow, answered_while_embedding};
pub(super) use table::render;

use super::error::refusal;
use super::evaluation::Options;
use super::event::{Event, Listener};
use folder::NotesFolder;
use queries::Query;

/// A folder of notes with the files of queries over it.
#[derive(Debug)]
pub(crate) struct JudgedNotes {
    folder: NotesFolder,
    files: Vec<JudgedFile>,
}

/// The queries of one file.
#[derive(Debug)]
struct JudgedFile {
    /// The name of the file, without its extension and a trailing `-queries`.
    label: String,
    queries: Vec<JudgedQuery>,
}

/// A query, and the notes that answer it.
#[derive(Debug)]
struct JudgedQuery {
    text: String,
    /// The paths that the file names, empty if no note answers the query.
    targets: Vec<String>,
    /// The notes that match the targets, by their place in the folder.
    notes: Vec<usize>,
}

impl JudgedNotes {
    /// Reads the notes and the queries that the options name, or returns `None` if
    /// they name no queries. Queries whose targets match no note are left out with a
    /// warning.
    pub(crate) fn read(options: &Options, listener: &Listener<'_>) -> Result<Option<Self>> {
        if options.queries.is_empty() {
            return Ok(None);
        }
        let [folder] = options.folders.as_slice() else {
            return Err(refusal(
                format!(
                    "queries are asked of one folder of notes, and {} were given",
                    options.folders.len()
                ),
                "run `kodiak eval FOLDER --queries FILE.tsv` once for each folder",
            ));
        };
        let files = options.queries.iter().map(|path| {
            let queries = queries::read(path)?;
            Ok((queries::label(path), queries))
        });
        // Files of queries are read first, because they are small and more often wrong.
        let files: Vec<(String, Vec<Query>)> = files.collect::<Result<_>>()?;
        let folder = NotesFolder::read(folder)?;
        let most = options.limit_queries.unwrap_or(usize::MAX);
        let judged = files.into_iter().map(|(label, queries)| {
            let queries = queries.into_iter().take(most).collect();
            JudgedFile::new(label, queries, &folder, listener)
        });
        let files: Vec<JudgedFile> = judged.collect();
        if files.iter().all(|file| file.queries.is_empty()) {
            return Err(refusal(
                "nothing can be measured: no note matches any target",
                "targets are paths relative to the folder of notes, or they begin with its name",
            ));
        }
        Ok(Some(Self { folder, files }))
    }
}

impl JudgedFile {
    fn new(
        label: String,
        queries: Vec<Query>,
        folder: &NotesFolder,
        listener: &Listener<'_>,
    ) -> Self {
        let (mut judged, mut lost) = (Vec::new(), Vec::new());
        for Query { text, targets } in queries {
            let notes = folder.matching(&targets);
            if notes.is_empty() && !targets.is_empty() {
                lost.push(text);
                continue;
            }
            judged.push(JudgedQuery {
                text,
                targets,
                notes,
            });
        }
        if let Some(first) = lost.first() {
            let count = lost.len();
            let queries = if count == 1 { "query" } else { "queries" };
            listener(Event::Warning(&format!(
                "{label}: {count} {queries} left out, because no note matches the targets: {first}"
            )));
        }
        Self {
            label,
            queries: judged,
        }
    }
}

#[cfg(test)]
mod tests;
