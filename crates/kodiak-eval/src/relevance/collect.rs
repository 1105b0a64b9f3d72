//! Asks a set a question and collects the evidence of the hits.

use anyhow::Result;
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::rank::relevance::{HitEvidence, RelevanceModel};
use kodiak::search::{Mode, Request};

use crate::metrics::{Judgements, ndcg};
use crate::query::JudgedQuery;

/// The number of hits of each question.
const DEPTH: usize = 10;

/// A hit, its evidence, and whether it is relevant.
#[derive(Clone, Debug)]
pub(super) struct JudgedHit {
    pub(super) path: String,
    pub(super) score: f64,
    pub(super) evidence: HitEvidence,
    pub(super) relevant: bool,
}

/// The hits of one question.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) hits: Vec<JudgedHit>,
    /// The judgements; none for a question of another set.
    judged: Judgements,
}

/// Returns the first word of a set's name. Sets that share it share a collection.
pub(super) fn family(name: &str) -> &str {
    name.split('-').next().unwrap_or_default()
}

impl Asked {
    /// Returns nDCG@10 of the hits that `shown` admits.
    pub(super) fn ndcg(&self, shown: impl Fn(&JudgedHit) -> bool) -> f64 {
        let hits = self.hits.iter().filter(|hit| shown(hit));
        let paths: Vec<&str> = hits.map(|hit| hit.path.as_str()).collect();
        ndcg(&paths, &self.judged, DEPTH)
    }

    /// Returns the evidence of the hit that the model gives the highest probability.
    pub(super) fn evidence(&self, model: &RelevanceModel) -> HitEvidence {
        let evidence = self.hits.iter().map(|hit| hit.evidence);
        let by_probability = |one: &HitEvidence, other: &HitEvidence| {
            model.answered(one).total_cmp(&model.answered(other))
        };
        evidence.max_by(by_probability).unwrap_or_default()
    }

    /// Tells whether a hit contains every informative term of the question.
    pub(super) fn contains_query(&self) -> bool {
        self.hits.iter().any(|hit| hit.evidence.contains_query())
    }

    /// Returns the answer as it would be without its relevant documents: the best
    /// of the others has the score 1. `None` if nothing relevant was found, or
    /// nothing else.
    pub(super) fn without_relevant(&self) -> Option<Self> {
        let mut hits = self.hits.clone();
        hits.retain(|hit| !hit.relevant);
        if hits.is_empty() || hits.len() == self.hits.len() {
            return None;
        }
        let best = hits.iter().map(|hit| hit.score).fold(0.0, f64::max);
        for hit in &mut hits {
            hit.score = if best > 0.0 { hit.score / best } else { 1.0 };
        }
        Some(Self {
            hits,
            judged: self.judged.clone(),
        })
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
        explain: true,
        ..Request::default()
    };
    let answer = engine.search(&Guard::local(), &request)?;
    let hits = answer.hits.into_iter().map(|hit| {
        let explained = hit.explanation.unwrap_or_default();
        JudgedHit {
            relevant: judged.get(&hit.path).is_some_and(|&grade| grade > 0),
            path: hit.path,
            score: hit.score,
            evidence: HitEvidence {
                similarity: hit.similarity,
                coverage: explained.coverage.unwrap_or_default(),
                lexical_score: explained.lexical_score.unwrap_or_default(),
            },
        }
    });
    Ok(Asked {
        hits: hits.collect(),
        judged: judged.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taking_relevant_documents_out_lifts_the_others() {
        let hit = |score, relevant| JudgedHit {
            path: String::new(),
            score,
            evidence: HitEvidence::default(),
            relevant,
        };
        let asked = |hits| Asked {
            hits,
            judged: Judgements::new(),
        };
        let both = asked(vec![hit(1.0, true), hit(0.5, false), hit(0.25, false)]);
        let left = both.without_relevant().unwrap();
        let scores: Vec<f64> = left.hits.iter().map(|hit| hit.score).collect();
        assert_eq!(scores, [1.0, 0.5]);
        assert!(asked(vec![hit(1.0, true)]).without_relevant().is_none());
        assert!(asked(vec![hit(1.0, false)]).without_relevant().is_none());
    }
}
