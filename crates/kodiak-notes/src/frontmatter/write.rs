//! Writing frontmatter: making a block from fields, and changing fields in an
//! existing block.
//!
//! This module guarantees that everything it writes reads back equal. It does not know the
//! meaning of the fields.

use serde_json::{Map, Value};

use super::{BYTE_ORDER_MARK, MAX_BLOCK_BYTES, divide};
use kodiak_text::date;

/// Words that a YAML parser may take for something other than text.
const NOT_TEXTS: [&str; 13] = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", "nan", "inf", "infinity", "~",
];

/// The longest name of a field in characters. YAML allows a thousand characters
/// for a key on one line.
const MAX_NAME_LENGTH: usize = 200;

/// A field to set, or to remove if it has no value.
pub type FieldChange = (String, Option<Value>);

/// Writes a block with these fields in this order, including delimiters.
/// Returns an empty string if there are no fields.
pub fn write<'a>(fields: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let lines: String = fields
        .into_iter()
        .map(|(name, value)| line(name, value) + "\n")
        .collect();
    if lines.is_empty() {
        return lines;
    }
    format!("---\n{lines}---\n")
}

/// Changes fields of a block, which may be empty or only a byte order mark.
/// Every line that the changes do not concern stays as it is. A block whose
/// lines cannot be separated is rewritten. Fails, with the reason, on fields
/// that cannot be read back.
pub fn edit(front: &str, changes: &[FieldChange]) -> Result<String, String> {
    let mut wanted = divide(front).fields;
    for (name, value) in changes {
        if name.chars().count() > MAX_NAME_LENGTH {
            return Err(format!(
                "a field has a name of more than {MAX_NAME_LENGTH} characters"
            ));
        }
        match value {
            Some(value) => drop(wanted.insert(name.clone(), value.clone())),
            None => drop(wanted.remove(name)),
        }
    }
    let edited = edit_lines(front, changes);
    if reads_back(&edited, &wanted) {
        return Ok(edited);
    }
    let mark = if front.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK
    } else {
        ""
    };
    let fields = wanted.iter().map(|(name, value)| (name.as_str(), value));
    let anew = format!("{mark}{}", write(fields));
    if reads_back(&anew, &wanted) {
        return Ok(anew);
    }
    Err(if anew.len() > MAX_BLOCK_BYTES {
        format!("its fields are longer than {} KiB", MAX_BLOCK_BYTES / 1024)
    } else {
        "its fields cannot be written as frontmatter".to_owned()
    })
}

/// Sets or removes one field of a block that has it, and leaves every other line
/// as it is. `rewrite` proposes new lines for the field, which are used if the
/// block then reads as wanted; otherwise the field is written on one line. Fails,
/// with the reason, if other lines would have to change.
pub fn edit_in_place(
    front: &str,
    name: &str,
    value: Option<&Value>,
    rewrite: &dyn Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut wanted = divide(front).fields;
    match value {
        Some(value) => drop(wanted.insert(name.to_owned(), value.clone())),
        None => drop(wanted.remove(name)),
    }
    let proposed = replace_lines(front, name, rewrite);
    let change = [(name.to_owned(), value.cloned())];
    let edited = edit_lines(front, &change);
    let mut texts = proposed.into_iter().chain([edited]);
    let kept = texts.find(|text| reads_as(text, &wanted));
    kept.ok_or_else(|| format!("'{name}' in its frontmatter cannot be changed alone"))
}

/// Adds a field to the frontmatter of a text that does not have it. A new block
/// ends its lines as the body does.
pub fn add_field(front: &str, body: &str, name: &str, value: &Value) -> Result<String, String> {
    let mut wanted = divide(front).fields;
    wanted.insert(name.to_owned(), value.clone());
    let change = [(name.to_owned(), Some(value.clone()))];
    let mut edited = edit_lines(front, &change);
    let is_new = front.trim_start_matches(BYTE_ORDER_MARK).is_empty();
    let first = body.split_inclusive('\n').next().unwrap_or_default();
    if is_new && first.ends_with("\r\n") {
        edited = edited.replace('\n', "\r\n");
    }
    if reads_back(&edited, &wanted) {
        return Ok(edited);
    }
    Err(format!("'{name}' cannot be added to its frontmatter"))
}

/// Writes a text as an item of a list.
pub fn item(text: &str) -> String {
    written(&Value::from(text), true)
}

/// Returns the block with the lines of one field rewritten.
fn replace_lines(
    front: &str,
    name: &str,
    rewrite: &dyn Fn(&str) -> Option<String>,
) -> Option<String> {
    let unmarked = front.trim_start_matches(BYTE_ORDER_MARK);
    let mut lines: Vec<&str> = unmarked.split_inclusive('\n').collect();
    if lines.len() < 2 {
        return None;
    }
    let (opening, closing) = (lines.remove(0), lines.pop()?);
    let mut parts = parts(&lines);
    let named = |part: &&mut Part| part.name.as_deref() == Some(name);
    let part = parts.iter_mut().find(named)?;
    part.field = rewrite(&part.field)?;
    let mark = &front[..front.len() - unmarked.len()];
    let fields: String = parts
        .into_iter()
        .map(|part| part.field + &part.rest)
        .collect();
    Some(format!("{mark}{opening}{fields}{closing}"))
}

/// Reports whether a block has these fields, however the list of one is written.
fn reads_as(front: &str, wanted: &Map<String, Value>) -> bool {
    let divided = divide(front);
    let listed = |value: &Value| match value {
        Value::String(text) if text.contains(',') => text
            .split(',')
            .map(|part| Value::from(part.trim()))
            .collect(),
        Value::String(text) => text.split_whitespace().map(Value::from).collect(),
        other => other.clone(),
    };
    let alike = |name: &str, value: &Value| {
        let found = divided.fields.get(name);
        found.is_some_and(|found| {
            found == value || (value.is_array() && found.is_string() && listed(found) == *value)
        })
    };
    divided.problem.is_none()
        && divided.body.is_empty()
        && divided.fields.len() == wanted.len()
        && wanted.iter().all(|(name, value)| alike(name, value))
}

fn reads_back(front: &str, wanted: &Map<String, Value>) -> bool {
    let divided = divide(front);
    divided.problem.is_none() && divided.body.is_empty() && divided.fields == *wanted
}

fn edit_lines(front: &str, changes: &[FieldChange]) -> String {
    let unmarked = front.trim_start_matches(BYTE_ORDER_MARK);
    if unmarked.is_empty() {
        let set = changes.iter();
        let set = set.filter_map(|(name, value)| Some((name.as_str(), value.as_ref()?)));
        return format!("{front}{}", write(set));
    }
    let newline = match unmarked.lines().next().map(str::len) {
        Some(length) if unmarked[length..].starts_with("\r\n") => "\r\n",
        _ => "\n",
    };
    let mut lines: Vec<&str> = unmarked.split_inclusive('\n').collect();
    let (opening, closing) = (lines.remove(0), lines.pop().unwrap_or_default());
    let mut parts = parts(&lines);
    for (name, value) in changes {
        let written = value
            .as_ref()
            .map(|value| format!("{}{newline}", line(name, value)));
        let known = parts
            .iter_mut()
            .find(|part| part.name.as_ref() == Some(name));
        match (known, written) {
            (Some(part), written) => part.field = written.unwrap_or_default(),
            (None, Some(written)) => parts.push(Part {
                name: Some(name.clone()),
                field: written,
                rest: String::new(),
            }),
            (None, None) => {}
        }
    }
    let mark = &front[..front.len() - unmarked.len()];
    let fields: String = parts
        .into_iter()
        .map(|part| part.field + &part.rest)
        .collect();
    format!("{mark}{opening}{fields}{closing}")
}

/// A field as written in a block.
struct Part {
    /// Its name; `None` for the text before the first field.
    name: Option<String>,
    /// Its lines.
    field: String,
    /// The empty lines and comments after it.
    rest: String,
}

/// Splits the lines of a block into fields. A line without indentation begins a
/// field, unless it is a list item or a comment.
fn parts(lines: &[&str]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in lines {
        let aside = line.trim().is_empty() || line.starts_with('#');
        let begins = !aside && !line.starts_with([' ', '\t', '-']);
        if begins || parts.is_empty() {
            parts.push(Part {
                name: begins.then(|| name_of(line)).flatten(),
                field: String::new(),
                rest: String::new(),
            });
        }
        if let Some(part) = parts.last_mut() {
            if aside {
                part.rest.push_str(line);
            } else {
                // What looked like the end of the field is inside it.
                part.field.push_str(&std::mem::take(&mut part.rest));
                part.field.push_str(line);
            }
        }
    }
    parts
}

/// Returns the name of the field that a line begins, quoted or not.
fn name_of(line: &str) -> Option<String> {
    let line = line.trim_end();
    if line.starts_with('"') {
        let ends = line.match_indices('"').skip(1);
        let mut names = ends.filter_map(|(end, _)| serde_json::from_str(&line[..=end]).ok());
        return names.next();
    }
    if let Some(quoted) = line.strip_prefix('\'') {
        let (name, _) = quoted.split_once("':")?;
        return Some(name.replace("''", "'"));
    }
    let name = match line.strip_suffix(':') {
        Some(name) if !name.contains(": ") => name,
        _ => line.split_once(": ")?.0,
    };
    Some(name.trim_end().to_owned())
}

fn line(name: &str, value: &Value) -> String {
    format!("{}: {}", written_name(name), written(value, false))
}

fn written_name(name: &str) -> String {
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if begins && name.chars().all(inside) && !is_not_text(name) {
        name.to_owned()
    } else {
        quoted(name)
    }
}

/// Formats a value on one line. `inside` a list or a mapping, more must be
/// quoted.
fn written(value: &Value, inside: bool) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(answer) => answer.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) if is_plain(text, inside) => text.clone(),
        Value::String(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item, true)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", quoted(name), written(value, true)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
    }
}

/// Reports whether any parser reads a text as itself without quotes.
fn is_plain(text: &str, inside: bool) -> bool {
    let allowed =
        |c: char| c.is_alphanumeric() || " _-/.'()".contains(c) || (!inside && ",!?&+".contains(c));
    let begins = text.starts_with(char::is_alphabetic);
    let ends = !text.ends_with(' ');
    (begins && ends && text.chars().all(allowed) && !is_not_text(text)) || is_date(text)
}

fn is_date(text: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || "-:TZ".contains(c);
    let dashes = text.char_indices().filter(|(_, c)| *c == '-');
    dashes.map(|(at, _)| at).eq([4, 7]) && text.chars().all(digits) && date::parse(text).is_some()
}

fn is_not_text(text: &str) -> bool {
    NOT_TEXTS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns a text in double quotes, with everything escaped that YAML does not
/// print.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if is_printable(c) => quoted.push(c),
            _ if u32::from(c) <= 0xffff => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => quoted.push_str(&format!("\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

fn is_printable(c: char) -> bool {
    let code = u32::from(c);
    let no_character = code & 0xfffe == 0xfffe || (0xfdd0..=0xfdef).contains(&code);
    !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}') && !no_character
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
