//! Retrieval: runs the retrievers that a plan asks for, and joins their results.

use std::collections::HashMap;
use std::rc::Rc;

use super::candidate::{Candidate, Ranked, join};
use super::caveat::Caveat;
use super::desk::Desk;
use super::inspect::Inspection;
use super::lexical::LexicalCandidates;
use super::lexicon::Lexicon;
use super::limits::{INSPECTED, Limits};
use super::plan::{Plan, Route};
use super::score::Scoring;
use super::semantic::{Available, Beside, Pending, SemanticCandidates};
use super::{Outcome, Retrievers, Searching, present, unembedded};
use crate::error::Result;
use crate::rank::Fusion;
use crate::rank::evidence::QueryWords;
use crate::store::Snapshot;

impl<'a> Searching<'a> {
    /// Retrieves, joins and scores candidates. Returns the outcome with the
    /// snapshot it was read from, which may be a new one: no snapshot is held
    /// while a model works.
    pub(super) fn run(
        &self,
        plan: &Plan,
        snapshot: Snapshot<'a>,
    ) -> Result<(Snapshot<'a>, Outcome)> {
        let Plan { route, limits, .. } = plan;
        let lexicon = self.lexicon();
        let lexical = self.router.lexical(&lexicon);
        match route {
            Route::Literal => {
                let found = lexical.retrieve_like(self.request, &self.filter, *limits)?;
                Ok((snapshot, Outcome::lexical(found)))
            }
            Route::Listing => {
                let found = lexical.list(self.request, &self.filter, *limits)?;
                Ok((snapshot, Outcome::lexical(found)))
            }
            Route::Lexical => {
                let found = self.words(plan, limits.fetched)?;
                Ok((snapshot, self.inspect(plan, found, false)?))
            }
            Route::LexicalFirst => {
                let found = self.words(plan, limits.fetched)?;
                if found.matches.total >= limits.hits {
                    return Ok((snapshot, self.inspect(plan, found, false)?));
                }
                let pending = self.begin(plan, limits.fetched)?;
                let total = found.matches.total;
                let pending = pending.map(|one| one.beside(total));
                let waited = self.wait(snapshot, pending, &Beside::default(), plan)?;
                let found = self.again(waited.changed, found, plan, limits.fetched)?;
                let mut outcome = self.inspect(plan, found, waited.candidates.is_some())?;
                outcome.caveats.extend(waited.absence);
                if let Some(semantic) = waited.candidates {
                    self.note_model(&mut outcome, &semantic)?;
                    let related = outcome.ranked.take_related();
                    let chunks = semantic.beside(self.router.store(), &related)?;
                    let weight = self.router.tuning.centroid_weight;
                    outcome.ranked.append(chunks, weight);
                    outcome.ranked.restore(related);
                }
                Ok((waited.snapshot, outcome))
            }
            Route::Hybrid => {
                let pending = self.begin(plan, limits.candidates)?;
                let keep = if pending.is_ok() {
                    limits.rescoring_depth
                } else {
                    limits.fetched
                };
                let found = self.words(plan, keep)?;
                let pending = pending.map(|one| one.beside(found.matches.total));
                let beside = self.beside(&found, *limits);
                let waited = self.wait(snapshot, pending, &beside, plan)?;
                let found = self.again(waited.changed, found, plan, keep)?;
                let mut outcome = match waited.candidates {
                    Some(semantic) => self.fuse(plan, found, semantic)?,
                    None => self.inspect(plan, found, false)?,
                };
                outcome.caveats.extend(waited.absence);
                Ok((waited.snapshot, outcome))
            }
            Route::Semantic => {
                let pending = self.begin(plan, limits.candidates)?;
                let pending = pending.map(|one| one.beside(0));
                let waited = self.wait(snapshot, pending, &Beside::default(), plan)?;
                let Some(semantic) = waited.candidates else {
                    let found = self.words(plan, limits.fetched)?;
                    let mut outcome = self.inspect(plan, found, false)?;
                    outcome.caveats.extend(waited.absence);
                    return Ok((waited.snapshot, outcome));
                };
                let mut outcome = Outcome {
                    ranked: Ranked::semantic(Vec::new(), 0.0),
                    retrievers: Retrievers::default(),
                    embedded: 0.0,
                    caveats: Vec::new(),
                };
                self.note_model(&mut outcome, &semantic)?;
                outcome
                    .ranked
                    .append(semantic.chunks, self.router.tuning.centroid_weight);
                Ok((waited.snapshot, outcome))
            }
        }
    }

    /// Ranks lexical candidates, the best of them after a closer look.
    fn inspect(
        &self,
        plan: &Plan,
        mut found: LexicalCandidates,
        with_related: bool,
    ) -> Result<Outcome> {
        let query = plan.spelt(self.request);
        let stemming = self.router.store().stemming();
        let desk = self.desk();
        let mut inspection = Inspection::of(&desk, stemming, query, &found.terms, 1.0);
        if with_related {
            inspection = inspection.with_related();
        }
        let most = inspection.depth().min(INSPECTED);
        let rows = found.matches.best.iter().map(|found| found.row);
        let read = most.max(self.request.limit);
        self.desk()
            .fetch(self.presented_of(rows, |_| Vec::new(), read))?;
        let inspected = inspection.inspect(&found.best_rows(most))?;
        found.raise(&inspected);
        let mut outcome = Outcome::lexical(found);
        outcome.ranked.inspected = inspected;
        Ok(outcome)
    }

    /// Runs lexical retrieval. Keeps `keep` scores.
    pub(super) fn words(&self, plan: &Plan, keep: usize) -> Result<LexicalCandidates> {
        let Plan { query, limits, .. } = plan;
        let lexicon = self.lexicon();
        let lexical = self.router.lexical(&lexicon);
        lexical.retrieve_words(self.request, query, &self.filter, *limits, keep)
    }

    /// Repeats lexical retrieval if the index has changed since.
    fn again(
        &self,
        changed: bool,
        found: LexicalCandidates,
        plan: &Plan,
        keep: usize,
    ) -> Result<LexicalCandidates> {
        if changed {
            return self.words(plan, keep);
        }
        Ok(found)
    }

    /// Starts semantic retrieval of `keep` documents.
    fn begin(&self, plan: &Plan, keep: usize) -> Result<Available<Pending>> {
        let lexicon = self.lexicon();
        let semantic = self.router.semantic(&lexicon);
        semantic.begin(&plan.texts, &plan.query, &self.filter, keep, self.started)
    }

    /// Waits for the model without holding a snapshot, then reads the semantic
    /// candidates from a new one.
    fn wait(
        &self,
        snapshot: Snapshot<'a>,
        pending: Available<Pending>,
        beside: &Beside,
        plan: &Plan,
    ) -> Result<Waited<'a>> {
        let store = self.router.store();
        let pending = match pending {
            Ok(pending) => pending,
            Err(absence) => {
                return Ok(Waited {
                    snapshot,
                    changed: false,
                    candidates: None,
                    absence: absence.map(Caveat::SemanticUnavailable),
                });
            }
        };
        let before = self.lexicon().revision()?;
        drop(snapshot);
        let vectors = pending.wait();
        let snapshot = Snapshot::begin(store)?;
        let lexicon = self.lexicon();
        let semantic = self.router.semantic(&lexicon);
        let found = match &vectors {
            Ok(vectors) => semantic.candidates(vectors, beside, before, &self.desk())?,
            Err(absence) if store.revision()? == before => Some(Err(absence.clone())),
            Err(_) => None,
        };
        let changed = found.is_none();
        let found = match (found, vectors) {
            (Some(found), _) => found,
            (None, vectors) => {
                self.forget(plan)?;
                let lexicon = self.lexicon();
                let semantic = self.router.semantic(&lexicon);
                let asked = (&plan.query, &self.filter);
                match vectors {
                    Ok(vectors) => {
                        semantic.candidates_again(&vectors, beside, asked, &self.desk())?
                    }
                    Err(absence) => Err(absence),
                }
            }
        };
        let (candidates, absence) = match found {
            Ok(candidates) => (Some(candidates), None),
            Err(absence) => (None, Some(Caveat::SemanticUnavailable(absence))),
        };
        Ok(Waited {
            snapshot,
            changed,
            candidates,
            absence,
        })
    }

    /// Forgets everything read from an outdated state of the index, and asks the questions
    /// of the plan again.
    fn forget(&self, plan: &Plan) -> Result<()> {
        let store = self.router.store();
        let filter = self.lexicon().filter().clone();
        self.desk.replace(Rc::new(Desk::new(store, &self.filter)));
        let is_typing = self.request.as_you_type;
        let lexicon = Rc::new(Lexicon::new(store, filter, is_typing));
        self.lexicon.replace(Rc::clone(&lexicon));
        lexicon.settle(|| {
            self.expect(plan, &lexicon);
            Ok(())
        })
    }

    /// Returns the lexical candidates that are compared with the query as well.
    fn beside(&self, found: &LexicalCandidates, limits: Limits) -> Beside {
        let rows = found.best_rows(limits.candidates);
        let embeds = self.router.candidate_embedder().is_some()
            && self.coverage().is_ok_and(|share| share < 1.0);
        let embedded = rows.iter().take(if embeds { limits.hits } else { 0 });
        Beside {
            embedded: embedded.copied().collect(),
            rows,
            threads: self.request.fusion == Fusion::Convex,
        }
    }

    /// Records in the outcome which model ran and the share of embedded chunks.
    fn note_model(&self, outcome: &mut Outcome, semantic: &SemanticCandidates) -> Result<()> {
        outcome.retrievers.semantic = Some(semantic.model.clone());
        outcome.embedded = self.coverage()?;
        if outcome.embedded < 1.0 {
            // Rounded down, so that 100 % always means all.
            let percent = (outcome.embedded * 100.0).floor() as u8;
            outcome.caveats.push(Caveat::PartlyEmbedded { percent });
        }
        Ok(())
    }

    /// Joins the candidates of both retrievers, fuses their scores and rescores
    /// them.
    fn fuse(
        &self,
        plan: &Plan,
        found: LexicalCandidates,
        semantic: SemanticCandidates,
    ) -> Result<Outcome> {
        let store = self.router.store();
        let mut outcome = Outcome {
            ranked: Ranked::semantic(Vec::new(), 0.0),
            retrievers: Retrievers {
                lexical: Some(found.retriever.to_owned()),
                ..Retrievers::default()
            },
            embedded: 0.0,
            caveats: found.caveats,
        };
        self.note_model(&mut outcome, &semantic)?;
        let LexicalCandidates {
            matches,
            terms,
            whole,
            ..
        } = found;
        let SemanticCandidates {
            comparison,
            chunks,
            context,
            ..
        } = semantic;
        let most = plan.limits.candidates;
        let mut candidates = join(store, &matches.best, chunks, &comparison, most)?;
        if let Some(tools) = self.router.candidate_embedder()
            && outcome.embedded < 1.0
        {
            let (hits, deadline) = (plan.limits.hits, self.router.deadline(self.started));
            unembedded::embed(
                &self.desk(),
                tools,
                &comparison,
                &mut candidates,
                hits,
                deadline,
            )?;
        }
        let desk = self.desk();
        let also = |candidates: &[Candidate], best: &[usize]| {
            let rows = best.iter().map(|&at| candidates[at].row);
            let spans = |most: usize| {
                let best = best.iter().take(most).map(|&at| &candidates[at]);
                let chunks = best.filter_map(|one| present::shown_chunk(self.request, one));
                chunks.collect()
            };
            let mut wanted = self.presented_of(rows, spans, INSPECTED.max(self.request.limit));
            // Which of them are the best is not certain before they are inspected.
            wanted.successors = candidates.iter().map(|one| one.row).collect();
            wanted
        };
        let scoring = Scoring {
            store,
            desk: &desk,
            context: &context,
            also: &also,
            fusion: self.request.fusion,
            weights: self.request.weights,
            terms: &terms,
            words: QueryWords {
                whole,
                documents: self.searched()?,
            },
            tuning: &self.router.tuning,
            query: plan.spelt(self.request),
            embedder: self.router.embedder.as_deref(),
        };
        let inspected = scoring.apply(&mut candidates)?;
        let only_semantic = candidates
            .iter()
            .filter(|one| one.evidence.lexical_rank.is_none())
            .count();
        outcome.ranked = Ranked {
            candidates,
            total: matches.total + only_semantic,
            terms,
            whole,
            inspected,
            superseded: HashMap::new(),
        };
        Ok(outcome)
    }
}

/// The result of waiting for a model.
struct Waited<'a> {
    snapshot: Snapshot<'a>,
    /// Whether the index changed while waiting.
    changed: bool,
    candidates: Option<SemanticCandidates>,
    /// Why there are none, if the answer should say so.
    absence: Option<Caveat>,
}
