//! The words and terms of the documents, counted again for each question.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::State;

impl State {
    /// Returns how many documents have each word.
    pub(super) fn words(&self) -> BTreeMap<String, u64> {
        let mut words = BTreeMap::new();
        for word in self.documents.values().flat_map(|one| &one.words) {
            *words.entry(word.clone()).or_default() += 1;
        }
        words
    }

    /// Returns the terms that begin with `prefix` and that at most `most` documents
    /// have, the most common first.
    pub(super) fn terms_beginning(
        &self,
        prefix: &str,
        most: u64,
        limit: usize,
    ) -> Vec<(String, u64)> {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for indexed in self.documents.values() {
            let terms = indexed.terms.iter().flatten().flatten();
            let own: BTreeSet<&str> = terms.map(|term| &**term).collect();
            for term in own.into_iter().filter(|term| term.starts_with(prefix)) {
                *counts.entry(term).or_default() += 1;
            }
        }
        counts.retain(|_, documents| *documents <= most);
        let mut terms: Vec<_> = counts
            .into_iter()
            .map(|(term, documents)| (term.to_owned(), documents))
            .collect();
        terms.sort_by_key(|(_, documents)| Reverse(*documents));
        terms.truncate(limit);
        terms
    }
}
