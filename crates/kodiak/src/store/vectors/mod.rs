//! Vectors to scan: a file beside the index with all of them in eight bits.
//!
//! The index keeps vectors in full; reading them out of it for every query is
//! slow. This file is derived from them, is mapped into memory, and is scanned
//! from end to end: exact, no graph, a few milliseconds for 100,000 vectors. It
//! can be missing, old or damaged and is then made again. When that happens,
//! and the comparison of the best in full precision, is the caller's.
//!
//! A scan waits for memory, so it reads only the first four bits of everything,
//! and the other four where the first do not rule out that a vector is among
//! the nearest. What it finds is the same as if it had read all eight.
//!
//! * `format` lays the file out, `write` fills it, `bytes` maps it;
//! * `quantise` turns vectors into small integers, `kernel` multiplies them;
//! * `coarse_code` cuts them in halves and knows what the first half rules out;
//! * `scan` looks for the nearest, `best` keeps them, `bitmap` says which
//!   documents may be found;
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
mod write;

#[cfg(test)]
mod tests;

use std::fmt;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::Path;

use crate::error::{Error, Result};
use crate::store::Row;

pub use best::KnnHit;
pub use bitmap::Bitmap;
pub use knn::k_nearest_among;
pub use quantise::QuantizedQuery;

use kernel::Kernel;

use bytes::Bytes;
use format::{ErrorBoundBytes, Header, Layout};

/// What one vector belongs to: which chunk of which document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The chunk's number in the index.
    pub chunk: i64,
    /// The document the chunk is of.
    pub document: Row,
}

/// What a file was made from. All of it must match for the file to be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The model's key: its name and revision.
    pub model: String,
    /// How long the model's vectors are.
    pub dimensions: usize,
    /// Which filling of the index: another one numbers its rows differently.
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
    /// Makes the file at `path` and opens it. What was there before stays until
    /// the new one is complete, and for those who have it open for longer.
    ///
    /// `upto` is the last embedding it covers. The vectors come sorted by
    /// document and chunk, each once, so that a million of them need not be
    /// held in memory; any other order is an error.
    pub fn write<E: From<Error>>(
        path: &Path,
        origin: &Origin,
        upto: i64,
        vectors: impl Iterator<Item = Result<(Slot, Vec<f32>), E>>,
    ) -> Result<Self, E> {
        let (file, header) = write::replace(path, origin, upto, vectors)?;
        let bytes = Bytes::map(&file).map_err(Error::io("map", path))?;
        Ok(Self::assemble(bytes, &header, path)?)
    }

    /// The same in memory, where the folder cannot be written.
    pub fn in_memory<E: From<Error>>(
        origin: &Origin,
        upto: i64,
        vectors: impl Iterator<Item = Result<(Slot, Vec<f32>), E>>,
    ) -> Result<Self, E> {
        let path = Path::new("(in memory)");
        let (bytes, header) = write::collect(path, origin, upto, vectors)?;
        Ok(Self::assemble(Bytes::Owned(bytes), &header, path)?)
    }

    /// Opens the file at `path`. `None` where there is none, or one of another
    /// origin; a damaged one is an error. Only the matrix is not looked at: it
    /// is nearly all of the file, and a wrong bit there only moves a vector.
    /// [`VectorFile::holds`] tells.
    pub fn open(path: &Path, origin: &Origin) -> Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", path)(error)),
        };
        let metadata = file.metadata().map_err(Error::io("read", path))?;
        if !metadata.is_file() {
            return Err(damaged(path, "it is no file"));
        }
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

    /// Puts header and content together, whose lengths must fit.
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

    /// The last embedding it covers; later ones are not in it.
    pub fn upto(&self) -> i64 {
        self.upto
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.chunks().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is at a row.
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

    /// The rows of a document's chunks; none for one that is not there.
    pub fn of_document(&self, document: Row) -> Range<usize> {
        let found = self
            .documents()
            .binary_search_by_key(&document, |&row| i64::from_le_bytes(row));
        found.map_or(0..0, |run| self.run(run))
    }

    /// The row of a chunk; `None` if it is not there.
    pub fn row_of(&self, slot: Slot) -> Option<usize> {
        let rows = self.of_document(slot.document);
        let chunks = &self.chunks()[rows.clone()];
        let found = chunks.binary_search_by_key(&slot.chunk, |&chunk| i64::from_le_bytes(chunk));
        found.ok().map(|at| rows.start + at)
    }

    /// The cosine of a row with a query, as near as eight bits come. A query
    /// of another length has nothing in common with it: 0.
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

    /// Adds the vectors at some rows up, as near as eight bits come.
    ///
    /// # Panics
    ///
    /// If there is no such row.
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

    /// The cosine of a row with a query of the same length.
    #[inline]
    fn exact(&self, kernel: Kernel, at: usize, query: &QuantizedQuery) -> f32 {
        let scale = f32::from_le_bytes(self.scales()[at]);
        let code = self.codes(&(at..at + 1));
        kernel.product(code, self.residual(at), query) as f32 * scale * query.scale
    }

    /// The codes at some rows of one group.
    fn codes(&self, rows: &Range<usize>) -> &[u8] {
        &self.bytes[self.layout.codes(rows)]
    }

    /// What the code at a row lacks.
    fn residual(&self, at: usize) -> &[u8] {
        &self.bytes[self.layout.residual(at)]
    }

    /// How the codes at some rows of one group fit their rows.
    fn error_bounds(&self, rows: &Range<usize>) -> &[ErrorBoundBytes] {
        let numbers = self.bytes[self.layout.error_bounds(rows)].as_chunks().0;
        numbers.as_chunks().0
    }

    /// What each row is multiplied with to have length one.
    fn scales(&self) -> &[[u8; 4]] {
        self.bytes[self.layout.scales.clone()].as_chunks().0
    }

    /// The chunk at each row.
    fn chunks(&self) -> &[[u8; 8]] {
        self.bytes[self.layout.chunks.clone()].as_chunks().0
    }

    /// The documents in ascending order, each once.
    fn documents(&self) -> &[[u8; 8]] {
        self.bytes[self.layout.documents.clone()].as_chunks().0
    }

    /// The first row of each document.
    fn starts(&self) -> &[[u8; 4]] {
        self.bytes[self.layout.starts.clone()].as_chunks().0
    }

    /// A document by its position among the documents.
    fn document(&self, run: usize) -> Row {
        i64::from_le_bytes(self.documents()[run])
    }

    /// The rows of a document, by its position among the documents.
    fn run(&self, run: usize) -> Range<usize> {
        let starts = self.starts();
        let start_of = |bytes: [u8; 4]| u32::from_le_bytes(bytes) as usize;
        let end = starts
            .get(run + 1)
            .map_or(self.len(), |&next| start_of(next));
        start_of(starts[run])..end
    }

    /// The position among the documents of the one that has a row.
    fn run_at(&self, at: usize) -> usize {
        run_in(self.starts(), at)
    }

    /// The same, if that document is not before the one at `run`; the sooner
    /// found the closer it is.
    fn run_after(&self, run: usize, at: usize) -> usize {
        let starts = &self.starts()[run..];
        // Every document has a row at least.
        let between = at - self.run(run).start;
        run + run_in(&starts[..starts.len().min(between + 1)], at)
    }
}

/// The last document that does not start behind a row.
fn run_in(starts: &[[u8; 4]], at: usize) -> usize {
    let after = starts.partition_point(|&start| u32::from_le_bytes(start) as usize <= at);
    // The first document starts at 0, so one always does not start later.
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

/// A file that cannot be used, or cannot be made from what was given.
fn damaged(path: &Path, detail: impl Into<String>) -> Error {
    Error::VectorFile {
        path: path.to_path_buf(),
        detail: detail.into(),
    }
}
