//! Documents and searches as resources, under addresses such as
//! `kodiak://notes/gtd.md` and `kodiak://search/weekly%20review`.

use kodiak::document::Reference;
use kodiak::escape::is_harmful;
use kodiak::search::Card;
use kodiak::store::Filter;
use kodiak::{Cancel, Engine, Event};
use percent_encoding::percent_decode_str;
use serde_json::Map;

use crate::answer::title;
use crate::budget::{MOST_TOKENS, beginning};
use crate::failure::Refusal;
use crate::server::{Caller, Server};

/// What every address begins with.
const SCHEME: &str = "kodiak://";
/// The template of the addresses of documents.
pub(crate) const DOCUMENTS: &str = "kodiak://{source}/{+key}";
/// The template of the addresses of searches.
pub(crate) const SEARCHES: &str = "kodiak://search/{query}";
/// How many recent documents are listed.
const RECENT: usize = 20;
/// The most values that a completion has.
pub(crate) const MOST_VALUES: usize = 100;

/// A document, as a list of resources shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Its address.
    pub uri: String,
    /// Its path.
    pub name: String,
    /// Its title.
    pub title: String,
}

/// What a resource says. A remark of the server is apart from it, so that no
/// document can make one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its text, or the beginning of it.
    pub text: String,
    /// What is missing, if something is.
    pub remark: Option<String>,
}

impl Server {
    /// Lists the documents that changed last.
    pub fn resources(&self, caller: &Caller, cancel: &Cancel) -> Result<Vec<Resource>, Refusal> {
        let engine = self.engine().cancelled_by(cancel.clone());
        let recent = match engine.view(&caller.guard).list(&Filter::default(), RECENT) {
            Err(kodiak::Error::NoIndex { .. }) => Vec::new(),
            listed => listed?,
        };
        let resource = |one: Card| Resource {
            uri: one.uri,
            name: kodiak::escape::line(&format!("{}/{}", one.source, one.path)).into_owned(),
            title: title(&one.title),
        };
        Ok(recent.into_iter().map(resource).collect())
    }

    /// Reads the resource at an address.
    pub fn resource(
        &self,
        caller: &Caller,
        address: &str,
        cancel: &Cancel,
    ) -> Result<Reading, Refusal> {
        let Some(path) = address.strip_prefix(SCHEME) else {
            return Err(Refusal::new(
                "this is not an address of Kodiak",
                format!("addresses are {DOCUMENTS} and {SEARCHES}"),
            ));
        };
        if let Some(query) = path.strip_prefix("search/") {
            return Ok(Reading {
                text: self.search_text(caller, &decoded(query), cancel),
                remark: None,
            });
        }
        let engine = self.engine().cancelled_by(cancel.clone());
        let reference = Reference {
            target: address.to_owned(),
            lines: None,
        };
        let found = engine.get(&caller.guard, &reference)?;
        let escaped = kodiak::escape::lines(&found.text);
        let (text, lines) = beginning(&escaped, MOST_TOKENS);
        let cut = text.len() < escaped.len();
        Ok(Reading {
            text: text.to_owned(),
            remark: cut.then(|| {
                format!(
                    "cut after line {lines} of {}: read the rest with the tool get",
                    found.line_count
                )
            }),
        })
    }

    /// Returns what the tool `search` answers as a text.
    fn search_text(&self, caller: &Caller, query: &str, cancel: &Cancel) -> String {
        let mut arguments = Map::new();
        arguments.insert("query".to_owned(), query.into());
        let ignored = |_: Event<'_>| {};
        let answer = self.call_any(caller, "search", arguments, cancel, &ignored);
        answer.map(|answer| answer.text).unwrap_or_default()
    }

    /// Completes a variable of an address: the name of a source, or a key in it.
    pub fn complete(
        &self,
        caller: &Caller,
        variable: &str,
        begun: &str,
        source: Option<&str>,
        cancel: &Cancel,
    ) -> Result<Vec<String>, Refusal> {
        let engine = self.engine().cancelled_by(cancel.clone());
        match variable {
            "source" => Ok(sources(&engine, caller)?
                .into_iter()
                .filter(|name| name.starts_with(begun))
                .take(MOST_VALUES)
                .collect()),
            "key" => keys(&engine, caller, begun, source),
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the names of the sources that have documents for the caller.
fn sources(engine: &Engine, caller: &Caller) -> Result<Vec<String>, Refusal> {
    let indexed = match engine.view(&caller.guard).indexed_sources() {
        Err(kodiak::Error::NoIndex { .. }) => Vec::new(),
        indexed => indexed?,
    };
    Ok(indexed.into_iter().map(|source| source.name).collect())
}

/// Returns the keys that begin so, of the documents that changed last.
fn keys(
    engine: &Engine,
    caller: &Caller,
    begun: &str,
    source: Option<&str>,
) -> Result<Vec<String>, Refusal> {
    let filter = Filter {
        sources: source.map(str::to_owned).into_iter().collect(),
        paths: Some(begun.to_owned())
            .filter(|begun| !begun.is_empty())
            .into_iter()
            .collect(),
        ..Filter::default()
    };
    let listed = match engine.view(&caller.guard).list(&filter, MOST_VALUES) {
        Err(kodiak::Error::NoIndex { .. }) => Vec::new(),
        listed => listed?,
    };
    let keys = listed.into_iter().map(|one| one.path);
    // A key that cannot be shown as it is cannot be chosen.
    Ok(keys.filter(|key| !key.contains(is_harmful)).collect())
}

/// Returns a text without percent-encoding.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
