//! Errors, files, cancellation and safe text, which every other crate of Kodiak needs.
//!
//! * [`error`] says what went wrong, and to what;
//! * [`files`] opens files that others made and replaces those of ours at once;
//! * [`cancel`] stops long work;
//! * [`escape`] shows control characters instead of obeying them;
//! * [`frame`] keeps what documents say apart from what the program says to an agent, and
//!   [`budget`] keeps both within a number of tokens.
//!
//! ```
//! use kodiak_base::{Cancel, Error};
//!
//! let cancel = Cancel::new();
//! cancel.cancel();
//! assert!(cancel.is_cancelled());
//! assert_eq!(Error::Cancelled.to_string(), "cancelled");
//! ```

pub mod budget;
pub mod cancel;
pub mod error;
pub mod escape;
pub mod files;
pub mod frame;
mod hex;

pub use cancel::{Cancel, Interrupt, Stop};
pub use error::{Cause, Error, ForeignProblem, Result};
pub use hex::hex;
