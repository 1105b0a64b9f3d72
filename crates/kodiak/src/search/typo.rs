//! Misspelt words: what the vocabulary has instead.
//!
//! Only a word the index does not have is corrected, so that a correction can
//! never hide an exact hit.

use super::query::{Clause, Condition, Form, Query};
use crate::error::Result;
use crate::store::{Expression, Filter, NearWord, Phrase, Reader};
use crate::text::{Class, Stemming, fold_into, is_plain, is_stop_word, words};

/// Shorter words have too many neighbours to guess from.
const SHORTEST: usize = 4;
/// Words up to this length may be one letter off, longer ones two.
const ONE_OFF: usize = 5;

/// How much of a word slips may make up. More leaves another word, not a
/// misspelt one: four letters with one replaced are as good as any four.
fn most_effort(length: usize) -> f64 {
    0.4 * length as f64 - 0.65
}

/// A word as typed and as corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    /// What was typed.
    pub(super) typed: String,
    /// What was looked for instead.
    pub(super) corrected: String,
}

/// Corrects the words of `query` that the index does not have, in place. Where
/// it has another form of the word as typed, both are looked for.
pub(super) fn correct(
    store: &dyn Reader,
    query: &mut Query,
    scope: &Filter,
) -> Result<Vec<Correction>> {
    let mut corrector = Corrector {
        store,
        scope,
        corrections: Vec::new(),
    };
    let mut added = Vec::new();
    for clause in &mut query.optional {
        match corrector.clause(clause)? {
            Change::None => {}
            Change::Instead(corrected) => *clause = corrected,
            Change::Beside(corrected) => added.push(corrected),
        }
    }
    query.optional.extend(added);
    for condition in &mut query.required {
        corrector.condition(condition)?;
    }
    Ok(corrector.corrections)
}

struct Corrector<'a> {
    store: &'a dyn Reader,
    scope: &'a Filter,
    corrections: Vec<Correction>,
}

/// What becomes of a clause.
enum Change {
    None,
    Instead(Clause),
    Beside(Clause),
}

impl Corrector<'_> {
    fn condition(&mut self, condition: &mut Condition) -> Result<()> {
        match condition {
            Condition::Clause(clause) => match self.clause(clause)? {
                Change::None => {}
                Change::Instead(corrected) => *clause = corrected,
                Change::Beside(corrected) => {
                    let both = [clause.clone(), corrected].map(Condition::Clause);
                    *condition = Condition::Any(both.into());
                }
            },
            Condition::All(parts) | Condition::Any(parts) => {
                for part in parts {
                    self.condition(part)?;
                }
            }
            Condition::Except(wanted, _) => self.condition(wanted)?,
            Condition::Near(..) => {}
        }
        Ok(())
    }

    fn clause(&mut self, clause: &Clause) -> Result<Change> {
        if clause.form != Form::Word {
            return Ok(Change::None);
        }
        let Some(corrected) = suggestion(self.store, &clause.text, self.scope)? else {
            return Ok(Change::None);
        };
        let stemming = self.store.stemming();
        let terms = [clause.text.as_str(), &corrected].map(|word| term_of(word, stemming));
        if terms[0] == terms[1] {
            // Another form of the same word: the search is the same.
            return Ok(Change::None);
        }
        self.corrections.push(Correction {
            typed: clause.text.clone(),
            corrected: corrected.clone(),
        });
        let having = self.store.document_frequencies(&[terms[0].as_str()])?;
        let corrected = Clause {
            text: corrected,
            ..clause.clone()
        };
        Ok(if having[0] > 0 {
            Change::Beside(corrected)
        } else {
            Change::Instead(corrected)
        })
    }
}

fn term_of(word: &str, stemming: Stemming) -> String {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    stemming.stem(&mut folded);
    folded
}

/// The word to look for instead of `typed`; `None` if the index has it, if it
/// is a stop word, too short, or like nothing the index has. Only what
/// `scope` admits is the index here.
pub(super) fn suggestion(
    store: &dyn Reader,
    typed: &str,
    scope: &Filter,
) -> Result<Option<String>> {
    let mut folded = String::new();
    fold_into(typed, &mut folded);
    let length = folded.chars().count();
    let correctable = length >= SHORTEST
        && is_plain(&folded)
        && words(typed).all(|word| word.class == Class::Spaced);
    if !correctable || is_stop_word(&folded) || is_known(store, &folded, scope)? {
        return Ok(None);
    }
    let distance = if length <= ONE_OFF { 1 } else { 2 };
    let near = store.words_near(&folded, distance)?;
    let most = most_effort(length);
    let mut likely: Vec<(f64, String)> = near
        .into_iter()
        .filter(|near| effort(&folded, &near.word) <= most)
        .map(|near| (likelihood(&folded, &near), near.word))
        .collect();
    likely.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, word) in likely {
        if scope.is_empty() || is_known(store, &word, scope)? {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// Whether a document that `scope` admits has this word.
fn is_known(store: &dyn Reader, folded: &str, scope: &Filter) -> Result<bool> {
    if store.word_frequency(folded)? == 0 {
        return Ok(false);
    }
    if scope.is_empty() {
        return Ok(true);
    }
    let phrase = Expression::Phrase(Phrase {
        text: folded.to_owned(),
        prefix: false,
        column: None,
        weight: 1.0,
    });
    Ok(store.count(&phrase, scope)? > 0)
}

/// How likely it is that `near` was meant: above all near, then common. A slip
/// costs as much as being three thousand times rarer gains.
fn likelihood(typed: &str, near: &NearWord) -> f64 {
    (near.documents as f64).ln() - 8.0 * effort(typed, &near.word)
}

/// What the slips between two words cost, in letters: the edit distance with
/// neighbours swapped, where doubling a letter or swapping two is what hands
/// do most, and first and last letters are what they get wrong least.
/// Measured on lists of real misspellings.
fn effort(typed: &str, meant: &str) -> f64 {
    const DOUBLED: f64 = 0.6;
    const SWAPPED: f64 = 0.7;
    const FIRST: f64 = 0.5;
    const LAST: f64 = 0.3;
    let typed: Vec<char> = typed.chars().collect();
    let meant: Vec<char> = meant.chars().collect();
    let (rows, columns) = (typed.len() + 1, meant.len() + 1);
    let doubled = |word: &[char], at: usize| at > 1 && word[at - 1] == word[at - 2];
    let mut cost = vec![0.0_f64; rows * columns];
    for cell in 1..rows * columns {
        let (row, column) = (cell / columns, cell % columns);
        let mut place = 0.0;
        if row <= 1 && column <= 1 {
            place += FIRST;
        }
        if row + 1 == rows && column + 1 == columns {
            place += LAST;
        }
        let slip = |doubled: bool| place + if doubled { DOUBLED } else { 1.0 };
        let mut least = f64::MAX;
        if row > 0 {
            least = least.min(cost[cell - columns] + slip(doubled(&typed, row)));
        }
        if column > 0 {
            least = least.min(cost[cell - 1] + slip(doubled(&meant, column)));
        }
        if row > 0 && column > 0 {
            let same = typed[row - 1] == meant[column - 1];
            let change = if same { 0.0 } else { slip(false) };
            least = least.min(cost[cell - columns - 1] + change);
        }
        if row > 1
            && column > 1
            && typed[row - 1] == meant[column - 2]
            && typed[row - 2] == meant[column - 1]
        {
            least = least.min(cost[cell - 2 * columns - 2] + SWAPPED);
        }
        cost[cell] = least;
    }
    cost[rows * columns - 1]
}

/// The query's text with the corrections put in, for showing.
pub(super) fn corrected_text(text: &str, corrections: &[Correction]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut copied = 0;
    for word in words(text) {
        let written = &text[word.range.clone()];
        if let Some(correction) = corrections.iter().find(|known| known.typed == written) {
            shown.push_str(&text[copied..word.range.start]);
            shown.push_str(&correction.corrected);
            copied = word.range.end;
        }
    }
    shown.push_str(&text[copied..]);
    shown
}
