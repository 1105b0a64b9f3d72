//! The YAML block at the head of a note: where it ends and what it says.
//!
//! Owns finding the block, reading it within fixed bounds, and writing it so
//! that it reads back equal. Taking typed
//! values out of its fields is the business of `fields`, and which field means
//! what for a document that of `note`.

mod write;

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{NonFiniteFloatPolicy, Spanned, UserMessageFormatter};

pub use write::{FieldChange, edit, write};

/// The longest block that is read as frontmatter, in bytes. Real ones stay
/// under a few KiB; the bound keeps a hostile one from costing anything.
pub const MAX_BLOCK_BYTES: usize = 64 * 1024;

/// How much of a parser's complaint is kept.
const MAX_REASON_LENGTH: usize = 160;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A text, divided: `front` followed by `body` is the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Divided<'text> {
    /// The frontmatter block with its delimiters, and a byte order mark before it.
    pub front: &'text str,
    /// Everything after it.
    pub body: &'text str,
    /// What the block says, keys as written.
    pub fields: Map<String, Value>,
    /// Why a block that looks like frontmatter was left in the body.
    pub problem: Option<String>,
}

/// Divides a text into frontmatter and body. A block that cannot be read stays
/// in the body, where it can at least be searched, and is reported.
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

/// Divides off nothing but a byte order mark: for formats without frontmatter.
pub fn divide_mark(text: &str) -> Divided<'_> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    Divided {
        front: &text[..text.len() - body.len()],
        body,
        ..Divided::default()
    }
}

/// Where a block closes and ends, as offsets from its opening line.
struct Block {
    /// The start of the closing line.
    closing: usize,
    /// The start of the line after it.
    end: usize,
}

impl Block {
    /// Finds the block a text opens with. Without a closing line the opening
    /// one is a thematic break.
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

/// Reads a block, its opening line included so that the parser counts lines as
/// the author's editor does. An empty block is an empty mapping.
fn read(block: &str) -> Result<Map<String, Value>, String> {
    if block.len() > MAX_BLOCK_BYTES {
        return Err(format!("it is longer than {} KiB", MAX_BLOCK_BYTES / 1024));
    }
    let options = serde_saphyr::options! {
        // `no`, `on` and `y` are tags and titles more often than answers.
        strict_booleans: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        // The default budgets fit files of many megabytes; a block of 64 KiB
        // cannot honestly need as much, however it repeats itself. The default
        // depth of 64 overflows a thread's 2 MiB of stack in a debug build.
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

/// The parser's complaint, on one line.
fn reason(mut error: &serde_saphyr::Error) -> String {
    use serde_saphyr::Error as Yaml;
    let whole = error;
    while let Yaml::AliasError { error: inner, .. } = error {
        error = inner;
    }
    // Its words for these are meant for programmers.
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

/// A YAML value that still knows where each part of it was written.
enum Node {
    Scalar(Value),
    List(Vec<Spanned<Node>>),
    Mapping(Vec<(String, Spanned<Node>)>),
}

/// Makes plain values of nodes. A number that would be spelled otherwise stays
/// as written: version `1.10` is not 1.1, and `007` is nobody's 7.0.
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
