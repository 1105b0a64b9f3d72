//! A quick look at a folder: what has changed since it was indexed.
//!
//! Creating, deleting and renaming a file changes its folder; editing it in
//! place changes only the file. So all folders are checked first, those that
//! changed are listed again by the rules of `walk`, and then every other file is
//! checked, those first that are most likely to have changed. What is decided
//! here rests on times and sizes; no file is read.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::keys::path_of_key;
use super::rules::IGNORE_FILES;
use super::walk::{Scope, Walked, parent_of};
use super::{MarkdownFolder, require_folder};
use kodiak::source::{Entry, Known, KnownEntry, Listing, Look};
use kodiak_base::Result;
use kodiak_base::files;
use kodiak_base::files::state::{FileState, FolderStates};
use kodiak_text::document::Version;

/// The number of files that are checked between two looks at the clock.
const BLOCK: usize = 128;
/// The maximum number of threads that check files.
const MAX_THREADS: usize = 4;

/// Indexed files to check, in one piece of memory: a key of its own for each would
/// take longer than checking the file.
struct Files {
    keys: String,
    known: Vec<KnownFile>,
}

/// What is known of a file whose key is somewhere else.
#[derive(Clone, Copy)]
struct KnownFile {
    /// Where its key starts, where its name does, and where both end.
    start: usize,
    name: usize,
    end: usize,
    version: Version,
    skipped: bool,
}

impl Files {
    fn with_room() -> Self {
        Self {
            keys: String::with_capacity(BLOCK * 32),
            known: Vec::with_capacity(BLOCK),
        }
    }

    fn push(&mut self, file: KnownEntry<'_>) {
        let start = self.keys.len();
        self.keys.push_str(file.key);
        self.known.push(KnownFile {
            start,
            name: start + file.key.rfind('/').map_or(0, |slash| slash + 1),
            end: self.keys.len(),
            version: file.version,
            skipped: file.skipped,
        });
    }

    /// Returns the key of the folder that a file is in.
    fn folder(&self, file: &KnownFile) -> &str {
        &self.keys[file.start..file.name]
    }

    fn name(&self, file: &KnownFile) -> &str {
        &self.keys[file.name..file.end]
    }

    fn entry(&self, file: &KnownFile) -> KnownEntry<'_> {
        KnownEntry {
            key: &self.keys[file.start..file.end],
            version: file.version,
            skipped: file.skipped,
        }
    }
}

/// The state of an indexed file.
enum Checked {
    Same,
    Changed(Entry),
    Gone,
    Unreadable,
}

/// What is known of the files in a folder after the walk.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// The folder was listed.
    Listed,
    /// The folder is gone or no longer listed.
    Vanished,
    /// The folder is unchanged, so its files must be checked one by one.
    Unlisted,
}

impl MarkdownFolder {
    /// Looks for changes until `deadline`.
    pub(super) fn look(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        require_folder(&self.root)?;
        let containers = known.containers()?;
        let mut look = Look::default();
        if containers.is_empty() {
            return Ok(look);
        }
        let Some(scope) = self.changed_folders(&containers, deadline) else {
            return Ok(look);
        };
        let mut relisted = Relisted::new(&containers, &scope);
        if !scope.is_empty() {
            let (listing, walked) = self.walk(Some(scope));
            relisted.take(listing, walked, &mut look);
        }
        let all = self.check_all(known, &mut relisted, deadline, &mut look)?;
        self.add_new(&mut relisted, &mut look);
        look.finished = all && !relisted.cut;
        // If the folder is missing, for example because a drive is unplugged,
        // its files do not count as gone.
        require_folder(&self.root)?;
        Ok(look)
    }

    /// Returns the folders that must be listed again, or `None` if the time is
    /// up.
    fn changed_folders(
        &self,
        containers: &HashMap<String, Version>,
        deadline: Instant,
    ) -> Option<Scope> {
        let folders = containers.keys().filter(|key| is_folder(key)).cloned();
        let mut scope = Scope::new(folders.collect(), deadline);
        for (at, (key, version)) in containers.iter().enumerate() {
            if at % BLOCK == 0 && Instant::now() >= deadline {
                return None;
            }
            let now = self.container_version(key);
            if now.is_some_and(|now| version.is_same_as(now)) {
                continue;
            }
            if !is_folder(key) {
                // Rules that changed decide anew about everything below.
                scope.list_whole(parent_of(key).unwrap_or_default());
            } else if now.is_some() {
                scope.list(key);
                let new_rules = |name: &str| {
                    let rules = format!("{key}{name}");
                    !containers.contains_key(&rules) && self.container_version(&rules).is_some()
                };
                if IGNORE_FILES.iter().any(|name| new_rules(name)) {
                    scope.list_whole(key);
                }
            }
            // A folder that is gone has changed the one it was in.
        }
        Some(scope)
    }

    /// Settles all indexed files: by the walk or, one by one, by their own state.
    /// Several threads check files while the index is still being read. Returns
    /// whether there was time for all.
    fn check_all(
        &self,
        known: &dyn Known,
        relisted: &mut Relisted<'_>,
        deadline: Instant,
        look: &mut Look,
    ) -> Result<bool> {
        let (sender, receiver) = mpsc::channel::<Files>();
        let receiver = Mutex::new(receiver);
        let late = AtomicBool::new(false);
        let check = || {
            let mut found = Look::default();
            loop {
                let next = receiver.lock().map(|receiver| receiver.recv());
                let Ok(Ok(files)) = next else {
                    return found;
                };
                if Instant::now() >= deadline {
                    late.store(true, Ordering::Relaxed);
                    continue;
                }
                self.check_files(&files, &mut found);
            }
        };
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let (read, parts) = thread::scope(|scope| {
            let others = (1..threads.min(MAX_THREADS)).map(|_| scope.spawn(check));
            let others: Vec<_> = others.collect();
            let mut files = Files::with_room();
            let read = known.each_entry(&mut |entry| {
                if relisted.must_check(entry, look) {
                    files.push(entry);
                }
                if files.known.len() == BLOCK {
                    let _ = sender.send(std::mem::replace(&mut files, Files::with_room()));
                }
                if late.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            let _ = sender.send(files);
            drop(sender);
            let own = check();
            let others = others.into_iter().map(thread::ScopedJoinHandle::join);
            let parts: thread::Result<Vec<Look>> = std::iter::once(Ok(own)).chain(others).collect();
            (read, parts)
        });
        read?;
        let finished = parts.is_ok() && !late.load(Ordering::Relaxed);
        for part in parts.unwrap_or_default() {
            look.entries.extend(part.entries);
            look.gone.extend(part.gone);
            look.unreadable += part.unreadable;
        }
        Ok(finished)
    }

    /// Adds what is left of the walk: everything that is new.
    fn add_new(&self, relisted: &mut Relisted<'_>, look: &mut Look) {
        let mut new: Vec<Entry> = Vec::new();
        for key in relisted.files.drain() {
            // A file that vanished since it was found counts as gone.
            let metadata = fs::symlink_metadata(self.root.join(path_of_key(&key)));
            if let Ok(metadata) = metadata.as_ref()
                && metadata.is_file()
            {
                let state = FileState::of(metadata);
                new.push(Entry {
                    key,
                    version: self.version_of(&state),
                    size_hint: state.size,
                });
            }
        }
        new.sort_unstable_by(|one, other| one.key.cmp(&other.key));
        // What is new comes first: nothing of it can be found yet.
        new.append(&mut look.entries);
        look.entries = new;
        relisted.finish(look);
    }

    /// Checks files, those in the same folder one after another.
    fn check_files(&self, files: &Files, found: &mut Look) {
        let mut known = files.known.clone();
        known.sort_by_key(|file| files.folder(file));
        for group in known.chunk_by(|one, other| files.folder(one) == files.folder(other)) {
            let path = self.root.join(path_of_key(files.folder(&group[0])));
            let states = FolderStates::open(&path, group.len());
            for file in group {
                let known = files.entry(file);
                match self.check(known, states.of(&path_of_key(files.name(file)))) {
                    Checked::Same => {}
                    Checked::Changed(entry) => found.entries.push(entry),
                    Checked::Gone => found.gone.push(known.key.to_owned()),
                    Checked::Unreadable => found.unreadable += 1,
                }
            }
        }
    }

    fn check(&self, known: KnownEntry<'_>, state: io::Result<Option<FileState>>) -> Checked {
        let state = match state {
            Ok(Some(state)) => state,
            Ok(None) => return Checked::Gone,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => Checked::Gone,
                    _ => Checked::Unreadable,
                };
            }
        };
        let version = self.version_of(&state);
        if known.version.is_same_as(version) {
            return Checked::Same;
        }
        // A file that could not be read has no version. Only trying shows
        // whether it can be read now.
        let unread = known.skipped && !known.version.is_known();
        if unread && files::open(self.root.join(path_of_key(known.key))).is_err() {
            return Checked::Unreadable;
        }
        Checked::Changed(Entry {
            key: known.key.to_owned(),
            version,
            size_hint: state.size,
        })
    }
}

/// The folders that were listed again, compared with what is indexed.
struct Relisted<'a> {
    containers: &'a HashMap<String, Version>,
    /// How the files of each known folder are covered.
    covers: HashMap<&'a str, Cover>,
    /// Whether no folder was listed, so that all files must be checked.
    nothing: bool,
    /// The files that the walk found and that are not settled yet.
    files: HashSet<String>,
    /// What the walk could not list.
    unlisted: Listing,
    /// What it could not list before either.
    no_news: HashSet<String>,
    /// Whether the walk was cut short, so that nothing is known of what it did
    /// not find.
    cut: bool,
}

impl<'a> Relisted<'a> {
    fn new(containers: &'a HashMap<String, Version>, scope: &Scope) -> Self {
        let folders = containers.keys().filter(|key| is_folder(key));
        let cover = |key: &str| {
            if scope.lists(key) {
                Cover::Listed
            } else {
                Cover::Unlisted
            }
        };
        Self {
            containers,
            covers: folders.map(|key| (key.as_str(), cover(key))).collect(),
            nothing: scope.is_empty(),
            files: HashSet::new(),
            unlisted: Listing::default(),
            no_news: HashSet::new(),
            cut: false,
        }
    }

    /// Takes over the result of the walk.
    fn take(&mut self, mut listing: Listing, walked: Walked, look: &mut Look) {
        self.cut = walked.cut;
        self.files = walked.files;
        if self.cut {
            return;
        }
        self.mark_vanished(&walked.folders);
        let mut kept = HashSet::new();
        for container in std::mem::take(&mut listing.containers) {
            kept.insert(container.key.clone());
            if self.containers.get(&container.key) != Some(&container.version) {
                look.containers.push(container);
            }
        }
        for key in self.containers.keys() {
            let folder = if is_folder(key) {
                key
            } else {
                parent_of(key).unwrap_or_default()
            };
            let gone = match self.covers.get(folder) {
                Some(Cover::Listed) => !kept.contains(key),
                Some(Cover::Vanished) => true,
                _ => false,
            };
            if gone {
                look.containers_gone.push(key.clone());
            }
        }
        self.unlisted = listing;
    }

    /// Marks the known folders that the walk no longer found in a listed one,
    /// with everything below them.
    fn mark_vanished(&mut self, found: &HashSet<String>) {
        let vanished: HashSet<&str> = self
            .covers
            .keys()
            .copied()
            .filter(|key| {
                let parent = parent_of(key).and_then(|parent| self.covers.get(parent));
                parent == Some(&Cover::Listed) && !found.contains(*key)
            })
            .collect();
        if vanished.is_empty() {
            return;
        }
        for (key, cover) in &mut self.covers {
            let mut above = Some(*key);
            while let Some(folder) = above {
                if vanished.contains(folder) {
                    *cover = Cover::Vanished;
                    break;
                }
                above = parent_of(folder);
            }
        }
    }

    /// Settles an indexed entry as far as the walk has. Returns whether its file
    /// must be checked.
    fn must_check(&mut self, known: KnownEntry<'_>, look: &mut Look) -> bool {
        let key = known.key;
        // What could not be listed has a name that leads to no file.
        let nameless = key.ends_with('/') || (!cfg!(unix) && key.contains('\u{fffd}'));
        if self.nothing {
            look.unreadable += usize::from(nameless);
            return !nameless;
        }
        let folder = match key {
            folder if is_folder(folder) && self.covers.contains_key(folder) => folder,
            key => parent_of(key).unwrap_or_default(),
        };
        match self.covers.get(folder).copied() {
            Some(Cover::Listed) if self.files.remove(key) => return true,
            // The walk did not get to it. It may be gone or ignored by now.
            Some(Cover::Listed) if self.cut => {}
            Some(Cover::Listed) if self.is_left_out(key) => look.unreadable += 1,
            Some(Cover::Listed) if self.unlisted.may_hide(key) => {}
            Some(Cover::Listed | Cover::Vanished) => look.gone.push(key.to_owned()),
            _ if nameless => look.unreadable += 1,
            _ => return true,
        }
        false
    }

    /// Reports whether the walk could not list this again, which is no news.
    fn is_left_out(&mut self, key: &str) -> bool {
        let again = self.unlisted.left_out.iter().any(|one| one.key == key);
        if again {
            self.no_news.insert(key.to_owned());
        }
        again
    }

    /// Adds what the walk could not list and could list before.
    fn finish(&mut self, look: &mut Look) {
        let mut news = std::mem::take(&mut self.unlisted.left_out);
        news.retain(|one| !self.no_news.contains(&one.key));
        look.unreadable += news.len();
        look.left_out.append(&mut news);
    }
}

fn is_folder(key: &str) -> bool {
    key.is_empty() || key.ends_with('/')
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod tests;
