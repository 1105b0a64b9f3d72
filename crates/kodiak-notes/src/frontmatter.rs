//! The YAML block at the beginning of a note.
//!
//! This module finds the block, reads it within fixed limits (`yaml`), and writes it so
//! that it reads back equal (`write`). `fields` takes typed values out of its fields, and
//! `note` knows the meaning of each field for a document.

mod write;
mod yaml;

use serde_json::{Map, Value};

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
    match yaml::read(block).map_err(|reason| on_one_line(&reason))? {
        Value::Object(fields) => Ok(fields),
        Value::Null => Ok(Map::new()),
        _ => Err("it has no `name: value` lines".to_owned()),
    }
}

/// Returns the parser's message, on one line.
fn on_one_line(message: &str) -> String {
    let words: Vec<_> = message.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_REASON_LENGTH) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line,
    }
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
