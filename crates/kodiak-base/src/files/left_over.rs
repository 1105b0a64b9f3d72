//! Temporary files that killed processes have left.
//!
//! A file is written under a hidden name, `.kodiak-PROCESS-NUMBER.tmp`, and renamed. Its
//! writer holds a lock on it until then, so one without a lock whose writer has ended is
//! left over.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use super::Folder;
use crate::error::Result;

/// The age at which a temporary file counts as left over, whatever process wrote it. One
/// in use is written and renamed within moments.
pub const LEFT_OVER: Duration = Duration::from_mins(1);

/// Returns the number of the process that wrote a temporary file, if it is one.
pub fn writer_of(name: &Path) -> Option<u32> {
    let numbers = name.to_str()?.strip_prefix(".kodiak-")?;
    let (process, count) = numbers.strip_suffix(".tmp")?.split_once('-')?;
    count.parse::<u64>().ok()?;
    process.parse().ok()
}

/// Reports whether a process holds a lock on a file that was opened.
fn is_locked(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Reports whether an open file with this name is a temporary one whose writer has ended.
/// That its process is gone, or the file old, is asked beside the lock, because a file
/// exists for an instant before it is locked.
fn has_lost_writer(name: &Path, file: &File) -> bool {
    let Some(process) = writer_of(name) else {
        return false;
    };
    let modified = file.metadata().and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|modified| modified.elapsed().ok());
    let ended = has_ended(process) || age.is_some_and(|age| age > LEFT_OVER);
    ended && !is_locked(file)
}

/// Reports whether a name in a folder is a temporary file's whose writer has ended.
pub fn is_left_over(folder: &Folder, name: &Path) -> bool {
    let is_left = |file: &File| has_lost_writer(name, file);
    writer_of(name).is_some() && folder.open_file(name).is_ok_and(|file| is_left(&file))
}

/// Removes the temporary files that killed writers left in a folder. They are
/// hidden, so it does no harm if that fails.
pub fn remove_left_over(folder: &Folder) {
    for name in folder.names().unwrap_or_default() {
        let name = Path::new(&name);
        if is_left_over(folder, name) {
            let _ = folder.remove_file(name);
        }
    }
}

/// Removes the temporary files in a folder that no process is writing, and makes their
/// end survive a power cut.
pub fn erase_left_over(folder: &Folder) -> Result<()> {
    let is_locked = |name: &Path| {
        let opened = folder.open_file(name);
        opened.is_ok_and(|file| is_locked(&file))
    };
    let mut removed = false;
    for name in folder.names().unwrap_or_default() {
        let name = Path::new(&name);
        if writer_of(name).is_some() && !is_locked(name) {
            folder.erase_file(name)?;
            removed = true;
        }
    }
    if removed {
        folder.sync();
    }
    Ok(())
}

/// Reports whether there is certainly no process with this number.
fn has_ended(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        use rustix::process::{Pid, test_kill_process};
        let number = i32::try_from(process).ok().and_then(Pid::from_raw);
        number.is_some_and(|number| test_kill_process(number) == Err(Errno::SRCH))
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_write_removes_what_a_killed_process_left_beside_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        // No process can have the greatest number.
        let left = path(".kodiak-2147483647-0.tmp");
        let in_use = path(".kodiak-2147483647-1.tmp");
        let ours = path(&format!(".kodiak-{}-900.tmp", std::process::id()));
        let note = path(".kodiak-notes.md");
        for file in [&left, &in_use, &ours, &note] {
            fs::write(file, "secret").unwrap();
        }
        let lock = File::open(&in_use).unwrap();
        lock.try_lock().unwrap();
        super::super::replace(path("state.json"), b"{}").unwrap();
        assert!(!left.exists());
        assert!(in_use.exists() && ours.exists() && note.exists());
        drop(lock);
        super::super::replace(path("state.json"), b"{}").unwrap();
        assert!(!in_use.exists() && ours.exists());
    }
}
