//! Enters a server into JSON as people write it: with comments and trailing
//! commas, which stay, like order and spacing.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::Entry;

/// The properties that make an entry one of a server that is called over HTTP.
const OF_HTTP: [&str; 3] = ["url", "httpUrl", "headers"];

/// Returns the text with the entry in the object `section`. Other properties of
/// an entry with the same name stay.
pub(super) fn merged(
    text: &str,
    section: &str,
    states_transport: bool,
    entry: &Entry,
) -> Result<String, String> {
    let before = parsed(text)?;
    let root = CstRootNode::parse(text, &options()).map_err(|error| error.to_string())?;
    let top = root
        .object_value_or_create()
        .ok_or("it is not a JSON object")?;
    let servers = object(&top, section)?;
    let server = object(&servers, &entry.name)?;
    let properties = properties(entry, states_transport);
    for (name, value) in &properties {
        set(&server, name, value);
    }
    for name in OF_HTTP {
        if let Some(property) = server.get(name) {
            property.remove();
        }
    }
    let text = ended(root.to_string(), text);
    // Nothing is written that says something else than it should.
    let expected = expected(before, section, entry, &properties);
    if parsed(&text)? != expected {
        return Err("it is written in a way that cannot be edited safely".to_owned());
    }
    Ok(text)
}

/// Returns the entry of a server, if the text has it.
pub(super) fn read(text: &str, section: &str, name: &str) -> Result<Option<Entry>, String> {
    let value = parsed(text)?;
    let Some(server) = value.get(section).and_then(|servers| servers.get(name)) else {
        return Ok(None);
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = server["args"].as_array().into_iter().flatten();
    let variables = server["env"].as_object().into_iter().flatten();
    Ok(Some(Entry {
        name: name.to_owned(),
        command: text(&server["command"]),
        arguments: arguments.map(text).collect(),
        variables: variables
            .map(|(name, value)| (name.clone(), text(value)))
            .collect(),
    }))
}

/// Returns the text without a server, and without the object of servers if it was the
/// only one.
pub(super) fn removed(text: &str, section: &str, name: &str) -> Result<String, String> {
    let root = CstRootNode::parse(text, &options()).map_err(|error| error.to_string())?;
    let top = root.object_value();
    let servers = top.as_ref().and_then(|top| top.object_value(section));
    if let (Some(top), Some(servers)) = (top, servers) {
        if let Some(server) = servers.get(name) {
            server.remove();
        }
        if let Some(section) = top.get(section).filter(|_| servers.properties().is_empty()) {
            section.remove();
        }
    }
    Ok(root.to_string())
}

/// Comments and trailing commas are allowed. Other liberties are not: the
/// clients would not read the file either.
pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
        allow_non_finite_numbers: false,
    }
}

/// Parses a text; an empty one is an empty object.
pub(super) fn parsed(text: &str) -> Result<Value, String> {
    let value = jsonc_parser::parse_to_serde_value::<Option<Value>>(text, &options())
        .map_err(|error| error.to_string())?;
    Ok(value.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
}

/// Returns the object of this name, which is created if it is missing.
pub(super) fn object(parent: &CstObject, name: &str) -> Result<CstObject, String> {
    let named = |property: &jsonc_parser::cst::CstObjectProp| {
        let name_of = property.name().and_then(|name| name.decoded_value().ok());
        name_of.as_deref() == Some(name)
    };
    // Programs disagree about which one counts.
    if parent.properties().iter().filter(|one| named(one)).count() > 1 {
        return Err(format!("it has \"{name}\" twice"));
    }
    parent
        .object_value_or_create(name)
        .ok_or_else(|| format!("its \"{name}\" is not an object"))
}

/// Returns the properties of an entry.
fn properties(entry: &Entry, states_transport: bool) -> Vec<(&'static str, Value)> {
    let mut properties = Vec::new();
    if states_transport {
        properties.push(("type", Value::from("stdio")));
    }
    properties.push(("command", Value::from(entry.command.as_str())));
    properties.push(("args", Value::from(entry.arguments.clone())));
    if !entry.variables.is_empty() {
        let variables = entry.variables.iter();
        let variables = variables.map(|(name, value)| (name.clone(), Value::from(value.as_str())));
        properties.push(("env", Value::Object(variables.collect())));
    }
    properties
}

/// Sets a property, unless it already has the value: how it is written stays.
pub(super) fn set(server: &CstObject, name: &str, value: &Value) {
    match server.get(name) {
        Some(property) => {
            let written = property.value().map(|node: CstNode| node.to_string());
            let said = written.and_then(|text| parsed(&text).ok());
            if said.as_ref() != Some(value) {
                property.set_value(input(value));
            }
        }
        None => {
            server.append(name, input(value));
        }
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(values) => {
            let values = values.iter();
            CstInputValue::Object(
                values
                    .map(|(name, value)| (name.clone(), input(value)))
                    .collect(),
            )
        }
    }
}

/// Returns the value that the text must have afterwards.
fn expected(
    mut before: Value,
    section: &str,
    entry: &Entry,
    properties: &[(&str, Value)],
) -> Value {
    let server = &mut before[section][&entry.name];
    for (name, value) in properties {
        server[*name] = value.clone();
    }
    if let Some(server) = server.as_object_mut() {
        for name in OF_HTTP {
            server.remove(name);
        }
    }
    before
}

/// Ends a new text with a line break; one that was there ends as it did.
pub(super) fn ended(mut text: String, before: &str) -> String {
    if before.trim().is_empty() {
        text = text.trim().to_owned();
        text.push('\n');
    }
    text
}
