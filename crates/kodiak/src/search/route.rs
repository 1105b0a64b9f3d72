//! Which retrievers a query goes through, and how their findings become one
//! ranking.

use std::collections::HashMap;
use std::time::Instant;

use super::fuse::{Evidence, Fused};
use super::meaning::{Embedding, Near, Reason};
use super::query::{self, Query};
use super::retrieve::{Retrieved, Terms};
use super::{Answer, Intent, KeywordRoute, Mode, Request, Router, typo};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::store::{Filter, Matches, Passage, Row, Store};

/// What the nearest hit below those by word has of the last one's score.
const BELOW: f64 = 0.9;

/// Documents in order.
pub(super) struct Ranked {
    pub(super) candidates: Vec<Candidate>,
    /// How many documents matched in all.
    pub(super) total: usize,
    /// What snippets are made from.
    pub(super) terms: Terms,
}

/// A document on its way to being a hit.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) row: Row,
    /// How well it matched; the best has 1.
    pub(super) score: f64,
    pub(super) evidence: Evidence,
    /// Its passage nearest to the query, where it has vectors.
    pub(super) passage: Option<Passage>,
    /// What the fusion made of it, before it was brought to 0..1.
    pub(super) fused: Option<Fused>,
}

/// What runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Route {
    /// Words only.
    Words,
    /// Words, and meanings below them where they leave room.
    WordsThenMeanings,
    /// Both, fused.
    Both,
    /// Meanings only.
    Meanings,
}

impl Route {
    fn of(request: &Request, query: &Query, intent: Intent, keyword: KeywordRoute) -> Self {
        match (request.mode, intent) {
            (Mode::Like | Mode::Lexical, _) => Self::Words,
            _ if query.is_empty() => Self::Words,
            (Mode::Semantic, _) => Self::Meanings,
            (Mode::Hybrid, _) | (Mode::Auto, Intent::Semantic) => Self::Both,
            // What is demanded literally is not answered by what is like it.
            (Mode::Auto, Intent::Keyword) if !query.required.is_empty() => Self::Words,
            (Mode::Auto, Intent::Keyword) => match keyword {
                KeywordRoute::WordsFirst => Self::WordsThenMeanings,
                KeywordRoute::Fused => Self::Both,
            },
        }
    }
}

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// Runs what the query calls for.
    pub(super) fn rank(
        &self,
        request: &Request,
        filter: &Filter,
        started: Instant,
        answer: &mut Answer,
    ) -> Result<Ranked> {
        // Hits that turn out to be gone are made up for from a few more.
        let limit = request.limit.saturating_add(request.limit.min(20));
        if request.mode == Mode::Like {
            let retrieved = self.retrieve_like(request, filter, limit)?;
            return Ok(by_word(retrieved, answer));
        }
        let mut query = Query::parse(&request.query, request.all);
        if query.cut_short {
            answer.notices.push(format!(
                "only the first {} words of the query were looked for",
                query::MOST_WORDS
            ));
        }
        if query.is_empty() && query.excluded.is_empty() {
            let retrieved = self.retrieve_wordless(request, filter, limit)?;
            return Ok(by_word(retrieved, answer));
        }
        let typed = query.wanted_text(&request.query);
        if !request.exact {
            let corrections = match typo::correct(self.store, &mut query, &filter.scope_only()) {
                // Words that cannot be looked up are taken as typed.
                Err(Error::Database { .. }) => Vec::new(),
                other => other?,
            };
            if !corrections.is_empty() {
                answer.corrected = Some(typo::corrected_text(&request.query, &corrections));
            }
        }
        let mut texts = vec![typed];
        if let Some(corrected) = &answer.corrected {
            texts.push(query.wanted_text(corrected));
        }
        texts.dedup();
        match Route::of(request, &query, answer.intent, self.tuning.keyword) {
            Route::Words => {
                let retrieved = self.retrieve_words(request, &query, filter, limit, answer)?;
                Ok(by_word(retrieved, answer))
            }
            Route::WordsThenMeanings => {
                let retrieved = self.retrieve_words(request, &query, filter, limit, answer)?;
                let mut ranked = by_word(retrieved, answer);
                if ranked.total < request.limit {
                    let begun = self.begin_embedding(texts, &query, filter, limit, started)?;
                    let begun = begun.map(|begun| begun.beside(ranked.total));
                    if let Some(near) = self.meanings(begun, filter, answer)? {
                        append(&mut ranked, near.passages);
                    }
                }
                Ok(ranked)
            }
            Route::Both => self.both(request, &query, texts, filter, started, answer),
            Route::Meanings => {
                let keep = limit.max(self.tuning.candidates);
                let begun = self.begin_embedding(texts, &query, filter, keep, started)?;
                let begun = begun.map(|begun| begun.beside(0));
                if let Some(near) = self.meanings(begun, filter, answer)? {
                    return Ok(by_meaning(near.passages));
                }
                let retrieved = self.retrieve_words(request, &query, filter, limit, answer)?;
                Ok(by_word(retrieved, answer))
            }
        }
    }

    /// Both retrievers at once: the model works, and vectors are looked through,
    /// while words are looked up.
    fn both(
        &self,
        request: &Request,
        query: &Query,
        texts: Vec<String>,
        filter: &Filter,
        started: Instant,
        answer: &mut Answer,
    ) -> Result<Ranked> {
        let limit = request.limit.saturating_add(request.limit.min(20));
        let candidates = limit.max(self.tuning.candidates);
        let begun = self.begin_embedding(texts, query, filter, candidates, started)?;
        let kept = if begun.is_ok() {
            candidates.max(self.tuning.scored)
        } else {
            limit
        };
        let retrieved = self.retrieve_words(request, query, filter, kept, answer)?;
        let begun = begun.map(|begun| begun.beside(retrieved.matches.total));
        match self.meanings(begun, filter, answer)? {
            Some(near) => self.fused(request, retrieved, near, limit, answer),
            None => Ok(by_word(retrieved, answer)),
        }
    }

    /// What is near, with the model's name in the answer; or `None`, with a
    /// notice why not.
    fn meanings(
        &self,
        begun: std::result::Result<Embedding, Option<Reason>>,
        filter: &Filter,
        answer: &mut Answer,
    ) -> Result<Option<Near>> {
        let near = match begun {
            Ok(begun) => self.find_near(begun)?.map_err(Some),
            Err(reason) => Err(reason),
        };
        match near {
            Ok(near) => {
                answer.retrievers.semantic = Some(near.model.clone());
                answer.embedded = self.store.coverage(filter)?.share();
                if answer.embedded < 1.0 {
                    // Rounded down: nearly all is not all.
                    let percent = (answer.embedded * 100.0).floor();
                    answer.notices.push(format!(
                        "{percent} % is embedded so far; the rest is found by word only"
                    ));
                }
                Ok(Some(near))
            }
            Err(reason) => {
                if let Some(reason) = reason {
                    answer
                        .notices
                        .push(format!("semantic search did not run: {reason}"));
                }
                Ok(None)
            }
        }
    }
}

impl Candidate {
    /// One found by word.
    pub(super) fn matched(row: Row, rank: usize, score: f64) -> Self {
        Self {
            row,
            score: 0.0,
            evidence: Evidence {
                lexical_score: score,
                lexical_rank: Some(rank),
                ..Evidence::default()
            },
            passage: None,
            fused: None,
        }
    }

    /// One found by meaning.
    pub(super) fn near(passage: Passage, rank: usize) -> Self {
        let mut candidate = Self {
            row: passage.row,
            score: 0.0,
            evidence: Evidence {
                semantic_rank: Some(rank),
                ..Evidence::default()
            },
            passage: None,
            fused: None,
        };
        candidate.compared(passage);
        candidate
    }

    /// Notes its nearest passage, and how near that and all of it are.
    pub(super) fn compared(&mut self, passage: Passage) {
        self.evidence.similarity = Some(f64::from(passage.similarity));
        self.evidence.overall = Some(f64::from(passage.overall));
        self.passage = Some(passage);
    }
}

/// A ranking by word as it is.
pub(super) fn by_word(retrieved: Retrieved, answer: &mut Answer) -> Ranked {
    let Retrieved {
        matches: Matches { total, best },
        retriever,
        terms,
    } = retrieved;
    answer.retrievers.lexical = Some(retriever.to_owned());
    let highest = best.first().map_or(1.0, |&(_, score)| score);
    let candidates = best.into_iter().enumerate().map(|(place, (row, score))| {
        let mut candidate = Candidate::matched(row, place + 1, score);
        candidate.score = if highest > 0.0 { score / highest } else { 0.0 };
        candidate
    });
    Ranked {
        candidates: candidates.collect(),
        total,
        terms,
    }
}

/// A ranking by meaning as it is.
pub(super) fn by_meaning(passages: Vec<Passage>) -> Ranked {
    let mut ranked = Ranked {
        candidates: Vec::new(),
        total: 0,
        terms: Terms::Planned(Vec::new()),
    };
    append(&mut ranked, passages);
    ranked
}

/// Puts what is near below what is there already.
fn append(ranked: &mut Ranked, passages: Vec<Passage>) {
    let known: HashMap<Row, usize> = ranked
        .candidates
        .iter()
        .enumerate()
        .map(|(at, candidate)| (candidate.row, at))
        .collect();
    let last = ranked.candidates.last();
    let ceiling = last.map_or(1.0, |last| BELOW * last.score);
    let highest = passages.first().map_or(1.0, |first| first.similarity);
    for (place, passage) in passages.into_iter().enumerate() {
        let part = f64::from(passage.similarity / highest.max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        if let Some(&at) = known.get(&passage.row) {
            let candidate = &mut ranked.candidates[at];
            candidate.evidence.semantic_rank = Some(place + 1);
            candidate.compared(passage);
        } else {
            let mut candidate = Candidate::near(passage, place + 1);
            candidate.score = ceiling * part;
            ranked.candidates.push(candidate);
            ranked.total += 1;
        }
    }
}
