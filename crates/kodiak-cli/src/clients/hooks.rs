//! Enters the hook into the settings of Claude Code and Codex, which have the same form:
//! an event has groups, and a group has handlers. Everything else stays as it is.

use jsonc_parser::cst::{CstArray, CstInputValue, CstObject, CstRootNode};
use serde_json::{Value, json};

use super::json::{ended, object, options, parsed, set};

/// The object that has the events.
const SECTION: &str = "hooks";
/// How long a client waits for the hook, in seconds. The hook ends by itself long before.
const TIMEOUT: u64 = 5;
/// The events that the hook handles, each with its matcher. At other starts of a session
/// there is nothing to do.
const EVENTS: [(&str, Option<&str>); 2] = [
    ("UserPromptSubmit", None),
    ("SessionStart", Some("clear|compact")),
];

/// Returns the text with the hook, which runs `command`.
pub(super) fn merged(text: &str, command: &str) -> Result<String, String> {
    let mut expected = parsed(text)?;
    let root = CstRootNode::parse(text, &options()).map_err(|error| error.to_string())?;
    let top = root
        .object_value_or_create()
        .ok_or("it is not a JSON object")?;
    let events = object(&top, SECTION)?;
    for (event, matcher) in EVENTS {
        let groups = groups(&events, event)?;
        let known = handlers(&groups);
        for handler in &known {
            set(handler, "command", &Value::from(command));
        }
        if known.is_empty() {
            groups.append(group_input(command, matcher));
        }
        expect(&mut expected[SECTION][event], command, matcher);
    }
    let text = ended(root.to_string(), text);
    if parsed(&text)? != expected {
        return Err("it is written in a way that cannot be edited safely".to_owned());
    }
    Ok(text)
}

/// Returns the text without the hook.
pub(super) fn removed(text: &str) -> Result<String, String> {
    let root = CstRootNode::parse(text, &options()).map_err(|error| error.to_string())?;
    let Some(events) = root
        .object_value()
        .and_then(|top| top.object_value(SECTION))
    else {
        return Ok(text.to_owned());
    };
    for (event, _) in EVENTS {
        let Some(groups) = events.array_value(event) else {
            continue;
        };
        for group in groups.elements() {
            let Some(inside) = group.as_object().and_then(|it| it.array_value(SECTION)) else {
                continue;
            };
            for handler in inside.elements() {
                if handler.as_object().is_some_and(|it| is_ours(&it)) {
                    handler.remove();
                }
            }
            if inside.elements().is_empty() {
                group.remove();
            }
        }
        if let Some(property) = events.get(event).filter(|_| groups.elements().is_empty()) {
            property.remove();
        }
    }
    let top = root.object_value();
    let emptied = events.properties().is_empty();
    if let Some(section) = top.and_then(|top| top.get(SECTION)).filter(|_| emptied) {
        section.remove();
    }
    Ok(root.to_string())
}

/// Returns the command of the hook, if the text has it.
pub(super) fn command(text: &str) -> Option<String> {
    let value = parsed(text).ok()?;
    let events = value.get(SECTION)?.as_object()?;
    let mut groups = EVENTS
        .iter()
        .filter_map(|(event, _)| events.get(*event)?.as_array())
        .flatten();
    groups.find_map(|group| {
        let mut handlers = group.get(SECTION)?.as_array()?.iter();
        handlers.find_map(|handler| our_command(handler.get("command")?.as_str()?))
    })
}

/// Returns the groups of an event, which are created if they are missing.
fn groups(events: &CstObject, event: &str) -> Result<CstArray, String> {
    events
        .array_value_or_create(event)
        .ok_or_else(|| format!("its \"{SECTION}.{event}\" is not a list"))
}

/// Returns the handlers of this program.
fn handlers(groups: &CstArray) -> Vec<CstObject> {
    let groups = groups.elements().into_iter();
    let inside = groups.filter_map(|group| group.as_object()?.array_value(SECTION));
    let handlers = inside.flat_map(|handlers| handlers.elements());
    let handlers = handlers.filter_map(|handler| handler.as_object());
    handlers.filter(is_ours).collect()
}

fn is_ours(handler: &CstObject) -> bool {
    let value = handler.get("command").and_then(|property| property.value());
    let text = value.and_then(|value| parsed(&value.to_string()).ok());
    let text = text.as_ref().and_then(Value::as_str);
    text.is_some_and(|text| our_command(text).is_some())
}

/// Returns a command if it runs the hook of this program: a path whose last part
/// begins with the name of the program, and the verb.
fn our_command(command: &str) -> Option<String> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_program = |word: &str| {
        let name = word.trim_matches(['\'', '"']);
        let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
        // Also `kodiak.exe`, and a program that is kept under the name of its version.
        name.starts_with("kodiak")
    };
    let ours = words
        .windows(2)
        .any(|pair| is_program(pair[0]) && pair[1] == "hook");
    ours.then(|| command.to_owned())
}

fn group(command: &str, matcher: Option<&str>) -> Value {
    let handler = json!({"type": "command", "command": command, "timeout": TIMEOUT});
    match matcher {
        Some(matcher) => json!({"matcher": matcher, SECTION: [handler]}),
        None => json!({SECTION: [handler]}),
    }
}

/// Returns the same in the order in which people write it.
fn group_input(command: &str, matcher: Option<&str>) -> CstInputValue {
    let named = |name: &str, value| (name.to_owned(), value);
    let handler = CstInputValue::Object(vec![
        named("type", CstInputValue::String("command".to_owned())),
        named("command", CstInputValue::String(command.to_owned())),
        named("timeout", CstInputValue::Number(TIMEOUT.to_string())),
    ]);
    let matcher = matcher.map(|matcher| CstInputValue::String(matcher.to_owned()));
    let mut properties: Vec<_> = matcher.map(|it| named("matcher", it)).into_iter().collect();
    properties.push(named(SECTION, CstInputValue::Array(vec![handler])));
    CstInputValue::Object(properties)
}

/// Changes the configuration of an event to the wanted one.
fn expect(groups: &mut Value, command: &str, matcher: Option<&str>) {
    if groups.is_null() {
        *groups = json!([]);
    }
    let Some(groups) = groups.as_array_mut() else {
        return;
    };
    let mut known = false;
    for inside in groups.iter_mut().filter_map(|group| group.get_mut(SECTION)) {
        for handler in inside.as_array_mut().into_iter().flatten() {
            let said = handler.get("command").and_then(Value::as_str);
            if said.and_then(our_command).is_some() {
                handler["command"] = command.into();
                known = true;
            }
        }
    }
    if !known {
        groups.push(group(command, matcher));
    }
}
