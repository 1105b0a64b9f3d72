//! The state of the index: its documents, the skipped entries, and the changes that it
//! lacks.

use std::path::PathBuf;

use super::{Engine, ModelAbsence, View};
use crate::access::{Capability, Guard};
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::store::{
    EmbeddingCache, EmbeddingStatus, Expression, Filter, Phrase, Reader, Row, Serving,
    SourceStatus, StoredDocument,
};
use crate::sync::{self, Changes};

/// The number of documents that are read at once.
const PART: usize = 256;

/// The state of an index and its sources.
#[derive(Debug)]
pub struct Status {
    /// The path of the index; only the name of its file for a caller that does not
    /// see everything.
    pub index: PathBuf,
    /// Its format; `None` if there is no index yet.
    pub format: Option<u32>,
    /// Its size in bytes; 0 for a caller that does not see everything.
    pub bytes: u64,
    /// The number of documents that can be found.
    pub documents: u64,
    /// The number of distinct words for spelling corrections; 0 if the caller may not
    /// see everything.
    pub words: u64,
    /// The model whose vectors are used for searching, if [`Status::meaning`] says that
    /// they are.
    pub serving: Option<Serving>,
    /// Whether searches compare meanings.
    pub meaning: MeaningState,
    /// The number of embedded chunks, and the failures.
    pub embeddings: EmbeddingStatus,
    /// The embedding cache, if there is one.
    pub cache: Option<CacheStatus>,
    /// Every source that is registered or indexed.
    pub sources: Vec<SourceState>,
}

/// Whether searches compare meanings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeaningState {
    /// They do, as far as documents are embedded.
    On,
    /// The settings name no model.
    Off,
    /// The model cannot be used, or nothing is embedded yet.
    Absent(ModelAbsence),
}

/// The state of the embedding cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStatus {
    /// The number of its vectors.
    pub vectors: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The state of a source.
#[derive(Debug)]
pub struct SourceState {
    /// Its name.
    pub name: String,
    /// Its location; empty if it was never opened nor indexed.
    pub location: String,
    /// Whether it is registered. Otherwise the next sync removes it, unless it is of another
    /// machine.
    pub registered: bool,
    /// Whether it is not registered, in an index that other machines share.
    pub elsewhere: bool,
    /// The number of its documents in the index.
    pub documents: u64,
    /// The number of secrets that were left out of them.
    pub secrets_left_out: u64,
    /// When it was last synced completely.
    pub synced_at: Option<Timestamp>,
    /// The entries that a sync would read or remove; `None` if there is no index yet or the
    /// source is not registered.
    pub changes: Option<Result<Changes>>,
    /// The entries that were skipped, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The documents that were indexed in spite of a problem, each with the
    /// problem.
    pub problems: Vec<(String, String)>,
}

impl SourceState {
    /// Reports whether a sync would change the index.
    pub fn is_behind(&self) -> bool {
        let changed = |changes: &Result<Changes>| match changes {
            Ok(changes) => !changes.is_empty(),
            Err(_) => false,
        };
        !(self.registered || self.elsewhere) || self.changes.as_ref().is_some_and(changed)
    }
}

impl View<'_, '_> {
    /// Returns the state of each source in the index. The sources are not accessed.
    pub fn indexed_sources(&self) -> Result<Vec<SourceStatus>> {
        self.guard.require(Capability::Search)?;
        self.read(|reader| reader.sources())
    }
}

impl Engine {
    /// Returns the state of the index and its sources. It reads only names and
    /// versions of entries, not their content.
    pub fn status(&self, guard: &Guard) -> Result<Status> {
        guard.require(Capability::Search)?;
        match self.read_as(guard, |reader| self.status_of(guard, reader)) {
            Err(Error::NoIndex { .. }) => Ok(self.without_index(guard)),
            other => other,
        }
    }

    fn without_index(&self, guard: &Guard) -> Status {
        Status {
            index: self.shown_path(guard),
            format: None,
            bytes: 0,
            documents: 0,
            words: 0,
            serving: None,
            meaning: self.meaning(None),
            embeddings: EmbeddingStatus::default(),
            cache: None,
            sources: self
                .names(guard)
                .into_iter()
                .map(|name| self.state(name, None, None))
                .collect(),
        }
    }

    fn meaning(&self, serving: Option<&Serving>) -> MeaningState {
        match self.shared.models.for_queries(serving) {
            Ok(Some(_)) => MeaningState::On,
            Ok(None) => MeaningState::Off,
            Err(absence) => MeaningState::Absent(absence),
        }
    }

    fn shown_path(&self, guard: &Guard) -> PathBuf {
        let path = self.path();
        if guard.sees_everything() {
            return path.to_owned();
        }
        path.file_name().map(PathBuf::from).unwrap_or_default()
    }

    fn status_of(&self, guard: &Guard, reader: &dyn Reader) -> Result<Status> {
        let mut indexed = reader.sources()?;
        // What is counted for the whole index would tell of what is out of scope.
        let whole = guard.sees_everything();
        let mut sources = Vec::new();
        for name in self.names(guard) {
            let at = indexed.iter().position(|source| source.name == name);
            let known = at.map(|at| indexed.remove(at));
            let compared = guard.project().is_none().then_some(reader);
            let mut state = self.state(name, known, compared);
            if !whole {
                state.location.clear();
                state.changes = state
                    .changes
                    .map(|found| found.map_err(Error::without_folders));
            }
            sources.push(state);
        }
        for left in indexed {
            let mut state = self.state(left.name.clone(), Some(left), None);
            if !whole {
                state.location.clear();
            }
            sources.push(state);
        }
        self.count_secrets(guard, reader, &mut sources)?;
        let serving = reader.serving()?;
        let documents = sources.iter().map(|source| source.documents).sum();
        Ok(Status {
            index: self.shown_path(guard),
            format: Some(reader.format()?),
            bytes: if whole { self.shared.store.size() } else { 0 },
            documents,
            // To count the words of a scope, all its documents must be read.
            words: match reader.scope() {
                None => reader.vocabulary_size()?,
                Some(_) => 0,
            },
            meaning: self.meaning(serving.as_ref()),
            serving,
            embeddings: reader.embedding_status()?,
            cache: self.cache_status().filter(|_| whole),
            sources,
        })
    }

    /// Counts the secrets that were left out of indexed texts. Every replacement contains
    /// the same word, so that only turns and records with that word are read.
    fn count_secrets(
        &self,
        guard: &Guard,
        reader: &dyn Reader,
        states: &mut [SourceState],
    ) -> Result<()> {
        for source in &self.shared.sources {
            // Notes are indexed as they are: a note about redaction hides nothing.
            let Some(redaction) = source.traits().redaction else {
                continue;
            };
            let redacted = Expression::Phrase(Phrase {
                text: redaction.word.to_owned(),
                ..Phrase::default()
            });
            let Some(state) = states.iter_mut().find(|state| state.name == source.name()) else {
                continue;
            };
            let filter = guard.narrow(&Filter {
                sources: vec![state.name.clone()],
                ..Filter::default()
            });
            // The fields of a memory are not searched for words, so all of them are read. What
            // is said in a session has none.
            let searched = (!source.traits().chosen_keys).then_some(&redacted);
            let rows: Vec<Row> = reader.rows(&filter, searched, None)?.iter().collect();
            for part in rows.chunks(PART) {
                for document in reader.documents(part)? {
                    state.secrets_left_out += secrets_in(&document, redaction.count);
                }
            }
        }
        Ok(())
    }

    /// Returns the state of the cache; `None` if it cannot be used, which must
    /// not stop the rest.
    fn cache_status(&self) -> Option<CacheStatus> {
        let path = self.shared.cache.as_deref().filter(|path| path.exists())?;
        let (vectors, bytes) = EmbeddingCache::open(path).ok()?.size().ok()?;
        Some(CacheStatus { vectors, bytes })
    }

    /// Returns the state of a source from its record in the index. With a
    /// reader, it also compares the source with the index.
    fn state(
        &self,
        name: String,
        known: Option<SourceStatus>,
        reader: Option<&dyn Reader>,
    ) -> SourceState {
        let shared = &self.shared;
        let source = shared.sources.iter().find(|source| source.name() == name);
        let absent = shared.absent.iter().find(|absent| absent.name == name);
        let changes = reader.and_then(|reader| match (source, absent) {
            (Some(source), _) => Some(sync::changes(&**source, reader)),
            (None, Some(absent)) => {
                let opened = absent.open(&shared.tombstones);
                Some(opened.and_then(|source| sync::changes(&*source, reader)))
            }
            (None, None) => None,
        });
        let known = known.unwrap_or_default();
        SourceState {
            location: source.map_or(known.location, |source| source.location()),
            registered: source.is_some() || absent.is_some(),
            elsewhere: source.is_none() && absent.is_none() && shared.machine.is_some(),
            name,
            documents: known.documents,
            secrets_left_out: 0,
            synced_at: known.synced_at,
            changes,
            skipped: known.skipped,
            problems: known.problems,
        }
    }
}

/// Counts the replaced secrets in a document, each once.
fn secrets_in(document: &StoredDocument, count: fn(&str) -> usize) -> u64 {
    let body = count(&document.body);
    // The frontmatter has all else that there is.
    if !document.front.is_empty() {
        return (count(&document.front) + body) as u64;
    }
    // All turns of a session have its title.
    if document.thread.is_some() {
        return body as u64;
    }
    let title = Some(&document.title).filter(|title| !document.body.contains(title.as_str()));
    let named = [&document.category, &document.project, &document.author];
    let others = named
        .into_iter()
        .flatten()
        .chain(&document.tags)
        .chain(title);
    (body + others.map(|text| count(text)).sum::<usize>()) as u64
}
