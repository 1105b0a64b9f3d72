//! Judges whether an answer answers its query, and how relevant each hit is.
//!
//! Owns the evidence: which share of the query each hit contains. The models that
//! weigh it are in `rank::relevance`.

use std::ops::ControlFlow;

use super::candidate::Candidate;
use super::caveat::Caveat;
use super::lexical::Terms;
use super::limits::MAX_BODY_BYTES;
use super::plan::{Plan, Route};
use super::present::round;
use super::snippet::{Contained, Finder};
use super::terms::{self, PlannedTerm};
use super::{Hit, Outcome, Searching};
use crate::error::Result;
use crate::rank::Tuning;
use crate::rank::evidence::QueryWords;
use crate::rank::relevance::{
    ANSWERED, HitEvidence, JUDGED, RELEVANT, SemanticRelevance, relevance, semantic_relevance,
};
use crate::store::StoredDocument;
use crate::text::Stemming;

/// Judges the hits of one answer.
pub(super) struct Judge<'a> {
    /// The meaning of the model's similarities; `None` without a model.
    model: Option<&'static SemanticRelevance>,
    words: QueryWords,
    tuning: &'a Tuning,
    finder: Finder<'a>,
    /// The weight of each term by its number, 0 for those that do not count, and
    /// the sum.
    weights: Vec<f64>,
    whole: f64,
    /// The evidence of each hit, and whether it contains every informative word.
    evidence: Vec<(HitEvidence, bool)>,
    /// Whether the hits are read and not judged.
    only_explains: bool,
}

/// The evidence of one hit, for its explanation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct JudgedEvidence {
    /// The share of the query's terms that its document contains, weighted by idf.
    pub(super) coverage: f64,
    /// The probability that it answers by its words.
    pub(super) words: f64,
    /// The probability that it answers by its meaning, where similarities are known to
    /// mean something.
    pub(super) meaning: Option<f64>,
}

/// The facts about the answer once every hit was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// The probability that the collection answers the query.
    pub(super) answered: f64,
    /// The number of hits that are probably relevant.
    pub(super) relevant: usize,
    /// Whether a hit contains every informative word of the query.
    pub(super) contained: bool,
}

impl<'a> Searching<'a> {
    /// Returns the terms of a query that was searched semantically only, which
    /// nothing has planned yet.
    pub(super) fn judged_terms(&self, plan: &Plan, outcome: &Outcome) -> Option<Terms> {
        if !matches!(plan.route, Route::Semantic) || outcome.retrievers.lexical.is_some() {
            return None;
        }
        // A semantic search answers even if the terms cannot be read.
        let corpus = self.lexicon().corpus().ok()?;
        let tuning = &self.router.tuning;
        let planned = terms::plan(&self.lexicon(), &plan.query, corpus, tuning).ok()?;
        Some(Terms::Planned(planned.terms))
    }

    /// Returns what judges the hits: nothing where nothing was asked, and nothing
    /// for an embedding model whose similarities are not known to mean anything.
    pub(super) fn judge<'b>(
        &self,
        plan: &Plan,
        outcome: &'b Outcome,
        terms: Option<&'b Terms>,
        caveats: &mut Vec<Caveat>,
    ) -> Result<Option<Judge<'b>>>
    where
        'a: 'b,
    {
        if matches!(plan.route, Route::Literal | Route::Listing) {
            return Ok(None);
        }
        let name = outcome.retrievers.semantic.as_deref();
        let model = name.and_then(semantic_relevance);
        let unknown = name.filter(|_| model.is_none());
        if let Some(name) = unknown {
            let model = name.to_owned();
            caveats.push(Caveat::RelevanceUnknown { model });
            // An explanation says what of the query a hit contains all the same,
            // which is what a fit for the model begins with.
            if !self.request.explain {
                return Ok(None);
            }
        }
        let words = QueryWords {
            whole: outcome.ranked.whole,
            documents: self.searched()?,
        };
        let terms = terms.unwrap_or(&outcome.ranked.terms);
        let stemming = self.router.store().stemming();
        let judge = Judge::new(terms, words, &self.router.tuning, stemming);
        Ok(judge.map(|judge| Judge {
            model,
            only_explains: unknown.is_some(),
            ..judge
        }))
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge of hits by their words, or none if no words were looked for.
    pub(super) fn new(
        terms: &'a Terms,
        words: QueryWords,
        tuning: &'a Tuning,
        stemming: Stemming,
    ) -> Option<Self> {
        let Terms::Planned(planned) = terms else {
            return None;
        };
        let informative = planned.iter().any(|term| !term.common);
        let counts = |term: &&PlannedTerm| !term.common || !informative;
        let finder = Finder::terms(planned, stemming);
        // A repeated word says nothing more.
        let mut weights = vec![0.0; planned.len()];
        for term in planned.iter().filter(counts) {
            weights[finder.number(&term.term)] = term.weight;
        }
        let whole = weights.iter().sum();
        (whole > 0.0).then(|| Self {
            model: None,
            words,
            tuning,
            finder,
            weights,
            whole,
            evidence: Vec::new(),
            only_explains: false,
        })
    }

    /// Reports whether this judges by the terms that `finder` looks for.
    pub(super) fn judges_by(&self, finder: &Finder<'_>) -> bool {
        self.finder.shares_terms(finder)
    }

    /// Takes the evidence of a hit into account, and returns it. `in_body` has the terms
    /// of its body if they are known.
    pub(super) fn read(
        &mut self,
        document: &StoredDocument,
        candidate: &Candidate,
        in_body: Option<Contained>,
    ) -> JudgedEvidence {
        let mut words = self
            .words
            .evidence(candidate.evidence.coverage, self.tuning);
        let coverage = self.coverage(document, in_body);
        // A document with every word that was typed is worth a look.
        let contains = coverage >= 1.0 - 1e-4;
        if contains {
            words = words.max(ANSWERED);
        }
        let evidence = HitEvidence {
            words,
            similarity: candidate.evidence.similarity,
        };
        self.evidence.push((evidence, contains));
        JudgedEvidence {
            coverage,
            words,
            meaning: evidence.meaning(self.model, self.words.documents),
        }
    }

    /// Gives every hit its relevance, and says which are probably relevant. Returns
    /// nothing if that is not known for the model.
    pub(super) fn judge(&self, hits: &mut [Hit]) -> Option<Judgement> {
        if self.only_explains {
            return None;
        }
        let own = |(evidence, _): &(HitEvidence, bool)| {
            evidence.answered(self.model, self.words.documents)
        };
        // What is similar further down is so by chance more often than by meaning.
        let first = self.evidence.iter().take(JUDGED).map(own);
        let words = self.evidence.iter().map(|(evidence, _)| evidence.words);
        let answered = first.chain(words).fold(0.0, f64::max);
        // A hit is at least as relevant as those it was ranked above.
        let mut least: f64 = 0.0;
        let mut relevant = 0;
        for (hit, evidence) in hits.iter_mut().zip(&self.evidence).rev() {
            let own = own(evidence);
            // One that answers by itself, or has every word that was typed, is worth a
            // look, however far ahead the best hit is.
            let floor = if evidence.1 || own >= ANSWERED {
                RELEVANT
            } else {
                0.0
            };
            least = least.max(relevance(own, hit.score)).max(floor);
            hit.probable = answered >= ANSWERED && least >= RELEVANT;
            hit.relevance = Some(round(least));
            relevant += usize::from(hit.probable);
        }
        Some(Judgement {
            answered: round(answered),
            relevant,
            contained: self.evidence.iter().any(|&(_, contains)| contains),
        })
    }

    fn coverage(&self, document: &StoredDocument, in_body: Option<Contained>) -> f64 {
        let mut missing = self.weights.clone();
        let body = document.body.as_str();
        let in_body = in_body.filter(|_| body.len() <= MAX_BODY_BYTES);
        let unread = if let Some(Contained(contained)) = &in_body {
            let terms = missing.iter_mut().zip(contained);
            terms.for_each(|(weight, &contained)| *weight = if contained { 0.0 } else { *weight });
            ""
        } else {
            &body[..body.floor_char_boundary(MAX_BODY_BYTES)]
        };
        let tags = document.tags.iter().map(String::as_str);
        let is_complete = |missing: &[f64]| missing.iter().all(|&weight| weight == 0.0);
        for text in [unread, &document.title].into_iter().chain(tags) {
            if is_complete(&missing) {
                break;
            }
            self.finder.each_term_in(text, |term| {
                if std::mem::take(&mut missing[term]) > 0.0 && is_complete(&missing) {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
        }
        let lacking: f64 = missing.iter().sum();
        1.0 - lacking / self.whole
    }
}
