//! What the tools and the routes that write have in common: where something new goes, and
//! whether it may.

use kodiak::access::Guard;
use kodiak::search::Card;
use kodiak::source::Draft;
use kodiak::{Engine, Error, Job};
use kodiak_memory::Memories;
use kodiak_notes::{Notes, PAGES_SOURCE, Saved};

use crate::failure::Refusal;

/// A page to be written.
#[derive(Debug, Default)]
pub(crate) struct NewPage {
    pub(crate) title: String,
    /// Its text, without frontmatter.
    pub(crate) text: String,
    pub(crate) tags: Vec<String>,
    /// Where it goes, if that is named.
    pub(crate) source: Option<String>,
    pub(crate) folder: Option<String>,
    /// Whether it is written though there is one of its title.
    pub(crate) again: bool,
}

/// Why nothing was written.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// There is a page of this title.
    Taken(Box<Card>),
    /// What was asked for is not as it has to be.
    Asked(Refusal),
    /// There is nowhere to write to.
    Nowhere(Refusal),
    /// Something failed.
    Failed(Error),
}

impl From<Error> for Unwritten {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Writes a page. Returns the source that it is in.
pub(crate) fn create_page(
    engine: &Engine,
    guard: &Guard,
    page: NewPage,
    job: &Job<'_>,
) -> Result<(String, Saved), Unwritten> {
    let source = page_source(engine, guard, page.source.as_deref())?;
    let draft = Draft {
        title: page.title.split_whitespace().collect::<Vec<_>>().join(" "),
        body: ended(&page.text, "\n"),
        tags: page.tags,
        folder: page.folder,
        created_at: Some(kodiak::date::now()),
        ..Draft::default()
    };
    if draft.title.is_empty() {
        let refusal = Refusal::new("the page has no title", "give it some words");
        return Err(Unwritten::Asked(refusal));
    }
    let notes = Notes::new(engine);
    if !page.again {
        let folder = draft.folder.as_deref();
        let known = notes.titled(guard, &source, folder, &draft.title)?;
        if let Some(page) = known.into_iter().next() {
            return Err(Unwritten::Taken(Box::new(page)));
        }
    }
    match notes.create(guard, &source, &draft, job) {
        // That there is such a source is told only to those for whom it exists.
        Err(Error::NotWritable { name })
            if guard.project().is_some() && !visible(engine, guard)?.contains(&name) =>
        {
            let known = Vec::new();
            Err(Error::UnknownSource { name, known }.into())
        }
        saved => Ok((source, saved?)),
    }
}

/// Returns the names of the sources that a caller may write pages to. Memories, articles
/// and sessions have ways of their own.
pub(crate) fn page_sources(engine: &Engine, guard: &Guard) -> Vec<String> {
    let memories = Memories::new(engine);
    let mut others = memories.all_memory_sources(guard);
    others.extend(memories.session_sources(guard));
    let mut writable = Notes::new(engine).writable_sources(guard);
    writable.retain(|name| !others.contains(name));
    writable
}

/// Reports whether a caller may change the documents of a source, and move them to the
/// trash. Records of sessions have ways of their own.
pub(crate) fn is_editable(engine: &Engine, guard: &Guard, source: &str) -> bool {
    let writable = Notes::new(engine).writable_sources(guard);
    let sessions = || Memories::new(engine).session_sources(guard);
    writable.iter().any(|name| name == source) && !sessions().iter().any(|name| name == source)
}

/// Returns the source that a new page goes to: the named one, or the only one.
fn page_source(engine: &Engine, guard: &Guard, asked: Option<&str>) -> Result<String, Unwritten> {
    let writable = page_sources(engine, guard);
    match (asked, writable.as_slice()) {
        (Some(name), _) => Ok(name.to_owned()),
        (None, [only]) => Ok(only.clone()),
        (None, []) => Err(Unwritten::Nowhere(Refusal::new(
            "nothing can be written to",
            "ask the user to run `kodiak add FOLDER --writable`",
        ))),
        (None, several) if several.iter().any(|name| name == PAGES_SOURCE) => {
            Ok(PAGES_SOURCE.to_owned())
        }
        (None, several) => {
            // For a caller that is restricted to a project, others do not exist.
            let known = visible(engine, guard)?;
            let mut names = several.iter().filter(|name| known.contains(name));
            match (guard.project(), names.clone().count()) {
                (Some(_), 1) => Ok(names.next().cloned().unwrap_or_default()),
                (Some(_), 0) => Err(Unwritten::Asked(Refusal::new(
                    "several sources can be written to",
                    "ask the user for the name of one, and give it as 'source'",
                ))),
                _ => Err(Unwritten::Asked(Refusal::new(
                    "several sources can be written to",
                    format!(
                        "name one as 'source': {}",
                        names.cloned().collect::<Vec<_>>().join(", ")
                    ),
                ))),
            }
        }
    }
}

/// Returns the names of the sources that exist for a caller.
fn visible(engine: &Engine, guard: &Guard) -> Result<Vec<String>, Error> {
    if guard.project().is_none() {
        return Ok(Notes::new(engine).writable_sources(guard));
    }
    let indexed = match engine.view(guard).indexed_sources() {
        Err(Error::NoIndex { .. }) => Vec::new(),
        indexed => indexed?,
    };
    Ok(indexed.into_iter().map(|source| source.name).collect())
}

/// Returns the project that a name means: a known one, or a new one as it is named.
pub(crate) fn project_meant(engine: &Engine, guard: &Guard, name: String) -> String {
    match engine.view(guard).projects_meant(&name).as_deref() {
        Ok([only]) => only.clone(),
        _ => name,
    }
}

/// Returns tags without the sign before them.
pub(crate) fn without_signs(tags: Vec<String>) -> Vec<String> {
    let tags = tags.into_iter();
    tags.map(|tag| tag.trim_start_matches('#').to_owned())
        .collect()
}

/// Returns a text that ends its last line.
pub(crate) fn ended(text: &str, newline: &str) -> String {
    let mut text = text.to_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push_str(newline);
    }
    text
}
