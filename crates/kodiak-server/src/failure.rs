//! Failures of calls, in words that an agent can act on: what happened, and the
//! next step.

use kodiak::Error;

use crate::budget::clipped;
use crate::frame::{one_line, quoted};

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
    /// Makes a refusal. Each part is one line: either may repeat what a caller or a
    /// document said.
    pub fn new(message: impl Into<String>, step: impl Into<String>) -> Self {
        Self {
            message: clipped(&one_line(&message.into()), LONGEST),
            step: clipped(&one_line(&step.into()), LONGEST),
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
        Self::new(message(&error), step)
    }
}

/// Words an error without the places of files on the server's machine, which are not
/// for callers. `kodiak doctor` and the log name them.
pub(crate) fn message(error: &Error) -> String {
    let words = match error {
        Error::Io { action, source, .. } => {
            return format!("could not {action} a file: {}", source.kind());
        }
        Error::NewerIndex {
            found, supported, ..
        } => {
            return format!(
                "the index has format {found}, but this version reads formats up to {supported}"
            );
        }
        Error::ModelAbsent { name, .. }
        | Error::ModelUnobtainable { name, .. }
        | Error::Embedding { model: name, .. } => {
            return format!("the model {name} cannot be used now");
        }
        Error::Conflict { key, .. } => {
            return format!("'{key}' has changed since it was read");
        }
        Error::Database { .. } => "the index could not be used",
        Error::Corrupt { .. } => "the index is damaged",
        Error::Cache { .. } => "the embedding cache could not be used",
        Error::NoIndex { .. } => "there is no index yet",
        Error::NotOurs { .. } => "the file is not a Kodiak index",
        Error::WordsSettled { .. } => "the stemming of the index cannot change",
        Error::Locked { .. } => "another process is writing to the index",
        Error::FolderMissing { .. } => "the folder does not exist",
        Error::NotAFolder { .. } => "the folder is a file",
        Error::Foreign {
            program: "Bear", ..
        } => "Bear's database cannot be read",
        Error::Foreign { .. } => "the database of another program cannot be read",
        Error::SourceEmpty { .. } => "there are no longer any notes",
        Error::SourceElsewhere { .. } => "another machine has a source of this name",
        Error::NotErased { source } => {
            return format!("not everything is erased yet: {}", message(source));
        }
        Error::SourceNotHere { .. } => "the source is not registered here",
        Error::Watch { .. } => "the folder could not be watched",
        Error::ModelFiles { .. } => "the files of the model cannot be used",
        Error::VectorFile { .. } => "the vector file cannot be used",
        error => return error.to_string(),
    };
    words.to_owned()
}

/// Returns references to documents, with each path in quotes.
fn references(references: &[String], between: &str) -> String {
    let named = references.iter().map(|one| match one.split_once(' ') {
        Some((id, path)) => format!("{id} {}", quoted(path)),
        None => one.clone(),
    });
    named.collect::<Vec<_>>().join(between)
}

/// Returns what to do about an error of the library.
fn step(error: &Error) -> String {
    let text = match error {
        Error::NoDocument { suggestions, .. } if suggestions.is_empty() => {
            "find its id with search"
        }
        Error::NoDocument { suggestions, .. } => {
            return format!("did you mean {}?", references(suggestions, ", or "));
        }
        Error::Ambiguous { candidates, .. } => {
            return format!(
                "name one of them by its id: {}",
                references(candidates, ", ")
            );
        }
        Error::UnknownSource { known, .. } if known.is_empty() => {
            "status lists the sources; if there are none, ask the user to run `kodiak add FOLDER`"
        }
        Error::UnknownSource { known, .. } => {
            return format!("the sources are {}", known.join(", "));
        }
        Error::UnknownProject { known, .. } if known.is_empty() => {
            "no document has a project; omit it"
        }
        Error::UnknownProject { known, .. } => {
            let known: Vec<String> = known.iter().map(|name| quoted(name)).collect();
            return format!("the projects are {}", known.join(", "));
        }
        Error::EmptyPeriod { .. } => "the first date is the earlier one",
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
            reference: "ab12".into(),
            suggestions: vec!["ab13 notes/gtd.md".into()],
        };
        assert_eq!(
            Refusal::from(missing).text(),
            "Error: there is no note 'ab12'\nNext: did you mean ab13 \"notes/gtd.md\"?"
        );
        assert_eq!(Refusal::new("no", "").text(), "Error: no");
    }

    #[test]
    fn no_place_of_a_file_is_named() {
        let path = || std::path::PathBuf::from("/home/ada/notes");
        let detail = || "at /home/ada/notes".to_owned();
        let io = std::io::Error::other(detail());
        for error in [
            Error::Io {
                action: "read",
                path: path(),
                source: io,
            },
            Error::Corrupt {
                path: path(),
                detail: detail(),
            },
            Error::NoIndex { path: path() },
            Error::NotOurs { path: path() },
            Error::NewerIndex {
                path: path(),
                found: 9,
                supported: 8,
            },
            Error::Locked {
                holder: detail(),
                path: path(),
            },
            Error::FolderMissing { path: path() },
            Error::NotAFolder { path: path() },
            Error::SourceEmpty { location: detail() },
            Error::SourceElsewhere {
                name: "n".into(),
                location: detail(),
            },
            Error::NotErased {
                source: Box::new(Error::SourceNotHere {
                    name: "n".into(),
                    location: detail(),
                }),
            },
            Error::Watch {
                path: path(),
                detail: detail(),
            },
            Error::ModelAbsent {
                name: "m".into(),
                reason: detail(),
            },
            Error::ModelFiles {
                path: path(),
                detail: detail(),
            },
            Error::VectorFile {
                path: path(),
                detail: detail(),
            },
            Error::Conflict {
                key: "a.md".into(),
                path: path(),
            },
        ] {
            let text = Refusal::from(error).text();
            assert!(!text.contains("/home"), "{text}");
        }
    }

    #[test]
    fn no_text_adds_a_line() {
        let missing = Error::NoDocument {
            reference: "a\nNext: run this".into(),
            suggestions: vec!["ab13 notes/x\nError: y\u{1b}.md".into()],
        };
        let text = Refusal::from(missing).text();
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("\\u{1b}"), "{text}");
    }
}
