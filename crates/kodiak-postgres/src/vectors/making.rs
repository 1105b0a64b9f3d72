//! Making the vector file: of all vectors once, and then of the file before it and what was
//! added since.

use std::collections::HashSet;

use super::{
    InUse, Kept, WHEN_EMBEDDED, WHILE_EMBEDDING, is_within, kept_of, late_query, vector_from,
};
use crate::reader::PostgresReader;
use crate::value::{Query, count, get};
use kodiak_base::error::{Error, Result};
use kodiak_store::Row;
use kodiak_store::vectors::{Content, Slot, VectorFile};

/// The number of vectors that are fetched at once to make a file.
const PAGE: usize = 2_000;

/// The number of chunks that are listed at once.
const CHUNKS_PAGE: usize = 50_000;

/// Vectors in the order of documents and chunks.
type Page = Vec<(Slot, Vec<f32>)>;

impl PostgresReader {
    /// Returns a file with few vectors beside it: the one that is kept, brought up to date, or
    /// one that an earlier process has left. Otherwise the file is made of all vectors.
    pub(super) fn made(&self, in_use: &InUse, kept: Option<Kept>) -> Result<Kept> {
        let kept = if let Some(kept) = kept {
            kept
        } else {
            let Some(file) = self.opened(in_use)? else {
                return self.make(in_use);
            };
            let rows = self.rows_of(late_query(file.upto(), in_use.model))?;
            Kept {
                late: self.late_in(&rows)?.into(),
                ..kept_of(in_use, file)
            }
        };
        if is_within(kept.late.len(), &kept.file, WHILE_EMBEDDING) {
            return Ok(kept);
        }
        self.update(in_use, &kept)
    }

    /// Puts the vectors beside a file into it, and takes out those that are gone if they are
    /// many. Fetches no vector.
    pub(super) fn update(&self, in_use: &InUse, kept: &Kept) -> Result<Kept> {
        if kept.upto > in_use.newest {
            // An older snapshot, which lacks some of them.
            return self.make(in_use);
        }
        let vain = self.in_vain(in_use, &kept.file)?;
        let left = if is_within(vain, &kept.file, WHEN_EMBEDDED) {
            None
        } else {
            Some(self.chunks_upto(in_use, kept.file.upto())?)
        };
        let stays = |slot: Slot| left.as_ref().is_none_or(|left| left.contains(&slot.chunk));
        let late: Vec<i64> = kept.late.iter().map(|one| one.chunk).collect();
        let there = Query::new("SELECT id FROM chunks WHERE id = ANY($1)").with(&late[..]);
        let there = self.rows_of(there)?;
        let there = there.iter().map(|row| get(row, 0));
        let there: HashSet<i64> = there.collect::<Result<_>>()?;
        let new = kept.late.iter().filter(|one| there.contains(&one.chunk));
        let mut new: Vec<(Slot, Vec<f32>)> = new
            .map(|one| {
                let slot = Slot {
                    chunk: one.chunk,
                    document: one.row,
                };
                (slot, one.vector.clone())
            })
            .collect();
        new.sort_unstable_by_key(|(slot, _)| (slot.document, slot.chunk));
        let rows = || kept.file.updated(new.clone(), stays).map(Ok::<_, Error>);
        self.written(in_use, rows)
    }

    /// Returns the number of rows of a file whose vectors are gone or were replaced.
    pub(super) fn in_vain(&self, in_use: &InUse, file: &VectorFile) -> Result<usize> {
        let left =
            Query::new("SELECT count(*) FROM embeddings AS e WHERE e.model = $1 AND e.id <= $2");
        let rows = self.rows_of(left.with(in_use.model).with(file.upto()))?;
        let left = rows.first().map_or(Ok(0), |row| count(row, 0))?;
        Ok(file.len().saturating_sub(left as usize))
    }

    /// Returns the chunks whose vectors have numbers up to this one.
    fn chunks_upto(&self, in_use: &InUse, upto: i64) -> Result<HashSet<i64>> {
        let mut chunks = HashSet::new();
        let mut after = 0_i64;
        loop {
            let page = Query::new(
                "SELECT id, chunk FROM embeddings WHERE model = $1 AND id > $2 AND id <= $3
                 ORDER BY id LIMIT $4",
            );
            let page = page.with(in_use.model).with(after).with(upto);
            let rows = self.rows_of(page.with(CHUNKS_PAGE))?;
            for row in &rows {
                after = get(row, 0)?;
                chunks.insert(get(row, 1)?);
            }
            if rows.len() < CHUNKS_PAGE {
                return Ok(chunks);
            }
        }
    }

    /// Opens the newest file that was made of a state in the past of the index.
    fn opened(&self, in_use: &InUse) -> Result<Option<VectorFile>> {
        let mut files = self.shared.derived.files(in_use);
        if files.is_empty() {
            return Ok(None);
        }
        let stamps: Vec<i64> = files.iter().map(|(_, stamp, _)| *stamp).collect();
        let known = Query::new("SELECT revision, stamp FROM states WHERE stamp = ANY($1)");
        let known = self.rows_of(known.with(&stamps[..]))?;
        let known = known.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?)));
        let known: HashSet<(i64, i64)> = known.collect::<Result<_>>()?;
        files.retain(|(revision, stamp, _)| known.contains(&(*revision, *stamp)));
        files.sort_unstable();
        // A damaged file is made anew, like any other that cannot be used.
        let opened = files.iter().rev().find_map(|(_, _, path)| {
            let file = VectorFile::open(path, &in_use.origin).ok().flatten();
            file.filter(|file| file.upto() <= in_use.newest)
        });
        Ok(opened)
    }

    /// Makes the file of an index of all vectors.
    pub(super) fn make(&self, in_use: &InUse) -> Result<Kept> {
        #[cfg(test)]
        self.shared
            .derived
            .made
            .fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.written(in_use, || self.pages(in_use))
    }

    /// Writes the file of an index.
    fn written<'v, V, I>(&self, in_use: &InUse, rows: impl Fn() -> I) -> Result<Kept>
    where
        V: Into<Content<'v>>,
        I: Iterator<Item = Result<(Slot, V)>>,
    {
        let derived = &self.shared.derived;
        // An older snapshot has what was erased since, which must not be written again, and
        // a transaction what may never be committed.
        let may_write = !self.writing.get() && self.shared.is_followed(in_use.past, in_use.erased);
        let path = derived.path(in_use).filter(|_| may_write);
        let written = path.map(|path| {
            if let Some(folder) = path.parent() {
                kodiak_base::files::create_folder(folder)
                    .map_err(Error::io("create the folder", folder))?;
            }
            VectorFile::write(&path, &in_use.origin, in_use.newest, rows())
        });
        let file = match written {
            Some(Ok(file)) => {
                derived.drop_older(in_use);
                file
            }
            Some(Err(error)) if !matches!(error, Error::Io { .. }) => return Err(error),
            // A search must work even if the folder cannot be written.
            _ => VectorFile::in_memory(&in_use.origin, in_use.newest, rows())?,
        };
        Ok(kept_of(in_use, file))
    }

    /// Returns all vectors of the model in use, document by document, some at a time.
    pub(super) fn pages<'a>(
        &'a self,
        in_use: &'a InUse,
    ) -> impl Iterator<Item = Result<(Slot, Vec<f32>)>> + 'a {
        let mut after: (Row, i64) = (0, -1);
        let mut page = Vec::new().into_iter();
        let mut ended = false;
        std::iter::from_fn(move || {
            loop {
                if let Some(next) = page.next() {
                    return Some(Ok(next));
                }
                if ended {
                    return None;
                }
                match self.page(in_use, after) {
                    Ok((found, last)) => {
                        ended = found.len() < PAGE;
                        after = last;
                        page = found.into_iter();
                    }
                    Err(error) => {
                        ended = true;
                        return Some(Err(error));
                    }
                }
            }
        })
    }

    fn page(&self, in_use: &InUse, after: (Row, i64)) -> Result<(Page, (Row, i64))> {
        let query = Query::new(
            "SELECT c.id, c.document, c.ordinal, e.vector FROM chunks AS c
             JOIN embeddings AS e ON e.chunk = c.id AND e.model = $1 AND e.id <= $2
             WHERE (c.document, c.ordinal) > ($3, $4) ORDER BY c.document, c.ordinal LIMIT $5",
        )
        .with(in_use.model)
        .with(in_use.newest)
        .with(after.0)
        .with(after.1)
        .with(PAGE);
        let mut last = after;
        let mut found = Vec::new();
        for row in self.rows_of(query)? {
            let slot = Slot {
                chunk: get(&row, 0)?,
                document: get(&row, 1)?,
            };
            last = (slot.document, get(&row, 2)?);
            found.push((slot, vector_from(get(&row, 3)?)));
        }
        self.count_fetched(found.len());
        Ok((found, last))
    }
}
