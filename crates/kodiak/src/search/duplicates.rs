//! Near-duplicates: documents that say the same as a hit ranked above them.
//!
//! Owns the definition of a copy. A hit is compared with the hits above it by its text
//! without markup, case, accents and the heading that is its title. `present` collapses
//! copies into the hit, which lists them, so that no document is lost.
//!
//! Two texts are copies if they have the same words in the same order, or nearly the same
//! informative terms. Texts that share a form and differ in content are not: notes from one
//! template with different entries, short texts with a word replaced, and texts that differ
//! in the subject that their titles name.

use std::hash::BuildHasher;
use std::ops::ControlFlow;

use rustc_hash::FxBuildHasher;

use super::Duplicate;
use crate::same::{Comparison, Decisive};
use crate::store::StoredDocument;
use crate::text::{Class, Purpose, Stemming, Tokenizer, fold_into, is_stop_word, words};

/// The lowest ratio between the lengths of two copies, in bytes. It rules most
/// pairs out before anything is read.
const LENGTH_RATIO: f64 = 0.7;
/// The number of words from which equal texts are copies whatever their titles. An
/// equal text of two words is a coincidence, such as two empty to-do lists.
const EQUAL_WORDS: usize = 4;
/// The number of informative terms from which nearly equal texts are copies.
const NEAR_TERMS: usize = 6;
/// How many times as many words the turns of conversations need: people say the
/// same more than once, and mean something else.
const TURN_FACTOR: usize = 3;
/// The highest share of terms that only one of two copies has.
const CHANGED: f64 = 0.1;
/// The same for texts with fewer terms than `SHORT_TERMS`, in which a single word
/// is a larger share.
const CHANGED_SHORT: f64 = 0.2;
/// The number of terms below which a text is short.
const SHORT_TERMS: usize = 40;
/// The number of terms that may be replaced by others, at least: another number, a
/// synonym. More than that on both sides is another entry of a template.
const REPLACED: usize = 2;
/// The share of terms that may be replaced by others in a long text.
const REPLACED_SHARE: f64 = 0.02;

/// The number of informative terms that two statements must share to be restatements of
/// each other.
const RESTATED_TERMS: usize = 4;
/// The highest share of terms that a restatement adds.
const ADDED: f64 = 0.4;

/// The number of counters of a [`Sketch`].
const COUNTERS: usize = 128;
/// The number of letters from which a word is counted in a sketch. Shorter words
/// are mostly stop words, which every text has.
const COUNTED_LETTERS: usize = 5;
/// The number of counted words from which a sketch can rule a pair out.
const COUNTED_WORDS: u32 = 24;
/// The highest share of counted words that may differ. It is far above
/// `CHANGED_SHORT`, because words are counted unstemmed.
const COUNTED_CHANGED: f64 = 0.5;
/// The same for restatements, and far above `ADDED`.
const COUNTED_RESTATED: f64 = 0.8;

/// The hits so far, for further documents to be compared with.
pub(super) struct Originals {
    known: Vec<Original>,
    /// The parts of the last compared document that were read.
    last: Reading,
    tokenizer: Tokenizer,
}

/// A document that is a hit.
struct Original {
    document: StoredDocument,
    reading: Reading,
    /// The number of its hit.
    hit: usize,
    /// Whether it is a statement.
    statement: bool,
}

/// The parts of a document that were read so far. Most documents are never read: no other
/// has their length.
#[derive(Default)]
struct Reading {
    sketch: Option<Sketch>,
    content: Option<Content>,
}

impl Reading {
    /// Returns the sketch of the document that this is read of.
    fn sketch(&mut self, document: &StoredDocument) -> &Sketch {
        self.sketch
            .get_or_insert_with(|| Sketch::of(said(document)))
    }
}

impl Originals {
    /// Creates a list without documents, for an index with this stemming.
    pub(super) fn new(stemming: Stemming) -> Self {
        Self {
            known: Vec::new(),
            last: Reading::default(),
            tokenizer: Tokenizer::new(stemming),
        }
    }

    /// Returns the number of the first hit that `document` is a copy of. Two
    /// statements are copies also if one only restates the other.
    pub(super) fn find(&mut self, document: &StoredDocument, statement: bool) -> Option<usize> {
        let mut reading = Reading::default();
        let tokenizer = &mut self.tokenizer;
        let found = self.known.iter_mut().find_map(|known| {
            let one = (&known.document, &mut known.reading);
            let other = (document, &mut reading);
            let copy = if statement && known.statement {
                is_restated(one, other, tokenizer)
            } else {
                is_copy(one, other, tokenizer)
            };
            copy.then_some(known.hit)
        });
        self.last = reading;
        found
    }

    /// Records the document that was compared last as a hit, with its number.
    pub(super) fn add(&mut self, document: StoredDocument, hit: usize, statement: bool) {
        self.known.push(Original {
            document,
            reading: std::mem::take(&mut self.last),
            hit,
            statement,
        });
    }
}

impl From<&StoredDocument> for Duplicate {
    fn from(document: &StoredDocument) -> Self {
        Self {
            title: document.shown_title().into_owned(),
            id: document.short_id.clone(),
            source: document.source.clone(),
            path: document.key.clone(),
        }
    }
}

/// Reports whether two documents say the same.
fn is_copy(
    (one, read): (&StoredDocument, &mut Reading),
    (other, other_read): (&StoredDocument, &mut Reading),
    tokenizer: &mut Tokenizer,
) -> bool {
    let lengths = [one, other].map(|document| said(document).len() as f64);
    if lengths[0].min(lengths[1]) < LENGTH_RATIO * lengths[0].max(lengths[1]) {
        return false;
    }
    let turns = one.thread.is_some() && other.thread.is_some();
    let factor = if turns { TURN_FACTOR } else { 1 };
    let (sketch, other_sketch) = (read.sketch(one), other_read.sketch(other));
    if sketch.words == 0 || sketch.differs(other_sketch, COUNTED_CHANGED) {
        return false;
    }
    if sketch.is_equal(other_sketch) {
        let long = sketch.words >= factor * EQUAL_WORDS;
        return long || (!turns && one.title == other.title);
    }
    let content = &*read
        .content
        .get_or_insert_with(|| Content::of(one, tokenizer));
    let other_content = &*other_read
        .content
        .get_or_insert_with(|| Content::of(other, tokenizer));
    content.is_near(other_content, factor * NEAR_TERMS)
}

/// Reports whether two statements say the same, possibly in other words or in another
/// order.
fn is_restated(
    (one, read): (&StoredDocument, &mut Reading),
    (other, other_read): (&StoredDocument, &mut Reading),
    tokenizer: &mut Tokenizer,
) -> bool {
    let (sketch, other_sketch) = (read.sketch(one), other_read.sketch(other));
    if sketch.differs(other_sketch, COUNTED_RESTATED) {
        return false;
    }
    let content = read
        .content
        .get_or_insert_with(|| Content::of(one, tokenizer));
    let other_content = other_read
        .content
        .get_or_insert_with(|| Content::of(other, tokenizer));
    if !content.decisive.agrees_with(&other_content.decisive) {
        return false;
    }
    content.restates(other_content) || is_copy((one, read), (other, other_read), tokenizer)
}

/// Returns the text of a document without the heading that is its title.
fn said(document: &StoredDocument) -> &str {
    let body = document.body.trim_start();
    let (first, rest) = body.split_once('\n').unwrap_or((body, ""));
    let marked = first.starts_with(['#', '*', '=']) || rest.starts_with(['=', '-']);
    let heading = first.trim_matches(|sign: char| sign.is_whitespace() || "#*=".contains(sign));
    if marked && heading == document.title.trim() {
        rest
    } else {
        body
    }
}

/// The words of a text in a few bytes, to tell quickly that two texts differ.
struct Sketch {
    /// A hash of the words in order.
    hash: u64,
    words: usize,
    /// The number of words that were counted.
    counted: u32,
    /// How many counted words have this hash.
    counters: [u16; COUNTERS],
}

impl Sketch {
    fn of(text: &str) -> Self {
        let mut sketch = Self {
            hash: 0,
            words: 0,
            counted: 0,
            counters: [0; COUNTERS],
        };
        let mut folded = String::new();
        for word in words(text) {
            let written = &text[word.range.clone()];
            if word.class == Class::Spaced {
                sketch.add(hash_word(written, &mut folded), written.len());
                continue;
            }
            // In a script without spaces, a run is a sentence.
            for (at, character) in written.char_indices() {
                let written = &written[at..at + character.len_utf8()];
                sketch.add(hash_word(written, &mut folded), COUNTED_LETTERS);
            }
        }
        sketch
    }

    fn add(&mut self, hash: u64, letters: usize) {
        self.hash = mix(self.hash, hash);
        self.words += 1;
        if letters >= COUNTED_LETTERS {
            self.counted += 1;
            // The high bits of a product are the mixed ones.
            let counter = &mut self.counters[(hash >> 57) as usize % COUNTERS];
            *counter = counter.saturating_add(1);
        }
    }

    fn is_equal(&self, other: &Self) -> bool {
        (self.hash, self.words) == (other.hash, other.words)
    }

    /// Reports whether more than this share of the words differ. Words that share a
    /// counter can only hide a difference.
    fn differs(&self, other: &Self, highest: f64) -> bool {
        if self.counted.min(other.counted) < COUNTED_WORDS {
            return false;
        }
        let pairs = self.counters.iter().zip(&other.counters);
        let changed: u32 = pairs
            .map(|(one, other)| u32::from(one.abs_diff(*other)))
            .sum();
        f64::from(changed) > highest * f64::from(self.counted.max(other.counted))
    }
}

/// Hashes a word regardless of case and accents.
fn hash_word(written: &str, folded: &mut String) -> u64 {
    if written.is_ascii() {
        return hash_ascii(written.as_bytes());
    }
    folded.clear();
    fold_into(written, folded);
    hash_ascii(folded.as_bytes())
}

/// Hashes letters and digits regardless of ASCII case, eight bytes at a time.
fn hash_ascii(word: &[u8]) -> u64 {
    const LOWER_CASE: u64 = 0x2020_2020_2020_2020;
    word.chunks(8).fold(word.len() as u64, |hash, chunk| {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        mix(hash, u64::from_le_bytes(bytes) | LOWER_CASE)
    })
}

fn mix(hash: u64, value: u64) -> u64 {
    (hash.rotate_left(5) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// The content of a text: hashes of its informative terms, sorted, one for each
/// occurrence.
struct Content {
    terms: Vec<u64>,
    /// Its numbers and negations. A single one makes a short text say something else.
    decisive: Decisive,
    /// Those of its title, if it has one that is not just the beginning of the
    /// text, without numbers.
    subject: Vec<u64>,
}

impl Content {
    fn of(document: &StoredDocument, tokenizer: &mut Tokenizer) -> Self {
        let text = said(document);
        let subject = if text.starts_with(document.title.trim()) {
            Vec::new()
        } else {
            informative(&document.title, tokenizer, false)
        };
        Self {
            terms: informative(text, tokenizer, true),
            decisive: Decisive::of(text),
            subject,
        }
    }

    /// Reports whether the terms of two texts are nearly the same, and at least this
    /// many.
    fn is_near(&self, other: &Self, least: usize) -> bool {
        let compared = Comparison::of(&self.terms, &other.terms);
        let (own, others, all) = (&compared.own, &compared.others, compared.all());
        if all < least {
            return false;
        }
        let negated = !self.decisive.negates_like(&other.decisive);
        let changed = match all {
            ..SHORT_TERMS if negated => return false,
            ..SHORT_TERMS => CHANGED_SHORT,
            _ => CHANGED,
        };
        let replaced = REPLACED.max((REPLACED_SHARE * all as f64) as usize);
        let is_subject = |own: &[u64], subject: &[u64]| {
            let mut own = own.iter();
            own.any(|term| subject.binary_search(term).is_ok())
        };
        compared.changed() as f64 <= changed * all as f64
            && own.len().min(others.len()) <= replaced
            && !is_subject(own, &self.subject)
            && !is_subject(others, &other.subject)
    }

    /// Reports whether one of two texts has all informative terms of the other and adds
    /// only few.
    fn restates(&self, other: &Self) -> bool {
        let compared = Comparison::of(&self.terms, &other.terms);
        let sides = [compared.own.len(), compared.others.len()];
        compared.common >= RESTATED_TERMS
            && sides.contains(&0)
            && compared.changed() as f64 <= ADDED * compared.all() as f64
    }
}

/// Returns the hashes of the informative terms of a text, sorted.
fn informative(text: &str, tokenizer: &mut Tokenizer, numbers: bool) -> Vec<u64> {
    let (mut terms, mut folded) = (Vec::new(), String::new());
    for word in words(text) {
        let written = &text[word.range.clone()];
        folded.clear();
        fold_into(written, &mut folded);
        let number = folded.contains(char::is_numeric);
        if is_stop_word(&folded) || (number && !numbers) {
            continue;
        }
        let _ = tokenizer.each_term_of(text, &word, Purpose::Query, |term| {
            terms.push(FxBuildHasher.hash_one(term.text));
            ControlFlow::<()>::Continue(())
        });
    }
    terms.sort_unstable();
    terms
}

#[cfg(test)]
#[path = "duplicates_tests.rs"]
mod tests;
