//! Remembers the documents that each session was shown, so that none is repeated.
//!
//! A session has a small file with a hash of each document, in a folder that only its
//! owner can read: neither the session nor a document can be recovered from it. A file
//! that was not used for a week is removed.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use kodiak::files;
use kodiak::{Error, Result};

/// How long the file of a session is kept after its last use.
const KEPT: Duration = Duration::from_hours(7 * 24);
/// The maximum number of documents remembered for a session. Older ones have left the
/// context of the agent.
const MAX_DOCUMENTS: usize = 1_000;
/// How long another process is waited for, and how often it is looked whether it is done.
/// A prompt waits as long.
const PATIENCE: Duration = Duration::from_millis(200);
const GLANCE: Duration = Duration::from_millis(5);
/// The digits of a hash. Two documents that share one would cost a repetition.
const DIGITS: usize = 16;

/// The documents that a session was shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told(BTreeSet<String>);

impl Told {
    /// Reports whether the session was told of the document at this address.
    pub fn has(&self, address: &str) -> bool {
        self.0.contains(&hashed(address))
    }

    /// Adds documents that the session is told of.
    pub fn add<'a>(&mut self, addresses: impl IntoIterator<Item = &'a String>) {
        self.0.extend(addresses.into_iter().map(|one| hashed(one)));
    }
}

/// The folder with the records of all sessions.
#[derive(Clone, Debug)]
pub struct ToldFolder {
    path: PathBuf,
}

impl ToldFolder {
    /// Creates a view of the folder at a path, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the documents that a session was shown.
    pub fn read(&self, session: &str) -> Result<Told> {
        read(&self.file(session))
    }

    /// Records that a session is told of documents, and removes the files of sessions
    /// that are over.
    pub fn record<'a>(
        &self,
        session: &str,
        addresses: impl IntoIterator<Item = &'a String>,
    ) -> Result<()> {
        let path = self.file(session);
        let failed = |error| Error::io("write", &path)(error);
        files::create_folder(&self.path).map_err(failed)?;
        let turn = File::open(&self.path).map_err(failed)?;
        wait_for(&turn);
        let mut told = read(&path)?;
        told.add(addresses);
        let lines: Vec<&str> = told
            .0
            .iter()
            .take(MAX_DOCUMENTS)
            .map(String::as_str)
            .collect();
        files::replace(&path, format!("{}\n", lines.join("\n")).as_bytes()).map_err(failed)?;
        self.remove_expired();
        Ok(())
    }

    /// Forgets the documents that a session was shown.
    pub fn reset(&self, session: &str) -> Result<()> {
        self.remove_expired();
        let path = self.file(session);
        match fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Removes the files of sessions that were not used for long.
    fn remove_expired(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else {
            return;
        };
        for entry in entries.flatten() {
            let modified = entry.metadata().and_then(|it| it.modified());
            let age = modified.map(|it| SystemTime::now().duration_since(it).unwrap_or_default());
            if age.is_ok_and(|age| age > KEPT) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn file(&self, session: &str) -> PathBuf {
        self.path.join(hashed(session))
    }
}

/// Waits a moment for the turn at a folder. Without it, or where a folder cannot be locked,
/// the last writer wins, and something may be told twice.
fn wait_for(turn: &File) {
    let started = Instant::now();
    while matches!(turn.try_lock(), Err(TryLockError::WouldBlock)) && started.elapsed() < PATIENCE {
        std::thread::sleep(GLANCE);
    }
}

fn read(path: &Path) -> Result<Told> {
    match files::read_text(path, files::SMALL) {
        Ok(text) => Ok(Told(text.lines().map(str::to_owned).collect())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Told::default()),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

fn hashed(text: &str) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash[..DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_is_known_until_it_is_reset() {
        let place = tempfile::tempdir().unwrap();
        let folder = ToldFolder::new(place.path().join("told"));
        let one = ["kodiak://memory/secret-name".to_owned()];
        assert!(!folder.read("s").unwrap().has(&one[0]));
        folder.record("s", &one).unwrap();
        folder
            .record("s", &["kodiak://memory/other".to_owned()])
            .unwrap();
        assert!(folder.read("s").unwrap().has(&one[0]));
        assert!(!folder.read("another").unwrap().has(&one[0]));
        for entry in fs::read_dir(place.path().join("told")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            assert!(!text.contains("secret") && text.lines().all(|line| line.len() == DIGITS));
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                let mode = fs::metadata(&path).unwrap().permissions().mode();
                assert_eq!(mode & 0o777, 0o600);
            }
        }
        folder.reset("s").unwrap();
        folder.reset("s").unwrap();
        assert!(!folder.read("s").unwrap().has(&one[0]));
    }

    #[test]
    fn the_files_of_old_sessions_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let folder = ToldFolder::new(place.path());
        folder.record("old", &["kodiak://a/b".to_owned()]).unwrap();
        let old = SystemTime::now() - KEPT - Duration::from_mins(1);
        let file = File::options()
            .write(true)
            .open(folder.file("old"))
            .unwrap();
        file.set_modified(old).unwrap();
        folder.record("new", &["kodiak://a/b".to_owned()]).unwrap();
        assert!(!folder.file("old").exists() && folder.file("new").exists());
    }
}
