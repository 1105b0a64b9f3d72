//! Enters a server into TOML; comments, order and spacing stay.

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::Entry;

/// The table that has the servers.
pub(super) const SECTION: &str = "mcp_servers";

/// The keys that make an entry one of a server that is called over HTTP.
const OF_HTTP: [&str; 3] = ["url", "bearer_token_env_var", "http_headers"];

/// Returns the text with the entry in the table of servers. Other keys of an
/// entry with the same name stay.
pub(super) fn merged(text: &str, entry: &Entry) -> Result<String, String> {
    let mut document = parsed(text)?;
    let servers = document.entry(SECTION).or_insert_with(|| {
        let mut table = Table::new();
        // Only the tables of the servers are written.
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| format!("its {SECTION} is not a table"))?;
    let inline = servers_are_inline(servers);
    let server = servers.entry(&entry.name).or_insert_with(|| {
        if inline {
            Item::Value(Value::InlineTable(InlineTable::new()))
        } else {
            Item::Table(Table::new())
        }
    });
    let server = server
        .as_table_like_mut()
        .ok_or_else(|| format!("its {SECTION}.{} is not a table", entry.name))?;
    set(server, "command", entry.command.as_str().into());
    set(
        server,
        "args",
        Value::Array(Array::from_iter(&entry.arguments)),
    );
    if !entry.variables.is_empty() {
        let mut variables = InlineTable::new();
        for (name, value) in &entry.variables {
            variables.insert(name, value.as_str().into());
        }
        set(server, "env", Value::InlineTable(variables));
    }
    for key in OF_HTTP {
        server.remove(key);
    }
    Ok(written(&document, text))
}

/// Returns the entry of a server, if the text has it.
pub(super) fn read(text: &str, name: &str) -> Result<Option<Entry>, String> {
    let document = parsed(text)?;
    let servers = document.get(SECTION).and_then(Item::as_table_like);
    let Some(server) = servers
        .and_then(|servers| servers.get(name))
        .and_then(Item::as_table_like)
    else {
        return Ok(None);
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let value = |key: &str| server.get(key).and_then(Item::as_value);
    let arguments = value("args")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let variables = server.get("env").and_then(Item::as_table_like);
    let variables = variables.into_iter().flat_map(TableLike::iter);
    Ok(Some(Entry {
        name: name.to_owned(),
        command: value("command").map(text).unwrap_or_default(),
        arguments: arguments.map(text).collect(),
        variables: variables
            .filter_map(|(name, item)| Some((name.to_owned(), text(item.as_value()?))))
            .collect(),
    }))
}

/// Returns the text without a server, and without the table of servers if it was the
/// only one.
pub(super) fn removed(text: &str, name: &str) -> Result<String, String> {
    let mut document = parsed(text)?;
    let servers = document.get_mut(SECTION).and_then(Item::as_table_like_mut);
    let emptied = servers.is_some_and(|servers| {
        servers.remove(name);
        servers.is_empty()
    });
    if emptied {
        document.remove(SECTION);
    }
    Ok(written(&document, text))
}

fn parsed(text: &str) -> Result<DocumentMut, String> {
    text.parse().map_err(|error: toml_edit::TomlError| {
        let message = error.message().trim().replace('\n', " ");
        match error.span() {
            Some(span) => format!("line {}: {message}", line(text, span.start)),
            None => message,
        }
    })
}

/// Returns the text of a document that had the text `before`.
fn written(document: &DocumentMut, before: &str) -> String {
    let written = document.to_string();
    // The writer ends its own lines as Unix does.
    if before.contains("\r\n") {
        written.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        written
    }
}

/// Reports whether the servers are in an inline table, which cannot hold a separate one.
fn servers_are_inline(servers: &dyn TableLike) -> bool {
    let mut kinds = servers.iter().map(|(_, item)| item.is_inline_table());
    kinds.next().unwrap_or(false)
}

/// Sets a key, unless it already has the value: how it is written stays.
fn set(server: &mut dyn TableLike, key: &str, value: Value) {
    let said = |value: &Value| plain(value).to_string();
    match server.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) if said(old) == said(&value) => {}
        Some(old) => {
            // Keeps a comment at the end of the line.
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            server.insert(key, Item::Value(value));
        }
    }
}

/// Returns a value without the spaces and comments around and in it.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(array) => Value::Array(array.iter().map(plain).collect()),
        Value::InlineTable(table) => {
            let pairs = table.iter();
            let plain = pairs.map(|(key, value)| (key, plain(value)));
            Value::InlineTable(plain.collect())
        }
        Value::String(text) => text.value().as_str().into(),
        other => {
            let mut other = other.clone();
            other.decor_mut().clear();
            other
        }
    }
}

/// Returns the number of the line at a byte of a text.
fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
}
