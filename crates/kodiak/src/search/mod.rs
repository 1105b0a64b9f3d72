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
//! * `filters`, `plan`, `query`, `token`, `intent`, `complete`, `typo`, `address`, `surface`: the
//!   query, parsed, completed, corrected and routed;
//! * `retrieve`: both retrievers as the plan asks for them, and their join;
//! * `lexicon`, `watch`, `desk`: questions to the store and documents read from it, in few
//!   calls;
//! * `lexical`, `terms`: lexical retrieval, with idf and pruning;
//! * `semantic`, `compare`, `workers`: semantic retrieval, with exact cosines;
//! * `candidate`, `score`, `context`, `turn`, `inspect`: both joined, fused and rescored by
//!   `rank`, the best of them after a closer look;
//! * `rerank`: the best of them as a reranker sees them;
//! * `present`, `snippet`, `freshness`, `duplicates`: hits made of the best
//!   candidates, copies collapsed into one;
//! * `facets`: counts of the properties that matching documents have in common;
//! * `relevance`, `uncertainty`, `caveat`, `notices`: the relevance of hits, the statement
//!   for answers without a relevant one, and possible gaps.

mod address;
mod answer;
mod candidate;
mod card;
mod caveat;
mod compare;
mod complete;
mod context;
mod corrected;
mod desk;
mod duplicates;
mod facets;
mod filters;
mod forms;
mod freshness;
mod inspect;
mod intent;
mod known;
mod lexical;
mod lexicon;
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
mod retrieve;
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
mod watch;
mod workers;
pub mod xml;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub use crate::source::TurnDetails;
pub use answer::{Answer, Duplicate, ExplainedTerm, Explanation, Hit, Retrievers, Suggestion};
pub use card::Card;
pub use caveat::{Caveat, NotIndexed, NotLookedFor, SemanticAbsence};
pub use corrected::Corrected;
pub use facets::{Count, Facets};
pub use filters::{QueryFilter, words_of};
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
use crate::rank::spelling::SHORTEST_COMPLETED;
use crate::store::{Coverage, Filter, Row, Snapshot, Wanted};
use candidate::Ranked;
use desk::Desk;
use lexical::LexicalCandidates;
use lexicon::Lexicon;
use limits::Limits;
use plan::{Plan, Route};
use present::Presented;
use query::Query;
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
    /// Answers about the words of the index.
    lexicon: RefCell<Rc<Lexicon<'a>>>,
    /// The documents that were read.
    desk: RefCell<Rc<Desk<'a>>>,
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
        let mut plan = self.plan()?;
        self.filter.without.append(&mut plan.unwanted);
        self.desk = RefCell::new(Rc::new(Desk::new(store, &self.filter)));
        let (mut snapshot, mut outcome) = self.run(&plan, snapshot)?;
        self.desk().fetch(self.presented(&outcome.ranked))?;
        self.rerank(&plan, &mut outcome)?;
        self.supersede(&plan, &mut outcome)?;
        let mut shown = self.show(&plan, &outcome)?;
        if shown.lacks_hits() && outcome.can_widen(&plan) {
            (snapshot, outcome) = self.widened(&plan, snapshot, outcome)?;
            self.desk().fetch(self.presented(&outcome.ranked))?;
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
        notices.extend(Caveat::of_copy(store, &self.router.guard));
        let embedded = match outcome.retrievers.semantic {
            Some(_) => outcome.embedded,
            None => self.embedded(),
        };
        drop(snapshot);
        Ok(Answer {
            query: self.request.query.clone(),
            filters: Vec::new(),
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

    fn lexicon(&self) -> Rc<Lexicon<'a>> {
        Rc::clone(&self.lexicon.borrow())
    }

    fn desk(&self) -> Rc<Desk<'a>> {
        Rc::clone(&self.desk.borrow())
    }

    /// Plans the search, and asks the index everything else that is needed before documents
    /// are read.
    fn plan(&self) -> Result<Plan> {
        let lexicon = self.lexicon();
        let lexicon = &*lexicon;
        let tuning = &self.router.tuning;
        lexicon.settle(|| {
            let plan = Plan::of(self.router.speller(lexicon), self.request, tuning)?;
            self.expect(&plan, lexicon);
            Ok(plan)
        })
    }

    /// Notes the questions that retrieval by a plan will ask, if questions are noted.
    fn expect(&self, plan: &Plan, lexicon: &Lexicon<'_>) {
        if !lexicon.is_noting() {
            return;
        }
        let asks = !matches!(plan.route, Route::Literal | Route::Listing);
        if asks {
            // Retrieval plans them again. A failure shows there.
            let corpus = lexicon.corpus().unwrap_or_default();
            let _ = terms::plan(lexicon, &plan.query, corpus, &self.router.tuning);
        }
        lexicon.expect_facts(asks);
        let compares = matches!(
            plan.route,
            Route::LexicalFirst | Route::Hybrid | Route::Semantic
        );
        if compares && self.router.embedder.is_some() && !self.filter.is_empty() {
            lexicon.expect_rows();
        }
    }

    /// Returns the reads that presenting the best candidates needs, in one call with the
    /// documents that supersede candidates.
    fn presented(&self, ranked: &Ranked) -> Wanted {
        let candidates = &ranked.candidates;
        self.presented_of(
            candidates.iter().map(|one| one.row),
            |most| {
                let best = candidates.iter().take(most);
                let chunks = best.filter_map(|one| present::shown_chunk(self.request, one));
                chunks.collect()
            },
            self.request.limit,
        )
    }

    fn presented_of(
        &self,
        rows: impl Iterator<Item = Row> + Clone,
        chunks: impl FnOnce(usize) -> Vec<i64>,
        most: usize,
    ) -> Wanted {
        let depth = supersession::DEPTH.max(self.request.limit.saturating_mul(2));
        let best: Vec<Row> = rows.clone().take(most).collect();
        Wanted {
            spans: chunks(most),
            successors: rows.take(depth).collect(),
            documents: best.clone(),
            entries: best.clone(),
            fields: best,
            ..Wanted::default()
        }
    }

    /// Returns whether the query has only just begun to be typed: too little to
    /// resemble a name.
    fn is_begun(&self) -> bool {
        let letters = self.request.query.trim().chars().count();
        self.request.as_you_type && letters < SHORTEST_COMPLETED
    }

    /// Makes hits of the best candidates and judges them.
    fn show(&self, plan: &Plan, outcome: &Outcome) -> Result<Presented> {
        let sources = self.lexicon().incomplete_sources()?;
        let never_synced = sources
            .into_iter()
            .map(|source| Caveat::SourceNeverSynced { source });
        let mut caveats: Vec<Caveat> = never_synced.collect();
        let terms = self.judged_terms(plan, outcome);
        let judge = self.judge(plan, outcome, terms.as_ref(), &mut caveats)?;
        let desk = self.desk();
        let mut presenter = self.router.presenter(&desk, self.request);
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
            desk: &self.desk(),
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

    /// Returns the share of chunks with embeddings.
    fn coverage(&self) -> Result<f64> {
        let share = self.lexicon().coverage()?.map_or(0.0, Coverage::share);
        // All of it is all of any part.
        if share < 1.0 && self.filter != *self.lexicon().filter() {
            return Ok(self.router.store().coverage(&self.filter)?.share());
        }
        Ok(share)
    }

    /// Returns the share of embedded chunks where no meanings were compared. It only
    /// informs, so the search succeeds even if counting fails.
    fn embedded(&self) -> f64 {
        match self.lexicon().coverage() {
            Ok(Some(_)) => self.coverage().unwrap_or(0.0),
            _ => 0.0,
        }
    }

    /// Returns the number of documents that the filter admits.
    fn searched(&self) -> Result<u64> {
        // What the query excludes was found with the filter of the lexicon, which leaves
        // out what the request excludes.
        let counted = self.lexicon().filter().without.len();
        let unwanted = self.filter.without.len().saturating_sub(counted) as u64;
        Ok(self.lexicon().admitted()?.saturating_sub(unwanted))
    }
}

/// Returns the completeness of an answer from an index that was not refreshed.
fn unrefreshed(notices: &[Caveat]) -> Completeness {
    let mut completeness = Completeness::of(notices);
    completeness.add(Caveat::ChangesNotLookedFor(NotLookedFor::Off));
    completeness
}
