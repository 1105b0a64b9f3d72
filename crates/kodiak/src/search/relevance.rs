//! Judges whether an answer answers its query, and how relevant each hit is.
//!
//! Owns the evidence: which share of the query each hit contains. The models that
//! weigh it are in `rank::relevance`.

use std::ops::ControlFlow;

use super::candidate::Candidate;
use super::lexical::Terms;
use super::limits::MAX_BODY_BYTES;
use super::notice::Notice;
use super::plan::{Plan, Route};
use super::present::round;
use super::snippet::{Contained, Finder};
use super::terms::{self, PlannedTerm};
use super::{Hit, Outcome, Searching};
use crate::rank::relevance::{
    HitEvidence, LEXICAL_RELEVANCE, RELEVANT, RelevanceModel, relevance_model,
};
use crate::store::StoredDocument;
use crate::text::Stemming;

/// Judges the hits of one answer.
pub(super) struct Judge<'a> {
    model: &'static RelevanceModel,
    finder: Finder<'a>,
    /// The weight of each term by its number, 0 for those that do not count, and
    /// the sum.
    weights: Vec<f64>,
    whole: f64,
    /// The evidence of each hit, and whether it only fills up a lexical answer.
    evidence: Vec<(HitEvidence, bool)>,
    /// Whether the hits are read and not judged.
    only_explains: bool,
}

/// What is known of the answer once every hit was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Judgement {
    /// The probability that the collection answers the query.
    pub(super) answered: f64,
    /// The number of hits that are probably relevant.
    pub(super) relevant: usize,
    /// Whether a hit contains every informative word of the query.
    pub(super) contained: bool,
}

impl Searching<'_> {
    /// Returns the terms of a query that was searched semantically only, which
    /// nothing has planned yet.
    pub(super) fn judged_terms(&self, plan: &Plan, outcome: &Outcome) -> Option<Terms> {
        if !matches!(plan.route, Route::Semantic) || outcome.retrievers.lexical.is_some() {
            return None;
        }
        // A semantic search answers even if the terms cannot be read.
        let (store, tuning) = (self.router.store, &self.router.tuning);
        let corpus = store.corpus().ok()?;
        let planned = terms::plan(store, &plan.query, corpus, tuning).ok()?;
        Some(Terms::Planned(planned.terms))
    }

    /// Returns what judges the hits: nothing where nothing was asked, and nothing
    /// for an embedding model whose similarities are not known to mean anything.
    pub(super) fn judge<'b>(
        &mut self,
        plan: &Plan,
        outcome: &'b Outcome,
        terms: Option<&'b Terms>,
    ) -> Option<Judge<'b>> {
        if matches!(plan.route, Route::Literal | Route::Listing) {
            return None;
        }
        let name = outcome.retrievers.semantic.as_deref();
        let model = name.and_then(relevance_model);
        let unknown = name.filter(|_| model.is_none());
        if let Some(name) = unknown {
            let model = name.to_owned();
            self.notices.push(Notice::RelevanceUnknown { model });
            // An explanation says what of the query a hit contains all the same,
            // which is what a fit for the model begins with.
            if !self.request.explain {
                return None;
            }
        }
        let mut judge = Judge::new(
            terms.unwrap_or(&outcome.ranked.terms),
            model,
            self.router.store.stemming(),
        )?;
        judge.only_explains = unknown.is_some();
        Some(judge)
    }
}

impl<'a> Judge<'a> {
    /// Creates a judge for an answer, or none if no words were looked for. Without
    /// a model, hits are judged by words alone.
    pub(super) fn new(
        terms: &'a Terms,
        model: Option<&'static RelevanceModel>,
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
            model: model.unwrap_or(&LEXICAL_RELEVANCE),
            finder,
            weights,
            whole,
            evidence: Vec::new(),
            only_explains: false,
        })
    }

    /// Tells whether this judges by the terms that `finder` looks for.
    pub(super) fn judges_by(&self, finder: &Finder<'_>) -> bool {
        self.finder.shares_terms(finder)
    }

    /// Takes the evidence of a hit into account. `in_body` has the terms of its body
    /// if they are known. Returns the share of the query's terms that its document
    /// contains, weighted by idf.
    pub(super) fn read(
        &mut self,
        document: &StoredDocument,
        candidate: &Candidate,
        in_body: Option<Contained>,
    ) -> f64 {
        let own = HitEvidence {
            similarity: candidate.evidence.similarity,
            coverage: self.coverage(document, in_body),
            lexical_score: candidate.evidence.lexical_score,
        };
        // Below lexical hits, a semantic one has its score from its place.
        let fills = candidate.fused.is_none() && candidate.evidence.lexical_rank.is_none();
        self.evidence.push((own, fills));
        own.coverage
    }

    /// Gives every hit its relevance, and says which are probably relevant. Returns
    /// nothing if that is not known for the model.
    pub(super) fn judge(&self, hits: &mut [Hit]) -> Option<Judgement> {
        if self.only_explains {
            return None;
        }
        let mut evidence = self.evidence.iter();
        let model = if evidence.any(|(own, _)| own.similarity.is_some()) {
            self.model
        } else {
            // Nothing that was shown has a vector: they were not compared.
            &LEXICAL_RELEVANCE
        };
        let each = self.evidence.iter().map(|(own, _)| model.answered(own));
        let answered = each.fold(0.0, f64::max);
        // A document with every word that was typed is worth a look.
        let contained = self.evidence.iter().any(|(own, _)| own.contains_query());
        let mut relevant = 0;
        for (hit, (own, fills)) in hits.iter_mut().zip(&self.evidence) {
            let (answered, contained) = if *fills {
                (model.answered(own), own.contains_query())
            } else {
                (answered, contained)
            };
            let relevance = model.relevance(answered, hit.score);
            let probable = (answered >= model.answered_from || contained) && relevance >= RELEVANT;
            relevant += usize::from(probable);
            hit.probable = probable;
            hit.relevance = Some(round(relevance));
        }
        Some(Judgement {
            answered: round(answered),
            relevant,
            contained,
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
