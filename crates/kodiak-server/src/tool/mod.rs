//! The tools, as data: one list with what each is called, takes, returns, needs
//! and does. Nothing here knows the protocol.

pub mod arguments;
pub mod parameter;

#[cfg(feature = "sessions")]
mod brain;
mod get;
mod knowledge;
mod memory;
mod notes;
mod pages;
mod search;
mod status;
mod timeline;

pub(crate) use memory::nowhere as remember_off;
pub(crate) use notes::off as note_create_off;

use std::str::FromStr;

use kodiak::access::Capability;
use kodiak::{Engine, Job};
use serde_json::{Map, Value, json};

use crate::failure::Refusal;
use crate::server::{Caller, Server};
use arguments::Arguments;
use parameter::Parameter;

/// A group of tools that can be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolSet {
    /// Few tools for everything.
    Default,
    /// Notes, as the tools of the application Bear had them.
    Notes,
    /// What agents remembered.
    Memory,
    /// Records of sessions.
    #[cfg(feature = "sessions")]
    Brain,
    /// Memories and articles.
    Knowledge,
    /// Writing notes.
    Pages,
}

impl ToolSet {
    /// All sets.
    pub const ALL: &[Self] = &[
        Self::Default,
        Self::Notes,
        Self::Memory,
        #[cfg(feature = "sessions")]
        Self::Brain,
        Self::Knowledge,
        Self::Pages,
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Notes => "notes",
            Self::Memory => "memory",
            #[cfg(feature = "sessions")]
            Self::Brain => "brain",
            Self::Knowledge => "knowledge",
            Self::Pages => "pages",
        }
    }
}

impl FromStr for ToolSet {
    type Err = Refusal;

    fn from_str(name: &str) -> Result<Self, Refusal> {
        let known = Self::ALL.iter().find(|set| set.name() == name);
        known.copied().ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|set| set.name()).collect();
            let names = names.join(", ");
            Refusal::new(
                format!("there is no set of tools named '{name}'"),
                format!("the sets are {names} and all"),
            )
        })
    }
}

/// What a tool does to what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only reads.
    Reads,
    /// It adds something and changes nothing.
    Adds,
    /// It adds something to what is remembered.
    Remembers,
    /// It has another application add something.
    Creates,
    /// It changes something.
    Changes,
}

/// A tool.
#[derive(Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The sets it is in.
    pub sets: &'static [ToolSet],
    /// What it does and when to use it.
    pub description: &'static str,
    /// What it does to what is there.
    pub effect: Effect,
    /// What it takes.
    pub parameters: &'static [Parameter],
    /// The schema of its structured answer, if it has one.
    pub output: Option<fn() -> Value>,
    /// What it does.
    pub run: fn(&Call<'_>) -> Result<ToolAnswer, Refusal>,
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Tool({})", self.name)
    }
}

impl Tool {
    /// Returns the capability that a caller needs for it.
    pub fn capability(&self) -> Capability {
        match self.effect {
            // Another application decides by itself what it takes.
            Effect::Reads | Effect::Creates => Capability::Search,
            Effect::Adds | Effect::Remembers | Effect::Changes => Capability::Write,
        }
    }

    /// Returns the schema of its arguments.
    pub fn input_schema(&self) -> Map<String, Value> {
        parameter::schema(self.parameters)
    }

    /// Returns the schema of its structured answer, if it has one.
    pub fn output_schema(&self) -> Option<Map<String, Value>> {
        match self.output.map(|output| output()) {
            Some(Value::Object(schema)) => Some(schema),
            _ => None,
        }
    }
}

/// All tools. If two have the same name, the later one is offered where the sets
/// of both are.
pub(crate) const ALL: &[&Tool] = &[
    &search::SEARCH,
    &get::GET,
    &timeline::TIMELINE,
    &status::STATUS,
    &memory::REMEMBER,
    &notes::NOTE_SEARCH,
    &notes::NOTE_GET,
    &notes::NOTE_CREATE,
    &timeline::TIMELINE_OF_MEMORY,
    &memory::SEARCH_MEMORIES,
    &memory::GET_OBSERVATIONS,
    &memory::STORE_OBSERVATION,
    #[cfg(feature = "sessions")]
    &brain::BRAIN_QUERY,
    #[cfg(feature = "sessions")]
    &brain::SIMILAR_SESSIONS,
    &knowledge::SEARCH_KNOWLEDGE,
    &knowledge::RECALL_MEMORY,
    &knowledge::RECALL_ARTICLE,
    &knowledge::SAVE_MEMORY,
    &knowledge::SAVE_ARTICLE,
    &pages::PAGE_CREATE,
    &pages::PAGE_UPDATE,
    &pages::TAG_RENAME,
];

/// A call of a tool.
pub struct Call<'a> {
    /// The server that was called.
    pub server: &'a Server,
    /// The engine, whose reads end when the call is cancelled.
    pub engine: Engine,
    /// Who calls.
    pub caller: &'a Caller,
    /// The arguments, as the tool's parameters say.
    pub arguments: &'a Arguments,
    /// Receives progress, and cancels what writes.
    pub job: &'a Job<'a>,
}

/// The answer of a tool. Clients show a model only one of its two forms, so each
/// is complete.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolAnswer {
    /// The answer as a text.
    pub text: String,
    /// The answer as an object, unless its text says it better.
    pub structured: Option<Value>,
    /// Whether the call failed.
    pub failed: bool,
}

impl ToolAnswer {
    /// Makes an answer that is only a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..Self::default()
        }
    }

    /// Makes an answer with both forms.
    pub fn structured(text: impl Into<String>, value: Value) -> Self {
        Self {
            text: text.into(),
            structured: Some(value),
            failed: false,
        }
    }

    /// Makes the answer of a call that failed.
    pub fn failure(refusal: &Refusal) -> Self {
        Self {
            text: refusal.text(),
            structured: None,
            failed: true,
        }
    }

    /// Returns the answer as one text of JSON that tells success from failure.
    #[must_use]
    pub fn wrapped(self) -> Self {
        let wrapped = if self.failed {
            json!({"type": "error", "message": self.text, "trace": [], "transient": true})
        } else {
            json!({"type": "success", "content": self.text})
        };
        Self::text(wrapped.to_string())
    }
}
