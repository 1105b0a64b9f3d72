//! Runs a test set's queries through the same entry point as a user's search.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::chunk::ChunkOptions;
use kodiak::embed::Embedder;
use kodiak::engine::{Event, Job};
use kodiak::rank::Fusion;
use kodiak::search::{Mode, Request};
use kodiak::store::SqliteIndex;
use kodiak::text::Stemming;

use super::beir::TestSet;
use super::cached_embedder::CachedEmbedder;
use super::documents::TestDocuments;
use super::error::refusal;
use super::metrics::Tally;
use super::query::JudgedQuery;
use super::variant::Variant;

/// How deep rankings are judged.
const DEPTH: usize = 100;
/// Quality is measured here: a busy machine must not change the figures.
const NO_HURRY: Duration = Duration::from_mins(10);

/// One way of searching that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// How to search.
    pub(crate) mode: Mode,
    /// How two rankings become one, where there are two.
    pub(crate) fusion: Option<Fusion>,
    /// Whether misspelt words are corrected.
    pub(crate) typo: bool,
}

impl Setting {
    /// Every way of searching there is; the first is what a user gets.
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

    /// The same where there is no model: one ranking, or none.
    pub(crate) fn without_model(self) -> Option<Self> {
        match (self.mode, self.fusion) {
            (Mode::Semantic | Mode::Hybrid, _) | (_, Some(Fusion::Rrf)) => None,
            _ => Some(Self {
                fusion: None,
                ..self
            }),
        }
    }

    /// The mode's name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self.mode {
            Mode::Auto => "auto",
            Mode::Lexical => "lexical",
            Mode::Semantic => "semantic",
            Mode::Hybrid => "hybrid",
            Mode::Like => "like",
        }
    }

    /// Whether a model, where there is one, has a part in it.
    pub(crate) fn compares_meanings(self) -> bool {
        matches!(self.mode, Mode::Auto | Mode::Hybrid | Mode::Semantic)
    }

    /// Whether this is what a user gets who asks for nothing special.
    pub(crate) fn is_default(self) -> bool {
        self == Self::ALL[0] || Some(self) == Self::ALL[0].without_model()
    }
}

/// A set's documents in an index of their own.
pub(crate) struct Collection {
    engine: Engine,
    _folder: tempfile::TempDir,
}

impl Collection {
    /// Indexes the documents of `set` in a folder inside `scratch`, stemmed and chunked in this way, and embeds
    /// them if there is a model. `listener` is told how far that has come.
    pub(crate) fn build(
        set: &TestSet,
        scratch: &Path,
        chunking: ChunkOptions,
        stemming: Stemming,
        embedder: Option<&Arc<CachedEmbedder>>,
        listener: &(dyn Fn(Event<'_>) + Sync),
    ) -> Result<Self> {
        let folder = tempfile::tempdir_in(scratch).map_err(|error| {
            refusal(
                format!("could not make a folder for the index: {error}"),
                "set TMPDIR to a folder that can be written to",
            )
        })?;
        let documents = set.documents().collect::<Result<Vec<_>>>()?;
        let index = folder.path().join("index.db");
        let store = SqliteIndex::new(&index)
            .with_chunking(chunking)
            .with_stemming(stemming);
        let mut builder = Engine::builder_over(Arc::new(store))
            .source(TestDocuments(documents))
            .deadline(NO_HURRY);
        if let Some(embedder) = embedder {
            let model: Arc<dyn Embedder> = embedder.clone();
            builder = builder.model(model).cache(embedder.cache_path());
        }
        let engine = builder.open()?;
        let (guard, job) = (Guard::local(), Job::new(listener));
        engine.sync(&guard, &job)?;
        if let Some(report) = engine.embed(&guard, None, &job)? {
            if let Some(reason) = report.stopped {
                let left = format!("{} chunks could not be embedded", report.left);
                return Err(anyhow::Error::msg(reason).context(left));
            }
            if let Some(reason) = report.reason {
                let failed = format!("{} chunks could not be embedded", report.failed);
                return Err(anyhow::Error::msg(reason).context(failed));
            }
        }
        Ok(Self {
            engine,
            _folder: folder,
        })
    }

    /// Runs queries in one setting, ranked with these numbers, calling `asked`
    /// after each.
    pub(crate) fn measure(
        &self,
        queries: &[JudgedQuery],
        setting: Setting,
        variant: &Variant,
        mut asked: impl FnMut(usize),
    ) -> Result<Tally> {
        let engine = self.engine.with_tuning(variant.tuning);
        let guard = Guard::local();
        let mut tally = Tally::default();
        for (number, query) in queries.iter().enumerate() {
            let request = Request {
                query: query.text.clone(),
                limit: DEPTH,
                mode: setting.mode,
                exact: !setting.typo,
                fusion: setting.fusion.unwrap_or_default(),
                weights: variant.weights,
                all: variant.require_all_terms,
                filter: query.filter.clone(),
                ..Request::default()
            };
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
