//! The chats of earlier versions of Cursor: tabs in one value of a workspace's database.
//!
//! Of the table `ItemTable`, which holds the whole state of the editor, only the keys of
//! chats are read.

use std::path::Path;

use percent_encoding::percent_decode_str;
use rusqlite::Connection;
use serde::Deserialize;

use super::cursor::{Chat, Tab, pass_on};
use super::json::{Maybe, Text, record};
use super::opencode::{bytes, has_table};
use super::parser::{moment_of, set};
use super::turns::{Seen, Turns};
use kodiak_base::files;
use kodiak_text::document::Version;

/// The values with chats.
const CHATS: &str = "SELECT value FROM ItemTable
                     WHERE key LIKE '%aichat%chatdata%' AND value IS NOT NULL ORDER BY key";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chats {
    tabs: Vec<Maybe<Tab>>,
}

/// The description of a workspace in its folder.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Workspace {
    folder: Text,
}

/// Lists the tabs that say something.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Chat>> {
    let mut chats = Vec::new();
    for tab in tabs(connection)? {
        if let Some(id) = tab.id.filled().filter(|_| !tab.bubbles.is_empty()) {
            // A tab has no version of its own; it only grows.
            let state = format!("{id} {} {:?}", tab.bubbles.len(), tab.last_send_time.0);
            chats.push(Chat {
                id: id.to_owned(),
                version: Version::of(state.as_bytes()),
                updated: moment_of(tab.last_send_time.0).unwrap_or_default(),
                size: 1024 * tab.bubbles.len() as u64,
                is_tab: true,
            });
        }
    }
    Ok(chats)
}

/// Reads a tab and passes on its turns.
pub(super) fn read(
    connection: &Connection,
    id: &str,
    turns: &mut Turns<'_>,
) -> rusqlite::Result<()> {
    let tabs = tabs(connection)?;
    let Some(tab) = tabs.iter().find(|tab| tab.id.as_str() == id) else {
        turns.count(Seen::Broken);
        return Ok(());
    };
    set(&mut turns.context.session.title, &tab.chat_title);
    let last = moment_of(tab.last_send_time.0);
    for bubble in tab.bubbles.iter().filter_map(|bubble| bubble.0.as_ref()) {
        let seen = pass_on(bubble, last, turns);
        turns.count(seen);
    }
    Ok(())
}

/// Returns the folder that the workspace of a database is about.
pub(super) fn workspace(database: &Path) -> Option<String> {
    let described = files::read(database.with_file_name("workspace.json"), files::SMALL).ok()?;
    let workspace: Workspace = record(&described)?;
    let path = workspace.folder.as_str().strip_prefix("file://")?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // `/c:/folder` is one of Windows.
    let drive = path.as_bytes().get(2) == Some(&b':');
    Some(path[usize::from(drive)..].to_owned())
}

fn tabs(connection: &Connection) -> rusqlite::Result<Vec<Tab>> {
    let mut tabs = Vec::new();
    if !has_table(connection, "ItemTable")? {
        return Ok(tabs);
    }
    let mut statement = connection.prepare_cached(CHATS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(chats) = record::<Chats>(bytes(row, 0)?) {
            tabs.extend(chats.tabs.into_iter().filter_map(|tab| tab.0));
        }
    }
    Ok(tabs)
}
