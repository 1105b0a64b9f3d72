//! Asks a set a question and collects how the hits were judged.

use anyhow::Result;
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::search::{Mode, Request};

use crate::metrics::{Judgements, ndcg};
use crate::query::JudgedQuery;

/// The number of hits of each question.
const DEPTH: usize = 10;

/// A hit, how it was judged, and whether it is relevant.
#[derive(Clone, Debug)]
pub(super) struct JudgedHit {
    path: String,
    pub(super) relevance: f64,
    /// Whether it counts as relevant.
    probable: bool,
    pub(super) relevant: bool,
}

/// The answer to one question.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) hits: Vec<JudgedHit>,
    /// The probability that the set answers it.
    pub(super) answered: f64,
    /// The judgements; none for a question of another set.
    judged: Judgements,
}

/// Returns the first word of a set's name. Sets that share it share a collection.
pub(super) fn family(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

impl Asked {
    /// Returns nDCG@10 of all hits, or of those that count as relevant.
    pub(super) fn ndcg(&self, only_probable: bool) -> f64 {
        let hits = self.hits.iter();
        let hits = hits.filter(|hit| hit.probable || !only_probable);
        let paths: Vec<&str> = hits.map(|hit| hit.path.as_str()).collect();
        ndcg(&paths, &self.judged, DEPTH)
    }

    /// Reports whether no hit counts as relevant.
    pub(super) fn is_refused(&self) -> bool {
        !self.hits.iter().any(|hit| hit.probable)
    }
}

/// What one set answered.
#[derive(Clone, Debug)]
pub(super) struct SetAnswers {
    pub(super) name: String,
    /// The answers to its own questions.
    pub(super) own: Vec<Asked>,
    /// The answers to questions of other sets.
    pub(super) foreign: Vec<Asked>,
}

/// Asks a set one question.
pub(super) fn ask(
    engine: &Engine,
    mode: Mode,
    query: &JudgedQuery,
    judged: &Judgements,
) -> Result<Asked> {
    let request = Request {
        query: query.text.clone(),
        limit: DEPTH,
        mode,
        filter: query.filter.clone(),
        all_copies: true,
        ..Request::default()
    };
    let answer = engine.search(&Guard::local(), &request)?;
    let hits = answer.hits.into_iter().map(|hit| JudgedHit {
        relevant: judged.get(&hit.path).is_some_and(|&grade| grade > 0),
        path: hit.card.path,
        relevance: hit.relevance.unwrap_or_default(),
        probable: hit.probable,
    });
    Ok(Asked {
        hits: hits.collect(),
        answered: answer.answered.unwrap_or_default(),
        judged: judged.clone(),
    })
}
