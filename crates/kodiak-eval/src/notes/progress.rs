//! Counts the queries that are answered while the notes are still being embedded.
//!
//! Embedding takes minutes, and people search before it is done. The notes are embedded
//! in the engine's own order, interrupted at each share of the work, and the queries
//! are asked there as if the embedding went on. Vectors come from the cache where it
//! has them, so the work of a text is its number of tokens and not a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Result;
use kodiak::access::Guard;
use kodiak::chunk::{estimated_tokens, text_hash};
use kodiak::embed::{EmbedError, Embedder, Identity, Limits, Role};
use kodiak::engine::ToSync;
use kodiak::search::Request;
use kodiak::store::{EmbeddingCache, Filter, SqliteIndex, Store};
use kodiak::{Cancel, Engine, Job};

use super::JudgedNotes;
use super::figures::{Asked, Counts};
use crate::cached_embedder::CachedEmbedder;
use crate::documents::TestDocuments;
use crate::evaluation::Options;
use crate::runner::NO_HURRY;

/// The answers to all queries when a share of the work was done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EmbeddedRow {
    /// The share of the tokens that were embedded, in percent.
    pub percent: u64,
    /// The share of the chunks that have a vector, from 0 to 1.
    pub chunks: f64,
    /// The number of queries that a note answers.
    pub queries: usize,
    /// The number of queries with a target as the first hit.
    pub first: usize,
    /// The number of queries with a target among the first three hits.
    pub among_three: usize,
}

/// Embeds the notes of `folder` up to each of these percentages of the work, in
/// ascending order, and asks the queries of `file` each time. Temporary files are in
/// `scratch`.
pub fn answered_while_embedding(
    folder: &Path,
    file: &Path,
    scratch: &Path,
    embedder: &Arc<CachedEmbedder>,
    percentages: &[u64],
) -> Result<Vec<EmbeddedRow>> {
    let options = Options {
        folders: vec![folder.to_owned()],
        queries: vec![file.to_owned()],
        ..Options::default()
    };
    let Some(judged) = JudgedNotes::read(&options, &|_| {})? else {
        return Ok(Vec::new());
    };
    let metered = Arc::new(Metered {
        inner: Arc::clone(embedder),
        cache: Mutex::new(EmbeddingCache::open(embedder.cache_path())?),
        spent: AtomicU64::new(0),
        budget: AtomicU64::new(u64::MAX),
        run: Mutex::default(),
    });
    let place = tempfile::tempdir_in(scratch)?;
    Interrupted::new(&judged, &metered, &place)?.embed_until(u64::MAX)?;
    let work = metered.spent.swap(0, Ordering::Relaxed);
    let place = tempfile::tempdir_in(scratch)?;
    let stepwise = Interrupted::new(&judged, &metered, &place)?;
    let mut rows = Vec::new();
    for &percent in percentages {
        let whole = percent >= 100;
        stepwise.embed_until(if whole {
            u64::MAX
        } else {
            work * percent / 100
        })?;
        rows.push(stepwise.row(&judged, percent)?);
    }
    Ok(rows)
}

/// An index whose embedding is interrupted again and again.
struct Interrupted {
    engine: Engine,
    metered: Arc<Metered>,
    index: PathBuf,
}

impl Interrupted {
    /// Indexes the notes, and embeds none of them.
    fn new(
        judged: &JudgedNotes,
        metered: &Arc<Metered>,
        place: &tempfile::TempDir,
    ) -> Result<Self> {
        let index = place.path().join("index.db");
        let engine = Engine::builder(&index)
            .source(TestDocuments(judged.folder.documents.clone()))
            .model(metered.clone())
            .deadline(NO_HURRY)
            .refresh(Duration::ZERO)
            .open()?;
        engine.sync(&Guard::local(), ToSync::All, &Job::default())?;
        Ok(Self {
            engine,
            metered: Arc::clone(metered),
            index,
        })
    }

    /// Embeds until this much work is done, as if the process was ended there.
    fn embed_until(&self, budget: u64) -> Result<()> {
        let cancel = Cancel::new();
        self.metered.budget.store(budget, Ordering::Relaxed);
        self.metered.set_run(Some(cancel.clone()));
        let job = Job::default().cancelled_by(cancel);
        let embedded = self.engine.embed(&Guard::local(), None, &job);
        self.metered.set_run(None);
        embedded?;
        Ok(())
    }

    /// Asks every query, while another process seems to be embedding.
    fn row(&self, judged: &JudgedNotes, percent: u64) -> Result<EmbeddedRow> {
        let store = SqliteIndex::new(&self.index);
        let _lock = store.embedding_lock("the measurement")?;
        let mut asked = Vec::new();
        for query in judged.files.iter().flat_map(|file| &file.queries) {
            let request = Request::new(&query.text);
            let answer = self.engine.search(&Guard::local(), &request)?;
            asked.push(Asked::new(query, &judged.folder, &answer, Duration::ZERO));
        }
        let counts = Counts::of(&asked);
        Ok(EmbeddedRow {
            percent,
            chunks: store.reader()?.coverage(&Filter::default())?.share(),
            queries: counts.queries - counts.absent,
            first: counts.first,
            among_three: counts.among_three,
        })
    }
}

/// An embedder that counts the tokens of documents and ends the run that exceeds its
/// budget.
struct Metered {
    inner: Arc<CachedEmbedder>,
    cache: Mutex<EmbeddingCache>,
    spent: AtomicU64,
    budget: AtomicU64,
    /// What ends the present run. Without a run, a search embeds, which is not
    /// counted.
    run: Mutex<Option<Cancel>>,
}

impl Metered {
    fn set_run(&self, run: Option<Cancel>) {
        *self.run.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }

    fn document(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        if let Some(run) = &*self.run.lock().unwrap_or_else(PoisonError::into_inner) {
            let tokens = estimated_tokens(text) as u64;
            let before = self.spent.fetch_add(tokens, Ordering::Relaxed);
            if before + tokens >= self.budget.load(Ordering::Relaxed) {
                run.cancel();
            }
        }
        let hash = text_hash(text);
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok([Some(known)]) = cache.get(self.identity(), &[hash]).as_deref() {
            return Ok(known.clone());
        }
        let vector = self.inner.embed_one(text, Role::Document)?;
        // A cache that cannot be written is not an error: the next run embeds again.
        let _ = cache.put(self.identity(), &[(hash, vector.clone())]);
        Ok(vector)
    }
}

impl Embedder for Metered {
    fn identity(&self) -> &Identity {
        self.inner.identity()
    }

    fn minimum_similarity(&self) -> f32 {
        self.inner.minimum_similarity()
    }

    /// Returns limits with which texts are embedded one after another, so that the
    /// same order has the same answers in every run.
    fn limits(&self) -> Limits {
        Limits {
            max_batch: 1,
            concurrency: 1,
            ..self.inner.limits()
        }
    }

    fn is_local(&self) -> bool {
        true
    }

    fn knows_word(&self, word: &str) -> bool {
        self.inner.knows_word(word)
    }

    fn embed(&self, texts: &[&str], role: Role) -> Result<Vec<Vec<f32>>, EmbedError> {
        match role {
            Role::Query => self.inner.embed(texts, role),
            Role::Document => texts.iter().map(|text| self.document(text)).collect(),
        }
    }
}
