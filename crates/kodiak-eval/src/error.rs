//! Defines errors that come with a hint.
//!
//! The program decides how to print them.

use std::error::Error as StandardError;
use std::fmt;

use anyhow::Error;

/// An error with a hint at what to do next.
///
/// This hint replaces those of the causes: [`Refusal::problem`] is the complete
/// error.
#[derive(Debug)]
pub struct Refusal {
    problem: Error,
    hint: String,
}

impl Refusal {
    /// Returns what went wrong, with its causes.
    pub fn problem(&self) -> &Error {
        &self.problem
    }

    /// Returns what to do next.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:#}", self.problem)
    }
}

// Without a source, because the message already contains the causes.
impl StandardError for Refusal {}

/// Creates an error from a message and a hint.
pub(crate) fn refusal(message: impl Into<String>, hint: impl Into<String>) -> Error {
    explained(Error::msg(message.into()), hint)
}

/// Adds a hint to an error.
pub(crate) fn explained(problem: Error, hint: impl Into<String>) -> Error {
    let hint = hint.into();
    Error::new(Refusal { problem, hint })
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_hint_is_found_below_a_context() {
        let cause = Err::<(), _>(Error::msg("gone")).context("could not read it");
        let error = explained(cause.unwrap_err(), "look elsewhere");
        assert_eq!(error.to_string(), "could not read it: gone");
        let wrapped = error.context("set");
        assert_eq!(format!("{wrapped:#}"), "set: could not read it: gone");
        let refusal = wrapped.downcast_ref::<Refusal>().unwrap();
        assert_eq!(refusal.hint(), "look elsewhere");
        assert_eq!(refusal.problem().chain().count(), 2);
    }
}
