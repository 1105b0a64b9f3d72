//! The sessions of OpenCode before it had a database: a file for each session, message
//! and part.
//!
//! Owns the layout of the folder `storage`. `opencode` reads messages.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::discover::{Found, Origin};
use super::json::{Maybe, Number, Text, record};
use super::opencode::{Message, Part, begin_message, end_message, pass_on};
use super::parser::{moment_of, set};
use super::turns::{Seen, Turns, safe_id};
use kodiak_base::files::state::FileState;
use kodiak_text::document::Version;

/// The largest file that is read. A part with an output is far smaller.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The file of a session.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Session {
    id: Text,
    #[serde(rename = "parentID")]
    parent: Text,
    directory: Text,
    title: Text,
    time: Maybe<Time>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Time {
    updated: Number,
}

/// Lists the sessions in the folder of OpenCode.
pub(super) fn sessions(root: &Path) -> Vec<Found> {
    let storage = root.join("storage");
    let mut found = Vec::new();
    for project in inside(&storage.join("session")) {
        for file in inside(&project) {
            let name = file.file_stem().and_then(|name| name.to_str());
            let is_json = file.extension().is_some_and(|it| it == "json");
            let Some(id) = name.filter(|name| is_json && safe_id(name) == **name) else {
                continue;
            };
            let messages = inside(&storage.join("message").join(id));
            let Ok(metadata) = fs::symlink_metadata(&file) else {
                continue;
            };
            if !metadata.is_file() || messages.is_empty() {
                continue;
            }
            let described = read_file(&file).and_then(|bytes| record::<Session>(&bytes));
            let described = described.unwrap_or_default();
            let updated = described.time.0.and_then(|time| time.updated.0);
            let state = FileState::of(&metadata);
            let (mut version, mut fresh) = (
                Version::of_file(&state, u64::MAX).0.to_vec(),
                state.is_fresh(),
            );
            // A message that is being written changes its file.
            for file in messages.iter().filter_map(|path| path.metadata().ok()) {
                let state = FileState::of(&file);
                fresh |= state.is_fresh();
                version.extend_from_slice(&Version::of_file(&state, u64::MAX).0);
            }
            found.push(Found {
                key: id.to_owned(),
                origin: Origin::OpenCodeFiles(storage.clone(), file.clone()),
                parent: described.parent.filled().map(str::to_owned),
                title: None,
                version: if fresh {
                    Version::UNKNOWN
                } else {
                    Version::of(&version)
                },
                size: 1024 * messages.len() as u64,
                modified: moment_of(updated).unwrap_or_else(|| state.modified_at()),
            });
        }
    }
    found
}

/// Reads a session and passes on its turns.
pub(super) fn read(storage: &Path, file: &Path, turns: &mut Turns<'_>) -> io::Result<()> {
    fs::metadata(file)?;
    let described = read_file(file).and_then(|bytes| record::<Session>(&bytes));
    match described {
        Some(session) => {
            set(&mut turns.context.session.title, &session.title);
            set(&mut turns.context.around.cwd, &session.directory);
            if let Some(id) = session.id.filled() {
                id.clone_into(&mut turns.context.session.id);
            }
        }
        None => turns.count(Seen::Broken),
    }
    let Some(id) = file.file_stem().and_then(|name| name.to_str()) else {
        return Ok(());
    };
    let mut messages = Vec::new();
    for path in inside(&storage.join("message").join(id)) {
        let Some(id) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        match read_file(&path).and_then(|bytes| record::<Message>(&bytes)) {
            Some(message) => messages.push((message.created(), id.to_owned(), message)),
            None => turns.count(Seen::Broken),
        }
    }
    messages.sort_by(|(one, id, _), (other, other_id, _)| (one, id).cmp(&(other, other_id)));
    for (created, id, message) in messages {
        if !begin_message(&message, &id, moment_of(created), turns) {
            continue;
        }
        for path in inside(&storage.join("part").join(&id)) {
            let seen = match read_file(&path).and_then(|bytes| record::<Part>(&bytes)) {
                Some(part) => pass_on(&part, turns),
                None => Seen::Broken,
            };
            turns.count(seen);
        }
        end_message(&message, turns);
    }
    Ok(())
}

/// Returns the entries of a folder, by name. Links are left out.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let plain = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()));
    let mut paths: Vec<PathBuf> = plain.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read_file(path: &Path) -> Option<Vec<u8>> {
    kodiak_base::files::read(path, MAX_FILE_BYTES).ok()
}
