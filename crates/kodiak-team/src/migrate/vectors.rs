//! Vectors, for the chunks of the destination that have none.

use std::collections::{HashMap, HashSet};

use kodiak_base::error::Result;
use kodiak_store::{EmbeddingQueue, ModelNumber, Pending, Reader, Row, Serving, Wanted, Writer};

use super::{Moving, PAGE, Progress, Step, rows_of};

/// The number of pending chunks that are read at once.
const PENDING: usize = 2_000;

/// The chunks without a vector, by the rows of their documents.
pub(super) type Missing = HashMap<Row, HashSet<usize>>;

/// Returns the chunks of an index that have no vector of the model in use.
pub(super) fn missing(writer: &mut dyn Writer) -> Result<Missing> {
    let mut missing = Missing::new();
    if let Some((model, _)) = model(writer)? {
        each_pending(writer, model, |page| {
            for one in page {
                let of_document = missing.entry(one.place.document).or_default();
                of_document.insert(one.place.ordinal as usize);
            }
            Ok(())
        })?;
    }
    Ok(missing)
}

/// Returns the model that an index is searched with, and its number. Nothing is written,
/// because the model is known.
fn model(writer: &mut dyn Writer) -> Result<Option<(ModelNumber, Serving)>> {
    let Some(serving) = writer.reader().serving()? else {
        return Ok(None);
    };
    let Some(identity) = serving.identity() else {
        return Ok(None);
    };
    Ok(Some((writer.put_model(&identity)?, serving)))
}

fn each_pending(
    queue: &(impl EmbeddingQueue + ?Sized),
    model: ModelNumber,
    mut visit: impl FnMut(&[Pending]) -> Result<()>,
) -> Result<()> {
    let mut after = None;
    loop {
        let page = queue.pending(model, after, PENDING)?;
        visit(&page)?;
        match page.last() {
            Some(last) if page.len() == PENDING => after = Some(last.place),
            _ => return Ok(()),
        }
    }
}

/// The vectors of documents, each with the hash of the text of its chunk.
pub(super) type Hashed = HashMap<Row, Vec<([u8; 16], Option<Vec<f32>>)>>;

/// Reads the vectors of documents in the order of their chunks.
pub(super) fn read(reader: &dyn Reader, rows: &[Row], missing: &Missing) -> Result<Hashed> {
    let contents = reader.read(&Wanted {
        hashes: rows.to_vec(),
        vectors: rows.to_vec(),
        ..Wanted::default()
    })?;
    let mut vectors = contents.vectors;
    let hashed = contents.hashes.into_iter().map(|(row, hashes)| {
        let without = missing.get(&row);
        // Chunks without a vector are left out of the list.
        let mut vectors = vectors.remove(&row).unwrap_or_default().into_iter();
        let chunks = hashes.into_iter().enumerate().map(|(ordinal, hash)| {
            let has = without.is_none_or(|without| !without.contains(&ordinal));
            let vector = if has { vectors.next() } else { None };
            (hash, vector.map(|(_, vector)| vector))
        });
        (row, chunks.collect())
    });
    Ok(hashed.collect())
}

/// Gives the chunks of the destination the vectors that the origin has. Does nothing if the
/// destination is searched with another model.
pub(super) fn copy(
    moving: &mut Moving<'_>,
    missing: &Missing,
    progress: &mut Progress<'_>,
) -> Result<()> {
    let Some((_, serving)) = model(moving.from)? else {
        return Ok(());
    };
    let other = moving.to.reader().serving()?;
    if other.is_some_and(|other| other.key != serving.key) {
        return Ok(());
    }
    let Some(identity) = serving.identity() else {
        return Ok(());
    };
    let number = moving.write(|writer| writer.put_model(&identity))?;
    let total = moving.to.pending_size(number)?.chunks;
    let (mut after, mut done) = (None, 0);
    loop {
        moving.migration.check()?;
        progress(Step::Vectors, done, total);
        let page = moving.to.pending(number, after, PENDING)?;
        let Some(last) = page.last() else {
            return Ok(());
        };
        (after, done) = (Some(last.place), done + page.len());
        let found = vectors_for(moving, missing, &page)?;
        for found in found.chunks(PAGE) {
            moving.transaction(|writer| writer.put_vectors(number, found))?;
            moving.changed += found.len();
        }
    }
}

/// Returns the vectors that the origin has for chunks of the destination.
fn vectors_for(
    moving: &Moving<'_>,
    missing: &Missing,
    page: &[Pending],
) -> Result<Vec<(Pending, Vec<f32>)>> {
    let mut rows: Vec<Row> = page.iter().map(|one| one.place.document).collect();
    rows.sort_unstable();
    rows.dedup();
    let documents = moving.to.reader().documents(&rows)?;
    let uids: Vec<String> = documents.iter().map(|one| one.uid.clone()).collect();
    let there = rows_of(moving.from.reader(), &uids)?;
    let of_origin: Vec<Row> = there.iter().flatten().copied().collect();
    let mut hashed = read(moving.from.reader(), &of_origin, missing)?;
    let mut known: HashMap<(Row, [u8; 16]), Vec<f32>> = HashMap::new();
    for (document, row) in documents.iter().zip(there) {
        let chunks = row.and_then(|row| hashed.remove(&row)).unwrap_or_default();
        for (hash, vector) in chunks {
            if let Some(vector) = vector {
                known.insert((document.row, hash), vector);
            }
        }
    }
    // Chunks of one document with one text share a vector.
    let found = page.iter().filter_map(|one| {
        let vector = known.get(&(one.place.document, one.hash))?;
        Some((*one, vector.clone()))
    });
    Ok(found.collect())
}
