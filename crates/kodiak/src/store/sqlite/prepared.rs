//! Documents made ready to be stored, outside of the transaction.

use super::embeddings::passages;
use super::words::{DistinctWords, KnownWords};
use crate::chunk::{Chunk, Cutting};
use crate::document::Document;
use crate::text::Stemming;

/// Makes one document after the other ready, outside of the transaction.
/// [`SqliteWriter::preparer`](super::SqliteWriter::preparer) gives one that cuts as its
/// index is cut.
#[derive(Debug, Default)]
pub struct Preparer {
    cutting: Cutting,
    stemming: Stemming,
    known: KnownWords,
}

impl Preparer {
    /// Cuts texts and words in this way.
    pub fn new(cutting: Cutting, stemming: Stemming) -> Self {
        Self {
            cutting,
            stemming,
            known: KnownWords::new(stemming),
        }
    }

    /// Cuts the document into words, terms and passages.
    pub fn prepare(&mut self, document: Document) -> Prepared {
        Prepared {
            pieces: self.cut(&document),
            document,
        }
    }

    pub(super) fn cut(&mut self, document: &Document) -> Pieces {
        let tags = document.tags.join(" ");
        let texts = [document.title.as_str(), &document.body, &tags];
        Pieces {
            cutting: self.cutting,
            stemming: self.stemming,
            words: self.known.distinct(texts),
            passages: passages(self.cutting, &document.title, &document.body),
        }
    }
}

/// A document with what the index counts of it.
#[derive(Debug)]
pub struct Prepared {
    pub(super) document: Document,
    pub(super) pieces: Pieces,
}

impl Prepared {
    /// A single document, cut as most indexes are. Whoever has many of them
    /// has a [`Preparer`].
    pub fn new(document: Document) -> Self {
        Preparer::default().prepare(document)
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// What a document is cut into, and how it was.
#[derive(Debug)]
pub(super) struct Pieces {
    cutting: Cutting,
    stemming: Stemming,
    pub(super) words: DistinctWords,
    pub(super) passages: Vec<(Chunk, [u8; 16])>,
}

impl Pieces {
    pub(super) fn are_cut_by(&self, cutting: Cutting, stemming: Stemming) -> bool {
        self.cutting == cutting && self.stemming == stemming
    }
}
