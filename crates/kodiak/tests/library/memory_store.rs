//! A store in plain collections: the second implementation of the store's
//! traits, for the tests.
//!
//! Owns the state of an index and its lock. A state never changes once it is
//! published: a transaction works on a copy (`write`), and a snapshot keeps the
//! state it began with. `read` answers from a state, `matching` evaluates
//! expressions and filters, `nearest` compares vectors. Everything is found by
//! looking at all there is.

mod chosen;
mod linked;
mod matching;
mod nearest;
mod read;
mod vocabulary;
mod write;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kodiak::analysis::links::LinkTarget;
use kodiak::chunk::Chunk;
use kodiak::source::KnownEntry;
use kodiak::store::{EntryRow, Lock, ModelNumber, Reader, Row, Serving, Store, VisitOrder, Writer};
use kodiak::{Document, Error, Result, Version};

use write::MemoryWriter;

/// The fields of a document that have terms: title, body and tags.
const FIELDS: usize = 3;

/// An index in memory. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryStore {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    /// What readers see; `None` before a writer was first opened.
    published: Option<Arc<State>>,
    /// Who writes.
    holder: Option<String>,
    /// How many indexes were set aside.
    aside: u64,
}

/// All that is indexed at one moment.
#[derive(Clone, Debug, Default)]
struct State {
    /// How many changes there were before.
    revision: i64,
    /// Which index it is a state of: [`Shared::aside`] when it was made.
    index: u64,
    /// The number given out last. All things are numbered in one sequence.
    last: i64,
    sources: BTreeMap<String, Source>,
    entries: BTreeMap<EntryRow, Entry>,
    documents: BTreeMap<Row, Indexed>,
    models: BTreeMap<ModelNumber, Model>,
    embeddings: BTreeMap<i64, Embedding>,
    failures: BTreeMap<(i64, ModelNumber), String>,
}

#[derive(Clone, Debug, Default)]
struct Source {
    location: String,
    synced_at: Option<i64>,
    containers: BTreeMap<String, Version>,
}

#[derive(Clone, Debug)]
struct Entry {
    source: String,
    key: String,
    version: Version,
    size: u64,
    skipped: Option<String>,
}

/// A document with what analysis found in it.
#[derive(Clone, Debug)]
struct Indexed {
    document: Document,
    entry: EntryRow,
    terms: [Terms; FIELDS],
    words: BTreeSet<String>,
    /// The links to other documents: the target, and the terms of the texts.
    links: Vec<(LinkTarget, Terms)>,
    /// Each chunk with its number and the hash of its embedded text.
    chunks: Vec<(i64, Chunk, [u8; 16])>,
}

/// The terms of a field: at each position one, or several alternatives.
type Terms = Vec<Vec<String>>;

#[derive(Clone, Debug)]
struct Model {
    serving: Serving,
    answers: bool,
}

#[derive(Clone, Debug)]
struct Embedding {
    chunk: i64,
    model: ModelNumber,
    vector: Vec<f32>,
}

impl State {
    /// Returns the entries of a source, those of the newest documents first and the
    /// others in turn.
    fn entries_by_age(&self, source: &str, order: VisitOrder) -> Vec<KnownEntry<'_>> {
        let changed = |row: EntryRow| {
            let documents = self.documents.values().filter(|one| one.entry == row);
            documents.map(|one| one.document.updated_at).max()
        };
        let entries = self.entries.iter();
        let mut entries: Vec<_> = entries
            .filter(|(_, entry)| entry.source == source)
            .collect();
        entries.sort_by_key(|(row, _)| std::cmp::Reverse((changed(**row), **row)));
        let dated = entries.partition_point(|(row, _)| changed(**row).is_some());
        let newest = order.newest.min(dated);
        let last = self.entries.keys().max().copied().unwrap_or_default();
        let below = order.below.rem_euclid(last + 1);
        entries[newest..].sort_by_key(|(row, _)| (**row >= below, std::cmp::Reverse(**row)));
        let known = entries.into_iter().enumerate();
        let known = known.map(|(at, (row, entry))| KnownEntry {
            key: &entry.key,
            version: entry.version,
            skipped: entry.skipped.is_some(),
            turn: (at >= newest).then_some(*row),
        });
        known.collect()
    }
}

impl MemoryStore {
    fn shared<T>(&self, use_it: impl FnOnce(&mut Shared) -> T) -> T {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        use_it(&mut shared)
    }

    fn published(&self) -> Result<Arc<State>> {
        let published = self.shared(|shared| shared.published.clone());
        published.ok_or_else(|| Error::NoIndex {
            path: self.place().to_path_buf(),
        })
    }

    fn open(&self) -> MemoryReader {
        MemoryReader {
            store: self.clone(),
            index: self.shared(|shared| shared.aside),
            pinned: RefCell::default(),
            pins: Cell::default(),
            changes: Cell::default(),
        }
    }

    fn lock(&self, holder: &str) -> Result<()> {
        self.shared(|shared| {
            if let Some(other) = &shared.holder {
                return Err(Error::Locked {
                    holder: other.clone(),
                    path: self.place().to_path_buf(),
                });
            }
            shared.holder = Some(holder.to_owned());
            Ok(())
        })
    }

    fn unlock(&self) {
        self.shared(|shared| shared.holder = None);
    }
}

impl Store for MemoryStore {
    fn reader(&self) -> Result<Box<dyn Reader + Send>> {
        self.published()?;
        Ok(Box::new(self.open()))
    }

    fn writer(&self, holder: &str) -> Result<Box<dyn Writer>> {
        self.lock(holder)?;
        self.shared(|shared| {
            let index = shared.aside;
            shared.published.get_or_insert_with(|| {
                let state = State {
                    index,
                    ..State::default()
                };
                Arc::new(state)
            });
        });
        Ok(Box::new(MemoryWriter {
            reader: self.open(),
            holder: holder.to_owned(),
            locked: true,
        }))
    }

    /// No other process has this store.
    fn embedding_lock(&self, _holder: &str) -> Result<Option<Box<dyn Lock>>> {
        Ok(None)
    }

    fn set_aside(&self, holder: &str) -> Result<PathBuf> {
        self.lock(holder)?;
        let number = self.shared(|shared| {
            shared.published = None;
            shared.aside += 1;
            shared.aside
        });
        self.unlock();
        Ok(PathBuf::from(format!("(memory {number})")))
    }

    fn place(&self) -> &Path {
        Path::new("(memory)")
    }
}

/// A reader, on its own or inside a writer. While it is pinned, it reads one
/// state; a writer's transaction is a pinned state that the writer changes.
struct MemoryReader {
    store: MemoryStore,
    index: u64,
    pinned: RefCell<Option<Arc<State>>>,
    /// How many snapshots and transactions there are, one inside the other.
    pins: Cell<usize>,
    /// Changes made through this reader's writer.
    changes: Cell<u64>,
}

impl MemoryReader {
    fn state(&self) -> Result<Arc<State>> {
        match &*self.pinned.borrow() {
            Some(state) => Ok(Arc::clone(state)),
            None => self.store.published(),
        }
    }

    fn pin(&self) -> Result<()> {
        let state = self.state()?;
        self.pinned.replace(Some(state));
        self.pins.set(self.pins.get() + 1);
        Ok(())
    }

    fn unpin(&self) {
        let left = self.pins.get().saturating_sub(1);
        self.pins.set(left);
        if left == 0 {
            self.pinned.replace(None);
        }
    }
}

impl State {
    /// Gives out a number that nothing had before.
    fn number(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    /// Removes documents with their chunks and vectors; returns how many.
    fn remove_where(&mut self, is_it: impl Fn(&Indexed) -> bool) -> usize {
        let before = self.documents.len();
        let mut gone = BTreeSet::new();
        self.documents.retain(|_, indexed| {
            let stays = !is_it(indexed);
            if !stays {
                gone.extend(indexed.chunks.iter().map(|(chunk, ..)| *chunk));
            }
            stays
        });
        self.embeddings.retain(|_, one| !gone.contains(&one.chunk));
        self.failures.retain(|(chunk, _), _| !gone.contains(chunk));
        before - self.documents.len()
    }

    /// Returns the document of a chunk, and the chunk if it has this hash.
    fn chunk(&self, chunk: i64, hash: Option<[u8; 16]>) -> Option<(Row, &Indexed, &Chunk)> {
        self.documents.iter().find_map(|(row, indexed)| {
            let mut chunks = indexed.chunks.iter();
            let (_, found, _) = chunks.find(|(number, _, text)| {
                *number == chunk && hash.is_none_or(|hash| hash == *text)
            })?;
            Some((*row, indexed, found))
        })
    }

    /// Returns the hash of a chunk's embedded text.
    fn hash(&self, chunk: i64) -> Option<[u8; 16]> {
        let (_, indexed, _) = self.chunk(chunk, None)?;
        let mut chunks = indexed.chunks.iter();
        chunks
            .find(|(number, ..)| *number == chunk)
            .map(|(_, _, hash)| *hash)
    }

    /// Returns the number of a chunk's vector by a model.
    fn embedding(&self, chunk: i64, model: ModelNumber) -> Option<i64> {
        let mut all = self.embeddings.iter();
        let found = all.find(|(_, one)| one.chunk == chunk && one.model == model);
        found.map(|(number, _)| *number)
    }

    /// Returns the model that answers, if it has vectors.
    fn answering(&self) -> Option<(ModelNumber, &Model)> {
        let (number, model) = self.models.iter().find(|(_, model)| model.answers)?;
        let mut embeddings = self.embeddings.values();
        embeddings
            .any(|one| one.model == *number)
            .then_some((*number, model))
    }
}

impl Indexed {
    fn is_named(&self, source: &str, key: &str) -> bool {
        self.document.source == source && self.document.key == key
    }
}
