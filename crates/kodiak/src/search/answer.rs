//! The answer: hits, and how they were found. One shape for the terminal, JSON
//! and everything else; fields are added, never renamed.

use std::ops::Range;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use super::intent::Intent;
use super::notice::Notices;

/// What a search found and how.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The query as typed.
    pub query: String,
    /// The query with misspelt words corrected, where any were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<String>,
    /// What the query was taken for.
    pub intent: Intent,
    /// Which retrievers ran.
    pub retrievers: Retrievers,
    /// How much of the collection has embeddings, 0 to 1.
    pub embedded: f64,
    /// What a reader should know about this answer.
    #[serde(flatten)]
    pub notices: Notices,
    /// How many documents matched.
    pub total: usize,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// The best of them.
    pub hits: Vec<Hit>,
    /// Documents with similar titles, where nothing matched.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

/// The retrievers that ran, by name; absent if one did not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retrievers {
    /// How words were matched: `fts5` or `like`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical: Option<String>,
    /// The model that compared meanings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic: Option<String>,
}

/// A document that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hit {
    /// Its id with `#`, as short as it can be.
    pub id: String,
    /// Its address.
    pub uri: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root.
    pub path: String,
    /// What it is.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// When it was written, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last changed.
    pub updated_at: String,
    /// The line the snippet begins on.
    pub line: usize,
    /// The excerpt that matched.
    pub snippet: String,
    /// The matched words, as byte ranges of the snippet.
    #[serde(serialize_with = "pairs")]
    pub marks: Vec<Range<usize>>,
    /// How well it matched; the best hit of an answer has 1.
    pub score: f64,
    /// The cosine between query and document, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// Which retrievers found it.
    pub found_by: Vec<&'static str>,
    /// Whether the file has changed since it was indexed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// How it was ranked, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
}

/// How a hit was ranked. What does not apply to it is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explanation {
    /// Its place in the ranking by word, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_rank: Option<usize>,
    /// Its BM25 score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_score: Option<f64>,
    /// The query's terms that it has.
    pub terms: Vec<ExplainedTerm>,
    /// Its place in the ranking by meaning, from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub semantic_rank: Option<usize>,
    /// The cosine of its nearest chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<f64>,
    /// The cosine of the centroid of its chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub centroid_similarity: Option<f64>,
    /// The first and last line of its nearest chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_lines: Option<[usize; 2]>,
    /// The headings above that chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// How the two rankings became one, where they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fusion: Option<&'static str>,
    /// How much words counted in that: less than usual where little of the query
    /// was found by word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lexical_weight: Option<f64>,
    /// What of it the other candidates added or took: those most like it, and
    /// its neighbours in a thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rescoring: Option<f64>,
    /// What came of it; the best hit's becomes the score 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fused_score: Option<f64>,
}

/// A term of the query as it weighed on a hit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedTerm {
    /// The index term; `…` stands for the rest of a word.
    pub term: String,
    /// How often it occurs in title, body and tags.
    pub occurrences: [usize; 3],
    /// How many documents have it.
    pub documents: u64,
    /// How much one occurrence counts at most.
    pub weight: f64,
}

/// A document that might have been meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// Its id with `#`.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root.
    pub path: String,
}

fn pairs<S: Serializer>(marks: &[Range<usize>], serializer: S) -> Result<S::Ok, S::Error> {
    let mut sequence = serializer.serialize_seq(Some(marks.len()))?;
    for mark in marks {
        sequence.serialize_element(&[mark.start, mark.end])?;
    }
    sequence.end()
}
