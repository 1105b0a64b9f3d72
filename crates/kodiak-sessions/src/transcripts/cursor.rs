//! The chats of Cursor: the editor keeps them in SQLite, the command line in JSON lines.
//!
//! The editor's database holds much else. Only the keys of chats are read:
//! `composerData:` describes a chat, and `bubbleId:` is one message of it.

use rusqlite::{Connection, OptionalExtension};
use serde::Deserialize;
use serde_json::Value;

use super::cursor_tabs;
use super::json::{Content, Entries, Maybe, Number, Text, record};
use super::opencode::{bytes, has_table};
use super::parser::{Parser, moment, moment_of, set};
use super::turn::Role;
use super::turns::{Seen, Turns};
use kodiak_text::document::Version;

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

/// Returns the request, without the tag around it.
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
    rich_text: Text,
    tabs: Vec<Maybe<Tab>>,
    conversation: Vec<Maybe<Bubble>>,
    conversation_map: Maybe<Entries<Bubble>>,
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
#[serde(default, rename_all = "camelCase")]
pub(super) struct Tab {
    #[serde(rename = "tabId")]
    pub(super) id: Text,
    pub(super) chat_title: Text,
    pub(super) last_send_time: Number,
    pub(super) bubbles: Vec<Maybe<Bubble>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Bubble {
    #[serde(rename = "bubbleId", alias = "id")]
    id: Text,
    /// A number, or in earlier versions a word.
    #[serde(rename = "type")]
    kind: Value,
    text: Text,
    raw_text: Text,
    rich_text: Text,
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
    /// Whether it is a tab of an earlier version.
    pub(super) is_tab: bool,
}

/// Lists the chats.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Chat>> {
    let mut chats = cursor_tabs::list(connection)?;
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
            is_tab: false,
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
    let mut inside: Vec<(String, Bubble)> = composer
        .conversation_map
        .0
        .map(|entries| entries.0)
        .unwrap_or_default();
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
            // Earlier versions have it in the description itself.
            None => {
                let place = inside.iter().position(|(id, _)| id == header.id.as_str());
                if let Some((id, mut bubble)) = place.map(|place| inside.remove(place)) {
                    bubble.id = Text(Some(id));
                    let seen = pass_on(&bubble, created, turns);
                    turns.count(seen);
                    named += 1;
                }
            }
        }
    }
    // What has no place comes in the order of time, or as it is written.
    inside.sort_by_key(|(_, bubble)| bubble.timestamp.0);
    for (id, mut bubble) in inside {
        bubble.id = Text(Some(id));
        let seen = pass_on(&bubble, created, turns);
        turns.count(seen);
        named += 1;
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
    if named == 0 {
        let rich = plain_of(composer.rich_text.as_str());
        turns.begin_next(Role::User, created);
        turns.text(composer.text.filled().unwrap_or(&rich));
    }
    Ok(())
}

/// Passes on the content of a bubble.
pub(super) fn pass_on(bubble: &Bubble, created: Option<i64>, turns: &mut Turns<'_>) -> Seen {
    let role = match (bubble.kind.as_i64(), bubble.kind.as_str()) {
        (Some(1), _) | (_, Some("1" | "user")) => Role::User,
        (Some(2), _) | (_, Some("2" | "ai" | "assistant")) => Role::Assistant,
        (number, word) => {
            let kind = word.map_or_else(|| number.unwrap_or_default().to_string(), str::to_owned);
            return Seen::Unknown(format!("bubble {kind}"));
        }
    };
    let at = moment_of(bubble.timestamp.0).or_else(|| moment(bubble.created_at.as_str()));
    set(&mut turns.context.around.cwd, &bubble.workspace_project_dir);
    match bubble.id.filled() {
        Some(id) => turns.begin(role, id, at.or(created), ""),
        None => turns.begin_next(role, at.or(created)),
    }
    let content = bubble.content.plain();
    let text = bubble.text.filled().or(bubble.raw_text.filled());
    if let Some(text) = text {
        turns.text(text);
    } else if content.is_empty() {
        turns.text(&plain_of(bubble.rich_text.as_str()));
    } else {
        turns.text(&content);
    }
    Seen::Known
}

/// Returns the text of an editor's tree of nodes, one line for each paragraph.
fn plain_of(rich: &str) -> String {
    fn collect(node: &Value, text: &mut String) {
        if let Some(said) = node.get("text").and_then(Value::as_str) {
            text.push_str(said);
        }
        if let Some(children) = node.get("children").and_then(Value::as_array) {
            for child in children {
                collect(child, text);
            }
        }
        if node.get("type").and_then(Value::as_str) == Some("paragraph") {
            text.push('\n');
        }
    }
    let mut text = String::new();
    if let Ok(tree) = serde_json::from_str::<Value>(rich) {
        collect(tree.get("root").unwrap_or(&tree), &mut text);
    }
    text.trim().to_owned()
}
