//! Reading the lines of a file that may be large, torn or compressed.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The longest line that is read. An image of ten megabytes is shorter.
const MAX_LINE_BYTES: usize = 64 << 20;
const BUFFER: usize = 1 << 17;

/// The lines of a file, one at a time.
pub(super) struct Lines {
    reader: Box<dyn BufRead>,
    line: Vec<u8>,
    /// Where the next line begins.
    offset: u64,
}

/// One line.
pub(super) struct Line<'a> {
    /// Its bytes, without the line break; empty if it is too long.
    pub(super) bytes: &'a [u8],
    /// Where it begins.
    pub(super) offset: u64,
    /// Where the next one begins.
    pub(super) end: u64,
    /// Whether it ends with a line break.
    pub(super) complete: bool,
    /// Whether it is too long to be read.
    pub(super) too_long: bool,
}

impl Lines {
    /// Opens a file at a position. A compressed file is read from its beginning.
    pub(super) fn open(path: &Path, offset: u64) -> io::Result<Self> {
        let mut file = kodiak_base::files::open(path)?;
        let reader: Box<dyn BufRead> = if is_compressed(path) {
            let decoder = ruzstd::decoding::StreamingDecoder::new(BufReader::new(file))
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            Box::new(BufReader::with_capacity(BUFFER, decoder))
        } else {
            file.seek(SeekFrom::Start(offset))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        Ok(Self {
            reader,
            line: Vec::new(),
            offset,
        })
    }

    /// Returns the next line.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let offset = self.offset;
        let (mut complete, mut too_long) = (false, false);
        while !complete {
            let buffer = match self.reader.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                break;
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if self.line.len() + part.len() > MAX_LINE_BYTES {
                too_long = true;
                self.line.clear();
                self.line.shrink_to(BUFFER);
            } else if !too_long {
                self.line.extend_from_slice(part);
            }
            complete = end.is_some();
            let used = part.len() + usize::from(complete);
            self.reader.consume(used);
            self.offset += used as u64;
        }
        if self.offset == offset {
            return Ok(None);
        }
        Ok(Some(Line {
            bytes: self.line.strip_suffix(b"\r").unwrap_or(&self.line),
            offset,
            end: self.offset,
            complete,
            too_long,
        }))
    }
}

/// Reports whether a file is compressed, by its name.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

/// Returns a hash of the beginning of a file and of the bytes right before `offset`, or
/// `None` if the file is shorter. While it stays the same, a file that is only appended to
/// has not changed before `offset`.
pub(super) fn fingerprint(path: &Path, offset: u64) -> Option<[u8; 16]> {
    const PART: u64 = 4096;
    let mut file = kodiak_base::files::open(path).ok()?;
    if file.metadata().ok()?.len() < offset {
        return None;
    }
    let mut hasher = blake3::Hasher::new();
    for start in [0, offset.saturating_sub(PART)] {
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut part = Vec::new();
        let length = PART.min(offset - start);
        Read::by_ref(&mut file)
            .take(length)
            .read_to_end(&mut part)
            .ok()?;
        hasher.update(&part);
    }
    hasher.update(&offset.to_le_bytes());
    let mut hash = [0; 16];
    hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    Some(hash)
}
