//! Requests in the words of a caller. The command line, the tools and the API all parse
//! their arguments here, so that they mean the same everywhere.
//!
//! A source or project that does not exist for the caller is an error, so that no
//! misspelt name looks like one without hits.

use serde::Deserialize;

use super::View;
use crate::date;
use crate::document::Timestamp;
use crate::error::{Error, Result};
use crate::search::{DEFAULT_LIMIT, Request};
use crate::store::Filter;

/// The number of projects that an error names.
const PROJECTS_NAMED: usize = 10;

/// The highest number of hits that an answer can begin after.
const MAX_OFFSET: usize = 1_000;

/// A request of a caller, in plain values as they come from outside.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a choice of its own")]
pub struct Ask {
    /// The query as typed.
    pub query: String,
    /// The highest number of hits; the usual one if it is absent.
    pub limit: Option<usize>,
    /// The number of best hits that an answer leaves out, because its reader has them.
    /// [`Ask::request`] asks for them as well; who answers leaves them out.
    pub offset: usize,
    /// How to search: the name of a [`Mode`](crate::search::Mode).
    pub mode: Option<String>,
    /// The names of the sources to search.
    pub sources: Vec<String>,
    /// The beginnings of paths within their sources.
    pub paths: Vec<String>,
    /// Tags, with or without `#`.
    pub tags: Vec<String>,
    /// Kinds of documents.
    pub kinds: Vec<String>,
    /// Categories of documents.
    pub categories: Vec<String>,
    /// Names or folders of projects.
    pub projects: Vec<String>,
    /// Names and values of fields.
    #[serde(skip)]
    pub fields: Vec<(String, String)>,
    /// The date on which a period begins.
    pub after: Option<String>,
    /// The date before which it ends.
    pub before: Option<String>,
    /// The last date on which documents may have been written.
    #[serde(skip)]
    pub as_of: Option<String>,
    /// Whether every word must occur.
    pub all: bool,
    /// Whether words are taken as typed and never corrected.
    pub exact: bool,
    /// Whether the query is still being typed.
    pub as_you_type: bool,
    /// The lowest relevance of a hit.
    pub min_relevance: f64,
    /// Whether copies of a document are separate hits.
    pub all_copies: bool,
    /// Whether each hit explains how it was ranked.
    pub explain: bool,
}

impl Ask {
    /// Returns the request for this, with at most `most` hits after those that are left
    /// out.
    pub fn request(self, view: View<'_, '_>, most: usize) -> Result<Request> {
        let limit = self.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=most).contains(&limit) {
            return Err(bad_value("limit", &format!("from 1 to {most}")));
        }
        if self.offset > MAX_OFFSET {
            return Err(bad_value("offset", &format!("from 0 to {MAX_OFFSET}")));
        }
        if !(0.0..=1.0).contains(&self.min_relevance) {
            return Err(bad_value("min_relevance", "from 0 to 1"));
        }
        let mode = self.mode.as_deref().map(str::parse).transpose()?;
        Ok(Request {
            filter: self.filter(view)?,
            query: self.query,
            limit: limit + self.offset,
            mode: mode.unwrap_or_default(),
            all: self.all,
            exact: self.exact,
            as_you_type: self.as_you_type,
            min_relevance: self.min_relevance,
            all_copies: self.all_copies,
            explain: self.explain,
            ..Request::default()
        })
    }

    /// Returns the filter that admits the documents that are meant.
    pub fn filter(&self, view: View<'_, '_>) -> Result<Filter> {
        let (after, before) = self.period()?;
        view.require_sources(&self.sources)?;
        let without = |texts: &[String], beginning: &str| -> Vec<String> {
            let strip = |text: &String| text.trim_start_matches(beginning).to_owned();
            texts.iter().map(strip).collect()
        };
        Ok(Filter {
            projects: view.require_projects(&self.projects)?,
            sources: self.sources.clone(),
            paths: without(&self.paths, "./"),
            tags: without(&self.tags, "#"),
            kinds: self.kinds.clone(),
            categories: self.categories.clone(),
            fields: self.fields.clone(),
            after,
            before,
            as_of: self.as_of.as_deref().map(date::parse_end).transpose()?,
            ..Filter::default()
        })
    }

    /// Returns the moments at which the period begins and ends.
    fn period(&self) -> Result<(Option<Timestamp>, Option<Timestamp>)> {
        let limit = |text: &Option<String>| text.as_deref().map(date::parse_limit).transpose();
        let (first, end) = (limit(&self.after)?, limit(&self.before)?);
        match (first.zip(end), &self.after, &self.before) {
            (Some((first, end)), Some(after), Some(before)) if first >= end => {
                Err(Error::EmptyPeriod {
                    after: after.clone(),
                    before: before.clone(),
                })
            }
            _ => Ok((first, end)),
        }
    }
}

impl View<'_, '_> {
    /// Returns the projects that typed names mean, as the index has them. Fails for a name
    /// that nothing has, unless there is no index, which a search says.
    fn require_projects(&self, typed: &[String]) -> Result<Vec<String>> {
        let mut meant = Vec::new();
        for name in typed {
            let projects = self.projects_meant(name)?;
            if !projects.is_empty() {
                meant.extend(projects);
                continue;
            }
            let mut known = match self.projects(&Filter::default()) {
                Err(Error::NoIndex { .. }) => {
                    meant.push(name.clone());
                    continue;
                }
                known => known?,
            };
            known.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
            known.truncate(PROJECTS_NAMED);
            return Err(Error::UnknownProject {
                name: name.clone(),
                known: known.into_iter().map(|(name, _)| name).collect(),
            });
        }
        Ok(meant)
    }
}

fn bad_value(name: &'static str, wanted: &str) -> Error {
    Error::BadValue {
        name,
        wanted: wanted.to_owned(),
    }
}
