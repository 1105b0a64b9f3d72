//! The single way into the index: a router over a store, with everything that it needs to
//! answer.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::complete::Completer;
use super::desk::Desk;
use super::filters::Filtered;
use super::lexical::LexicalRetriever;
use super::lexicon::Lexicon;
use super::lookup::{Found, Lookup, Named};
use super::present::Presenter;
use super::rerank::Reranking;
use super::semantic::SemanticRetriever;
use super::typo::Speller;
use super::{Answer, DEADLINE, Request, Searching, Workers};
use crate::access::{Capability, Guard};
use crate::cancel::Cancel;
use crate::document::Reference;
use crate::embed::Embedder;
use crate::error::Result;
use crate::rank::Tuning;
use crate::rerank::Reranker;
use crate::source::Source;
use crate::store::{Filter, Reader, ScopedReader, Snapshot};

/// The single way into the index, for the terminal, servers and all others.
#[derive(Debug)]
pub struct Router<'a> {
    store: View<'a>,
    pub(super) sources: &'a [Box<dyn Source>],
    pub(super) guard: Guard,
    pub(super) embedder: Option<Arc<dyn Embedder>>,
    reranker: Option<Arc<dyn Reranker>>,
    pub(super) absence: Option<String>,
    deadline: Duration,
    pub(super) tuning: Tuning,
    workers: Arc<Workers>,
    /// Whether candidates without a vector are embedded.
    embeds_candidates: bool,
    cancel: Option<Cancel>,
}

/// The reader of a router.
enum View<'a> {
    /// All that the reader has.
    Whole(&'a dyn Reader),
    /// The documents that the guard admits.
    Scoped(ScopedReader<'a>),
}

impl std::fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Whole(_) => "Whole",
            Self::Scoped(_) => "Scoped",
        })
    }
}

impl std::fmt::Debug for dyn Source {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Source({})", self.name())
    }
}

impl<'a> Router<'a> {
    /// Creates a router over `store` that `guard` restricts: nothing outside its scope
    /// exists. It searches lexically only until it is given an embedder. Each hit is
    /// checked against its source if that is among `sources`.
    pub fn new(store: &'a dyn Reader, sources: &'a [Box<dyn Source>], guard: Guard) -> Self {
        let view = guard.view();
        let is_within = view.is_everything() || store.scope() == Some(view);
        let store = if is_within {
            View::Whole(store)
        } else {
            View::Scoped(ScopedReader::new(store, view.clone(), Arc::default()))
        };
        Self {
            store,
            sources,
            guard,
            embedder: None,
            reranker: None,
            absence: None,
            deadline: DEADLINE,
            tuning: Tuning::default(),
            workers: Arc::new(Workers::for_this_machine()),
            embeds_candidates: true,
            cancel: None,
        }
    }

    /// Sets the model that embeds queries; `None` for none.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Option<Arc<dyn Embedder>>) -> Self {
        self.embedder = embedder;
        self
    }

    /// Sets the model that reranks the best hits of requests that ask for it.
    #[must_use]
    pub fn with_reranker(mut self, reranker: Option<Arc<dyn Reranker>>) -> Self {
        self.reranker = reranker;
        self
    }

    /// Sets the reason why there is no embedder, for the notices of answers.
    /// Without a reason there is no notice.
    #[must_use]
    pub fn explaining_absence(mut self, reason: Option<String>) -> Self {
        self.absence = reason;
        self
    }

    /// Sets the time to wait for the model; the default is [`DEADLINE`].
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets all ranking parameters, the minimum similarity included.
    #[must_use]
    pub fn with_tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Sets the thread pool that models run on, which other routers may share.
    #[must_use]
    pub(crate) fn with_workers(mut self, workers: Arc<Workers>) -> Self {
        self.workers = workers;
        self
    }

    /// Sets whether searches embed candidates that have no vector yet.
    #[must_use]
    pub(crate) fn embedding_candidates(mut self, embeds: bool) -> Self {
        self.embeds_candidates = embeds;
        self
    }

    /// Sets a token that ends the wait for a model.
    #[must_use]
    pub(crate) fn cancelled_by(mut self, cancel: Option<Cancel>) -> Self {
        self.cancel = cancel;
        self
    }

    /// Answers a request. No query is an error, however odd.
    pub fn search(&self, request: &Request) -> Result<Answer> {
        self.guard.require(Capability::Search)?;
        let filtered = Filtered::of(request, &self.guard, self.sources);
        let filter = self.guard.narrow(&filtered.request.filter);
        let mut answer = Searching {
            lexicon: RefCell::new(Rc::new(Lexicon::new(
                self.store(),
                filter.clone(),
                request.as_you_type,
            ))),
            desk: RefCell::new(Rc::new(Desk::new(self.store(), &filter))),
            router: self,
            request: &filtered.request,
            filter,
            started: Instant::now(),
        }
        .answer()?;
        filtered.describe(request, &mut answer);
        Ok(answer)
    }

    /// Finds a document by id, address, path or title.
    pub fn get(&self, reference: &Reference) -> Result<Found> {
        self.guard.require(Capability::Read)?;
        let _snapshot = Snapshot::begin(self.store())?;
        self.lookup().get(reference)
    }

    /// Returns which documents each of these typed names means.
    pub fn named(&self, typed: &[String]) -> Result<Vec<Named>> {
        self.guard.require(Capability::Read)?;
        self.lookup().named(typed)
    }

    /// Returns the correction of `word` that a search would look for; `None` if it
    /// would look for the word as typed, or for words that begin so.
    pub fn spelling(&self, word: &str) -> Result<Option<String>> {
        self.guard.require(Capability::Search)?;
        let filter = self.guard.narrow(&Filter::default());
        let lexicon = Lexicon::new(self.store(), filter, false);
        let speller = self.speller(&lexicon);
        let completer = Completer {
            speller,
            tuning: &self.tuning,
            guesses: true,
            as_you_type: false,
        };
        if completer.completes(word)? {
            return Ok(None);
        }
        speller.suggestion(word)
    }

    /// Returns the reader: for a guard that does not see everything, one in which nothing
    /// outside its scope exists.
    pub(super) fn store(&self) -> &dyn Reader {
        match &self.store {
            View::Whole(store) => *store,
            View::Scoped(store) => store,
        }
    }

    /// Returns until when a search that began at `started` waits for the model;
    /// `None` if that is beyond the range of the clock.
    pub(super) fn deadline(&self, started: Instant) -> Option<Instant> {
        started.checked_add(self.deadline)
    }

    pub(super) fn speller<'b>(&'b self, lexicon: &'b Lexicon<'b>) -> Speller<'b> {
        Speller {
            lexicon,
            embedder: self.embedder.as_deref(),
        }
    }

    pub(super) fn lookup(&self) -> Lookup<'_> {
        Lookup {
            store: self.store(),
            sources: self.sources,
            scope: self.guard.narrow(&Filter::default()),
        }
    }

    pub(super) fn lexical<'b>(&'b self, lexicon: &'b Lexicon<'b>) -> LexicalRetriever<'b> {
        LexicalRetriever {
            store: self.store(),
            lexicon,
            tuning: &self.tuning,
        }
    }

    pub(super) fn semantic<'b>(&'b self, lexicon: &'b Lexicon<'b>) -> SemanticRetriever<'b> {
        SemanticRetriever {
            store: self.store(),
            lexicon,
            tuning: &self.tuning,
            embedder: self.embedder.as_ref(),
            absence: self.absence.as_deref(),
            deadline: self.deadline,
            workers: &self.workers,
            cancel: self.cancel.as_ref(),
        }
    }

    /// Returns the embedder of candidates without a vector, if these are embedded.
    pub(super) fn candidate_embedder(&self) -> Option<(&Arc<dyn Embedder>, &Workers)> {
        let embedder = self.embedder.as_ref()?;
        self.embeds_candidates.then_some((embedder, &*self.workers))
    }

    pub(super) fn reranking(&self) -> Option<Reranking<'_>> {
        Some(Reranking {
            reranker: self.reranker.as_ref()?,
            workers: &self.workers,
            deadline: self.deadline,
        })
    }

    pub(super) fn presenter<'b>(
        &'b self,
        desk: &'b Desk<'b>,
        request: &'b Request,
    ) -> Presenter<'b> {
        Presenter {
            store: self.store(),
            desk,
            sources: self.sources,
            request,
            collapse: !request.all_copies,
        }
    }
}
