//! Watching folders for changes.
//!
//! The sync finds out which files changed. Events only say that a sync is
//! worthwhile, so a lost or repeated event does no harm.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use notify::{Event, EventKind, RecursiveMode, Watcher};

use crate::error::{Error, Result};

/// How many quiet periods to wait at most while changes keep coming.
const MAX_PATIENCE: u32 = 20;

/// Calls `changed` with the indexes of the folders that changed, once nothing
/// more has happened for `quiet`, until it breaks.
///
/// Calls `ready` first, once every folder is watched: a sync there misses no
/// later change.
pub fn watch(
    roots: &[PathBuf],
    quiet: Duration,
    ready: &mut dyn FnMut() -> ControlFlow<()>,
    changed: &mut dyn FnMut(&[usize]) -> ControlFlow<()>,
) -> Result<()> {
    let (sender, events) = channel();
    let failed = |path: &Path| {
        let path = path.to_path_buf();
        move |error: notify::Error| Error::Watch {
            path,
            detail: error.to_string(),
        }
    };
    let mut watcher = notify::recommended_watcher(move |event| {
        // The receiver is gone once the loop below has ended.
        let _ = sender.send(event);
    })
    .map_err(failed(
        roots.first().map_or(Path::new(""), PathBuf::as_path),
    ))?;
    let mut real = Vec::new();
    for root in roots {
        watcher
            .watch(root, RecursiveMode::Recursive)
            .map_err(failed(root))?;
        real.push(root.canonicalize().map_err(Error::io("find", root))?);
    }
    let folders = Roots {
        given: roots,
        real: &real,
    };
    if ready().is_break() {
        return Ok(());
    }
    while let Ok(event) = events.recv() {
        let mut touched = folders.touched(&event);
        if touched.is_empty() {
            continue;
        }
        debounce(&events, quiet, |event| {
            touched.extend(folders.touched(event));
        });
        let touched: Vec<usize> = touched.into_iter().collect();
        if changed(&touched).is_break() {
            break;
        }
    }
    Ok(())
}

/// Receives events until none comes for `quiet`, or until the patience ends.
fn debounce(
    events: &Receiver<notify::Result<Event>>,
    quiet: Duration,
    mut take: impl FnMut(&notify::Result<Event>),
) {
    let deadline = Instant::now() + quiet * MAX_PATIENCE;
    while Instant::now() < deadline {
        match events.recv_timeout(quiet) {
            Ok(event) => take(&event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
}

struct Roots<'a> {
    given: &'a [PathBuf],
    real: &'a [PathBuf],
}

impl Roots<'_> {
    /// Returns the folders that an event is about. An event that reports lost
    /// events, or an error, is about all of them.
    fn touched(&self, event: &notify::Result<Event>) -> BTreeSet<usize> {
        let all = || (0..self.given.len()).collect();
        let Ok(event) = event else { return all() };
        if event.need_rescan() {
            return all();
        }
        if matches!(event.kind, EventKind::Access(_)) {
            return BTreeSet::new();
        }
        let about = |root: &Path| {
            event.paths.iter().any(|path| {
                path.strip_prefix(root)
                    .is_ok_and(|inside| !is_hidden(inside))
            })
        };
        (0..self.given.len())
            .filter(|&at| about(&self.given[at]) || about(&self.real[at]))
            .collect()
    }
}

/// Reports whether a path contains a hidden name, such as a repository's own
/// files. Ignore files are not hidden, because they change which files are
/// listed.
fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().to_string_lossy();
        name.starts_with('.') && !matches!(&*name, ".gitignore" | ".ignore")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_told_once_with_its_folder() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let roots: Vec<PathBuf> = folders
            .iter()
            .map(|folder| folder.path().to_path_buf())
            .collect();
        let writing = roots[1].clone();
        let writer = std::thread::spawn(move || {
            // Written until seen: the watcher may not be ready at the first
            // attempt.
            for turn in 0..200 {
                std::fs::write(writing.join(".hidden"), turn.to_string()).unwrap();
                std::fs::write(writing.join("note.md"), turn.to_string()).unwrap();
                std::thread::sleep(Duration::from_millis(100));
                if writing.join("seen").exists() {
                    break;
                }
            }
        });
        let seen = roots[1].join("seen");
        let mut told = Vec::new();
        let mut ready = || ControlFlow::Continue(());
        watch(
            &roots,
            Duration::from_millis(20),
            &mut ready,
            &mut |numbers| {
                told = numbers.to_vec();
                std::fs::write(&seen, "").unwrap();
                ControlFlow::Break(())
            },
        )
        .unwrap();
        writer.join().unwrap();
        assert_eq!(told, [1]);
    }
}
