//! Caveats: facts about an answer that its reader should know. Each has a code for programs
//! and a sentence for people, and says whether the answer may lack something.
//!
//! An answer is complete if every known change can be found by word and nothing was cut
//! short: no source, no part of the query, no deadline. How much is embedded is a
//! separate figure of the answer.

use std::fmt;
use std::time::Duration;

use super::uncertainty::Uncertainty;
use crate::access::Guard;
use crate::store::Reader;

/// Something a reader should know about an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caveat {
    /// The query was too long and was truncated.
    QueryTruncated {
        /// The number of words that were looked for.
        words: usize,
    },
    /// The query is empty and nothing limits the search, so it lists documents.
    NothingAsked,
    /// A filter in the query could not be read, so its words were looked for.
    FilterNotUnderstood {
        /// The filter as typed.
        filter: String,
        /// Why not.
        reason: String,
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
    SourceNeverSynced {
        /// Its name.
        source: String,
    },
    /// A source cannot be accessed.
    SourceUnreadable {
        /// Its name.
        source: String,
    },
    /// Entries of a source cannot be read.
    EntriesUnreadable {
        /// The name of the source.
        source: String,
        /// The number of entries.
        count: usize,
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
    /// Not all changes since the last sync were looked for.
    ChangesNotLookedFor(NotLookedFor),
    /// Changes were found and are not indexed yet.
    ChangesNotIndexed {
        /// The number of changed entries.
        count: usize,
        /// Why they are not indexed.
        reason: NotIndexed,
    },
    /// The index was read from a copy, which may be behind.
    ReadFromReplica {
        /// The longest time for which it may lack changes; `None` if that is unknown or
        /// must not be told.
        at_most: Option<Duration>,
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
        /// Why the document could not be compared semantically; `None` if semantic search
        /// is turned off.
        reason: Option<String>,
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

/// Why changes were not looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotLookedFor {
    /// The request or the engine did not ask for it.
    Off,
    /// The time was up.
    OutOfTime,
    /// Entries that have not changed for long are checked in turn, by several searches.
    InTurn,
    /// The source named here cannot find changes quickly, or the index lacks the data for
    /// that.
    Unsupported(String),
    /// Looking failed.
    Failed(String),
}

/// Why changes were not indexed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotIndexed {
    /// Another process writes to the index.
    Busy,
    /// There were too many changes, or too large ones, for the time.
    TooMuch,
    /// The index could not be written.
    Failed(String),
    /// They were noticed when the hits were checked.
    Unnoticed,
}

impl Caveat {
    /// Returns a caveat about a state of the index that was read from a copy: how far it is
    /// behind.
    pub(crate) fn of_copy(reader: &dyn Reader, guard: &Guard) -> Option<Self> {
        let at_most = reader.behind()?.at_most;
        Some(Self::ReadFromReplica { at_most }.told_to(guard))
    }

    /// Returns a stable name of this kind of caveat, for programs to act on.
    pub fn code(&self) -> &'static str {
        match self {
            Self::QueryTruncated { .. } => "query-truncated",
            Self::NothingAsked => "nothing-asked",
            Self::FilterNotUnderstood { .. } => "filter-not-understood",
            Self::PhraseNotFound { .. } => "phrase-not-found",
            Self::PrefixTooShort { .. } => "prefix-too-short",
            Self::FullTextFailed { .. } => "full-text-failed",
            Self::SemanticUnavailable(absence) => absence.code(),
            Self::PartlyEmbedded { .. } => "partly-embedded",
            Self::SourceNeverSynced { .. } => "source-never-synced",
            Self::SourceUnreadable { .. } => "source-unreadable",
            Self::EntriesUnreadable { .. } => "entries-unreadable",
            Self::SourceNotSynced { .. } => "source-not-synced",
            Self::SourceMissing { .. } => "source-missing",
            Self::DocumentsGone { .. } => "documents-gone",
            Self::DocumentsUnchecked { .. } => "documents-unchecked",
            Self::RelevanceUnknown { .. } => "relevance-unknown",
            Self::Uncertain(_) => "uncertain",
            Self::BelowMinRelevance { .. } => "below-min-relevance",
            Self::NotReranked { .. } => "not-reranked",
            Self::ChangesNotLookedFor(NotLookedFor::InTurn) => "changes-looked-for-in-turn",
            Self::ChangesNotLookedFor(_) => "changes-not-looked-for",
            Self::ChangesNotIndexed { .. } => "changes-not-indexed",
            Self::ReadFromReplica { .. } => "read-from-replica",
            Self::LinesBeyondEnd { .. } => "lines-beyond-end",
            Self::ComparedByWords { .. } => "compared-by-words",
        }
    }

    /// Reports whether an answer with this may lack something.
    pub fn is_incomplete(&self) -> bool {
        match self {
            Self::ReadFromReplica { at_most } => at_most.is_none_or(|time| !time.is_zero()),
            Self::QueryTruncated { .. }
            | Self::PrefixTooShort { .. }
            | Self::FullTextFailed { .. }
            | Self::SemanticUnavailable(SemanticAbsence::Deadline(_) | SemanticAbsence::Busy)
            | Self::SourceNeverSynced { .. }
            | Self::SourceUnreadable { .. }
            | Self::EntriesUnreadable { .. }
            | Self::ChangesNotLookedFor(_)
            | Self::ChangesNotIndexed { .. } => true,
            // What a sync before the search has missed, and what could not be checked,
            // is looked for again while the search runs.
            Self::SourceNotSynced { .. }
            | Self::SourceMissing { .. }
            | Self::DocumentsUnchecked { .. }
            | Self::SemanticUnavailable(_)
            | Self::PartlyEmbedded { .. }
            | Self::DocumentsGone { .. }
            | Self::RelevanceUnknown { .. }
            | Self::NothingAsked
            | Self::FilterNotUnderstood { .. }
            | Self::PhraseNotFound { .. }
            | Self::Uncertain(_)
            | Self::BelowMinRelevance { .. }
            | Self::NotReranked { .. }
            | Self::LinesBeyondEnd { .. }
            | Self::ComparedByWords { .. } => false,
        }
    }

    /// Reports whether the index is behind its sources, so that indexing helps.
    pub fn is_behind(&self) -> bool {
        match self {
            Self::ChangesNotLookedFor(why) => {
                matches!(why, NotLookedFor::OutOfTime | NotLookedFor::Unsupported(_))
            }
            Self::ChangesNotIndexed { reason, .. } => !matches!(reason, NotIndexed::Failed(_)),
            Self::SourceNeverSynced { .. } => true,
            _ => false,
        }
    }

    /// Returns the step that the reader can take, if it is not part of the sentence.
    fn step(&self) -> Option<&'static str> {
        match self {
            Self::SourceNeverSynced { .. } => Some("index again to find them too"),
            Self::ChangesNotLookedFor(NotLookedFor::Unsupported(_))
            | Self::ChangesNotIndexed {
                reason: NotIndexed::TooMuch | NotIndexed::Unnoticed,
                ..
            } => Some("index again"),
            Self::ChangesNotIndexed {
                reason: NotIndexed::Busy,
                ..
            } => Some("search again"),
            _ => None,
        }
    }

    /// Returns the caveat as a caller may learn of it: without reasons that name places on
    /// this machine and, for a caller that is restricted to a project, without the names of
    /// sources.
    #[must_use]
    pub fn told_to(mut self, guard: &Guard) -> Self {
        if guard.sees_everything() {
            return self;
        }
        match &mut self {
            Self::SourceNotSynced { reason, .. } => *reason = "it cannot be read".to_owned(),
            Self::FullTextFailed { detail, .. } => *detail = "the index refused it".to_owned(),
            Self::SemanticUnavailable(
                SemanticAbsence::NoModel(reason) | SemanticAbsence::Failed(reason),
            ) => *reason = "the model cannot be used".to_owned(),
            Self::ChangesNotLookedFor(NotLookedFor::Failed(reason)) => {
                *reason = "the index cannot be read".to_owned();
            }
            Self::ChangesNotIndexed {
                reason: NotIndexed::Failed(reason),
                ..
            } => *reason = "the index cannot be written".to_owned(),
            // It depends on what others write.
            Self::ReadFromReplica { at_most } => *at_most = None,
            _ => {}
        }
        if guard.project().is_some() {
            match &mut self {
                Self::SourceNotSynced { source, .. }
                | Self::SourceMissing { source }
                | Self::SourceNeverSynced { source }
                | Self::SourceUnreadable { source }
                | Self::EntriesUnreadable { source, .. }
                | Self::ChangesNotLookedFor(NotLookedFor::Unsupported(source)) => source.clear(),
                _ => {}
            }
        }
        self
    }

    /// Returns the sentence without the step that the reader can take.
    pub fn fact(&self) -> String {
        match self {
            Self::QueryTruncated { words } => {
                format!("the query is too long: only its first {words} words were searched")
            }
            Self::NothingAsked => {
                "the query is empty: these are the notes that changed last".to_owned()
            }
            Self::FilterNotUnderstood { filter, reason } => {
                format!("\"{filter}\" was searched for as words: {reason}")
            }
            Self::PhraseNotFound { phrase } => {
                format!("no note has the phrase \"{phrase}\"; its words were searched for instead")
            }
            Self::PrefixTooShort { prefix } => format!(
                "too many words begin with \"{prefix}\": only the best matches were searched; \
                 type another letter"
            ),
            Self::FullTextFailed {
                detail,
                matched_literally,
            } => {
                let instead = if *matched_literally {
                    "; the text was searched literally instead"
                } else {
                    ""
                };
                format!("full-text search failed ({detail}){instead}")
            }
            Self::SemanticUnavailable(absence) => {
                format!("notes were searched by words only: {absence}")
            }
            Self::PartlyEmbedded { percent: 0 } => {
                "almost nothing is embedded yet, so notes are found by words only".to_owned()
            }
            Self::PartlyEmbedded { percent } => {
                format!(
                    "{percent} % of the text is embedded so far; the rest is found by words only"
                )
            }
            Self::SourceNeverSynced { source } => {
                format!("some notes of {} are not indexed yet", named(source))
            }
            Self::SourceUnreadable { source } => {
                format!("{} cannot be read right now", named(source))
            }
            Self::EntriesUnreadable { source, count } => {
                format!(
                    "{} of {} cannot be read",
                    counted(*count, "file"),
                    named(source)
                )
            }
            Self::SourceNotSynced { source, reason } => format!(
                "{} could not be updated, so its notes may be out of date: {reason}",
                named(source)
            ),
            Self::SourceMissing { source } => format!(
                "the folder of {} is missing; its notes are shown as last indexed",
                named(source)
            ),
            Self::DocumentsGone { count: 1 } => {
                "1 note was left out: its file no longer exists".to_owned()
            }
            Self::DocumentsGone { count } => {
                format!("{count} notes were left out: their files no longer exist")
            }
            Self::DocumentsUnchecked { count } => {
                let they = if *count == 1 { "it was" } else { "they were" };
                format!(
                    "{} could not be checked and may have changed since {they} indexed",
                    counted(*count, "note")
                )
            }
            Self::RelevanceUnknown { model } => {
                format!("relevance is not calibrated for the model {model}")
            }
            Self::Uncertain(uncertainty) => uncertainty.to_string(),
            Self::BelowMinRelevance { count, best, least } => {
                // Rounded down, so that it stays below what was asked for.
                let best = ((best * 10_000.0).round() / 100.0).floor() / 100.0;
                let hits = match count {
                    1 => format!("the only hit, which has {best:.2}"),
                    _ => format!("all {count} hits; the best has {best:.2}"),
                };
                format!("the minimum relevance of {least} left out {hits}")
            }
            Self::NotReranked { reason } => format!("the hits were not reranked: {reason}"),
            Self::ChangesNotLookedFor(why) => match why {
                NotLookedFor::Off => "changes were not checked for".to_owned(),
                NotLookedFor::OutOfTime => "there was no time to check for all changes".to_owned(),
                NotLookedFor::InTurn => {
                    "not every note was checked for changes: unchanged ones are \
                     checked a few at a time"
                        .to_owned()
                }
                NotLookedFor::Unsupported(source) => {
                    format!("changes in {} were not checked for", named(source))
                }
                NotLookedFor::Failed(reason) => {
                    format!("changes could not be checked for: {reason}")
                }
            },
            Self::ChangesNotIndexed { count, reason } => {
                let are = if *count == 1 { "is" } else { "are" };
                let why = match reason {
                    NotIndexed::Busy => ", because another process is writing the index",
                    NotIndexed::Failed(reason) => &format!(": {reason}"),
                    NotIndexed::TooMuch | NotIndexed::Unnoticed => "",
                };
                let notes = counted(*count, "note");
                format!("{notes} changed and {are} not indexed yet{why}")
            }
            Self::ReadFromReplica { at_most } => match at_most {
                Some(time) if time.is_zero() => {
                    "the index was read from a replica, which is 0 s behind what has reached it"
                        .to_owned()
                }
                Some(time) => format!(
                    "the index was read from a replica, which is up to {} behind",
                    span(*time)
                ),
                None => "the index was read from a replica, which may be behind".to_owned(),
            },
            Self::LinesBeyondEnd { line, line_count } => format!(
                "line {line} is beyond the end of the note, which has {}",
                counted(*line_count, "line")
            ),
            Self::ComparedByWords { reason } => {
                let reason = reason.as_deref().unwrap_or("semantic search is off");
                format!("this note was compared by words, not by meaning: {reason}")
            }
        }
    }
}

/// Returns the name of a source as a sentence has it; it is empty where the reader may not
/// learn it.
fn named(source: &str) -> String {
    match source {
        "" => "a source".to_owned(),
        source => format!("'{source}'"),
    }
}

/// Returns a time as people say it, rounded up.
fn span(time: Duration) -> String {
    let seconds = time.as_millis().div_ceil(1_000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3_600)),
    }
}

/// Returns a number of things.
fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
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

impl fmt::Display for Caveat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.fact())?;
        match self.step() {
            Some(step) => write!(formatter, "; {step}"),
            None => Ok(()),
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

#[cfg(test)]
#[path = "caveat_tests.rs"]
mod tests;
