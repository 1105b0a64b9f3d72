//! What is wrong, each with the command that repairs it. Where no command does, it is the
//! one that says what to do.

use std::fmt::Write as _;

use kodiak::Error;
use kodiak::engine::{MeaningState, SourceState, Status};
use serde::Serialize;

/// The command that indexes what is missing, and embeds it.
const INDEX: &str = "kodiak index";
/// The command that says more about most problems.
const DOCTOR: &str = "kodiak doctor";
/// The command that lists what was left out, and why.
const STATUS: &str = "kodiak status";

/// As many passages without a vector are embedded within seconds of being indexed. More
/// of them are a problem, unless something embeds.
const BACKLOG: u64 = 200;

/// What is wrong, and the command that helps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
}

/// What else has to be known to judge a status.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    /// Whether there is a source beside those that Kodiak keeps itself.
    pub(super) has_notes: bool,
    /// Whether something is indexed or embedded at the moment.
    pub(super) busy: bool,
    /// The number of documents whose erasing was interrupted, if one was.
    pub(super) erasing: Option<usize>,
}

/// Returns what is wrong with an index and those of its sources that a caller sees.
pub(super) fn of(status: &Status, sources: &[SourceState], known: Known) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut add = |text: String, command: &str| {
        let command = Some(command.to_owned());
        problems.push(Problem { text, command });
    };
    let exists = status.format.is_some();
    if !known.has_notes {
        let text = "there is no folder of notes yet";
        add(text.to_owned(), "kodiak add FOLDER");
    } else if !exists && !known.busy {
        add("nothing is indexed yet".to_owned(), INDEX);
    }
    if let Some(documents) = known.erasing {
        let documents = counted(documents as u64, "document");
        let text = format!("the erasing of {documents} was interrupted");
        add(text, INDEX);
    }
    for source in sources {
        of_source(source, exists, known.busy, &mut add);
    }
    if exists && status.documents > 0 {
        of_meaning(status, known.busy, &mut add);
    }
    problems
}

/// Adds what is wrong with a source.
fn of_source(source: &SourceState, exists: bool, busy: bool, add: &mut impl FnMut(String, &str)) {
    let name = &source.name;
    if let Some(Err(error)) = &source.changes {
        let (advice, command) = of_access(name, error);
        let reason = crate::failure::message(error);
        let mut text = format!("'{name}' cannot be read: {reason}");
        if !advice.is_empty() {
            let _ = write!(text, ". {advice}");
        }
        add(text, &command);
    } else if !source.registered && !source.elsewhere {
        let text = format!("'{name}' is indexed and not registered any more");
        add(text, INDEX);
    } else if exists && source.registered && source.synced_at.is_none() && !busy {
        let text = format!("'{name}' is not indexed completely yet");
        add(text, &format!("{INDEX} {}", quoted(name)));
    }
    if !source.skipped.is_empty() {
        let skipped = counted(source.skipped.len() as u64, "file");
        add(format!("'{name}': {skipped} left out of the index"), STATUS);
    }
    if !source.problems.is_empty() {
        let documents = counted(source.problems.len() as u64, "document");
        add(format!("'{name}': {documents} with a problem"), STATUS);
    }
}

/// Returns what to do about a source that cannot be read, and the command for it.
fn of_access(name: &str, error: &Error) -> (&'static str, String) {
    let name = quoted(name);
    match error {
        Error::FolderMissing { .. } | Error::NotAFolder { .. } => (
            "Its notes are still found. They stay when its folder is back; a folder that is \
             gone for good is removed with a command",
            format!("kodiak remove {name}"),
        ),
        Error::SourceEmpty { .. } => (
            "Its notes are still found. Connect its drive; if they were deleted on purpose, \
             a command takes them out of the index",
            format!("{INDEX} {name} --allow-empty"),
        ),
        Error::SourceElsewhere { .. } => (
            "Register the folder of this machine by another name",
            "kodiak add FOLDER --name NAME".to_owned(),
        ),
        _ => ("", DOCTOR.to_owned()),
    }
}

/// Adds what keeps searches from comparing meanings.
fn of_meaning(status: &Status, busy: bool, add: &mut impl FnMut(String, &str)) {
    if let MeaningState::Absent(absence) = &status.meaning {
        let name = &absence.name;
        match named_command(&absence.reason) {
            Some(command) if command.starts_with("kodiak model install") => {
                let text =
                    format!("the model {name} is not installed: notes are found by their words");
                add(text, command);
            }
            Some(command) if !busy => {
                let text = format!("nothing is embedded by {name} yet");
                add(text, command);
            }
            // What embeds says how far it is.
            Some(_) => {}
            None => add(format!("the model {name} cannot be used"), DOCTOR),
        }
    } else if status.meaning == MeaningState::On && !busy {
        let covered = status.embeddings.sources.iter().map(|(_, covered)| covered);
        let left: u64 = covered
            .map(|one| one.chunks - one.embedded.min(one.chunks))
            .sum();
        if left > BACKLOG {
            let left = counted(left, "passage");
            add(format!("{left} not embedded yet"), INDEX);
        }
    }
    let failures = status.embeddings.failures.iter();
    let failed: u64 = failures.map(|(_, number)| number).sum();
    if failed > 0 {
        let failed = counted(failed, "passage");
        let text = format!("{failed} could not be embedded");
        add(text, "kodiak status --embeddings");
    }
}

/// Returns the last command of Kodiak that a text names in backticks.
fn named_command(text: &str) -> Option<&str> {
    let mut quoted = text.split('`').skip(1).step_by(2);
    let commands = quoted.by_ref().filter(|part| part.starts_with("kodiak "));
    commands.last()
}

/// Returns a name as a shell takes it for one word.
fn quoted(name: &str) -> String {
    let plain = |sign: char| sign.is_alphanumeric() || "-_./".contains(sign);
    if !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', r"'\''"))
}

/// Returns a number with its noun.
fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use kodiak::engine::ModelAbsence;
    use kodiak::store::{Coverage, EmbeddingStatus};

    use super::*;

    fn source(name: &str) -> SourceState {
        SourceState {
            name: name.to_owned(),
            location: String::new(),
            registered: true,
            elsewhere: false,
            documents: 3,
            secrets_left_out: 0,
            synced_at: Some(1),
            changes: None,
            skipped: Vec::new(),
            problems: Vec::new(),
        }
    }

    fn status() -> Status {
        Status {
            index: PathBuf::new(),
            format: Some(1),
            bytes: 0,
            documents: 3,
            words: 0,
            serving: None,
            meaning: MeaningState::Off,
            embeddings: EmbeddingStatus::default(),
            cache: None,
            sources: Vec::new(),
        }
    }

    const IDLE: Known = Known {
        has_notes: true,
        busy: false,
        erasing: None,
    };
    const BUSY: Known = Known { busy: true, ..IDLE };

    /// Returns the words and the commands of all problems.
    fn said(status: &Status, sources: &[SourceState], known: Known) -> Vec<(String, String)> {
        let problems = of(status, sources, known).into_iter();
        problems
            .map(|problem| (problem.text, problem.command.unwrap()))
            .collect()
    }

    fn commands(status: &Status, sources: &[SourceState], known: Known) -> Vec<String> {
        let said = said(status, sources, known).into_iter();
        said.map(|(_, command)| command).collect()
    }

    fn away(error: Error) -> SourceState {
        SourceState {
            changes: Some(Err(error)),
            ..source("my notes")
        }
    }

    #[test]
    fn nothing_is_wrong_with_an_index_that_is_up_to_date() {
        assert!(of(&status(), &[source("notes")], IDLE).is_empty());
    }

    #[test]
    fn a_fresh_home_needs_a_folder_and_then_an_index() {
        let fresh = Status {
            format: None,
            documents: 0,
            ..status()
        };
        let none = Known::default();
        assert_eq!(commands(&fresh, &[], none), ["kodiak add FOLDER"]);
        // Kodiak's own folders are none of notes.
        let own = [source("memories")];
        assert_eq!(commands(&status(), &own, none), ["kodiak add FOLDER"]);
        let registered = [SourceState {
            synced_at: None,
            ..source("notes")
        }];
        assert_eq!(commands(&fresh, &registered, IDLE), ["kodiak index"]);
        assert!(commands(&fresh, &registered, BUSY).is_empty());
    }

    #[test]
    fn a_source_is_indexed_by_its_name() {
        let new = [SourceState {
            synced_at: None,
            ..source("it's new")
        }];
        assert_eq!(
            commands(&status(), &new, IDLE),
            [r"kodiak index 'it'\''s new'"]
        );
        assert!(commands(&status(), &new, BUSY).is_empty());
        let left = [SourceState {
            registered: false,
            ..source("left")
        }];
        assert_eq!(commands(&status(), &left, IDLE), ["kodiak index"]);
        let of_another_machine = [SourceState {
            registered: false,
            elsewhere: true,
            ..source("theirs")
        }];
        assert!(commands(&status(), &of_another_machine, IDLE).is_empty());
    }

    #[test]
    fn a_source_that_is_away_is_kept_until_it_is_removed() {
        let path = PathBuf::from("/home/me/secret");
        let missing = [away(Error::FolderMissing { path: path.clone() })];
        let said_of_it = said(&status(), &missing, IDLE).remove(0);
        assert_eq!(said_of_it.1, "kodiak remove 'my notes'");
        assert!(said_of_it.0.contains("still found") && !said_of_it.0.contains("secret"));
        let denied = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        let denied = [away(Error::io("read", &path)(denied))];
        assert_eq!(commands(&status(), &denied, IDLE), ["kodiak doctor"]);
    }

    #[test]
    fn what_was_left_out_is_listed() {
        let odd = [SourceState {
            skipped: vec![("a.bin".to_owned(), "it is not text".to_owned())],
            problems: vec![("b.md".to_owned(), "its frontmatter ends nowhere".to_owned()); 2],
            ..source("notes")
        }];
        let said = said(&status(), &odd, IDLE);
        assert!(said.iter().all(|(_, command)| command == "kodiak status"));
        assert!(said[0].0.contains("1 file left") && said[1].0.contains("2 documents with"));
    }

    #[test]
    fn a_missing_model_is_installed() {
        let absent = |reason: &str| Status {
            meaning: MeaningState::Absent(ModelAbsence {
                name: "tiny".to_owned(),
                reason: reason.to_owned(),
            }),
            ..status()
        };
        let sources = [source("notes")];
        let missing = absent("the model tiny is not installed; run `kodiak model install tiny`");
        for known in [IDLE, BUSY] {
            assert_eq!(
                commands(&missing, &sources, known),
                ["kodiak model install tiny"]
            );
        }
        let empty = absent("nothing is embedded yet; run `kodiak index`");
        assert_eq!(commands(&empty, &sources, IDLE), ["kodiak index"]);
        assert!(commands(&empty, &sources, BUSY).is_empty());
        let broken = absent("`model.onnx` cannot be read");
        assert_eq!(commands(&broken, &sources, IDLE), ["kodiak doctor"]);
        // Without notes, there is nothing to embed.
        let none = Status {
            documents: 0,
            ..empty
        };
        assert!(commands(&none, &sources, IDLE).is_empty());
    }

    #[test]
    fn what_is_not_embedded_is_a_problem_once_nothing_embeds() {
        let covered = |embedded, chunks| Status {
            meaning: MeaningState::On,
            embeddings: EmbeddingStatus {
                sources: vec![("notes".to_owned(), Coverage { embedded, chunks })],
                ..EmbeddingStatus::default()
            },
            ..status()
        };
        let sources = [source("notes")];
        assert_eq!(
            commands(&covered(10, 500), &sources, IDLE),
            ["kodiak index"]
        );
        assert!(commands(&covered(10, 500), &sources, BUSY).is_empty());
        // A note that was just saved is embedded in a moment.
        assert!(commands(&covered(490, 500), &sources, IDLE).is_empty());
        let failed = Status {
            embeddings: EmbeddingStatus {
                failures: vec![("too long".to_owned(), 2)],
                ..EmbeddingStatus::default()
            },
            ..covered(0, 0)
        };
        let said = said(&failed, &sources, IDLE).remove(0);
        assert_eq!(said.1, "kodiak status --embeddings");
        assert!(said.0.starts_with("2 passages"));
    }

    #[test]
    fn an_interrupted_erasing_is_finished() {
        let known = Known {
            erasing: Some(1),
            ..IDLE
        };
        let said = said(&status(), &[source("notes")], known).remove(0);
        assert_eq!(said.1, "kodiak index");
        assert!(said.0.contains("1 document was"));
    }
}
