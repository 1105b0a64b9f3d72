//! The prompts that an agent remembers beside its sessions, for the arrow keys.
//!
//! The list outlives the sessions. Of a session whose transcript is neither on the disk
//! nor kept, its prompts are all that is left. No copies of them are kept, because the
//! agent itself does not delete them.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::discover::{Found, Origin};
use super::json::{Maybe, Number, Text, record};
use super::lines::Lines;
use super::parser::{moment_of, set};
use super::turn::Role;
use super::turns::{Seen, Turns, safe_id};
use kodiak_text::document::Version;

/// The prefix of the names of such sessions.
pub(super) const PREFIX: &str = "history/";
/// The name of the file, in the folder of the agent.
const FILE: &str = "history.jsonl";

/// One prompt. The two agents have other names for the same.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Prompt {
    #[serde(alias = "sessionId")]
    session_id: Text,
    #[serde(alias = "display")]
    text: Text,
    #[serde(alias = "timestamp")]
    ts: Number,
    project: Text,
    #[serde(rename = "pastedContents")]
    pasted: Maybe<BTreeMap<String, Maybe<Pasted>>>,
}

/// A text that was pasted, and that the prompt only mentions.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Pasted {
    content: Text,
}

/// The facts about a line that are known without reading all of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Belonging {
    #[serde(alias = "sessionId")]
    session_id: Text,
    #[serde(alias = "timestamp")]
    ts: Number,
}

/// The prompts of one session: where they are in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prompts {
    session: String,
    lines: Vec<(u64, usize)>,
}

/// Returns the sessions of which prompts are remembered in a folder, and the prompts
/// that cannot be told apart by session are left out.
pub(super) fn sessions(folder: &Path) -> Vec<Found> {
    let path = folder.join(FILE);
    // Links are not followed.
    let is_file = path.symlink_metadata().is_ok_and(|it| it.is_file());
    if !is_file {
        return Vec::new();
    }
    list(&path).unwrap_or_default()
}

fn list(path: &Path) -> io::Result<Vec<Found>> {
    let mut found: HashMap<String, (Prompts, i64)> = HashMap::new();
    let mut lines = Lines::open(path, 0)?;
    while let Some(line) = lines.next()? {
        let Some(belonging) = record::<Belonging>(line.bytes) else {
            continue;
        };
        let Some(session) = belonging.session_id.filled() else {
            continue;
        };
        let (prompts, last) = found.entry(session.to_owned()).or_default();
        session.clone_into(&mut prompts.session);
        prompts.lines.push((line.offset, line.bytes.len()));
        *last = (*last).max(belonging.ts.0.unwrap_or_default());
    }
    let sessions = found.into_values().map(|(prompts, last)| {
        let size = prompts.lines.iter().map(|(_, length)| *length as u64).sum();
        let state = format!("{} {} {size} {last}", prompts.session, prompts.lines.len());
        Found {
            key: format!("{PREFIX}{}", safe_id(&prompts.session)),
            parent: None,
            title: None,
            version: Version::of(state.as_bytes()),
            size,
            modified: moment_of(Some(last)).unwrap_or_default(),
            origin: Origin::History(path.to_owned(), prompts),
        }
    });
    Ok(sessions.collect())
}

/// Reads the prompts of one session. Lines that have changed are left out: the next listing
/// finds them.
pub(super) fn read(path: &PathBuf, prompts: &Prompts, turns: &mut Turns<'_>) -> io::Result<()> {
    let mut file = kodiak_base::files::open(path)?;
    turns.context.session.id.clone_from(&prompts.session);
    for &(offset, length) in &prompts.lines {
        file.seek(SeekFrom::Start(offset))?;
        let mut line = vec![0; length];
        match file.read_exact(&mut line) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => continue,
            other => other?,
        }
        let Some(prompt) = record::<Prompt>(&line) else {
            turns.count(Seen::Broken);
            continue;
        };
        if prompt.session_id.as_str() != prompts.session || is_command(prompt.text.as_str()) {
            continue;
        }
        set(&mut turns.context.around.cwd, &prompt.project);
        turns.begin_next(Role::User, moment_of(prompt.ts.0));
        turns.text(prompt.text.as_str());
        for pasted in prompt.pasted.0.iter().flat_map(BTreeMap::values) {
            if let Some(pasted) = &pasted.0 {
                turns.text(pasted.content.as_str());
            }
        }
    }
    Ok(())
}

/// Reports whether a prompt is a bare command to the program, such as `/clear`.
fn is_command(text: &str) -> bool {
    let text = text.trim();
    let name = text.strip_prefix('/').unwrap_or_default();
    !name.is_empty()
        && name
            .chars()
            .all(|sign| sign.is_alphanumeric() || "-_:".contains(sign))
}

/// Returns the session that a history has prompts of, by the name of the entry.
pub(super) fn session_of(key: &str) -> Option<&str> {
    key.strip_prefix(PREFIX)
}

/// Returns the name under which the prompts of a session are remembered. Files of
/// Codex may have a second id after the session's.
pub(super) fn names(entry: &str) -> Vec<String> {
    let session = entry.split('/').next().unwrap_or(entry);
    let mut names = vec![format!("{PREFIX}{session}")];
    if let Some((first, _)) = session.split_once('_') {
        names.push(format!("{PREFIX}{first}"));
    }
    names
}
