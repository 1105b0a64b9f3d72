//! Documents made ready to be stored, outside of the transaction.

use super::counts::DistinctWords;
use super::embeddings::passages;
use crate::chunk::{Chunk, Cutting};
use crate::document::Document;
use crate::text::Stemming;

/// A document with what the index counts of it, made ready outside of the
/// transaction.
#[derive(Debug)]
pub struct Prepared {
    pub(super) document: Document,
    pub(super) pieces: Pieces,
}

/// What a document is cut into, and how it was.
#[derive(Debug)]
pub(super) struct Pieces {
    cutting: Cutting,
    stemming: Stemming,
    pub(super) words: DistinctWords,
    pub(super) passages: Vec<(Chunk, [u8; 16])>,
}

impl Prepared {
    /// Cuts the document into words, terms and passages.
    pub fn new(document: Document) -> Self {
        Self::cut(document, Cutting::default(), Stemming::default())
    }

    /// The same with passages and words cut in this way, for a writer that cuts
    /// so.
    pub fn cut(document: Document, cutting: Cutting, stemming: Stemming) -> Self {
        let pieces = Pieces::of(&document, cutting, stemming);
        Self { document, pieces }
    }

    /// The document.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

impl Pieces {
    pub(super) fn of(document: &Document, cutting: Cutting, stemming: Stemming) -> Self {
        let tags = document.tags.join(" ");
        Self {
            cutting,
            stemming,
            words: DistinctWords::of([&document.title, &document.body, &tags], stemming),
            passages: passages(cutting, &document.title, &document.body),
        }
    }

    pub(super) fn are_cut_by(&self, cutting: Cutting, stemming: Stemming) -> bool {
        self.cutting == cutting && self.stemming == stemming
    }
}
