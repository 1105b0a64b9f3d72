//! The analyzer: from a document to everything the index stores of it.
//!
//! Owns the order of the steps. Each thread that reads documents has its own [`Analyzer`],
//! so that the thread that writes has nothing left to compute.

use super::chunk::{Chunk, ChunkOptions};
use super::links::{self, OutgoingLink};
use super::markup::Lines;
use super::terms::{DocumentTerms, TermIndexer};
use super::text::Stemming;
use crate::document::{Document, Markup};

/// Analyses documents, one after the other. It caches the words of earlier
/// documents, which makes later ones quicker and does not change the result.
#[derive(Debug, Default)]
pub struct Analyzer {
    chunking: ChunkOptions,
    stemming: Stemming,
    terms: TermIndexer,
}

impl Analyzer {
    /// Creates an analyzer with this chunking and stemming.
    pub fn new(chunking: ChunkOptions, stemming: Stemming) -> Self {
        Self {
            chunking,
            stemming,
            terms: TermIndexer::new(stemming),
        }
    }

    /// Splits a body into chunks, each with the hash of its embedded text.
    pub fn chunks(&self, markup: Markup, title: &str, body: &str) -> Vec<(Chunk, [u8; 16])> {
        self.chunking
            .for_markup(markup)
            .hashed_chunks(title, &Lines::of(markup, body), body)
    }

    /// Returns the text that a model embeds for a chunk of a document in this
    /// markup, under this title and these headings.
    pub fn embedded_text(&self, markup: Markup, title: &str, heading: &str, text: &str) -> String {
        self.chunking
            .for_markup(markup)
            .embedded_text(title, heading, text)
    }

    /// Analyses a document.
    pub fn analyze(&mut self, mut document: Document) -> AnalyzedDocument {
        let analysis = self.analysis_of(&document);
        // No longer needed, and as large as the text.
        document.lines = None;
        AnalyzedDocument { document, analysis }
    }

    /// Returns everything an index stores of a document besides the document.
    pub fn analysis_of(&mut self, document: &Document) -> Analysis {
        let tags = document.tags.join(" ");
        let titles = document.titles();
        let texts = [&*titles, &document.body, &tags];
        let found;
        let lines = match &document.lines {
            Some(lines) if lines.fit(&document.body) => lines,
            _ => {
                found = Lines::of(document.markup, &document.body);
                &found
            }
        };
        Analysis {
            chunking: self.chunking,
            stemming: self.stemming,
            terms: self.terms.index(texts),
            chunks: self.chunking.for_markup(document.markup).hashed_chunks(
                &document.title,
                lines,
                &document.body,
            ),
            links: links::outgoing(document.markup, lines, &document.body),
            tags,
        }
    }
}

/// A document with its analysis.
#[derive(Debug)]
pub struct AnalyzedDocument {
    /// The document, without its lines.
    pub document: Document,
    /// Everything else that an index stores of it.
    pub analysis: Analysis,
}

impl AnalyzedDocument {
    /// Analyses a single document with the default settings. For many documents,
    /// keep an [`Analyzer`].
    pub fn new(document: Document) -> Self {
        Analyzer::default().analyze(document)
    }

    /// Returns the document.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// Returns the index terms of the title in order, each with its position.
    /// Terms that share a position are alternatives for the same text.
    pub fn title_terms(&self) -> impl Iterator<Item = (&str, u32)> {
        self.positioned_terms(0)
    }

    /// Returns the index terms of the body in order, each with its position.
    pub fn body_terms(&self) -> impl Iterator<Item = (&str, u32)> {
        self.positioned_terms(1)
    }

    /// Returns the index terms of the tags in order, each with its position.
    /// Positions run on from one tag to the next.
    pub fn tag_terms(&self) -> impl Iterator<Item = (&str, u32)> {
        self.positioned_terms(2)
    }

    /// Returns each distinct word that a misspelling may be corrected to: folded,
    /// not stemmed.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.analysis.terms.words.iter()
    }

    /// Returns the chunks in order, each with the hash of its embedded text.
    pub fn chunks(&self) -> &[(Chunk, [u8; 16])] {
        &self.analysis.chunks
    }

    /// Returns the links to other documents, one for each target.
    pub fn links(&self) -> &[OutgoingLink] {
        &self.analysis.links
    }

    fn positioned_terms(&self, column: usize) -> impl Iterator<Item = (&str, u32)> {
        let mut taken = 0;
        self.analysis
            .terms
            .column(column)
            .map(move |(term, is_edge_gram)| {
                if !is_edge_gram || taken == 0 {
                    taken += 1;
                }
                (term, taken - 1)
            })
    }
}

/// The parts of a document's text that the index stores, and the settings they were
/// computed with.
#[derive(Debug)]
pub struct Analysis {
    chunking: ChunkOptions,
    stemming: Stemming,
    /// The terms of title, body and `tags`.
    pub terms: DocumentTerms,
    /// The document's tags as the full-text index has them: in the order they were
    /// written in, joined by spaces.
    pub tags: String,
    /// Each chunk with the hash of its embedded text.
    pub chunks: Vec<(Chunk, [u8; 16])>,
    /// The links to other documents, one for each target.
    pub links: Vec<OutgoingLink>,
}

impl Analysis {
    /// Reports whether the analysis was made with these settings.
    pub fn is_made_with(&self, chunking: ChunkOptions, stemming: Stemming) -> bool {
        self.chunking == chunking && self.stemming == stemming
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_can_read_terms_words_and_chunks() {
        let analyzed = AnalyzedDocument::new(Document {
            title: "Running".to_owned(),
            body: "数据库 runs\n".to_owned(),
            tags: vec!["work".to_owned(), "home".to_owned()],
            ..Document::default()
        });
        let title: Vec<_> = analyzed.title_terms().collect();
        assert_eq!(title, [("run", 0)]);
        // The edge gram of a run shares the position of its last full n-gram.
        let body: Vec<_> = analyzed.body_terms().collect();
        assert_eq!(body, [("数据", 0), ("据库", 1), ("库", 1), ("run", 2)]);
        let tags: Vec<_> = analyzed.tag_terms().collect();
        assert_eq!(tags, [("work", 0), ("home", 1)]);
        let words: Vec<_> = analyzed.words().collect();
        assert_eq!(words, ["running", "runs", "work", "home"]);
        let [(chunk, hash)] = analyzed.chunks() else {
            panic!("{:?}", analyzed.chunks());
        };
        assert_eq!(chunk.range, 0.."数据库 runs".len());
        let embedded = ChunkOptions::default().embedded_text("Running", "", "数据库 runs");
        assert_eq!(*hash, crate::chunk::text_hash(&embedded));
    }

    #[test]
    fn a_verbatim_text_is_embedded_as_it_is_also_when_it_is_chunked_again() {
        let body = "[qa] See [it](https://a.example/x)\n\n| a |\n|---|\n\n# Title\n- Same line here\n- Same line here";
        let analyzer = Analyzer::default();
        let again = analyzer.chunks(Markup::Verbatim, "Title", body);
        let first = AnalyzedDocument::new(Document {
            title: "Title".to_owned(),
            body: body.to_owned(),
            markup: Markup::Verbatim,
            ..Document::default()
        });
        assert_eq!(first.chunks(), again);
        let [(chunk, hash)] = again.as_slice() else {
            panic!("{again:?}");
        };
        let text = &body[chunk.range.clone()];
        let embedded = analyzer.embedded_text(Markup::Verbatim, "Title", &chunk.heading, text);
        assert_eq!(embedded, body);
        assert_eq!(*hash, crate::chunk::text_hash(body));
    }
}
