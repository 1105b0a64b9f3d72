//! A folder of notes with an index of its own, for the other tests.

use std::path::{Path, PathBuf};

use kodiak::search::{Answer, Request, Router};
use kodiak::source::markdown::FolderOptions;
use kodiak::source::{MarkdownFolder, Source};
use kodiak::store::{SqliteStore, Writer};
use kodiak::sync::{self, Report};
use tempfile::TempDir;

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

    pub(crate) fn writer(&self) -> Writer {
        Writer::open(&self.index_path(), "test").unwrap()
    }

    pub(crate) fn source(&self) -> MarkdownFolder {
        folder(&self.root())
    }

    pub(crate) fn sync(&self) -> Report {
        sync::sync(&mut self.writer(), &self.source(), "notes", &mut |_| {}).unwrap()
    }

    pub(crate) fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.index_path()).unwrap()
    }

    pub(crate) fn answer(&self, request: &Request) -> Answer {
        let sources: Vec<Box<dyn Source>> = vec![Box::new(self.source())];
        Router::new(&self.store(), &sources)
            .search(request)
            .unwrap()
    }

    /// The paths found for a query, best first.
    pub(crate) fn found(&self, query: &str) -> Vec<String> {
        paths(&self.answer(&ask(query)))
    }
}

pub(crate) fn folder(root: &Path) -> MarkdownFolder {
    MarkdownFolder::new("notes", root, FolderOptions::default()).unwrap()
}

pub(crate) fn ask(query: &str) -> Request {
    Request {
        query: query.to_owned(),
        limit: 10,
        ..Request::default()
    }
}

pub(crate) fn paths(answer: &Answer) -> Vec<String> {
    answer.hits.iter().map(|hit| hit.path.clone()).collect()
}
