//! Memory benchmarks: conversations, and questions about what was said in them.
//!
//! Owns the values that both formats have in common. `longmemeval` and `locomo` read
//! the files as they are published, `measures` scores a ranking, `run` asks the
//! questions, and `figures` lays the results out.
//!
//! Each question is asked inside its own haystack, an index that holds nothing else.

mod figures;
mod locomo;
mod longmemeval;
mod measures;
mod run;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use kodiak::period::Period;
use kodiak::{Timestamp, date};
use serde_json::Value;

pub(super) use figures::{MemoryRow, table};
pub(super) use run::MemoryRun;

use super::error::explained;

const FORMATS: &str = "a memory benchmark is the JSON file of LongMemEval (a list of questions \
                       with `haystack_sessions`) or of LoCoMo (a list of conversations with `qa`)";

/// A benchmark whose file is known but not read.
#[derive(Clone, Debug)]
pub(crate) struct BenchmarkFile {
    pub(crate) path: PathBuf,
}

/// A benchmark.
#[derive(Debug)]
struct Benchmark {
    /// The name of the file.
    name: String,
    haystacks: Vec<Haystack>,
}

/// Conversations, and the questions that are asked inside them.
#[derive(Debug, Default)]
struct Haystack {
    /// Its name.
    name: String,
    sessions: Vec<Session>,
    questions: Vec<Question>,
}

/// One conversation.
#[derive(Debug)]
struct Session {
    id: String,
    /// What a person would call it, with its date.
    title: String,
    at: Option<Timestamp>,
    turns: Vec<Turn>,
}

/// One turn of a conversation.
#[derive(Debug)]
struct Turn {
    id: String,
    speaker: String,
    text: String,
}

/// A question.
#[derive(Debug)]
struct Question {
    id: String,
    /// Its type, as the benchmark calls it.
    kind: String,
    text: String,
    /// The turns that hold the answer.
    turns: Vec<String>,
    /// The sessions that hold the answer.
    sessions: Vec<String>,
    /// Whether nothing in the haystack answers it.
    unanswerable: bool,
}

impl BenchmarkFile {
    fn read(&self) -> Result<Benchmark> {
        let path = &self.path;
        let named = || path.display().to_string();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("could not read {}", path.display()))?;
        let haystacks = parse(&text)
            .with_context(named)
            .map_err(|error| explained(error, FORMATS))?;
        let name = path.file_stem().unwrap_or(path.as_os_str());
        Ok(Benchmark {
            name: name.to_string_lossy().into_owned(),
            haystacks,
        })
    }
}

/// Reports whether a path names a benchmark's file and not a folder.
pub(crate) fn is_benchmark(path: &Path) -> bool {
    path.is_file()
}

fn parse(text: &str) -> Result<Vec<Haystack>> {
    let items: Vec<Value> = serde_json::from_str(text).context("not a JSON list")?;
    let first = items.first().context("the list is empty")?;
    if first.get("haystack_sessions").is_some() {
        return each(&items, longmemeval::haystack);
    }
    if first.get("qa").is_some() {
        return each(&items, locomo::haystack);
    }
    anyhow::bail!("neither LongMemEval nor LoCoMo")
}

fn each(items: &[Value], read: fn(&Value) -> Result<Haystack>) -> Result<Vec<Haystack>> {
    let numbered = items.iter().enumerate();
    numbered
        .map(|(at, item)| read(item).with_context(|| format!("item {}", at + 1)))
        .collect()
}

/// Returns a field that must be a text or a number, as text.
fn text(item: &Value, field: &str) -> Result<String> {
    match item.get(field) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => anyhow::bail!("\"{field}\" is not a text"),
        None => anyhow::bail!("no \"{field}\""),
    }
}

/// Returns a field that must be a list.
fn list<'a>(item: &'a Value, field: &str) -> Result<&'a [Value]> {
    let found = item.get(field).with_context(|| format!("no \"{field}\""))?;
    let items = found.as_array();
    Ok(items.with_context(|| format!("\"{field}\" is not a list"))?)
}

/// Reads a date as these files write it: `2023/05/20 (Sat) 02:21`, or
/// `1:56 pm on 8 May, 2023`.
fn moment(text: &str) -> Option<Timestamp> {
    let plain = match (text.find('('), text.find(')')) {
        (Some(start), Some(end)) if start < end => {
            format!("{} {}", text[..start].trim(), text[end + 1..].trim())
        }
        _ => text.to_owned(),
    };
    date::parse(plain.trim()).or_else(|| Period::named_in(text, 0)?.start())
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
