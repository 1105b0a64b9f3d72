//! Failures of calls, in words that an agent can act on: what happened, and the
//! next step.

use kodiak::Error;

use crate::budget::clipped;

/// The longest message in characters. Some repeat what was asked for.
const LONGEST: usize = 1_000;

/// Why a call was refused or failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What happened.
    pub message: String,
    /// What to do next; empty if nothing can be done.
    pub step: String,
}

impl Refusal {
    /// Makes a refusal.
    pub fn new(message: impl Into<String>, step: impl Into<String>) -> Self {
        Self {
            message: clipped(&message.into(), LONGEST),
            step: clipped(&step.into(), LONGEST),
        }
    }

    /// Returns it as one text.
    pub fn text(&self) -> String {
        if self.step.is_empty() {
            return format!("Error: {}", self.message);
        }
        format!("Error: {}\nNext: {}", self.message, self.step)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        // Where files are on the server's machine is not for callers.
        let error = error.without_folders();
        let step = step(&error);
        Self::new(error.to_string().lines().next().unwrap_or_default(), step)
    }
}

/// Returns what to do about an error of the library.
fn step(error: &Error) -> String {
    let text = match error {
        Error::NoDocument { suggestions, .. } if suggestions.is_empty() => {
            "find its id with search"
        }
        Error::NoDocument { suggestions, .. } => {
            return format!("did you mean {}?", suggestions.join(", or "));
        }
        Error::Ambiguous { candidates, .. } => {
            return format!("name one of them by its id: {}", candidates.join(", "));
        }
        Error::UnknownSource { known, .. } if known.is_empty() => {
            "nothing is registered; ask the user to run `kodiak add FOLDER`"
        }
        Error::UnknownSource { known, .. } => {
            return format!("the sources are {}", known.join(", "));
        }
        Error::NoIndex { .. } => {
            "nothing is indexed yet; ask the user to run `kodiak add FOLDER`, then search again"
        }
        Error::NewerIndex { .. } => "ask the user to update Kodiak",
        Error::Corrupt { .. } | Error::VectorFile { .. } => {
            "ask the user to run `kodiak doctor --fix`"
        }
        Error::Locked { .. } => "try again in a moment",
        Error::BadDate { .. } => {
            "write dates as 2026-01-31, 2026-01, 2026, today, yesterday, 7d, 2w, 3m or 1y"
        }
        Error::BadRange { .. } => "write lines as 7, 10-20, or 10- for line 10 to the end",
        Error::NotAllowed {
            capability: "write",
        } => "writing is off; ask the user to start `kodiak mcp --allow-write`",
        Error::NotAllowed { .. } => "ask the user for these rights",
        Error::NotWritable { .. } => {
            "ask the user to run `kodiak add FOLDER --writable` for its folder"
        }
        Error::Conflict { .. } => "read it again with get, and repeat the change",
        Error::KeyTaken { .. } => "choose another title, or change that page",
        Error::BadTag { .. } => "write tags such as cooking or cooking/soup",
        Error::Cancelled => "",
        Error::Database { .. } => {
            "try again; if it fails again, ask the user to run `kodiak doctor`"
        }
        _ => "",
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_next_step() {
        let missing = Error::NoDocument {
            reference: "#ab12".into(),
            suggestions: vec!["#ab13 notes/gtd.md".into()],
        };
        assert_eq!(
            Refusal::from(missing).text(),
            "Error: there is no note '#ab12'\nNext: did you mean #ab13 notes/gtd.md?"
        );
        assert_eq!(Refusal::new("no", "").text(), "Error: no");
    }
}
