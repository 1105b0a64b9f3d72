//! Documents that are like a document: by meaning where it has vectors, else
//! by the words that tell it from others.

use std::collections::HashMap;
use std::time::Instant;

use super::lexical;
use super::query::{Clause, Form, Query};
use super::route::{Ranked, by_meaning};
use super::{Answer, Request, Router};
use crate::access::Capability;
use crate::document::Reference;
use crate::embed::{Embedder, centre};
use crate::error::{Error, Result};
use crate::store::{Filter, Passage, Row, Store, StoredDocument};
use crate::text::{is_common, words};

/// How many of a document's passages are compared: one on everything is like
/// nothing in particular.
const MOST_PASSAGES: usize = 32;
/// How many words stand for a document that has no vectors.
const MOST_WORDS: usize = 24;

impl<S: Store, E: Embedder + ?Sized + 'static> Router<'_, S, E> {
    /// The documents most like the one that `reference` names, itself left
    /// out. `request` says how many and which; its query is not looked at.
    pub fn similar(&self, reference: &Reference, request: &Request) -> Result<Answer> {
        self.guard.require(Capability::Search)?;
        self.guard.require(Capability::Read)?;
        let filter = self.guard.narrow(&request.filter);
        self.store.in_snapshot(|| {
            let started = Instant::now();
            let document = self.find_document(reference)?;
            let mut answer = Answer::to(&document.title);
            let ranked = self.rank_similar(&document, request, &filter, &mut answer)?;
            answer.total = ranked.total;
            self.present(request, &filter, &ranked, &mut answer)?;
            answer.took_ms = started.elapsed().as_millis() as u64;
            Ok(answer)
        })
    }

    fn rank_similar(
        &self,
        document: &StoredDocument,
        request: &Request,
        filter: &Filter,
        answer: &mut Answer,
    ) -> Result<Ranked> {
        let limit = request.limit.saturating_add(request.limit.min(20) + 1);
        let reason = match self.similar_by_meaning(document, filter, limit, answer) {
            Ok(Some(ranked)) => return Ok(ranked),
            Ok(None) => "this document has no vectors yet".to_owned(),
            Err(error @ Error::Corrupt { .. }) => return Err(error),
            Err(error) => format!("vectors could not be compared ({error})"),
        };
        answer
            .notices
            .push(format!("{reason}: compared by its words instead"));
        match self.similar_by_word(document, filter, limit, answer) {
            Err(Error::Database { source, .. }) => {
                answer
                    .notices
                    .push(format!("full-text search could not run ({source})"));
                Ok(by_meaning(Vec::new()))
            }
            other => other,
        }
    }

    /// `None` where the document has no vectors.
    fn similar_by_meaning(
        &self,
        document: &StoredDocument,
        filter: &Filter,
        limit: usize,
        answer: &mut Answer,
    ) -> Result<Option<Ranked>> {
        let mut vectors = self.store.vectors_of(document.row)?;
        vectors.truncate(MOST_PASSAGES);
        let Some(centre) = centre(&vectors) else {
            return Ok(None);
        };
        let Some(stored) = self.store.vectors()? else {
            return Ok(None);
        };
        let rows = if filter.is_empty() {
            None
        } else {
            Some(self.store.rows(filter, None, None)?)
        };
        let comparison = self.store.compare(&stored, &[centre])?;
        let near = self
            .store
            .nearest(&comparison, None, rows.as_ref(), limit, None)?;
        answer.embedded = self.store.coverage(filter)?.share();
        answer.retrievers.semantic = Some(stored.serving().name.clone());
        // What points the other way has nothing to do with it.
        let alike = |passage: &Passage| passage.row != document.row && passage.similarity > 0.0;
        let others = near.unwrap_or_default().into_iter().filter(alike);
        Ok(Some(by_meaning(others.collect())))
    }

    fn similar_by_word(
        &self,
        document: &StoredDocument,
        filter: &Filter,
        limit: usize,
        answer: &mut Answer,
    ) -> Result<Ranked> {
        let query = Query {
            optional: self.telling_words(document)?,
            ..Query::default()
        };
        let mut retrieved = self.retrieve_planned(&query, filter, limit)?;
        let before = retrieved.matches.best.len();
        retrieved
            .matches
            .best
            .retain(|&(row, _): &(Row, f64)| row != document.row);
        retrieved.matches.total -= before - retrieved.matches.best.len();
        Ok(super::route::by_word(retrieved, answer))
    }

    /// The words that are frequent here and rare elsewhere.
    fn telling_words(&self, document: &StoredDocument) -> Result<Vec<Clause>> {
        let corpus = self.store.corpus()?;
        let mut counts: HashMap<String, f64> = HashMap::new();
        for (text, weight) in [(&document.title, 3.0), (&document.body, 1.0)] {
            for word in words(text) {
                let word = text[word.range].to_lowercase();
                if word.chars().count() > 2 && !is_common(&word) {
                    *counts.entry(word).or_default() += weight;
                }
            }
        }
        let mut weighed = Vec::with_capacity(counts.len());
        for (word, count) in counts {
            let documents = self.store.word_frequency(&word)?;
            // A word that only this document has leads to no other.
            if documents > 1 {
                let weight = lexical::rarity(documents, corpus) * count.ln_1p();
                weighed.push((weight, word));
            }
        }
        weighed.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let words = weighed.into_iter().take(MOST_WORDS);
        let clause = |(_, text)| Clause {
            column: None,
            text,
            form: Form::Word,
        };
        Ok(words.map(clause).collect())
    }
}
