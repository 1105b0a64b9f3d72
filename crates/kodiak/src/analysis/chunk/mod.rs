//! From a document's text to chunks small enough for a model.
//!
//! Owns where chunks start and end and what a model is shown of them. Chunks
//! are the same whatever model is installed: they are sized by an estimate
//! (`weight`) so that title, headings and text fit the shortest input there is
//! in practice, 256 tokens. [`ChunkOptions`] has the sizes, so that others can be
//! measured; `units` finds what holds together, `divide` chooses the cuts.

mod divide;
mod embedded;
mod sentence;
mod token_estimate;
mod units;

use std::ops::Range;

use super::markup::Lines;
use crate::document::{Markup, newlines};

/// Raised whenever chunking or the embedded text changes, so that everything is
/// cut anew.
pub const FORMAT: u32 = 1;

/// Between the headings of a path.
const SEPARATOR: &str = " › ";

/// How texts are cut for embedding. An index is cut by the default: others are
/// for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkOptions {
    /// How many tokens a chunk has at most, title and headings included: as
    /// many as every model sees, without the two marks it adds.
    pub tokens: u32,
    /// How many tokens a chunk that starts amid a section repeats of what
    /// stands before it, in whole sentences and lines; they are kept free for
    /// that, half of a chunk at most. `None` repeats what there is room for,
    /// three twentieths of a chunk at most, and keeps some of it free only
    /// where a paragraph is cut.
    pub overlap: Option<u32>,
    /// Whether title and headings are part of what a model is shown.
    pub path: bool,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self {
            tokens: 254,
            overlap: None,
            path: true,
        }
    }
}

/// A chunk of a document.
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

impl ChunkOptions {
    /// What a chunk weighs at most.
    fn capacity(self) -> u32 {
        self.tokens.saturating_mul(token_estimate::TOKEN)
    }

    /// How much of that title and headings may take: a third.
    fn most_for_path(self) -> u32 {
        if self.path { self.capacity() / 3 } else { 0 }
    }

    /// Cuts a body into chunks, in order. Together they have all of it but
    /// blank space. A body with nothing in it is one empty chunk, so that its
    /// title can be found by meaning, and none if the title is blank as well.
    pub fn chunks(self, title: &str, markup: Markup, body: &str) -> Vec<Chunk> {
        self.chunks_of(title, &Lines::of(markup, body), body)
    }

    /// Cuts a body whose lines are known.
    fn chunks_of(self, title: &str, lines: &Lines, body: &str) -> Vec<Chunk> {
        let outline = units::outline(title, lines, body, self);
        let mut chunks: Vec<Chunk> = Vec::new();
        let mut path = (0, String::new());
        // The line of the offset before it.
        let mut seen = (0, 1);
        for span in divide::divide(&outline, self) {
            let units = &outline.units;
            let start = units[span.units.start].start;
            let end = units
                .get(span.units.end)
                .map_or(body.len(), |unit| unit.start);
            let end = start + body[start..end].trim_end().len();
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

    /// Cuts a body whose lines are known into chunks, each with the hash of its embedded text.
    pub(crate) fn hashed_chunks(
        self,
        title: &str,
        lines: &Lines,
        body: &str,
    ) -> Vec<(Chunk, [u8; 16])> {
        let hashed = |chunk: Chunk| {
            let text = &body[chunk.range.clone()];
            let hash = self.embedded_hash(title, &chunk.heading, text);
            (chunk, hash)
        };
        let chunks = self.chunks_of(title, lines, body);
        chunks.into_iter().map(hashed).collect()
    }
}

/// What a vector is kept under: 16 bytes of BLAKE3 over [`FORMAT`] and the
/// embedded text.
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
        hasher.update(&FORMAT.to_le_bytes());
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
