//! Searches for the questions of a prompt, and keeps the sure hits.

use std::path::Path;

use kodiak::access::{Capability, Guard};
use kodiak::search::{Hit, Request};
use kodiak::store::{Filter, Row, StoredDocument};
use kodiak::{Engine, Result, project};
use kodiak_memory::Holding;

use crate::context::{Context, Item};
use crate::event::{Asked, Event};
use crate::evidence::{Evidence, Verdict};
use crate::question::questions;
use crate::told::Told;

/// The number of hits of each search. Only the best can be told; the others show whether
/// it is alone.
const HITS: usize = 5;
/// The number of turns that are shown after one: the reply, and the next prompt.
const FOLLOWING: usize = 2;
/// The names of the fields by which documents name their session and the session that
/// started it.
const SESSION_FIELDS: [&str; 2] = ["session", "parent"];

/// The options of a hook: its sources and limits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOptions {
    /// Sources that are searched whatever project their documents belong to.
    pub sources: Vec<String>,
    /// Folders of other sources that are searched as well: the source, and the beginning
    /// of the keys in the folder.
    pub folders: Vec<(String, String)>,
    /// Whether memories and sessions of other projects are searched, too.
    pub other_projects: bool,
    /// How to search. Query, filter, limit and refreshing are set by the hook.
    pub request: Request,
}

/// Finds the documents that a prompt needs.
#[derive(Clone, Debug)]
pub struct Hook<'a> {
    engine: &'a Engine,
    options: HookOptions,
    guard: Guard,
}

/// The hits that were considered for a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Considered {
    /// The questions, in the words of the prompt.
    pub questions: Vec<String>,
    /// The names that the index has for the project.
    pub projects: Vec<String>,
    /// The hits, by question and the best first.
    pub candidates: Vec<Candidate>,
    /// The context to inject, if there is any.
    pub context: Option<Context>,
}

/// A hit that was considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The question, as an index of [`Considered::questions`].
    pub question: usize,
    /// The hit.
    pub hit: Hit,
    /// The evidence for it.
    pub evidence: Evidence,
    /// Whether it is told.
    pub verdict: Verdict,
}

impl<'a> Hook<'a> {
    /// Creates a hook that only searches and reads.
    pub fn new(engine: &'a Engine, options: HookOptions) -> Self {
        Self {
            engine,
            options,
            guard: Guard::holding([Capability::Search, Capability::Read]),
        }
    }

    /// Returns the context to inject for an event, if a hit is sure.
    pub fn prompt(&self, event: &Event, told: &Told) -> Result<Option<Context>> {
        Ok(self.consider(event, told)?.context)
    }

    /// Considers hits for a prompt. Other events ask for nothing.
    pub fn consider(&self, event: &Event, told: &Told) -> Result<Considered> {
        let Asked::Prompt(prompt) = event.asked() else {
            return Ok(Considered::default());
        };
        let mut considered = Considered {
            questions: questions(prompt),
            ..Considered::default()
        };
        if considered.questions.is_empty() {
            return Ok(considered);
        }
        if let Some(cwd) = &event.cwd {
            considered.projects = self.projects(cwd)?;
        }
        let current = self.rows_of_sessions(&event.session_names())?;
        let filters = self.filters(&considered.projects, &current);
        let mut items: Vec<Item> = Vec::new();
        for question in 0..considered.questions.len() {
            for filter in &filters {
                let query = &considered.questions[question];
                let (candidates, item) = self.ask(question, query, filter, told)?;
                considered.candidates.extend(candidates);
                items.extend(item);
            }
        }
        let (context, untold) = Context::of(items);
        considered.context = context;
        for candidate in &mut considered.candidates {
            if candidate.verdict == Verdict::Told && untold.contains(&candidate.hit.row) {
                candidate.verdict = Verdict::NoRoom;
            }
        }
        Ok(considered)
    }

    /// Returns the names that the index has for the project of a folder.
    fn projects(&self, folder: &Path) -> Result<Vec<String>> {
        let place = project::of(folder);
        self.engine.view(&self.guard).projects_meant(&place)
    }

    /// Returns the filters to search with: the project's documents, and the named sources
    /// and folders.
    fn filters(&self, projects: &[String], without: &[Row]) -> Vec<Filter> {
        let articles = Holding::Articles.name();
        let sources = self.engine.sources().iter();
        let sources = sources.filter(|source| source.kind() != articles);
        let all: Vec<String> = sources.map(|source| source.name().to_owned()).collect();
        let memories = kodiak_memory::Memories::new(self.engine);
        let mut experience = memories.memory_sources(&self.guard, Holding::Memories);
        experience.extend(memories.session_sources(&self.guard));
        let filter = |sources: Vec<String>, projects: &[String]| Filter {
            sources,
            projects: projects.to_vec(),
            without: without.to_vec(),
            ..Filter::default()
        };
        let mut named = self.options.sources.clone();
        named.retain(|name| all.contains(name));
        if self.options.other_projects {
            named.extend(experience);
        }
        let mut filters = Vec::new();
        // An empty list would admit every project or source.
        if !projects.is_empty() && !all.is_empty() {
            filters.push(filter(all.clone(), projects));
        }
        let folders = self.options.folders.iter();
        let folders = folders.filter(|(name, _)| all.contains(name) && !named.contains(name));
        let folders = folders.map(|(name, inside)| Filter {
            paths: vec![inside.clone()],
            ..filter(vec![name.clone()], &[])
        });
        let folders: Vec<Filter> = folders.collect();
        if !named.is_empty() {
            filters.push(filter(named, &[]));
        }
        filters.extend(folders);
        filters
    }

    /// Returns the documents of the sessions with these names, and of those that they
    /// have started.
    fn rows_of_sessions(&self, names: &[String]) -> Result<Vec<Row>> {
        self.engine.view(&self.guard).read(|reader| {
            let mut rows = Vec::new();
            for name in names {
                for field in SESSION_FIELDS {
                    let filter = Filter {
                        fields: vec![(field.to_owned(), name.clone())],
                        ..Filter::default()
                    };
                    let found = reader.newest(&filter, None, usize::MAX)?.best;
                    rows.extend(found.into_iter().map(|found| found.row));
                }
            }
            rows.sort_unstable();
            rows.dedup();
            Ok(rows)
        })
    }

    /// Asks one question. Returns its hits, and the items to show.
    fn ask(
        &self,
        question: usize,
        query: &str,
        filter: &Filter,
        told: &Told,
    ) -> Result<(Vec<Candidate>, Option<Item>)> {
        let request = Request {
            query: query.to_owned(),
            filter: filter.clone(),
            limit: HITS,
            explain: true,
            refresh: false,
            rerank: false,
            ..self.options.request.clone()
        };
        let answer = self.engine.search(&self.guard, &request)?;
        let more = answer.total > answer.hits.len();
        let mut candidates: Vec<Candidate> = answer
            .hits
            .into_iter()
            .map(|hit| Candidate {
                question,
                evidence: Evidence::of(&hit, 0.0),
                verdict: if hit.superseded_by.is_some() || hit.archived {
                    Verdict::Superseded
                } else {
                    Verdict::NotFirst
                },
                hit,
            })
            .collect();
        let Some(at) = candidates
            .iter()
            .position(|it| it.verdict == Verdict::NotFirst)
        else {
            return Ok((candidates, None));
        };
        let shown = self.shown(candidates[at].hit.row)?;
        let best = candidates[at].hit.score;
        // What is told with it does not compete with it, nor does what it supersedes.
        let rival = candidates[at + 1..]
            .iter()
            .filter(|it| it.verdict == Verdict::NotFirst)
            .find(|it| shown.iter().all(|one| one.row != it.hit.row));
        let last = candidates.last().filter(|_| more);
        let next = rival.or(last).map_or(0.0, |it| it.hit.score);
        let first = &mut candidates[at];
        first.evidence.lead = if best > 0.0 {
            (1.0 - next / best).max(0.0)
        } else {
            0.0
        };
        first.verdict = match first.evidence.verdict() {
            Verdict::Told if told.has(&first.hit.uri) => Verdict::ToldBefore,
            Verdict::Told if first.hit.changed => Verdict::Changed,
            verdict => verdict,
        };
        let item = (first.verdict == Verdict::Told).then(|| Item::new(&first.hit, shown, told));
        Ok((candidates, item))
    }

    /// Returns a document and, if it is a turn of a conversation, those after it.
    fn shown(&self, row: Row) -> Result<Vec<StoredDocument>> {
        self.engine.view(&self.guard).read(|reader| {
            let mut shown = reader.documents(&[row])?;
            let said = |one: &StoredDocument| one.thread.is_some() && one.author.is_some();
            if !shown.first().is_some_and(said) {
                return Ok(shown);
            }
            let threads = reader.threads_of(&[row])?;
            if let Some(thread) = threads.iter().find(|thread| thread.contains(&row)) {
                let after = thread.iter().skip_while(|one| **one != row).skip(1);
                let after: Vec<Row> = after.take(FOLLOWING).copied().collect();
                shown.extend(reader.documents(&after)?);
            }
            Ok(shown)
        })
    }
}
