//! What is counted of the documents in a scope.
//!
//! A tally is brought up to date document by document: those that are gone are
//! subtracted and new ones are added, so that a change to one document costs one
//! document and not all of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::analysis::terms::{COLUMNS, DocumentTerms, TermIndexer};
use crate::document::{ALIASES, SHORTEST_ID};
use crate::error::Result;
use crate::rank::Corpus;
use crate::store::vectors::Bitmap;
use crate::store::{Fingerprint, Reader, Row, StoredDocument};

/// The number of documents that are held in memory at once while they are counted.
const AT_ONCE: usize = 64;

/// The documents of a scope, with their terms, words, lengths and ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    documents: FxHashMap<Row, Counted>,
    /// The same documents, for queries.
    members: Arc<Bitmap>,
    uids: BTreeSet<String>,
    /// The number of documents of each source.
    sources: BTreeMap<String, u64>,
    /// The summed lengths of the documents.
    length: u64,
    terms: Counts,
    words: Counts,
}

/// What was counted of one document.
#[derive(Clone, Debug)]
struct Counted {
    uid: String,
    hash: [u8; 32],
    source: String,
    length: u64,
    terms: Box<[u32]>,
    words: Box<[u32]>,
}

/// Names with the number of documents that have each.
#[derive(Clone, Debug, Default)]
struct Counts {
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

    fn get(&self, name: &str) -> u64 {
        let number = self.numbers.get(name);
        number.map_or(0, |&number| self.documents[number as usize].into())
    }

    /// Returns the names that begin with `prefix` and that at most `most` documents
    /// have, the most common first.
    fn beginning(&self, prefix: &str, most: u64, limit: usize) -> Vec<(String, u64)> {
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

impl Tally {
    /// Returns the size of the scope.
    pub(super) fn corpus(&self) -> Corpus {
        let documents = self.documents.len();
        Corpus {
            documents: documents as u64,
            average_length: self.length as f64 / documents.max(1) as f64,
        }
    }

    /// Returns the number of documents of a source.
    pub(super) fn of_source(&self, source: &str) -> u64 {
        self.sources.get(source).copied().unwrap_or_default()
    }

    /// Returns the documents of the scope.
    pub(super) fn members(&self) -> Arc<Bitmap> {
        Arc::clone(&self.members)
    }

    /// Reports whether a document is in the scope.
    pub(super) fn contains(&self, row: Row) -> bool {
        self.documents.contains_key(&row)
    }

    /// Returns the number of documents with this index term.
    pub(super) fn with_term(&self, term: &str) -> u64 {
        self.terms.get(term)
    }

    /// Returns the number of documents with this word, unstemmed.
    pub(super) fn with_word(&self, word: &str) -> u64 {
        self.words.get(word)
    }

    /// Returns the words that begin with `prefix`, the most common first.
    pub(super) fn words_beginning(&self, prefix: &str, limit: usize) -> Vec<(String, u64)> {
        self.words.beginning(prefix, u64::MAX, limit)
    }

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first.
    pub(super) fn terms_beginning(
        &self,
        prefix: &str,
        most: u64,
        limit: usize,
    ) -> Vec<(String, u64)> {
        self.terms.beginning(prefix, most, limit)
    }

    /// Returns the number of distinct words.
    pub(super) fn vocabulary_size(&self) -> u64 {
        let counts = self.words.documents.iter();
        counts.filter(|&&documents| documents > 0).count() as u64
    }

    /// Returns the shortest beginning of an id that no other document of the scope
    /// shares.
    pub(super) fn short_id(&self, uid: &str) -> String {
        let after = (Bound::Excluded(uid), Bound::Unbounded);
        let before = (Bound::Unbounded, Bound::Excluded(uid));
        let next = self.uids.range::<str, _>(after).next();
        let last = self.uids.range::<str, _>(before).next_back();
        let shared = |other: &String| {
            let pairs = uid.bytes().zip(other.bytes());
            pairs.take_while(|(ours, theirs)| ours == theirs).count()
        };
        let most = next.into_iter().chain(last).map(shared).max().unwrap_or(0);
        uid.chars().take(SHORTEST_ID.max(most + 1)).collect()
    }

    /// Returns which documents must be subtracted and which must be added, so that
    /// exactly these are counted.
    pub(super) fn difference(&self, present: &[Fingerprint]) -> Difference {
        let is_counted = |one: &Fingerprint| {
            let counted = self.documents.get(&one.row);
            counted.is_some_and(|counted| counted.uid == one.uid && counted.hash == one.hash)
        };
        let (kept, added): (Vec<_>, Vec<_>) = present.iter().partition(|one| is_counted(one));
        let kept: HashSet<Row> = kept.into_iter().map(|one| one.row).collect();
        let counted = self.documents.keys().copied();
        Difference {
            gone: counted.filter(|row| !kept.contains(row)).collect(),
            added: added.into_iter().map(|one| one.row).collect(),
            kept: kept.len(),
            all: present.iter().map(|one| one.row).collect(),
        }
    }

    /// Subtracts and adds documents.
    pub(super) fn apply(&mut self, difference: &Difference, reader: &dyn Reader) -> Result<()> {
        if difference.gone.len() > difference.kept {
            // Most names would stay without a document.
            *self = Self::default();
            self.add_all(&difference.all, reader)?;
        } else {
            for row in &difference.gone {
                self.subtract(*row);
            }
            self.add_all(&difference.added, reader)?;
        }
        self.members = Arc::new(self.documents.keys().copied().collect());
        Ok(())
    }

    fn add_all(&mut self, rows: &[Row], reader: &dyn Reader) -> Result<()> {
        let mut indexer = TermIndexer::new(reader.stemming());
        for rows in rows.chunks(AT_ONCE) {
            for document in reader.documents(rows)? {
                let titles = titles_of(&document, reader)?;
                self.add(&document, &titles, &mut indexer);
            }
        }
        Ok(())
    }

    fn add(&mut self, document: &StoredDocument, titles: &str, indexer: &mut TermIndexer) {
        let tags = document.tags.join(" ");
        let found = indexer.index([titles, &document.body, &tags]);
        let length = length_of(&found);
        let terms = found.terms.iter().map(|term| self.terms.add(term));
        let terms = terms.collect();
        let words = found.words.iter().map(|word| self.words.add(word));
        let words = words.collect();
        self.length += length;
        self.uids.insert(document.uid.clone());
        *self.sources.entry(document.source.clone()).or_default() += 1;
        let counted = Counted {
            uid: document.uid.clone(),
            hash: document.hash,
            source: document.source.clone(),
            length,
            terms,
            words,
        };
        self.documents.insert(document.row, counted);
    }

    /// Counts an empty document with this id.
    #[cfg(test)]
    pub(super) fn count_as(&mut self, row: Row, uid: &str) {
        let counted = Counted {
            uid: uid.to_owned(),
            hash: [0; 32],
            source: String::new(),
            length: 0,
            terms: Box::default(),
            words: Box::default(),
        };
        self.uids.insert(uid.to_owned());
        self.documents.insert(row, counted);
    }

    fn subtract(&mut self, row: Row) {
        if let Some(counted) = self.documents.remove(&row) {
            self.uids.remove(&counted.uid);
            if let Some(documents) = self.sources.get_mut(&counted.source) {
                *documents -= 1;
            }
            self.length -= counted.length;
            self.terms.subtract(&counted.terms);
            self.words.subtract(&counted.words);
        }
    }
}

/// The documents by which a tally differs from a scope.
#[derive(Debug)]
pub(super) struct Difference {
    gone: Vec<Row>,
    added: Vec<Row>,
    kept: usize,
    /// All documents of the scope.
    all: Vec<Row>,
}

impl Difference {
    /// Reports whether the tally counts exactly the scope.
    pub(super) fn is_empty(&self) -> bool {
        self.gone.is_empty() && self.added.is_empty()
    }
}

/// Returns the title of a document and its aliases, as they are indexed.
fn titles_of(document: &StoredDocument, reader: &dyn Reader) -> Result<String> {
    let mut titles = document.title.clone();
    for (name, value) in reader.fields(document.row)? {
        if ALIASES.contains(&name.to_ascii_lowercase().as_str()) {
            titles.extend([" ", &value]);
        }
    }
    Ok(titles)
}

/// Returns the number of positions in a document, as the full text counts them: an
/// edge gram has the position of its neighbour.
fn length_of(found: &DocumentTerms) -> u64 {
    let mut length = 0;
    for column in 0..COLUMNS {
        let mut tokens = 0;
        for (_, edge_gram) in found.column(column) {
            tokens += u64::from(!edge_gram || tokens == 0);
        }
        length += tokens;
    }
    length
}
