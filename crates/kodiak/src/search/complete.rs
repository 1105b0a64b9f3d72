//! Unfinished words: the last word of a query may be the beginning of another.
//!
//! A last word that the index lacks is the beginning of a word before it is a
//! misspelling, if a document that the filter admits has such a word. While a query
//! is being typed, its last word may go on even if the index has it. Owns these
//! rules, and which completions of a short beginning are looked for: one or two
//! letters begin so many words that all documents would have to be ranked.

use std::collections::{BTreeMap, BTreeSet};

use super::caveat::Caveat;
use super::limits::MAX_BODY_BYTES;
use super::query::{Clause, Completion, Condition, Form, Query};
use super::terms::clause_expression;
use super::typo::{Speller, term_of};
use super::watch::{Seen, Watch};
use crate::error::Result;
use crate::rank::Tuning;
use crate::rank::spelling::{SHORTEST_COMPLETED, Standing};
use crate::store::{Column, Expression, Phrase, StoredDocument};
use crate::text::{Class, fold_into, is_plain, is_stop_word, words};

/// The number of completions that are compared to find the likeliest.
const COMPLETIONS: usize = 64;

/// The number of completions of a short beginning that are looked for, and of those
/// where a filter may leave out most of them.
const SHORT_COMPLETIONS: usize = 16;
const SHORT_COMPLETIONS_FILTERED: usize = 64;
/// The highest document frequency of such a completion. A more common one says less
/// about a document, and each document that has it takes time to rank.
const MAX_DOCUMENTS: u64 = 500;
/// The document frequency up to which a short word is itself looked for.
const MAX_DOCUMENTS_WHOLE: u64 = 20_000;

/// Reads the last word of a query as the beginning of a word.
#[derive(Clone, Copy)]
pub(super) struct Completer<'a> {
    pub(super) speller: Speller<'a>,
    pub(super) tuning: &'a Tuning,
    /// Whether a last word that the index lacks is completed.
    pub(super) guesses: bool,
    /// Whether the query is still being typed.
    pub(super) as_you_type: bool,
}

/// A word as typed and as completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Completed {
    /// The word as typed.
    pub(super) typed: String,
    /// The likeliest word that begins so.
    pub(super) word: String,
    /// Whether more documents have this word, or another form of it, than have all
    /// others that begin so.
    pub(super) is_clear: bool,
    /// Whether the typed text is probably a whole word: the model knows it, and the index
    /// has no form of it.
    pub(super) is_word: bool,
}

/// How a query was completed.
#[derive(Debug, Default)]
pub(super) struct Completing {
    /// The completion of the last word, if the index lacks the word as typed.
    pub(super) completed: Option<Completed>,
    pub(super) caveats: Vec<Caveat>,
    /// Whether the last word was read as a beginning.
    is_beginning: bool,
}

impl Completer<'_> {
    /// Completes the last word of `query`, and limits its short beginnings, in place.
    pub(super) fn complete(&self, query: &mut Query) -> Result<Completing> {
        let mut completing = Completing::default();
        for clause in &mut query.optional {
            self.clause(clause, &mut completing)?;
        }
        for condition in &mut query.required {
            self.condition(condition, &mut completing)?;
        }
        if completing.is_beginning {
            query.optional.retain(|clause| !is_open_compound(clause));
            query.required.retain(|part| !is_open_part(part));
        }
        Ok(completing)
    }

    /// Returns whether a search for this word alone would read it as a beginning.
    pub(super) fn completes(&self, word: &str) -> Result<bool> {
        let mut query = Query::parse(word, false);
        let completing = self.complete(&mut query)?;
        Ok(completing.completed.is_some())
    }

    fn condition(&self, condition: &mut Condition, completing: &mut Completing) -> Result<()> {
        match condition {
            Condition::Clause(clause) => self.clause(clause, completing)?,
            Condition::All(parts) => {
                for part in &mut *parts {
                    self.condition(part, completing)?;
                }
                if completing.is_beginning {
                    parts.retain(|part| !is_open_part(part));
                }
            }
            Condition::Any(parts) => {
                for part in parts {
                    self.condition(part, completing)?;
                }
            }
            Condition::Except(wanted, _) => self.condition(wanted, completing)?,
            Condition::Near(..) => {}
        }
        Ok(())
    }

    fn clause(&self, clause: &mut Clause, completing: &mut Completing) -> Result<()> {
        let Some(folded) = single_word(clause) else {
            return Ok(());
        };
        match clause.form {
            Form::Prefix if is_short(&folded) => self.limit(clause, &folded, completing),
            Form::Word if clause.open => self.open_word(clause, &folded, completing),
            _ => Ok(()),
        }
    }

    fn open_word(
        &self,
        clause: &mut Clause,
        folded: &str,
        completing: &mut Completing,
    ) -> Result<()> {
        if self.as_you_type {
            if is_short(folded) || is_stop_word(folded) {
                self.bound(clause, folded)?;
                completing.is_beginning = true;
                return Ok(());
            }
            let known = self.occurs(folded, clause.column)?;
            // Only plain words are in the vocabulary; others have no completions there.
            if known || !is_plain(folded) {
                clause.form = if known {
                    Form::Unfinished
                } else {
                    Form::Prefix
                };
                completing.is_beginning = true;
                return Ok(());
            }
        } else if !self.guesses
            || folded.chars().count() < SHORTEST_COMPLETED
            || is_stop_word(folded)
            || self.speller.is_known(folded)?
        {
            return Ok(());
        }
        let completions = self.completions(clause, folded)?;
        let lexicon = self.speller.lexicon;
        let stem = |word: &str| term_of(word, lexicon.stemming());
        let Some((word, is_clear)) = likeliest(&completions, stem) else {
            return Ok(());
        };
        let term = stem(folded);
        let has_form = lexicon.document_frequency(&term)? > 0;
        // Another form of the word may not begin so: "generating" has the stem of
        // "generate".
        clause.form = if has_form && !term.starts_with(folded) {
            Form::Unfinished
        } else {
            Form::Prefix
        };
        let is_common = self.speller.standing(folded) == Standing::Common;
        completing.is_beginning = true;
        completing.completed = Some(Completed {
            typed: clause.text.clone(),
            word,
            is_clear,
            is_word: is_common && !has_form && !self.as_you_type,
        });
        Ok(())
    }

    /// Returns whether a document that the filter admits has this word.
    fn occurs(&self, folded: &str, column: Option<Column>) -> Result<bool> {
        let lexicon = self.speller.lexicon;
        let is_known = if is_plain(folded) {
            lexicon.has_word(folded)?
        } else {
            lexicon.document_frequency(&term_of(folded, lexicon.stemming()))? > 0
        };
        let is_all = lexicon.is_within() && column.is_none();
        if is_all || (!is_known && !lexicon.is_noting()) {
            return Ok(is_known);
        }
        let word = Expression::Phrase(Phrase {
            text: folded.to_owned(),
            column,
            weight: 1.0,
            ..Phrase::default()
        });
        Ok(lexicon.any_matches(&word)? && is_known)
    }

    /// Returns the words that begin with the word of a clause in documents that the
    /// filter admits, each with the number of documents, the most common first. With
    /// a filter, only some documents are read: the vocabulary does not say which
    /// documents have a word.
    fn completions(&self, clause: &Clause, folded: &str) -> Result<Vec<(String, u64)>> {
        let lexicon = self.speller.lexicon;
        if lexicon.is_within() && clause.column.is_none() {
            return lexicon.words_beginning(folded, COMPLETIONS);
        }
        let beginning = Clause {
            form: Form::Prefix,
            ..clause.clone()
        };
        let expression = clause_expression(lexicon, &beginning, self.tuning)?;
        let watch = Watch::Completions {
            typed: folded.to_owned(),
            column: clause.column,
        };
        match lexicon.watch(&watch, &expression)? {
            Seen::Completions(completions) => Ok(completions),
            _ => Ok(Vec::new()),
        }
    }

    /// Limits a short beginning that was typed as such, if it has many completions.
    fn limit(&self, clause: &mut Clause, folded: &str, completing: &mut Completing) -> Result<()> {
        let lexicon = self.speller.lexicon;
        let terms = lexicon.terms_beginning(folded, u64::MAX, SHORT_COMPLETIONS + 1)?;
        if terms.len() <= SHORT_COMPLETIONS {
            return Ok(());
        }
        let mut among = self.best_terms(folded)?;
        let own = term_of(folded, lexicon.stemming());
        let documents = lexicon.document_frequency(&own)?;
        if (1..=MAX_DOCUMENTS_WHOLE).contains(&documents) {
            let term = own;
            among.insert(0, Completion { term, documents });
        }
        clause.among = Some(among);
        let prefix = clause.text.clone();
        completing.caveats.push(Caveat::PrefixTooShort { prefix });
        Ok(())
    }

    /// Reads a short word that is being typed as the beginning of the best few. The
    /// word itself counts in full if it is rare enough to be looked for. If it is
    /// still common, documents that have it fill any answer.
    fn bound(&self, clause: &mut Clause, folded: &str) -> Result<()> {
        let lexicon = self.speller.lexicon;
        let own = term_of(folded, lexicon.stemming());
        let documents = lexicon.document_frequency(&own)?;
        let known = documents <= MAX_DOCUMENTS_WHOLE && self.occurs(folded, clause.column)?;
        // The completions of a letter take long to find, so they are not asked for on a
        // guess.
        let is_common = known && documents > MAX_DOCUMENTS;
        clause.among = Some(if is_common || lexicon.is_guessed(&own) {
            Vec::new()
        } else {
            self.best_terms(folded)?
        });
        clause.form = if known {
            Form::Unfinished
        } else {
            Form::Prefix
        };
        Ok(())
    }

    /// Returns the most common terms that begin with `folded` and are not too
    /// common, without the word itself.
    fn best_terms(&self, folded: &str) -> Result<Vec<Completion>> {
        let lexicon = self.speller.lexicon;
        let most = if lexicon.is_within() {
            SHORT_COMPLETIONS
        } else {
            SHORT_COMPLETIONS_FILTERED
        };
        let own = term_of(folded, lexicon.stemming());
        let terms = lexicon.terms_beginning(folded, MAX_DOCUMENTS, 2 * most)?;
        // A query stems its words, so that only a stem of itself can be looked for.
        let usable = terms.into_iter().filter(|(term, _)| {
            let mut found = words(term);
            let spaced = found.next().is_some_and(|word| word.class == Class::Spaced);
            spaced
                && found.next().is_none()
                && *term != own
                && term_of(term, lexicon.stemming()) == *term
        });
        let usable = usable.map(|(term, documents)| Completion { term, documents });
        Ok(usable.take(most).collect())
    }
}

/// Returns whether all words with this beginning are too many to look for.
fn is_short(folded: &str) -> bool {
    folded.chars().count() < SHORTEST_COMPLETED
}

/// Returns the folded word of a clause; `None` if it has several, or one in a script
/// without spaces.
fn single_word(clause: &Clause) -> Option<String> {
    let mut found = words(&clause.text);
    let word = found.next()?;
    let single = found.next().is_none() && word.class == Class::Spaced;
    let mut folded = String::new();
    fold_into(&clause.text[word.range], &mut folded);
    (single && !folded.is_empty()).then_some(folded)
}

/// Returns whether a clause is a compound that ends in the unfinished word, which no
/// document has.
fn is_open_compound(clause: &Clause) -> bool {
    clause.open && clause.form == Form::Phrase
}

fn is_open_part(part: &Condition) -> bool {
    matches!(part, Condition::Clause(clause) if is_open_compound(clause))
}

/// Returns the words of a document that begin with `folded`.
pub(super) fn words_of(
    document: &StoredDocument,
    column: Option<Column>,
    folded: &str,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut other = String::new();
    let mut look = |text: &str| {
        for word in words(text).filter(|word| word.class == Class::Spaced) {
            other.clear();
            fold_into(&text[word.range], &mut other);
            if other.starts_with(folded) && is_plain(&other) && !found.contains(&other) {
                found.insert(other.clone());
            }
        }
    };
    if column != Some(Column::Tags) {
        look(&document.title);
    }
    if column != Some(Column::Title) {
        document.tags.iter().for_each(|tag| look(tag));
    }
    if column.is_none() {
        look(&document.body[..document.body.floor_char_boundary(MAX_BODY_BYTES)]);
    }
    found
}

/// Returns the likeliest of some words with their document frequencies, and whether
/// most documents mean it: the most common of the words whose stem is the most
/// common.
fn likeliest(
    completions: &[(String, u64)],
    stem: impl Fn(&str) -> String,
) -> Option<(String, bool)> {
    let mut stems: BTreeMap<String, (u64, &str)> = BTreeMap::new();
    for (word, documents) in completions {
        // The first word of a stem is its most common one.
        stems.entry(stem(word)).or_insert((0, word)).0 += documents;
    }
    let all: u64 = stems.values().map(|(documents, _)| documents).sum();
    let (_, (documents, word)) = stems
        .iter()
        .rev()
        .max_by_key(|(_, (documents, _))| *documents)?;
    Some(((*word).to_owned(), 2 * documents > all))
}

/// Returns a text with the last occurrence of the unfinished word completed.
pub(super) fn completed_text(text: &str, completed: &Completed) -> String {
    let last = words(text)
        .filter(|word| text[word.range.clone()] == completed.typed)
        .last();
    match last {
        Some(word) => {
            let (before, after) = (&text[..word.range.start], &text[word.range.end..]);
            format!("{before}{}{after}", completed.word)
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Stemming;

    #[test]
    fn the_likeliest_completion_has_the_most_common_stem() {
        let stem = |word: &str| term_of(word, Stemming::English);
        let likeliest = |words: &[(&str, u64)]| {
            let words: Vec<_> = words
                .iter()
                .map(|(word, n)| ((*word).to_owned(), *n))
                .collect();
            likeliest(&words, stem)
        };
        let expected = |word: &str, clear| Some((word.to_owned(), clear));
        assert_eq!(likeliest(&[]), None);
        assert_eq!(likeliest(&[("karabiner", 1)]), expected("karabiner", true));
        assert_eq!(
            likeliest(&[("salvation", 4), ("salvages", 3), ("salvage", 2)]),
            expected("salvages", true)
        );
        assert_eq!(
            likeliest(&[("salvage", 2), ("salvation", 2)]),
            expected("salvage", false)
        );
    }

    #[test]
    fn the_last_occurrence_is_completed() {
        let completed = Completed {
            typed: "karab".to_owned(),
            word: "karabiner".to_owned(),
            is_clear: true,
            is_word: false,
        };
        for (text, expected) in [
            ("keyboard karab", "keyboard karabiner"),
            ("karab or karab", "karab or karabiner"),
            ("rust (a OR karab", "rust (a OR karabiner"),
            ("another", "another"),
        ] {
            assert_eq!(completed_text(text, &completed), expected);
        }
    }
}
