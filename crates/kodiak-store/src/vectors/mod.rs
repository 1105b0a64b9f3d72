//! The vector file: a copy of all vectors in eight bits, made for scanning.
//!
//! The index keeps vectors in full precision, but reading them from the
//! database for every query is slow. This file is derived from them, mapped
//! into memory and scanned from end to end: exact, without a graph, in a few
//! milliseconds for 100,000 vectors. If it is missing, outdated or damaged, it
//! is rebuilt. The caller decides when to rebuild it, and rescores the best
//! hits in full precision.
//!
//! A scan is bound by memory bandwidth. It therefore reads only the high four
//! bits of every component, and the low four bits only where the high ones
//! cannot rule out that a vector is among the nearest. The result is the same
//! as if it had read all eight.
//!
//! * `format` lays the file out, `write` fills it, `update` says what one becomes when a few
//!   vectors have changed, `bytes` maps it;
//! * `quantise` turns vectors into small integers, `kernel` multiplies them;
//! * `coarse_code` splits rows into halves and bounds what the first half
//!   loses;
//! * `scan` searches for the nearest, `best` keeps them, `bitmap` is the set of
//!   allowed documents;
//! * `knn` finds neighbours among a few hundred vectors in memory.

mod best;
mod bitmap;
mod bytes;
mod coarse_code;
mod format;
mod kernel;
mod knn;
mod quantise;
mod scan;
mod update;
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use crate::Row;
use kodiak_base::error::{Error, Result};

pub use best::KnnHit;
pub use bitmap::Bitmap;
pub use knn::k_nearest_among;
pub use quantise::{QuantizedQuery, rounded};
pub use update::Content;

use kernel::Kernel;

use bytes::Bytes;
use format::{ErrorBoundBytes, Header, Layout};

/// The owner of one vector: a chunk and its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The chunk's number in the index.
    pub chunk: i64,
    /// The document that the chunk belongs to.
    pub document: Row,
}

/// The origin of a file. A file is used only if all of it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The model's key: its name and revision.
    pub model: String,
    /// The number of components of the model's vectors.
    pub dimensions: usize,
    /// The generation of the index. Another generation numbers its rows
    /// differently.
    pub generation: [u8; 16],
}

/// Vectors in eight bits, sorted by document and chunk.
pub struct VectorFile {
    bytes: Bytes,
    layout: Layout,
    dimensions: usize,
    upto: i64,
}

impl VectorFile {
    /// Writes the file at `path` and opens it. An existing file stays in place
    /// until the new one is complete, and stays readable for those who have it
    /// open.
    ///
    /// `upto` is the last embedding that the file covers. The vectors must come
    /// sorted by document and chunk, each once, so that a million of them need
    /// not be held in memory. Any other order is an error.
    pub fn write<'v, V: Into<Content<'v>>, E: From<Error>>(
        path: &Path,
        origin: &Origin,
        upto: i64,
        vectors: impl Iterator<Item = Result<(Slot, V), E>>,
    ) -> Result<Self, E> {
        let (file, header) = write::replace(path, origin, upto, vectors)?;
        let bytes = Bytes::map(&file).map_err(Error::io("map", path))?;
        Ok(Self::assemble(bytes, &header, path)?)
    }

    /// Builds the content of a vector file in memory, for an index whose folder cannot be
    /// written. The arguments are the same as for [`VectorFile::write`].
    pub fn in_memory<'v, V: Into<Content<'v>>, E: From<Error>>(
        origin: &Origin,
        upto: i64,
        vectors: impl Iterator<Item = Result<(Slot, V), E>>,
    ) -> Result<Self, E> {
        let path = Path::new("(in memory)");
        let (bytes, header) = write::collect(path, origin, upto, vectors)?;
        Ok(Self::assemble(Bytes::Owned(bytes), &header, path)?)
    }

    /// Opens the file at `path`. Returns `None` if there is no file or if it
    /// has another origin; a damaged file is an error. The matrix is not
    /// verified: it is nearly all of the file, and a wrong bit there only
    /// shifts a vector. [`VectorFile::holds`] verifies one row.
    pub fn open(path: &Path, origin: &Origin) -> Result<Option<Self>> {
        let file = match kodiak_base::files::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Err(damaged(path, "it is not a file"));
            }
            Err(error) => return Err(Error::io("open", path)(error)),
        };
        let metadata = file.metadata().map_err(Error::io("read", path))?;
        if metadata.len() < format::HEADER as u64 {
            return Err(damaged(path, "it is shorter than its header"));
        }
        let bytes = Bytes::map(&file).map_err(Error::io("map", path))?;
        let header = Header::decode(&bytes).map_err(|detail| damaged(path, detail))?;
        if !header.is_of(origin) {
            return Ok(None);
        }
        let opened = Self::assemble(bytes, &header, path)?;
        if header.arrays != format::checksum(&opened.bytes[opened.layout.arrays()]) {
            return Err(damaged(path, "its list of documents has changed"));
        }
        Ok(Some(opened))
    }

    /// Combines header and content, and checks that their lengths agree.
    fn assemble(bytes: Bytes, header: &Header, path: &Path) -> Result<Self> {
        let layout =
            Layout::of(header).ok_or_else(|| damaged(path, "it is longer than a file can be"))?;
        if layout.end() != bytes.len() {
            let detail = format!("it has {} bytes, not {}", bytes.len(), layout.end());
            return Err(damaged(path, detail));
        }
        Ok(Self {
            bytes,
            layout,
            dimensions: header.dimensions as usize,
            upto: header.upto,
        })
    }

    /// Returns the last embedding that the file covers. Later ones are not in
    /// it.
    pub fn upto(&self) -> i64 {
        self.upto
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.chunks().len()
    }

    /// Reports whether the file has no vectors.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the chunk and the document of a row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn slot(&self, at: usize) -> Slot {
        Slot {
            chunk: i64::from_le_bytes(self.chunks()[at]),
            document: self.document(self.run_at(at)),
        }
    }

    /// Returns the rows of a document's chunks; an empty range if the document
    /// is not in the file.
    pub fn of_document(&self, document: Row) -> Range<usize> {
        let found = self
            .documents()
            .binary_search_by_key(&document, |&row| i64::from_le_bytes(row));
        found.map_or(0..0, |run| self.run(run))
    }

    /// Returns the row of a chunk, or `None` if the chunk is not in the file.
    pub fn row_of(&self, slot: Slot) -> Option<usize> {
        let rows = self.of_document(slot.document);
        let chunks = &self.chunks()[rows.clone()];
        let found = chunks.binary_search_by_key(&slot.chunk, |&chunk| i64::from_le_bytes(chunk));
        found.ok().map(|at| rows.start + at)
    }

    /// Returns the cosine of a row and a query, to eight-bit precision; 0 for a
    /// query with another number of dimensions.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn similarity(&self, at: usize, query: &QuantizedQuery) -> f32 {
        if query.dimensions() != self.dimensions {
            return 0.0;
        }
        self.exact(Kernel::detect(), at, query)
    }

    /// Returns the sum of the vectors at some rows, to eight-bit precision.
    ///
    /// # Panics
    ///
    /// If one of the rows does not exist.
    pub fn sum(&self, rows: Range<usize>) -> Vec<f32> {
        let mut sum = vec![0.0; 2 * format::stride(self.dimensions)];
        for at in rows {
            let scale = f32::from_le_bytes(self.scales()[at]);
            let code = self.codes(&(at..at + 1));
            coarse_code::add(code, self.residual(at), scale, &mut sum);
        }
        sum.truncate(self.dimensions);
        sum
    }

    /// Returns the cosine of a row and a query with the same number of
    /// dimensions.
    #[inline]
    fn exact(&self, kernel: Kernel, at: usize, query: &QuantizedQuery) -> f32 {
        let scale = f32::from_le_bytes(self.scales()[at]);
        let code = self.codes(&(at..at + 1));
        kernel.product(code, self.residual(at), query) as f32 * scale * query.scale
    }

    /// Returns the codes of some rows, which lie in one group.
    fn codes(&self, rows: &Range<usize>) -> &[u8] {
        &self.bytes[self.layout.codes(rows)]
    }

    /// Returns the residual of a row: the difference from its code.
    fn residual(&self, at: usize) -> &[u8] {
        &self.bytes[self.layout.residual(at)]
    }

    /// Returns the error bounds of some rows, which lie in one group.
    fn error_bounds(&self, rows: &Range<usize>) -> &[ErrorBoundBytes] {
        let numbers = self.bytes[self.layout.error_bounds(rows)].as_chunks().0;
        numbers.as_chunks().0
    }

    /// Returns the factor of each row that scales it to length one.
    fn scales(&self) -> &[[u8; 4]] {
        self.bytes[self.layout.scales.clone()].as_chunks().0
    }

    /// Returns the chunk of each row.
    fn chunks(&self) -> &[[u8; 8]] {
        self.bytes[self.layout.chunks.clone()].as_chunks().0
    }

    /// Returns the documents in ascending order, each once.
    fn documents(&self) -> &[[u8; 8]] {
        self.bytes[self.layout.documents.clone()].as_chunks().0
    }

    /// Returns the first row of each document.
    fn starts(&self) -> &[[u8; 4]] {
        self.bytes[self.layout.starts.clone()].as_chunks().0
    }

    /// Returns the document at a position among the documents.
    fn document(&self, run: usize) -> Row {
        i64::from_le_bytes(self.documents()[run])
    }

    /// Returns the rows of the document at a position among the documents.
    fn run(&self, run: usize) -> Range<usize> {
        let starts = self.starts();
        let start_of = |bytes: [u8; 4]| u32::from_le_bytes(bytes) as usize;
        let end = starts
            .get(run + 1)
            .map_or(self.len(), |&next| start_of(next));
        start_of(starts[run])..end
    }

    /// Returns the position of the document that owns a row.
    fn run_at(&self, at: usize) -> usize {
        run_in(self.starts(), at)
    }

    /// Returns the position of the document that owns a row, given that it is
    /// not before the document at `run`. The closer it is, the faster it is
    /// found.
    fn run_after(&self, run: usize, at: usize) -> usize {
        let starts = &self.starts()[run..];
        // Every document has at least one row, so the search can stop there.
        let between = at - self.run(run).start;
        run + run_in(&starts[..starts.len().min(between + 1)], at)
    }
}

/// Returns the position of the last document that starts at or before a row.
fn run_in(starts: &[[u8; 4]], at: usize) -> usize {
    let after = starts.partition_point(|&start| u32::from_le_bytes(start) as usize <= at);
    // The first document starts at 0, so there always is one.
    after.saturating_sub(1)
}

impl fmt::Debug for VectorFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("VectorFile")
            .field("len", &self.len())
            .field("dimensions", &self.dimensions)
            .field("upto", &self.upto)
            .finish_non_exhaustive()
    }
}

/// Makes the error for a file that cannot be used or cannot be written.
fn damaged(path: &Path, detail: impl Into<String>) -> Error {
    Error::VectorFile {
        path: path.to_path_buf(),
        detail: detail.into(),
    }
}
