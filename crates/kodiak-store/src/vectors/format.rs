//! The layout of the vector file. All numbers are little-endian.
//!
//! ```text
//! header      128 bytes
//! matrix      groups of 4096 vectors, the last with as many as are left:
//!   codes       the high halves of each row's bytes, padded to whole cache lines
//!   residuals   the low halves, padded in the same way
//!   error bounds two f32 per row: how far its code may be from it
//! chunks      i64 per vector
//! documents   i64 per document, ascending
//! starts      u32 per document: its first vector
//! scales      f32 per vector
//! ```
//!
//! A scan reads the codes and little else, so they lie together. They do so
//! only within groups, so that a writer holds no more than one group in memory.
//! The arrays come last because their length is known last. The header has a
//! checksum of itself and one of the arrays.

use std::ops::Range;

use super::Origin;

/// The length of the header. It is a multiple of a cache line, so that the
/// matrix begins on one.
pub(super) const HEADER: usize = 128;
/// The length of a cache line. Halves of rows are padded to it, so that each
/// begins on one and kernels have no remainder to handle.
const LINE: usize = 64;
/// The number of vectors whose codes lie together. Large enough for long
/// sequential reads; small enough for a writer to hold in memory (1.6 MB at 384
/// dimensions).
pub(super) const GROUP: usize = 4096;
/// The two numbers of an encoded `ErrorBound`.
pub(super) type ErrorBoundBytes = [[u8; 4]; 2];
const ERROR_BOUND_BYTES: usize = size_of::<ErrorBoundBytes>();
/// The most dimensions a vector may have: a sum of this many products still
/// fits 32 bits.
pub(super) const MAX_DIMENSIONS: usize = 1 << 16;

/// The first bytes of every vector file.
const MAGIC: [u8; 8] = *b"kodiakV\n";
/// The version of the layout. A file of another version is rebuilt.
const VERSION: u32 = 2;

/// A shortened BLAKE3 hash.
pub(super) type Checksum = [u8; 16];

/// Returns the hash of some bytes. It is shortened because it only guards
/// against accidents.
pub(super) fn checksum(bytes: &[u8]) -> Checksum {
    shortened(&blake3::hash(bytes))
}

pub(super) fn shortened(hash: &blake3::Hash) -> Checksum {
    let mut short = Checksum::default();
    short.copy_from_slice(&hash.as_bytes()[..16]);
    short
}

/// Returns the padded length of half a row. It is never 0, even for empty
/// vectors.
pub(super) fn stride(dimensions: usize) -> usize {
    dimensions.max(1).div_ceil(2).next_multiple_of(LINE)
}

/// The header of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) dimensions: u32,
    pub(super) vectors: u64,
    pub(super) documents: u64,
    pub(super) upto: i64,
    pub(super) generation: [u8; 16],
    /// A hash of the model's key, so that the header's length is fixed.
    pub(super) model: Checksum,
    /// The checksum of all arrays together.
    pub(super) arrays: Checksum,
}

impl Header {
    pub(super) fn encode(&self) -> [u8; HEADER] {
        let mut fields = Vec::with_capacity(HEADER);
        fields.extend(MAGIC);
        fields.extend(VERSION.to_le_bytes());
        fields.extend(self.dimensions.to_le_bytes());
        fields.extend(self.vectors.to_le_bytes());
        fields.extend(self.documents.to_le_bytes());
        fields.extend(self.upto.to_le_bytes());
        fields.extend(self.generation);
        fields.extend(self.model);
        fields.extend(self.arrays);
        let mut bytes = [0; HEADER];
        bytes[..fields.len()].copy_from_slice(&fields);
        let (covered, own) = bytes.split_at_mut(HEADER - size_of::<Checksum>());
        own.copy_from_slice(&checksum(covered));
        bytes
    }

    /// Reads a header. The error describes the damage.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        let header = bytes.get(..HEADER).ok_or("it is shorter than its header")?;
        let mut fields = Fields(header);
        if fields.take() != MAGIC {
            return Err("it does not begin as a vector file does".to_owned());
        }
        let version = u32::from_le_bytes(fields.take());
        let (covered, own) = header.split_at(HEADER - size_of::<Checksum>());
        if own != checksum(covered) {
            return Err("its header has changed".to_owned());
        }
        if version != VERSION {
            return Err(format!("it has format {version}, not {VERSION}"));
        }
        Ok(Self {
            dimensions: u32::from_le_bytes(fields.take()),
            vectors: u64::from_le_bytes(fields.take()),
            documents: u64::from_le_bytes(fields.take()),
            upto: i64::from_le_bytes(fields.take()),
            generation: fields.take(),
            model: fields.take(),
            arrays: fields.take(),
        })
    }

    pub(super) fn is_of(&self, origin: &Origin) -> bool {
        self.dimensions as usize == origin.dimensions
            && self.generation == origin.generation
            && self.model == checksum(origin.model.as_bytes())
    }
}

/// A cursor over the fields of a header.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    /// Takes the next field. All fields together are shorter than a header.
    fn take<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        match self.0.split_first_chunk() {
            Some((field, rest)) => {
                self.0 = rest;
                *field
            }
            None => [0; LENGTH],
        }
    }
}

/// The position of every section in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The padded length of half a row.
    stride: usize,
    vectors: usize,
    matrix: Range<usize>,
    pub(super) chunks: Range<usize>,
    pub(super) documents: Range<usize>,
    pub(super) starts: Range<usize>,
    pub(super) scales: Range<usize>,
}

impl Layout {
    /// Computes the layout. Returns `None` if the numbers in the header exceed
    /// any possible file.
    pub(super) fn of(header: &Header) -> Option<Self> {
        let vectors = usize::try_from(header.vectors).ok()?;
        let documents = usize::try_from(header.documents).ok()?;
        let stride = stride(header.dimensions as usize);
        let mut end = HEADER;
        let mut section = |count: usize, size: usize| {
            let start = end;
            end = start.checked_add(count.checked_mul(size)?)?;
            Some(start..end)
        };
        Some(Self {
            stride,
            vectors,
            matrix: section(vectors, 2 * stride + ERROR_BOUND_BYTES)?,
            chunks: section(vectors, size_of::<i64>())?,
            documents: section(documents, size_of::<i64>())?,
            starts: section(documents, size_of::<u32>())?,
            scales: section(vectors, size_of::<f32>())?,
        })
    }

    /// Returns where the codes of some rows are; the rows lie in one group.
    pub(super) fn codes(&self, rows: &Range<usize>) -> Range<usize> {
        let group = self.group(rows.start);
        group.part(0, self.stride, rows)
    }

    /// Returns where the residual of a row is.
    pub(super) fn residual(&self, at: usize) -> Range<usize> {
        let group = self.group(at);
        group.part(group.rows * self.stride, self.stride, &(at..at + 1))
    }

    /// Returns where the error bounds of some rows are; the rows lie in one
    /// group.
    pub(super) fn error_bounds(&self, rows: &Range<usize>) -> Range<usize> {
        let group = self.group(rows.start);
        group.part(group.rows * 2 * self.stride, ERROR_BOUND_BYTES, rows)
    }

    /// Returns the group that contains a row.
    fn group(&self, at: usize) -> Group {
        let first = at / GROUP * GROUP;
        Group {
            first,
            rows: self.vectors.saturating_sub(first).min(GROUP),
            start: self.matrix.start + first * (2 * self.stride + ERROR_BOUND_BYTES),
        }
    }

    /// Returns where the arrays are: everything after the matrix.
    pub(super) fn arrays(&self) -> Range<usize> {
        self.chunks.start..self.scales.end
    }

    /// Returns the length of the file.
    pub(super) fn end(&self) -> usize {
        self.scales.end
    }
}

/// A group of rows in the matrix.
struct Group {
    /// The first row of the group.
    first: usize,
    rows: usize,
    /// The offset of the group in the file.
    start: usize,
}

impl Group {
    /// Returns where the entries of some rows are, in a section of the group
    /// that begins at the offset `behind` and has `size` bytes per row.
    fn part(&self, behind: usize, size: usize, rows: &Range<usize>) -> Range<usize> {
        let row = |at: usize| self.start + behind + (at - self.first) * size;
        row(rows.start)..row(rows.end)
    }
}
