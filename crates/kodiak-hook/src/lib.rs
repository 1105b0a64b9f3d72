//! Recalls without being asked: finds documents that a coding agent needs for a prompt, and
//! stays silent unless it is sure.
//!
//! ```text
//! Event → questions → search → evidence → Verdict → Context
//! ```
//!
//! * `event` reads the input of a client, and `question` finds the questions of a prompt;
//! * `hook` searches memories, session records and past sessions of the project, and
//!   `evidence` decides whether a hit is sure;
//! * `context` words the hits, framed and within a number of tokens;
//! * `told` remembers the documents that each session was shown, and `log` records the
//!   outcome.
//!
//! ```
//! use kodiak::Engine;
//! use kodiak_hook::{Event, Hook, HookOptions, Told};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let index = temporary.path().join("index.db");
//! # Engine::builder(&index).open()?.sync(&kodiak::access::Guard::local(), kodiak::engine::ToSync::All, &kodiak::Job::default())?;
//! let engine = Engine::builder(index).open()?;
//! let event = Event {
//!     name: "UserPromptSubmit".into(),
//!     cwd: Some("/home/ada/atlas".into()),
//!     prompt: Some("why is the staging database empty?".into()),
//!     ..Event::default()
//! };
//! let hook = Hook::new(&engine, HookOptions::default());
//! assert!(hook.prompt(&event, &Told::default())?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Nothing here writes to the index or prints. An engine that is handed in should have
//! its refreshing turned off.

mod context;
mod event;
mod evidence;
mod hook;
mod log;
mod question;
mod told;

pub use context::{Context, MAX_TOKENS};
pub use event::{Asked, Event, MAX_EVENT_BYTES};
pub use evidence::{Evidence, LEAD, Verdict, WORDS_ALONE};
pub use hook::{Candidate, Considered, Hook, HookOptions};
pub use log::Log;
pub use question::questions;
pub use told::{Told, ToldFolder};
