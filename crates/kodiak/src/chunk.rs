//! From a document's text to passages small enough for a model.
//!
//! Owns where passages start and end and what a model is shown of them. Chunks
//! are the same whatever model is installed: they are sized by an estimate
//! (`weight`) so that title, headings and text fit the shortest input there is
//! in practice, 256 tokens. `units` finds what holds together, `divide` chooses
//! the cuts.

mod divide;
mod embedded;
mod reader;
mod sentence;
mod units;
mod weight;

use std::ops::Range;

use crate::document::newlines;

pub use embedded::embedded_text;

/// Raised whenever cutting or the embedded text changes, so that everything is
/// cut anew.
pub const FORMAT: u32 = 1;

/// Between the headings of a path.
const SEPARATOR: &str = " › ";

/// What a model sees at least, without the two marks it adds.
const CAPACITY: u32 = 254 * weight::TOKEN;

/// How much of that title and headings may take: a third.
const MOST_FOR_PATH: u32 = CAPACITY / 3;

/// A passage of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where it is in the body, in bytes. Where a section is cut, a chunk may
    /// repeat the end of the one before.
    pub range: Range<usize>,
    /// Its first line, counted from one in the body.
    pub start_line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The headings above it, outermost first, joined by ` › `; empty if none.
    /// Where a chunk has several sections, those that all of them share.
    pub heading: String,
}

/// Cuts a body into passages, in order. Together they have all of it but blank
/// space. A body with nothing in it is one empty passage, so that its title can
/// be found by meaning, and none if the title is blank as well.
pub fn chunks(title: &str, body: &str) -> Vec<Chunk> {
    let outline = units::outline(title, body, CAPACITY);
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut path = (0, String::new());
    // The line of the offset before it.
    let mut seen = (0, 1);
    for passage in divide::divide(&outline, CAPACITY) {
        let units = &outline.units;
        let start = units[passage.units.start].start;
        let end = units
            .get(passage.units.end)
            .map_or(body.len(), |unit| unit.start);
        let end = start + body[start..end].trim_end().len();
        if path.0 != passage.section {
            path = (
                passage.section,
                outline.path(passage.section).join(SEPARATOR),
            );
        }
        let start_line = seen.1 + newlines(&body[seen.0..start]);
        seen = (start, start_line);
        chunks.push(Chunk {
            range: start..end,
            start_line,
            end_line: start_line + newlines(&body[start..end]),
            heading: path.1.clone(),
        });
    }
    if chunks.is_empty() && !title.trim().is_empty() {
        chunks.push(Chunk {
            range: 0..0,
            start_line: 1,
            end_line: 1,
            heading: String::new(),
        });
    }
    chunks
}

/// What a vector is kept under: 16 bytes of BLAKE3 over [`FORMAT`] and the
/// embedded text.
pub fn text_hash(embedded: &str) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&FORMAT.to_le_bytes());
    hasher.update(embedded.as_bytes());
    let mut hash = [0; 16];
    hasher.finalize_xof().fill(&mut hash);
    hash
}

#[cfg(test)]
#[path = "chunk_tests.rs"]
mod tests;
