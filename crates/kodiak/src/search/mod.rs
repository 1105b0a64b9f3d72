//! From a query to an answer, in stages that each have a type.
//!
//! ```text
//! Request → Plan → { LexicalCandidates ‖ Pending → QueryVectors → SemanticCandidates }
//!         → Candidate (joined, scored, rescored) → Ranked → Hit → Answer
//! ```
//!
//! [`Router`] is the single way in. Each stage takes the value of the stage
//! before it and returns its own, with caveats for the answer. No stage sees the
//! answer itself.
//!
//! * `plan`, `query`, `token`, `intent`, `complete`, `typo`, `address`, `surface`: the
//!   query, parsed, completed, corrected and routed;
//! * `lexical`, `terms`: lexical retrieval, with idf and pruning;
//! * `semantic`, `compare`, `workers`: semantic retrieval, with exact cosines;
//! * `candidate`, `score`, `turn`, `inspect`: both joined, fused and rescored by
//!   `rank`, the best of them after a closer look;
//! * `rerank`: the best of them as a reranker sees them;
//! * `present`, `snippet`, `freshness`, `duplicates`: hits made of the best
//!   candidates, copies collapsed into one;
//! * `relevance`, `uncertainty`, `caveat`, `notices`: what the hits are worth, what is said
//!   where none is probably relevant, and what may be lacking.

mod address;
mod answer;
mod candidate;
mod caveat;
mod compare;
mod complete;
mod duplicates;
mod forms;
mod freshness;
mod inspect;
mod intent;
mod lexical;
mod limits;
mod lookup;
mod mode;
mod notices;
mod plan;
mod present;
mod query;
mod relevance;
mod request;
mod rerank;
mod router;
#[cfg(test)]
mod scope_tests;
mod score;
mod semantic;
mod similar;
mod snippet;
mod suggest;
mod supersession;
mod surface;
mod terms;
mod token;
mod turn;
mod typo;
mod uncertainty;
mod unembedded;
mod workers;

use std::cell::OnceCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};

pub use crate::source::TurnDetails;
pub use answer::{Answer, Duplicate, ExplainedTerm, Explanation, Hit, Retrievers, Suggestion};
pub use caveat::{Caveat, NotIndexed, NotLookedFor, SemanticAbsence};
pub use freshness::Freshness;
pub use intent::Intent;
pub use lookup::{Excerpt, Found, Named};
pub use mode::Mode;
pub use notices::{Completeness, Notices};
pub use request::{DEFAULT_LIMIT, Request};
pub use router::Router;
pub use uncertainty::Uncertainty;
pub(crate) use workers::Workers;

use crate::error::Result;
use crate::rank::evidence::QueryWords;
use crate::rank::spelling::SHORTEST_COMPLETED;
use crate::store::{Coverage, Filter, Snapshot};
use candidate::{Ranked, join};
use inspect::Inspection;
use lexical::LexicalCandidates;
use limits::{INSPECTED, Limits};
use plan::{Plan, Route};
use present::Presented;
use query::Query;
use score::Scoring;
use semantic::{Available, Pending, SemanticCandidates};
use supersession::Supersession;

/// The time semantic retrieval has before lexical retrieval answers alone. It is
/// five times as long if lexical retrieval finds nothing or does not run.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// One search on its way through the stages.
struct Searching<'a> {
    router: &'a Router<'a>,
    request: &'a Request,
    filter: Filter,
    started: Instant,
    /// The number of documents that the filter admits, once it was counted.
    searched: OnceCell<u64>,
}

/// The result of the stages before presentation.
struct Outcome {
    ranked: Ranked,
    retrievers: Retrievers,
    /// The share of chunks with embeddings; 0 if they were not compared.
    embedded: f64,
    caveats: Vec<Caveat>,
}

impl Outcome {
    fn lexical(mut found: LexicalCandidates) -> Self {
        Self {
            caveats: std::mem::take(&mut found.caveats),
            retrievers: Retrievers {
                lexical: Some(found.retriever.to_owned()),
                ..Retrievers::default()
            },
            ranked: Ranked::lexical(found),
            embedded: 0.0,
        }
    }

    /// Records that the hits were not reranked, once: candidates that are retrieved again are
    /// reranked again.
    fn not_reranked(&mut self, reason: String) {
        let caveat = Caveat::NotReranked { reason };
        if !self.caveats.contains(&caveat) {
            self.caveats.push(caveat);
        }
    }

    /// Reports whether more documents match than were fetched, or semantic hits could
    /// follow that did not fit. Fused rankings have candidates enough, and others
    /// would change their scores.
    fn can_widen(&self, plan: &Plan) -> bool {
        let Ranked {
            candidates, total, ..
        } = &self.ranked;
        let fits = plan.route == Route::LexicalFirst && *total >= plan.limits.hits;
        !matches!(plan.route, Route::Literal | Route::Listing)
            && self.retrievers.semantic.is_none()
            && (candidates.len() < *total || fits)
    }
}

impl<'a> Searching<'a> {
    fn answer(mut self) -> Result<Answer> {
        let store = self.router.store();
        let snapshot = Snapshot::begin(store)?;
        let speller = self.router.speller(&self.filter);
        let mut plan = Plan::of(speller, self.request, &self.router.tuning)?;
        self.filter.without = std::mem::take(&mut plan.unwanted);
        let (mut snapshot, mut outcome) = self.run(&plan, snapshot)?;
        self.rerank(&plan, &mut outcome)?;
        self.supersede(&plan, &mut outcome)?;
        let mut shown = self.show(&plan, &outcome)?;
        if shown.lacks_hits() && outcome.can_widen(&plan) {
            (snapshot, outcome) = self.widened(&plan, snapshot, outcome)?;
            self.rerank(&plan, &mut outcome)?;
            self.supersede(&plan, &mut outcome)?;
            shown = self.show(&plan, &outcome)?;
        }
        let uncertainty = self.uncertainty(&plan, &outcome, &shown);
        let mut notices = plan.caveats;
        notices.append(&mut outcome.caveats);
        notices.append(&mut shown.caveats);
        notices.extend(uncertainty.map(Caveat::Uncertain));
        let suggestions = if shown.found_nothing() && !self.is_begun() {
            let (store, sources) = (self.router.store(), self.router.sources);
            suggest::suggestions(store, sources, &self.request.query, &self.filter)?
        } else {
            Vec::new()
        };
        let embedded = match outcome.retrievers.semantic {
            Some(_) => outcome.embedded,
            None => self.embedded(),
        };
        drop(snapshot);
        Ok(Answer {
            query: self.request.query.clone(),
            corrected: plan.corrected,
            completed: plan.completed,
            intent: plan.intent,
            retrievers: outcome.retrievers,
            embedded,
            completeness: unrefreshed(&notices),
            notices: Notices(notices),
            total: outcome.ranked.total - shown.gone,
            answered: shown.judgement.map(|judgement| judgement.answered),
            relevant: shown.judgement.map(|judgement| judgement.relevant),
            contained: shown.judgement.map(|judgement| judgement.contained),
            took_ms: self.started.elapsed().as_millis() as u64,
            hits: shown.hits,
            suggestions,
        })
    }

    /// Returns whether the query has only just begun to be typed: too little to
    /// resemble a name.
    fn is_begun(&self) -> bool {
        let letters = self.request.query.trim().chars().count();
        self.request.as_you_type && letters < SHORTEST_COMPLETED
    }

    /// Makes hits of the best candidates and judges them.
    fn show(&self, plan: &Plan, outcome: &Outcome) -> Result<Presented> {
        let sources = self.router.store().incomplete_sources(&self.filter)?;
        let never_synced = sources
            .into_iter()
            .map(|source| Caveat::SourceNeverSynced { source });
        let mut caveats: Vec<Caveat> = never_synced.collect();
        let terms = self.judged_terms(plan, outcome);
        let judge = self.judge(plan, outcome, terms.as_ref(), &mut caveats)?;
        let mut presenter = self.router.presenter(self.request);
        // A listing is not an answer that one of several copies gives.
        presenter.collapse &= plan.route != Route::Listing;
        let mut shown = presenter.present(&outcome.ranked, judge)?;
        caveats.append(&mut shown.caveats);
        Ok(Presented { caveats, ..shown })
    }

    /// Moves candidates that were corrected later below their corrections.
    fn supersede(&self, plan: &Plan, outcome: &mut Outcome) -> Result<()> {
        let Query {
            required, excluded, ..
        } = &plan.query;
        Supersession {
            store: self.router.store(),
            filter: &self.filter,
            limit: self.request.limit,
            moves: plan.route != Route::Listing,
            // What must or must not occur was not looked for in what would join.
            joins: required.is_empty() && excluded.is_empty(),
        }
        .apply(&mut outcome.ranked)
    }

    /// Retrieves more documents than the first time, to replace copies.
    fn widened(
        &self,
        plan: &Plan,
        snapshot: Snapshot<'a>,
        first: Outcome,
    ) -> Result<(Snapshot<'a>, Outcome)> {
        let limits = Limits::of(self.request.limit, &self.router.tuning).with_copies();
        if plan.route == Route::LexicalFirst {
            let plan = Plan {
                limits,
                ..plan.clone()
            };
            return self.run(&plan, snapshot);
        }
        // What the first retrieval said is true of this one as well.
        let found = Outcome::lexical(self.words(plan, limits.fetched)?);
        let caveats = first.caveats;
        Ok((snapshot, Outcome { caveats, ..found }))
    }

    /// Retrieves, joins and scores candidates. Returns the outcome with the
    /// snapshot it was read from, which may be a new one: no snapshot is held
    /// while a model works.
    fn run(&self, plan: &Plan, snapshot: Snapshot<'a>) -> Result<(Snapshot<'a>, Outcome)> {
        let Plan { route, limits, .. } = plan;
        let lexical = self.router.lexical();
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
                let waited = self.wait(snapshot, pending.map(|one| one.beside(total)), plan)?;
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
                let total = found.matches.total;
                let waited = self.wait(snapshot, pending.map(|one| one.beside(total)), plan)?;
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
                let waited = self.wait(snapshot, pending.map(|one| one.beside(0)), plan)?;
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
        let mut inspection = Inspection::of(self.router.store(), query, &found.terms, 1.0);
        if with_related {
            inspection = inspection.with_related();
        }
        let most = inspection.depth().min(INSPECTED);
        let inspected = inspection.inspect(&found.best_rows(most))?;
        found.raise(&inspected);
        let mut outcome = Outcome::lexical(found);
        outcome.ranked.inspected = inspected;
        Ok(outcome)
    }

    /// Runs lexical retrieval. Keeps `keep` scores.
    fn words(&self, plan: &Plan, keep: usize) -> Result<LexicalCandidates> {
        let Plan { query, limits, .. } = plan;
        let lexical = self.router.lexical();
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
        match changed {
            true => self.words(plan, keep),
            false => Ok(found),
        }
    }

    /// Starts semantic retrieval of `keep` documents.
    fn begin(&self, plan: &Plan, keep: usize) -> Result<Available<Pending>> {
        let semantic = self.router.semantic();
        semantic.begin(&plan.texts, &plan.query, &self.filter, keep, self.started)
    }

    /// Waits for the model without holding a snapshot, then reads the semantic
    /// candidates from a new one.
    fn wait(
        &self,
        snapshot: Snapshot<'a>,
        pending: Available<Pending>,
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
        let before = store.revision()?;
        drop(snapshot);
        let vectors = pending.wait();
        let snapshot = Snapshot::begin(store)?;
        let changed = store.revision()? != before;
        let semantic = self.router.semantic();
        let found = match vectors {
            Ok(vectors) => semantic.candidates(vectors, changed, &plan.query, &self.filter)?,
            Err(absence) => Err(absence),
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

    /// Records in the outcome which model ran and the share of embedded chunks.
    fn note_model(&self, outcome: &mut Outcome, semantic: &SemanticCandidates) -> Result<()> {
        outcome.retrievers.semantic = Some(semantic.model.clone());
        outcome.embedded = self.router.store().coverage(&self.filter)?.share();
        if outcome.embedded < 1.0 {
            // Rounded down, so that 100 % always means all.
            let percent = (outcome.embedded * 100.0).floor() as u8;
            outcome.caveats.push(Caveat::PartlyEmbedded { percent });
        }
        Ok(())
    }

    /// Returns the share of embedded chunks where no meanings were compared. It only
    /// informs, so the search succeeds even if counting fails.
    fn embedded(&self) -> f64 {
        let store = self.router.store();
        match store.serving() {
            Ok(Some(_)) => store.coverage(&self.filter).map_or(0.0, Coverage::share),
            _ => 0.0,
        }
    }

    /// Returns the number of documents that the filter admits.
    fn searched(&self) -> Result<u64> {
        if let Some(&known) = self.searched.get() {
            return Ok(known);
        }
        let store = self.router.store();
        let counted = if store.is_within(&self.filter)
            && let Ok(corpus) = store.corpus()
        {
            corpus.documents
        } else {
            store.rows(&self.filter, None, None)?.len() as u64
        };
        Ok(*self.searched.get_or_init(|| counted))
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
            comparison, chunks, ..
        } = semantic;
        let most = plan.limits.candidates;
        let mut candidates = join(store, &matches.best, chunks, &comparison, most)?;
        if let Some(tools) = self.router.candidate_embedder()
            && outcome.embedded < 1.0
        {
            let (hits, deadline) = (plan.limits.hits, self.router.deadline(self.started));
            unembedded::embed(store, tools, &comparison, &mut candidates, hits, deadline)?;
        }
        let scoring = Scoring {
            store,
            fusion: self.request.fusion,
            weights: self.request.weights,
            terms: &terms,
            words: QueryWords {
                whole,
                documents: self.searched()?,
            },
            tuning: &self.router.tuning,
            query: plan.spelt(self.request),
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

/// Returns the completeness of an answer from an index that was not refreshed.
fn unrefreshed(notices: &[Caveat]) -> Completeness {
    let mut completeness = Completeness::of(notices);
    completeness.add(Caveat::ChangesNotLookedFor(NotLookedFor::Off));
    completeness
}

/// The result of waiting for a model.
struct Waited<'a> {
    snapshot: Snapshot<'a>,
    /// Whether the index changed while waiting.
    changed: bool,
    candidates: Option<SemanticCandidates>,
    /// Why there are none, if that is to be said.
    absence: Option<Caveat>,
}
