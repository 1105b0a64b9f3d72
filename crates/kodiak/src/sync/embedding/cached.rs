//! Vectors that the cache has: they are stored without a model.

use std::collections::HashSet;

use super::{Backfill, PAGE, Vectors};
use crate::embed::Identity;
use crate::error::Result;
use crate::store::{ChunkText, EmbeddingCache, Pending, Writer};
use crate::sync::access::WriteAccess;

/// Gives chunks their cached vectors, inside the caller's transaction.
pub(in crate::sync) fn restore(
    writer: &mut dyn Writer,
    identity: &Identity,
    cache: &EmbeddingCache,
) -> Result<usize> {
    let model = writer.put_model(identity)?;
    let (mut restored, mut after) = (0, None);
    loop {
        let page = writer.pending(model, after, PAGE)?;
        // Chunks that the cache does not have are embedded after the rebuild,
        // which also repairs the cache.
        let Ok((known, _)) = split_cached(identity, cache, &page) else {
            return Ok(restored);
        };
        restored += known.len();
        writer.put_vectors(model, &known)?;
        match page.last() {
            Some(last) if page.len() == PAGE => after = Some(last.place),
            _ => return Ok(restored),
        }
    }
}

impl Backfill<'_> {
    /// Stores every cached vector, so that nothing waits for a model that needs none.
    pub(super) fn restore_cached(&mut self, access: &dyn WriteAccess) -> Result<()> {
        let mut after = None;
        while self.cache.is_some() && !self.drive.is_over() {
            let page = self.in_model(access, |writer, model| writer.pending(model, after, PAGE))?;
            let last = page.last().map(|last| last.place);
            let full = page.len() == PAGE;
            self.take_cached(access, page)?;
            if !full {
                break;
            }
            after = last;
        }
        Ok(())
    }

    /// Stores the cached vectors of chunks and returns the other chunks.
    pub(super) fn take_cached(
        &mut self,
        access: &dyn WriteAccess,
        pending: Vec<Pending>,
    ) -> Result<Vec<Pending>> {
        if self.drive.cancel.is_cancelled() {
            return Ok(pending);
        }
        let (known, rest) = self.split_cached(&pending);
        if !known.is_empty() {
            self.report.cached += known.len();
            self.in_model(access, |writer, model| writer.put_vectors(model, &known))?;
        }
        Ok(rest)
    }

    /// Separates the chunks whose vectors are cached from the others. A cache
    /// that cannot be read counts as empty and is not used again.
    fn split_cached(&mut self, pending: &[Pending]) -> (Vectors, Vec<Pending>) {
        let identity = self.drive.embedder.identity();
        if let Some(cache) = self.cache.as_deref_mut() {
            match split_cached(identity, cache, pending) {
                Ok(split) => return split,
                Err(error) if cache.recover(&error) => {}
                Err(_) => self.cache = None,
            }
        }
        (Vec::new(), pending.to_vec())
    }
}

fn split_cached(
    identity: &Identity,
    cache: &EmbeddingCache,
    pending: &[Pending],
) -> Result<(Vectors, Vec<Pending>)> {
    let hashes: Vec<[u8; 16]> = pending.iter().map(|pending| pending.hash).collect();
    let (mut known, mut rest) = (Vec::new(), Vec::new());
    for (pending, vector) in pending.iter().zip(cache.get(identity, &hashes)?) {
        match vector {
            Some(vector) => known.push((*pending, vector)),
            None => rest.push(*pending),
        }
    }
    Ok((known, rest))
}

/// Deletes the vectors of chunks from the cache that are gone by now: another process may
/// have erased them while the model worked on them. The caller is the only writer, so none
/// can be erased after this.
pub(super) fn leave_out_erased(
    cache: &mut EmbeddingCache,
    group: &[Pending],
    texts: &[Option<ChunkText>],
) {
    let (mut gone, mut there): (HashSet<[u8; 16]>, HashSet<[u8; 16]>) = Default::default();
    for (pending, text) in group.iter().zip(texts) {
        let set = if text.is_some() {
            &mut there
        } else {
            &mut gone
        };
        set.insert(pending.hash);
    }
    let gone: Vec<[u8; 16]> = gone.difference(&there).copied().collect();
    if !gone.is_empty() {
        // A cache that cannot be written has not taken them either.
        let _ = cache.erase(&gone).and_then(|()| cache.empty_log());
    }
}
