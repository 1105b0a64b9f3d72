//! The items of the picker: documents, as far as a list and a choice need them.

use kodiak::document::uri;
use kodiak::search::Hit;
use kodiak::store::StoredDocument;

/// A document in the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// Its address, which names it alone.
    pub uri: String,
    /// Its id, as short as it can be.
    pub id: String,
    /// The source it is from.
    pub source: String,
    /// Its path from the source's root, or its own name there.
    pub path: String,
    /// The key of the entry it is from: for a file, its path from the source's root.
    pub entry: String,
    /// Its title.
    pub title: String,
    /// Where it is, as people read it.
    pub place: String,
    /// The line of the best match, from one.
    pub line: usize,
    /// The lines that match; none if it was not searched for.
    pub lines: Vec<usize>,
    /// The words that match, as the document spells them.
    pub words: Vec<String>,
    /// Whether it is worth a look.
    pub probable: bool,
}

impl Item {
    /// Creates the item of a hit.
    pub fn of_hit(hit: Hit, place: String) -> Self {
        let mut words: Vec<String> = Vec::new();
        for mark in &hit.marks {
            let word = hit.snippet.get(mark.clone()).unwrap_or_default();
            if !word.is_empty() && !words.iter().any(|known| known == word) {
                words.push(word.to_owned());
            }
        }
        let card = hit.card;
        let line = hit.line.max(1);
        Self {
            uri: card.uri,
            id: card.id,
            source: card.source,
            path: card.path,
            title: card.title,
            entry: hit.entry,
            place,
            line,
            // If only the title or the tags match, the line is that of the beginning.
            lines: if hit.lines.is_empty() {
                vec![line]
            } else {
                hit.lines
            },
            words,
            probable: hit.probable,
        }
    }

    /// Creates the item of a document that was not searched for.
    pub fn of_document(document: &StoredDocument, entry: String, place: String) -> Self {
        Self {
            uri: uri(&document.source, &document.key),
            id: document.short_id.clone(),
            source: document.source.clone(),
            path: document.key.clone(),
            title: document.shown_title().into_owned(),
            entry,
            place,
            line: 1,
            lines: Vec::new(),
            words: Vec::new(),
            probable: true,
        }
    }
}
