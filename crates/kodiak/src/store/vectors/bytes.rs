//! A file's content, mapped or owned: one of the two unsafe parts here.

use std::fs::File;
use std::ops::Deref;

use memmap2::Mmap;

/// Bytes that do not change while they are looked at.
pub(super) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a complete vector file. Pages come in as they are read.
    #[expect(unsafe_code, reason = "a mapped file can change under its reader")]
    pub(super) fn map(file: &File) -> std::io::Result<Self> {
        // SAFETY: Kodiak never writes to a vector file under its own name, nor
        // cuts it: it is filled under a name that no reader opens and then
        // renamed over the old one, which stays as it was for those who have it
        // mapped. A stranger who writes into the file changes numbers, of which
        // none is trusted to be in bounds; one who cuts it ends the process
        // with SIGBUS, as with any mapped file.
        let map = unsafe { Mmap::map(file)? };
        Ok(Self::Mapped(map))
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Mapped(map) => map,
            Self::Owned(bytes) => bytes,
        }
    }
}
