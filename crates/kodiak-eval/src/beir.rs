//! Finds test sets in the BEIR layout: documents, queries and judgements.
//!
//! A set is a folder:
//!
//! ```text
//! corpus.jsonl           {"_id", "title", "text"[, "group"][, "date"]}
//! corpus.json            {"notes": "path/to/folder"} instead, for a folder of notes
//! queries.jsonl          {"_id", "text"[, "group"][, filters of a search]}
//! qrels.tsv              query-id, corpus-id, score
//! queries_<split>.jsonl  a further split
//! qrels_<split>.tsv
//! qrels/<split>.tsv      as the original BEIR archives have it
//! ```
//!
//! The documents of one group form a thread in file order: the turns of a
//! conversation, or the parts of a long text. A query with a group searches only
//! that group. A split without queries of its own uses `queries.jsonl`. Parsing
//! documents is left to [`super::corpus`], parsing queries to [`super::query`],
//! and scoring to [`super::metrics`].

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use kodiak::Document;

use super::corpus::Corpus;
use super::error::explained;
use super::metrics::{Judgements, has_relevant};
use super::query::{JudgedQuery, parse_query};
use super::records::records;

const LAYOUT: &str = "a test set is a folder in the BEIR layout: corpus.jsonl (or corpus.json, which \
                      names a folder of notes), queries.jsonl and qrels.tsv (or qrels/test.tsv)";

/// The name that people see for the main split, whose internal name is empty.
const MAIN_LABEL: &str = "test";

/// A folder that contains a test set. Its files are read only when documents or
/// queries are requested.
#[derive(Debug, Clone)]
pub(crate) struct TestSet {
    /// The name of the folder.
    pub(crate) name: String,
    /// The splits that can be passed to [`TestSet::queries`], the main one ("")
    /// first, the others by name. [`split_label`] gives their names for people.
    pub(crate) splits: Vec<String>,
    corpus: Corpus,
    files: BTreeMap<String, SplitFiles>,
}

#[derive(Debug, Clone)]
struct SplitFiles {
    queries: PathBuf,
    qrels: PathBuf,
}

/// Returns the name of a split as people see and type it.
pub(crate) fn split_label(split: &str) -> &str {
    if split.is_empty() { MAIN_LABEL } else { split }
}

/// Returns the internal name of a split from the name that people type.
fn split_key(label: &str) -> &str {
    if label == MAIN_LABEL { "" } else { label }
}

/// The sets that were found in a folder.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The set that the folder itself is, or the sets in it, by name.
    pub(crate) sets: Vec<TestSet>,
    /// The folders in it that contain no documents and so are not sets.
    pub(crate) passed_over: Vec<PathBuf>,
}

/// Finds the set that a folder is, or all sets directly inside it.
pub(crate) fn find(folder: &Path) -> Result<Found> {
    let (inside, others) = if Corpus::find(folder).is_some() {
        (Vec::new(), Vec::new())
    } else {
        let mut folders = subfolders(folder).map_err(with_layout)?;
        folders.sort_unstable();
        let holds_documents = |folder: &PathBuf| Corpus::find(folder).is_some();
        folders.into_iter().partition(holds_documents)
    };
    if inside.is_empty() {
        // Opened as a set, because the error then says what is missing.
        let sets = vec![open(folder)?];
        return Ok(Found {
            sets,
            ..Found::default()
        });
    }
    let sets = inside.iter().map(|folder| open(folder));
    Ok(Found {
        sets: sets.collect::<Result<_>>()?,
        passed_over: others,
    })
}

/// Returns the folders directly inside a folder, except hidden ones.
fn subfolders(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("could not read {}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).with_context(failed)? {
        let entry = entry.with_context(failed)?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        let path = entry.path();
        if !hidden && path.is_dir() {
            found.push(path);
        }
    }
    Ok(found)
}

/// Opens the set in a folder. Fails unless it has a corpus, judgements, and
/// queries for all of them.
pub(crate) fn open(folder: &Path) -> Result<TestSet> {
    look(folder).map_err(with_layout)
}

/// Adds a hint about the layout of a test set to an error.
pub(super) fn with_layout(error: anyhow::Error) -> anyhow::Error {
    explained(error, LAYOUT)
}

fn look(folder: &Path) -> Result<TestSet> {
    let mut files = BTreeMap::new();
    // The first file found for a split counts, so the order decides which layout
    // wins when a folder has both.
    let main = folder.join("qrels.tsv");
    if main.is_file() {
        files.insert(String::new(), main);
    }
    find_qrels(folder, "qrels_", &mut files)?;
    let original = folder.join("qrels");
    if original.is_dir() {
        find_qrels(&original, "", &mut files)?;
    }

    let Some(corpus) = Corpus::find(folder) else {
        bail!(
            "neither corpus.jsonl nor corpus.json is in {}",
            folder.display()
        );
    };
    if files.is_empty() {
        bail!("no judgements in {}", folder.display());
    }
    let files = files
        .into_iter()
        .map(|(split, qrels)| {
            let queries = find_queries(folder, &split, &qrels)?;
            Ok((split, SplitFiles { queries, qrels }))
        })
        .collect::<Result<BTreeMap<_, _>>>()?;
    Ok(TestSet {
        name: folder_name(folder)?,
        splits: files.keys().cloned().collect(),
        corpus,
        files,
    })
}

impl TestSet {
    /// Returns all documents, read lazily. The judgements refer to their keys:
    /// ids, or the paths of notes.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Result<Document>> + use<> {
        let documents = self.corpus.documents();
        documents.map(|document| document.map_err(with_layout))
    }

    /// Returns the queries of a split that have a relevant document, in file
    /// order. The main split is called "" or "test".
    pub(crate) fn queries(&self, split: &str) -> Result<Vec<JudgedQuery>> {
        self.judged_queries(split).map_err(with_layout)
    }

    fn judged_queries(&self, split: &str) -> Result<Vec<JudgedQuery>> {
        let files = self.files.get(split_key(split)).with_context(|| {
            let known: Vec<&str> = self.splits.iter().map(|name| split_label(name)).collect();
            format!(
                "no split \"{}\" in {}; it has {}",
                split_label(split),
                self.name,
                known.join(", ")
            )
        })?;
        let mut judged = read_qrels(&files.qrels)?;
        let mut queries = Vec::new();
        for query in records(&files.queries, parse_query) {
            let query = query?;
            // Removed rather than copied, so that an id that occurs twice is
            // scored once.
            if let Some(judged) = judged.remove(&query.id).filter(has_relevant) {
                queries.push(query.judged(judged));
            }
        }
        Ok(queries)
    }
}

/// Returns the name of a folder, also for a path like `.` that does not contain
/// it.
fn folder_name(folder: &Path) -> Result<String> {
    if let Some(name) = folder.file_name() {
        return Ok(name.to_string_lossy().into_owned());
    }
    let full =
        fs::canonicalize(folder).with_context(|| format!("could not read {}", folder.display()))?;
    let name = full.file_name().unwrap_or(full.as_os_str());
    Ok(name.to_string_lossy().into_owned())
}

/// Adds every `<prefix><split>.tsv` in a folder whose split is not yet known.
fn find_qrels(folder: &Path, prefix: &str, files: &mut BTreeMap<String, PathBuf>) -> Result<()> {
    let failed = || format!("could not read {}", folder.display());
    for entry in fs::read_dir(folder).with_context(failed)? {
        let path = entry.with_context(failed)?.path();
        let split = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.strip_prefix(prefix)?.strip_suffix(".tsv"))
            // macOS leaves files like `._test.tsv` behind in archives.
            .filter(|split| !split.is_empty() && !split.starts_with('.'));
        if let Some(split) = split
            && path.is_file()
        {
            let key = split_key(split).to_owned();
            files.entry(key).or_insert(path);
        }
    }
    Ok(())
}

fn find_queries(folder: &Path, split: &str, qrels: &Path) -> Result<PathBuf> {
    let own = format!("queries_{}.jsonl", split_label(split));
    // A main split with `qrels.tsv` goes with `queries.jsonl`, even if there is a
    // `queries_test.jsonl` beside it.
    let names = if qrels == folder.join("qrels.tsv") {
        ["queries.jsonl", own.as_str()]
    } else {
        [own.as_str(), "queries.jsonl"]
    };
    names
        .iter()
        .map(|name| folder.join(name))
        .find(|path| path.is_file())
        .with_context(|| {
            format!(
                "no queries for {}: neither {} nor {} is in {}",
                qrels.display(),
                names[0],
                names[1],
                folder.display()
            )
        })
}

fn read_qrels(path: &Path) -> Result<HashMap<String, Judgements>> {
    let mut judged: HashMap<String, Judgements> = HashMap::new();
    for row in records(path, parse_judgement) {
        if let Some((query, document, grade)) = row? {
            judged.entry(query).or_default().insert(document, grade);
        }
    }
    Ok(judged)
}

/// Parses a judgement into query, document and grade. Returns `None` for a
/// header.
fn parse_judgement(line: &str) -> Result<Option<(String, String, i32)>> {
    // TREC's own files are aligned with spaces. In files with tabs, an id may
    // contain spaces.
    let columns: Vec<&str> = if line.contains('\t') {
        line.split('\t').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    };
    // Checked on every line, because concatenated files have a header in the
    // middle.
    if columns.first() == Some(&"query-id") {
        return Ok(None);
    }
    let ([query, document, grade] | [query, _, document, grade]) = columns[..] else {
        bail!(
            "expected 3 columns (query-id, corpus-id, score) or 4 (query-id, 0, corpus-id, \
             score), found {}",
            columns.len()
        );
    };
    let grade = grade
        .parse()
        .map_err(|_| anyhow!("score \"{grade}\" is not a whole number"))?;
    Ok(Some((query.to_owned(), document.to_owned(), grade)))
}

#[cfg(test)]
#[path = "beir_tests.rs"]
mod tests;
