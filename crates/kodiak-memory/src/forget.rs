//! Forgetting: moving memories to the trash, erasing them, and retiring old ones.
//!
//! Memories in the trash can be restored like pages. Erased ones are gone from the
//! folder, its trash, the index and the cache.

use super::Memories;
use crate::folder::Holding;
use kodiak::access::{Capability, Guard};
use kodiak::engine::{Job, ToErase};
use kodiak::source::{TrashedDocument, WritableSource};
use kodiak_base::{Error, Result};
use kodiak_store::{Filter, Row, StoredDocument, Stretch, shown_title};
use kodiak_text::document::{SHORTEST_ID, Timestamp, id_digits, uri};

use super::observations::first_of;

/// The number of documents that are held in memory at once.
const DOCUMENTS_AT_ONCE: usize = 256;

/// A memory that was forgotten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forgotten {
    /// The source it was in.
    pub source: String,
    /// Its own id.
    pub key: String,
    /// Its title, or the beginning of its text.
    pub title: String,
    /// Whether it was moved. Otherwise it was in the trash already.
    pub moved: bool,
    /// Whether the index has followed. Otherwise the next sync does.
    pub indexed: bool,
}

/// The outcome of retention.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retired {
    /// The memories that were moved to the trash.
    pub moved: Vec<Forgotten>,
    /// The number of memories that are as old and protected.
    pub protected: usize,
}

impl Memories<'_> {
    /// Moves memories or articles to the trash of their source. An id means every file that
    /// has it, a path means one file. Memories that are already in the trash are reported
    /// and stay there. If a name leads to no memory, nothing is moved.
    pub fn forget(&self, guard: &Guard, names: &[String], job: &Job<'_>) -> Result<Vec<Forgotten>> {
        guard.require(Capability::Write)?;
        let mut sources = self.memory_sources(guard, Holding::Memories);
        sources.extend(self.memory_sources(guard, Holding::Articles));
        let memories = guard.among(sources);
        let mut meant: Vec<(String, String)> = Vec::new();
        let mut forgotten: Vec<Forgotten> = Vec::new();
        for name in names {
            let found = match self.engine.view(&memories).documents_meant(name) {
                Err(error @ Error::NoDocument { .. }) => {
                    let trashed = self.engine.view(&memories).named_in_trash(name)?;
                    forgotten.push(trashed.first().map(in_trash).ok_or(error)?);
                    continue;
                }
                found => found?,
            };
            for one in found {
                if !meant.contains(&one) {
                    meant.push(one);
                }
            }
        }
        // All are read before the first is moved: another file may get its id then.
        let mut documents = Vec::new();
        for (source, key) in meant {
            documents.extend(self.engine.view(guard).read(|reader| {
                let found = reader.with_path(Some(&source), &key, &Filter::default(), 1)?;
                let rows: Vec<Row> = found.iter().map(|(row, ..)| *row).collect();
                let entries = rows.iter().map(|row| reader.entry_of(*row));
                let entries = entries.collect::<Result<Vec<_>>>()?;
                Ok(reader.documents(&rows)?.into_iter().zip(entries))
            })?);
        }
        for (document, entry) in documents {
            let path = entry.map(|(path, _)| path);
            forgotten.push(self.move_to_trash(guard, document, path, job)?);
        }
        Ok(forgotten)
    }

    /// Erases documents for good, by their names, among the memories, articles and
    /// sessions that exist for the caller, also in the trash. An id means every file that
    /// has it, a path means one file. Returns how many were indexed or in the trash.
    pub fn purge_named(&self, guard: &Guard, names: &[String], job: &Job<'_>) -> Result<usize> {
        guard.require(Capability::Write)?;
        let guard = self.only_memories_and_sessions(guard);
        // The same may have been asked for before, and interrupted.
        let finished = self.engine.eraser(&guard).finish_interrupted(job);
        let mut documents = Vec::new();
        let mut trashed = Vec::new();
        for name in names {
            let error = match self.engine.view(&guard).documents_meant(name) {
                Ok(meant) => {
                    documents.extend(meant);
                    continue;
                }
                Err(error @ Error::NoDocument { .. }) => error,
                Err(error) => return Err(error),
            };
            let found = self.engine.view(&guard).named_in_trash(name)?;
            if !found.is_empty() {
                trashed.extend(found);
                continue;
            }
            match &finished {
                Err(Error::NotErased { .. })
                    if self.engine.eraser(&guard).is_unfinished(name)? => {}
                Ok(Some(finished)) if finished.was_asked(name) => {}
                _ if self.was_purged(&guard, name)? => {}
                _ => return Err(error),
            }
        }
        documents.sort();
        documents.dedup();
        let wanted = ToErase {
            documents,
            trashed,
            asked: names.to_vec(),
            ..ToErase::default()
        };
        let purged = self.engine.eraser(&guard).erase(&wanted, job)?;
        if wanted.documents.is_empty() && wanted.trashed.is_empty() {
            let finished = finished?;
            return Ok(finished.map_or(0, |finished| finished.documents));
        }
        Ok(purged)
    }

    /// Erases all documents of a session, such as the turns of a conversation or memories
    /// from it, and keeps later turns of it from being indexed. Returns how many were
    /// indexed.
    pub fn purge_session(&self, guard: &Guard, session: &str, job: &Job<'_>) -> Result<usize> {
        let filter = Filter {
            fields: vec![("session".to_owned(), session.to_owned())],
            ..Filter::default()
        };
        self.engine.eraser(guard).erase_matching(&filter, job)
    }

    /// Erases all documents of a project, and keeps later turns of its sessions from
    /// being indexed. Returns how many were indexed.
    pub fn purge_project(&self, guard: &Guard, project: &str, job: &Job<'_>) -> Result<usize> {
        let filter = Filter {
            projects: vec![project.to_owned()],
            ..Filter::default()
        };
        self.engine.eraser(guard).erase_matching(&filter, job)
    }

    /// Reports whether a document with this key, address or id was erased earlier.
    fn was_purged(&self, guard: &Guard, name: &str) -> Result<bool> {
        // A caller that is restricted to a project is not told of others.
        if guard.project().is_some() {
            return Ok(false);
        }
        let eraser = self.engine.eraser(guard);
        let name = name.trim();
        if let Some(digits) = id_digits(name, SHORTEST_ID)
            && eraser.was_erased_by_id(&digits)?
        {
            return Ok(true);
        }
        for source in self.engine.sources() {
            let source = source.name();
            if !guard.admits(source) {
                continue;
            }
            let address = uri(source, "");
            let key = name.strip_prefix(&address).unwrap_or(name);
            let key = key.strip_prefix(&format!("{source}/")).unwrap_or(key);
            let without = key.strip_suffix(".md").unwrap_or(key);
            if eraser.was_erased(source, key)? || eraser.was_erased(source, without)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns a guard for which only memories, articles and sessions exist, of those
    /// that exist for `guard`. Erasing a project leaves its notes alone.
    pub fn only_memories_and_sessions(&self, guard: &Guard) -> Guard {
        let mut sources = self.memory_sources(guard, Holding::Memories);
        sources.extend(self.memory_sources(guard, Holding::Articles));
        sources.extend(self.session_sources(guard));
        guard.among(sources)
    }

    /// Moves memories that were written before a moment to the trash, unless they are
    /// protected. Articles stay.
    pub fn retire(&self, guard: &Guard, before: Timestamp, job: &Job<'_>) -> Result<Retired> {
        guard.require(Capability::Admin)?;
        guard.require(Capability::Write)?;
        let sources = self.memory_sources(guard, Holding::Memories);
        if sources.is_empty() {
            return Ok(Retired::default());
        }
        let filter = guard.narrow(&Filter {
            sources,
            ..Filter::default()
        });
        let old = Stretch {
            before: Some(before),
            forward: true,
            limit: usize::MAX,
            ..Stretch::default()
        };
        let rows: Vec<Row> = self.or_nothing(|reader| reader.by_time(&filter, &old))?;
        let mut retired = Retired::default();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            let documents = self.engine.view(&Guard::local()).read(|reader| {
                let mut found = Vec::new();
                for document in reader.documents(rows)? {
                    let fields = reader.fields(document.row)?;
                    found.push((document, is_protected(&fields)));
                }
                Ok(found)
            })?;
            for (document, protected) in documents {
                job.check()?;
                if protected {
                    retired.protected += 1;
                    continue;
                }
                let entry = self
                    .engine
                    .view(&Guard::local())
                    .read(|reader| reader.entry_of(document.row))?;
                let path = entry.map(|(path, _)| path);
                match self.move_to_trash(guard, document, path, job) {
                    Ok(moved) => retired.moved.push(moved),
                    // Another process has moved or deleted it.
                    Err(Error::NoDocument { .. }) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(retired)
    }

    fn move_to_trash(
        &self,
        guard: &Guard,
        document: StoredDocument,
        path: Option<String>,
        job: &Job<'_>,
    ) -> Result<Forgotten> {
        let folder = self.memory_folder(guard, &document.source)?;
        // Of two files with one id, this is the one that the index has it from.
        let path = path.unwrap_or_else(|| document.key.clone());
        let file = folder.file(&path);
        folder.delete(&path)?;
        Ok(Forgotten {
            moved: true,
            indexed: self.engine.index_written(&document.source, &[file], job),
            title: document.shown_title().into_owned(),
            source: document.source,
            key: document.key,
        })
    }
}

/// Returns the report on a memory that was in the trash already.
fn in_trash(memory: &TrashedDocument) -> Forgotten {
    let document = &memory.document;
    Forgotten {
        source: document.source.clone(),
        key: document.key.clone(),
        title: shown_title(&document.title, &document.body).into_owned(),
        moved: false,
        indexed: true,
    }
}

/// Reports whether retention must leave a memory alone.
fn is_protected(fields: &[(String, String)]) -> bool {
    let value = first_of(fields, &["decay_protected"]);
    value.is_some_and(|value| matches!(value.to_lowercase().as_str(), "true" | "yes" | "on" | "1"))
}
