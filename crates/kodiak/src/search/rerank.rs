//! Reranking: the best candidates in the order in which a reranker and the search
//! together put them.
//!
//! A shared thread runs the reranker, and a search waits for it until the deadline.
//! If anything fails, the candidates keep their order, and a notice says why. The
//! scores of the search stay with the places: the first hit has the highest.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::candidate::{Candidate, Ranked};
use super::inspect::contains_word;
use super::lexical::Terms;
use super::limits::RERANKED;
use super::plan::{Plan, Route};
use super::workers::Workers;
use super::{Outcome, Searching};
use crate::cancel::Stop;
use crate::error::Result;
use crate::rank::rerank::{Reranked, blend};
use crate::rerank::{RerankError, Reranker};
use crate::store::{Row, StoredDocument, Wanted};
use crate::text::fold_into;

/// The bytes of a text that are reranked. Most rerankers see some 500 tokens.
const MAX_TEXT_BYTES: usize = 2_000;

/// A reranker, and how it is run.
pub(super) struct Reranking<'a> {
    pub(super) reranker: &'a Arc<dyn Reranker>,
    pub(super) workers: &'a Workers,
    pub(super) deadline: Duration,
}

impl Searching<'_> {
    /// Reranks the best candidates, if the request asks for it.
    pub(super) fn rerank(&self, plan: &Plan, outcome: &mut Outcome) -> Result<()> {
        let query = plan.texts.last().map_or("", |text| text.trim());
        let nothing_asked = matches!(plan.route, Route::Literal | Route::Listing);
        let count = outcome.ranked.candidates.len().min(RERANKED);
        if !self.request.rerank || nothing_asked || query.is_empty() || count < 2 {
            return Ok(());
        }
        let Some(reranking) = self.router.reranking() else {
            outcome.not_reranked("no reranker is set up".to_owned());
            return Ok(());
        };
        let documents = self.documents(&outcome.ranked, count)?;
        let best = &outcome.ranked.candidates[..count];
        let texts = self.texts(best, &documents)?;
        // A snapshot is held until then: rows must mean the same afterwards, and the
        // wait is short.
        match reranking.run(query, texts) {
            Ok(scores) => {
                let words = informative_words(&outcome.ranked.terms);
                let exact = |candidate: &Candidate| {
                    let document = documents.get(&candidate.row);
                    document.is_some_and(|document| has_all(&document.title, &words))
                };
                let exact: Vec<bool> = best.iter().map(exact).collect();
                reorder(&mut outcome.ranked.candidates[..count], &scores, &exact);
                outcome.retrievers.reranker = Some(reranking.reranker.name().to_owned());
            }
            Err(error) => {
                let name = reranking.reranker.name();
                outcome.not_reranked(format!("{name}: {error}"));
            }
        }
        Ok(())
    }

    /// Reads the documents of the best candidates.
    fn documents(&self, ranked: &Ranked, count: usize) -> Result<HashMap<Row, Rc<StoredDocument>>> {
        let rows: Vec<Row> = ranked.candidates[..count]
            .iter()
            .map(|one| one.row)
            .collect();
        let chunks = ranked.candidates[..count].iter();
        let chunks = chunks.filter_map(|one| Some(one.chunk.as_ref()?.chunk));
        self.desk().fetch(Wanted {
            documents: rows.clone(),
            spans: chunks.collect(),
            ..Wanted::default()
        })?;
        let documents = self.desk().documents(&rows)?;
        Ok(documents.into_iter().map(|one| (one.row, one)).collect())
    }

    /// Returns the text of each candidate to rerank: its title, and the chunk nearest to
    /// the query or the beginning of its text.
    fn texts(
        &self,
        candidates: &[Candidate],
        documents: &HashMap<Row, Rc<StoredDocument>>,
    ) -> Result<Vec<String>> {
        let mut texts = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let Some(document) = documents.get(&candidate.row) else {
                texts.push(String::new());
                continue;
            };
            let span = match &candidate.chunk {
                Some(chunk) => self.desk().span(chunk.chunk)?,
                None => None,
            };
            let chunk = span.and_then(|span| document.body.get(span.range));
            let body = chunk.unwrap_or(&document.body).trim_start();
            let body = &body[..body.floor_char_boundary(MAX_TEXT_BYTES)];
            texts.push(format!("{}\n{body}", document.title));
        }
        Ok(texts)
    }
}

impl Reranking<'_> {
    /// Scores the texts, within the deadline.
    fn run(&self, query: &str, texts: Vec<String>) -> std::result::Result<Vec<f32>, RerankError> {
        let stop = Stop::at(Instant::now().checked_add(self.deadline));
        let (sender, receiver) = channel();
        let reranker = Arc::clone(self.reranker);
        let (query, stopped) = (query.to_owned(), stop.clone());
        let taken = self.workers.submit(move || {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            // The search stops receiving after the deadline.
            let _ = sender.send(reranker.scores(&query, &texts, &stopped));
        });
        if !taken {
            let detail = "too many other searches are running".to_owned();
            return Err(RerankError::Failed(detail));
        }
        let outcome = receiver.recv_timeout(self.deadline);
        stop.cancel.cancel();
        match outcome {
            Ok(scores) => scores,
            Err(RecvTimeoutError::Timeout) => Err(RerankError::Stopped),
            Err(RecvTimeoutError::Disconnected) => {
                Err(RerankError::Failed("it stopped unexpectedly".to_owned()))
            }
        }
    }
}

/// Puts candidates in their new order. The scores stay with the places.
fn reorder(candidates: &mut [Candidate], judged: &[f32], exact: &[bool]) {
    let reranked: Vec<Reranked> = candidates
        .iter()
        .zip(judged)
        .zip(exact)
        .map(|((candidate, &judged), &exact)| Reranked {
            score: candidate.score,
            judged: f64::from(judged),
            exact,
        })
        .collect();
    let before: Vec<Candidate> = candidates.to_vec();
    for (place, at) in blend(&reranked).into_iter().enumerate() {
        let score = before[place].score;
        candidates[place] = Candidate {
            score,
            reranked: Some(reranked[at].judged),
            ..before[at].clone()
        };
    }
}

/// Returns the informative words of the query as typed, folded.
fn informative_words(terms: &Terms) -> Vec<&str> {
    let Terms::Planned(terms) = terms else {
        return Vec::new();
    };
    let informative = terms.iter().filter(|term| !term.common);
    informative
        .filter_map(|term| term.typed.as_deref())
        .collect()
}

/// Reports whether a title has all of these words; `false` if there are none.
fn has_all(title: &str, words: &[&str]) -> bool {
    let mut folded = String::new();
    fold_into(title, &mut folded);
    !words.is_empty() && words.iter().all(|word| contains_word(&folded, word))
}
