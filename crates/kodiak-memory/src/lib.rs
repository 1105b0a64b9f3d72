//! Memory: lessons of agents and people, kept as a folder of notes and found again.
//!
//! A [`MemoryFolder`] is a source of memories or articles. [`Memories`] works over the
//! memories of an engine:
//!
//! ```
//! use kodiak::access::Guard;
//! use kodiak::search::Request;
//! use kodiak::{Engine, Job};
//! use kodiak_memory::{Memories, Memory, MemoryFolder, MemoryOptions, Recall};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let (folder, index) = (temporary.path(), temporary.path().join("index.db"));
//! let engine = Engine::builder(index)
//!     .source(MemoryFolder::new("memory", folder, MemoryOptions::default())?)
//!     .open()?;
//! let (me, job) = (Guard::local(), Job::default());
//! let memory = Memory {
//!     source: "memory".into(),
//!     text: "The staging database is reset every Monday.".into(),
//!     ..Memory::default()
//! };
//! let memories = Memories::new(&engine);
//! assert!(!memories.remember(&me, &memory, &job)?.deduplicated);
//! assert!(memories.remember(&me, &memory, &job)?.deduplicated);
//! let recall = Recall { request: Request::new("staging"), ..Recall::default() };
//! assert_eq!(memories.recall(&me, &recall)?.here, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Memories are disclosed in layers, so that a reader spends few tokens: `timeline`
//! lists, `recall` searches, `observations` reads whole texts. Each answer says how much
//! it is worth in tokens.
//!
//! * `remember` writes a memory, unless `duplicates` finds the same one;
//! * `secrets` replaces or refuses secrets before anything is written;
//! * `forget` moves memories to the trash, erases them, and retires old ones, and `trash`
//!   lists and restores them;
//! * ranking, superseding and collapsing are those of every search.

mod duplicates;
pub mod folder;
mod forget;
mod observations;
mod recall;
mod remember;
mod secrets;
mod timeline;
mod trash;

pub use folder::{Holding, MemoryFolder, MemoryOptions};
pub use forget::{Forgotten, Retired};
pub use observations::{Observation, Observations};
pub use recall::{Knowledge, Recall, Recalled};
pub use remember::{Article, Memory, Remembered};
pub use timeline::{Timeline, TimelineEntry, TimelineRequest};
pub use trash::Restored;

use kodiak::Engine;
use kodiak::access::Guard;

/// The known kinds: kinds of observations, kinds of knowledge, and kinds that this program
/// writes by itself. Others are allowed.
pub const KINDS: [&str; 13] = [
    "code",
    "decision",
    "context",
    "error",
    "summary",
    "execution",
    "quality_gate",
    "rule",
    "article",
    "note",
    "canon",
    "observation",
    "memory",
];

/// The names under which the sources of memories and articles are registered.
pub const MEMORY_SOURCE: &str = "memory";
/// The name under which the source of articles is registered.
pub const ARTICLE_SOURCE: &str = "article";

/// The kinds of sources that hold sessions, beside memories.
const SESSION_KINDS: [&str; 2] = ["sessions", TRANSCRIPTS];

/// The kind of sources that hold the turns of conversations.
pub const TRANSCRIPTS: &str = "transcripts";

/// The memories and articles of an engine: remembering, recalling, listing and
/// forgetting them.
#[derive(Clone, Debug)]
pub struct Memories<'a> {
    engine: &'a Engine,
}

impl<'a> Memories<'a> {
    /// Creates a view of the memories of an engine.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }
}

impl Memories<'_> {
    /// Returns the names of the sources that hold memories or articles and that exist
    /// for the caller, in the order in which they were added.
    pub fn memory_sources(&self, guard: &Guard, holding: Holding) -> Vec<String> {
        self.sources_of_kinds(guard, &[holding.name()])
    }

    /// Returns the names of the sources of sessions that exist for the caller.
    pub fn session_sources(&self, guard: &Guard) -> Vec<String> {
        self.sources_of_kinds(guard, &SESSION_KINDS)
    }

    /// Returns the names of the sources of memories and of articles that exist for the
    /// caller.
    pub fn all_memory_sources(&self, guard: &Guard) -> Vec<String> {
        let kinds = [Holding::Memories, Holding::Articles].map(Holding::name);
        self.sources_of_kinds(guard, &kinds)
    }

    fn sources_of_kinds(&self, guard: &Guard, kinds: &[&str]) -> Vec<String> {
        let sources = self.engine.sources().iter();
        let sources = sources.filter(|source| kinds.contains(&source.kind()));
        self.engine
            .view(guard)
            .existing(sources.map(|source| source.name()))
    }
}
