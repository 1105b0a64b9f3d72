//! What callers ask for from outside, read in one way for the tools and the API:
//! which documents are meant.
//!
//! A source or project that does not exist for the caller is an error, so that no
//! misspelt name looks like one without hits.

use kodiak::access::Guard;
use kodiak::store::Filter;
use kodiak::{Engine, Error, Timestamp};

use crate::failure::Refusal;
use crate::frame::quoted;

/// Why what was asked for cannot be read.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is not as it should be.
    Refused(Refusal),
    /// The library refused it, or failed.
    Failed(Error),
}

impl From<Refusal> for Unread {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<Unread> for Refusal {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Refused(refusal) => refusal,
            Unread::Failed(error) => error.into(),
        }
    }
}

/// The documents that are meant, in the words of a caller.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meant {
    pub(crate) sources: Vec<String>,
    pub(crate) paths: Vec<String>,
    /// With or without `#`.
    pub(crate) tags: Vec<String>,
    pub(crate) kinds: Vec<String>,
    pub(crate) categories: Vec<String>,
    /// Names or paths of projects.
    pub(crate) projects: Vec<String>,
    pub(crate) after: Option<String>,
    pub(crate) before: Option<String>,
}

impl Meant {
    /// Returns the filter that admits these documents.
    pub(crate) fn filter(self, engine: &Engine, guard: &Guard) -> Result<Filter, Unread> {
        let (after, before) = period(self.after.as_deref(), self.before.as_deref())?;
        engine.require_sources(guard, &self.sources)?;
        let mut projects = Vec::new();
        for name in &self.projects {
            projects.extend(self::projects(engine, guard, name)?);
        }
        let tags = self.tags.iter();
        Ok(Filter {
            sources: self.sources,
            paths: self.paths,
            tags: tags
                .map(|tag| tag.trim_start_matches('#').to_owned())
                .collect(),
            kinds: self.kinds,
            categories: self.categories,
            projects,
            after,
            before,
            ..Filter::default()
        })
    }
}

/// The beginning and the end of a period, each if it has one.
pub(crate) type Period = (Option<Timestamp>, Option<Timestamp>);

/// Reads the limits of a period.
pub(crate) fn period(after: Option<&str>, before: Option<&str>) -> Result<Period, Unread> {
    let limit = |text: Option<&str>| text.map(kodiak::date::parse_limit).transpose();
    match (limit(after)?, limit(before)?) {
        (Some(first), Some(end)) if first >= end => Err(Unread::Refused(Refusal::new(
            "the period ends before it begins",
            "the first date is the earlier one",
        ))),
        period => Ok(period),
    }
}

/// Returns the projects that a name means. A name that nothing has is an error.
pub(crate) fn projects(engine: &Engine, guard: &Guard, name: &str) -> Result<Vec<String>, Unread> {
    let meant = engine.projects_meant(guard, name)?;
    if !meant.is_empty() {
        return Ok(meant);
    }
    match engine.projects(guard, &Filter::default()) {
        // The search says that nothing is indexed yet.
        Err(Error::NoIndex { .. }) => Ok(vec![name.to_owned()]),
        known => Err(unknown_project(name, &known?).into()),
    }
}

fn unknown_project(name: &str, known: &[(String, u64)]) -> Refusal {
    /// The projects that are named, those with the most documents first.
    const SHOWN: usize = 10;
    let mut known: Vec<&(String, u64)> = known.iter().collect();
    known.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
    let names = known.iter().take(SHOWN);
    let names: Vec<String> = names.map(|(name, _)| quoted(name)).collect();
    let step = match names.as_slice() {
        [] => "no document has a project; leave it out".to_owned(),
        names => format!("the projects are {}", names.join(", ")),
    };
    let shown: String = name.chars().take(200).collect();
    Refusal::new(
        format!("there is no project '{}'", shown.escape_debug()),
        step,
    )
}
