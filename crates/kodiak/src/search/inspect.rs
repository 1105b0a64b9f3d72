//! Inspection: a closer look at the best candidates, at their texts and dates.
//!
//! The index knows stems; here a candidate gains by the words of the query in the
//! form they were typed. Where the query names a period, it gains by a date near
//! that, and where the query asks when, by telling a time. The weights are in
//! `rank::rules`.

use std::collections::HashMap;

use super::lexical::Terms;
use super::limits::{INSPECTED, MAX_BODY_BYTES};
use crate::date;
use crate::error::Result;
use crate::period::{Period, asks_when, tells_time};
use crate::rank::rules::{EXACT_BONUS, PERIOD_BONUS, QUESTION_WORDS, TIME_BONUS, VERBATIM_BONUS};
use crate::store::{Reader, Row, StoredDocument};
use crate::text::{fold_into, words};

/// The number of best candidates that are inspected if the query names a period:
/// its documents may have few of its words.
const PERIOD_DEPTH: usize = 200;

/// What is looked for in candidates.
#[derive(Debug)]
pub(super) struct Inspection<'a> {
    store: &'a dyn Reader,
    /// The informative words as typed, folded, each with its share of the summed
    /// idf.
    words: Vec<(&'a str, f64)>,
    /// The words of the query in order, folded, stop words included.
    sequence: Vec<String>,
    /// How far words can be trusted, from 0 to 1.
    trust: f64,
    period: Option<Period>,
    asks_when: bool,
}

/// The documents that were read, each with its bonus.
#[derive(Debug, Default)]
pub(super) struct Inspected(HashMap<Row, (f64, StoredDocument)>);

impl Inspected {
    /// Tells whether nothing was inspected.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bonus of a document; 0 if it was not inspected.
    pub(super) fn bonus(&self, row: Row) -> f64 {
        self.0.get(&row).map_or(0.0, |(bonus, _)| *bonus)
    }

    /// Returns the documents in the order of `rows`. Those that were not inspected
    /// are read now, and missing ones are left out.
    pub(super) fn documents(
        &self,
        store: &dyn Reader,
        rows: &[Row],
    ) -> Result<Vec<StoredDocument>> {
        let known = |row: &Row| self.0.contains_key(row);
        let unread: Vec<Row> = rows.iter().copied().filter(|row| !known(row)).collect();
        if unread.len() == rows.len() {
            return store.documents(rows);
        }
        let read = store.documents(&unread)?.into_iter();
        let mut read: HashMap<Row, StoredDocument> = read.map(|one| (one.row, one)).collect();
        let mut document = |row: &Row| match self.0.get(row) {
            Some((_, document)) => Some(document.clone()),
            None => read.remove(row),
        };
        Ok(rows.iter().filter_map(&mut document).collect())
    }
}

impl<'a> Inspection<'a> {
    /// Prepares an inspection for a query with this text and these terms, whose
    /// words can be trusted this far.
    pub(super) fn of(store: &'a dyn Reader, text: &str, terms: &'a Terms, trust: f64) -> Self {
        let Terms::Planned(terms) = terms else {
            return Self {
                store,
                words: Vec::new(),
                sequence: Vec::new(),
                trust,
                period: None,
                asks_when: false,
            };
        };
        let informative = terms.iter().filter(|term| !term.common);
        let weights: HashMap<&str, f64> = informative
            .filter_map(|term| Some((term.typed.as_deref()?, term.weight)))
            .collect();
        let whole: f64 = weights.values().sum();
        let mut words: Vec<(&str, f64)> = weights
            .into_iter()
            .map(|(word, weight)| (word, weight / whole))
            .filter(|(_, share)| share.is_finite())
            .collect();
        // Sums of floats depend on the order.
        words.sort_unstable_by(|one, other| one.0.cmp(other.0));
        Self {
            store,
            words,
            sequence: sequence(text),
            trust,
            period: Period::named_in(text, date::now()),
            asks_when: asks_when(text),
        }
    }

    /// Returns the number of best candidates to inspect.
    pub(super) fn depth(&self) -> usize {
        match (self.period, self.words.is_empty() && !self.asks_when) {
            (Some(_), _) => PERIOD_DEPTH,
            (None, false) => INSPECTED,
            (None, true) => 0,
        }
    }

    /// Reads these documents and returns each with its bonus, from 0 on.
    pub(super) fn inspect(&self, rows: &[Row]) -> Result<Inspected> {
        if rows.is_empty() {
            return Ok(Inspected::default());
        }
        let mut folded = String::new();
        let documents = self.store.documents(rows)?.into_iter();
        let inspected = documents.map(|document| {
            let bonus = self.bonus(&document, &mut folded);
            (document.row, (bonus, document))
        });
        Ok(Inspected(inspected.collect()))
    }

    fn bonus(&self, document: &StoredDocument, folded: &mut String) -> f64 {
        let end = document.body.floor_char_boundary(MAX_BODY_BYTES);
        let body = &document.body[..end];
        folded.clear();
        let tags = document.tags.iter().map(String::as_str);
        for text in [document.title.as_str(), body].into_iter().chain(tags) {
            fold_into(text, folded);
            folded.push('\n');
        }
        let words = self.words.iter();
        let exact = words.filter(|(word, _)| contains_word(folded, word));
        let exact: f64 = exact.map(|(_, share)| share).sum();
        let time = f64::from(self.asks_when && tells_time(body));
        let near = self.period.map_or(0.0, |period| {
            let dates = [document.created_at, Some(document.updated_at)];
            // The beginning of 1970 stands for a date that is not known.
            let dates = dates.into_iter().flatten().filter(|&moment| moment > 0);
            let nearness = dates.map(|moment| period.nearness(moment));
            nearness.fold(0.0, f64::max)
        });
        let verbatim = f64::from(has_verbatim(folded, &self.sequence));
        self.trust * (EXACT_BONUS * exact + VERBATIM_BONUS * verbatim)
            + TIME_BONUS * time
            + PERIOD_BONUS * near
    }
}

/// Returns the words of a query in order, folded, without its syntax.
fn sequence(text: &str) -> Vec<String> {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    let all = words(&folded).map(|word| folded[word.range].to_owned());
    all.collect()
}

/// Reports whether `text` has the words of a query in a row, as typed. Of two words
/// that says little: most that are in one text somewhere stand side by side.
fn has_verbatim(text: &str, sequence: &[String]) -> bool {
    let longest = (0..sequence.len()).max_by_key(|&at| sequence[at].len());
    let Some(at) = longest.filter(|_| sequence.len() >= QUESTION_WORDS) else {
        return false;
    };
    let word = sequence[at].as_str();
    text.match_indices(word).any(|(start, _)| {
        if !is_word(text, start, word) {
            return false;
        }
        let after = text[start + word.len()..]
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|one| !one.is_empty());
        let before = text[..start]
            .rsplit(|letter: char| !letter.is_alphanumeric())
            .filter(|one| !one.is_empty());
        let following = after.zip(&sequence[at + 1..]);
        let preceding = before.zip(sequence[..at].iter().rev());
        let run = following.take_while(|(one, other)| one == other).count()
            + preceding.take_while(|(one, other)| one == other).count();
        run + 1 == sequence.len()
    })
}

/// Tells whether `text` contains `word` with no letter or digit next to it.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| is_word(text, at, word))
}

/// Reports whether the `word` at this place of `text` has no letter or digit next to
/// it.
fn is_word(text: &str, at: usize, word: &str) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + word.len()..].chars().next();
    [before, after]
        .into_iter()
        .flatten()
        .all(|next| !next.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_no_letters_next_to_it() {
        assert!(contains_word("an organ, played", "organ"));
        assert!(contains_word("organ", "organ"));
        assert!(contains_word("the organs of an organ", "organ"));
        assert!(!contains_word("organization", "organ"));
        assert!(!contains_word("inorganic matter", "organ"));
        assert!(!contains_word("", "organ"));
    }

    #[test]
    fn a_query_is_verbatim_only_as_a_whole_and_in_order() {
        let query = sequence("Boards of Canada");
        for text in [
            "i like boards of canada.",
            "boards, of canada",
            "boards of\ncanada",
        ] {
            assert!(has_verbatim(text, &query), "{text}");
        }
        for text in [
            "canada of boards",
            "boards of the canada",
            "boardsof canada",
            "of canada",
            "",
        ] {
            assert!(!has_verbatim(text, &query), "{text}");
        }
        // Of two words, standing side by side says little.
        assert!(!has_verbatim("board games", &sequence("board games")));
        assert!(!has_verbatim("", &[]));
    }
}
