//! The sessions of OpenCode, in its SQLite database.
//!
//! A message is a row, and its parts are rows of another table. A later version has
//! `session_message` beside them; both are read, each message once. The database
//! belongs to OpenCode and may be in use: it is only read.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::Deserialize;

use super::json::{Block, Content, Flag, Maybe, Number, Text, record};
use super::parser::{moment_of, set};
use super::tool::ToolInput;
use super::turn::Role;
use super::turns::{Seen, Turns};
use kodiak_text::document::{Timestamp, Version};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    role: Text,
    time: Maybe<Time>,
    #[serde(rename = "modelID")]
    model: Text,
    path: Maybe<Paths>,
    error: Maybe<Problem>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Time {
    created: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Paths {
    cwd: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Problem {
    name: Text,
    message: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Part {
    #[serde(rename = "type")]
    kind: Text,
    text: Text,
    synthetic: Flag,
    ignored: Flag,
    tool: Text,
    name: Text,
    state: Maybe<State>,
    prompt: Text,
    description: Text,
    // The later form.
    command: Text,
    output: Text,
    content: Content,
    model: Maybe<Model>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Model {
    id: Text,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    status: Text,
    input: ToolInput,
    output: Text,
    error: Text,
}

/// A session in the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) version: Version,
    pub(super) updated: i64,
    pub(super) size: u64,
}

/// Lists the sessions.
pub(super) fn list(connection: &Connection) -> rusqlite::Result<Vec<Stored>> {
    let mut newest: HashMap<String, (i64, i64)> = HashMap::new();
    for table in ["message", "session_message"] {
        if !has_table(connection, table)? {
            continue;
        }
        let sql = format!(
            "SELECT session_id, count(*), coalesce(max(time_updated), 0) FROM {table} GROUP BY session_id"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let known = newest.entry(text(row, 0)?).or_default();
            let (count, updated): (i64, i64) = (number(row, 1)?, number(row, 2)?);
            *known = (known.0 + count, known.1.max(updated));
        }
    }
    let mut statement = connection.prepare("SELECT id, parent_id, time_updated FROM session")?;
    let mut rows = statement.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        let (id, parent) = (text(row, 0)?, text(row, 1)?);
        let (count, updated) = newest.get(&id).copied().unwrap_or_default();
        if count == 0 || id.is_empty() {
            continue;
        }
        let updated = number(row, 2)?.max(updated);
        let state = format!("{id} {count} {updated}");
        sessions.push(Stored {
            id,
            parent: Some(parent).filter(|parent| !parent.is_empty()),
            version: Version::of(state.as_bytes()),
            updated: moment_of(Some(updated)).unwrap_or_default(),
            // The parts are not counted: that would take longer than all the rest.
            size: count as u64 * 1024,
        });
    }
    Ok(sessions)
}

/// Reads a session and passes on its turns.
pub(super) fn read(
    connection: &Connection,
    session: &str,
    turns: &mut Turns<'_>,
) -> rusqlite::Result<()> {
    let mut described =
        connection.prepare_cached("SELECT title, directory FROM session WHERE id = ?1")?;
    let described = described.query_row([session], |row| Ok((text(row, 0)?, text(row, 1)?)));
    if let Some((title, directory)) = described.optional()? {
        set(&mut turns.context.session.title, &Text(Some(title)));
        set(&mut turns.context.around.cwd, &Text(Some(directory)));
    }
    let mut read = HashSet::new();
    if has_table(connection, "message")? && has_table(connection, "part")? {
        messages(connection, session, turns, &mut read)?;
    }
    if has_table(connection, "session_message")? {
        later_messages(connection, session, turns, &read)?;
    }
    Ok(())
}

fn messages(
    connection: &Connection,
    session: &str,
    turns: &mut Turns<'_>,
    read: &mut HashSet<String>,
) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT id, data, time_created FROM message WHERE session_id = ?1 ORDER BY time_created, id")?;
    let mut parts_of =
        connection.prepare_cached("SELECT data FROM part WHERE message_id = ?1 ORDER BY id")?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let id = text(row, 0)?;
        let Some(message) = record::<Message>(bytes(row, 1)?) else {
            turns.count(Seen::Broken);
            continue;
        };
        let at = moment_of(message.created().or(Some(number(row, 2)?)));
        if !begin_message(&message, &id, at, turns) {
            continue;
        }
        let mut parts = parts_of.query([&id])?;
        while let Some(part) = parts.next()? {
            let seen = match record::<Part>(bytes(part, 0)?) {
                Some(part) => pass_on(&part, turns),
                None => Seen::Broken,
            };
            turns.count(seen);
        }
        end_message(&message, turns);
        read.insert(id);
    }
    Ok(())
}

impl Message {
    /// Returns when it was created, as it says itself.
    pub(super) fn created(&self) -> Option<i64> {
        self.time.0.as_ref().and_then(|time| time.created.0)
    }
}

/// Begins the turn of a message. Returns whether it has one.
pub(super) fn begin_message(
    message: &Message,
    id: &str,
    at: Option<Timestamp>,
    turns: &mut Turns<'_>,
) -> bool {
    set(&mut turns.context.around.model, &message.model);
    if let Some(path) = &message.path.0 {
        set(&mut turns.context.around.cwd, &path.cwd);
    }
    let role = match message.role.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        other => {
            turns.count(Seen::Unknown(other.to_owned()));
            return false;
        }
    };
    turns.begin(role, id, at, "");
    true
}

/// Adds the failure of a message, which comes after its parts.
pub(super) fn end_message(message: &Message, turns: &mut Turns<'_>) {
    if let Some(problem) = &message.error.0 {
        let words = format!("{} {}", problem.name.as_str(), problem.message.as_str());
        turns.output(words.trim(), true);
    }
}

/// Passes on the content of a part.
pub(super) fn pass_on(part: &Part, turns: &mut Turns<'_>) -> Seen {
    match part.kind.as_str() {
        "text" if part.synthetic.0 || part.ignored.0 => {}
        "text" => turns.text(part.text.as_str()),
        "reasoning" => turns.thought(part.text.as_str()),
        "tool" => {
            let name = part.tool.filled().unwrap_or(part.name.as_str());
            if let Some(state) = &part.state.0 {
                turns.tool(name, &state.input);
                turns.output(state.output.as_str(), false);
                turns.output(state.error.as_str(), state.status.as_str() == "error");
            }
        }
        "subtask" => {
            turns.text(part.description.as_str());
            turns.text(part.prompt.as_str());
        }
        "file" | "patch" | "snapshot" | "step-start" | "step-finish" | "agent" | "retry"
        | "compaction" => {}
        kind => return Seen::Unknown(kind.to_owned()),
    }
    Seen::Known
}

fn later_messages(
    connection: &Connection,
    session: &str,
    turns: &mut Turns<'_>,
    read: &HashSet<String>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "SELECT id, data, time_created, type FROM session_message WHERE session_id = ?1 ORDER BY seq",
    )?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        let (id, kind) = (text(row, 0)?, text(row, 3)?);
        if read.contains(&id) {
            continue;
        }
        let Some(message) = record::<Part>(bytes(row, 1)?) else {
            turns.count(Seen::Broken);
            continue;
        };
        let at = moment_of(Some(number(row, 2)?));
        match kind.as_str() {
            "user" => {
                turns.begin(Role::User, &id, at, "");
                turns.text(message.text.as_str());
            }
            "assistant" => {
                if let Some(model) = &message.model.0 {
                    set(&mut turns.context.around.model, &model.id);
                }
                turns.begin(Role::Assistant, &id, at, "");
                message
                    .content
                    .0
                    .iter()
                    .for_each(|block| pass_on_block(block, turns));
            }
            "shell" => {
                turns.begin(Role::User, &id, at, "");
                let command = ("command".to_owned(), message.command.as_str().to_owned());
                turns.tool("shell", &ToolInput(vec![command]));
            }
            "synthetic" | "system" | "compaction" | "agent-switched" | "model-switched" => {}
            kind => turns.count(Seen::Unknown(kind.to_owned())),
        }
    }
    Ok(())
}

fn pass_on_block(block: &Block, turns: &mut Turns<'_>) {
    match block.kind.as_str() {
        "text" => turns.text(block.text.as_str()),
        "reasoning" => turns.thought(block.text.as_str()),
        "tool" => turns.tool(block.name.as_str(), &block.input),
        _ => {}
    }
}

/// Reports whether the database has a table. A view or a virtual table, which have no
/// pages, does not count: reading it may not end.
pub(super) fn has_table(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?1)",
        )?
        .query_row([name], |row| row.get(0))
}

/// Returns a column as text, whatever it holds.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(String::from_utf8_lossy(bytes(row, column)?).into_owned())
}

/// Returns the bytes of a text or blob column; none of any other.
pub(super) fn bytes<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a [u8]> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        _ => &[],
    })
}

fn number(row: &Row<'_>, column: usize) -> rusqlite::Result<i64> {
    Ok(match row.get_ref(column)? {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => number as i64,
        _ => 0,
    })
}

/// Reports whether a file is named like a database of OpenCode.
pub(super) fn is_database(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let is_db = Path::new(&name)
        .extension()
        .is_some_and(|extension| extension == "db");
    is_db && name.starts_with("opencode")
}
