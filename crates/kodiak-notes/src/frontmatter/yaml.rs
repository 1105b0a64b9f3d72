//! YAML as plain values, within fixed limits.
//!
//! A parser turns the text into events, and this module turns events into values. A value
//! that has another type only by the rules of YAML 1.1, such as `no` or `0x1F`, is a text:
//! it is more often a tag or a title.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, StrInput, Tag};
use serde_json::{Map, Value};

/// The deepest nesting.
const MAX_DEPTH: usize = 16;

/// The values and bytes that aliases may repeat. A legitimate block never needs that
/// much, and a hostile one would not end in reasonable time.
const MAX_REPEATED: Size = Size {
    values: 20_000,
    bytes: 1024 * 1024,
    depth: MAX_DEPTH,
};

const TOO_LARGE: &str = "it is nested too deeply or repeats itself too often";

/// The key whose value is merged into its mapping.
const MERGE: &str = "<<";

/// Reads a text with at most one YAML document. An empty one is null.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut composer = Composer {
        parser: Parser::new_from_str(text),
        anchors: HashMap::new(),
        repeated: Size::default(),
    };
    let mut document = None;
    while let Some((event, at)) = composer.next()? {
        match event {
            Event::StreamStart | Event::StreamEnd => {}
            Event::DocumentStart(..) | Event::DocumentEnd => {}
            _ if document.is_some() => return Err(located("a second document begins", at)),
            event => document = Some(composer.value(event, at, 0)?),
        }
    }
    Ok(document.unwrap_or_default())
}

/// Composes values of events.
struct Composer<'text> {
    parser: Parser<'text, StrInput<'text>>,
    /// The values that aliases can repeat.
    anchors: HashMap<usize, Value>,
    /// The size of everything that aliases have repeated.
    repeated: Size,
}

impl<'text> Composer<'text> {
    fn next(&mut self) -> Result<Option<(Event<'text>, Marker)>, String> {
        match self.parser.next() {
            Some(Ok((event, span))) => Ok(Some((event, span.start))),
            Some(Err(error)) => Err(located(&error.info(), *error.marker())),
            None => Ok(None),
        }
    }

    /// Returns the value that begins with `event`, at this depth.
    fn value(&mut self, event: Event<'text>, at: Marker, depth: usize) -> Result<Value, String> {
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                (anchor, scalar(&text, style, tag.as_deref()))
            }
            Event::Alias(anchor) => return self.repeat(anchor, at, depth),
            _ if depth == MAX_DEPTH => return Err(TOO_LARGE.to_owned()),
            Event::SequenceStart(_, anchor, _) => (anchor, self.list(depth + 1)?),
            Event::MappingStart(_, anchor, _) => (anchor, self.mapping(depth + 1)?),
            _ => return Err(located("a value is missing", at)),
        };
        if anchor != 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(value)
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        let mut items = Vec::new();
        while let Some((event, at)) = self.next()? {
            if event == Event::SequenceEnd {
                break;
            }
            items.push(self.value(event, at, depth)?);
        }
        Ok(Value::Array(items))
    }

    fn mapping(&mut self, depth: usize) -> Result<Value, String> {
        let mut fields = Map::new();
        let mut merged = Vec::new();
        while let Some((event, at)) = self.next()? {
            if event == Event::MappingEnd {
                break;
            }
            let is_merge = event.scalar() == Some((MERGE, ScalarStyle::Plain));
            let name = self.name(event, at, depth)?;
            let Some((event, value_at)) = self.next()? else {
                break;
            };
            let value = self.value(event, value_at, depth)?;
            if is_merge {
                match value {
                    Value::Array(values) => merged.extend(values),
                    value => merged.push(value),
                }
            } else if fields.contains_key(&name) {
                return Err(located(&format!("duplicate name `{name}`"), at));
            } else {
                fields.insert(name, value);
            }
        }
        for value in merged {
            let Value::Object(others) = value else {
                return Err(format!("only mappings can be merged with `{MERGE}`"));
            };
            for (name, value) in others {
                fields.entry(name).or_insert(value);
            }
        }
        Ok(Value::Object(fields))
    }

    /// Returns the name of a field, as written.
    fn name(&mut self, event: Event<'text>, at: Marker, depth: usize) -> Result<String, String> {
        let written = event.scalar().map(|(text, _)| text.to_owned());
        match (self.value(event, at, depth)?, written) {
            (_, Some(name)) | (Value::String(name), None) => Ok(name),
            (_, None) => Err(located("a name is not a text", at)),
        }
    }

    /// Returns a copy of the value that an alias means.
    fn repeat(&mut self, anchor: usize, at: Marker, depth: usize) -> Result<Value, String> {
        let Some(value) = self.anchors.get(&anchor) else {
            return Err(located("a value contains itself", at));
        };
        self.repeated.add(value, depth);
        if !self.repeated.is_within(&MAX_REPEATED) {
            return Err(TOO_LARGE.to_owned());
        }
        Ok(value.clone())
    }
}

/// The size of values.
#[derive(Default)]
struct Size {
    values: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    /// Adds a value at this depth.
    fn add(&mut self, value: &Value, depth: usize) {
        self.values += 1;
        self.depth = self.depth.max(depth);
        match value {
            Value::String(text) => self.bytes += text.len(),
            Value::Array(items) => items.iter().for_each(|item| self.add(item, depth + 1)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.bytes += name.len();
                    self.add(value, depth + 1);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn is_within(&self, other: &Self) -> bool {
        self.values <= other.values && self.bytes <= other.bytes && self.depth <= other.depth
    }
}

/// Returns the value of a scalar. A number that would be spelt differently stays as
/// written: version `1.10` is not 1.1, and `007` is not 7.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let core = tag.and_then(Tag::core_suffix);
    let is_text = match core {
        Some(name) => name == "str",
        None => style != ScalarStyle::Plain || tag.is_some_and(|tag| tag.original() == "!"),
    };
    let is = |word: &str| !is_text && text.eq_ignore_ascii_case(word);
    if core == Some("null") || is("") || is("~") || is("null") {
        return Value::Null;
    }
    if is("true") || is("false") {
        return Value::Bool(is("true"));
    }
    let number = serde_json::from_str::<serde_json::Number>(text).ok();
    match number.filter(|number| !is_text && number.to_string() == text) {
        Some(number) => Value::Number(number),
        None => Value::String(text.to_owned()),
    }
}

/// Returns a message with its place in the text.
fn located(message: &str, at: Marker) -> String {
    format!("{message} at line {}, column {}", at.line(), at.col() + 1)
}
