//! Reads test sets in BEIR layout: documents, queries, and who answers what.
//!
//! A set is a folder:
//!
//! ```text
//! corpus.jsonl           {"_id", "title", "text"[, "group"]}
//! queries.jsonl          {"_id", "text"[, "group"]}
//! qrels.tsv              query-id, corpus-id, score
//! queries_<split>.jsonl  a further split
//! qrels_<split>.tsv
//! qrels/<split>.tsv      as the original BEIR archives have it
//! ```
//!
//! A split without queries of its own uses `queries.jsonl`. Scoring is left to
//! [`super::metrics`].

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::iter;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};

use super::metrics::{Judgements, has_relevant};
use crate::failure::{message, refusal};

const LAYOUT: &str = "a test set is a folder in BEIR layout: corpus.jsonl, queries.jsonl \
                      and qrels.tsv (or qrels/test.tsv)";

/// What the main split, whose own name is empty, is called in the open.
const MAIN_LABEL: &str = "test";

/// A folder that holds a test set. Nothing but the names of its files is read
/// until it is asked for its documents or queries.
#[derive(Debug, Clone)]
pub(crate) struct TestSet {
    /// The name of the folder.
    pub(crate) name: String,
    /// Splits that can be passed to [`TestSet::queries`], the main one ("") first,
    /// the others by name. [`split_label`] makes them presentable.
    pub(crate) splits: Vec<String>,
    corpus: PathBuf,
    files: BTreeMap<String, SplitFiles>,
}

#[derive(Debug, Clone)]
struct SplitFiles {
    queries: PathBuf,
    qrels: PathBuf,
}

/// One line of the corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CorpusDocument {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
    /// What a search is confined to in sets of many small haystacks, such as one
    /// conversation.
    pub(crate) group: Option<String>,
}

/// A query with its judgements, at least one of them relevant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JudgedQuery {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) group: Option<String>,
    pub(crate) judged: Judgements,
}

/// The name of a split as people see and type it.
pub(crate) fn split_label(split: &str) -> &str {
    if split.is_empty() { MAIN_LABEL } else { split }
}

/// The reverse of [`split_label`].
fn split_key(label: &str) -> &str {
    if label == MAIN_LABEL { "" } else { label }
}

/// Looks at what the folder offers. Fails unless it has a corpus, judgements, and
/// queries for all of them.
pub(crate) fn open(folder: &Path) -> Result<TestSet> {
    look(folder).map_err(|error| with_layout(&error))
}

/// An error about a set, with a hint at what a set looks like.
pub(super) fn with_layout(error: &anyhow::Error) -> anyhow::Error {
    refusal(message(error), LAYOUT)
}

fn look(folder: &Path) -> Result<TestSet> {
    let mut files = BTreeMap::new();
    // The first file found for a split counts, so the order settles what happens
    // when a folder has both layouts.
    let main = folder.join("qrels.tsv");
    if main.is_file() {
        files.insert(String::new(), main);
    }
    find_qrels(folder, "qrels_", &mut files)?;
    let original = folder.join("qrels");
    if original.is_dir() {
        find_qrels(&original, "", &mut files)?;
    }

    let corpus = folder.join("corpus.jsonl");
    if !corpus.is_file() {
        bail!("no corpus.jsonl in {}", folder.display());
    }
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
    /// All documents in file order, read as they are asked for.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Result<CorpusDocument>> + use<> {
        let documents = records(&self.corpus, parse_document);
        documents.map(|document| document.map_err(|error| with_layout(&error)))
    }

    /// The queries of a split that have a relevant document, in file order. The
    /// main split answers to "" and to "test".
    pub(crate) fn queries(&self, split: &str) -> Result<Vec<JudgedQuery>> {
        self.judged_queries(split)
            .map_err(|error| with_layout(&error))
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
            let (id, text, group) = query?;
            // Taken out rather than copied: an id that occurs twice is scored once.
            let Some(judged) = judged.remove(&id).filter(has_relevant) else {
                continue;
            };
            queries.push(JudgedQuery {
                id,
                text,
                group,
                judged,
            });
        }
        Ok(queries)
    }
}

/// The last part of the path, also of one like `.` that does not spell it out.
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

/// Parses a file line by line, skips blank ones, and says in every error where it
/// happened.
fn records<T>(
    path: &Path,
    parse: fn(&str) -> Result<T>,
) -> impl Iterator<Item = Result<T>> + use<T> {
    let path = path.to_owned();
    let opened = File::open(&path)
        .map(BufReader::new)
        .with_context(|| format!("could not read {}", path.display()));
    let mut source = Some(opened);
    let mut number = 0;
    iter::from_fn(move || {
        // Put back only after a good read, so that a file that cannot be read ends
        // the iteration instead of failing forever.
        let mut reader = match source.take()? {
            Ok(reader) => reader,
            Err(error) => return Some(Err(error)),
        };
        loop {
            number += 1;
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    let place = format!("could not read line {number} of {}", path.display());
                    return Some(Err(error).context(place));
                }
            }
            // Editors on Windows begin a file with a byte order mark.
            let text = line.trim_start_matches('\u{feff}').trim_end();
            if text.is_empty() {
                continue;
            }
            source = Some(Ok(reader));
            let place = || format!("line {number} of {}", path.display());
            return Some(parse(text).with_context(place));
        }
    })
}

fn parse_document(line: &str) -> Result<CorpusDocument> {
    let mut object = parse_object(line)?;
    Ok(CorpusDocument {
        id: take_identifier(&mut object, "_id")?.context("no \"_id\"")?,
        title: take_text(&mut object, "title")?.unwrap_or_default(),
        text: take_text(&mut object, "text")?.context("no \"text\"")?,
        group: take_identifier(&mut object, "group")?,
    })
}

/// Id, text and group.
fn parse_query(line: &str) -> Result<(String, String, Option<String>)> {
    let mut object = parse_object(line)?;
    Ok((
        take_identifier(&mut object, "_id")?.context("no \"_id\"")?,
        take_text(&mut object, "text")?.context("no \"text\"")?,
        take_identifier(&mut object, "group")?,
    ))
}

fn parse_object(line: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(line).map_err(|error| {
        // The parser has seen one line only and calls it line 1, which would
        // contradict the line number we report. Some errors have no position.
        let message = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        match message.strip_suffix(&position) {
            Some(problem) if error.column() > 0 => {
                anyhow!("not a JSON object: {problem} at column {}", error.column())
            }
            problem => anyhow!("not a JSON object: {}", problem.unwrap_or(&message)),
        }
    })
}

fn take_text(object: &mut Map<String, Value>, field: &str) -> Result<Option<String>> {
    match object.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => bail!("\"{field}\" is not a string"),
    }
}

/// Ids are written as strings or as numbers, but judgements only know text.
/// Fractions are refused: they would seldom be spelled alike in both places.
fn take_identifier(object: &mut Map<String, Value>, field: &str) -> Result<Option<String>> {
    match object.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) if !number.is_f64() => Ok(Some(number.to_string())),
        Some(_) => bail!("\"{field}\" is neither a string nor a whole number"),
    }
}

/// Query, document and grade, or nothing for a header.
fn parse_judgement(line: &str) -> Result<Option<(String, String, i32)>> {
    // TREC's own files are aligned with spaces; with tabs, an id may contain some.
    let columns: Vec<&str> = if line.contains('\t') {
        line.split('\t').map(str::trim).collect()
    } else {
        line.split_whitespace().collect()
    };
    // Looked for on every line, since joined files have it in the middle.
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
