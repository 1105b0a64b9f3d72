//! The walk: which files a folder has, by its globs and ignore rules.
//!
//! Owns the rules and the versions of folders. A full listing walks the whole
//! folder. A look walks with a [`Scope`], by the same rules, and only lists the
//! folders in it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use ignore::overrides::Override;
use ignore::{DirEntry, Match, WalkBuilder, WalkState};

use super::keys::{key_of, path_of_key};
use super::rules::{RuleFile, Rules};
use super::{DeviceOf, MarkdownFolder, unreadable};
use kodiak::source::{Container, Entry, LeftOut, Listing, mounts};
use kodiak_base::files::state::FileState;
use kodiak_text::document::{Version, is_note_extension};

/// The maximum number of threads. More would only wait for the same disk.
const MAX_THREADS: usize = 8;

/// The folders that a walk lists. Folders have keys that end in `/`; that of the
/// root is empty.
#[derive(Debug)]
pub(super) struct Scope {
    /// The folders that are indexed. Anything in an unknown one is new.
    known: HashSet<String>,
    /// The folders to list, without the folders in them.
    listed: HashSet<String>,
    /// The folders to list with everything below them.
    whole: HashSet<String>,
    /// The folders above all of these. They are only passed through.
    passed: HashSet<String>,
    deadline: Instant,
}

impl Scope {
    /// Creates an empty scope over these known folders.
    pub(super) fn new(known: HashSet<String>, deadline: Instant) -> Self {
        Self {
            known,
            listed: HashSet::new(),
            whole: HashSet::new(),
            passed: HashSet::new(),
            deadline,
        }
    }

    /// Adds a folder, without the known folders in it.
    pub(super) fn list(&mut self, folder: &str) {
        self.pass(folder);
        self.listed.insert(folder.to_owned());
    }

    /// Adds a folder with everything below it.
    pub(super) fn list_whole(&mut self, folder: &str) {
        self.pass(folder);
        self.whole.insert(folder.to_owned());
    }

    fn pass(&mut self, folder: &str) {
        let mut above = Some(folder);
        while let Some(folder) = above {
            if !self.passed.insert(folder.to_owned()) {
                break;
            }
            above = parent_of(folder);
        }
    }

    /// Reports whether there is nothing to list.
    pub(super) fn is_empty(&self) -> bool {
        self.passed.is_empty()
    }

    /// Reports whether the entries of a folder are listed.
    pub(super) fn lists(&self, folder: &str) -> bool {
        if self.listed.contains(folder) || !self.known.contains(folder) {
            return true;
        }
        let mut above = Some(folder).filter(|_| !self.whole.is_empty());
        while let Some(folder) = above {
            if self.whole.contains(folder) {
                return true;
            }
            above = parent_of(folder);
        }
        false
    }

    fn enters(&self, folder: &str) -> bool {
        self.passed.contains(folder) || self.lists(folder)
    }
}

/// Returns the key of the folder that a file or folder is in; `None` for the
/// root.
pub(super) fn parent_of(key: &str) -> Option<&str> {
    let inside = key.strip_suffix('/').unwrap_or(key);
    if inside.is_empty() {
        return None;
    }
    Some(inside.rfind('/').map_or("", |slash| &inside[..=slash]))
}

/// The results of a walk with a scope, besides the listing.
#[derive(Debug, Default)]
pub(super) struct Walked {
    /// The folders that were seen in listed folders.
    pub(super) folders: HashSet<String>,
    /// The files that were seen in listed folders. They are not in the listing:
    /// checking known files one by one is faster.
    pub(super) files: HashSet<String>,
    /// Whether the deadline cut the walk short.
    pub(super) cut: bool,
}

/// The records of folders, taken before they are read.
#[derive(Debug)]
struct Trail {
    root: PathBuf,
    globs: Vec<String>,
    chosen: Override,
    device: DeviceOf,
    rules: Rules,
    scope: Option<Scope>,
    /// The containers of each folder, by the folder's key.
    containers: Mutex<HashMap<String, Vec<Container>>>,
    folders: Mutex<HashSet<String>>,
    files: Mutex<HashSet<String>>,
    cut: AtomicBool,
}

impl Trail {
    /// Decides whether the walk continues to an entry. This is called before a folder
    /// is read, so that its recorded version is never newer than its listing.
    fn admits(&self, entry: &DirEntry) -> bool {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if entry.depth() > 0 && !self.rules.admit(entry.path(), is_folder) {
            return false;
        }
        let Some(scope) = &self.scope else {
            if is_folder && entry.depth() > 0 {
                let rules = self.rules.enter(entry.path());
                self.record(&folder_key(&self.root, entry.path()), entry.path(), &rules);
            }
            return true;
        };
        if Instant::now() >= scope.deadline {
            self.cut.store(true, Ordering::Relaxed);
            return false;
        }
        if entry.depth() == 0 {
            return true;
        }
        if !is_folder {
            let Some(key) = key_of(&self.root, entry.path()) else {
                // A name that is not text is left out of the listing.
                return takes(&self.chosen, entry);
            };
            let listed = parent_of(&key).is_some_and(|parent| scope.lists(parent));
            if !listed || !takes(&self.chosen, entry) {
                return false;
            }
            lock(&self.files).insert(key.into_owned());
            return false;
        }
        let key = folder_key(&self.root, entry.path());
        lock(&self.folders).insert(key.clone());
        if !scope.enters(&key) {
            return false;
        }
        let rules = self.rules.enter(entry.path());
        if scope.lists(&key) {
            self.record(&key, entry.path(), &rules);
        }
        true
    }

    fn record(&self, key: &str, path: &Path, rules: &[RuleFile]) {
        // A name that has no key cannot be looked up again.
        if key_of(&self.root, path).is_none() {
            return;
        }
        let folder = fs::symlink_metadata(path).ok().map(|metadata| Container {
            key: key.to_owned(),
            version: folder_version(&FileState::of(&metadata), &self.globs),
        });
        let rules = rules.iter().map(|(name, metadata)| Container {
            key: format!("{key}{name}"),
            version: trusted(&FileState::of(metadata), u64::MAX),
        });
        let mount = is_mount_point(self.device, path) && !key.is_empty();
        let mark = mount.then(|| mounts::mark(key));
        let containers = folder.into_iter().chain(rules).chain(mark).collect();
        lock(&self.containers).insert(key.to_owned(), containers);
    }
}

impl MarkdownFolder {
    /// Lists all files, or finds those in `scope`. An entry that cannot be
    /// accessed, such as a folder without permission, does not stop the walk.
    pub(super) fn walk(&self, scope: Option<Scope>) -> (Listing, Walked) {
        let trail = Arc::new(Trail {
            root: self.root.clone(),
            globs: self.options.globs.clone(),
            chosen: self.globs.clone(),
            device: self.device,
            rules: Rules::default(),
            scope,
            containers: Mutex::default(),
            folders: Mutex::default(),
            files: Mutex::default(),
            cut: AtomicBool::new(false),
        });
        let rules = trail.rules.enter(&self.root);
        if trail.scope.as_ref().is_none_or(|scope| scope.lists("")) {
            trail.record("", &self.root, &rules);
        }
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let listed = Mutex::new(Listing::default());
        let mut walk = WalkBuilder::new(&self.root);
        let admitting = Arc::clone(&trail);
        walk.threads(threads.min(MAX_THREADS))
            .follow_links(false)
            // Rules are read by `rules`; only hidden files are left to the walker.
            .standard_filters(false)
            .hidden(true)
            .filter_entry(move |entry| admitting.admits(entry));
        walk.build_parallel().run(|| {
            let mut batch = Batch {
                found: Listing::default(),
                listed: &listed,
            };
            let trail = &trail;
            Box::new(move |found| match found {
                Ok(found) if found.depth() == 0 => {
                    batch.found.containers.extend(taken(trail, ""));
                    WalkState::Continue
                }
                Ok(found) if takes(&self.globs, &found) => {
                    if found.file_type().is_some_and(|kind| kind.is_file()) {
                        self.add(&found, &mut batch.found);
                    } else {
                        let key = folder_key(&self.root, found.path());
                        batch.found.containers.extend(taken(trail, &key));
                    }
                    WalkState::Continue
                }
                Ok(_) => WalkState::Skip,
                Err(error) => {
                    batch.found.left_out.extend(self.left_out(&error));
                    WalkState::Continue
                }
            })
        });
        let walked = Walked {
            folders: std::mem::take(&mut lock(&trail.folders)),
            files: std::mem::take(&mut lock(&trail.files)),
            cut: trail.cut.load(Ordering::Relaxed),
        };
        let mut listing = listed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unread = trail.rules.take_problems().into_iter();
        let unread = unread.filter_map(|(path, reason)| {
            // Like a folder: no note may have this name.
            let key = format!("{}/", key_of(&self.root, &path)?);
            Some(LeftOut { key, reason })
        });
        listing.left_out.extend(unread);
        (listing, walked)
    }

    /// Returns the present version of a container, or `None` if it is gone.
    pub(super) fn container_version(&self, key: &str) -> Option<Version> {
        if let Some(folder) = mounts::marked(key) {
            let path = self.root.join(path_of_key(folder));
            return is_mount_point(self.device, &path).then(|| mounts::mark(folder).version);
        }
        let metadata = fs::symlink_metadata(self.root.join(path_of_key(key))).ok()?;
        let state = FileState::of(&metadata);
        let is_folder = key.is_empty() || key.ends_with('/');
        match is_folder {
            true if metadata.is_dir() => Some(folder_version_now(&state, &self.options.globs)),
            true => None,
            false => Some(Version::of_file(&state, u64::MAX)),
        }
    }

    fn add(&self, file: &DirEntry, listing: &mut Listing) {
        let Some(key) = key_of(&self.root, file.path()) else {
            let inside = file.path().strip_prefix(&self.root);
            let inside = inside.unwrap_or(file.path()).to_string_lossy();
            listing.left_out.push(LeftOut {
                key: inside.replace(MAIN_SEPARATOR, "/"),
                reason: "its name is not valid Unicode".to_owned(),
            });
            return;
        };
        if let Ok(metadata) = file.metadata() {
            // A file that vanished since it was found counts as gone.
            let state = FileState::of(&metadata);
            listing.entries.push(Entry {
                key: key.into_owned(),
                version: self.version_of(&state),
                size_hint: state.size,
            });
        }
    }

    /// Returns the folder that an error of the walk keeps from being listed, if it still
    /// exists.
    fn left_out(&self, error: &ignore::Error) -> Option<LeftOut> {
        let path = path_of_error(error)?;
        let folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
        if !folder || !path.starts_with(&self.root) {
            return None;
        }
        Some(LeftOut {
            key: format!("{}/", key_of(&self.root, path)?),
            reason: error
                .io_error()
                .map_or_else(|| "could not be read".to_owned(), unreadable),
        })
    }
}

/// Reports whether another drive is mounted at a folder: it is on another device than
/// the folder it is in.
fn is_mount_point(device: DeviceOf, path: &Path) -> bool {
    let above = path.parent().and_then(device);
    device(path)
        .zip(above)
        .is_some_and(|(own, above)| own != above)
}

/// Reports whether the walk takes this entry: a folder to enter or a file to
/// list.
pub(super) fn takes(globs: &Override, entry: &DirEntry) -> bool {
    // The walker skips hidden entries too, but `!*/` in a gitignore would
    // bring them back, including `.git`.
    if entry.file_name().as_encoded_bytes().starts_with(b".") {
        return false;
    }
    let Some(kind) = entry.file_type() else {
        return false;
    };
    if kind.is_dir() {
        return !globs.matched(entry.path(), true).is_ignore();
    }
    // A link is neither a folder nor a file here.
    kind.is_file()
        && match globs.matched(entry.path(), false) {
            Match::Whitelist(_) => true,
            Match::Ignore(_) => false,
            Match::None => is_note(entry.path()),
        }
}

/// Returns the version of a folder that is about to be listed. It is unknown if
/// something may appear in the folder without its state showing it.
fn folder_version(state: &FileState, globs: &[String]) -> Version {
    if state.is_fresh() {
        return Version::UNKNOWN;
    }
    folder_version_now(state, globs)
}

/// Returns the version of a folder in this state. Other globs make another
/// version, because they decide which of its files are entries.
fn folder_version_now(state: &FileState, globs: &[String]) -> Version {
    let mut bytes = Version::of_file(state, u64::MAX).0.to_vec();
    for glob in globs {
        bytes.extend_from_slice(glob.as_bytes());
        bytes.push(0);
    }
    Version::of(&bytes)
}

fn trusted(state: &FileState, max_bytes: u64) -> Version {
    if state.is_fresh() {
        return Version::UNKNOWN;
    }
    Version::of_file(state, max_bytes)
}

/// Takes the record of a folder from before it was read.
fn taken(trail: &Trail, key: &str) -> Vec<Container> {
    lock(&trail.containers).remove(key).unwrap_or_default()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder_key(root: &Path, path: &Path) -> String {
    match key_of(root, path) {
        Some(key) if key.is_empty() => String::new(),
        Some(key) => format!("{key}/"),
        None => format!("{}/", path.to_string_lossy()),
    }
}

/// The results of one thread of the walk, handed over when the thread is done.
struct Batch<'list> {
    found: Listing,
    listed: &'list Mutex<Listing>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let mut listed = lock(self.listed);
        listed.entries.append(&mut self.found.entries);
        listed.left_out.append(&mut self.found.left_out);
        listed.containers.append(&mut self.found.containers);
    }
}

fn is_note(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(is_note_extension)
}

fn path_of_error(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of_error(err)
        }
        ignore::Error::Partial(errors) => errors.iter().find_map(path_of_error),
        _ => None,
    }
}
