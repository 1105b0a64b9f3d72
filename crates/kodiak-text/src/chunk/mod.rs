//! Divides a document's text into chunks small enough for a model.
//!
//! Owns where chunks start and end, and the text that is embedded for each. Chunks are the
//! same for every model: a token estimate (`token_estimate`) sizes them so that title,
//! headings and text fit the shortest input in practice, 256 tokens. [`ChunkOptions`] has
//! the sizes, so that others can be measured. `units` finds the parts that stay whole,
//! `divide` chooses the boundaries, and `fit` checks the result.

mod divide;
mod embedded;
mod fit;
mod sentence;
mod token_estimate;
mod units;

use std::ops::Range;

use super::markup::Lines;
use crate::document::{Markup, newlines};

/// The version of chunking and of the embedded text. A document that was chunked
/// with another version is chunked and embedded again.
pub const FORMAT: u32 = 2;

/// The version of [`text_hash`]. It stays when chunks change: a text that is
/// embedded as before keeps its vector.
const HASH_FORMAT: u32 = 1;

/// The text between the headings of a path.
const SEPARATOR: &str = " › ";

/// Returns the approximate number of tokens of a text, whatever the model.
pub fn estimated_tokens(text: &str) -> usize {
    token_estimate::of(text).div_ceil(token_estimate::TOKEN) as usize
}

/// How texts are chunked. An index uses the default; other options are for
/// measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// The most tokens of a chunk, title and headings included: as many as every
    /// model takes, without the two special tokens that it adds.
    pub tokens: u32,
    /// The tokens that a chunk repeats of the one before it in the same section, in whole
    /// sentences and lines: at most half a chunk, which is reserved for them. `None`
    /// repeats as much as there is room for, at most three twentieths of a chunk, and
    /// reserves some only where a paragraph is divided.
    pub overlap: Option<u32>,
    /// Whether title and headings are part of the embedded text.
    pub path: bool,
    /// Whether link targets, whole addresses, table rules and HTML tags are part
    /// of the embedded text.
    pub noise: bool,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self {
            tokens: 254,
            overlap: None,
            path: true,
            noise: false,
        }
    }
}

/// A chunk of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its bytes in the body. Where a section is divided, a chunk may repeat the
    /// end of the one before.
    pub range: Range<usize>,
    /// Its first line, counted from one in the body.
    pub start_line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The headings above it, outermost first, joined by ` › `; empty if there are
    /// none. Those that all of its sections share, if it has several.
    pub heading: String,
}

impl ChunkOptions {
    /// Returns the options for a document in this markup.
    #[must_use]
    pub fn for_markup(self, markup: Markup) -> Self {
        match markup {
            Markup::Markdown | Markup::Org | Markup::Plain => self,
            Markup::Verbatim => Self {
                path: false,
                noise: true,
                ..self
            },
        }
    }

    /// Returns the most that a chunk weighs, by the token estimate.
    fn capacity(self) -> u32 {
        self.tokens.saturating_mul(token_estimate::TOKEN)
    }

    /// Returns the most that the embedded text of a chunk weighs: a little more than a
    /// chunk in its place, because a text alone may seem a little stranger.
    fn most_alone(self) -> u32 {
        let capacity = self.capacity();
        capacity.saturating_add(capacity / 4)
    }

    /// Returns the most that title and headings may take of it: a third.
    fn most_for_path(self) -> u32 {
        if self.path { self.capacity() / 3 } else { 0 }
    }

    /// Divides a body into chunks, in order. Together they hold all of it but
    /// white space. An empty body is one empty chunk, so that its title is
    /// embedded, or no chunk if the title is blank as well.
    pub fn chunks(self, title: &str, markup: Markup, body: &str) -> Vec<Chunk> {
        self.chunks_of(title, &Lines::of(markup, body), body)
    }

    /// Divides a body whose lines are known into chunks.
    fn chunks_of(self, title: &str, lines: &Lines, body: &str) -> Vec<Chunk> {
        let (outline, spans) = fit::fitted(title, lines, body, self);
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut path = (0, String::new());
        // A byte of the body, and the line it is on.
        let mut seen = (0, 1);
        for span in spans {
            let Range { start, end } = outline.range(&span.units);
            if path.0 != span.section {
                path = (span.section, outline.path(span.section).join(SEPARATOR));
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

    /// Divides a body whose lines are known into chunks, each with the hash of its
    /// embedded text. Leaves out those that would embed nothing.
    pub fn hashed_chunks(self, title: &str, lines: &Lines, body: &str) -> Vec<(Chunk, [u8; 16])> {
        let hashed = |chunk: Chunk| {
            let text = &body[chunk.range.clone()];
            let hash = self.embedded_hash(title, &chunk.heading, text)?;
            Some((chunk, hash))
        };
        let chunks = self.chunks_of(title, lines, body);
        chunks.into_iter().filter_map(hashed).collect()
    }
}

/// Returns the key of a vector: 16 bytes of BLAKE3 over a version and the embedded
/// text.
pub fn text_hash(embedded: &str) -> [u8; 16] {
    let mut hasher = TextHasher::new();
    hasher.update(embedded);
    hasher.finish()
}

/// Hashes an embedded text piece by piece.
struct TextHasher(blake3::Hasher);

impl TextHasher {
    fn new() -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&HASH_FORMAT.to_le_bytes());
        Self(hasher)
    }

    fn update(&mut self, piece: &str) {
        self.0.update(piece.as_bytes());
    }

    fn finish(self) -> [u8; 16] {
        let mut hash = [0; 16];
        self.0.finalize_xof().fill(&mut hash);
        hash
    }
}

#[cfg(test)]
mod tests;
