//! What a reader should know about an answer: a code for programs, a sentence
//! for people.

use std::fmt;
use std::time::Duration;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Something an answer says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The query was longer than what is looked for.
    QueryTruncated {
        /// How many words were looked for.
        words: usize,
    },
    /// The full text could not be searched, and text was matched literally.
    FullTextFailed {
        /// What the store said.
        detail: String,
        /// Whether literal matching stood in.
        matched_literally: bool,
    },
    /// Semantic search did not run.
    SemanticUnavailable(SemanticAbsence),
    /// Not everything has an embedding yet.
    PartlyEmbedded {
        /// How much has, in percent, rounded down.
        percent: u8,
    },
    /// A source was never indexed to the end.
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
    /// The place a source reads from is missing, so hits were not checked.
    SourceMissing {
        /// Its name.
        source: String,
    },
    /// Documents were left out because they no longer exist.
    DocumentsGone {
        /// How many.
        count: usize,
    },
    /// Documents could not be compared with what their source has now.
    DocumentsUnchecked {
        /// How many.
        count: usize,
    },
    /// Documents have changed since they were indexed.
    DocumentsChanged {
        /// How many.
        count: usize,
    },
    /// A document was compared by its words instead of its meaning.
    ComparedByWords {
        /// Why.
        reason: String,
    },
}

/// Why semantic search did not run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SemanticAbsence {
    /// There is no model, for the reason that the caller gave.
    NoModel(String),
    /// Nothing has an embedding yet.
    NothingEmbedded,
    /// The embeddings are another model's.
    OtherModel {
        /// The model of the embeddings, and how long they are.
        embedded_with: (String, usize),
        /// The model in use, and how long its vectors are.
        in_use: (String, usize),
    },
    /// The model did not answer in time.
    Deadline(Duration),
    /// Too many semantic searches are under way.
    Busy,
    /// The model knows none of the query's words.
    UnknownWords {
        /// The model.
        model: String,
    },
    /// The model or the store failed.
    Failed(String),
}

impl Notice {
    /// Returns a name that does not change, for programs to act on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::QueryTruncated { .. } => "query-truncated",
            Self::FullTextFailed { .. } => "full-text-failed",
            Self::SemanticUnavailable(absence) => absence.code(),
            Self::PartlyEmbedded { .. } => "partly-embedded",
            Self::SourceIncomplete { .. } => "source-incomplete",
            Self::SourceNotSynced { .. } => "source-not-synced",
            Self::SourceMissing { .. } => "source-missing",
            Self::DocumentsGone { .. } => "documents-gone",
            Self::DocumentsUnchecked { .. } => "documents-unchecked",
            Self::DocumentsChanged { .. } => "documents-changed",
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
                    "only the first {words} words of the query were used"
                )
            }
            Self::FullTextFailed {
                detail,
                matched_literally,
            } => {
                write!(formatter, "full-text search could not run ({detail})")?;
                if *matched_literally {
                    formatter.write_str("; matched literally instead")?;
                }
                Ok(())
            }
            Self::SemanticUnavailable(absence) => {
                write!(formatter, "semantic search did not run: {absence}")
            }
            Self::PartlyEmbedded { percent } => write!(
                formatter,
                "{percent} % is embedded so far; the rest is found by words only"
            ),
            Self::SourceIncomplete { source } => {
                write!(formatter, "'{source}' is not completely indexed yet")
            }
            Self::SourceNotSynced { source, reason } => {
                write!(formatter, "'{source}' was not brought up to date: {reason}")
            }
            Self::SourceMissing { source } => write!(
                formatter,
                "the folder of '{source}' is missing: its notes are shown as they were when last indexed"
            ),
            Self::DocumentsGone { count } => {
                let (were, their) = match count {
                    1 => ("note was", "its file is"),
                    _ => ("notes were", "their files are"),
                };
                write!(
                    formatter,
                    "{count} {were} left out: {their} no longer there"
                )
            }
            Self::DocumentsUnchecked { count } => {
                let files = if *count == 1 { "file" } else { "files" };
                write!(
                    formatter,
                    "{count} {files} could not be checked and may have changed"
                )
            }
            Self::DocumentsChanged { count } => {
                let have = if *count == 1 {
                    "note has"
                } else {
                    "notes have"
                };
                write!(formatter, "{count} {have} changed since the last index run")
            }
            Self::ComparedByWords { reason } => {
                write!(formatter, "{reason}: compared by its words instead")
            }
        }
    }
}

impl fmt::Display for SemanticAbsence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoModel(reason) | Self::Failed(reason) => formatter.write_str(reason),
            Self::NothingEmbedded => formatter.write_str("nothing is embedded yet"),
            Self::OtherModel {
                embedded_with: (theirs, their_length),
                in_use: (ours, our_length),
            } => write!(
                formatter,
                "the index was embedded with {theirs} ({their_length} dimensions), \
                 the model in use is {ours} ({our_length})"
            ),
            Self::Deadline(patience) => write!(formatter, "it took longer than {patience:?}"),
            Self::Busy => formatter.write_str("too many semantic searches are under way"),
            Self::UnknownWords { model } => write!(formatter, "{model} knows none of these words"),
        }
    }
}

/// The notices of an answer. In JSON they are two lists of one length:
/// `notices`, the sentences, and `notice_codes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices(pub Vec<Notice>);

impl Notices {
    /// Returns the notices as sentences for people.
    pub fn sentences(&self) -> Vec<String> {
        self.0.iter().map(ToString::to_string).collect()
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

/// What a stage of a search made, and what is to be said about it.
#[derive(Debug)]
pub(super) struct Noted<T> {
    pub(super) value: T,
    pub(super) notices: Vec<Notice>,
}

impl<T> Noted<T> {
    /// Notes one thing about a value.
    pub(super) fn with(value: T, notice: Notice) -> Self {
        Self {
            value,
            notices: vec![notice],
        }
    }

    /// Returns the value and adds what is said about it to `notices`.
    pub(super) fn collect(self, notices: &mut Vec<Notice>) -> T {
        notices.extend(self.notices);
        self.value
    }
}

impl<T> From<T> for Noted<T> {
    /// There is nothing to say about it.
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
        ]);
        let json = serde_json::to_value(&notices).unwrap();
        assert_eq!(
            json,
            serde_json::json!({
                "notices": [
                    "1 note was left out: its file is no longer there",
                    "2 notes were left out: their files are no longer there",
                    "semantic search did not run: it took longer than 20ms",
                ],
                "notice_codes": ["documents-gone", "documents-gone", "semantic-deadline"],
            })
        );
    }
}
