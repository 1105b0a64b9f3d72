//! Asking the session records about work, decisions and lessons.
//!
//! A question is answered by meaning first. If no session is within the threshold,
//! or none can be compared, the words of the question are searched instead, and the
//! answer says so.

use std::time::Instant;

use super::queries::QueryLog;
use super::same::groups;
use super::{BrainAnswer, BrainHit, BrainRequest, FoundBy, Group, Sessions, Statement};
use crate::records::{KIND, parts_of};
use kodiak::access::{Capability, Guard};
use kodiak::engine::{Engine, Job};
use kodiak::search::{Answer, Mode, Request};
use kodiak_base::{Error, Result};
use kodiak_rank::Tuning;
use kodiak_store::{Filter, Reader, Row};
use kodiak_text::date;
use kodiak_text::document::Reference;

/// The number of sessions that are held in memory at once.
const SESSIONS_AT_ONCE: usize = 256;

/// The statements to group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statements {
    /// Lessons of all levels.
    Lessons,
    /// Observations about models.
    Quirks,
}

impl Sessions<'_> {
    /// Answers a question from the session records: by meaning, or by words if no
    /// session is within the threshold.
    pub fn brain(&self, guard: &Guard, request: &BrainRequest) -> Result<BrainAnswer> {
        guard.require(Capability::Search)?;
        guard.require(Capability::Read)?;
        let started = Instant::now();
        let threshold = request.threshold.or(self.options.threshold);
        let engine = within_distance(self.engine, threshold);
        let by_meaning = engine.search(guard, &sessions_like(request, Mode::Semantic))?;
        let compared = by_meaning.retrievers.semantic.is_some();
        let (found_by, found) = if !compared {
            // The search has already fallen back to words.
            (FoundBy::Words, by_meaning)
        } else if by_meaning.hits.is_empty() {
            let found = engine.search(guard, &sessions_like(request, Mode::Lexical))?;
            (FoundBy::Words, found)
        } else {
            (FoundBy::Meaning, by_meaning)
        };
        let mut answer = self.brain_answer(&request.query, found_by, found)?;
        if compared {
            answer.threshold = self.threshold_in_use(guard, threshold)?;
        }
        // A caller of limited sight must not learn what others have asked.
        if let Some(log) = self.query_log().filter(|_| guard.sees_everything()) {
            remember(&log, &mut answer);
        }
        answer.took_ms = started.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// Returns the sessions most similar to a session, given by its id, or to a text.
    /// The query of `request` is either.
    pub fn similar(&self, guard: &Guard, request: &BrainRequest) -> Result<BrainAnswer> {
        guard.require(Capability::Search)?;
        guard.require(Capability::Read)?;
        // Ids and addresses have no spaces. A title would be taken for a text.
        let target = request.query.trim();
        if target.is_empty() || target.contains(char::is_whitespace) {
            return self.brain(guard, request);
        }
        let reference = Reference {
            target: target.to_owned(),
            lines: None,
        };
        let like = sessions_like(request, Mode::Semantic);
        match self.engine.similar(guard, &reference, &like) {
            Ok(found) => {
                let compared = found.retrievers.semantic.is_some();
                let found_by = if compared {
                    FoundBy::Meaning
                } else {
                    FoundBy::Words
                };
                self.brain_answer(&request.query, found_by, found)
            }
            Err(Error::NoDocument { .. } | Error::Ambiguous { .. }) => self.brain(guard, request),
            Err(error) => Err(error),
        }
    }

    /// Groups the lessons or the quirks of all sessions that `filter` admits, the most
    /// frequent first.
    pub fn statements(
        &self,
        guard: &Guard,
        which: Statements,
        filter: &Filter,
        job: &Job<'_>,
    ) -> Result<Vec<Group>> {
        guard.require(Capability::Read)?;
        let filter = guard.narrow(&Filter {
            kinds: vec![KIND.to_owned()],
            ..filter.clone()
        });
        let read = |reader: &dyn Reader| said(reader, which, &filter);
        let said = self.engine.view(guard).read(read)?;
        let texts: Vec<&str> = said.iter().map(|one| one.text.as_str()).collect();
        let vectors = self.engine.view(guard).vectors_of(&texts, &|_| true, job);
        let mut found: Vec<Group> = groups(&texts, vectors.as_ref())
            .into_iter()
            .map(|members| group(members.into_iter().map(|index| said[index].clone())))
            .collect();
        found.sort_by(|one, other| {
            let newest = |group: &Group| group.said.first().map_or(0, |said| said.at);
            let by_sessions = other.sessions.cmp(&one.sessions);
            by_sessions.then(newest(other).cmp(&newest(one)))
        });
        Ok(found)
    }

    /// Returns the distance that counts: the one asked for, or the model's.
    fn threshold_in_use(&self, guard: &Guard, asked: Option<f64>) -> Result<Option<f64>> {
        if asked.is_some() {
            return Ok(asked);
        }
        let minimum = self.engine.view(guard).minimum_similarity()?;
        Ok(minimum.map(|minimum| rounded(1.0 - f64::from(minimum))))
    }

    /// Adds the decisions and lessons of its session to each hit.
    fn brain_answer(
        &self,
        query: &str,
        found_by: FoundBy,
        mut found: Answer,
    ) -> Result<BrainAnswer> {
        found.notices.name_subject("no session");
        let hits = self.engine.view(&Guard::local()).read(|reader| {
            let hits = found.hits.into_iter();
            hits.map(|hit| {
                let fields = reader.fields(hit.row)?;
                let (decisions, lessons, _) = parts_of(&fields);
                Ok(BrainHit {
                    session: hit.path.clone(),
                    distance: hit.similarity.map(|cosine| rounded(1.0 - cosine)),
                    record: value_of(&fields, "file"),
                    outcome: value_of(&fields, "outcome"),
                    decisions,
                    lessons,
                    hit,
                })
            })
            .collect::<Result<Vec<BrainHit>>>()
        })?;
        Ok(BrainAnswer {
            query: query.to_owned(),
            found_by,
            threshold: None,
            completeness: found.completeness,
            notices: found.notices,
            took_ms: found.took_ms,
            hits,
            suggestions: Vec::new(),
        })
    }
}

/// Returns an engine whose semantic hits are within this distance.
fn within_distance(engine: &Engine, threshold: Option<f64>) -> Engine {
    let Some(distance) = threshold else {
        return engine.clone();
    };
    engine.with_tuning(|tuning| Tuning {
        minimum_similarity: Some((1.0 - distance) as f32),
        ..tuning
    })
}

/// Returns the request for sessions in this mode.
fn sessions_like(request: &BrainRequest, mode: Mode) -> Request {
    Request {
        query: request.query.clone(),
        limit: request.limit,
        mode,
        filter: Filter {
            kinds: vec![KIND.to_owned()],
            ..request.filter.clone()
        },
        refresh: request.refresh,
        ..Request::default()
    }
}

/// Remembers a question that was answered by meaning; suggests others for one that
/// was not.
fn remember(log: &QueryLog, answer: &mut BrainAnswer) {
    // A log that cannot be used costs a suggestion, not the answer.
    if answer.found_by == FoundBy::Meaning && !answer.hits.is_empty() {
        let _ = log.remember(&answer.query);
    } else {
        answer.suggestions = log.suggestions(&answer.query).unwrap_or_default();
    }
}

/// Returns the statements of all sessions, the oldest session first.
pub(super) fn said(
    reader: &dyn Reader,
    which: Statements,
    filter: &Filter,
) -> Result<Vec<Statement>> {
    let newest = reader.newest(filter, None, usize::MAX)?;
    let mut best = newest.best;
    best.sort_by(|one, other| {
        one.score
            .total_cmp(&other.score)
            .then(one.row.cmp(&other.row))
    });
    let rows: Vec<Row> = best.into_iter().map(|found| found.row).collect();
    let mut all = Vec::new();
    for rows in rows.chunks(SESSIONS_AT_ONCE) {
        for document in reader.documents(rows)? {
            let fields = reader.fields(document.row)?;
            let project = value_of(&fields, "project");
            let record = value_of(&fields, "file");
            let (_, lessons, quirks) = parts_of(&fields);
            let statements: Vec<(String, String)> = match which {
                Statements::Lessons => lessons
                    .into_iter()
                    .map(|it| (it.summary, it.level))
                    .collect(),
                Statements::Quirks => {
                    let quirks = quirks.into_iter();
                    quirks.map(|it| (it.observation, it.model)).collect()
                }
            };
            all.extend(statements.into_iter().map(|(text, about)| Statement {
                session: document.key.clone(),
                source: document.source.clone(),
                title: document.title.clone(),
                project: project.clone(),
                record: record.clone(),
                created_at: document.created_at.map(date::format),
                at: document.created_at.unwrap_or(document.updated_at),
                text,
                about,
            }));
        }
    }
    Ok(all)
}

/// Makes a group of statements, given the oldest first.
fn group(said: impl Iterator<Item = Statement>) -> Group {
    let mut said: Vec<Statement> = said.collect();
    said.reverse();
    let mut about: Vec<String> = Vec::new();
    let mut sessions: Vec<(&str, &str)> = Vec::new();
    for one in &said {
        if !one.about.is_empty() && !about.contains(&one.about) {
            about.push(one.about.clone());
        }
        sessions.push((&one.source, &one.session));
    }
    sessions.sort_unstable();
    sessions.dedup();
    Group {
        text: said.first().map(|one| one.text.clone()).unwrap_or_default(),
        sessions: sessions.len(),
        about,
        said,
    }
}

pub(super) fn value_of(fields: &[(String, String)], name: &str) -> Option<String> {
    let found = fields.iter().find(|(field, _)| field == name);
    found.map(|(_, value)| value.clone())
}

fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}
