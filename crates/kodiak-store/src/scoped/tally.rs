//! Counts over the documents in a scope.
//!
//! A tally has the documents themselves: their rows, ids and sources. How many of them have
//! a term is counted from its postings when a query first needs it, and kept while the
//! documents stay the same. Only answers that depend on all words of the scope need a
//! [`Vocabulary`].

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::vocabulary::Vocabulary;
use crate::vectors::Bitmap;
use crate::{Filter, Fingerprint, Reader, Row, Scope, tokens};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;
use kodiak_text::document::SHORTEST_ID;

/// The number of digits of an id.
const DIGITS: usize = 32;

/// The number of documents with the stem of a word that are read to find out whether one
/// has the word.
const MAX_READ: usize = 8;

/// The number of documents that are read to count several words.
const MAX_READ_FOR_ALL: u64 = 64;

/// The number of words of the index, or of its terms, that are each counted in the scope.
const MAX_WORDS_COUNTED: usize = 64;

/// The number of terms or words whose counts are kept. That is some megabytes, and more
/// than queries have between two changes.
const MAX_REMEMBERED: usize = 1 << 14;

/// The documents of a scope, with their counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Sorted by row.
    documents: Vec<Stamp>,
    /// The same documents, for queries.
    members: Arc<Bitmap>,
    /// Their ids, sorted.
    uids: Vec<u128>,
    /// The number of documents of each source.
    sources: BTreeMap<String, u64>,
    /// The summed lengths of the documents.
    length: OnceLock<u64>,
    terms: Remembered<Having>,
    /// Words, and whether a document has each.
    occurring: Remembered<bool>,
    /// Words, and how many documents have each.
    words: Remembered<u64>,
    vocabulary: Mutex<Kept>,
}

/// A short identifier of one content of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) row: Row,
    uid: u128,
    hash: [u8; 16],
}

/// The documents that have a term.
#[derive(Clone, Debug, Default)]
struct Having {
    documents: u64,
    /// The first of them.
    first: Arc<[Row]>,
}

/// The documents that have the stem of a word.
#[derive(Debug, Default)]
struct Stemmed {
    having: Having,
    /// The number of documents of the whole index that have only other words with this
    /// stem, if it is known. It spares a reading of documents and changes no answer.
    other_forms: Option<u64>,
}

impl Stemmed {
    /// Returns the number of documents to read so as to count the word.
    fn to_read(&self) -> u64 {
        match self.other_forms {
            Some(0) => 0,
            _ => self.having.documents,
        }
    }
}

/// A vocabulary, possibly of an earlier tally.
#[derive(Debug, Default)]
struct Kept {
    vocabulary: Arc<Vocabulary>,
    is_current: bool,
}

impl Tally {
    /// Counts these documents.
    pub(super) fn of(present: Vec<Fingerprint>) -> Self {
        let mut tally = Self::default();
        for one in present {
            let mut hash = [0; 16];
            hash.copy_from_slice(&one.hash[..16]);
            tally.documents.push(Stamp {
                row: one.row,
                uid: digits(&one.uid),
                hash,
            });
            match tally.sources.get_mut(&one.source) {
                Some(documents) => *documents += 1,
                None => {
                    tally.sources.insert(one.source, 1);
                }
            }
        }
        tally.documents.sort_unstable_by_key(|one| one.row);
        tally.uids = tally.documents.iter().map(|one| one.uid).collect();
        tally.uids.sort_unstable();
        tally.members = Arc::new(tally.documents.iter().map(|one| one.row).collect());
        tally
    }

    /// Reports whether both count the same documents.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.documents == other.documents && self.sources == other.sources
    }

    /// Takes over the vocabulary of an earlier tally, to be brought up to date if it is
    /// needed.
    pub(super) fn succeed(&self, earlier: &Self) {
        lock(&self.vocabulary).vocabulary = Arc::clone(&lock(&earlier.vocabulary).vocabulary);
    }

    /// Returns the size of the scope.
    pub(super) fn corpus(&self, scope: &Scope, reader: &dyn Reader) -> Result<Corpus> {
        let length = if let Some(&length) = self.length.get() {
            length
        } else {
            let length = reader.total_length(&Filter {
                scope: scope.clone(),
                ..Filter::default()
            })?;
            *self.length.get_or_init(|| length)
        };
        let documents = self.documents.len();
        Ok(Corpus {
            documents: documents as u64,
            average_length: length as f64 / documents.max(1) as f64,
        })
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
        self.members.contains(row)
    }

    /// Returns the number of documents with this index term.
    pub(super) fn with_term(&self, term: &str, reader: &dyn Reader) -> Result<u64> {
        match self.vocabulary_if_current() {
            Some(vocabulary) => Ok(vocabulary.terms.get(term)),
            None => Ok(self.having(term, reader)?.documents),
        }
    }

    fn having(&self, term: &str, reader: &dyn Reader) -> Result<Having> {
        self.terms.get_or(term, || {
            if reader.document_frequencies(&[term])? == [0] {
                return Ok(Having::default());
            }
            let rows = reader.rows_with_term(term, &self.members)?;
            Ok(Having {
                documents: rows.len() as u64,
                first: rows.into_iter().take(MAX_READ).collect(),
            })
        })
    }

    /// Returns the documents with the stem of a word, which all documents with the word
    /// are among.
    fn with_stem_of(&self, word: &str, reader: &dyn Reader) -> Result<Stemmed> {
        // Every word of the scope is a word of the index.
        let with_word = reader.word_frequency(word)?;
        if with_word == 0 {
            return Ok(Stemmed::default());
        }
        let mut term = word.to_owned();
        reader.stemming().stem(&mut term);
        let with_stem = reader.document_frequencies(&[&term])?[0];
        Ok(Stemmed {
            having: self.having(&term, reader)?,
            other_forms: with_stem.checked_sub(with_word),
        })
    }

    /// Reports whether a document has this word, unstemmed.
    pub(super) fn has_word(&self, word: &str, reader: &dyn Reader) -> Result<bool> {
        if let Some(vocabulary) = self.vocabulary_if_current() {
            return Ok(vocabulary.words.get(word) > 0);
        }
        self.occurring.get_or(word, || {
            let stemmed = self.with_stem_of(word, reader)?;
            let Having { documents, first } = &stemmed.having;
            if *documents == 0 {
                return Ok(false);
            }
            // Not all of them can be without the word.
            if stemmed
                .other_forms
                .is_some_and(|others| *documents > others)
            {
                return Ok(true);
            }
            for &row in first.iter() {
                if count(word, &[row], reader)? > 0 {
                    return Ok(true);
                }
            }
            if *documents as usize <= first.len() {
                return Ok(false);
            }
            Ok(self.vocabulary(reader)?.words.get(word) > 0)
        })
    }

    /// Returns the number of documents with this word, unstemmed.
    pub(super) fn with_word(&self, word: &str, reader: &dyn Reader) -> Result<u64> {
        if let Some(vocabulary) = self.vocabulary_if_current() {
            return Ok(vocabulary.words.get(word));
        }
        self.words.get_or(word, || {
            let stemmed = self.with_stem_of(word, reader)?;
            self.count_word(word, &stemmed, reader)
        })
    }

    fn count_word(&self, word: &str, stemmed: &Stemmed, reader: &dyn Reader) -> Result<u64> {
        let Having { documents, first } = &stemmed.having;
        if stemmed.to_read() == 0 {
            Ok(*documents)
        } else if *documents as usize <= first.len() {
            count(word, first, reader)
        } else {
            Ok(self.vocabulary(reader)?.words.get(word))
        }
    }

    /// Returns the number of documents with each of these words, unstemmed.
    pub(super) fn with_words(&self, words: &[&str], reader: &dyn Reader) -> Result<Vec<u64>> {
        if self.vocabulary_if_current().is_none() {
            let mut uncounted = Vec::new();
            for &word in words {
                if self.words.get(word).is_none() {
                    uncounted.push((word, self.with_stem_of(word, reader)?));
                }
            }
            let read: u64 = uncounted.iter().map(|(_, it)| it.to_read()).sum();
            if read > MAX_READ_FOR_ALL {
                self.vocabulary(reader)?;
            } else {
                for (word, stemmed) in uncounted {
                    let counted = || self.count_word(word, &stemmed, reader);
                    self.words.get_or(word, counted)?;
                }
            }
        }
        let words = words.iter();
        words.map(|word| self.with_word(word, reader)).collect()
    }

    /// Returns the words that begin with `prefix`, the most common first.
    pub(super) fn words_beginning(
        &self,
        prefix: &str,
        limit: usize,
        reader: &dyn Reader,
    ) -> Result<Vec<(String, u64)>> {
        if self.vocabulary_if_current().is_none() {
            // Every word of the scope is a word of the index.
            let all = reader.words_beginning(prefix, MAX_WORDS_COUNTED + 1)?;
            if all.len() <= MAX_WORDS_COUNTED {
                let words: Vec<&str> = all.iter().map(|(word, _)| word.as_str()).collect();
                let counts = self.with_words(&words, reader)?;
                return Ok(most_common(words, counts, u64::MAX, limit));
            }
        }
        let vocabulary = self.vocabulary(reader)?;
        Ok(vocabulary.words.beginning(prefix, u64::MAX, limit))
    }

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first.
    pub(super) fn terms_beginning(
        &self,
        prefix: &str,
        most: u64,
        limit: usize,
        reader: &dyn Reader,
    ) -> Result<Vec<(String, u64)>> {
        if self.vocabulary_if_current().is_none() {
            let all = reader.terms_beginning(prefix, u64::MAX, MAX_WORDS_COUNTED + 1)?;
            if all.len() <= MAX_WORDS_COUNTED {
                let terms: Vec<&str> = all.iter().map(|(term, _)| term.as_str()).collect();
                let counts = terms.iter().map(|term| self.with_term(term, reader));
                let counts = counts.collect::<Result<_>>()?;
                return Ok(most_common(terms, counts, most, limit));
            }
        }
        let vocabulary = self.vocabulary(reader)?;
        Ok(vocabulary.terms.beginning(prefix, most, limit))
    }

    /// Returns the terms and words of the documents. Callers that need them at the same
    /// time wait for the first.
    pub(super) fn vocabulary(&self, reader: &dyn Reader) -> Result<Arc<Vocabulary>> {
        let mut kept = lock(&self.vocabulary);
        if !kept.is_current {
            // If this fails halfway, the next caller starts over. A vocabulary that is
            // not in use is changed in place.
            let mut vocabulary = std::mem::take(&mut kept.vocabulary);
            Arc::make_mut(&mut vocabulary).update(&self.documents, reader)?;
            kept.vocabulary = vocabulary;
            kept.is_current = true;
        }
        Ok(Arc::clone(&kept.vocabulary))
    }

    /// Returns the vocabulary if it is known, without waiting for it.
    pub(super) fn vocabulary_if_current(&self) -> Option<Arc<Vocabulary>> {
        let kept = self.vocabulary.try_lock().ok()?;
        kept.is_current.then(|| Arc::clone(&kept.vocabulary))
    }

    /// Returns the shortest beginning of an id that no other document of the scope
    /// shares.
    pub(super) fn short_id(&self, uid: &str) -> String {
        let own = digits(uid);
        let before = self.uids.partition_point(|&other| other < own);
        let after = self.uids.partition_point(|&other| other <= own);
        let last = self.uids[..before].last();
        let next = self.uids.get(after);
        let shared = |other: &u128| (own ^ other).leading_zeros() as usize / 4;
        let most = next.into_iter().chain(last).map(shared).max().unwrap_or(0);
        uid.chars().take(SHORTEST_ID.max(most + 1)).collect()
    }
}

/// Returns the names that at least one document has and at most `most` have, the most
/// common first. Equally common names are in alphabetical order.
fn most_common(names: Vec<&str>, counts: Vec<u64>, most: u64, limit: usize) -> Vec<(String, u64)> {
    let counted = names.into_iter().zip(counts);
    let mut found: Vec<_> = counted
        .filter(|(_, documents)| (1..=most).contains(documents))
        .collect();
    found.sort_unstable_by_key(|&(name, documents)| (Reverse(documents), name));
    let found = found.into_iter().take(limit);
    found
        .map(|(name, documents)| (name.to_owned(), documents))
        .collect()
}

/// Returns the number of these documents that have a word.
fn count(word: &str, rows: &[Row], reader: &dyn Reader) -> Result<u64> {
    let mut documents = 0;
    for document in reader.documents(rows)? {
        documents += u64::from(tokens::has_word(reader, &document, word)?);
    }
    Ok(documents)
}

/// Returns an id as a number. Ids that begin alike are numbers that do.
fn digits(uid: &str) -> u128 {
    let digits = uid.chars().map(|digit| digit.to_digit(16).unwrap_or(0));
    let padded = digits.chain(std::iter::repeat(0)).take(DIGITS);
    padded.fold(0, |number, digit| number << 4 | u128::from(digit))
}

/// Known facts about terms or words.
#[derive(Debug)]
struct Remembered<T>(Mutex<FxHashMap<Box<str>, T>>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Remembered<T> {
    fn get(&self, name: &str) -> Option<T> {
        lock(&self.0).get(name).cloned()
    }

    /// Returns the fact about a name, after finding it out if it is unknown.
    fn get_or(&self, name: &str, find_out: impl FnOnce() -> Result<T>) -> Result<T> {
        if let Some(known) = self.get(name) {
            return Ok(known);
        }
        let found = find_out()?;
        let mut known = lock(&self.0);
        if known.len() >= MAX_REMEMBERED {
            known.clear();
        }
        known.insert(Box::from(name), found.clone());
        Ok(found)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
