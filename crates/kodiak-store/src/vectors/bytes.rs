//! The content of a file, mapped or owned. One of the two unsafe parts of
//! `vectors`; the other is `kernel`.

use std::fs::File;
use std::ops::Deref;

use memmap2::Mmap;

/// Bytes that do not change while they are read.
pub(super) enum Bytes {
    Mapped(Mmap),
    Owned(Vec<u8>),
}

impl Bytes {
    /// Maps a complete vector file. Its pages are loaded as they are read.
    #[expect(unsafe_code, reason = "a mapped file can change under its reader")]
    pub(super) fn map(file: &File) -> std::io::Result<Self> {
        // SAFETY: Kodiak never writes to a vector file under its final name and
        // never truncates it: the file is filled under a name that no reader
        // opens and then renamed over the old one, which stays intact for those
        // who have it mapped. If another program writes into the file, numbers
        // change, and none of them is trusted to be in bounds. If another
        // program truncates it, the process ends with SIGBUS, as with any
        // mapped file.
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
