//! What a server is started with.

use std::fmt;
use std::sync::Arc;

use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::history::History;
use kodiak::search::Found;
#[cfg(feature = "sessions")]
use kodiak_sessions::BrainOptions;

use crate::budget::DEFAULT_TOKENS;
use crate::tool::ToolSet;

/// Receives the messages of a server, one line each.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Creates a note in another application. Fails with the reason.
pub type NoteCreator = Arc<dyn Fn(&NewNote) -> Result<(), String> + Send + Sync>;

/// Opens a document, at the line that was found, where the owner can change it. Fails with
/// the reason.
pub type Opener = Arc<dyn Fn(&Engine, &Found) -> Result<(), String> + Send + Sync>;

/// Where a document is, for the owner of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Location {
    /// The absolute path of its file.
    pub file: Option<String>,
    /// The address that opens it in the application it is from.
    pub url: Option<String>,
}

/// Returns where documents are.
#[derive(Clone)]
pub struct Locator(Arc<dyn Fn(&Found) -> Location + Send + Sync>);

impl Locator {
    /// Creates a locator that asks `locate`.
    pub fn new(locate: impl Fn(&Found) -> Location + Send + Sync + 'static) -> Self {
        Self(Arc::new(locate))
    }

    /// Returns where a document is.
    pub(crate) fn locate(&self, found: &Found) -> Location {
        (self.0)(found)
    }
}

impl fmt::Debug for Locator {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Locator")
    }
}

/// What is served, where the settings decide.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The engine.
    pub engine: Engine,
    /// The sources whose documents are known by their keys, not by ids.
    pub named_by_key: Vec<String>,
    /// Where it is recorded what the owner of the machine opens; nowhere if absent.
    pub history: Option<History>,
    /// Tells the owner of the machine where documents are.
    pub locator: Option<Locator>,
    /// How questions to the session records are answered.
    #[cfg(feature = "sessions")]
    pub brain: BrainOptions,
}

impl Settled {
    /// Creates settings that serve an engine as it is.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            named_by_key: Vec::new(),
            history: None,
            locator: None,
            #[cfg(feature = "sessions")]
            brain: BrainOptions::default(),
        }
    }
}

/// Returns what is served from now on, if the settings have changed since it was
/// last asked. It is asked at every call, so it has to be quick.
pub type Renewal = Arc<dyn Fn() -> Option<Settled> + Send + Sync>;

/// A note that is to be created in another application.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewNote {
    /// Its title.
    pub title: String,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// Its text.
    pub content: String,
}

/// What a server is started with.
#[derive(Clone)]
pub struct Options {
    /// The rights of a caller that has none of its own.
    pub guard: Guard,
    /// The tools that are offered.
    pub sets: Vec<ToolSet>,
    /// The most tokens of an answer, unless a call asks for another number.
    pub max_tokens: usize,
    /// Whether answers are wrapped in JSON that tells success from failure.
    pub wrapped: bool,
    /// Creates notes for the tool `note_create`, which is not offered without.
    pub note_creator: Option<NoteCreator>,
    /// Opens documents for the owner, who uses a browser on this machine; none are opened
    /// without.
    pub opener: Option<Opener>,
    /// The source that memories are written to; none are written without.
    pub memory_source: Option<String>,
    /// The source that articles are written to.
    pub article_source: Option<String>,
    /// The project that the server was started in. Its memories come first, and
    /// new ones belong to it.
    pub project: Option<String>,
    /// Tells when something else is to be served; never if absent.
    pub renewal: Option<Renewal>,
    /// Receives the messages of the server.
    pub log: Log,
}

impl Options {
    /// Returns the options of a server with the default tools for callers with
    /// these rights.
    pub fn new(guard: Guard) -> Self {
        Self {
            guard,
            sets: vec![ToolSet::Default],
            max_tokens: DEFAULT_TOKENS,
            wrapped: false,
            note_creator: None,
            opener: None,
            memory_source: None,
            article_source: None,
            project: None,
            renewal: None,
            log: Arc::new(|_| {}),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Options")
            .field("guard", &self.guard)
            .field("sets", &self.sets)
            .field("max_tokens", &self.max_tokens)
            .field("wrapped", &self.wrapped)
            .field("note_creator", &self.note_creator.is_some())
            .field("opener", &self.opener.is_some())
            .finish_non_exhaustive()
    }
}
