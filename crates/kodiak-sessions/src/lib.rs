//! Sessions with agents: their transcripts, records of them kept as a folder of notes, and
//! their lessons.
//!
//! [`TranscriptSource`] reads the transcripts of agents, and [`SessionRecords`] reports
//! about sessions. [`Sessions`] works over both:
//!
//! ```
//! use kodiak::engine::ToSync;
//! use kodiak::{Engine, Guard, Job};
//! use kodiak_sessions::{BrainRequest, EMBEDDED_FIELDS, SessionOptions, SessionRecords, Sessions};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let (folder, index) = (temporary.path(), temporary.path().join("index.db"));
//! let records = SessionRecords::new("brain", folder, SessionOptions::default())?;
//! let engine = Engine::builder(index)
//!     .source(records)
//!     .embedded_fields(EMBEDDED_FIELDS)
//!     .open()?;
//! let me = Guard::local();
//! engine.sync(&me, ToSync::All, &Job::default())?;
//! let question = BrainRequest { query: "flaky tests".into(), ..BrainRequest::default() };
//! let answer = Sessions::new(&engine).brain(&me, &question)?;
//! assert!(answer.hits.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `ask` answers questions, `ingest` takes in records, and `retention` removes old
//! copies of transcripts. `same` groups statements that say the same, and `queries`
//! remembers questions that were answered.

mod ask;
mod ingest;
#[cfg(test)]
mod judged;
pub mod queries;
pub mod records;
mod retention;
mod same;
pub mod transcripts;
mod wording;

use std::path::PathBuf;

use serde::Serialize;

pub use ask::Statements;
pub use ingest::{Ingestion, RepeatedLesson};
pub use records::{SessionOptions, SessionRecords};
pub use retention::{KEPT_IN_TRASH, SessionRetention};
pub use transcripts::{TranscriptOptions, TranscriptSource};

pub use crate::records::{Decision, Lesson, Quirk};
use crate::records::{KIND, LESSON, QUIRK};
use kodiak::engine::{EmbeddedFields, Engine};
use kodiak::search::{Completeness, DEFAULT_LIMIT, Hit, Notices};
use kodiak::source::{Redaction, Traits};
use kodiak_store::Filter;
use kodiak_text::document::Timestamp;
use queries::QueryLog;

/// The fields of session records whose vectors are used to group statements. An engine that
/// is built with them
/// ([`EngineBuilder::embedded_fields`](kodiak::engine::EngineBuilder::embedded_fields))
/// keeps the vectors.
pub const EMBEDDED_FIELDS: EmbeddedFields = EmbeddedFields {
    kind: KIND,
    fields: &[LESSON, QUIRK],
};

/// Returns the traits of both sources: secrets are replaced before anything is kept.
fn without_secrets() -> Traits {
    Traits {
        redaction: Some(Redaction {
            word: kodiak_redact::WORD,
            count: kodiak_redact::replaced,
        }),
        ..Traits::default()
    }
}

/// How questions to the session records are answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BrainOptions {
    /// Sessions farther than this from a question count as unrelated, unless the
    /// question sets another distance. By default the model decides.
    pub threshold: Option<f64>,
    /// The file in which questions that were answered are remembered. Without one, none
    /// are.
    pub queries: Option<PathBuf>,
}

/// The sessions of an engine: asking them, taking in new ones and removing old ones.
#[derive(Clone, Debug)]
pub struct Sessions<'a> {
    engine: &'a Engine,
    options: BrainOptions,
}

impl<'a> Sessions<'a> {
    /// Creates a view of the sessions of an engine.
    pub fn new(engine: &'a Engine) -> Self {
        Self {
            engine,
            options: BrainOptions::default(),
        }
    }

    /// Sets how questions are answered.
    #[must_use]
    pub fn with_options(self, options: BrainOptions) -> Self {
        Self { options, ..self }
    }

    fn query_log(&self) -> Option<QueryLog> {
        self.options.queries.as_ref().map(QueryLog::new)
    }
}

/// A question to the session records.
#[derive(Clone, Debug, PartialEq)]
pub struct BrainRequest {
    /// The question as typed.
    pub query: String,
    /// The highest number of sessions.
    pub limit: usize,
    /// Which sessions to search. Its kinds are ignored: only sessions are found.
    pub filter: Filter,
    /// Sessions farther than this count as unrelated: one minus the cosine, from 0 to 2.
    /// Without it, the options or the model decide.
    pub threshold: Option<f64>,
    /// Whether changes are looked for and indexed beside the search.
    pub refresh: bool,
}

impl Default for BrainRequest {
    fn default() -> Self {
        Self {
            query: String::new(),
            limit: DEFAULT_LIMIT,
            filter: Filter::default(),
            threshold: None,
            refresh: true,
        }
    }
}

/// How the sessions of an answer were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// By meaning: the question and the sessions are within the threshold.
    Meaning,
    /// By words, because no session was within the threshold or none could be
    /// compared.
    Words,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrainAnswer {
    /// The question as typed.
    pub query: String,
    /// How the sessions were found.
    pub found_by: FoundBy,
    /// Sessions farther than this count as unrelated. Absent if the question could not
    /// be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// Whether it covers everything, and if not, why.
    #[serde(flatten)]
    pub completeness: Completeness,
    /// Caveats that a reader should know about.
    #[serde(flatten)]
    pub notices: Notices,
    /// The time it took, in milliseconds.
    pub took_ms: u64,
    /// The sessions, best first.
    pub hits: Vec<BrainHit>,
    /// Earlier questions like this one that were answered, if this one was not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<String>,
}

impl BrainAnswer {
    /// Returns the notice about sessions that were found by words because none is within
    /// the threshold. The notice about uncertain hits includes it.
    pub fn beyond_threshold(&self) -> Option<String> {
        let distance = self.threshold?;
        let by_words = self.found_by == FoundBy::Words && !self.hits.is_empty();
        (by_words && self.notices.uncertainty().is_none())
            .then(|| format!("no session is within a distance of {distance}; found by words"))
    }
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BrainHit {
    /// The session as any search finds it.
    #[serde(flatten)]
    pub hit: Hit,
    /// The id of its node.
    pub session: String,
    /// The path of its file, from the root of its source.
    #[serde(skip)]
    pub record: Option<String>,
    /// One minus the cosine between the question and the session, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distance: Option<f64>,
    /// How the session ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Its decisions.
    pub decisions: Vec<Decision>,
    /// Its lessons.
    pub lessons: Vec<Lesson>,
}

/// Statements of several sessions that say the same.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Group {
    /// The statement in its newest wording.
    pub text: String,
    /// The number of sessions that have it.
    pub sessions: usize,
    /// The levels of the lesson, or the models of the quirk. Each once.
    pub about: Vec<String>,
    /// Everywhere it is said, the newest first.
    pub said: Vec<Statement>,
}

/// A statement of one session.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statement {
    /// The id of the node.
    pub session: String,
    /// The source of the session.
    pub source: String,
    /// The title of the session.
    pub title: String,
    /// The project of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// When the session was, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// The statement as written there.
    pub text: String,
    /// The level of a lesson, or the model of a quirk.
    pub about: String,
    /// The path of the session's file, from the root of its source.
    #[serde(skip)]
    pub record: Option<String>,
    /// When the session was or was last changed, for sorting.
    #[serde(skip)]
    pub(crate) at: Timestamp,
}
