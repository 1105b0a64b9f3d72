//! The lock that admits one writer at a time, with a message that names the
//! writer.
//!
//! The operating system's file lock keeps others out. It ends with the process,
//! however the process ends. The content of the file only says who holds the
//! lock.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The pause between two attempts to take the lock.
const STEP: Duration = Duration::from_millis(25);

/// How often the lock is tried before it counts as held: whoever asks for its holder
/// has it for a moment.
const ATTEMPTS: u32 = 4;
/// The pause between these.
const GLANCE: Duration = Duration::from_millis(1);

/// The right to write to an index, held until dropped.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl WriteLock {
    /// Takes the lock of the index at `index`, or fails with the name of its
    /// holder. `holder` is the name that others will see, such as "process 4711
    /// (kodiak index)".
    pub fn acquire(index: &Path, holder: &str) -> Result<Self> {
        let path = lock_path(index);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(Error::io("create", &path))?;
        let mut attempts = ATTEMPTS;
        loop {
            attempts -= 1;
            match file.try_lock() {
                Ok(()) => break,
                // It may be held by one who only asks.
                Err(TryLockError::WouldBlock) if attempts > 0 => std::thread::sleep(GLANCE),
                Err(TryLockError::WouldBlock) => {
                    let holder = named_in(&mut file);
                    return Err(Error::Locked { holder, path });
                }
                Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
            }
        }
        let named = file
            .set_len(0)
            .and_then(|()| file.write_all(holder.as_bytes()));
        named.map_err(Error::io("write", &path))?;
        Ok(Self { _file: file })
    }

    /// Returns who holds the lock of the index at `index`, if anybody does. Takes no
    /// lock for longer than it takes to ask.
    pub fn holder(index: &Path) -> Option<String> {
        let mut file = File::open(lock_path(index)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(named_in(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Returns the name in a lock's file. It is a courtesy: without it the message is
/// still true.
fn named_in(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.read_to_string(&mut holder);
    match holder.trim() {
        "" => "another process".to_owned(),
        named => named.to_owned(),
    }
}

/// Calls `attempt` until it succeeds or fails for a reason other than a lock
/// held by somebody else, for at most `patience`. After each refusal it calls
/// `meanwhile` with the holder of the lock and the time waited so far. An error
/// from `meanwhile` ends the waiting.
pub fn wait_for_lock<T>(
    patience: Duration,
    mut meanwhile: impl FnMut(&str, Duration) -> Result<()>,
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(Error::Locked { holder, .. }) if started.elapsed() < patience => {
                meanwhile(&holder, started.elapsed())?;
                std::thread::sleep(STEP);
            }
            ended => return ended,
        }
    }
}

/// Returns the path of an index's lock. It is the same whichever path leads to
/// the index.
pub(super) fn lock_path(index: &Path) -> PathBuf {
    let real = index.canonicalize().unwrap_or_else(|_| index.to_path_buf());
    let mut path = real.into_os_string();
    path.push(".lock");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_writer_is_told_who_the_first_is() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.db");
        let first = WriteLock::acquire(&index, "process 4711 (kodiak index)").unwrap();
        let refused = WriteLock::acquire(&index, "me").unwrap_err();
        assert!(refused.to_string().contains("process 4711"), "{refused}");
        let holder = WriteLock::holder(&index);
        assert_eq!(holder.as_deref(), Some("process 4711 (kodiak index)"));
        drop(first);
        assert_eq!(WriteLock::holder(&index), None);
        assert_eq!(WriteLock::holder(&folder.path().join("other.db")), None);
        WriteLock::acquire(&index, "me").unwrap();
    }

    #[test]
    fn asking_for_the_holder_keeps_nobody_from_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.db");
        drop(WriteLock::acquire(&index, "me").unwrap());
        let mut asked = File::open(lock_path(&index)).unwrap();
        asked.try_lock_shared().unwrap();
        std::thread::scope(|scope| {
            let taken = scope.spawn(|| {
                wait_for_lock(
                    Duration::from_mins(1),
                    |_, _| Ok(()),
                    || WriteLock::acquire(&index, "me"),
                )
            });
            drop(std::mem::replace(&mut asked, File::open(&folder).unwrap()));
            taken.join().unwrap().unwrap();
        });
    }
}
