//! Copying and reading files while computing their SHA-256.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use kodiak_base::hex;

/// The size and the hash of a file's content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) bytes: u64,
    /// The hash in lower-case hexadecimal.
    pub(super) sha256: String,
}

/// The reason why a copy failed.
#[derive(Debug)]
pub(super) enum CopyError {
    Reading(io::Error),
    Writing(io::Error),
    /// The source had more bytes than allowed.
    TooLarge,
}

/// Returns the size and the hash of a file.
pub(super) fn of_file(path: &Path) -> io::Result<Content> {
    let mut file = kodiak_base::files::open(path)?;
    match transfer(&mut file, &mut io::sink(), u64::MAX) {
        Ok(content) => Ok(content),
        Err(CopyError::Reading(error) | CopyError::Writing(error)) => Err(error),
        Err(CopyError::TooLarge) => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

/// Copies at most `most` bytes into a new file at `target` and syncs it to
/// disk.
pub(super) fn copy(
    from: &mut dyn Read,
    target: &Path,
    most: u64,
) -> std::result::Result<Content, CopyError> {
    let mut file = File::create_new(target).map_err(CopyError::Writing)?;
    let content = transfer(from, &mut file, most)?;
    file.sync_all().map_err(CopyError::Writing)?;
    Ok(content)
}

fn transfer(
    from: &mut dyn Read,
    to: &mut dyn Write,
    most: u64,
) -> std::result::Result<Content, CopyError> {
    let mut hasher = Sha256::new();
    let mut bytes = 0;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(CopyError::Reading(error)),
        };
        bytes += read as u64;
        if bytes > most {
            return Err(CopyError::TooLarge);
        }
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(CopyError::Writing)?;
    }
    let sha256 = hex(&hasher.finalize());
    Ok(Content { bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_copied_is_what_was_hashed() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("copy");
        let copied = copy(&mut &b"abc"[..], &target, 3).unwrap();
        assert_eq!(copied.bytes, 3);
        assert_eq!(
            copied.sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(of_file(&target).unwrap(), copied);
        let again = copy(&mut &b"abc"[..], &target, 3).unwrap_err();
        assert!(matches!(again, CopyError::Writing(_)), "{again:?}");
    }

    #[test]
    fn no_more_is_copied_than_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let mut endless = io::repeat(7);
        let refused = copy(&mut endless, &folder.path().join("copy"), 1 << 20).unwrap_err();
        assert!(matches!(refused, CopyError::TooLarge));
    }
}
