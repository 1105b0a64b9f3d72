//! Runs a test set's queries through the same entry point as a user's search.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use kodiak::search::{Mode, Request, Router};
use kodiak::store::sqlite::Prepared;
use kodiak::store::{Filter, SqliteStore, Writer};
use kodiak::{Document, Stamp};
use serde_json::{Map, Value};

use super::beir::{CorpusDocument, JudgedQuery, TestSet};
use super::metrics::{Summary, Tally};
use crate::failure::refusal;

/// How deep rankings are judged.
const DEPTH: usize = 100;
/// The name of the one source in a throwaway index.
const SOURCE: &str = "eval";
/// Documents per transaction while filling it.
const BATCH: usize = 2_000;

/// One way of searching that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// How to search.
    pub(crate) mode: Mode,
    /// Whether misspelt words are corrected.
    pub(crate) typo: bool,
}

impl Setting {
    /// Every way of searching there is; the first is what a user gets.
    pub(crate) const ALL: [Self; 4] = [
        Self::new(Mode::Auto, true),
        Self::new(Mode::Lexical, true),
        Self::new(Mode::Lexical, false),
        Self::new(Mode::Like, false),
    ];

    const fn new(mode: Mode, typo: bool) -> Self {
        Self { mode, typo }
    }

    /// The mode's name on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self.mode {
            Mode::Auto => "auto",
            Mode::Lexical => "lexical",
            Mode::Like => "like",
        }
    }

    /// Whether this is what a user gets who asks for nothing special.
    pub(crate) fn is_default(self) -> bool {
        self == Self::ALL[0]
    }
}

/// A set's documents in an index of their own.
pub(crate) struct Collection {
    store: SqliteStore,
    _folder: tempfile::TempDir,
}

impl Collection {
    /// Indexes the documents of `set`, calling `indexed` after each.
    pub(crate) fn build(set: &TestSet, mut indexed: impl FnMut(usize)) -> Result<Self> {
        let folder = tempfile::tempdir().map_err(|error| {
            refusal(
                format!("could not make a folder for the index: {error}"),
                "set TMPDIR to a folder that can be written to",
            )
        })?;
        let path = folder.path().join("index.db");
        fill(&path, set, &mut indexed)?;
        Ok(Self {
            store: SqliteStore::open(&path)?,
            _folder: folder,
        })
    }

    /// Runs queries in one setting, calling `asked` after each.
    pub(crate) fn measure(
        &self,
        queries: &[JudgedQuery],
        setting: Setting,
        mut asked: impl FnMut(usize),
    ) -> Result<Summary> {
        let router = Router::new(&self.store, &[]);
        let mut tally = Tally::default();
        for (number, query) in queries.iter().enumerate() {
            let request = Request {
                query: query.text.clone(),
                limit: DEPTH,
                mode: setting.mode,
                exact: !setting.typo,
                filter: Filter {
                    fields: query
                        .group
                        .iter()
                        .map(|group| ("group".to_owned(), group.clone()))
                        .collect(),
                    ..Filter::default()
                },
                ..Request::default()
            };
            let started = Instant::now();
            let answer = router.search(&request)?;
            let took = started.elapsed();
            let ranked: Vec<&str> = answer.hits.iter().map(|hit| hit.path.as_str()).collect();
            tally.add(&ranked, &query.judged, took);
            asked(number + 1);
        }
        Ok(tally.summary())
    }
}

fn fill(path: &Path, set: &TestSet, indexed: &mut dyn FnMut(usize)) -> Result<()> {
    let mut writer = Writer::open(path, "kodiak eval")?;
    writer.begin()?;
    for (number, document) in set.documents().enumerate() {
        writer.put(&Prepared::new(indexable(document?)))?;
        if (number + 1) % BATCH == 0 {
            writer.commit()?;
            writer.begin()?;
        }
        indexed(number + 1);
    }
    writer.commit()?;
    writer.refresh_vocabulary()?;
    Ok(())
}

fn indexable(document: CorpusDocument) -> Document {
    let mut fields = Map::new();
    if let Some(group) = document.group {
        fields.insert("group".to_owned(), Value::String(group));
    }
    Document {
        source: SOURCE.to_owned(),
        key: document.id,
        kind: "note".to_owned(),
        title: document.title,
        body: document.text,
        fields,
        stamp: Stamp::default(),
        ..Document::default()
    }
}
