//! The chats of Cursor: those of the editor in SQLite, those of its command line in
//! JSON lines.
//!
//! The editor's database holds much else. Only the keys of chats are read:
//! `composerData:` describes a chat, and `bubbleId:` is one message of it.

use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;

use super::json::{Content, Maybe, Number, Text, record};
use super::opencode::{bytes, has_table};
use super::parser::{Parser, moment, moment_of, set};
use super::turn::Role;
use super::turns::{Seen, Turns};
use crate::document::Version;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Text,
    role: Text,
    message: Maybe<Message>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Message {
    content: Content,
}

/// Reads the transcripts of the command line. They have no times.
#[derive(Debug)]
pub(super) struct CursorLines;

impl Parser for CursorLines {
    fn line(&mut self, line: &[u8], turns: &mut Turns<'_>) -> Seen {
        let Some(record) = record::<Record>(line) else {
            return Seen::Broken;
        };
        let role = match record.role.as_str() {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            "system" | "tool" => return Seen::Known,
            _ if record.kind.as_str() == "turn_ended" => return Seen::Known,
            _ => {
                let kind = record.kind.filled().unwrap_or("a record");
                return Seen::Unknown(kind.to_owned());
            }
        };
        turns.begin_next(role, None);
        for block in record
            .message
            .0
            .iter()
            .flat_map(|message| &message.content.0)
        {
            match block.kind.as_str() {
                "text" => turns.text(asked(block.text.as_str())),
                "tool_use" | "tool-call" => turns.tool(block.name.as_str(), &block.input),
                _ => {}
            }
        }
        Seen::Known
    }
}

/// Returns what was asked, without the tag around it.
fn asked(text: &str) -> &str {
    let inner = text.trim().strip_prefix("<user_query>");
    let inner = inner.and_then(|inner| inner.strip_suffix("</user_query>"));
    inner.unwrap_or(text).trim()
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Composer {
    name: Text,
    created_at: Number,
    last_updated_at: Number,
    model_config: Maybe<ModelConfig>,
    full_conversation_headers_only: Vec<Maybe<Header>>,
    text: Text,
    tabs: Vec<Maybe<Tab>>,
    conversation: Vec<Maybe<Bubble>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ModelConfig {
    model_name: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Header {
    #[serde(rename = "bubbleId")]
    id: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Tab {
    bubbles: Vec<Maybe<Bubble>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Bubble {
    #[serde(rename = "bubbleId")]
    id: Text,
    #[serde(rename = "type")]
    kind: Number,
    text: Text,
    raw_text: Text,
    content: Content,
    timestamp: Number,
    created_at: Text,
    workspace_project_dir: Text,
}

/// A chat in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chat {
    pub(super) id: String,
    pub(super) version: Version,
    pub(super) updated: i64,
    pub(super) size: u64,
}

/// Lists the chats.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Chat>> {
    let mut chats = Vec::new();
    if !has_table(connection, "cursorDiskKV")? {
        return Ok(chats);
    }
    let mut statement = connection.prepare(
        "SELECT key, value FROM cursorDiskKV
         WHERE key >= 'composerData:' AND key < 'composerData;' AND value IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key = String::from_utf8_lossy(bytes(row, 0)?).into_owned();
        let value = bytes(row, 1)?;
        let id = key.trim_start_matches("composerData:").to_owned();
        let Some(composer) = record::<Composer>(value) else {
            continue;
        };
        let updated = composer.last_updated_at.0.or(composer.created_at.0);
        chats.push(Chat {
            version: Version::of(value),
            updated: moment_of(updated).unwrap_or_default(),
            size: 1024 * composer.full_conversation_headers_only.len().max(1) as u64,
            id,
        });
    }
    Ok(chats)
}

/// Reads a chat and passes on its turns.
pub(super) fn read(
    connection: &Connection,
    chat: &str,
    turns: &mut Turns<'_>,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("SELECT value FROM cursorDiskKV WHERE key = ?1")?;
    let key = format!("composerData:{chat}");
    let composer = statement
        .query_row([&key], |row| Ok(record::<Composer>(bytes(row, 0)?)))
        .optional()?
        .flatten();
    let Some(composer) = composer else {
        turns.count(Seen::Broken);
        return Ok(());
    };
    let created = moment_of(composer.created_at.0);
    set(&mut turns.context.session.title, &composer.name);
    if let Some(model) = &composer.model_config.0 {
        set(&mut turns.context.around.model, &model.model_name);
    }
    let mut named = 0;
    for header in composer
        .full_conversation_headers_only
        .iter()
        .filter_map(|header| header.0.as_ref())
    {
        let key = format!("bubbleId:{chat}:{}", header.id.as_str());
        let bubble = statement
            .query_row([&key], |row| Ok(record::<Bubble>(bytes(row, 0)?)))
            .optional()?;
        match bubble {
            Some(Some(mut bubble)) => {
                bubble.id = header.id.clone();
                {
                    let seen = pass_on(&bubble, created, turns);
                    turns.count(seen);
                }
                named += 1;
            }
            Some(None) => turns.count(Seen::Broken),
            None => {}
        }
    }
    let older = composer.tabs.iter().filter_map(|tab| tab.0.as_ref());
    let older = older
        .flat_map(|tab| &tab.bubbles)
        .chain(&composer.conversation);
    for bubble in older.filter_map(|bubble| bubble.0.as_ref()) {
        {
            let seen = pass_on(bubble, created, turns);
            turns.count(seen);
        }
        named += 1;
    }
    if named == 0 && composer.text.filled().is_some() {
        turns.begin_next(Role::User, created);
        turns.text(composer.text.as_str());
    }
    Ok(())
}

fn pass_on(bubble: &Bubble, created: Option<i64>, turns: &mut Turns<'_>) -> Seen {
    let role = match bubble.kind.0 {
        Some(1) => Role::User,
        Some(2) => Role::Assistant,
        other => return Seen::Unknown(format!("bubble {}", other.unwrap_or_default())),
    };
    let at = moment_of(bubble.timestamp.0).or_else(|| moment(bubble.created_at.as_str()));
    set(&mut turns.context.around.cwd, &bubble.workspace_project_dir);
    match bubble.id.filled() {
        Some(id) => turns.begin(role, id, at.or(created), ""),
        None => turns.begin_next(role, at.or(created)),
    }
    let content = bubble.content.plain();
    let text = bubble.text.filled().or(bubble.raw_text.filled());
    turns.text(text.unwrap_or(&content));
    Seen::Known
}
