//! The numbers of fixed rules: what counts as a question, and how documents are
//! ranked where neither BM25 nor fusion decides alone.
//!
//! A search cannot be given others; what it can be given is in `tuning`.

/// From so many words on a text is a question, whose meaning counts, and quotes
/// in it point at something rather than demand it.
pub(crate) const QUESTION_WORDS: usize = 3;

/// From so many informative terms on a query says something that its terms say
/// together: only then does their proximity count. One or two are a name that is
/// looked for, most likely a title.
pub(crate) const PROXIMITY_TERMS: usize = 3;

/// What the nearest document that only similarity found has, at most, of the last
/// lexical hit's score, where similarity only fills up what words leave.
pub(crate) const BACKFILL_CEILING: f64 = 0.9;

/// What a literal match in the title counts, one in the body being 1.
pub(crate) const LITERAL_TITLE_WEIGHT: u32 = 10;

/// How many chunks of a document stand for it where others like it are looked
/// for: a document on everything is like nothing in particular.
pub(crate) const SIMILAR_CHUNKS: usize = 32;

/// How many words stand for a document that has no vectors.
pub(crate) const SIMILAR_WORDS: usize = 24;

/// How many letters those words have at least.
pub(crate) const SIMILAR_LETTERS: usize = 3;

/// What one of those words in the title counts, one in the body being 1.
pub(crate) const SIMILAR_TITLE_WEIGHT: f64 = 3.0;
