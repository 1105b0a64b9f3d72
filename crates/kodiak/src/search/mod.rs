//! From a query to an answer: parse, correct, retrieve, fuse, present.
//!
//! [`Router`] is the single way in. It decides what runs; each step is a room
//! of its own and knows nothing of the others.

mod alike;
mod answer;
mod company;
mod fuse;
mod hybrid;
mod intent;
mod lexical;
mod lookup;
mod meaning;
mod present;
mod query;
mod retrieve;
mod route;
mod similar;
mod snippet;
mod suggest;
mod token;
mod tuning;
mod turn;
mod typo;

use std::sync::Arc;
use std::time::{Duration, Instant};

pub use answer::{Answer, ExplainedTerm, Explanation, Hit, Retrievers, Suggestion};
pub use fuse::{Fusion, Weights};
pub use intent::Intent;
pub use lookup::Found;
pub use tuning::{KeywordRoute, Tuning, TuningError};

use crate::access::{Capability, Guard};
use crate::embed::Embedder;
use crate::error::Result;
use crate::source::Source;
use crate::store::{Filter, Store};

/// How long meanings are waited for before words answer alone. Where words find
/// nothing, and where only meanings are asked for, it is five times as long.
pub const DEADLINE: Duration = Duration::from_secs(2);

/// How to search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Whatever suits the query.
    #[default]
    Auto,
    /// Words, ranked.
    Lexical,
    /// Meanings, ranked.
    Semantic,
    /// Words and meanings, whatever the query looks like.
    Hybrid,
    /// Literal text, anywhere, even inside words.
    Like,
}

/// A search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// What to look for.
    pub query: String,
    /// How many hits at most.
    pub limit: usize,
    /// How to search.
    pub mode: Mode,
    /// What to search in.
    pub filter: Filter,
    /// Whether every word must occur.
    pub all: bool,
    /// Whether words are taken as typed, never corrected.
    pub exact: bool,
    /// Whether each hit says how it was ranked.
    pub explain: bool,
    /// How the rankings by word and by meaning become one.
    pub fusion: Fusion,
    /// How much each of them counts.
    pub weights: Weights,
}

/// The single way into the index, for every surface.
#[derive(Debug)]
pub struct Router<'a, S, E: ?Sized = dyn Embedder> {
    store: &'a S,
    sources: &'a [Box<dyn Source>],
    guard: Guard,
    embedder: Option<Arc<E>>,
    absence: Option<String>,
    deadline: Duration,
    tuning: Tuning,
}

impl std::fmt::Debug for dyn Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Source({})", self.name())
    }
}

impl std::fmt::Debug for dyn Embedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Embedder({})", self.identity().key())
    }
}

impl<'a, S: Store> Router<'a, S> {
    /// A router over `store` for whoever holds `guard`, by word only until it
    /// is given an embedder. Hits are checked against `sources`, where the
    /// source they are from is among them.
    pub fn new(store: &'a S, sources: &'a [Box<dyn Source>], guard: Guard) -> Self {
        Self {
            store,
            sources,
            guard,
            embedder: None,
            absence: None,
            deadline: DEADLINE,
            tuning: Tuning::default(),
        }
    }
}

impl<'a, S: Store, E: Embedder + ?Sized + 'static> Router<'a, S, E> {
    /// The same with a model for queries, or without one.
    #[must_use]
    pub fn with_embedder<F: Embedder + ?Sized + 'static>(
        self,
        embedder: Option<Arc<F>>,
    ) -> Router<'a, S, F> {
        Router {
            store: self.store,
            sources: self.sources,
            guard: self.guard,
            embedder,
            absence: self.absence,
            deadline: self.deadline,
            tuning: self.tuning,
        }
    }

    /// Why there is no embedder, for the answers that lack one.
    #[must_use]
    pub fn explaining_absence(mut self, reason: Option<String>) -> Self {
        self.absence = reason;
        self
    }

    /// How long meanings are waited for, [`DEADLINE`] unless told otherwise.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Ranks with these numbers; what was said of them before is forgotten.
    #[must_use]
    pub fn with_tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Which cosine counts as a hit, in place of the model's own.
    #[must_use]
    pub fn with_minimum_similarity(mut self, minimum: Option<f32>) -> Self {
        self.tuning.minimum_similarity = minimum;
        self
    }

    /// Answers a search. No query, however odd, is an error.
    pub fn search(&self, request: &Request) -> Result<Answer> {
        self.guard.require(Capability::Search)?;
        let filter = self.guard.narrow(&request.filter);
        self.store.in_snapshot(|| self.answer(request, &filter))
    }

    fn answer(&self, request: &Request, filter: &Filter) -> Result<Answer> {
        let started = Instant::now();
        let mut answer = Answer::to(&request.query);
        let ranked = self.rank(request, filter, started, &mut answer)?;
        for source in self.store.incomplete_sources(filter)? {
            answer
                .notices
                .push(format!("'{source}' is not completely indexed yet"));
        }
        answer.total = ranked.total;
        self.present(request, filter, &ranked, &mut answer)?;
        if answer.hits.is_empty() {
            answer.suggestions = self.suggestions(&request.query, filter)?;
        }
        answer.took_ms = started.elapsed().as_millis() as u64;
        Ok(answer)
    }

    /// The word a search would look for instead of `word`; `None` where it
    /// would take it as typed.
    pub fn spelling(&self, word: &str) -> Result<Option<String>> {
        self.guard.require(Capability::Search)?;
        typo::suggestion(self.store, word, &self.guard.narrow(&Filter::default()))
    }

    fn suggestions(&self, text: &str, filter: &Filter) -> Result<Vec<Suggestion>> {
        let rows = suggest::similar_names(self.store, text, &filter.scope_only(), 3)?;
        let documents = self.store.documents(&rows)?;
        let suggestions = documents.into_iter().map(|document| Suggestion {
            id: format!("#{}", document.short_id),
            title: document.title,
            source: document.source,
            path: document.key,
        });
        Ok(suggestions.collect())
    }
}
