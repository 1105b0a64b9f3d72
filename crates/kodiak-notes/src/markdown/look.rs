//! A quick look at a folder for changes since it was indexed.
//!
//! Creating, deleting and renaming a file changes its folder; editing it in place changes
//! only the file. So all folders are checked first, those that changed are listed again by
//! the rules of `walk`, and then `check` checks the files in these and the other files, the
//! likeliest to have changed first. All decisions here rest on times and sizes; no file is
//! read.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Instant;

use super::check::{BLOCK, Checked};
use super::keys::path_of_key;
use super::rules::IGNORE_FILES;
use super::walk::{Scope, Walked, parent_of};
use super::{MarkdownFolder, require_folder};
use kodiak::source::{Entry, Known, KnownEntry, Listing, Look, mounts};
use kodiak_base::Result;
use kodiak_base::files::state::FileState;
use kodiak_text::document::Version;

/// The state of the files in a folder after the walk.
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
        let checked = self.check_all(known, &mut relisted, deadline, &mut look)?;
        self.add_new(&mut relisted, &mut look);
        look.finished = checked == Checked::All && !relisted.cut;
        look.in_turn = checked == Checked::Share && !relisted.cut;
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
                // Rules that changed decide again about everything below.
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

    /// Adds the rest of the walk: all new files.
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
}

/// The work that settles an indexed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settling {
    /// Nothing: it is settled.
    Done,
    /// It must be checked, because its folder changed.
    Check,
    /// It may have been edited in place, as any file may have been.
    InTurn,
}

/// The folders that were listed again, compared with the index.
pub(super) struct Relisted<'a> {
    containers: &'a HashMap<String, Version>,
    /// How the files of each known folder are covered.
    covers: HashMap<&'a str, Cover>,
    /// Whether no folder was listed, so that all files must be checked.
    nothing: bool,
    /// The files that the walk found and that are not settled yet.
    files: HashSet<String>,
    /// The folders and files that the walk could not list.
    unlisted: Listing,
    /// The ones that it could not list before either.
    no_news: HashSet<String>,
    /// Whether the walk was cut short, so that missing files may still exist.
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
        let away = self.away(&kept);
        for folder in &away {
            listing.left_out.push(mounts::left_out(folder));
        }
        for key in self.containers.keys() {
            if away.iter().any(|folder| key.starts_with(folder)) {
                continue;
            }
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

    /// Returns the folders that were listed and whose drives are away. Their files have not
    /// vanished.
    fn away(&mut self, kept: &HashSet<String>) -> Vec<&'a str> {
        let mut away = mounts::away(
            self.containers.keys(),
            |key| kept.contains(key),
            |folder| self.files.iter().any(|file| file.starts_with(folder)),
        );
        away.retain(|folder| self.covers.get(folder) == Some(&Cover::Listed));
        for (key, cover) in &mut self.covers {
            if away.iter().any(|folder| key.starts_with(folder)) {
                *cover = Cover::Listed;
            }
        }
        away
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

    /// Reports whether no folder was listed, so that the walk settles nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.nothing
    }

    /// Settles an indexed entry as far as the walk can. Returns the remaining work.
    pub(super) fn settle(&mut self, known: KnownEntry<'_>, look: &mut Look) -> Settling {
        let key = known.key;
        // What could not be listed has a name that leads to no file.
        let nameless = key.ends_with('/') || (!cfg!(unix) && key.contains('\u{fffd}'));
        if self.nothing {
            if nameless {
                look.unreadable += 1;
                return Settling::Done;
            }
            return Settling::InTurn;
        }
        let folder = match key {
            folder if is_folder(folder) && self.covers.contains_key(folder) => folder,
            key => parent_of(key).unwrap_or_default(),
        };
        match self.covers.get(folder).copied() {
            Some(Cover::Listed) if self.files.remove(key) => return Settling::Check,
            // The walk did not get to it. It may be gone or ignored by now.
            Some(Cover::Listed) if self.cut => {}
            Some(Cover::Listed) if self.is_left_out(key) => look.unreadable += 1,
            Some(Cover::Listed) if self.unlisted.may_hide(key) => {}
            Some(Cover::Listed | Cover::Vanished) => look.gone.push(key.to_owned()),
            _ if nameless => look.unreadable += 1,
            _ => return Settling::InTurn,
        }
        Settling::Done
    }

    /// Reports whether the walk could not list this again, which is not news.
    fn is_left_out(&mut self, key: &str) -> bool {
        let again = self.unlisted.left_out.iter().any(|one| one.key == key);
        if again {
            self.no_news.insert(key.to_owned());
        }
        again
    }

    /// Adds the folders and files that the walk could list before, but not now.
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

#[cfg(test)]
#[path = "mounts_tests.rs"]
mod mounts_tests;
