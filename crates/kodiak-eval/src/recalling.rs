//! Compares recalling inside a project with searching the same documents as a test
//! set.
//!
//! The documents of a group, such as the turns of a conversation, become the memories
//! of a project: files with an id, a date, a session and a text. A query is then asked
//! twice: of the test set, limited to its group, as every evaluation does; and of the
//! memories, with `recall` inside the project, as the program does. Both must find the
//! same, because a memory is worth no less than what was judged.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use kodiak::access::Guard;
use kodiak::engine::Job;
use kodiak::search::Request;
use kodiak::store::{Filter, SqliteIndex};
use kodiak::{Document, Engine, date};
use kodiak_memory::{Knowledge, MEMORY_SOURCE, Memories, Recall};
use kodiak_memory::{MemoryFolder, MemoryOptions};
use serde::Serialize;
use serde_json::json;

use super::beir::{TestSet, open};
use super::cached_embedder::CachedEmbedder;
use super::corpus::THREAD;
use super::error::refusal;
use super::metrics::{ndcg, reciprocal_rank};
use super::query::JudgedQuery;
use super::runner::{Collection, DEPTH, Setting, filled, request};
use super::variant::Variant;

/// The number of hits that are scored and compared.
const COMPARED: usize = 10;

/// The means over all queries of one way of asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RecallFigures {
    /// The normalised discounted cumulative gain of the first ten hits.
    #[serde(rename = "ndcg@10")]
    pub ndcg_at_10: f64,
    /// The share of queries whose first hit is relevant.
    #[serde(rename = "hit@1")]
    pub hit_at_1: f64,
    /// The mean of one over the rank of the first relevant hit among ten.
    pub mrr: f64,
}

/// How a question is asked, on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// As an evaluation asks: for many hits, each copy of a text among them.
    Judged,
    /// As the program asks: for ten hits, with copies collapsed. Memories that
    /// restate each other are copies, turns that do so are not.
    Usual,
}

impl Asked {
    fn limit(self) -> usize {
        match self {
            Self::Judged => DEPTH,
            Self::Usual => COMPARED,
        }
    }
}

/// What both sides found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecallRow {
    /// How they were asked.
    pub asked: Asked,
    /// The number of queries.
    pub queries: usize,
    /// What the evaluation finds among the documents.
    pub evaluated: RecallFigures,
    /// What recalling finds among the memories.
    pub recalled: RecallFigures,
    /// The queries whose first ten hits are not the same, by id.
    pub different: Vec<String>,
}

impl RecallRow {
    /// Returns the largest difference between the figures of both ways.
    pub fn difference(&self) -> f64 {
        let (one, other) = (&self.evaluated, &self.recalled);
        let apart = [
            one.ndcg_at_10 - other.ndcg_at_10,
            one.hit_at_1 - other.hit_at_1,
            one.mrr - other.mrr,
        ];
        apart.into_iter().map(f64::abs).fold(0.0, f64::max)
    }
}

/// Asks the queries of the main split of the set in `folder`, of the documents and of
/// the memories. Returns a row for each way of asking. Temporary files are in
/// `scratch`.
pub fn compare_recall(
    folder: &Path,
    scratch: &Path,
    embedder: Option<&Arc<CachedEmbedder>>,
) -> Result<Vec<RecallRow>> {
    let set = open(folder)?;
    let queries = set.queries("")?;
    let grouped = |query: &JudgedQuery| group_of(query).is_some();
    if queries.is_empty() || !queries.iter().all(grouped) {
        return Err(refusal(
            format!("not every query of {} has a group", set.name),
            "each group becomes a project, so use a set of several, such as conversations",
        ));
    }
    let variant = Variant::default();
    let judged = Collection::build(
        &set,
        scratch,
        variant.chunking,
        variant.stemming,
        embedder,
        &|_| {},
    )?;
    let memories = Remembered::build(&set, scratch, embedder)?;
    let rows = [Asked::Judged, Asked::Usual].into_iter();
    rows.map(|way| {
        let asking = Asking {
            judged: &judged,
            memories: &memories,
            with_model: embedder.is_some(),
            way,
        };
        asking.row(&queries)
    })
    .collect()
}

/// Returns the group that a query is limited to.
fn group_of(query: &JudgedQuery) -> Option<&str> {
    let mut fields = query.filter.fields.iter();
    let field = fields.find(|(name, _)| name == THREAD);
    field.map(|(_, group)| group.as_str())
}

/// The documents of a set as memories, indexed.
struct Remembered {
    engine: Engine,
    /// The document that each memory is, by the memory's id.
    documents: HashMap<String, String>,
    _folder: tempfile::TempDir,
}

impl Remembered {
    fn build(
        set: &TestSet,
        scratch: &Path,
        embedder: Option<&Arc<CachedEmbedder>>,
    ) -> Result<Self> {
        let folder = tempfile::tempdir_in(scratch)?;
        let root = folder.path().join("memory");
        fs::create_dir(&root)?;
        let mut documents = HashMap::new();
        for (number, document) in set.documents().enumerate() {
            let document = document?;
            // Memories of one session and date are in the order of their files.
            let id = format!("memory-{number:08}");
            let path = root.join(format!("{id}.md"));
            fs::write(&path, memory(&id, &document))
                .with_context(|| format!("could not write {}", path.display()))?;
            documents.insert(id, document.key);
        }
        let memories = MemoryFolder::new(MEMORY_SOURCE, &root, MemoryOptions::default())?;
        let store = SqliteIndex::new(folder.path().join("index.db"));
        let builder = Engine::builder_over(Arc::new(store)).source(memories);
        let engine = filled(builder, embedder, &Job::default())?;
        Ok(Self {
            engine,
            documents,
            _folder: folder,
        })
    }
}

/// Returns the file of a memory that says what a document says.
fn memory(id: &str, document: &Document) -> String {
    let mut front = vec![
        ("id", json!(id)),
        // Otherwise it is that of the file, and every memory was written just now.
        ("updated_at", json!(date::format(document.updated_at))),
    ];
    if let Some(at) = document.created_at {
        front.push(("created_at", json!(date::format(at))));
    }
    if let Some(thread) = &document.thread {
        front.push(("project", json!(thread.name)));
        front.push(("session", json!(thread.name)));
    }
    if !document.title.is_empty() {
        front.push(("title", json!(document.title)));
    }
    let lines: String = front
        .into_iter()
        // What is valid JSON is valid YAML.
        .map(|(name, value)| format!("{name}: {value}\n"))
        .collect();
    format!("---\n{lines}---\n{}", document.body)
}

/// Both ways of asking.
struct Asking<'a> {
    judged: &'a Collection,
    memories: &'a Remembered,
    with_model: bool,
    way: Asked,
}

impl Asking<'_> {
    fn row(&self, queries: &[JudgedQuery]) -> Result<RecallRow> {
        let (mut evaluated, mut recalled) = (RecallFigures::default(), RecallFigures::default());
        let mut different = Vec::new();
        for query in queries {
            let one = self.evaluated(query)?;
            let other = self.recalled(query)?;
            evaluated.add(&one, query);
            recalled.add(&other, query);
            if one != other {
                different.push(query.id.clone());
            }
        }
        Ok(RecallRow {
            asked: self.way,
            queries: queries.len(),
            evaluated: evaluated.over(queries.len()),
            recalled: recalled.over(queries.len()),
            different,
        })
    }

    /// Asks as an evaluation does.
    fn evaluated(&self, query: &JudgedQuery) -> Result<Vec<String>> {
        let [with_model, ..] = Setting::ALL;
        let setting = if self.with_model {
            Some(with_model)
        } else {
            with_model.without_model()
        };
        let setting = setting.context("there is no default way of searching")?;
        let variant = Variant {
            collapse_copies: self.way == Asked::Usual,
            ..Variant::default()
        };
        let request = Request {
            limit: self.way.limit(),
            ..request(query, setting, &variant)
        };
        let answer = self.judged.engine().search(&Guard::local(), &request)?;
        let hits = answer.hits.into_iter().take(COMPARED);
        Ok(hits.map(|hit| hit.card.path).collect())
    }

    /// Asks as `kodiak recall --project` does.
    fn recalled(&self, query: &JudgedQuery) -> Result<Vec<String>> {
        let project = group_of(query).unwrap_or_default();
        let recall = Recall {
            request: Request {
                query: query.text.clone(),
                limit: self.way.limit(),
                all_copies: self.way == Asked::Judged,
                filter: Filter {
                    projects: vec![project.to_owned()],
                    ..Filter::default()
                },
                ..Request::default()
            },
            knowledge: Knowledge::Experience,
            project: None,
        };
        let recalled = Memories::new(&self.memories.engine).recall(&Guard::local(), &recall)?;
        let document = |id: &str| {
            let found = self.memories.documents.get(id);
            found.with_context(|| format!("{id} is not among the memories"))
        };
        let hits = recalled.answer.hits.iter().take(COMPARED);
        hits.map(|hit| document(&hit.path).cloned()).collect()
    }
}

impl RecallFigures {
    fn add(&mut self, ranked: &[String], query: &JudgedQuery) {
        let ranked: Vec<&str> = ranked.iter().map(String::as_str).collect();
        self.ndcg_at_10 += ndcg(&ranked, &query.judged, COMPARED);
        self.hit_at_1 += reciprocal_rank(&ranked, &query.judged, 1);
        self.mrr += reciprocal_rank(&ranked, &query.judged, COMPARED);
    }

    fn over(self, queries: usize) -> Self {
        let queries = queries.max(1) as f64;
        Self {
            ndcg_at_10: self.ndcg_at_10 / queries,
            hit_at_1: self.hit_at_1 / queries,
            mrr: self.mrr / queries,
        }
    }
}

#[cfg(test)]
#[path = "recalling_tests.rs"]
mod tests;
