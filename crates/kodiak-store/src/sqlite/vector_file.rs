//! Maintenance of the vector file: it is opened once, and rebuilt when it is
//! too far behind the tables it is derived from.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::params;

use super::semantic::Model;
use super::{SqliteStore, vector_from};
use crate::Row;
use crate::vectors::{Origin, Slot, VectorFile};
use kodiak_base::error::{Error, Result};

/// How stale the file may be: the number of vectors that are missing from it or
/// no longer exist, as a share of its vectors and at least a fixed number.
#[derive(Clone, Copy)]
struct StalenessLimit {
    part: f64,
    least: i64,
}

/// The limit while vectors are being added, and for a search that finds the
/// file stale.
const WHILE_EMBEDDING: StalenessLimit = StalenessLimit {
    part: 0.1,
    least: 1_000,
};
/// The limit once all vectors are in. It is stricter: embedding one percent
/// anew takes far longer than writing the file, and every later search gains.
const WHEN_EMBEDDED: StalenessLimit = StalenessLimit {
    part: 0.01,
    least: 64,
};

/// All vectors up to a given one, document by document. `CROSS` makes SQLite
/// read the chunks in their order. With millions of them it would otherwise
/// begin with the vectors and sort them in memory.
pub(super) const IN_ORDER: &str = "SELECT c.id, c.document, e.vector FROM chunks AS c
     CROSS JOIN embeddings AS e ON e.chunk = c.id
     WHERE e.model = ?1 AND e.id <= ?2 ORDER BY c.document, c.ordinal";

/// An open vector file, with the time and size it had when it was opened.
#[derive(Debug)]
pub(super) struct OpenVectors {
    file: Arc<VectorFile>,
    origin: Origin,
    seen: Option<(SystemTime, u64)>,
}

impl SqliteStore {
    /// Returns the vector file: the one in use, the one on the disk, or a new
    /// one.
    pub(super) fn vector_file(&self, model: &Model) -> Result<Arc<VectorFile>> {
        let path = vector_path(&self.path);
        let origin = self.origin(model)?;
        if let Some(open) = &*self.vectors.borrow()
            && open.seen == look(&path)
            && open.origin == origin
            && self.is_fresh_enough(&open.file, WHILE_EMBEDDING)?
        {
            return Ok(Arc::clone(&open.file));
        }
        // A damaged file is rebuilt, like any other that cannot be used.
        let opened = VectorFile::open(&path, &origin).ok().flatten();
        let file = match opened {
            Some(file) if self.is_fresh_enough(&file, WHILE_EMBEDDING)? => file,
            _ => self.make_vector_file(model, &origin, &path)?,
        };
        let file = Arc::new(file);
        *self.vectors.borrow_mut() = Some(OpenVectors {
            file: Arc::clone(&file),
            origin,
            seen: look(&path),
        });
        Ok(file)
    }

    /// Rebuilds the vector file if it lacks many vectors or holds many that no
    /// longer exist. Called after writing, so that searches need not do it.
    pub(super) fn refresh_vector_file(&self) -> Result<()> {
        if let Some(model) = self.serving_model()? {
            let file = self.vector_file(&model)?;
            let limit = self.is_fresh_enough(&file, WHEN_EMBEDDED)?
                && self.holds_little_else(&model, &file, WHEN_EMBEDDED)?;
            if !limit {
                self.remake_vectors()?;
            }
        }
        Ok(())
    }

    /// Returns the documents whose vectors in the file differ from those in the
    /// tables. A file that cannot be used counts as correct, because the next
    /// search rebuilds it.
    pub(super) fn wrong_in_vector_file(&self) -> Result<Vec<Row>> {
        let Some(model) = self.serving_model()? else {
            return Ok(Vec::new());
        };
        let opened = VectorFile::open(&vector_path(&self.path), &self.origin(&model)?);
        let Some(file) = opened.ok().flatten() else {
            return Ok(Vec::new());
        };
        let mut wrong = Vec::new();
        self.each_vector(&model, file.upto(), |vectors| {
            for vector in vectors {
                let (slot, vector) = vector?;
                let row = file.row_of(slot);
                let right = row.is_some_and(|at| file.holds(at, &vector));
                if !right && wrong.last() != Some(&slot.document) {
                    wrong.push(slot.document);
                }
            }
            Ok(())
        })?;
        Ok(wrong)
    }

    /// Rebuilds the vector file if there are vectors, and otherwise removes it.
    pub(super) fn remake_vectors(&self) -> Result<()> {
        let path = vector_path(&self.path);
        if let Some(model) = self.serving_model()? {
            let origin = self.origin(&model)?;
            self.make_vector_file(&model, &origin, &path)?;
            return Ok(());
        }
        *self.vectors.borrow_mut() = None;
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Reports whether few vectors were added after the file was written. It
    /// compares their numbers, which may have gaps but need no counting.
    fn is_fresh_enough(&self, file: &VectorFile, limit: StalenessLimit) -> Result<bool> {
        Ok(self.newest_vector()? - file.upto() <= limit.of(file))
    }

    /// Returns the number of the newest vector; 0 if there is none.
    fn newest_vector(&self) -> Result<i64> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT coalesce(max(id), 0) FROM embeddings")?
                .query_row([], |row| row.get(0))
        })
    }

    /// Reports whether most vectors in the file still exist.
    fn holds_little_else(
        &self,
        model: &Model,
        file: &VectorFile,
        limit: StalenessLimit,
    ) -> Result<bool> {
        let left: i64 = self.with(|connection| {
            connection.query_row(
                "SELECT count(*) FROM embeddings WHERE id <= ?1 AND model = ?2",
                params![file.upto(), model.number],
                |row| row.get(0),
            )
        })?;
        Ok(file.len() as i64 - left <= limit.of(file))
    }

    fn make_vector_file(&self, model: &Model, origin: &Origin, path: &Path) -> Result<VectorFile> {
        let written = self.fill_vector_file(model, |upto, vectors| {
            VectorFile::write(path, origin, upto, vectors)
        });
        match written {
            // A search must work even if the folder cannot be written.
            Err(Error::Io { .. }) => self.fill_vector_file(model, |upto, vectors| {
                VectorFile::in_memory(origin, upto, vectors)
            }),
            other => other,
        }
    }

    fn fill_vector_file<T>(
        &self,
        model: &Model,
        fill: impl FnOnce(i64, &mut dyn Iterator<Item = Result<(Slot, Vec<f32>)>>) -> Result<T>,
    ) -> Result<T> {
        let upto = self.newest_vector()?;
        self.each_vector(model, upto, |vectors| fill(upto, vectors))
    }

    /// Passes all vectors of a model up to a given one to `take`, document by
    /// document.
    fn each_vector<T>(
        &self,
        model: &Model,
        upto: i64,
        take: impl FnOnce(&mut dyn Iterator<Item = Result<(Slot, Vec<f32>)>>) -> Result<T>,
    ) -> Result<T> {
        let mut statement = self
            .connection
            .prepare(IN_ORDER)
            .map_err(|source| self.error(&source))?;
        let rows = statement
            .query_map(params![model.number, upto], |row| {
                let slot = Slot {
                    chunk: row.get(0)?,
                    document: row.get(1)?,
                };
                Ok((slot, vector_from(row.get_ref(2)?.as_blob()?)))
            })
            .map_err(|source| self.error(&source))?;
        let mut rows = rows.map(|row| row.map_err(|source| self.error(&source)));
        take(&mut rows)
    }

    fn origin(&self, model: &Model) -> Result<Origin> {
        let generation: String = self.with(|connection| {
            connection
                .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
                .query_row([], |row| row.get(0))
        })?;
        let mut bytes = [0; 16];
        for (byte, digits) in bytes.iter_mut().zip(generation.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
        }
        Ok(Origin {
            model: model.serving.key.clone(),
            dimensions: model.serving.dimensions,
            generation: bytes,
        })
    }
}

impl StalenessLimit {
    /// Returns how many vectors a file may lack, or have in excess.
    fn of(self, file: &VectorFile) -> i64 {
        self.least.max((file.len() as f64 * self.part) as i64)
    }
}

/// Returns the path of an index's vector file.
pub(super) fn vector_path(index: &Path) -> PathBuf {
    index.with_extension("vectors")
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
