//! Inspection: a closer look at the best candidates, at their texts and dates.
//!
//! The index knows stems; here a candidate gains by the words of the query in the
//! form they were typed. Where the query names a period, it gains by a date near
//! that, and where the query asks when, by telling a time. The weights are in
//! `rank::rules`.

use std::collections::HashMap;

use super::desk::Desk;
use super::forms::{Forms, Found};
use super::lexical::Terms;
use super::limits::{INSPECTED, MAX_BODY_BYTES};
use crate::date;
use crate::error::Result;
use crate::period::{Period, asks_when, is_only_date, tells_time};
use crate::rank::rules::{
    DOTTED_BONUS, EXACT_BONUS, PERIOD_BONUS, QUESTION_WORDS, SIGNED_BONUS, TIME_BONUS,
    VERBATIM_BONUS,
};
use crate::store::{Row, StoredDocument};
use crate::text::{Stemming, fold_into, is_stop_word, words};

/// The number of best candidates that are inspected if the query names a period:
/// its documents may have few of its words.
const PERIOD_DEPTH: usize = 200;

/// The terms to look for in candidates.
pub(super) struct Inspection<'a> {
    desk: &'a Desk<'a>,
    /// The informative words as typed, folded, each with its share of the summed
    /// idf.
    words: Vec<(Forms<'a>, f64)>,
    /// Whether to look for words that only share a stem with the query's.
    with_related: bool,
    /// The words of the query in order, folded, stop words included; empty if their
    /// order does not count.
    sequence: Vec<String>,
    /// The share of stop words among them.
    common: f64,
    /// How far words can be trusted, from 0 to 1.
    trust: f64,
    /// The names with signs, such as `c++`, folded.
    signed: Vec<String>,
    /// Whether such a name is all of the query.
    only_signed: bool,
    period: Option<Period>,
    /// The day that is all of the query.
    only_day: Option<Period>,
    asks_when: bool,
}

/// The results of a closer look at documents.
#[derive(Debug, Default)]
pub(super) struct Inspected(HashMap<Row, Closer>);

/// The result of a closer look at a document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Closer {
    /// The amount added to its score.
    bonus: f64,
    /// Whether it has the name or states the day that is all of the query.
    is_asked_for: bool,
    /// Whether it has words with the stems of the query's, and none of these words.
    only_related: bool,
    /// The share of the query of which it has only words with the same stem.
    related: f64,
}

impl Inspected {
    /// Reports whether nothing was inspected.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bonus of a document; 0 if it was not inspected.
    pub(super) fn bonus(&self, row: Row) -> f64 {
        self.0.get(&row).map_or(0.0, |closer| closer.bonus)
    }

    /// Reports whether a document has the name or states the day that is all of the
    /// query.
    pub(super) fn is_asked_for(&self, row: Row) -> bool {
        self.0.get(&row).is_some_and(|closer| closer.is_asked_for)
    }

    /// Returns the share of the query of which a document has only words with the same
    /// stem; 0 if it was not inspected.
    pub(super) fn related(&self, row: Row) -> f64 {
        self.0.get(&row).map_or(0.0, |closer| closer.related)
    }

    /// Reports whether a document was inspected and has no informative word of the
    /// query, only words with the same stem.
    pub(super) fn is_only_related(&self, row: Row) -> bool {
        self.0.get(&row).is_some_and(|closer| closer.only_related)
    }
}

impl<'a> Inspection<'a> {
    /// Prepares an inspection for a query with this text and these terms, whose
    /// words can be trusted this far.
    pub(super) fn of(
        desk: &'a Desk<'a>,
        stemming: Stemming,
        text: &str,
        terms: &'a Terms,
        trust: f64,
    ) -> Self {
        let Terms::Planned(terms) = terms else {
            return Self {
                desk,
                words: Vec::new(),
                with_related: false,
                sequence: Vec::new(),
                common: 0.0,
                trust,
                signed: Vec::new(),
                only_signed: false,
                period: None,
                only_day: None,
                asks_when: false,
            };
        };
        let informative = terms.iter().filter(|term| !term.common);
        let weights: HashMap<&str, (&str, f64)> = informative
            .filter_map(|term| Some((term.typed.as_deref()?, (term.term.as_str(), term.weight))))
            .collect();
        let whole: f64 = weights.values().map(|(_, weight)| weight).sum();
        let mut words: Vec<(Forms<'_>, f64)> = weights
            .into_iter()
            .map(|(word, (stem, weight))| (Forms::of(word, stem, stemming), weight / whole))
            .filter(|(_, share)| share.is_finite())
            .collect();
        let mut sequence = sequence(text);
        let common = common_share(&sequence);
        if common <= 0.0 || sequence.len() < QUESTION_WORDS {
            sequence.clear();
        }
        // Sums of floats depend on the order.
        words.sort_unstable_by_key(|(word, _)| word.typed());
        let signed = signed_names(text);
        let period = Period::named_in(text, date::now());
        Self {
            desk,
            words,
            with_related: false,
            common,
            sequence,
            trust,
            only_signed: !signed.is_empty() && text.split_whitespace().count() == signed.len(),
            signed,
            period,
            only_day: period.filter(|period| period.is_day() && is_only_date(text)),
            asks_when: asks_when(text),
        }
    }

    /// Looks for words that only share a stem with the query's as well. That reads
    /// each text once more for every word that it lacks, and matters only where
    /// similarities are known.
    #[must_use]
    pub(super) fn with_related(self) -> Self {
        Self {
            with_related: true,
            ..self
        }
    }

    /// Returns the number of best candidates to inspect.
    pub(super) fn depth(&self) -> usize {
        let nothing = self.words.is_empty()
            && self.signed.is_empty()
            && self.sequence.is_empty()
            && !self.asks_when;
        match (self.period, nothing) {
            (Some(_), _) => PERIOD_DEPTH,
            (None, false) => INSPECTED,
            (None, true) => 0,
        }
    }

    /// Looks at these documents.
    pub(super) fn inspect(&self, rows: &[Row]) -> Result<Inspected> {
        if rows.is_empty() {
            return Ok(Inspected::default());
        }
        let mut folded = String::new();
        let documents = self.desk.documents(rows)?;
        let inspected = documents
            .iter()
            .map(|document| (document.row, self.look(document, &mut folded)));
        Ok(Inspected(inspected.collect()))
    }

    fn look(&self, document: &StoredDocument, folded: &mut String) -> Closer {
        let end = document.body.floor_char_boundary(MAX_BODY_BYTES);
        let body = &document.body[..end];
        folded.clear();
        let tags = document.tags.iter().map(String::as_str);
        for text in [document.title.as_str(), body].into_iter().chain(tags) {
            fold_into(text, folded);
            folded.push('\n');
        }
        let (mut exact, mut related, mut inflected) = (0.0, 0.0, false);
        for (word, share) in &self.words {
            let found = if self.with_related {
                word.find(folded)
            } else {
                word.find_as_typed(folded)
            };
            match found {
                Found::AsTyped => exact += share,
                Found::Inflected => inflected = true,
                Found::Related => related += share,
                Found::Nothing => {}
            }
        }
        let time = f64::from(self.asks_when && tells_time(body));
        let mut is_asked_for = false;
        let near = self.period.map_or(0.0, |period| {
            let dates = [document.created_at, Some(document.updated_at)];
            // The beginning of 1970 stands for a date that is not known.
            let dates = dates.into_iter().flatten().filter(|&moment| moment > 0);
            let nearness = dates.map(|moment| period.nearness(moment));
            // The date in a title or a file name says what the document is about.
            let stem = document.key.rsplit('/').next().unwrap_or_default();
            let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
            let names = [document.title.as_str(), stem];
            let stated = names.map(|name| Period::stated_in(name, document.updated_at));
            let stated = stated.into_iter().flatten().next();
            is_asked_for = stated.is_some() && stated == self.only_day;
            match stated {
                Some(stated) => period.nearness_of(stated),
                None => nearness.fold(0.0, f64::max),
            }
        });
        let verbatim = self.common * verbatim(folded, &self.sequence);
        // Where words met by chance, those that are as typed still say something.
        let trust = f64::midpoint(1.0, self.trust);
        let signed = self.signed.iter();
        let named = signed
            .filter(|name| contains_signed(folded, name))
            .map(|name| match name.split_once('.') {
                Some((before, _)) if is_letters(before) => DOTTED_BONUS,
                _ => SIGNED_BONUS,
            })
            .fold(0.0, f64::max);
        Closer {
            bonus: trust * (EXACT_BONUS * exact + VERBATIM_BONUS * verbatim)
                + named
                + TIME_BONUS * time
                + PERIOD_BONUS * near,
            is_asked_for: is_asked_for || (self.only_signed && named > 0.0),
            only_related: related > 0.0 && exact <= 0.0 && !inflected,
            related,
        }
    }
}

/// Returns the words of a query in order, folded, without its syntax.
fn sequence(text: &str) -> Vec<String> {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    let all = words(&folded).map(|word| folded[word.range].to_owned());
    all.collect()
}

/// Returns the names of a query whose signs belong to them, folded: `C#`, `C++`,
/// `.NET`, `node.js`, `2025-03-11`, `10.0.0.12`. The index knows only their letters and
/// numbers.
fn signed_names(text: &str) -> Vec<String> {
    let mut folded = String::new();
    fold_into(text, &mut folded);
    let names = folded.split_whitespace().filter_map(|word| {
        let ends = |sign: char| !sign.is_alphanumeric() && !"+#".contains(sign);
        let begins = |sign: char| !sign.is_alphanumeric() && sign != '.';
        let name = word.trim_end_matches(ends).trim_start_matches(begins);
        let letters = name.trim_matches(|sign: char| !sign.is_alphanumeric());
        let signs_at_end = name.ends_with(['+', '#']) && name.starts_with(letters);
        let dot_before = name.strip_prefix('.') == Some(letters);
        let dot_inside = letters
            .split_once('.')
            .is_some_and(|(one, other)| is_letters(one) && is_letters(other));
        let is_name = !letters.is_empty()
            && (signs_at_end || dot_before || dot_inside || is_number_in_parts(letters));
        is_name.then(|| name.to_owned())
    });
    names.collect()
}

fn is_letters(text: &str) -> bool {
    !text.is_empty() && text.chars().all(char::is_alphabetic)
}

/// Reports whether a text is a date, a version or an address: three numbers or more with
/// one sign between them, whose order matters.
fn is_number_in_parts(text: &str) -> bool {
    ['-', '.', ':', '/'].into_iter().any(|sign| {
        let is_number = |part: &str| part.chars().all(|digit| digit.is_ascii_digit());
        let mut parts = text.split(sign);
        parts.clone().count() >= 3 && parts.all(|part| !part.is_empty() && is_number(part))
    })
}

/// Reports whether `text` contains a name with signs, with neither a letter, a digit
/// nor another of its signs next to it.
fn contains_signed(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let apart = |next: char| !next.is_alphanumeric() && !"+#".contains(next);
        before.is_none_or(apart) && after.is_none_or(apart)
    })
}

/// Returns the share of stop words among the words of a query.
fn common_share(sequence: &[String]) -> f64 {
    let common = sequence.iter().filter(|word| is_stop_word(word)).count();
    common as f64 / sequence.len().max(1) as f64
}

/// Returns how much of a query `text` has in a row as typed, from 0 to 1: the square
/// of the share of neighbouring words, around the query's longest word. Two words
/// side by side say little: most that are in one text stand together somewhere.
fn verbatim(text: &str, sequence: &[String]) -> f64 {
    let longest = (0..sequence.len()).max_by_key(|&at| sequence[at].len());
    let Some(at) = longest.filter(|_| sequence.len() >= QUESTION_WORDS) else {
        return 0.0;
    };
    let word = sequence[at].as_str();
    let is_separator = |letter: char| !letter.is_alphanumeric();
    let mut best = 0;
    for (start, _) in text.match_indices(word) {
        if !is_word(text, start, word) || is_in_link(text, start) {
            continue;
        }
        let after = text[start + word.len()..].split(is_separator);
        let before = text[..start].rsplit(is_separator);
        let following = after.filter(|one| !one.is_empty());
        let preceding = before.filter(|one| !one.is_empty());
        let following = following.zip(&sequence[at + 1..]);
        let preceding = preceding.zip(sequence[..at].iter().rev());
        let run = following.take_while(|(one, other)| one == other).count()
            + preceding.take_while(|(one, other)| one == other).count();
        best = best.max(run);
    }
    let share = best as f64 / (sequence.len() - 1) as f64;
    if best + 1 >= QUESTION_WORDS {
        share * share
    } else {
        0.0
    }
}

/// Reports whether `text` contains `word` with no letter or digit next to it.
pub(super) fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word)
        .any(|(at, _)| is_word(text, at, word))
}

/// Reports whether a place of `text` is in the text of a link, which speaks of another
/// document.
fn is_in_link(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    before.rfind('[') > before.rfind(']')
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
    fn signs_that_belong_to_a_name_are_part_of_it() {
        let names = |text: &str| signed_names(text).join(" ");
        assert_eq!(names("learning C# and C++, or .NET?"), "c# c++ .net");
        assert_eq!(names("(node.js) streams"), "node.js");
        let numbers = "on 2025-03-11, v1.2.3 and 10.0.0.12?";
        assert_eq!(names(numbers), "2025-03-11 10.0.0.12");
        assert_eq!(names("1-2 2025-03 a-b-c 1--2-3 12:30"), "");
        assert!(contains_signed("see 2025-03-11: calm", "2025-03-11"));
        assert!(!contains_signed("2025-11-03 and 12025-03-11", "2025-03-11"));
        assert_eq!(names("what is C? a #tag, 3.14 \"quoted.\" a-b ..."), "");
        assert!(contains_signed("notes on c#.", "c#"));
        assert!(contains_signed("c++ and c", "c++"));
        assert!(!contains_signed("c and f#", "c#"));
        assert!(!contains_signed("abc# c#m", "c#"));
    }

    #[test]
    fn what_was_typed_counts_as_far_as_it_stands_in_a_row() {
        let query = sequence("Boards of Canada");
        for text in [
            "i like boards of canada.",
            "boards, of canada",
            "canada of boards of\ncanada",
        ] {
            assert!((verbatim(text, &query) - 1.0).abs() < 1e-9, "{text}");
        }
        for text in [
            "canada of boards",
            "boards of the canada",
            "boardsof canada",
            "of canada",
            "",
        ] {
            assert!(verbatim(text, &query) < 1e-9, "{text}");
        }
        let longer = sequence("first make it work then make it fast");
        let part = verbatim("first make it work. then make it right", &longer);
        assert!(part > 0.5 && part < 1.0, "{part}");
        // The text of a link speaks of another document.
        assert!(verbatim("see [boards of canada](music.md)", &query) < 1e-9);
        assert!(verbatim("[music](music.md) by boards of canada", &query) > 0.9);
        // Of two words, standing side by side says little.
        assert!(verbatim("board games", &sequence("board games")) < 1e-9);
        assert!(verbatim("", &[]) < 1e-9);
    }
}
