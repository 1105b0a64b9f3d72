//! Documents similar to a document: semantically if it has vectors, else
//! lexically, by the words with the highest tf-idf.

use std::collections::HashMap;
use std::time::Instant;

use super::candidate::Ranked;
use super::caveat::Caveat;
use super::compare::{Comparison, NearestChunk};
use super::desk::Desk;
use super::lexical::LexicalCandidates;
use super::lexicon::Lexicon;
use super::limits::Limits;
use super::lookup::Excerpt;
use super::query::{Clause, Form, Query};
use super::{Answer, Intent, Notices, Outcome, Request, Retrievers, Router};
use crate::access::Capability;
use crate::cancel::Stop;
use crate::document::Reference;
use crate::error::{Error, Result};
use crate::rank::idf;
use crate::rank::rules::{SIMILAR_CHUNKS, SIMILAR_LETTERS, SIMILAR_TITLE_WEIGHT, SIMILAR_WORDS};
use crate::store::{Filter, Questions, Snapshot, StoredDocument};
use crate::text::{is_stop_word, words};
use crate::vector::centroid;

impl Router<'_> {
    /// Returns the documents most similar to the one that `reference` names,
    /// without that document itself. `request` gives the limit and the filter; its
    /// query is ignored.
    pub fn similar(&self, reference: &Reference, request: &Request) -> Result<Answer> {
        self.guard.require(Capability::Search)?;
        self.guard.require(Capability::Read)?;
        let filter = self.guard.narrow(&request.filter);
        let _snapshot = Snapshot::begin(self.store())?;
        let started = Instant::now();
        let mut notices = Vec::new();
        let document = self.lookup().document(reference)?;
        if let Some(lines) = reference.lines {
            let line_count = Excerpt::of(&document, None).line_count;
            let beyond = lines.beyond(line_count);
            notices.extend(beyond.map(|line| Caveat::LinesBeyondEnd { line, line_count }));
        }
        // The document itself is among the candidates.
        let mut limits = Limits::of(request.limit.saturating_add(1), &self.tuning);
        let desk = Desk::new(self.store(), &filter);
        let presenter = self.presenter(&desk, request);
        let mut outcome = self.rank_similar(&document, &filter, limits)?;
        let mut shown = presenter.present(&outcome.ranked, None)?;
        // Copies may have taken the place of hits.
        if shown.lacks_hits() && outcome.ranked.candidates.len() + 1 >= limits.fetched {
            limits = limits.with_copies();
            outcome = self.rank_similar(&document, &filter, limits)?;
            shown = presenter.present(&outcome.ranked, None)?;
        }
        notices.append(&mut outcome.caveats);
        notices.append(&mut shown.caveats);
        notices.extend(Caveat::of_copy(self.store(), &self.guard));
        Ok(Answer {
            intent: Intent::of(&document.title),
            query: document.title,
            filters: Vec::new(),
            corrected: None,
            completed: None,
            retrievers: outcome.retrievers,
            embedded: outcome.embedded,
            completeness: super::unrefreshed(&notices),
            notices: Notices(notices),
            total: outcome.ranked.total - shown.gone,
            answered: None,
            relevant: None,
            contained: None,
            took_ms: started.elapsed().as_millis() as u64,
            hits: shown.hits,
            suggestions: Vec::new(),
        })
    }

    fn rank_similar(
        &self,
        document: &StoredDocument,
        filter: &Filter,
        limits: Limits,
    ) -> Result<Outcome> {
        let reason = match self.similar_semantic(document, filter, limits) {
            Ok(Some(outcome)) => return Ok(outcome),
            Ok(None) => {
                let is_on = self.embedder.is_some() || self.absence.is_some();
                is_on.then(|| "it is not embedded yet".to_owned())
            }
            Err(error @ Error::Corrupt { .. }) => return Err(error),
            Err(error) => Some(format!("the embeddings could not be compared ({error})")),
        };
        let instead = Caveat::ComparedByWords { reason };
        match self.similar_lexical(document, filter, limits) {
            Err(Error::Database { detail, .. }) => Ok(Outcome {
                ranked: Ranked::semantic(Vec::new(), 0.0),
                retrievers: Retrievers::default(),
                embedded: 0.0,
                caveats: vec![
                    instead,
                    Caveat::FullTextFailed {
                        detail,
                        matched_literally: false,
                    },
                ],
            }),
            other => Ok(Outcome {
                caveats: vec![instead],
                ..Outcome::lexical(other?)
            }),
        }
    }

    /// Ranks documents by their similarity to the centroid of the document's
    /// chunks. Returns `None` if the document has no vectors.
    fn similar_semantic(
        &self,
        document: &StoredDocument,
        filter: &Filter,
        limits: Limits,
    ) -> Result<Option<Outcome>> {
        let mut vectors = self.store().vectors_of(document.row)?;
        vectors.truncate(SIMILAR_CHUNKS);
        let Some(centroid) = centroid(&vectors) else {
            return Ok(None);
        };
        let Some(index) = self.store().vectors()? else {
            return Ok(None);
        };
        let rows = if filter.is_empty() {
            None
        } else {
            Some(self.store().rows(filter, None, None)?)
        };
        let model = index.serving().name.clone();
        let weight = self.tuning.centroid_weight;
        let comparison = Comparison::new(self.store(), index, vec![centroid], weight);
        let near = comparison.nearest(
            self.store(),
            None,
            rows.as_ref(),
            limits.fetched,
            &Stop::default(),
        )?;
        // A vector that points the other way is not similar at all.
        let alike = |chunk: &NearestChunk| chunk.row != document.row && chunk.similarity > 0.0;
        let others = near.unwrap_or_default().into_iter().filter(alike);
        Ok(Some(Outcome {
            ranked: Ranked::semantic(others.collect(), weight),
            retrievers: Retrievers {
                lexical: None,
                semantic: Some(model),
                reranker: None,
            },
            embedded: self.store().coverage(filter)?.share(),
            caveats: Vec::new(),
        }))
    }

    /// Ranks documents by BM25 for the most informative words of the document.
    fn similar_lexical(
        &self,
        document: &StoredDocument,
        filter: &Filter,
        limits: Limits,
    ) -> Result<LexicalCandidates> {
        let lexicon = Lexicon::new(self.store(), filter.clone(), false);
        let query = Query {
            optional: self.informative_words(document)?,
            ..Query::default()
        };
        let lexical = self.lexical(&lexicon);
        let mut found = lexical.retrieve_planned(&query, filter, limits.fetched)?;
        let matches = &mut found.matches;
        let before = matches.best.len();
        matches.best.retain(|found| found.row != document.row);
        matches.total -= before - matches.best.len();
        Ok(found)
    }

    /// Returns the document's words with the highest tf-idf: frequent here and
    /// rare elsewhere.
    fn informative_words(&self, document: &StoredDocument) -> Result<Vec<Clause>> {
        let corpus = self.store().corpus()?;
        let mut counts: HashMap<String, f64> = HashMap::new();
        for (text, weight) in [
            (&document.title, SIMILAR_TITLE_WEIGHT),
            (&document.body, 1.0),
        ] {
            for word in words(text) {
                let word = text[word.range].to_lowercase();
                if word.chars().count() >= SIMILAR_LETTERS && !is_stop_word(&word) {
                    *counts.entry(word).or_default() += weight;
                }
            }
        }
        let mut weighed = Vec::with_capacity(counts.len());
        let questions = Questions {
            frequencies: counts.keys().cloned().collect(),
            ..Questions::default()
        };
        let frequencies = self.store().ask(&questions)?.frequencies;
        for ((word, count), documents) in counts.into_iter().zip(frequencies) {
            // A word in this document alone leads to no other.
            if documents > 1 {
                let weight = idf(documents, corpus) * count.ln_1p();
                weighed.push((weight, word));
            }
        }
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let words = weighed.into_iter().take(SIMILAR_WORDS);
        let clause = |(_, text)| Clause {
            column: None,
            text,
            form: Form::Word,
            corrected: false,
            open: false,
            among: None,
        };
        Ok(words.map(clause).collect())
    }
}
