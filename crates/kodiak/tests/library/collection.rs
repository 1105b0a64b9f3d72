//! A folder of notes with an index of its own, for the other tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kodiak::Cancel;
use kodiak::access::Guard;
use kodiak::embed::{Embedder, Identity};
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::source::Source;
use kodiak::store::prelude::*;
use kodiak::store::{
    EmbeddingCache, Lock, SqliteIndex, SqliteStore, SqliteWriter, Store, Writer, wait_for_lock,
};
use kodiak::sync::{self, EmbeddingReport, Report, WriteAccess};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;
use tempfile::TempDir;

use crate::embedders::tiny;

/// How long models are waited for: however busy the machine is, tests are about
/// what they say.
const PATIENCE: Duration = Duration::from_mins(1);

/// Takes turns at writing with other writers, under this name.
pub(crate) struct Turns<'a>(pub(crate) &'a dyn Store, pub(crate) &'a str);

impl WriteAccess for Turns<'_> {
    fn write(
        &self,
        work: &mut dyn FnMut(&mut dyn Writer) -> kodiak::Result<()>,
    ) -> kodiak::Result<()> {
        let open = || self.0.writer(self.1);
        work(&mut *wait_for_lock(PATIENCE, |_, _| Ok(()), open)?)
    }

    fn embedding_lock(&self) -> kodiak::Result<Option<Box<dyn Lock>>> {
        self.0.embedding_lock(self.1)
    }
}

/// A temporary folder `notes` and the index beside it.
pub(crate) struct Collection {
    place: TempDir,
}

impl Collection {
    pub(crate) fn new(notes: &[(&str, &str)]) -> Self {
        let collection = Self {
            place: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(collection.root()).unwrap();
        for (key, text) in notes {
            collection.write(key, text);
        }
        collection
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.place.path().join("notes")
    }

    pub(crate) fn index_path(&self) -> PathBuf {
        self.place.path().join("index.db")
    }

    pub(crate) fn write(&self, key: &str, text: impl AsRef<[u8]>) {
        let path = self.root().join(key);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn remove(&self, key: &str) {
        std::fs::remove_file(self.root().join(key)).unwrap();
    }

    pub(crate) fn index(&self) -> SqliteIndex {
        SqliteIndex::new(self.index_path())
    }

    pub(crate) fn writer(&self) -> SqliteWriter {
        SqliteWriter::open(&self.index_path(), "test").unwrap()
    }

    pub(crate) fn source(&self) -> MarkdownFolder {
        folder(&self.root())
    }

    pub(crate) fn sync(&self) -> Report {
        sync::sync(
            &mut self.writer(),
            &self.source(),
            &Cancel::new(),
            &mut |_| {},
        )
        .unwrap()
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.index_path()).unwrap()
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let sources: Vec<Box<dyn Source>> = vec![Box::new(self.source())];
        Router::new(&self.store(), &sources, Guard::local())
            .search(request)
            .unwrap()
    }

    /// The file that vectors are scanned from.
    pub(crate) fn vector_path(&self) -> PathBuf {
        self.place.path().join("index.vectors")
    }

    /// The cache of vectors beside the index.
    pub(crate) fn cache(&self) -> EmbeddingCache {
        EmbeddingCache::open(&EmbeddingCache::path_beside(&self.index_path())).unwrap()
    }

    /// Brings the index in step with the folder and embeds what is new, with
    /// nothing from the cache.
    pub(crate) fn sync_and_embed(&self, embedder: &dyn Embedder) -> EmbeddingReport {
        self.sync();
        self.embed(embedder, None)
    }

    /// Embeds what lacks a vector, without the cache.
    pub(crate) fn embed(&self, embedder: &dyn Embedder, until: Option<Instant>) -> EmbeddingReport {
        self.embed_until(embedder, until, &Cancel::new())
    }

    /// Embeds what lacks a vector, without the cache, until it is cancelled.
    pub(crate) fn embed_until(
        &self,
        embedder: &dyn Embedder,
        until: Option<Instant>,
        cancel: &Cancel,
    ) -> EmbeddingReport {
        let index = self.index();
        sync::backfill(
            &Turns(&index, "test"),
            embedder,
            None,
            until,
            cancel,
            &mut |_| {},
        )
        .unwrap()
    }

    /// Embeds what lacks a vector, with the cache.
    pub(crate) fn embed_cached(&self, embedder: &dyn Embedder) -> EmbeddingReport {
        let (mut cache, cancel) = (self.cache(), Cancel::new());
        let (index, cache) = (self.index(), Some(&mut cache));
        sync::backfill(
            &Turns(&index, "test"),
            embedder,
            cache,
            None,
            &cancel,
            &mut |_| {},
        )
        .unwrap()
    }

    /// Makes the index again, with its vectors from the cache.
    pub(crate) fn rebuild(&self) {
        let serving = self.store().serving().unwrap().unwrap();
        let (identity, cache) = (serving.identity().unwrap(), self.cache());
        self.rebuild_with(Some((&identity, &cache)));
    }

    /// Makes the index again, with these vectors or none.
    pub(crate) fn rebuild_with(&self, vectors: Option<(&Identity, &EmbeddingCache)>) {
        let source = self.source();
        let sources: [&dyn Source; 1] = [&source];
        sync::rebuild(
            &mut self.writer(),
            &sources,
            vectors,
            &Cancel::new(),
            &mut |_, _| {},
        )
        .unwrap();
    }

    /// Changes the index behind its own back.
    pub(crate) fn run_sql(&self, sql: &str) {
        let connection = rusqlite::Connection::open(self.index_path()).unwrap();
        connection.execute_batch(sql).unwrap();
    }

    /// The answer to a search that has a model for its query.
    pub(crate) fn answer_with<E: Embedder + 'static>(
        &self,
        embedder: &Arc<E>,
        request: &Request,
    ) -> Answer {
        let sources: Vec<Box<dyn Source>> = vec![Box::new(self.source())];
        Router::new(&self.store(), &sources, Guard::local())
            .with_embedder(Some(embedder.clone()))
            .with_deadline(PATIENCE)
            .search(request)
            .unwrap()
    }

    /// The paths found by meaning alone, best first.
    pub(crate) fn meant<E: Embedder + 'static>(
        &self,
        embedder: &Arc<E>,
        query: &str,
    ) -> Vec<String> {
        paths(&self.answer_with(embedder, &ask_in(Mode::Semantic, query)))
    }

    /// The paths found for a query, best first.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        paths(&self.answer(&ask(query)))
    }
}

/// A router with the tiny model.
pub(crate) fn router_over(store: &SqliteStore, guard: Guard) -> Router<'_> {
    Router::new(store, &[], guard)
        .with_embedder(Some(tiny()))
        .with_deadline(PATIENCE)
}

pub(crate) fn folder(root: &Path) -> MarkdownFolder {
    MarkdownFolder::new("notes", root, FolderOptions::default()).unwrap()
}

/// A request for ten documents, copies included: most tests are about documents
/// that say nearly nothing.
pub(crate) fn ask(query: &str) -> Request {
    Request {
        query: query.to_owned(),
        limit: 10,
        all_copies: true,
        ..Request::default()
    }
}

pub(crate) fn ask_in(mode: Mode, query: &str) -> Request {
    Request { mode, ..ask(query) }
}

pub(crate) const EVERY_MODE: [Mode; 5] = [
    Mode::Auto,
    Mode::Lexical,
    Mode::Semantic,
    Mode::Hybrid,
    Mode::Like,
];

/// The same paths whatever their order.
pub(crate) fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.sort();
    paths
}

/// Notes on cooking, work, travel and code, in words the tiny model knows.
pub(crate) fn topics() -> Collection {
    Collection::new(&[
        (
            "bread.md",
            "---\ntags: [baking]\n---\n# Sourdough\n\nFlour, yeast and butter in a dough; the warm oven hums a tune.\n",
        ),
        (
            "ramen.md",
            "---\ntags: [soup/japanese]\n---\n# Ramen\n\nNoodles in a pork broth with garlic.\n",
        ),
        (
            "gtd.md",
            "---\ntags: [work]\n---\n# GTD\n\nCapture tasks in an inbox, then a weekly review.\n",
        ),
        (
            "travel/lisbon.md",
            "# Lisbon\n\nThe hotel by the museum, the ferry, the beach.\n",
        ),
        (
            "code/rust.md",
            "# Ownership\n\nThe compiler knows who may borrow memory.\n",
        ),
    ])
}

/// Asserts what holds of every answer.
pub(crate) fn assert_sound(answer: &Answer, request: &Request) {
    let hits = &answer.hits;
    let about = format!("{request:?}\n{answer:?}");
    assert!(hits.len() <= request.limit, "{about}");
    assert!(answer.total >= hits.len(), "{about}");
    assert!((0.0..=1.0).contains(&answer.embedded), "{about}");
    for hit in hits {
        assert!((0.0..=1.0).contains(&hit.score), "{about}");
        assert!(!hit.found_by.is_empty(), "{about}");
        for mark in &hit.marks {
            assert!(hit.snippet.get(mark.clone()).is_some(), "{about}");
        }
        let similarity = hit.similarity.unwrap_or_default();
        assert!((-1.001..=1.001).contains(&similarity), "{about}");
    }
    assert!(
        hits.is_sorted_by(|one, next| one.score >= next.score),
        "{about}"
    );
    if let Some(first) = hits.first() {
        assert!(first.score > 0.9999, "{about}");
    }
}

pub(crate) fn paths(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.path.clone()).collect()
}
