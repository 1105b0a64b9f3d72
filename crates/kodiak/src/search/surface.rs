//! Words as typed: excluded words and prefixes mean a word, not its stem.
//!
//! The index holds stems, and `organization` has the stem `organ`. So `-organ`
//! would exclude both, and `organi*` would find both. Where the vocabulary has
//! such a word, the matching documents are read, up to a limit, and those that
//! match only by their stem are told apart. This module owns that check. Clauses
//! inside alternatives keep matching by stem.

use super::forms::shared_beginning;
use super::lexicon::Lexicon;
use super::query::{Clause, Condition, Form, Query};
use super::terms::clause_expression;
use super::watch::{Seen, Watch};
use crate::error::Result;
use crate::rank::Tuning;
use crate::store::{Column, Row, StoredDocument};
use crate::text::{Class, fold_into, words};

/// The number of words of the vocabulary that are compared. If there are more, the
/// documents decide.
const MAX_WORDS: usize = 500;

/// Finds the documents that only stems match.
pub(super) struct Surface<'a> {
    pub(super) lexicon: &'a Lexicon<'a>,
    pub(super) tuning: &'a Tuning,
}

impl Surface<'_> {
    /// Returns the documents that the query must not find: those with an excluded
    /// word as typed, and those that only the stem of a required prefix matches.
    /// Takes from the query the exclusions that these documents stand for.
    pub(super) fn unwanted(&self, query: &mut Query) -> Result<Vec<Row>> {
        let mut unwanted = Vec::new();
        for condition in &query.required {
            if let Condition::Clause(clause) = condition
                && clause.form == Form::Prefix
                && let Some((_, by_stem)) = self.divide(clause)?
            {
                unwanted.extend(by_stem);
            }
        }
        let excluded = std::mem::take(&mut query.excluded);
        for condition in excluded.into_iter().flat_map(alternatives) {
            if let Condition::Clause(clause) = &condition
                && let Some((as_typed, _)) = self.divide(clause)?
            {
                unwanted.extend(as_typed);
            } else {
                query.excluded.push(condition);
            }
        }
        unwanted.sort_unstable();
        unwanted.dedup();
        Ok(unwanted)
    }

    /// Divides the documents that match a clause into those that have its word as
    /// typed and those that only have its stem. Returns `None` if there are none of
    /// the latter, or too many documents to read.
    fn divide(&self, clause: &Clause) -> Result<Option<(Vec<Row>, Vec<Row>)>> {
        let Some(typed) = Typed::of(clause).filter(|_| clause.among.is_none()) else {
            return Ok(None);
        };
        if self.is_exact(&typed)? {
            return Ok(None);
        }
        let expression = clause_expression(self.lexicon, clause, self.tuning)?;
        let column = clause.column;
        let watch = Watch::Division { typed, column };
        match self.lexicon.watch(&watch, &expression)? {
            Seen::Division(division) => Ok(division),
            _ => Ok(None),
        }
    }

    /// Reports whether the typed word also means every word of the vocabulary that the stem
    /// matches.
    fn is_exact(&self, typed: &Typed) -> Result<bool> {
        let stemming = self.lexicon.stemming();
        let stem = |word: &str| {
            let mut stem = word.to_owned();
            stemming.stem(&mut stem);
            stem
        };
        let own = stem(&typed.folded);
        let beginning = shared_beginning(&typed.folded, &own);
        let near = self.lexicon.words_beginning(beginning, MAX_WORDS)?;
        if near.len() == MAX_WORDS {
            return Ok(false);
        }
        let stems: Vec<(String, &str)> = near
            .iter()
            .map(|(word, _)| (stem(word), word.as_str()))
            .collect();
        let meant: Vec<&str> = stems
            .iter()
            .filter(|(_, word)| typed.means(word))
            .map(|(stem, _)| stem.as_str())
            .collect();
        let matches = |stem: &str| {
            meant.contains(&stem)
                || own == stem
                || (typed.prefix && stem.starts_with(&typed.folded))
        };
        let mut others = stems.iter().filter(|(_, word)| !typed.means(word));
        Ok(!others.any(|(stem, _)| matches(stem)))
    }
}

/// A word, or the beginning of one, as typed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Typed {
    folded: String,
    prefix: bool,
}

impl Typed {
    /// Returns the word of a clause; `None` if it has several words, or one in a
    /// script without spaces, which has no stems.
    fn of(clause: &Clause) -> Option<Self> {
        let mut found = words(&clause.text);
        let word = found.next()?;
        let single =
            found.next().is_none() && word.class == Class::Spaced && clause.form != Form::Phrase;
        let mut folded = String::new();
        fold_into(&clause.text[word.range], &mut folded);
        (single && !folded.is_empty()).then_some(Self {
            folded,
            prefix: clause.form == Form::Prefix,
        })
    }

    /// Reports whether a folded word is meant: it begins like this, or it is the word
    /// in the singular or plural.
    fn means(&self, word: &str) -> bool {
        if self.prefix {
            return word.starts_with(&self.folded);
        }
        word == self.folded || is_plural(word, &self.folded) || is_plural(&self.folded, word)
    }

    /// Reports whether a document has a word that is meant.
    pub(super) fn occurs_in(&self, document: &StoredDocument, column: Option<Column>) -> bool {
        let mut folded = String::new();
        let mut has = |text: &str| {
            words(text).any(|word| {
                folded.clear();
                fold_into(&text[word.range], &mut folded);
                self.means(&folded)
            })
        };
        let tagged = |has: &mut dyn FnMut(&str) -> bool| document.tags.iter().any(|tag| has(tag));
        match column {
            Some(Column::Title) => has(&document.title),
            Some(Column::Tags) => tagged(&mut has),
            None => has(&document.title) || has(&document.body) || tagged(&mut has),
        }
    }
}

/// Reports whether one word is the regular plural of another.
fn is_plural(plural: &str, singular: &str) -> bool {
    let ending = |stem: &str, ending: &str| plural.strip_prefix(stem) == Some(ending);
    ending(singular, "s")
        || ending(singular, "es")
        || singular
            .strip_suffix('y')
            .is_some_and(|stem| ending(stem, "ies"))
}

/// Returns the conditions of which any is enough.
fn alternatives(condition: Condition) -> Vec<Condition> {
    match condition {
        Condition::Any(parts) => parts.into_iter().flat_map(alternatives).collect(),
        other => vec![other],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_means_its_plural_and_singular() {
        let word = |folded: &str, prefix| Typed {
            folded: folded.to_owned(),
            prefix,
        };
        for (typed, other) in [
            ("organ", "organs"),
            ("organs", "organ"),
            ("box", "boxes"),
            ("ally", "allies"),
        ] {
            assert!(word(typed, false).means(other), "{typed} {other}");
        }
        for (typed, other) in [
            ("organ", "organization"),
            ("run", "running"),
            ("wal", "wall"),
        ] {
            assert!(!word(typed, false).means(other), "{typed} {other}");
        }
        assert!(word("organi", true).means("organize") && !word("organi", true).means("organ"));
    }
}
