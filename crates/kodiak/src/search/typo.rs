//! Spelling correction: replaces misspelt words of a query by words of the
//! vocabulary.
//!
//! Only a word that the index lacks is corrected, so that a correction never hides
//! an exact hit.

use super::query::{Clause, Condition, Form, Query};
use crate::error::Result;
use crate::rank::spelling::{SHORTEST_CORRECTED, edit_cost, likelihood, most_cost, most_edits};
use crate::store::{Expression, Filter, Phrase, Reader};
use crate::text::{Class, Stemming, fold_into, is_plain, is_stop_word, words};

/// A word as typed and as corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    /// The word as typed.
    pub(super) typed: String,
    /// The word that is looked for instead.
    pub(super) corrected: String,
}

/// Corrects the words of `query` that the index lacks, in place, and returns the
/// corrections. If the index has another form of the word as typed, the query
/// looks for both.
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

/// The effect of a correction on a clause.
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
            // Another form of the same word, with the same term.
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

/// Returns the index term of a word.
fn term_of(word: &str, stemming: Stemming) -> String {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    stemming.stem(&mut folded);
    folded
}

/// Returns the likeliest correction of `typed`. Returns `None` if the index has the
/// word, or if it is a stop word, too short, or too different from every word of
/// the index. Only documents that `scope` admits are considered.
pub(super) fn suggestion(
    store: &dyn Reader,
    typed: &str,
    scope: &Filter,
) -> Result<Option<String>> {
    let mut folded = String::new();
    fold_into(typed, &mut folded);
    let length = folded.chars().count();
    let correctable = length >= SHORTEST_CORRECTED
        && is_plain(&folded)
        && words(typed).all(|word| word.class == Class::Spaced);
    if !correctable || is_stop_word(&folded) || is_known(store, &folded, scope)? {
        return Ok(None);
    }
    let near = store.similar_words(&folded, most_edits(length))?;
    let most = most_cost(length);
    let mut likely: Vec<(f64, String)> = near
        .into_iter()
        .filter_map(|near| {
            let cost = edit_cost(&folded, &near.word);
            (cost <= most).then(|| (likelihood(near.documents, cost), near.word))
        })
        .collect();
    likely.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (_, word) in likely {
        if scope.is_empty() || is_known(store, &word, scope)? {
            return Ok(Some(word));
        }
    }
    Ok(None)
}

/// Tells whether a document that `scope` admits contains this word.
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

/// Returns the query's text with its words corrected, for display.
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
