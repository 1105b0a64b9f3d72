//! Reads files with one JSON object or one row per line, and takes typed values
//! from the objects.
//!
//! The caller decides what a line means.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};

/// Parses a file line by line and skips blank lines. Every error names the file
/// and the line.
pub(super) fn records<T>(
    path: &Path,
    parse: fn(&str) -> Result<T>,
) -> impl Iterator<Item = Result<T>> + use<T> {
    let path = path.to_owned();
    let opened = File::open(&path)
        .map(BufReader::new)
        .with_context(|| format!("could not read {}", path.display()));
    let mut source = Some(opened);
    let mut number = 0;
    iter::from_fn(move || {
        // Put back only after a successful read, so that a file that cannot be
        // read ends the iteration instead of failing forever.
        let mut reader = match source.take()? {
            Ok(reader) => reader,
            Err(error) => return Some(Err(error)),
        };
        loop {
            number += 1;
            let mut line = String::new();
            match reader.read_line(&mut line) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(error) => {
                    let place = format!("could not read line {number} of {}", path.display());
                    return Some(Err(error).context(place));
                }
            }
            // Editors on Windows begin a file with a byte order mark.
            let text = line.trim_start_matches('\u{feff}').trim_end();
            if text.is_empty() {
                continue;
            }
            source = Some(Ok(reader));
            let place = || format!("line {number} of {}", path.display());
            return Some(parse(text).with_context(place));
        }
    })
}

/// Parses the JSON object on a line.
pub(super) fn parse_object(line: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(line).map_err(|error| {
        // The parser sees a single line and calls it line 1, which would
        // contradict the line number of the file. Some errors have no position.
        let message = error.to_string();
        let position = format!(" at line {} column {}", error.line(), error.column());
        match message.strip_suffix(&position) {
            Some(problem) if error.column() > 0 => {
                anyhow!("not a JSON object: {problem} at column {}", error.column())
            }
            problem => anyhow!("not a JSON object: {}", problem.unwrap_or(&message)),
        }
    })
}

/// Removes a string from the object and returns it, if there is one.
pub(super) fn take_text(object: &mut Map<String, Value>, field: &str) -> Result<Option<String>> {
    match object.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => bail!("\"{field}\" is not a string"),
    }
}

/// Removes a list of strings, or a single string, from the object and returns it
/// as a list. Returns an empty list if there is none.
pub(super) fn take_texts(object: &mut Map<String, Value>, field: &str) -> Result<Vec<String>> {
    let text = |value: Value| match value {
        Value::String(text) => Ok(text),
        _ => bail!("\"{field}\" is neither a string nor a list of strings"),
    };
    match object.remove(field) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(values)) => values.into_iter().map(text).collect(),
        Some(value) => Ok(vec![text(value)?]),
    }
}

/// Removes an id from the object and returns it as text. Ids are written as
/// strings or as numbers, but judgements contain text. Fractions are refused,
/// because both files would seldom spell them the same way.
pub(super) fn take_identifier(
    object: &mut Map<String, Value>,
    field: &str,
) -> Result<Option<String>> {
    match object.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Number(number)) if !number.is_f64() => Ok(Some(number.to_string())),
        Some(_) => bail!("\"{field}\" is neither a string nor a whole number"),
    }
}
