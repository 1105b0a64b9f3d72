//! The ignore rules of a folder: `.gitignore` and `.ignore` at every level.
//!
//! They have the same meaning as in the walker of the `ignore` crate. That walker would
//! open any file, and so wait for a pipe or read a device forever. So its reading is
//! switched off, and rules are read here, as regular files of bounded size.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustc_hash::FxHashMap;

use kodiak_base::files;
use kodiak_base::files::exact_size;

/// The files with ignore rules. They are containers: one that changes decides again
/// about everything below its folder. The rules of the first count more.
pub(super) const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The most bytes of a file with rules.
const MAX_BYTES: u64 = 1 << 20;

/// The rules of the folders that a walk has entered.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// Whether any folder has rules. Most trees have none.
    any: AtomicBool,
    /// The rules that hold in a folder. One where none hold is not listed.
    folders: RwLock<FxHashMap<PathBuf, Arc<Level>>>,
    /// The files whose rules could not be read, and the folders that are left out for
    /// that, each with the reason.
    problems: Mutex<Vec<(PathBuf, String)>>,
}

/// The rules of one folder, and those above it.
#[derive(Debug)]
struct Level {
    above: Option<Arc<Level>>,
    /// The rules of each file in [`IGNORE_FILES`].
    rules: [Option<Gitignore>; 2],
}

/// A file with rules, as it was before it was read.
pub(super) type RuleFile = (&'static str, Metadata);

impl Rules {
    /// Reads the rules of a folder that is about to be listed. Returns the files they
    /// are in. The folder above must have been entered before.
    pub(super) fn enter(&self, folder: &Path) -> Vec<RuleFile> {
        let mut found = Vec::new();
        let mut rules = [None, None];
        for (name, rules) in IGNORE_FILES.into_iter().zip(&mut rules) {
            let path = folder.join(name);
            let Ok(metadata) = fs::symlink_metadata(&path) else {
                continue;
            };
            found.push((name, metadata));
            match read(folder, &path) {
                Ok(read) => *rules = Some(read).filter(|rules| !rules.is_empty()),
                // A link that leads nowhere has none.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // What it is meant to leave out must not be indexed.
                Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                    *rules = nothing(folder);
                    let reason = format!("its {name} is larger than {}", exact_size(MAX_BYTES));
                    self.report(folder.to_owned(), reason);
                }
                Err(error) => self.report(path, format!("no rules are read from it: {error}")),
            }
        }
        let above = folder.parent().and_then(|above| self.level(above));
        if rules.iter().any(Option::is_some) {
            let level = Level { above, rules };
            self.insert(folder, Arc::new(level));
        } else if let Some(above) = above {
            self.insert(folder, above);
        }
        found
    }

    /// Returns whether the rules admit a file or folder. The folder that it is in must
    /// have been entered.
    pub(super) fn admit(&self, path: &Path, is_folder: bool) -> bool {
        let Some(level) = path.parent().and_then(|folder| self.level(folder)) else {
            return true;
        };
        !level.decide(path, is_folder).is_ignore()
    }

    /// Takes the files whose rules could not be read, and the folders that are left out
    /// for that, each with the reason.
    pub(super) fn take_problems(&self) -> Vec<(PathBuf, String)> {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *problems)
    }

    fn report(&self, path: PathBuf, reason: String) {
        let mut problems = self.problems.lock().unwrap_or_else(PoisonError::into_inner);
        problems.push((path, reason));
    }

    fn level(&self, folder: &Path) -> Option<Arc<Level>> {
        if !self.any.load(Ordering::Acquire) {
            return None;
        }
        let folders = self.folders.read().unwrap_or_else(PoisonError::into_inner);
        folders.get(folder).cloned()
    }

    fn insert(&self, folder: &Path, level: Arc<Level>) {
        let mut folders = self.folders.write().unwrap_or_else(PoisonError::into_inner);
        folders.insert(folder.to_owned(), level);
        drop(folders);
        self.any.store(true, Ordering::Release);
    }
}

impl Level {
    /// Decides by the nearest rule of the first kind of file that has one.
    fn decide(&self, path: &Path, is_folder: bool) -> Match<()> {
        for kind in 0..IGNORE_FILES.len() {
            let mut level = Some(self);
            while let Some(here) = level {
                let decided = match &here.rules[kind] {
                    Some(rules) => rules.matched(path, is_folder).map(drop),
                    None => Match::None,
                };
                if !decided.is_none() {
                    return decided;
                }
                level = here.above.as_deref();
            }
        }
        Match::None
    }
}

/// Returns rules that admit nothing in a folder.
fn nothing(folder: &Path) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new(folder);
    let _ = builder.add_line(None, "*");
    builder.build().ok()
}

/// Reads a file with rules for a folder. As in git, a line that is not a valid glob is
/// skipped, and reading ends at a line that is not text.
fn read(folder: &Path, path: &Path) -> io::Result<Gitignore> {
    let bytes = files::read(path, MAX_BYTES)?;
    let text = match str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            &valid[..valid.rfind('\n').map_or(0, |end| end + 1)]
        }
    };
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        let _ = builder.add_line(Some(path.to_owned()), line);
    }
    builder.build().map_err(io::Error::other)
}
