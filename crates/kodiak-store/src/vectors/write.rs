//! Writing the vector file: rows as they come, a group at a time, then the
//! arrays, then the header.

use std::fs::File;
use std::io::{BufWriter, Cursor, Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use super::coarse_code::{self, ErrorBound};
use super::format::{self, GROUP, HEADER, Header, MAX_DIMENSIONS};
use super::quantise::{ROW_TOP, quantise};
use super::{Content, Origin, Slot, VectorFile, damaged};
use kodiak_base::error::{Error, Result};
use kodiak_base::files::left_over::remove_left_over;
use kodiak_base::files::{self, Folder, Rights, Temporary};

/// The ending of the names of unfinished files of earlier versions.
const UNFINISHED: &str = ".unfinished";
/// The age after which an unfinished file has lost its writer.
const ABANDONED: Duration = Duration::from_hours(1);
/// The number of bytes that are handed to the system at once.
const BUFFER: usize = 1 << 18;

/// Writes a file under another name and renames it to `path`.
pub(super) fn replace<'v, V: Into<Content<'v>>, E: From<Error>>(
    path: &Path,
    origin: &Origin,
    upto: i64,
    vectors: impl Iterator<Item = Result<(Slot, V), E>>,
) -> Result<(File, Header), E> {
    remove_abandoned(path);
    let failed = || Error::io("create", path);
    let (folder, name) = files::divided(path).map_err(failed())?;
    let folder = Folder::root(folder).map_err(failed())?;
    remove_left_over(&folder);
    let temporary = Temporary::create(&folder, &Rights::Owner).map_err(failed())?;
    let mut output = BufWriter::with_capacity(BUFFER, temporary.file());
    let header = encode(&mut output, path, origin, upto, vectors)?;
    drop(output);
    let placed = temporary
        .complete()
        .and_then(|complete| complete.replace(name));
    let file = placed.map_err(Error::io("replace", path))?;
    Ok((file, header))
}

/// Builds the content of a file in memory.
pub(super) fn collect<'v, V: Into<Content<'v>>, E: From<Error>>(
    path: &Path,
    origin: &Origin,
    upto: i64,
    vectors: impl Iterator<Item = Result<(Slot, V), E>>,
) -> Result<(Vec<u8>, Header), E> {
    let mut output = Cursor::new(Vec::new());
    let header = encode(&mut output, path, origin, upto, vectors)?;
    Ok((output.into_inner(), header))
}

/// Writes a whole file to `output`. Errors name `path`.
fn encode<'v, V: Into<Content<'v>>, E: From<Error>>(
    output: &mut (impl Write + Seek),
    path: &Path,
    origin: &Origin,
    upto: i64,
    vectors: impl Iterator<Item = Result<(Slot, V), E>>,
) -> Result<Header, E> {
    if origin.dimensions > MAX_DIMENSIONS {
        let detail = format!(
            "vectors of {} dimensions are longer than {MAX_DIMENSIONS}",
            origin.dimensions
        );
        return Err(damaged(path, detail).into());
    }
    let failed = || Error::io("write", path);
    output.write_all(&[0; HEADER]).map_err(failed())?;
    let mut arrays = Arrays::default();
    let mut group = Group::default();
    for vector in vectors {
        let (slot, vector) = vector?;
        let vector = vector.into();
        let dimensions = vector.dimensions();
        if dimensions != origin.dimensions {
            let detail = format!(
                "the vector of chunk {} has {dimensions} dimensions, not {}",
                slot.chunk, origin.dimensions
            );
            return Err(damaged(path, detail).into());
        }
        let scale = match &vector {
            Content::Vector(vector) => group.push(vector),
            Content::Row(file, at) => group.copy(file, *at),
        };
        arrays
            .push(slot, scale)
            .map_err(|detail| damaged(path, detail))?;
        if group.rows == GROUP {
            group.write(output).map_err(failed())?;
        }
    }
    group.write(output).map_err(failed())?;
    let header = Header {
        dimensions: origin.dimensions as u32,
        vectors: arrays.chunks.len() as u64,
        documents: arrays.documents.len() as u64,
        upto,
        generation: origin.generation,
        model: format::checksum(origin.model.as_bytes()),
        arrays: arrays.write(output).map_err(failed())?,
    };
    output
        .seek(SeekFrom::Start(0))
        .and_then(|_| output.write_all(&header.encode()))
        .and_then(|()| output.flush())
        .map_err(failed())?;
    Ok(header)
}

impl VectorFile {
    /// Reports whether a row equals the one that would be written for `vector`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn holds(&self, at: usize, vector: &[f32]) -> bool {
        let mut group = Group::default();
        let scale = group.push(vector);
        let row = at..at + 1;
        vector.len() == self.dimensions
            && self.scales()[at] == scale.to_le_bytes()
            && self.codes(&row) == group.codes
            && self.residual(at) == group.residuals
            && self.error_bounds(&row).as_flattened().as_flattened() == group.error_bounds
    }
}

/// The rows of the group that is not written yet.
#[derive(Default)]
struct Group {
    rows: usize,
    codes: Vec<u8>,
    residuals: Vec<u8>,
    error_bounds: Vec<u8>,
    /// Buffers for the values and the row of one vector, kept to save
    /// allocations.
    values: Vec<i16>,
    row: Vec<i8>,
}

impl Group {
    /// Adds a vector and returns its scale.
    fn push(&mut self, vector: &[f32]) -> f32 {
        let scale = quantise(vector, ROW_TOP, &mut self.values);
        self.row.clear();
        // The values fit a byte: that is what `ROW_TOP` means.
        self.row
            .extend(self.values.iter().map(|&value| value as i8));
        self.rows += 1;
        coarse_code::split(&self.row, &mut self.codes, &mut self.residuals);
        self.error_bounds
            .extend(ErrorBound::of(&self.row).encode().as_flattened());
        scale
    }

    /// Adds a row of another file as it is, and returns its scale.
    fn copy(&mut self, file: &VectorFile, at: usize) -> f32 {
        let row = at..at + 1;
        self.rows += 1;
        self.codes.extend(file.codes(&row));
        self.residuals.extend(file.residual(at));
        let bounds = file.error_bounds(&row);
        self.error_bounds
            .extend(bounds.as_flattened().as_flattened());
        f32::from_le_bytes(file.scales()[at])
    }

    /// Writes the rows, if any, and starts an empty group.
    fn write(&mut self, output: &mut impl Write) -> std::io::Result<()> {
        for part in [&mut self.codes, &mut self.residuals, &mut self.error_bounds] {
            output.write_all(part)?;
            part.clear();
        }
        self.rows = 0;
        Ok(())
    }
}

/// The arrays that follow the matrix. They are held while the rows are written.
#[derive(Default)]
struct Arrays {
    chunks: Vec<i64>,
    documents: Vec<i64>,
    starts: Vec<u32>,
    scales: Vec<f32>,
}

impl Arrays {
    fn push(&mut self, slot: Slot, scale: f32) -> Result<(), String> {
        let last = self.documents.last().zip(self.chunks.last());
        if let Some((&document, &chunk)) = last
            && (slot.document, slot.chunk) <= (document, chunk)
        {
            return Err(format!(
                "chunk {} of document {} came after chunk {chunk} of document {document}",
                slot.chunk, slot.document
            ));
        }
        if self.documents.last() != Some(&slot.document) {
            let start = u32::try_from(self.chunks.len())
                .map_err(|_| format!("more than {} vectors", u32::MAX))?;
            self.documents.push(slot.document);
            self.starts.push(start);
        }
        self.chunks.push(slot.chunk);
        self.scales.push(scale);
        Ok(())
    }

    /// Writes all arrays in their order and returns their checksum.
    fn write(&self, output: &mut impl Write) -> std::io::Result<format::Checksum> {
        let mut sum = blake3::Hasher::new();
        let chunks = self.chunks.iter().map(|chunk| chunk.to_le_bytes());
        write_array(output, &mut sum, chunks)?;
        let documents = self.documents.iter().map(|row| row.to_le_bytes());
        write_array(output, &mut sum, documents)?;
        let starts = self.starts.iter().map(|start| start.to_le_bytes());
        write_array(output, &mut sum, starts)?;
        let scales = self.scales.iter().map(|scale| scale.to_le_bytes());
        write_array(output, &mut sum, scales)?;
        Ok(format::shortened(&sum.finalize()))
    }
}

/// Writes an array in pieces, so that it is not in memory twice.
fn write_array<const SIZE: usize>(
    output: &mut impl Write,
    sum: &mut blake3::Hasher,
    numbers: impl Iterator<Item = [u8; SIZE]>,
) -> std::io::Result<()> {
    let mut piece = Vec::with_capacity(BUFFER);
    for number in numbers {
        piece.extend(number);
        if piece.len() + SIZE > BUFFER {
            sum.update(&piece);
            output.write_all(&piece)?;
            piece.clear();
        }
    }
    sum.update(&piece);
    output.write_all(&piece)
}

/// Removes files that killed processes of earlier versions have left beside `path`. A file
/// that cannot be removed only takes up space.
fn remove_abandoned(path: &Path) {
    let Some(name) = path.file_name() else {
        return;
    };
    let Ok(entries) = std::fs::read_dir(files::folder_of(path)) else {
        return;
    };
    for entry in entries.flatten() {
        let other = entry.file_name();
        let ours = other
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes())
            .is_some_and(|rest| rest.ends_with(UNFINISHED.as_bytes()));
        let abandoned = || {
            let modified = entry.metadata().ok()?.modified().ok()?;
            Some(modified.elapsed().ok()? > ABANDONED)
        };
        if ours && abandoned().unwrap_or(false) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}
