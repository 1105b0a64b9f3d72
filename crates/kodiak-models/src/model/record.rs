//! The hashes of downloaded files.
//!
//! A file is pinned by the catalogue, or else by its hash when it was first downloaded. The
//! record stays when a model is removed, so that another download is either the same file
//! or refused.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::checksum::Content;
use super::download::Fetched;
use super::failure::Failure;
use kodiak_base::error::{Error, Result};
use kodiak_base::files;
use kodiak_base::hex;

/// The prefix of the files with hashes. No model's name begins with it.
const PREFIX: &str = ".hash-";
/// How many digits of a place's hash name its file.
const NAME_LENGTH: usize = 16;

/// Checks a downloaded file against the hash that is pinned, else against the one
/// that is recorded for its place, else against the one that the hub announced;
/// records it if there was no record.
pub(super) fn check(
    cache: &Path,
    place: &str,
    pinned: Option<&str>,
    fetched: Fetched,
) -> std::result::Result<Content, Failure> {
    let Fetched { content, announced } = fetched;
    let name = place.rsplit('/').next().unwrap_or_default();
    let differs = |expected: &str| expected != content.sha256;
    if pinned.or(announced.as_deref()).is_some_and(differs) {
        let detail = format!("the hub has another {name} than expected");
        return Err(Failure::Origin(detail));
    }
    if pinned.is_some() {
        return Ok(content);
    }
    let file = file(cache, place);
    match recorded(&file)? {
        Some(known) if differs(&known) => {
            let detail = format!(
                "the hub has another {name} than when it was first downloaded; delete {} to accept it",
                file.display()
            );
            Err(Failure::Origin(detail))
        }
        Some(_) => Ok(content),
        None => {
            record(&file, &content.sha256)?;
            Ok(content)
        }
    }
}

fn file(cache: &Path, place: &str) -> PathBuf {
    cache.join(format!("{PREFIX}{}", digest(place)))
}

/// Returns a short hash of a text, for the name of a file.
pub(super) fn digest(text: &str) -> String {
    let mut digits = hex(&Sha256::digest(text));
    digits.truncate(NAME_LENGTH);
    digits
}

fn recorded(file: &Path) -> Result<Option<String>> {
    match files::read_text(file, files::SMALL) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io("read", file)(error)),
    }
}

/// Writes a record completely or not at all.
fn record(file: &Path, sha256: &str) -> Result<()> {
    let text = format!("{sha256}\n");
    files::replace(file, text.as_bytes()).map_err(Error::io("write", file))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn fetched(sha256: &str, announced: Option<&str>) -> Fetched {
        Fetched {
            content: Content {
                bytes: 1,
                sha256: sha256.to_owned(),
            },
            announced: announced.map(str::to_owned),
        }
    }

    fn refused(cache: &Path, pinned: Option<&str>, fetched: Fetched) -> String {
        match check(cache, "a/b@main/x.onnx", pinned, fetched) {
            Err(Failure::Origin(detail)) => detail,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_first_download_is_recorded_and_others_are_compared() {
        let cache = tempfile::tempdir().unwrap();
        let cache = cache.path();
        let said = refused(cache, Some("aa"), fetched("bb", None));
        assert_eq!(said, "the hub has another x.onnx than expected");
        let said = refused(cache, None, fetched("bb", Some("aa")));
        assert_eq!(said, "the hub has another x.onnx than expected");
        assert_eq!(fs::read_dir(cache).unwrap().count(), 0);
        for announced in [Some("aa"), None, None] {
            check(cache, "a/b@main/x.onnx", None, fetched("aa", announced)).unwrap();
        }
        let said = refused(cache, None, fetched("bb", Some("bb")));
        assert!(
            said.contains("than when it was first downloaded; delete"),
            "{said}"
        );
        // Another file of the repository has its own.
        check(cache, "a/b@main/y.onnx", None, fetched("bb", None)).unwrap();
        assert_eq!(fs::read_dir(cache).unwrap().count(), 2);
    }
}
