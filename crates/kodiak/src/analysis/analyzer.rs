//! A document with everything the index keeps of it, worked out beforehand.
//!
//! Owns the order of the steps. Each thread that reads documents has an
//! [`Analyzer`] of its own, so that the thread that writes has nothing left to
//! work out.

use super::chunk::{Chunk, Cutting};
use super::markup::Lines;
use super::terms::{DocumentTerms, TermIndexer};
use super::text::Stemming;
use crate::document::Document;

/// Analyses one document after the other. What it remembers of earlier documents
/// makes later ones quicker and changes nothing about the result.
#[derive(Debug, Default)]
pub struct Analyzer {
    cutting: Cutting,
    stemming: Stemming,
    terms: TermIndexer,
}

impl Analyzer {
    /// Makes an analyzer that cuts chunks and stems words in this way.
    pub fn new(cutting: Cutting, stemming: Stemming) -> Self {
        Self {
            cutting,
            stemming,
            terms: TermIndexer::new(stemming),
        }
    }

    /// Works out what the index keeps of a document.
    pub fn analyze(&mut self, mut document: Document) -> AnalyzedDocument {
        let analysis = self.analysis_of(&document);
        // Of no more use, and as large as the text.
        document.lines = None;
        AnalyzedDocument { document, analysis }
    }

    pub(crate) fn analysis_of(&mut self, document: &Document) -> Analysis {
        let tags = document.tags.join(" ");
        let texts = [document.title.as_str(), &document.body, &tags];
        let found;
        let lines = match &document.lines {
            Some(lines) if lines.fit(&document.body) => lines,
            _ => {
                found = Lines::of(document.markup, &document.body);
                &found
            }
        };
        Analysis {
            cutting: self.cutting,
            stemming: self.stemming,
            terms: self.terms.index(texts),
            chunks: self
                .cutting
                .hashed_chunks(&document.title, lines, &document.body),
            tags,
        }
    }
}

/// A document and what was worked out of its text.
#[derive(Debug)]
pub struct AnalyzedDocument {
    pub(crate) document: Document,
    pub(crate) analysis: Analysis,
}

impl AnalyzedDocument {
    /// Analyses a single document with the default settings. Whoever has many
    /// documents keeps an [`Analyzer`].
    pub fn new(document: Document) -> Self {
        Analyzer::default().analyze(document)
    }

    /// Returns the document.
    pub fn document(&self) -> &Document {
        &self.document
    }
}

/// What was worked out of a document's text, and with which settings.
#[derive(Debug)]
pub(crate) struct Analysis {
    cutting: Cutting,
    stemming: Stemming,
    /// The terms of title, body and `tags`.
    pub(crate) terms: DocumentTerms,
    /// The document's tags as the full text has them, in the order it was
    /// written in.
    pub(crate) tags: String,
    /// Each chunk with the hash of its embedded text.
    pub(crate) chunks: Vec<(Chunk, [u8; 16])>,
}

impl Analysis {
    /// Whether it was made with these settings.
    pub(crate) fn is_made_with(&self, cutting: Cutting, stemming: Stemming) -> bool {
        self.cutting == cutting && self.stemming == stemming
    }
}
