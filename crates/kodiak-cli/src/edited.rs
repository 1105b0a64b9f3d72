//! Copies of pages that are opened in an editor although they have no file: pages of a team,
//! which are rows of a database.
//!
//! A copy is in a private folder beside the index, under the id of its page. It is deleted
//! when the editor ends, stays if the changes could not be saved, and is erased with its page
//! if that is purged, also after the process that made it was killed.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kodiak::{DocumentId, Error, Result, files};

/// The name of the folder.
const FOLDER: &str = "edited";
/// The digits of a copy's own name.
const DIGITS: usize = 8;

/// A copy of a page. It is removed when dropped.
#[derive(Debug)]
pub(crate) struct EditedCopy {
    folder: Option<PathBuf>,
    path: PathBuf,
}

impl EditedCopy {
    /// Writes a copy of a page beside an index.
    pub(crate) fn write(index: &Path, (source, key): (&str, &str), text: &str) -> Result<Self> {
        let id = DocumentId::new(source, key).hex();
        let random = digits();
        let folder = index.with_file_name(FOLDER).join(format!("{id}-{random}"));
        let path = folder.join(Path::new(key).file_name().unwrap_or_default());
        files::replace(&path, text.as_bytes()).map_err(Error::io("write", &path))?;
        Ok(Self {
            folder: Some(folder),
            path,
        })
    }

    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves the copy where it is.
    pub(crate) fn keep(mut self) -> PathBuf {
        self.folder = None;
        self.path.clone()
    }
}

impl Drop for EditedCopy {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

/// Returns digits that no other copy has, as far as that can be told.
fn digits() -> String {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(std::process::id());
    let random = format!("{random:016x}");
    random[..DIGITS].to_owned()
}

/// Erases the copies of documents, each given by its source and its key.
pub(crate) fn erase(index: &Path, documents: &[(String, String)]) -> Result<()> {
    let above = index.with_file_name(FOLDER);
    let entries = match fs::read_dir(&above) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(Error::io("read", &above))?,
    };
    let ids = documents.iter();
    let ids: Vec<String> = ids
        .map(|(source, key)| DocumentId::new(source, key).hex())
        .collect();
    for entry in entries.flatten() {
        let name = entry.file_name();
        let of = name.to_str().and_then(|name| name.split_once('-'));
        if of.is_some_and(|(id, _)| ids.iter().any(|erased| erased == id)) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(Error::io("erase", &path))?;
        }
    }
    files::sync_folder(&above);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_private_and_erased_with_their_page() {
        let place = tempfile::tempdir().unwrap();
        let index = place.path().join("data/index.db");
        let page = ("pages", "sub/soup.md");
        let pair = |(source, key): (&str, &str)| (source.to_owned(), key.to_owned());
        erase(&index, &[pair(page)]).unwrap();
        let dropped = EditedCopy::write(&index, page, "one").unwrap();
        assert!(dropped.path().ends_with("soup.md"));
        let gone = dropped.path().to_owned();
        drop(dropped);
        assert!(!gone.exists());
        // Two that a killed process, or a failure, has left, and one of another page.
        let left = EditedCopy::write(&index, page, "two").unwrap().keep();
        let other = ("pages", "other.md");
        let stays = EditedCopy::write(&index, other, "three").unwrap().keep();
        let again = EditedCopy::write(&index, page, "four").unwrap();
        assert_eq!(fs::read_to_string(&left).unwrap(), "two");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for path in [&left, &stays] {
                let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
                assert_eq!(mode(path) & 0o777, 0o600);
                assert_eq!(mode(path.parent().unwrap()) & 0o777, 0o700);
            }
        }
        erase(&index, &[pair(page)]).unwrap();
        assert!(!left.exists() && !again.path().exists() && stays.exists());
    }
}
