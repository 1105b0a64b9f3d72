//! Turns at the visits: many processes may use them at a time, and one that removes them must
//! be alone. Otherwise a search that runs would write again what a purge has just removed.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::thread;
use std::time::{Duration, Instant};

use kodiak::Error;
use kodiak::files::{self, Writing};

use crate::paths;

/// What comes after the name of the folder of visits.
const ENDING: &str = "lock";
/// How long those who use visits are waited for, and how often it is looked whether they are
/// done. A search embeds no longer than twice as long.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(10);

/// The turn of this process, held until it ends: what it reads of a visit it may write, too.
static TAKEN: Mutex<Option<File>> = Mutex::new(None);

/// Waits until no process removes visits, and keeps them from being removed until this
/// process ends.
pub(super) fn take() -> anyhow::Result<()> {
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.is_none() {
        let path = paths::visits_folder()?;
        let file = open(&path)?;
        // Where files cannot be locked, a purge may have to be repeated.
        let _ = file.lock_shared();
        *taken = Some(file);
    }
    Ok(())
}

/// Waits until no other process uses a visit, and keeps new ones out until the result is
/// dropped. Fails if that takes too long, or if this process uses one itself.
pub(super) fn alone(visits: &Path) -> kodiak::Result<Option<File>> {
    let lock = visits.with_extension(ENDING);
    if !visits.exists() && !lock.exists() {
        return Ok(None);
    }
    let in_use = || {
        let detail = "a search with --in is using it";
        let error = std::io::Error::new(ErrorKind::WouldBlock, detail);
        Error::io("remove", visits)(error)
    };
    if TAKEN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .is_some()
    {
        return Err(in_use());
    }
    let file = open(visits)?;
    let started = Instant::now();
    while matches!(file.try_lock(), Err(TryLockError::WouldBlock)) {
        if started.elapsed() > PATIENCE {
            return Err(in_use());
        }
        thread::sleep(GLANCE);
    }
    Ok(Some(file))
}

fn open(visits: &Path) -> kodiak::Result<File> {
    let path = visits.with_extension(ENDING);
    let folder = files::folder_of(&path);
    files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
    files::open_own(&path, Writing::InPlace).map_err(Error::io("open", &path))
}
