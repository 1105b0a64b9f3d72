//! Titles that an agent keeps apart from its sessions.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use super::json::{Text, record};
use super::lines::Lines;
use super::turns::safe_id;

/// The list of Codex, in its folder. A later line replaces an earlier one.
const CODEX: &str = "session_index.jsonl";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    id: Text,
    thread_name: Text,
}

/// Returns the titles of the sessions of Codex, by their ids.
pub(super) fn of_codex(folder: &Path) -> BTreeMap<String, String> {
    let mut titles = BTreeMap::new();
    let path = folder.join(CODEX);
    // Links are not followed.
    if !path.symlink_metadata().is_ok_and(|it| it.is_file()) {
        return titles;
    }
    let Ok(mut lines) = Lines::open(&path, 0) else {
        return titles;
    };
    while let Ok(Some(line)) = lines.next() {
        let Some(named) = record::<Named>(line.bytes) else {
            continue;
        };
        if let Some(id) = named.id.filled() {
            match named.thread_name.filled() {
                Some(title) => titles.insert(safe_id(id), title.to_owned()),
                // A title can be taken back.
                None => titles.remove(&safe_id(id)),
            };
        }
    }
    titles
}
