//! Runs a test set's queries through the same entry point as a user's search.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use kodiak::access::Guard;
use kodiak::chunk::ChunkOptions;
use kodiak::embed::Embedder;
use kodiak::engine::{EngineBuilder, Event, Job, ToSync};
use kodiak::rank::Fusion;
use kodiak::rerank::Reranker;
use kodiak::search::{Mode, Request};
use kodiak::store::SqliteIndex;
use kodiak::text::Stemming;
use kodiak::{Document, Engine};

use super::beir::TestSet;
use super::cached_embedder::CachedEmbedder;
use super::documents::TestDocuments;
use super::error::refusal;
use super::metrics::Tally;
use super::query::JudgedQuery;
use super::variant::Variant;

/// The number of hits that are judged.
pub(crate) const DEPTH: usize = 100;
/// The deadline of semantic retrieval. It is long, so that a busy machine does
/// not change the figures of quality.
pub(crate) const NO_HURRY: Duration = Duration::from_mins(10);

/// A way of searching to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// The search mode.
    pub(crate) mode: Mode,
    /// The fusion of the two rankings, where there are two.
    pub(crate) fusion: Option<Fusion>,
    /// Whether misspelt words are corrected.
    pub(crate) typo: bool,
}

impl Setting {
    /// All ways of searching. The first is the default.
    pub(crate) const ALL: [Self; 8] = [
        Self::new(Mode::Auto, Some(Fusion::Convex), true),
        Self::new(Mode::Auto, Some(Fusion::Rrf), true),
        Self::new(Mode::Hybrid, Some(Fusion::Convex), true),
        Self::new(Mode::Hybrid, Some(Fusion::Rrf), true),
        Self::new(Mode::Semantic, None, true),
        Self::new(Mode::Lexical, None, true),
        Self::new(Mode::Lexical, None, false),
        Self::new(Mode::Like, None, false),
    ];

    const fn new(mode: Mode, fusion: Option<Fusion>, typo: bool) -> Self {
        Self { mode, fusion, typo }
    }

    /// Returns the setting to measure without a model, or `None` if it needs a
    /// model or would equal another setting.
    pub(crate) fn without_model(self) -> Option<Self> {
        match (self.mode, self.fusion) {
            (Mode::Semantic | Mode::Hybrid, _) | (_, Some(Fusion::Rrf)) => None,
            _ => Some(Self {
                fusion: None,
                ..self
            }),
        }
    }

    /// Returns the mode's name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self.mode {
            Mode::Auto => "auto",
            Mode::Lexical => "lexical",
            Mode::Semantic => "semantic",
            Mode::Hybrid => "hybrid",
            Mode::Like => "like",
        }
    }

    /// Reports whether the mode uses a model where there is one.
    pub(crate) fn compares_meanings(self) -> bool {
        matches!(self.mode, Mode::Auto | Mode::Hybrid | Mode::Semantic)
    }

    /// Reports whether this is the default search, with or without a model.
    pub(crate) fn is_default(self) -> bool {
        self == Self::ALL[0] || Some(self) == Self::ALL[0].without_model()
    }
}

/// Opens an engine and indexes its sources. Embeds them if there is a model.
pub(crate) fn filled(
    builder: EngineBuilder,
    embedder: Option<&Arc<CachedEmbedder>>,
    job: &Job<'_>,
) -> Result<Engine> {
    // Nothing changes in the middle of a measurement.
    let mut builder = builder.deadline(NO_HURRY).refresh(Duration::ZERO);
    if let Some(embedder) = embedder {
        let model: Arc<dyn Embedder> = embedder.clone();
        builder = builder.model(model).cache(embedder.cache_path());
    }
    let (engine, guard) = (builder.open()?, Guard::local());
    engine.sync(&guard, ToSync::All, job)?;
    if let Some(report) = engine.embed(&guard, None, job)? {
        if let Some(reason) = report.stopped {
            let left = format!("{} chunks could not be embedded", report.left);
            return Err(anyhow::Error::msg(reason).context(left));
        }
        if let Some(reason) = report.reason {
            let failed = format!("{} chunks could not be embedded", report.failed);
            return Err(anyhow::Error::msg(reason).context(failed));
        }
    }
    Ok(engine)
}

/// A temporary index of a set's documents.
pub(crate) struct Collection {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Collection {
    /// Indexes the documents of `set` in a folder inside `scratch`, with this
    /// chunking and stemming, and embeds them if there is a model. Reports the
    /// progress to `listener`.
    pub(crate) fn build(
        set: &TestSet,
        scratch: &Path,
        chunking: ChunkOptions,
        stemming: Stemming,
        embedder: Option<&Arc<CachedEmbedder>>,
        listener: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Self> {
        let documents = set.documents().collect::<Result<Vec<_>>>()?;
        Self::of(documents, scratch, chunking, stemming, embedder, listener)
    }

    /// Indexes these documents likewise.
    pub(crate) fn of(
        documents: Vec<Document>,
        scratch: &Path,
        chunking: ChunkOptions,
        stemming: Stemming,
        embedder: Option<&Arc<CachedEmbedder>>,
        listener: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Self> {
        let folder = tempfile::tempdir_in(scratch).map_err(|error| {
            refusal(
                format!("could not create a folder for the index: {error}"),
                "set TMPDIR to a writable folder",
            )
        })?;
        let index = folder.path().join("index.db");
        let store = SqliteIndex::new(&index)
            .with_chunking(chunking)
            .with_stemming(stemming);
        let builder = Engine::builder_over(Arc::new(store)).source(TestDocuments(documents));
        let engine = filled(builder, embedder, &Job::new(listener))?;
        Ok(Self {
            engine,
            _folder: folder,
        })
    }

    /// Sets the reranker, for variants that ask for it.
    pub(crate) fn with_reranker(mut self, reranker: Option<&Arc<dyn Reranker>>) -> Self {
        self.engine = self.engine.with_reranker(reranker.cloned());
        self
    }

    /// Returns the engine over the index.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Runs the queries in one setting with the parameters of `variant`, and
    /// calls `asked` after each query with the number of queries done.
    pub(crate) fn measure(
        &self,
        queries: &[JudgedQuery],
        setting: Setting,
        variant: &Variant,
        mut asked: impl FnMut(usize),
    ) -> Result<Tally> {
        let engine = self.engine.with_tuning(|_| variant.tuning);
        let guard = Guard::local();
        let mut tally = Tally::default();
        for (number, query) in queries.iter().enumerate() {
            let request = request(query, setting, variant);
            let started = Instant::now();
            let answer = engine.search(&guard, &request)?;
            let took = started.elapsed();
            let ranked: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
            tally.add(&ranked, &query.judged, took);
            asked(number + 1);
        }
        Ok(tally)
    }
}

/// Returns the request that measures a query in one setting.
pub(crate) fn request(query: &JudgedQuery, setting: Setting, variant: &Variant) -> Request {
    Request {
        query: query.text.clone(),
        limit: DEPTH,
        mode: setting.mode,
        exact: !setting.typo,
        fusion: setting.fusion.unwrap_or_default(),
        weights: variant.weights,
        all: variant.require_all_terms,
        filter: query.filter.clone(),
        // Every document is judged, copies too.
        all_copies: !variant.collapse_copies,
        rerank: variant.rerank,
        ..Request::default()
    }
}
