//! Candidates without a vector: the best of them are embedded while the search
//! runs.
//!
//! Notes are embedded after they are indexed, which takes a while. Until then a
//! note that was found by its words has no similarity, and fusion ranks it below
//! all that have one. Its first chunk is enough to place it: title and opening tell
//! what it is about. The vector serves this search only.

use std::time::{Duration, Instant};

use super::candidate::Candidate;
use super::compare::{Comparison, NearestChunk};
use crate::analysis::chunk::ChunkOptions;
use crate::cancel::Cancel;
use crate::embed::Embedder;
use crate::error::Result;
use crate::store::{Reader, Row, StoredDocument};
use crate::sync::Drive;

/// The longest time that this may add to a search: what a person hardly notices.
const LONGEST: Duration = Duration::from_millis(200);
/// The length in bytes above which a document is left out: dividing it into chunks
/// would take too long.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// The number of a chunk that the index does not have.
const NO_CHUNK: i64 = -1;

/// Embeds the first chunk of candidates that are among the `most` best of lexical
/// retrieval and have no vector, until `deadline` at the latest. A failure of the
/// model leaves them as they are.
pub(super) fn embed(
    store: &dyn Reader,
    embedder: &dyn Embedder,
    comparison: &Comparison,
    candidates: &mut [Candidate],
    most: usize,
    deadline: Option<Instant>,
) -> Result<()> {
    let among_best = |one: &Candidate| one.evidence.lexical_rank.is_some_and(|rank| rank <= most);
    let wanted = |one: &Candidate| one.chunk.is_none() && among_best(one);
    let mut rows: Vec<Row> = Vec::new();
    let mut best: Vec<&Candidate> = candidates.iter().filter(|one| wanted(one)).collect();
    best.sort_by_key(|one| one.evidence.lexical_rank);
    rows.extend(best.iter().map(|one| one.row));
    if rows.is_empty() || !embedder.is_local() {
        return Ok(());
    }
    let documents = store.documents(&rows)?;
    let texts: Vec<(Row, String)> = documents.iter().filter_map(first_chunk).collect();
    let until = Instant::now() + LONGEST;
    let drive = Drive {
        embedder,
        until: Some(deadline.map_or(until, |deadline| deadline.min(until))),
        cancel: &Cancel::new(),
    };
    let borrowed: Vec<&str> = texts.iter().map(|(_, text)| text.as_str()).collect();
    drive.run(&borrowed, &mut |outcomes| {
        for (at, outcome) in outcomes {
            let Ok(vector) = outcome else { continue };
            let row = texts[at].0;
            if let Some(candidate) = candidates.iter_mut().find(|one| one.row == row) {
                let similarity = comparison.similarity(&vector);
                candidate.compared(NearestChunk {
                    row,
                    chunk: NO_CHUNK,
                    similarity,
                    centroid_similarity: similarity,
                    vector,
                });
            }
        }
    });
    Ok(())
}

/// Returns the embedded text of a document's first chunk, if it has one.
fn first_chunk(document: &StoredDocument) -> Option<(Row, String)> {
    if document.body.len() > MAX_BODY_BYTES {
        return None;
    }
    let options = ChunkOptions::default().for_markup(document.markup);
    let title = &document.title;
    let chunks = options.chunks(title, document.markup, &document.body);
    let first = chunks.first()?;
    let text = document.body.get(first.range.clone())?;
    let text = options.embedded_text(title, &first.heading, text);
    (!text.trim().is_empty()).then_some((document.row, text))
}
