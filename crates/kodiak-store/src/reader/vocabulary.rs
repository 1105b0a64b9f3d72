//! The words of the documents as they are written.

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

/// Finds folded, unstemmed words, for spelling corrections and completions.
pub trait Vocabulary {
    /// Returns the number of documents that have this word, unstemmed.
    fn word_frequency(&self, word: &str) -> Result<u64>;

    /// Reports whether any document has this word, unstemmed, which may take less than
    /// to count them.
    fn has_word(&self, word: &str) -> Result<bool> {
        Ok(self.word_frequency(word)? > 0)
    }

    /// Returns the words that begin with `prefix`, the most common first.
    /// Equally common words are in alphabetical order.
    fn words_beginning(&self, prefix: &str, limit: usize) -> Result<Vec<(String, u64)>>;

    /// Returns the words within an edit distance of 1 or 2 of `word`, in no
    /// particular order.
    fn similar_words(&self, word: &str, distance: u8) -> Result<Vec<SimilarWord>>;

    /// Returns the number of distinct words in the vocabulary that occur in
    /// present documents.
    fn vocabulary_size(&self) -> Result<u64>;
}
