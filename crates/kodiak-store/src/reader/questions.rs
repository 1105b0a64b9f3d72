//! The questions of a search about words before it retrieves, in one call.

use super::{EmbeddingProgress, Revision, Selection, SimilarWord, Terms};
use crate::vectors::Bitmap;
use crate::{Coverage, Expression, Filter, StoredDocument};
use kodiak_base::error::Result;
use kodiak_rank::Corpus;

/// Questions that a store answers in one round trip. Empty lists and `false` ask
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a question of its own"
)]
pub struct Questions {
    /// Whether to return the state of the index that is read.
    pub revision: bool,
    /// Whether to return the size of the collection.
    pub corpus: bool,
    /// Whether to return the number of documents that the filter admits.
    pub admitted: bool,
    /// Whether to return the documents that the filter admits.
    pub rows: bool,
    /// Whether to return how many of the admitted chunks are embedded.
    pub coverage: bool,
    /// Whether to return the admitted sources that were never synced completely.
    pub incomplete: bool,
    /// Folded words, of which it is asked whether any document has them.
    pub words: Vec<String>,
    /// Folded words whose documents are counted.
    pub frequencies: Vec<String>,
    /// Beginnings of words.
    pub beginnings: Vec<Beginning>,
    /// Misspelt words.
    pub similar: Vec<Misspelt>,
    /// Index terms, whose documents are counted.
    pub terms: Vec<String>,
    /// Beginnings of index terms.
    pub term_beginnings: Vec<TermBeginning>,
    /// Expressions, of which it is asked whether any admitted document matches them.
    pub expressions: Vec<Expression>,
    /// Documents to read, in this order.
    pub looks: Vec<Look>,
}

impl Questions {
    /// Reports whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The beginning of a word, whose completions are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Beginning {
    /// The beginning, folded.
    pub prefix: String,
    /// The number of completions that are returned at most.
    pub limit: usize,
    /// Whether to return none if a document has the beginning itself as a word.
    pub unless_word: bool,
}

/// A word whose similar words are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Misspelt {
    /// The word, folded.
    pub word: String,
    /// The edit distance, 1 or 2.
    pub distance: u8,
    /// Whether to return none if a document has the word itself.
    pub unless_word: bool,
    /// Whether to return none if a document has a word that begins so.
    pub unless_beginning: bool,
}

/// The beginning of an index term, whose completions are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TermBeginning {
    /// The beginning.
    pub prefix: String,
    /// The number of documents that a completion has at most.
    pub most: u64,
    /// The number of completions that are returned at most.
    pub limit: usize,
}

/// Documents that are read until the caller has seen enough of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// The expression that they match, beside the filter.
    pub expression: Expression,
    /// The number of documents that are read at most, in the order of their numbers.
    pub most: usize,
}

/// A step of a look. The caller can end the look at each of them. A store over a
/// network fetches all looks at once and takes the steps afterwards.
#[derive(Clone, Copy, Debug)]
pub enum Looked<'a> {
    /// The look begins.
    Begins,
    /// These documents match.
    Matching(&'a Bitmap),
    /// The next of the documents.
    Document(&'a StoredDocument),
}

/// Whether a look continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It continues.
    More,
    /// The caller has seen enough of this look.
    Enough,
}

/// Receives the steps of looks, each with the number of its look.
pub type Visit<'a> = dyn FnMut(usize, Looked<'_>) -> Next + 'a;

/// The answers to [`Questions`], in the same order. Answers to questions that were not
/// asked are empty.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// The state of the index that was read.
    pub revision: Option<Revision>,
    /// The size of the collection.
    pub corpus: Option<Corpus>,
    /// The number of documents that the filter admits.
    pub admitted: Option<u64>,
    /// The documents that the filter admits.
    pub rows: Option<Bitmap>,
    /// How many of the admitted chunks are embedded; `None` if none are.
    pub coverage: Option<Coverage>,
    /// The sources that were never synced completely.
    pub incomplete: Vec<String>,
    /// Whether any document has each word.
    pub words: Vec<bool>,
    /// How many documents have each word.
    pub frequencies: Vec<u64>,
    /// The words with each beginning and their numbers of documents, the most common
    /// first. Equally common words are in alphabetical order.
    pub beginnings: Vec<Vec<(String, u64)>>,
    /// The words similar to each misspelt one, in no particular order.
    pub similar: Vec<Vec<SimilarWord>>,
    /// How many documents have each index term.
    pub terms: Vec<u64>,
    /// The index terms with each beginning, ordered like words.
    pub term_beginnings: Vec<Vec<(String, u64)>>,
    /// Whether an admitted document matches each expression.
    pub expressions: Vec<bool>,
}

/// The questions that a local store answers one by one. [`answer_one_by_one`] makes all
/// answers of it.
pub trait WordByWord: Terms + EmbeddingProgress {
    /// Returns the sources that `filter` admits and that were never synced completely.
    fn incomplete(&self, filter: &Filter) -> Result<Vec<String>>;

    /// Reports whether any document has this word.
    fn has_word(&self, word: &str) -> Result<bool>;

    /// Returns the number of documents that have this word.
    fn word_frequency(&self, word: &str) -> Result<u64>;

    /// Returns the words that begin with `prefix`, the most common first.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Returns the words within an edit distance of `word`.
    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>>;

    /// Returns the number of documents that have each of these index terms.
    fn document_frequencies(&self, terms: &[String]) -> Result<Vec<u64>>;

    /// Returns the index terms that begin with `prefix` and that at most `most` documents
    /// have, the most common first.
    fn terms_beginning(&self, prefix: &str, most: u64, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Reports whether any document matches `expression` and `filter`.
    fn any_matches(&self, expression: &Expression, filter: &Filter) -> Result<bool>;
}

/// Answers questions one by one.
pub fn answer_one_by_one<R: WordByWord + ?Sized>(
    store: &R,
    questions: &Questions,
    filter: &Filter,
    visit: &mut Visit<'_>,
) -> Result<Answers> {
    let mut answers = Answers::default();
    if questions.revision {
        answers.revision = Some(store.revision()?);
    }
    if questions.corpus {
        answers.corpus = Some(store.corpus()?);
    }
    if questions.rows {
        answers.rows = Some(store.rows(filter, None, None)?);
    }
    if questions.admitted {
        answers.admitted = Some(match (answers.corpus, &answers.rows) {
            (Some(corpus), _) if store.is_within(filter) => corpus.documents,
            (_, Some(rows)) => rows.len() as u64,
            _ => store.rows(filter, None, None)?.len() as u64,
        });
    }
    if questions.coverage {
        answers.coverage = match store.serving()? {
            Some(_) => Some(store.coverage(filter)?),
            None => None,
        };
    }
    if questions.incomplete {
        answers.incomplete = store.incomplete(filter)?;
    }
    for word in &questions.words {
        answers.words.push(store.has_word(word)?);
    }
    let is_word = |answers: &Answers, word: &String| {
        let known = questions.words.iter().position(|one| one == word);
        known.map_or_else(|| store.has_word(word), |at| Ok(answers.words[at]))
    };
    for word in &questions.frequencies {
        answers.frequencies.push(store.word_frequency(word)?);
    }
    for asked in &questions.beginnings {
        let found = if asked.unless_word && is_word(&answers, &asked.prefix)? {
            Vec::new()
        } else {
            store.words_beginning(&asked.prefix, asked.limit)?
        };
        answers.beginnings.push(found);
    }
    for asked in &questions.similar {
        let begins = || -> Result<bool> { Ok(!store.words_beginning(&asked.word, 1)?.is_empty()) };
        let is_right = (asked.unless_word && is_word(&answers, &asked.word)?)
            || (asked.unless_beginning && begins()?);
        answers.similar.push(if is_right {
            Vec::new()
        } else {
            store.similar_words(&asked.word, asked.distance)?
        });
    }
    if !questions.terms.is_empty() {
        answers.terms = store.document_frequencies(&questions.terms)?;
    }
    for asked in &questions.term_beginnings {
        let found = store.terms_beginning(&asked.prefix, asked.most, asked.limit)?;
        answers.term_beginnings.push(found);
    }
    for expression in &questions.expressions {
        answers
            .expressions
            .push(store.any_matches(expression, filter)?);
    }
    for (number, look) in questions.looks.iter().enumerate() {
        take_look(store, look, filter, &mut |step| visit(number, step))?;
    }
    Ok(answers)
}

/// Reads the documents of a look until the caller has seen enough, a few at a time.
fn take_look<R: Selection + ?Sized>(
    store: &R,
    look: &Look,
    filter: &Filter,
    visit: &mut dyn FnMut(Looked<'_>) -> Next,
) -> Result<()> {
    if visit(Looked::Begins) == Next::Enough {
        return Ok(());
    }
    let rows = store.rows(filter, Some(&look.expression), None)?;
    if visit(Looked::Matching(&rows)) == Next::Enough {
        return Ok(());
    }
    let read: Vec<_> = rows.iter().take(look.most).collect();
    for batch in read.chunks((look.most / 8).clamp(4, 50)) {
        for document in store.documents(batch)? {
            if visit(Looked::Document(&document)) == Next::Enough {
                return Ok(());
            }
        }
    }
    Ok(())
}
