//! The words of the index, as far as a search has asked for them.
//!
//! Over a network, each call to a store is a round trip, and each question of a plan
//! depends on the answers so far. So a plan is made with guesses first: all its questions
//! are noted and answered in one call, and the plan is made again ([`Lexicon::settle`]).
//! Guesses make the plan ask more questions rather than fewer: words are taken for unknown
//! and phrases for absent. Documents that decide about a correction or a completion come
//! with a second call.
//!
//! Without that, or if a call fails, each question is a separate call.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use super::watch::{Seen, Watch, Watching};
use crate::error::Result;
use crate::rank::Corpus;
use crate::store::vectors::Bitmap;
use crate::store::{
    Beginning, Coverage, Expression, Filter, Misspelt, Questions, Reader, Revision, SimilarWord,
    TermBeginning,
};
use crate::text::Stemming;

/// The number of calls after which a plan is made with single questions. Two suffice.
const MAX_ROUNDS: usize = 4;

/// Words with their numbers of documents.
type Counted = Vec<(String, u64)>;

/// The answers so far, and the next questions.
pub(super) struct Lexicon<'a> {
    store: &'a dyn Reader,
    filter: Filter,
    /// Whether the query is still being typed: its last word may be a beginning although
    /// it is a word.
    is_typing: bool,
    /// Whether questions are noted instead of asked.
    notes: Cell<bool>,
    /// Whether an answer was guessed since the plan began.
    has_guessed: Cell<bool>,
    asked: RefCell<Questions>,
    watches: RefCell<Vec<Watching>>,
    known: RefCell<Known>,
}

#[derive(Default)]
struct Known {
    revision: Option<Revision>,
    corpus: Option<Corpus>,
    admitted: Option<u64>,
    rows: Option<Arc<Bitmap>>,
    /// Whether anything is embedded, and how much.
    #[expect(
        clippy::option_option,
        reason = "the outer one says whether it is known"
    )]
    coverage: Option<Option<Coverage>>,
    incomplete: Option<Vec<String>>,
    words: HashMap<String, bool>,
    beginnings: HashMap<(String, usize), Counted>,
    similar: HashMap<(String, u8), Vec<SimilarWord>>,
    terms: HashMap<String, u64>,
    term_beginnings: HashMap<TermBeginning, Counted>,
    expressions: Vec<(Expression, bool)>,
    seen: HashMap<Watch, Seen>,
}

impl<'a> Lexicon<'a> {
    /// Creates a lexicon of the documents that `filter` admits.
    pub(super) fn new(store: &'a dyn Reader, filter: Filter, is_typing: bool) -> Self {
        Self {
            store,
            filter,
            is_typing,
            notes: Cell::new(false),
            has_guessed: Cell::new(false),
            asked: RefCell::default(),
            watches: RefCell::default(),
            known: RefCell::default(),
        }
    }

    /// Returns the documents that the answers are about.
    pub(super) fn filter(&self) -> &Filter {
        &self.filter
    }

    /// Returns how the words of the index are stemmed.
    pub(super) fn stemming(&self) -> Stemming {
        self.store.stemming()
    }

    /// Reports whether every document of the index meets the filter.
    pub(super) fn is_within(&self) -> bool {
        self.store.is_within(&self.filter)
    }

    /// Reports whether questions are noted, and their answers may be guesses.
    pub(super) fn is_noting(&self) -> bool {
        self.notes.get()
    }

    /// Makes a plan, with all questions of a round in one call.
    pub(super) fn settle<T>(&self, plan: impl Fn() -> Result<T>) -> Result<T> {
        for _ in 0..MAX_ROUNDS {
            self.notes.set(true);
            self.has_guessed.set(false);
            let planned = plan();
            self.notes.set(false);
            self.has_guessed.set(false);
            if self.asked.borrow().is_empty() {
                return planned;
            }
            // Whatever failed, single questions say what it was.
            if self.fetch().is_err() {
                break;
            }
        }
        plan()
    }

    /// Asks everything that was noted.
    fn fetch(&self) -> Result<()> {
        let asked = self.asked.take();
        let mut watches = self.watches.take();
        let answers = self
            .store
            .consult(&asked, &self.filter, &mut |number, step| {
                Watching::see(&mut watches, number, step)
            })?;
        let mut known = self.known.borrow_mut();
        known.revision = answers.revision.or(known.revision);
        known.corpus = answers.corpus.or(known.corpus);
        known.admitted = answers.admitted.or(known.admitted);
        known.rows = answers.rows.map(Arc::new).or(known.rows.take());
        if asked.coverage {
            known.coverage = Some(answers.coverage);
        }
        if asked.incomplete {
            known.incomplete = Some(answers.incomplete);
        }
        known
            .words
            .extend(asked.words.into_iter().zip(answers.words));
        known
            .terms
            .extend(asked.terms.into_iter().zip(answers.terms));
        for (asked, found) in asked.beginnings.into_iter().zip(answers.beginnings) {
            // None were returned if it is a word.
            if !asked.unless_word || known.words.get(&asked.prefix) == Some(&false) {
                known.beginnings.insert((asked.prefix, asked.limit), found);
            }
        }
        for (asked, found) in asked.similar.into_iter().zip(answers.similar) {
            let is_word = asked.unless_word && known.words.get(&asked.word) != Some(&false);
            let mut beginnings = known.beginnings.iter();
            let has_none =
                beginnings.any(|((prefix, _), found)| *prefix == asked.word && found.is_empty());
            let begins = asked.unless_beginning && found.is_empty() && !has_none;
            if !is_word && !begins {
                known.similar.insert((asked.word, asked.distance), found);
            }
        }
        let beginnings = asked.term_beginnings.into_iter();
        known
            .term_beginnings
            .extend(beginnings.zip(answers.term_beginnings));
        let expressions = asked.expressions.into_iter();
        known
            .expressions
            .extend(expressions.zip(answers.expressions));
        known
            .seen
            .extend(watches.into_iter().filter_map(Watching::seen));
        Ok(())
    }

    /// Returns the answer under a key. If there is none, notes the question and returns a
    /// guess, or asks it.
    fn answer<T>(
        &self,
        known: impl Fn(&Known) -> Option<T>,
        ask: impl FnOnce(&mut Questions),
        guess: T,
    ) -> Result<T> {
        let found = known(&self.known.borrow());
        if let Some(found) = found {
            return Ok(found);
        }
        ask(&mut self.asked.borrow_mut());
        if self.notes.get() {
            self.has_guessed.set(true);
            return Ok(guess);
        }
        self.fetch()?;
        let found = known(&self.known.borrow());
        Ok(found.unwrap_or(guess))
    }

    /// Notes that facts about the index will be asked: which state of it is read, how much
    /// of the admitted documents is embedded, which sources are incomplete, and, if they
    /// are `counted`, how many documents are admitted.
    pub(super) fn expect_facts(&self, counted: bool) {
        let known = self.known.borrow();
        let mut asked = self.asked.borrow_mut();
        asked.revision |= known.revision.is_none();
        asked.coverage |= known.coverage.is_none();
        asked.incomplete |= known.incomplete.is_none();
        asked.admitted |= counted && known.admitted.is_none();
    }

    /// Notes that the admitted documents will be asked.
    pub(super) fn expect_rows(&self) {
        self.asked.borrow_mut().rows |= self.known.borrow().rows.is_none();
    }

    /// Notes that the document frequency of a term will be asked.
    pub(super) fn expect_term(&self, term: &str) {
        if !self.known.borrow().terms.contains_key(term) {
            add(&mut self.asked.borrow_mut().terms, term.to_owned());
        }
    }

    /// Returns the state of the index that the answers are from.
    pub(super) fn revision(&self) -> Result<Revision> {
        let guess = Revision::default();
        self.answer(|known| known.revision, |asked| asked.revision = true, guess)
    }

    /// Returns the size of the collection.
    pub(super) fn corpus(&self) -> Result<Corpus> {
        self.answer(
            |known| known.corpus,
            |asked| asked.corpus = true,
            Corpus::default(),
        )
    }

    /// Returns the number of documents that the filter admits.
    pub(super) fn admitted(&self) -> Result<u64> {
        self.answer(|known| known.admitted, |asked| asked.admitted = true, 0)
    }

    /// Returns the documents that the filter admits.
    pub(super) fn rows(&self) -> Result<Arc<Bitmap>> {
        let guess = Arc::default();
        self.answer(|known| known.rows.clone(), |asked| asked.rows = true, guess)
    }

    /// Returns how much of the admitted documents is embedded; `None` if nothing is.
    pub(super) fn coverage(&self) -> Result<Option<Coverage>> {
        self.answer(|known| known.coverage, |asked| asked.coverage = true, None)
    }

    /// Returns the admitted sources that were never synced completely.
    pub(super) fn incomplete_sources(&self) -> Result<Vec<String>> {
        self.answer(
            |known| known.incomplete.clone(),
            |asked| asked.incomplete = true,
            Vec::new(),
        )
    }

    /// Reports whether any document has this word, unstemmed.
    pub(super) fn has_word(&self, word: &str) -> Result<bool> {
        self.answer(
            |known| known.words.get(word).copied(),
            |asked| add(&mut asked.words, word.to_owned()),
            false,
        )
    }

    /// Returns the words that begin with `prefix`, the most common first.
    pub(super) fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Counted> {
        let key = (prefix.to_owned(), limit);
        let unless_word = !self.is_typing && self.is_asked_whether_word(prefix);
        self.answer(
            |known| known.beginnings.get(&key).cloned(),
            |asked| {
                let beginning = Beginning {
                    prefix: prefix.to_owned(),
                    limit,
                    unless_word,
                };
                add(&mut asked.beginnings, beginning);
            },
            Vec::new(),
        )
    }

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no particular
    /// order.
    pub(super) fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>> {
        let key = (word.to_owned(), distance);
        let unless_word = self.is_asked_whether_word(word);
        let asked = self.asked.borrow();
        let unless_beginning = asked.beginnings.iter().any(|asked| asked.prefix == word);
        drop(asked);
        self.answer(
            |known| known.similar.get(&key).cloned(),
            |asked| {
                let misspelt = Misspelt {
                    word: word.to_owned(),
                    distance,
                    unless_word,
                    unless_beginning,
                };
                add(&mut asked.similar, misspelt);
            },
            Vec::new(),
        )
    }

    /// Reports whether it was only guessed that a word is unknown.
    fn is_asked_whether_word(&self, word: &str) -> bool {
        self.asked.borrow().words.iter().any(|asked| asked == word)
    }

    /// Returns the document frequency of an index term.
    pub(super) fn document_frequency(&self, term: &str) -> Result<u64> {
        self.answer(
            |known| known.terms.get(term).copied(),
            |asked| add(&mut asked.terms, term.to_owned()),
            0,
        )
    }

    /// Reports whether the document frequency of a term is only guessed.
    pub(super) fn is_guessed(&self, term: &str) -> bool {
        self.notes.get() && !self.known.borrow().terms.contains_key(term)
    }

    /// Returns the document frequency of each of these index terms.
    pub(super) fn document_frequencies<'t>(
        &self,
        terms: impl Iterator<Item = &'t str> + Clone,
    ) -> Result<Vec<u64>> {
        terms.clone().for_each(|term| self.expect_term(term));
        terms.map(|term| self.document_frequency(term)).collect()
    }

    /// Returns the index terms that begin with `prefix` and that at most `most`
    /// documents have, the most common first.
    pub(super) fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Counted> {
        let key = TermBeginning {
            prefix: prefix.to_owned(),
            most,
            limit,
        };
        self.answer(
            |known| known.term_beginnings.get(&key).cloned(),
            |asked| add(&mut asked.term_beginnings, key.clone()),
            Vec::new(),
        )
    }

    /// Reports whether any admitted document matches `expression`.
    pub(super) fn any_matches(&self, expression: &Expression) -> Result<bool> {
        let is_it = |(known, _): &&(Expression, bool)| known == expression;
        self.answer(
            |known| known.expressions.iter().find(is_it).map(|(_, any)| *any),
            |asked| asked.expressions.push(expression.clone()),
            false,
        )
    }

    /// Returns the observations in documents that match an expression.
    pub(super) fn watch(&self, watch: &Watch, expression: &Expression) -> Result<Seen> {
        let guess = watch.guess();
        // The expression may be made of guesses.
        if self.has_guessed.get() {
            return Ok(guess);
        }
        let answer = self.answer(
            |known| known.seen.get(watch).cloned(),
            |asked| {
                let mut watches = self.watches.borrow_mut();
                if !watches.iter().any(|one| one.is_about(watch)) {
                    asked.looks.push(watch.look(expression));
                    watches.push(Watching::new(watch.clone()));
                }
            },
            guess,
        );
        // What is guessed about documents changes no expression of this round.
        self.has_guessed.set(false);
        answer
    }
}

/// Adds a question, unless it was asked.
fn add<T: PartialEq>(questions: &mut Vec<T>, question: T) {
    if !questions.contains(&question) {
        questions.push(question);
    }
}
