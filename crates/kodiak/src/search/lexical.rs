//! Lexical retrieval: by full text, or by literal text if the request asks for
//! that or full text fails.

use super::Request;
use super::caveat::Caveat;
use super::inspect::Inspected;
use super::lexicon::Lexicon;
use super::limits::{INSPECTED, Limits};
use super::query::Query;
use super::terms::{self, PlannedTerm, TermPlan};
use crate::error::{Error, Result};
use crate::rank::rules::{BONUS_SHARE, PROXIMITY_TERMS};
use crate::rank::{Bm25, Tuning};
use crate::store::{Filter, Matches, Ranking, Reader, Row};
use crate::text::words;

/// The number of words of a query that are looked for literally: each of them
/// takes a pass over all text.
const MAX_NEEDLES: usize = 8;

/// The number of bytes of a query that are looked for literally.
const MAX_NEEDLE_LENGTH: usize = 1_000;

/// Documents retrieved lexically, best first, before they are read.
#[derive(Debug)]
pub(super) struct LexicalCandidates {
    pub(super) matches: Matches,
    /// The retriever's name in the answer.
    pub(super) retriever: &'static str,
    pub(super) terms: Terms,
    /// The summed weight of the words that count towards passage coverage.
    pub(super) whole: f64,
    pub(super) caveats: Vec<Caveat>,
}

impl LexicalCandidates {
    /// Returns the best documents.
    pub(super) fn best_rows(&self, most: usize) -> Vec<Row> {
        let best = self.matches.best.iter().take(most);
        best.map(|found| found.row).collect()
    }

    /// Raises the scores of documents by their bonuses, and sorts them again.
    pub(super) fn raise(&mut self, inspected: &Inspected) {
        if inspected.is_empty() {
            return;
        }
        let best = &mut self.matches.best;
        let mut highest: f64 = 0.0;
        for found in best.iter_mut() {
            found.score *= 1.0 + BONUS_SHARE * inspected.bonus(found.row);
            highest = highest.max(found.score);
        }
        for found in best.iter_mut() {
            if inspected.is_asked_for(found.row) {
                found.score += highest;
            }
        }
        best.sort_by(|one, other| {
            let by_score = other.score.total_cmp(&one.score);
            by_score.then(one.row.cmp(&other.row))
        });
    }
}

/// The matches that a snippet looks for: index terms, or literal text.
#[derive(Clone, Debug)]
pub(super) enum Terms {
    Planned(Vec<PlannedTerm>),
    Literal(Vec<String>),
}

/// Retrieves documents lexically.
#[derive(Clone, Copy)]
pub(super) struct LexicalRetriever<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) lexicon: &'a Lexicon<'a>,
    pub(super) tuning: &'a Tuning,
}

impl LexicalRetriever<'_> {
    /// Retrieves by full text, or literally if that fails. Keeps the `keep` best
    /// scores.
    pub(super) fn retrieve_words(
        &self,
        request: &Request,
        query: &Query,
        filter: &Filter,
        limits: Limits,
        keep: usize,
    ) -> Result<LexicalCandidates> {
        match self.retrieve_planned(query, filter, keep) {
            // A damaged index is an error. If FTS5 fails otherwise, LIKE answers.
            Err(Error::Database { detail, .. }) => Ok(LexicalCandidates {
                caveats: vec![Caveat::FullTextFailed {
                    detail,
                    matched_literally: true,
                }],
                ..self.retrieve_instead(request, query, filter, limits)?
            }),
            other => other,
        }
    }

    /// Retrieves by full text: plans the terms, runs the pruned expression if there
    /// is one, and runs the full one if that finds too little.
    pub(super) fn retrieve_planned(
        &self,
        query: &Query,
        filter: &Filter,
        keep: usize,
    ) -> Result<LexicalCandidates> {
        let corpus = self.lexicon.corpus()?;
        let plan = terms::plan(self.lexicon, query, corpus, self.tuning)?;
        let bm25 = self.bm25_for(query, &plan);
        // At least as many as are inspected, so that the order of the best does not
        // depend on how many are wanted.
        let most = keep.max(INSPECTED);
        let TermPlan {
            expression,
            pruned,
            only_excluded,
            terms,
            whole,
        } = plan;
        // Pruning must not make an answer shorter than the limit, nor deprive
        // fusion of the lexical scores of semantic candidates: on conversations
        // that costs .003 to .006 nDCG@10.
        let instead = pruned.as_ref().and(expression.as_ref());
        let matches = match pruned.as_ref().or(expression.as_ref()) {
            Some(expression) => {
                let ranking = Ranking {
                    expression,
                    instead: instead.map(|instead| (keep, instead)),
                    corpus,
                    bm25,
                    limit: most,
                };
                self.store.ranked(&ranking, filter)?
            }
            None => self.store.newest(filter, only_excluded.as_ref(), keep)?,
        };
        Ok(LexicalCandidates {
            matches,
            retriever: "fts5",
            terms: Terms::Planned(terms),
            whole,
            caveats: Vec::new(),
        })
    }

    /// Returns the BM25 parameters for a plan: without term proximity if it has
    /// too few informative terms, and without links if words are required or excluded,
    /// because that is about the document itself.
    fn bm25_for(&self, query: &Query, plan: &TermPlan) -> Bm25 {
        let mut bm25 = self.tuning.bm25;
        if !query.required.is_empty() || !query.excluded.is_empty() {
            bm25.links_weight = 0.0;
        }
        let informative = plan.terms.iter().filter(|term| !term.common);
        if informative.count() < PROXIMITY_TERMS {
            bm25.proximity_weight = 0.0;
        }
        bm25
    }

    /// Lists the documents that pass the filter, newest first. Without a filter, a query
    /// that has signs but no words lists nothing, unless it is `*`.
    pub(super) fn list(
        &self,
        request: &Request,
        filter: &Filter,
        limits: Limits,
    ) -> Result<LexicalCandidates> {
        Ok(LexicalCandidates {
            matches: if lists(request) {
                self.store.newest(filter, None, limits.fetched)?
            } else {
                Matches::default()
            },
            retriever: "fts5",
            terms: Terms::Planned(Vec::new()),
            whole: 0.0,
            caveats: Vec::new(),
        })
    }

    /// Retrieves documents that contain the whole query literally, without the
    /// quotes around it.
    pub(super) fn retrieve_like(
        &self,
        request: &Request,
        filter: &Filter,
        limits: Limits,
    ) -> Result<LexicalCandidates> {
        let needles = literal(&request.query).into_iter().collect();
        self.retrieve_literal(needles, &[], filter, limits)
    }

    /// Retrieves documents that contain the whole query or any of its words
    /// literally, except those with the text that the query excludes.
    fn retrieve_instead(
        &self,
        request: &Request,
        query: &Query,
        filter: &Filter,
        limits: Limits,
    ) -> Result<LexicalCandidates> {
        let wanted = query.wanted_text(&request.query);
        let words = words(&wanted).take(MAX_NEEDLES);
        let words = words.map(|word| wanted[word.range].to_owned());
        let needles = literal(&wanted).into_iter().chain(words).collect();
        self.retrieve_literal(needles, &query.excluded(), filter, limits)
    }

    fn retrieve_literal(
        &self,
        needles: Vec<String>,
        excluded: &[Vec<String>],
        filter: &Filter,
        limits: Limits,
    ) -> Result<LexicalCandidates> {
        let store = self.store;
        Ok(LexicalCandidates {
            matches: store.containing(&needles, excluded, filter, limits.candidates)?,
            retriever: "like",
            terms: Terms::Literal(needles),
            whole: 0.0,
            caveats: Vec::new(),
        })
    }
}

/// Reports whether a request without words lists documents.
pub(super) fn lists(request: &Request) -> bool {
    let asked_for_all = matches!(request.query.trim(), "" | "*");
    asked_for_all || !request.filter.is_empty()
}

/// Returns the text to look for literally, without quotes and cut to length;
/// `None` if it is empty.
fn literal(text: &str) -> Option<String> {
    let text = text.trim();
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    let literal = quoted('"').or_else(|| quoted('\'')).unwrap_or(text);
    let end = literal.floor_char_boundary(MAX_NEEDLE_LENGTH);
    (end > 0).then(|| literal[..end].to_owned())
}
