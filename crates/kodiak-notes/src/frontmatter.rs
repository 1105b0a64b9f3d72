//! The YAML block at the beginning of a note.
//!
//! This module finds the block, reads it within fixed limits, and writes it so
//! that it reads back equal. `fields` takes typed values out of its fields, and
//! `note` knows what each field means for a document.

mod write;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{NonFiniteFloatPolicy, Spanned, UserMessageFormatter};

pub use write::{FieldChange, add_field, edit, edit_in_place, item, write};

/// The longest block that is read as frontmatter, in bytes. Real ones have a
/// few KiB at most. The limit makes a hostile block harmless.
pub const MAX_BLOCK_BYTES: usize = 64 * 1024;

/// The number of characters kept of a parser's message.
const MAX_REASON_LENGTH: usize = 160;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text divided into `front` and `body`, which together are the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Divided<'text> {
    /// The frontmatter block with its delimiters, and a byte order mark before
    /// it.
    pub front: &'text str,
    /// Everything after it.
    pub body: &'text str,
    /// The fields of the block, with names as written.
    pub fields: Map<String, Value>,
    /// The reason why a block that looks like frontmatter was left in the body.
    pub problem: Option<String>,
}

/// Divides a text into frontmatter and body. A block that cannot be read stays
/// in the body, where it can at least be searched, and is reported as a
/// problem.
pub fn divide(text: &str) -> Divided<'_> {
    let unmarked = divide_mark(text);
    let Some(block) = Block::find(unmarked.body) else {
        return unmarked;
    };
    match read(&unmarked.body[..block.closing]) {
        Ok(fields) => {
            let (front, body) = text.split_at(unmarked.front.len() + block.end);
            Divided {
                front,
                body,
                fields,
                problem: None,
            }
        }
        Err(reason) => Divided {
            problem: Some(format!("frontmatter could not be read: {reason}")),
            ..unmarked
        },
    }
}

/// Divides off only a byte order mark, for formats without frontmatter.
pub fn divide_mark(text: &str) -> Divided<'_> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    Divided {
        front: &text[..text.len() - body.len()],
        body,
        ..Divided::default()
    }
}

/// The end of a block, as offsets from its opening line.
struct Block {
    /// The start of the closing line.
    closing: usize,
    /// The start of the line after it.
    end: usize,
}

impl Block {
    /// Finds the block that a text begins with. Without a closing line, the
    /// opening line is a thematic break.
    fn find(text: &str) -> Option<Self> {
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.len();
            let content = line.trim_end_matches([' ', '\t', '\r', '\n']);
            if start == 0 {
                if content != "---" {
                    return None;
                }
            } else if content == "---" || content == "..." {
                return Some(Self {
                    closing: start,
                    end,
                });
            }
            start = end;
        }
        None
    }
}

/// Reads a block. It includes the opening line, so that the parser counts lines
/// as the author's editor does. An empty block is an empty mapping.
fn read(block: &str) -> Result<Map<String, Value>, String> {
    if block.len() > MAX_BLOCK_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_BLOCK_BYTES / 1024));
    }
    let options = serde_saphyr::options! {
        // `no`, `on` and `y` are more often tags and titles than booleans.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        // The default budgets fit files of many megabytes. A legitimate block
        // of 64 KiB never needs that much, however it repeats itself. The
        // default depth of 64 overflows a thread's stack of 2 MiB in a debug
        // build.
        budget: serde_saphyr::budget! {
            max_depth: 16,
            max_total_scalar_bytes: 1024 * 1024,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 20_000,
        },
    };
    let node = serde_saphyr::from_str_with_options::<Spanned<Node>>(block, options)
        .map_err(|error| reason(&error))?;
    match resolve(node, block) {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err("it has no `name: value` lines".to_owned()),
    }
}

/// Returns the parser's message, on one line.
fn reason(mut error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error as Yaml;
    let whole = error;
    while let Yaml::AliasError { error: inner, .. } = error {
        error = inner;
    }
    // The parser's messages for these are meant for programmers.
    if matches!(
        error,
        Yaml::Budget { .. }
            | Yaml::AliasReplayLimitExceeded { .. }
            | Yaml::AliasReplayStackDepthExceeded { .. }
    ) {
        return "it is nested too deeply or repeats itself too often".to_owned();
    }
    let message = whole.render_with_formatter(&UserMessageFormatter);
    let words: Vec<_> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_REASON_LENGTH) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

/// A YAML value in which each part still has its position.
enum Node {
    Scalar(Value),
    List(Vec<Spanned<Node>>),
    Mapping(Vec<(String, Spanned<Node>)>),
}

/// Converts nodes to plain values. A number that would be spelt differently
/// stays as written: version `1.10` is not 1.1, and `007` is not 7.
fn resolve(node: Spanned<Node>, block: &str) -> Value {
    match node.value {
        Node::Scalar(Value::Number(number)) => {
            let span = node.defined.span();
            let written = span.byte_offset().zip(span.byte_len());
            let written = written
                .and_then(|(from, length)| block.get(from as usize..(from + length) as usize));
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte);
            match written {
                Some(written)
                    if !written.is_empty()
                        && written.bytes().all(plain)
                        && number.to_string() != written =>
                {
                    Value::String(written.to_owned())
                }
                _ => Value::Number(number),
            }
        }
        Node::Scalar(value) => value,
        Node::List(items) => items.into_iter().map(|item| resolve(item, block)).collect(),
        Node::Mapping(entries) => entries
            .into_iter()
            .map(|(key, value)| (key, resolve(value, block)))
            .collect(),
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(
            Number::from_f64(value).map_or(Value::Null, Value::Number),
        ))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Node, E> {
        Ok(Node::Scalar(Value::String(value)))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Mapping(entries))
    }
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
