//! Files of one JSON object or one row per line, and typed values out of them.
//!
//! Knows neither documents nor queries; what a line means is the caller's.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::iter;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Map, Value};

/// Parses a file line by line, skips blank ones, and says in every error where it
/// happened.
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
        // Put back only after a good read, so that a file that cannot be read ends
        // the iteration instead of failing forever.
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

/// The object a line holds.
pub(super) fn parse_object(line: &str) -> Result<Map<String, Value>> {
    serde_json::from_str(line).map_err(|error| {
        // The parser has seen one line only and calls it line 1, which would
        // contradict the line number we report. Some errors have no position.
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

/// Takes a text, if there is one.
pub(super) fn take_text(object: &mut Map<String, Value>, field: &str) -> Result<Option<String>> {
    match object.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => bail!("\"{field}\" is not a string"),
    }
}

/// Takes a list of texts, or a single text in its place; empty if there is none.
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

/// Takes an id. Ids are written as strings or as numbers, but judgements only
/// know text. Fractions are refused: they would seldom be spelled alike in both
/// places.
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
