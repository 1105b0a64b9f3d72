//! The terms and words of the documents in a scope, each with the number of documents
//! that have it.
//!
//! To count them takes a reading of every document, so that a vocabulary is made only if
//! a query needs one. It is brought up to date document by document: those that are gone
//! are subtracted and new ones are added.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Bound;

use rustc_hash::FxHashMap;

use super::tally::Stamp;
use crate::{Reader, Row, tokens};
use kodiak_base::error::Result;
use kodiak_text::terms::DocumentTerms;

/// The terms and words of the documents in a scope.
#[derive(Clone, Debug, Default)]
pub(super) struct Vocabulary {
    documents: FxHashMap<Row, Counted>,
    pub(super) terms: Counts,
    pub(super) words: Counts,
}

/// The counts of one document.
#[derive(Clone, Debug)]
struct Counted {
    stamp: Stamp,
    terms: Box<[u32]>,
    words: Box<[u32]>,
}

impl Vocabulary {
    /// Subtracts and adds documents, so that exactly these are counted. They are sorted
    /// by row.
    pub(super) fn update(&mut self, present: &[Stamp], reader: &dyn Reader) -> Result<()> {
        let is_present = |stamp: &Stamp| {
            let found = present.binary_search_by_key(&stamp.row, |one| one.row);
            found.is_ok_and(|at| present[at] == *stamp)
        };
        let counted = self.documents.values().map(|counted| counted.stamp);
        let gone: Vec<Row> = counted
            .filter(|stamp| !is_present(stamp))
            .map(|stamp| stamp.row)
            .collect();
        if gone.len() > self.documents.len() / 2 {
            // Most names would stay without a document.
            *self = Self::default();
        }
        for row in gone {
            self.subtract(row);
        }
        let known = &self.documents;
        let added: Vec<Stamp> = present
            .iter()
            .filter(|stamp| !known.contains_key(&stamp.row))
            .copied()
            .collect();
        let rows: Vec<Row> = added.iter().map(|stamp| stamp.row).collect();
        let mut stamps = added.iter();
        tokens::each_document(reader, &rows, |document, found| {
            // Documents come in the order of their rows.
            if let Some(stamp) = stamps.find(|stamp| stamp.row == document.row) {
                self.add(*stamp, found);
            }
        })
    }

    fn add(&mut self, stamp: Stamp, found: &DocumentTerms) {
        let counted = Counted {
            stamp,
            terms: found.terms.iter().map(|one| self.terms.add(one)).collect(),
            words: found.words.iter().map(|one| self.words.add(one)).collect(),
        };
        self.documents.insert(stamp.row, counted);
    }

    fn subtract(&mut self, row: Row) {
        if let Some(counted) = self.documents.remove(&row) {
            self.terms.subtract(&counted.terms);
            self.words.subtract(&counted.words);
        }
    }
}

/// Names with the number of documents that have each.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    /// The index of each name in `documents`.
    numbers: BTreeMap<Box<str>, u32>,
    documents: Vec<u32>,
}

impl Counts {
    /// Counts a document with this name. Returns the number of the name.
    fn add(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            self.documents[number as usize] += 1;
            return number;
        }
        let number = self.documents.len() as u32;
        self.numbers.insert(Box::from(name), number);
        self.documents.push(1);
        number
    }

    fn subtract(&mut self, numbers: &[u32]) {
        for &number in numbers {
            self.documents[number as usize] -= 1;
        }
    }

    /// Returns the number of documents with this name.
    pub(super) fn get(&self, name: &str) -> u64 {
        let number = self.numbers.get(name);
        number.map_or(0, |&number| self.documents[number as usize].into())
    }

    /// Returns the number of names that documents have.
    pub(super) fn len(&self) -> u64 {
        let counts = self.documents.iter();
        counts.filter(|&&documents| documents > 0).count() as u64
    }

    /// Returns the names that begin with `prefix` and that at most `most` documents
    /// have, the most common first.
    pub(super) fn beginning(&self, prefix: &str, most: u64, limit: usize) -> Vec<(String, u64)> {
        let from = (Bound::Included(prefix), Bound::Unbounded);
        let named = self.numbers.range::<str, _>(from);
        let named = named.take_while(|(name, _)| name.starts_with(prefix));
        let counted =
            named.map(|(name, &number)| (name, u64::from(self.documents[number as usize])));
        let mut found: Vec<_> = counted
            .filter(|(_, documents)| (1..=most).contains(documents))
            .collect();
        // Equally common names stay in alphabetical order.
        found.sort_by_key(|(_, documents)| Reverse(*documents));
        let found = found.into_iter().take(limit);
        found
            .map(|(name, documents)| (name.to_string(), documents))
            .collect()
    }
}
