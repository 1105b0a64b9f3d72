//! The words of the documents as they are written, and the index terms made of them.

use super::questions::{Answers, Beginning, Misspelt, Next, Questions, TermBeginning, Visit};
use crate::{Expression, Filter};
use kodiak_base::error::Result;

/// A word of the vocabulary that is similar to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarWord {
    /// The word, folded, not stemmed.
    pub word: String,
    /// The edit distance: the number of insertions, deletions, replacements and
    /// swaps.
    pub distance: u8,
    /// The number of documents that have the word.
    pub documents: u64,
}

/// Answers the questions of a search about words, before it retrieves: folded, unstemmed
/// words, for spelling corrections and completions, and index terms, for ranking.
pub trait Vocabulary {
    /// Answers all questions in one call, for documents that `filter` admits where the
    /// question says so. Calls `visit` with the steps of the looks, one look after the
    /// other. A store that is close at hand can leave this to
    /// [`answer_one_by_one`](super::answer_one_by_one).
    fn consult(
        &self,
        questions: &Questions,
        filter: &Filter,
        visit: &mut Visit<'_>,
    ) -> Result<Answers>;

    /// Returns the number of distinct words in the vocabulary that occur in
    /// present documents.
    fn vocabulary_size(&self) -> Result<u64>;

    /// Answers questions without looks and about no filter.
    fn ask(&self, questions: &Questions) -> Result<Answers> {
        self.consult(questions, &Filter::default(), &mut |_, _| Next::Enough)
    }

    /// Reports whether any document has this word, unstemmed, which may take less than
    /// to count them.
    fn has_word(&self, word: &str) -> Result<bool> {
        let questions = Questions {
            words: vec![word.to_owned()],
            ..Questions::default()
        };
        Ok(self.ask(&questions)?.words.pop().unwrap_or_default())
    }

    /// Returns the number of documents that have this word, unstemmed.
    fn word_frequency(&self, word: &str) -> Result<u64> {
        let questions = Questions {
            frequencies: vec![word.to_owned()],
            ..Questions::default()
        };
        Ok(self.ask(&questions)?.frequencies.pop().unwrap_or_default())
    }

    /// Returns the words that begin with `prefix`, the most common first.
    /// Equally common words are in alphabetical order.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>> {
        let questions = Questions {
            beginnings: vec![Beginning {
                prefix: prefix.to_owned(),
                limit,
                unless_word: false,
            }],
            ..Questions::default()
        };
        Ok(self.ask(&questions)?.beginnings.pop().unwrap_or_default())
    }

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no
    /// particular order.
    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
        let questions = Questions {
            similar: vec![Misspelt {
                word: word.to_owned(),
                distance,
                unless_word: false,
                unless_beginning: false,
            }],
            ..Questions::default()
        };
        Ok(self.ask(&questions)?.similar.pop().unwrap_or_default())
    }

    /// Returns the document frequency of each of these index terms.
    fn document_frequencies(&self, terms: &[&str]) -> Result<Vec<u64>> {
        let terms = terms.iter().map(|term| (*term).to_owned());
        let questions = Questions {
            terms: terms.collect(),
            ..Questions::default()
        };
        Ok(self.ask(&questions)?.terms)
    }

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first. Equally common terms are in
    /// alphabetical order.
    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>> {
        let questions = Questions {
            term_beginnings: vec![TermBeginning {
                prefix: prefix.to_owned(),
                most,
                limit,
            }],
            ..Questions::default()
        };
        let answers = self.ask(&questions)?;
        Ok(answers
            .term_beginnings
            .into_iter()
            .next()
            .unwrap_or_default())
    }

    /// Reports whether any document matches `expression` and `filter`.
    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool> {
        let questions = Questions {
            expressions: vec![expression.clone()],
            ..Questions::default()
        };
        let answers = self.consult(&questions, filter, &mut |_, _| Next::Enough)?;
        Ok(answers.expressions.first() == Some(&true))
    }
}
