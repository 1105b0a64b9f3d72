//! The models that are installed.
//!
//! A model is a folder `<name>-<revision>` in the cache whose `model.json`
//! matches its name and its files. Anything else in the cache is left alone.

use std::cmp::Reverse;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::manifest::{MANIFEST, Manifest, REVISION_LENGTH, files, revision};
use super::stamp::STAMP;
use super::{InstalledModel, checksum, known, staging, stamp};
use kodiak_base::error::{Error, Result};

/// Returns all models in the cache, sorted by name, with the preferred of
/// several revisions first. A cache that does not exist is empty.
pub fn installed(cache: &Path) -> Result<Vec<InstalledModel>> {
    let mut found: Vec<InstalledModel> = folders(cache)?
        .into_iter()
        .filter_map(|(_, folder)| read(&folder).ok())
        .collect();
    found.sort_by_cached_key(|model| {
        let name = model.identity.name.clone();
        (name, Reverse(preference(model)))
    });
    Ok(found)
}

/// Returns the model with this name. Among several revisions, the one in the
/// catalogue is preferred, then the one installed last.
pub fn find(cache: &Path, name: &str) -> Result<Option<InstalledModel>> {
    let mut found = installed(cache)?.into_iter();
    Ok(found.find(|model| model.identity.name == name))
}

/// Returns the reason why a model in the cache cannot be used.
pub fn damage(cache: &Path, name: &str) -> Option<Error> {
    let folders = folders(cache).ok()?;
    let mut named = folders.into_iter().filter(|(known, _)| known == name);
    named.find_map(|(_, folder)| read(&folder).err())
}

/// Returns the model that made the vectors marked with `key`, which is
/// `name@revision`, followed by the number of dimensions if they were cut.
pub fn find_key(cache: &Path, key: &str) -> Result<Option<InstalledModel>> {
    let mut found = installed(cache)?.into_iter();
    Ok(found.find_map(|model| model.with_key(key)))
}

/// Removes all revisions of a model, sound or not, and returns the number of
/// bytes freed.
pub fn remove(cache: &Path, name: &str) -> Result<u64> {
    let mut freed = None;
    for (named, folder) in folders(cache)? {
        if named == name {
            let size = size(&folder);
            staging::discard(cache, &folder)?;
            freed = Some(freed.unwrap_or(0) + size);
        }
    }
    freed.ok_or_else(|| Error::ModelMissing {
        name: name.to_owned(),
    })
}

/// Verifies that a model's files are those that were installed.
pub fn verify(model: &InstalledModel) -> Result<()> {
    verify_files(&model.folder, &Manifest::read(&model.folder)?)
}

fn verify_files(folder: &Path, manifest: &Manifest) -> Result<()> {
    for (name, sha256, _) in manifest.expected() {
        let path = folder.join(name);
        let found = checksum::of_file(&path).map_err(Error::io("read", &path))?;
        if found.sha256 != *sha256 {
            return Err(files(&path, "it is not what was installed"));
        }
    }
    Ok(())
}

/// Returns the size of a model on disk in bytes.
pub fn bytes(model: &InstalledModel) -> u64 {
    size(&model.folder)
}

/// Returns the model in this folder, if every byte of it is intact.
pub(super) fn sound(folder: &Path) -> Option<InstalledModel> {
    let model = read(folder).ok()?;
    verify(&model).is_ok().then_some(model)
}

/// Returns the model in this folder, if it is one. Files that are new since their
/// hashes were last checked are read; of others, the size is enough.
fn read(folder: &Path) -> Result<InstalledModel> {
    let manifest = Manifest::read(folder)?;
    let name = folder.file_name().unwrap_or_default();
    if name.to_str() != Some(&manifest.folder_name()) {
        return Err(files(folder, format!("its {MANIFEST} is another model's")));
    }
    manifest
        .settings
        .check()
        .map_err(|detail| files(folder, detail))?;
    for (name, _, bytes) in manifest.expected() {
        let path = folder.join(name);
        let metadata = fs::metadata(&path).map_err(Error::io("read", &path))?;
        if !metadata.is_file() || metadata.len() != bytes {
            return Err(files(&path, "it is not what was installed"));
        }
    }
    let names = || manifest.expected().map(|(name, ..)| name);
    if !stamp::is_current(folder, names()) {
        verify_files(folder, &manifest)?;
        stamp::keep(folder, names());
    }
    Ok(manifest.installed(folder))
}

/// Returns the folders whose names look like those of models, each with the
/// model's name.
fn folders(cache: &Path) -> Result<Vec<(String, PathBuf)>> {
    let entries = match fs::read_dir(cache) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io("read", cache)(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(Error::io("read", cache))?;
        let name = entry.file_name();
        let name = name.to_str().and_then(name_of);
        if let Some(name) = name.filter(|_| entry.path().is_dir()) {
            found.push((name.to_owned(), entry.path()));
        }
    }
    Ok(found)
}

/// Returns the name of the model from the name of its folder.
fn name_of(folder: &str) -> Option<&str> {
    let (name, revision) = folder.rsplit_once('-')?;
    let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let fits = !name.is_empty()
        && !name.starts_with('.')
        && revision.len() == REVISION_LENGTH
        && revision.bytes().all(hex);
    fits.then_some(name)
}

/// Returns the sort key of a revision: the catalogue's own comes before others,
/// and a later installation before an earlier one.
fn preference(model: &InstalledModel) -> (bool, Option<std::time::SystemTime>) {
    let own = known(&model.identity.name)
        .and_then(|known| known.weights_sha256())
        .is_some_and(|sha256| revision(sha256) == model.identity.revision);
    let written = fs::metadata(model.folder.join(MANIFEST));
    (own, written.and_then(|metadata| metadata.modified()).ok())
}

/// Returns the total size of the files in a folder. The manifest does not
/// count, because its size depends on where the model came from.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .filter(|entry| entry.file_name() != MANIFEST && entry.file_name() != STAMP)
        .filter_map(|entry| entry.metadata().ok())
        .filter(fs::Metadata::is_file)
        .map(|metadata| metadata.len())
        .sum()
}

#[cfg(test)]
#[path = "cache_tests.rs"]
mod tests;
