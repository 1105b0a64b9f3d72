//! The terms, words and lengths of stored documents, found by tokenizing their texts again.

use super::vectors::Bitmap;
use super::{Documents, Filter, Row, Selection, State, StoredDocument};
use kodiak_base::error::Result;
use kodiak_text::document::ALIASES;
use kodiak_text::terms::{COLUMNS, DocumentTerms, TermIndexer};
use kodiak_text::text::{Class, fold_word, words};

/// The number of documents that are held in memory at once.
const AT_ONCE: usize = 64;

/// Calls `visit` with the terms of each of these documents.
pub(super) fn each_document<R: Documents + State + ?Sized>(
    reader: &R,
    rows: &[Row],
    mut visit: impl FnMut(&StoredDocument, &DocumentTerms),
) -> Result<()> {
    let mut indexer = TermIndexer::new(reader.stemming());
    for rows in rows.chunks(AT_ONCE) {
        for document in reader.documents(rows)? {
            let [titles, tags] = beside_body(reader, &document)?;
            let found = indexer.index([&titles, &document.body, &tags]);
            visit(&document, &found);
        }
    }
    Ok(())
}

/// Returns the documents among these that have an index term.
pub(super) fn rows_with_term<R: Documents + State + ?Sized>(
    reader: &R,
    term: &str,
    among: &Bitmap,
) -> Result<Vec<Row>> {
    let mut having = Vec::new();
    let rows: Vec<Row> = among.iter().collect();
    each_document(reader, &rows, |document, found| {
        if found.terms.iter().any(|one| one == term) {
            having.push(document.row);
        }
    })?;
    Ok(having)
}

/// Returns the summed lengths of the documents that meet `filter`.
pub(super) fn total_length<R: Selection + State + ?Sized>(
    reader: &R,
    filter: &Filter,
) -> Result<u64> {
    let present = reader.fingerprints(filter)?;
    let rows: Vec<Row> = present.into_iter().map(|one| one.row).collect();
    let mut length = 0;
    each_document(reader, &rows, |_, found| length += length_of(found))?;
    Ok(length)
}

/// Reports whether a document has this folded word, unstemmed.
pub(super) fn has_word<R: Documents + ?Sized>(
    reader: &R,
    document: &StoredDocument,
    word: &str,
) -> Result<bool> {
    let mut folded = String::new();
    let mut is_in = |text: &str| {
        words(text).any(|one| {
            let written = &text[one.range];
            // Folding leaves the length of ASCII as it is.
            let may_be = !written.is_ascii() || written.len() == word.len();
            one.class == Class::Spaced && may_be && {
                fold_word(written, &mut folded);
                folded == word
            }
        })
    };
    if is_in(&document.title) || is_in(&document.body) {
        return Ok(true);
    }
    let [titles, tags] = beside_body(reader, document)?;
    Ok(is_in(&titles) || is_in(&tags))
}

/// Returns the first and the last column of a document as they are indexed: its title
/// with its aliases, and its tags.
fn beside_body<R: Documents + ?Sized>(
    reader: &R,
    document: &StoredDocument,
) -> Result<[String; COLUMNS - 1]> {
    let mut titles = document.title.clone();
    for (name, value) in reader.fields(document.row)? {
        if ALIASES.contains(&name.to_ascii_lowercase().as_str()) {
            titles.extend([" ", &value]);
        }
    }
    Ok([titles, document.tags.join(" ")])
}

/// Returns the number of positions in a document, as the full text counts them: an
/// edge gram has the position of its neighbour.
fn length_of(found: &DocumentTerms) -> u64 {
    let mut length = 0;
    for column in 0..COLUMNS {
        let mut tokens = 0;
        for (_, edge_gram) in found.column(column) {
            tokens += u64::from(!edge_gram || tokens == 0);
        }
        length += tokens;
    }
    length
}
