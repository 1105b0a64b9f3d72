//! The lock that admits one writer at a time, with a message that names the
//! writer.
//!
//! The operating system's file lock keeps others out. It ends with the process,
//! however the process ends. The content of the file only says who holds the
//! lock.

use std::fs::{File, TryLockError};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kodiak_base::error::{Error, Result};
use kodiak_base::files::{self, Writing};

/// The pause between two attempts to take the lock.
const STEP: Duration = Duration::from_millis(25);

/// The longest time that others may ask, one after the other, who holds the lock.
const ASKING: Duration = Duration::from_secs(5);

/// The most bytes that are read of a holder's name.
const MAX_NAME_BYTES: u64 = 1_000;

/// The right to write to an index, held until dropped.
#[derive(Debug)]
pub struct WriteLock {
    _file: File,
}

impl crate::Lock for WriteLock {}

impl WriteLock {
    /// Takes the lock of the index at `index`, or fails with the name of its
    /// holder. `holder` is the name that others will see, such as "process 4711
    /// (kodiak index)".
    pub fn acquire(index: &Path, holder: &str) -> Result<Self> {
        let path = lock_path(index);
        let opened = files::open_own(&path, Writing::InPlace);
        let mut file = opened.map_err(Error::io("create", &path))?;
        match try_lock(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = named_in(&mut file);
                return Err(Error::Locked { holder, path });
            }
            Err(TryLockError::Error(source)) => return Err(Error::io("lock", &path)(source)),
        }
        let named = file
            .set_len(0)
            .and_then(|()| file.write_all(holder.as_bytes()));
        named.map_err(Error::io("write", &path))?;
        Ok(Self { _file: file })
    }

    /// Returns who holds the lock of the index at `index`, if a process does. Asking
    /// takes a shared lock for an instant, which [`WriteLock::acquire`] waits for.
    pub fn holder(index: &Path) -> Option<String> {
        let mut file = files::open(lock_path(index)).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Some(named_in(&mut file)),
            Ok(()) | Err(TryLockError::Error(_)) => None,
        }
    }
}

/// Takes the lock of a file. Fails only if a process holds it for writing: a shared lock
/// belongs to a process that asks for the holder, and ends at once.
fn try_lock(file: &File) -> std::result::Result<(), TryLockError> {
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            ended => return ended,
        }
        // Two processes that both wait here hold a shared lock for an instant, too.
        match file.try_lock_shared() {
            Ok(()) => file.unlock().map_err(TryLockError::Error)?,
            held => return held,
        }
        if started.elapsed() > ASKING {
            return Err(TryLockError::WouldBlock);
        }
        std::thread::yield_now();
    }
}

/// Returns the name in a lock's file. It is a courtesy: without it the message is
/// still true.
fn named_in(file: &mut File) -> String {
    let mut holder = String::new();
    let _ = file.take(MAX_NAME_BYTES).read_to_string(&mut holder);
    match holder.trim() {
        "" => "another process".to_owned(),
        named => named.to_owned(),
    }
}

/// Calls `attempt` until it succeeds or fails for a reason other than a lock
/// held by another process, for at most `patience`. After each refusal it calls
/// `while_waiting` with the holder of the lock and the time waited so far. An error
/// from `while_waiting` ends the waiting.
pub fn wait_for_lock<T>(
    patience: Duration,
    mut while_waiting: impl FnMut(&str, Duration) -> Result<()>,
    mut attempt: impl FnMut() -> Result<T>,
) -> Result<T> {
    let started = Instant::now();
    loop {
        match attempt() {
            Err(Error::Locked { holder, .. }) if started.elapsed() < patience => {
                while_waiting(&holder, started.elapsed())?;
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
    fn asking_for_the_holder_keeps_no_writer_out() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.db");
        drop(WriteLock::acquire(&index, "first").unwrap());
        let done = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(std::sync::atomic::Ordering::Relaxed) {
                        WriteLock::holder(&index);
                    }
                });
            }
            let taken = (0..500).map(|_| WriteLock::acquire(&index, "me").map(drop));
            let taken: Vec<_> = taken.filter(Result::is_err).collect();
            done.store(true, std::sync::atomic::Ordering::Relaxed);
            assert!(taken.is_empty(), "{taken:?}");
        });
    }

    #[test]
    fn of_many_that_take_the_lock_at_once_one_gets_it() {
        let folder = tempfile::tempdir().unwrap();
        let index = folder.path().join("index.db");
        for _ in 0..50 {
            let start = std::sync::Barrier::new(4);
            let taken: Vec<_> = std::thread::scope(|scope| {
                let tries = [(); 4].map(|()| {
                    scope.spawn(|| {
                        start.wait();
                        let lock = WriteLock::acquire(&index, "me");
                        start.wait();
                        lock.is_ok()
                    })
                });
                tries.into_iter().map(|it| it.join().unwrap()).collect()
            });
            assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{taken:?}");
        }
    }
}
