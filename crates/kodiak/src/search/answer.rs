//! The answer: hits, and how they were found. One type for the terminal, JSON
//! and everything else. Fields are added, never renamed.

use std::ops::{Deref, DerefMut, Range};

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::card::Card;
use super::corrected::Corrected;
use super::filters::QueryFilter;
use super::intent::Intent;
use super::notices::{Completeness, Notices};
use crate::source::TurnDetails;
use crate::store::Row;

/// The answer to a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The query as typed.
    pub query: String,
    /// The filters that the query has, as they were understood.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<QueryFilter>,
    /// The query with its misspelt words corrected, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// The query with its last word completed, if the word begins others and the
    /// searched documents lack it. All words that begin so were looked for; this has
    /// the most common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completed: Option<String>,
    /// The kind of query it was taken for.
    pub intent: Intent,
    /// Which retrievers ran.
    pub retrievers: Retrievers,
    /// The share of the searched chunks with embeddings, from 0 to 1, whether or not
    /// they were compared; 0 if there are none.
    pub embedded: f64,
    /// Whether it covers everything, and if not, why.
    #[serde(flatten)]
    pub completeness: Completeness,
    /// Caveats that a reader should know about.
    #[serde(flatten)]
    pub notices: Notices,
    /// The number of documents that matched.
    pub total: usize,
    /// The probability that the searched documents answer the query, from 0 to 1;
    /// absent where relevance is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered: Option<f64>,
    /// Whether a hit contains every informative word of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contained: Option<bool>,
    /// The number of hits worth a look: those of at least
    /// [`RELEVANT`](crate::rank::relevance::RELEVANT), if the query is probably answered
    /// at all; absent where relevance is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevant: Option<usize>,
    /// The time the search took, in milliseconds.
    pub took_ms: u64,
    /// The best matches, best first.
    pub hits: Vec<Hit>,
    /// Documents with similar titles, if there is no hit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

impl Answer {
    /// Reports whether every known change can be found by word and nothing was cut
    /// short.
    pub fn is_complete(&self) -> bool {
        self.completeness.is_complete()
    }
}

/// The names of the retrievers that ran; absent for one that did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retrievers {
    /// How words were matched: `fts5` or `like`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<String>,
    /// The model that embedded the query or the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<String>,
    /// The model that reranked the best hits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker: Option<String>,
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Hit {
    /// The document. Its fields are read and written through the hit.
    #[serde(flatten)]
    pub card: Card,
    /// The key of the entry it is from: for a file, its path from the source's root,
    /// which for a memory is not its own name.
    #[serde(skip)]
    pub entry: String,
    /// Its row in the index, for those who read more of it.
    #[serde(skip)]
    pub row: Row,
    /// The line of the first match in the snippet, or the one it begins on.
    pub line: usize,
    /// The lines that match, in order; for a hit that was found by meaning only, the lines
    /// of its nearest chunk.
    #[serde(skip)]
    pub lines: Vec<usize>,
    /// The excerpt that matches best, as prose without markup.
    pub snippet: String,
    /// The matched words, as byte ranges of the snippet.
    #[serde(serialize_with = "pairs")]
    pub marks: Vec<Range<usize>>,
    /// How well it matched, from 0 to 1; the best candidate has 1.
    pub score: f64,
    /// The probability that a person would call it relevant, from 0 to 1. It can
    /// be compared between queries. Absent where relevance is not judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relevance: Option<f64>,
    /// Whether it is worth a look; true where relevance is not judged.
    #[serde(skip)]
    pub probable: bool,
    /// The cosine between the query and its nearest chunk, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The retrievers that found it: `lexical`, `semantic` or both.
    pub found_by: Vec<&'static str>,
    /// Whether the file has changed since it was indexed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether its field `archived` says so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The id of the newest document that supersedes it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<String>,
    /// The alias that matches the query better than its title does, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The documents that it corrects, if they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub corrects: Vec<Corrected>,
    /// Whether it is of another project than the present one, which comes first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// The details of a turn, if it is one of a session.
    #[serde(flatten)]
    pub turn: Option<TurnDetails>,
    /// Documents with the same text, which are not separate hits, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_in: Vec<Duplicate>,
    /// How it was ranked, if the request asked for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

impl Deref for Hit {
    type Target = Card;

    fn deref(&self) -> &Card {
        &self.card
    }
}

impl DerefMut for Hit {
    fn deref_mut(&mut self) -> &mut Card {
        &mut self.card
    }
}

/// A document that says the same as a hit that was ranked above it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// Its id, as short as it can be.
    pub id: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root.
    pub path: String,
    /// Its title.
    pub title: String,
}

/// How a hit was ranked. Fields that do not apply to it are absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Its rank in lexical retrieval, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<usize>,
    /// Its BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// The terms of the query that occur in it.
    pub terms: Vec<ExplainedTerm>,
    /// Its rank in semantic retrieval, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_rank: Option<usize>,
    /// The cosine between the query and its nearest chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The cosine between the query and the centroid of its chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centroid_similarity: Option<f64>,
    /// The first and last line of its nearest chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_lines: Option<[usize; 2]>,
    /// The headings above that chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// The name of the fusion, if both retrievers were fused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fusion: Option<&'static str>,
    /// The weight of lexical evidence in the fusion: less than usual if even the
    /// best document covers little of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_weight: Option<f64>,
    /// The part of the fused score that rescoring added, negative if it subtracted: the
    /// hubness penalty, smoothing, and the boost of its thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescoring: Option<f64>,
    /// The fused score after rescoring; the best candidate's becomes the score 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fused_score: Option<f64>,
    /// The score of the reranker, if it was reranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f64>,
    /// The share of the query's informative terms that it contains, weighted by
    /// idf.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<f64>,
    /// The highest share of them that one passage has, with the title and the tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passage_coverage: Option<f64>,
    /// The probability that it answers by its words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_words: Option<f64>,
    /// The probability that it answers by its meaning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_meaning: Option<f64>,
}

/// A term of the query that occurs in a hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedTerm {
    /// The index term; `…` stands for the rest of a word.
    pub term: String,
    /// The number of its occurrences in title, body and tags.
    pub occurrences: [usize; 3],
    /// The number of documents that link to the hit with a text that has it, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<u32>,
    /// Its document frequency.
    pub documents: u64,
    /// Its idf, capped for stop words.
    pub weight: f64,
}

/// A document with a title or file name similar to the query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// Its id, as short as it can be.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root.
    pub path: String,
}

/// Serialises ranges as pairs of start and end.
fn pairs<S: Serializer>(marks: &[Range<usize>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(Some(marks.len()))?;
    for mark in marks {
        sequence.serialize_element(&[mark.start, mark.end])?;
    }
    sequence.end()
}
