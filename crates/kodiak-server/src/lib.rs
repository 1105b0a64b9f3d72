//! Serves an engine to agents, over the Model Context Protocol.
//!
//! ```text
//! transport → protocol → Server::call → Tool → Engine → ToolAnswer
//! ```
//!
//! * `tool` has the tools as data: names, schemas, and what each does. It knows
//!   nothing of the protocol;
//! * `server` decides which tools, resources and documents exist for a caller;
//! * `ask` reads what callers mean;
//! * `answer` words answers within a number of tokens, with what documents say framed;
//! * `writing` is how tools and routes write, and `undo` keeps what can be taken back;
//! * `reading` renders documents as HTML, after finding out in one call what their links
//!   mean for the caller;
//! * `upkeep` keeps the index up to date in the background;
//! * `news` notifies subscribers of changes and progress;
//! * `mcp` speaks the protocol, and is the only module that knows it: JSON-RPC over plain
//!   JSON values, the methods with their parameters, and the rules of each revision;
//! * `http` puts layers around `/mcp` and the API, and serves the files of the folder `page`.
//!   People sign in to the page with a session, which does not reach `/mcp`.
//!
//! Like the library, this crate never prints and never reads the environment or
//! a config: its caller hands in an engine, the rights of callers, and options.

mod answer;
mod error;
mod failure;
pub mod http;
mod json;
pub mod mcp;
mod news;
mod options;
mod prompt;
mod reading;
mod resource;
mod scope;
mod secret;
mod server;
mod stream;
pub mod token;
pub mod tool;
mod undo;
mod upkeep;
mod writing;

pub use error::{Error, Result};
pub use failure::Refusal;
pub use kodiak::budget::{DEFAULT_TOKENS, MOST_TOKENS};
use kodiak::search::xml;
use kodiak::{budget, frame};
pub use options::{
    Location, Locator, Log, NewNote, NoteCreator, Opener, Options, Renewal, Settled,
};
pub use resource::{Reading, Resource};
pub use server::{Caller, Server};
pub use tool::{Tool, ToolAnswer, ToolSet};
pub use upkeep::Upkeep;
