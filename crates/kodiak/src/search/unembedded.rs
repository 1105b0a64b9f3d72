//! Candidates without a vector: the best of them are embedded while the search
//! runs.
//!
//! Notes are embedded after they are indexed, which takes a while. Until then a note that
//! was found by its words has no similarity, and fusion ranks it below all that have one.
//! Its first chunk is enough to place it: title and opening name its subject. The vector
//! serves this search only.
//!
//! Many searches at once must not embed beside each other: they use threads of the
//! shared pool that no query needs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use super::candidate::Candidate;
use super::compare::{Comparison, NearestChunk};
use super::desk::Desk;
use super::workers::{Queries, Workers};
use crate::analysis::chunk::ChunkOptions;
use crate::cancel::Stop;
use crate::embed::{Embedder, Role};
use crate::error::Result;
use crate::store::{Row, StoredDocument};

/// The longest time that this may add to a search, which a person hardly notices.
const MAX_DELAY: Duration = Duration::from_millis(200);
/// The length in bytes above which a document is left out: dividing it into chunks
/// would take too long.
const MAX_BODY_BYTES: usize = 256 * 1024;
/// The number of a chunk that the index does not have.
const NO_CHUNK: i64 = -1;

/// Embeds the first chunk of candidates that are among the `most` best of lexical
/// retrieval and have no vector, until `deadline` at the latest. A failure of the
/// model leaves them as they are, and so does a pool without a free thread.
pub(super) fn embed(
    desk: &Desk<'_>,
    (embedder, workers): (&Arc<dyn Embedder>, &Workers),
    comparison: &Comparison,
    candidates: &mut [Candidate],
    most: usize,
    deadline: Option<Instant>,
) -> Result<()> {
    let among_best = |one: &Candidate| one.evidence.lexical_rank.is_some_and(|rank| rank <= most);
    let wanted = |one: &Candidate| one.chunk.is_none() && among_best(one);
    let mut best: Vec<&Candidate> = candidates.iter().filter(|one| wanted(one)).collect();
    best.sort_by_key(|one| one.evidence.lexical_rank);
    let rows: Vec<Row> = best.iter().map(|one| one.row).collect();
    if rows.is_empty() || !embedder.is_local() {
        return Ok(());
    }
    let documents = desk.documents(&rows)?;
    let until = Instant::now() + MAX_DELAY;
    let until = deadline.map_or(until, |deadline| deadline.min(until));
    let batch = Arc::new(Batch {
        embedder: Arc::clone(embedder),
        texts: documents
            .iter()
            .filter_map(|one| first_chunk(one))
            .collect(),
        next: AtomicUsize::new(0),
        stop: Stop::at(Some(until)),
    });
    let (sender, receiver) = channel();
    for _ in 0..batch.texts.len() {
        let (batch, sender) = (Arc::clone(&batch), sender.clone());
        if !workers.offer(move |queries| batch.embed(queries, &sender)) {
            break;
        }
    }
    drop(sender);
    // Ends with the time, or when no thread works on the texts any more.
    while let Ok((row, vector)) =
        receiver.recv_timeout(until.saturating_duration_since(Instant::now()))
    {
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
    batch.stop.cancel.cancel();
    Ok(())
}

/// Texts that several threads embed, each text once.
struct Batch {
    embedder: Arc<dyn Embedder>,
    texts: Vec<(Row, String)>,
    /// The first text that no thread has taken yet.
    next: AtomicUsize,
    stop: Stop,
}

impl Batch {
    /// Embeds one text after another, until the time is up or a query needs the thread.
    fn embed(&self, queries: &Queries, sender: &Sender<(Row, Vec<f32>)>) {
        while !self.stop.is_reached() && !queries.wait() {
            let next = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((row, text)) = self.texts.get(next) else {
                return;
            };
            if let Ok(vector) = self.embedder.embed_one(text, Role::Document) {
                // The search stops receiving when its time is up.
                let _ = sender.send((*row, vector));
            }
        }
    }
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
