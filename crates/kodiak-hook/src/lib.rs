//! Recalls unasked: finds what a coding agent needs to know for a prompt, and stays
//! silent unless it is sure.
//!
//! ```text
//! Event → questions → search → evidence → Verdict → Context
//! ```
//!
//! * `event` reads what a client says, and `question` what a prompt asks;
//! * `hook` searches memories, session records and past sessions of the project, and
//!   `evidence` decides whether a hit is sure;
//! * `context` words what was found, framed and within a number of tokens;
//! * `told` remembers for each session what it was told, and `log` what was done.
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

pub use context::{Context, MOST_TOKENS};
pub use event::{Asked, Event, LARGEST_EVENT};
pub use evidence::{Evidence, LEAD, Verdict, WORDS_ALONE};
pub use hook::{Candidate, Considered, Hook, HookOptions};
pub use log::Log;
pub use question::questions;
pub use told::{Told, ToldFolder};
