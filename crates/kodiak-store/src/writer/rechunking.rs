//! Documents whose chunks are missing or outdated.

use crate::Row;
use kodiak_base::error::Result;
use kodiak_text::chunk::Chunk;
use kodiak_text::document::Markup;

/// A document without chunks, or with chunks of an outdated format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unchunked {
    /// Its number.
    pub row: Row,
    /// How its text is marked up.
    pub markup: Markup,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
}

/// Replaces the chunks of documents.
pub trait Rechunking {
    /// Returns some of the documents that have no chunks or were chunked in
    /// another format; an empty list if there are none left.
    fn unchunked(&self, format: u32, limit: usize) -> Result<Vec<Unchunked>>;

    /// Replaces the chunks of a document. The new ones are in this format, each
    /// with the hash of its embedded text.
    fn put_chunks(&mut self, row: Row, format: u32, chunks: &[(Chunk, [u8; 16])]) -> Result<()>;
}
