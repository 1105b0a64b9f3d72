//! The numbers of fixed rules: how questions are recognised, and how documents are ranked
//! where neither BM25 nor fusion decides alone.
//!
//! They cannot be changed per search. Those that can are in `tuning`.

/// The number of words from which a query is a question: it is searched
/// semantically, and quotation marks in it emphasise rather than require.
pub const QUESTION_WORDS: usize = 3;

/// The number of informative terms from which term proximity counts. One or two
/// terms are probably a name, most likely a title; only from three on do the
/// terms say something together.
pub const PROXIMITY_TERMS: usize = 3;

/// The bonus of a candidate that has every informative word of the query in the form
/// it was typed, in standard deviations of the fused score; less in proportion.
/// "productivity" is not "production".
pub const EXACT_BONUS: f64 = 0.5;

/// The penalty of a candidate that has only other words with the stems of the query's and
/// is less similar to the query than the mean of the candidates; less in proportion. With a
/// similarity above the mean, such words have the meaning of the query.
pub const RELATED_PENALTY: f64 = 1.0;

/// The bonus of a candidate that has a query of stop words in a row as it was typed;
/// less for a part of it, and in proportion to the share of stop words. Anywhere they
/// mean nothing; in order they may be a saying or a name. Other words mean as much
/// apart, and a note that quotes a query is not the note about it.
pub const VERBATIM_BONUS: f64 = 1.0;

/// The bonus of a candidate that has a name of the query with its signs, such as `C#`,
/// of which the index has only the letters.
/// Without its sign it is another name.
pub const SIGNED_BONUS: f64 = 2.0;

/// The bonus of a candidate that has a name of the query with its dot, such as
/// `node.js`, whose letters already tell most names apart.
pub const DOTTED_BONUS: f64 = 0.5;

/// The bonus of a candidate that has the name or states the day that is all of the
/// query: `C++` does not ask for C, however often a note says that. It is more than any
/// other difference between candidates; a BM25 score is raised by the best one.
pub const WHOLE_QUERY_BONUS: f64 = 10.0;

/// The bonus of a candidate that tells a time, for a query that asks when.
pub const TIME_BONUS: f64 = 1.0;

/// The bonus of a candidate whose date is in the period that the query names.
pub const PERIOD_BONUS: f64 = 1.0;

/// The share by which these bonuses raise a BM25 score, which has no standard
/// deviation to measure by.
pub const BONUS_SHARE: f64 = 0.4;

/// The score of the best semantic-only hit, relative to the last lexical hit,
/// where semantic hits follow below lexical ones.
pub const BACKFILL_CEILING: f64 = 0.9;

/// The weight of a literal match in the title, relative to 1 for the body.
pub const LITERAL_TITLE_WEIGHT: u32 = 10;

/// The number of chunks that represent a document in a search for similar ones.
/// The centroid of a document about everything is close to nothing in
/// particular.
pub const SIMILAR_CHUNKS: usize = 32;

/// The number of words that represent a document without vectors in a search for
/// similar ones.
pub const SIMILAR_WORDS: usize = 24;

/// The minimum number of letters of such a word.
pub const SIMILAR_LETTERS: usize = 3;

/// The weight of such a word in the title, relative to 1 for the body.
pub const SIMILAR_TITLE_WEIGHT: f64 = 3.0;

/// The weight of a reranker's scores beside the scores of the search.
pub const RERANK_WEIGHT: f64 = 0.5;

/// The seconds after which an opening of a document counts for half: a fortnight. The
/// documents in use change over weeks, not hours.
pub const FRECENCY_HALF_LIFE: f64 = 14.0 * 24.0 * 60.0 * 60.0;

/// The least that the openings of a document that is opened often count for together. It is
/// more than one opening counts for, however late it was.
pub const FRECENCY_OFTEN: f64 = 1.2;

/// The difference in relevance from which no opening lets one hit pass another.
pub const FRECENCY_MARGIN: f64 = 0.05;
