//! Spelling correction: replaces misspelt words of a query by words of the
//! vocabulary.
//!
//! Only a word that the index lacks is corrected, so that a correction never hides
//! an exact hit. A last word that begins another is completed instead (`complete`).
//! A word of the language may be right although no document has it: it is corrected
//! only if `rank::spelling` finds that likely enough. A correction occurs in a document that the filter admits. If it occurs only inside
//! addresses, it must be a word of the language, no other word must be as close,
//! and the typed word must be in no list.

use super::address::Occurrence;
use super::lexicon::Lexicon;
use super::query::{Clause, Condition, Form, Query};
use super::watch::{Seen, Watch};
use crate::embed::Embedder;
use crate::error::Result;
use crate::rank::spelling::{
    MUCH_CLOSER, SHORTEST_CORRECTED, Standing, edit_cost, likelihood, most_cost, most_edits,
};
use crate::store::{Expression, Phrase, SimilarWord};
use crate::text::{Class, Stemming, fold_into, is_english_word, is_plain, is_stop_word, words};

/// The number of similar words that are looked up, the likeliest first.
const MAX_CANDIDATES: usize = 16;

/// A word as typed and as corrected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    /// The word as typed.
    pub(super) typed: String,
    /// The word that is looked for instead.
    pub(super) corrected: String,
}

/// Corrects the words of a query.
#[derive(Clone, Copy)]
pub(super) struct Speller<'a> {
    /// The words of the documents that a correction must occur in.
    pub(super) lexicon: &'a Lexicon<'a>,
    /// The model whose vocabulary tells which words are common.
    pub(super) embedder: Option<&'a dyn Embedder>,
}

impl Speller<'_> {
    /// Corrects the words of `query` that the index lacks, in place, and returns
    /// the corrections. If the index has another form of the word as typed, the
    /// query looks for both.
    pub(super) fn correct(&self, query: &mut Query) -> Result<Vec<Correction>> {
        let mut corrector = Corrector {
            speller: *self,
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

    /// Returns the likeliest correction of `typed`. Returns `None` if the index has
    /// the word, or if it is a stop word, too short, too well known, or too
    /// different from every word of the documents that the filter admits.
    pub(super) fn suggestion(&self, typed: &str) -> Result<Option<String>> {
        let mut folded = String::new();
        fold_into(typed, &mut folded);
        let length = folded.chars().count();
        let correctable = length >= SHORTEST_CORRECTED
            && is_plain(&folded)
            && words(typed).all(|word| word.class == Class::Spaced);
        if !correctable || is_stop_word(&folded) || self.is_known(&folded)? {
            return Ok(None);
        }
        // In an index without stems, another form of a word is a correction of it,
        // however well known the word is.
        let whole = self.lexicon.stemming() == Stemming::None;
        let stem = term_of(&folded, Stemming::English);
        let is_form = |word: &str| whole && term_of(word, Stemming::English) == stem;
        let standing = self.standing(&folded);
        let least = standing.least_likelihood();
        if least.is_none() && !whole {
            return Ok(None);
        }
        let least = least.unwrap_or(f64::INFINITY);
        let near = self.lexicon.similar_words(&folded, most_edits(length))?;
        let mut likely: Vec<(f64, f64, SimilarWord)> = near
            .into_iter()
            .filter_map(|near| {
                let cost = edit_cost(&folded, &near.word);
                let likelihood = likelihood(near.documents, cost);
                // In a misspelling, a letter may be missing.
                let letters = match standing {
                    Standing::Unlisted => length.max(near.word.chars().count()),
                    _ => length,
                };
                let accepted = likelihood >= least || is_form(&near.word);
                let likely = cost <= most_cost(letters) && accepted;
                likely.then_some((likelihood, cost, near))
            })
            .collect();
        likely.sort_by(|one, other| {
            other
                .0
                .total_cmp(&one.0)
                .then(one.2.word.cmp(&other.2.word))
        });
        let mut in_address: Option<(f64, String)> = None;
        for (_, cost, near) in likely.into_iter().take(MAX_CANDIDATES) {
            match self.occurrence(&folded, near.clone())? {
                Occurrence::Outside => {
                    let closer = in_address.filter(|(address, _)| address + MUCH_CLOSER <= cost);
                    return Ok(Some(closer.map_or(near.word, |(_, word)| word)));
                }
                // An address has made-up names too, which are unlikely to be meant.
                Occurrence::Inside
                    if standing == Standing::Unlisted && is_english_word(&near.word) =>
                {
                    in_address.get_or_insert((cost, near.word));
                }
                Occurrence::Inside | Occurrence::None => {}
            }
        }
        Ok(in_address.map(|(_, word)| word))
    }

    /// Returns how well known a folded word is outside the index.
    pub(super) fn standing(&self, folded: &str) -> Standing {
        match self.embedder {
            Some(embedder) if embedder.knows_word(folded) => Standing::Common,
            _ if !is_english_word(folded) => Standing::Unlisted,
            Some(embedder) if embedder.has_vocabulary() => Standing::Rare,
            _ => Standing::Listed,
        }
    }

    /// Reports whether any document that the caller may see contains this word.
    pub(super) fn is_known(&self, folded: &str) -> Result<bool> {
        self.lexicon.has_word(folded)
    }

    /// Returns where a word that the typed one may stand for, or another form of it, occurs
    /// in the documents that the filter admits.
    fn occurrence(&self, typed: &str, near: SimilarWord) -> Result<Occurrence> {
        // Fails if the full text is missing, which would look like a damaged index.
        self.lexicon.corpus()?;
        // If it is meant, it is looked for.
        self.lexicon
            .expect_term(&term_of(&near.word, self.lexicon.stemming()));
        let expression = expression(&near.word);
        let watch = Watch::Occurrence {
            word: near.word,
            documents: near.documents,
            typed: typed.to_owned(),
        };
        match self.lexicon.watch(&watch, &expression)? {
            Seen::Occurrence(occurrence) => Ok(occurrence),
            _ => Ok(Occurrence::None),
        }
    }

    /// Reports whether a document that the filter admits contains this phrase.
    pub(super) fn has_phrase(&self, phrase: &str) -> Result<bool> {
        self.lexicon.any_matches(&expression(phrase))
    }
}

/// Returns the expression that matches documents with this word or phrase.
fn expression(text: &str) -> Expression {
    Expression::Phrase(Phrase {
        text: text.to_owned(),
        weight: 1.0,
        ..Phrase::default()
    })
}

struct Corrector<'a> {
    speller: Speller<'a>,
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
        let Some(corrected) = self.speller.suggestion(&clause.text)? else {
            return Ok(Change::None);
        };
        let lexicon = self.speller.lexicon;
        let stemming = lexicon.stemming();
        let terms = [clause.text.as_str(), &corrected].map(|word| term_of(word, stemming));
        if terms[0] == terms[1] {
            // Another form of the same word, with the same term.
            return Ok(Change::None);
        }
        self.corrections.push(Correction {
            typed: clause.text.clone(),
            corrected: corrected.clone(),
        });
        let having = lexicon.document_frequency(&terms[0])?;
        let corrected = Clause {
            text: corrected,
            corrected: true,
            open: false,
            ..clause.clone()
        };
        Ok(if having > 0 {
            Change::Beside(corrected)
        } else {
            Change::Instead(corrected)
        })
    }
}

/// Returns the index term of a word.
pub(super) fn term_of(word: &str, stemming: Stemming) -> String {
    let mut folded = String::new();
    fold_into(word, &mut folded);
    stemming.stem(&mut folded);
    folded
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
