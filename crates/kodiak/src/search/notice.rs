//! Notices: what a reader should know about an answer. Each has a code for
//! programs and a sentence for people.

use std::fmt;
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::incomplete::{Incomplete, NotIndexed};
use super::uncertainty::Uncertainty;

/// Something a reader should know about an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// The query was too long and was truncated.
    QueryTruncated {
        /// The number of words that were looked for.
        words: usize,
    },
    /// A quoted phrase occurs nowhere, so its words were looked for.
    PhraseNotFound {
        /// The phrase.
        phrase: String,
    },
    /// A prefix is so short that only its most common completions were looked for.
    PrefixTooShort {
        /// The prefix.
        prefix: String,
    },
    /// Full-text search failed.
    FullTextFailed {
        /// The error of the store.
        detail: String,
        /// Whether text was matched literally instead.
        matched_literally: bool,
    },
    /// Semantic search did not run.
    SemanticUnavailable(SemanticAbsence),
    /// Some chunks have no embedding yet.
    PartlyEmbedded {
        /// The share of chunks with an embedding, in percent, rounded down.
        percent: u8,
    },
    /// A source has never been indexed completely.
    SourceIncomplete {
        /// Its name.
        source: String,
    },
    /// A source could not be brought up to date before the search.
    SourceNotSynced {
        /// Its name.
        source: String,
        /// Why not.
        reason: String,
    },
    /// The folder of a source is missing, so its hits were not checked.
    SourceMissing {
        /// Its name.
        source: String,
    },
    /// Documents were left out because they no longer exist.
    DocumentsGone {
        /// The number of documents.
        count: usize,
    },
    /// Hits could not be compared with the present state of their source.
    DocumentsUnchecked {
        /// The number of hits.
        count: usize,
    },
    /// Hits have changed since they were indexed.
    DocumentsChanged {
        /// The number of hits.
        count: usize,
    },
    /// The hits have no relevance, because it was not fitted for the model.
    RelevanceUnknown {
        /// The name of the model.
        model: String,
    },
    /// None of the hits is probably relevant.
    Uncertain(Uncertainty),
    /// Every hit was less relevant than the request asked for.
    BelowMinRelevance {
        /// The number of hits that were left out.
        count: usize,
        /// The highest relevance of them.
        best: f64,
        /// The lowest relevance that was asked for.
        least: f64,
    },
    /// The hits were to be reranked, and were not.
    NotReranked {
        /// Why not.
        reason: String,
    },
    /// Changes were found and are not indexed yet.
    ChangesNotIndexed {
        /// The number of changed entries.
        count: usize,
        /// Why they are not indexed.
        reason: NotIndexed,
    },
    /// Lines were asked for that the document lacks.
    LinesBeyondEnd {
        /// One of them.
        line: usize,
        /// The number of lines of the document.
        line_count: usize,
    },
    /// Similar documents were searched for lexically instead of semantically.
    ComparedByWords {
        /// Why the document could not be compared semantically.
        reason: String,
    },
}

/// Why semantic search did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SemanticAbsence {
    /// There is no model, for the reason that the caller gave.
    NoModel(String),
    /// Nothing is embedded yet.
    NothingEmbedded,
    /// The documents were embedded with another model.
    OtherModel {
        /// The key of the model they were embedded with, and its dimensions.
        embedded_with: (String, usize),
        /// The key of the model in use, and its dimensions.
        in_use: (String, usize),
    },
    /// The model did not answer within this time.
    Deadline(Duration),
    /// Too many semantic searches are running.
    Busy,
    /// All words of the query are out of the model's vocabulary.
    UnknownWords {
        /// The name of the model.
        model: String,
    },
    /// The model or the store failed.
    Failed(String),
}

impl Notice {
    /// Returns a stable name of this kind of notice, for programs to act on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::QueryTruncated { .. } => "query-truncated",
            Self::PhraseNotFound { .. } => "phrase-not-found",
            Self::PrefixTooShort { .. } => "prefix-too-short",
            Self::FullTextFailed { .. } => "full-text-failed",
            Self::SemanticUnavailable(absence) => absence.code(),
            Self::PartlyEmbedded { .. } => "partly-embedded",
            Self::SourceIncomplete { .. } => "source-incomplete",
            Self::SourceNotSynced { .. } => "source-not-synced",
            Self::SourceMissing { .. } => "source-missing",
            Self::DocumentsGone { .. } => "documents-gone",
            Self::DocumentsUnchecked { .. } => "documents-unchecked",
            Self::DocumentsChanged { .. } => "documents-changed",
            Self::RelevanceUnknown { .. } => "relevance-unknown",
            Self::Uncertain(_) => "uncertain",
            Self::BelowMinRelevance { .. } => "below-min-relevance",
            Self::NotReranked { .. } => "not-reranked",
            Self::ChangesNotIndexed { .. } => "changes-not-indexed",
            Self::LinesBeyondEnd { .. } => "lines-beyond-end",
            Self::ComparedByWords { .. } => "compared-by-words",
        }
    }
}

impl SemanticAbsence {
    fn code(&self) -> &'static str {
        match self {
            Self::NoModel(_) => "semantic-no-model",
            Self::NothingEmbedded => "semantic-nothing-embedded",
            Self::OtherModel { .. } => "semantic-other-model",
            Self::Deadline(_) => "semantic-deadline",
            Self::Busy => "semantic-busy",
            Self::UnknownWords { .. } => "semantic-unknown-words",
            Self::Failed(_) => "semantic-failed",
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::QueryTruncated { words } => {
                write!(
                    formatter,
                    "the query is too long: only its first {words} words were looked for"
                )
            }
            Self::PhraseNotFound { phrase } => write!(
                formatter,
                "no note has the phrase \"{phrase}\"; its words were searched for instead"
            ),
            Self::PrefixTooShort { prefix } => write!(
                formatter,
                "too many words begin with \"{prefix}\": only the best of them were searched for; \
                 type another letter"
            ),
            Self::FullTextFailed {
                detail,
                matched_literally,
            } => {
                write!(formatter, "full-text search failed ({detail})")?;
                if *matched_literally {
                    formatter.write_str("; the text was searched literally instead")?;
                }
                Ok(())
            }
            Self::SemanticUnavailable(absence) => {
                write!(formatter, "notes were searched by words only: {absence}")
            }
            Self::PartlyEmbedded { percent: 0 } => formatter
                .write_str("almost none of the text is embedded yet; it is found by words only"),
            Self::PartlyEmbedded { percent } => write!(
                formatter,
                "{percent} % of the text is embedded so far; the rest is found by words only"
            ),
            Self::SourceIncomplete { source } => {
                write!(
                    formatter,
                    "some notes of '{source}' are not indexed yet; index again to find them too"
                )
            }
            Self::SourceNotSynced { source, reason } => {
                write!(
                    formatter,
                    "'{source}' could not be updated, so its notes may be out of date: {reason}"
                )
            }
            Self::SourceMissing { source } => write!(
                formatter,
                "the folder of '{source}' is missing; its notes are shown as last indexed"
            ),
            Self::DocumentsGone { count } => {
                let (were, their) = match count {
                    1 => ("note was", "its file no longer exists"),
                    _ => ("notes were", "their files no longer exist"),
                };
                write!(formatter, "{count} {were} left out: {their}")
            }
            Self::DocumentsUnchecked { count } => {
                let (notes, they) = match count {
                    1 => ("note", "it was"),
                    _ => ("notes", "they were"),
                };
                write!(
                    formatter,
                    "{count} {notes} could not be checked and may have changed since {they} indexed"
                )
            }
            Self::DocumentsChanged { count } => {
                let (have, they) = match count {
                    1 => ("note has", "it was"),
                    _ => ("notes have", "they were"),
                };
                write!(
                    formatter,
                    "{count} {have} changed since {they} indexed; index again"
                )
            }
            Self::RelevanceUnknown { model } => write!(
                formatter,
                "how relevant the hits are is not known for the model {model}"
            ),
            Self::Uncertain(uncertainty) => uncertainty.fmt(formatter),
            Self::BelowMinRelevance { count, best, least } => {
                // Rounded down, so that it stays below what was asked for.
                let best = ((best * 10_000.0).round() / 100.0).floor() / 100.0;
                write!(formatter, "the minimum relevance of {least} left out ")?;
                match count {
                    1 => write!(formatter, "the only hit, which has {best:.2}"),
                    _ => write!(formatter, "all {count} hits; the best has {best:.2}"),
                }
            }
            Self::NotReranked { reason } => {
                write!(formatter, "the hits were not reranked: {reason}")
            }
            Self::ChangesNotIndexed { count, reason } => Incomplete::ChangesNotIndexed {
                count: *count,
                reason: reason.clone(),
            }
            .fmt(formatter),
            Self::LinesBeyondEnd { line, line_count } => {
                let lines = if *line_count == 1 { "line" } else { "lines" };
                write!(
                    formatter,
                    "line {line} is beyond the end of the note, which has {line_count} {lines}"
                )
            }
            Self::ComparedByWords { reason } => {
                write!(
                    formatter,
                    "this note was compared by words, not by meaning: {reason}"
                )
            }
        }
    }
}

impl fmt::Display for SemanticAbsence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoModel(reason) | Self::Failed(reason) => formatter.write_str(reason),
            Self::NothingEmbedded => {
                formatter.write_str("nothing is embedded yet; index again with a model")
            }
            Self::OtherModel {
                embedded_with: (theirs, their_length),
                in_use: (ours, our_length),
            } => write!(
                formatter,
                "the notes were embedded with {theirs} ({their_length} dimensions), \
                 but the model in use is {ours} ({our_length} dimensions); index again with it"
            ),
            Self::Deadline(patience) => {
                write!(formatter, "the model took longer than {patience:?}")
            }
            Self::Busy => formatter.write_str("too many other searches are running; try again"),
            Self::UnknownWords { model } => {
                write!(formatter, "the model {model} knows none of these words")
            }
        }
    }
}

/// The notices of an answer. In JSON they are two lists: `notices` with the
/// sentences for people, and `notice_codes` with the codes of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Notices(pub Vec<Notice>);

impl Notices {
    /// Returns the notices as sentences for people. What only matters to programs
    /// has a code and no sentence here.
    pub fn sentences(&self) -> Vec<String> {
        let people = |notice: &&Notice| !matches!(notice, Notice::RelevanceUnknown { .. });
        let told = self.0.iter().filter(people);
        told.map(ToString::to_string).collect()
    }

    /// Returns what is known about hits none of which is probably relevant.
    pub fn uncertainty(&self) -> Option<&Uncertainty> {
        self.0.iter().find_map(|notice| match notice {
            Notice::Uncertain(uncertainty) => Some(uncertainty),
            _ => None,
        })
    }

    /// Removes what is known about hits none of which is probably relevant, for a
    /// surface that says it in another place.
    pub fn take_uncertainty(&mut self) -> Option<Uncertainty> {
        let uncertain = |notice: &Notice| matches!(notice, Notice::Uncertain(_));
        let known = self.uncertainty().cloned();
        self.0.retain(|notice| !uncertain(notice));
        known
    }

    /// Reports whether there were hits, all of them less relevant than the request
    /// asked for.
    pub fn all_left_out(&self) -> bool {
        let left_out = |notice: &Notice| matches!(notice, Notice::BelowMinRelevance { .. });
        self.0.iter().any(left_out)
    }

    /// Names what was searched in the sentence about uncertain hits.
    pub fn name_subject(&mut self, subject: &'static str) {
        for notice in &mut self.0 {
            if let Notice::Uncertain(uncertainty) = notice {
                uncertainty.subject = subject;
            }
        }
    }
}

impl std::ops::Deref for Notices {
    type Target = [Notice];

    fn deref(&self) -> &[Notice] {
        &self.0
    }
}

impl Serialize for Notices {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let codes: Vec<&str> = self.0.iter().map(Notice::code).collect();
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("notices", &self.sentences())?;
        map.serialize_entry("notice_codes", &codes)?;
        map.end()
    }
}

/// The result of a stage of a search, with notices about it.
#[derive(Debug)]
pub(super) struct Noted<T> {
    pub(super) value: T,
    pub(super) notices: Vec<Notice>,
}

impl<T> Noted<T> {
    /// Attaches one notice to a value.
    pub(super) fn with(value: T, notice: Notice) -> Self {
        Self {
            value,
            notices: vec![notice],
        }
    }

    /// Returns the value and moves its notices to `notices`.
    pub(super) fn collect(self, notices: &mut Vec<Notice>) -> T {
        notices.extend(self.notices);
        self.value
    }
}

impl<T> From<T> for Noted<T> {
    /// Attaches no notice to a value.
    fn from(value: T) -> Self {
        Self {
            value,
            notices: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_and_codes_go_together() {
        let notices = Notices(vec![
            Notice::DocumentsGone { count: 1 },
            Notice::DocumentsGone { count: 2 },
            Notice::SemanticUnavailable(SemanticAbsence::Deadline(Duration::from_millis(20))),
            Notice::RelevanceUnknown {
                model: "tiny".to_owned(),
            },
            Notice::BelowMinRelevance {
                count: 7,
                best: 0.5402,
                least: 0.9,
            },
        ]);
        let json = serde_json::to_value(&notices).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "notices": [
                    "1 note was left out: its file no longer exists",
                    "2 notes were left out: their files no longer exist",
                    "notes were searched by words only: the model took longer than 20ms",
                    "the minimum relevance of 0.9 left out all 7 hits; the best has 0.54",
                ],
                "notice_codes": [
                    "documents-gone",
                    "documents-gone",
                    "semantic-deadline",
                    "relevance-unknown",
                    "below-min-relevance",
                ],
            })
        );
    }
}
