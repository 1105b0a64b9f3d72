//! Completeness: whether an answer covers everything there is, and if not, why.
//!
//! An answer is complete if every known change can be found by word and nothing
//! was cut short: no source, no part of the query, no deadline. How much is
//! embedded is a separate figure of the answer.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::notice::{Notice, SemanticAbsence};

/// A reason why an answer may lack something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incomplete {
    /// Not all changes since the last sync were looked for.
    ChangesNotLookedFor(NotLookedFor),
    /// Changes were found and are not indexed yet.
    ChangesNotIndexed {
        /// The number of changed entries.
        count: usize,
        /// Why they are not indexed.
        reason: NotIndexed,
    },
    /// A source cannot be accessed.
    SourceUnreadable {
        /// Its name; empty if only some hits show it.
        source: String,
    },
    /// Entries of a source cannot be read.
    EntriesUnreadable {
        /// The name of the source.
        source: String,
        /// The number of entries.
        count: usize,
    },
    /// A source has never been synced completely.
    SourceNeverSynced {
        /// Its name.
        source: String,
    },
    /// The query was too long, and only its beginning was looked for.
    QueryTruncated,
    /// A prefix was too short, and only its most common completions were looked for.
    PrefixTooShort,
    /// Full-text search failed.
    FullTextFailed,
    /// Semantic retrieval was cut off by its deadline.
    Deadline,
    /// Semantic retrieval did not start because too many others ran.
    Busy,
}

/// Why changes were not looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLookedFor {
    /// The request or the engine did not ask for it.
    Off,
    /// The time was up.
    OutOfTime,
    /// The source named here cannot tell quickly what has changed, or the index
    /// lacks what it needs for that.
    Unsupported(String),
    /// Looking failed.
    Failed(String),
}

/// Why changes were not indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotIndexed {
    /// Somebody else writes to the index.
    Busy,
    /// There were too many changes, or too large ones, for the time.
    TooMuch,
    /// The index could not be written.
    Failed(String),
    /// They happened after the index was refreshed, or nobody refreshed it.
    Unnoticed,
}

impl Incomplete {
    /// Returns a stable name of this kind of reason, for programs to act on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::ChangesNotLookedFor(_) => "changes-not-looked-for",
            Self::ChangesNotIndexed { .. } => "changes-not-indexed",
            Self::SourceUnreadable { .. } => "source-unreadable",
            Self::EntriesUnreadable { .. } => "entries-unreadable",
            Self::SourceNeverSynced { .. } => "source-never-synced",
            Self::QueryTruncated => "query-truncated",
            Self::PrefixTooShort => "prefix-too-short",
            Self::FullTextFailed => "full-text-failed",
            Self::Deadline => "deadline",
            Self::Busy => "busy",
        }
    }

    /// Returns the reason that a notice implies, if it implies one.
    pub fn of(notice: &Notice) -> Option<Self> {
        Some(match notice {
            Notice::QueryTruncated { .. } => Self::QueryTruncated,
            Notice::PrefixTooShort { .. } => Self::PrefixTooShort,
            Notice::FullTextFailed { .. } => Self::FullTextFailed,
            Notice::SemanticUnavailable(SemanticAbsence::Deadline(_)) => Self::Deadline,
            Notice::SemanticUnavailable(SemanticAbsence::Busy) => Self::Busy,
            Notice::SourceIncomplete { source } => Self::SourceNeverSynced {
                source: source.clone(),
            },
            Notice::SourceMissing { source } => Self::SourceUnreadable {
                source: source.clone(),
            },
            Notice::DocumentsUnchecked { .. } => Self::SourceUnreadable {
                source: String::new(),
            },
            Notice::DocumentsChanged { count } => Self::ChangesNotIndexed {
                count: *count,
                reason: NotIndexed::Unnoticed,
            },
            Notice::ChangesNotIndexed { count, reason } => Self::ChangesNotIndexed {
                count: *count,
                reason: reason.clone(),
            },
            // What a sync has missed before the search is looked for again while it
            // runs.
            Notice::SourceNotSynced { .. }
            | Notice::SemanticUnavailable(_)
            | Notice::PartlyEmbedded { .. }
            | Notice::DocumentsGone { .. }
            | Notice::RelevanceUnknown { .. }
            | Notice::PhraseNotFound { .. }
            | Notice::Uncertain(_)
            | Notice::BelowMinRelevance { .. }
            | Notice::NotReranked { .. }
            | Notice::LinesBeyondEnd { .. }
            | Notice::ComparedByWords { .. } => return None,
        })
    }
}

impl fmt::Display for Incomplete {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ChangesNotLookedFor(why) => match why {
                NotLookedFor::Off => formatter.write_str("changes were not looked for"),
                NotLookedFor::OutOfTime => {
                    formatter.write_str("there was no time to look for all changes")
                }
                NotLookedFor::Unsupported(source) => write!(
                    formatter,
                    "changes in '{source}' were not looked for; index again"
                ),
                NotLookedFor::Failed(reason) => {
                    write!(formatter, "changes could not be looked for: {reason}")
                }
            },
            Self::ChangesNotIndexed { count, reason } => {
                let notes = if *count == 1 { "note" } else { "notes" };
                write!(formatter, "{count} {notes} changed and ")?;
                match count {
                    1 => formatter.write_str("is")?,
                    _ => formatter.write_str("are")?,
                }
                formatter.write_str(" not indexed yet")?;
                match reason {
                    NotIndexed::Busy => formatter
                        .write_str(", because another process is writing the index; search again"),
                    NotIndexed::Failed(reason) => write!(formatter, ": {reason}"),
                    NotIndexed::TooMuch | NotIndexed::Unnoticed => {
                        formatter.write_str("; index again")
                    }
                }
            }
            Self::SourceUnreadable { source } if source.is_empty() => {
                formatter.write_str("some notes could not be checked")
            }
            Self::SourceUnreadable { source } => {
                write!(formatter, "'{source}' cannot be read at present")
            }
            Self::EntriesUnreadable { source, count } => {
                let files = if *count == 1 { "file" } else { "files" };
                write!(formatter, "{count} {files} of '{source}' cannot be read")
            }
            Self::SourceNeverSynced { source } => {
                write!(formatter, "'{source}' has never been indexed completely")
            }
            Self::QueryTruncated => formatter.write_str("the query is too long"),
            Self::PrefixTooShort => formatter.write_str("a prefix is too short"),
            Self::FullTextFailed => formatter.write_str("full-text search failed"),
            Self::Deadline => formatter.write_str("semantic search took too long"),
            Self::Busy => formatter.write_str("too many other searches are running"),
        }
    }
}

/// The reasons why an answer may lack something; none if it is complete. In JSON
/// it is two fields: `complete`, and `incomplete` with the code of each reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completeness(pub Vec<Incomplete>);

impl Completeness {
    /// Collects the reasons that notices imply.
    pub(super) fn of(notices: &[Notice]) -> Self {
        Self(notices.iter().filter_map(Incomplete::of).collect())
    }

    /// Reports whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the code of each kind of reason, once.
    pub fn codes(&self) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> = Vec::new();
        for code in self.0.iter().map(Incomplete::code) {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    /// Adds a reason, unless it is already there.
    pub fn add(&mut self, reason: Incomplete) {
        if !self.0.contains(&reason) {
            self.0.push(reason);
        }
    }
}

impl Serialize for Completeness {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("complete", &self.is_complete())?;
        map.serialize_entry("incomplete", &self.codes())?;
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_answer_without_reasons_is_complete() {
        let json = serde_json::to_value(Completeness::default()).unwrap();
        let expected = serde_json::json!({"complete": true, "incomplete": []});
        assert_eq!(json, expected);
    }

    #[test]
    fn every_kind_of_reason_is_named_once() {
        let mut completeness = Completeness::of(&[
            Notice::DocumentsChanged { count: 1 },
            Notice::DocumentsGone { count: 3 },
            Notice::PartlyEmbedded { percent: 3 },
            Notice::SemanticUnavailable(SemanticAbsence::NothingEmbedded),
            Notice::SemanticUnavailable(SemanticAbsence::Deadline(Duration::ZERO)),
        ]);
        completeness.add(Incomplete::ChangesNotIndexed {
            count: 2,
            reason: NotIndexed::Busy,
        });
        completeness.add(Incomplete::Deadline);
        let json = serde_json::to_value(&completeness).unwrap();
        let codes = ["changes-not-indexed", "deadline"];
        let expected = serde_json::json!({"complete": false, "incomplete": codes});
        assert_eq!(json, expected);
    }

    #[test]
    fn sentences_count() {
        let changed = |count, reason| Incomplete::ChangesNotIndexed { count, reason }.to_string();
        assert_eq!(
            changed(1, NotIndexed::TooMuch),
            "1 note changed and is not indexed yet; index again"
        );
        assert_eq!(
            changed(3, NotIndexed::Failed("the disk is full".to_owned())),
            "3 notes changed and are not indexed yet: the disk is full"
        );
    }
}
