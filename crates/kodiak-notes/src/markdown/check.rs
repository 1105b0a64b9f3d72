//! Checks: which of the indexed files have changed, by their times and sizes.
//!
//! Asking the system for the state of thousands of files takes longer than a search.
//! So a look may be given a share of the files to check in turn; `look` says which
//! files must be checked at any rate.

use std::io::{self, ErrorKind};
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use super::MarkdownFolder;
use super::keys::path_of_key;
use super::look::{Relisted, Settling};
use kodiak::source::{Entry, Known, KnownEntry, Look};
use kodiak_base::Result;
use kodiak_base::files;
use kodiak_base::files::state::{FileState, FolderStates};
use kodiak_text::document::Version;

/// The number of files that are checked between two looks at the clock.
pub(super) const BLOCK: usize = 128;
/// The number of files in a share that are checked together, and thus sorted by folder:
/// looking files up from their open folder is faster.
const SHARE_BLOCK: usize = 1_024;
/// The maximum number of threads that check files.
const MAX_THREADS: usize = 4;

/// How many of the indexed files were checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    /// All that the walk did not settle.
    All,
    /// All that had to be, and a share of the others.
    Share,
    /// Those that there was time for.
    Some,
}

/// Indexed files to check, in one piece of memory: allocating each key would take longer
/// than checking the file.
struct Files {
    /// The number of blocks before this one.
    number: usize,
    keys: String,
    known: Vec<KnownFile>,
}

/// The state of a file whose key is stored elsewhere.
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
    fn with_room(number: usize, block: usize) -> Self {
        Self {
            number,
            keys: String::with_capacity(block * 32),
            known: Vec::with_capacity(block),
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
            turn: None,
        }
    }
}

/// The files to check, collected in the order in which the index knows them.
struct Collector {
    files: Files,
    /// The number of files in a block.
    block: usize,
    sender: mpsc::Sender<Files>,
    /// The turn of the last file in each block, if a file in it or before it has one.
    turns: Vec<Option<i64>>,
    turn: Option<i64>,
    /// How many more files are checked in turn.
    share: usize,
    /// Whether the turn of some files is later.
    later: bool,
}

impl Collector {
    fn new(share: usize, sender: mpsc::Sender<Files>) -> Self {
        let block = match share {
            usize::MAX => BLOCK,
            _ => SHARE_BLOCK,
        };
        Self {
            files: Files::with_room(0, block),
            block,
            sender,
            turns: Vec::new(),
            turn: None,
            share,
            later: false,
        }
    }

    /// Adds a file that may have been edited in place, unless its turn is later.
    fn add_in_turn(&mut self, file: KnownEntry<'_>) {
        if file.turn.is_some() {
            if self.share == 0 {
                self.later = true;
                return;
            }
            self.share -= 1;
            self.turn = file.turn;
        }
        self.add(file);
    }

    fn add(&mut self, file: KnownEntry<'_>) {
        self.files.push(file);
        if self.files.known.len() == self.block {
            self.send();
        }
    }

    fn send(&mut self) {
        self.turns.push(self.turn);
        let next = Files::with_room(self.turns.len(), self.block);
        // The receiver outlives this.
        let _ = self.sender.send(std::mem::replace(&mut self.files, next));
    }
}

impl MarkdownFolder {
    /// Settles all indexed files: by the walk or, one by one, by their own state.
    /// Several threads check files while the index is still being read.
    pub(super) fn check_all(
        &self,
        known: &dyn Known,
        relisted: &mut Relisted<'_>,
        deadline: Instant,
        look: &mut Look,
    ) -> Result<Checked> {
        let (sender, receiver) = mpsc::channel::<Files>();
        let receiver = Mutex::new(receiver);
        // The number of the first block that there was no time for.
        let late = AtomicUsize::new(usize::MAX);
        let check = || {
            let mut found = Look::default();
            loop {
                let next = receiver.lock().map(|receiver| receiver.recv());
                let Ok(Ok(files)) = next else {
                    return found;
                };
                if Instant::now() >= deadline {
                    late.fetch_min(files.number, Ordering::Relaxed);
                    continue;
                }
                self.check_files(&files, &mut found);
            }
        };
        let mut collector = Collector::new(known.share(), sender);
        // A share is so small that another thread costs more than it saves.
        let threads = match collector.share {
            usize::MAX => thread::available_parallelism().map_or(1, usize::from),
            _ if relisted.is_empty() => 1,
            _ => 2,
        };
        let (read, parts, turns, later) = thread::scope(|scope| {
            let others = (1..threads.min(MAX_THREADS)).map(|_| scope.spawn(check));
            let others: Vec<_> = others.collect();
            let read = known.each_entry(&mut |entry| {
                match relisted.settle(entry, look) {
                    Settling::Done => {}
                    Settling::Check => collector.add(entry),
                    Settling::InTurn => collector.add_in_turn(entry),
                }
                // Only a folder that was listed can need the entries that are left.
                let enough = collector.later && relisted.is_empty();
                if enough || late.load(Ordering::Relaxed) < usize::MAX {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            });
            collector.send();
            let Collector {
                turns,
                later,
                sender,
                ..
            } = collector;
            drop(sender);
            let own = check();
            let others = others.into_iter().map(thread::ScopedJoinHandle::join);
            let parts: thread::Result<Vec<Look>> = std::iter::once(Ok(own)).chain(others).collect();
            (read, parts, turns, later)
        });
        read?;
        let Ok(parts) = parts else {
            return Ok(Checked::Some);
        };
        for part in parts {
            look.entries.extend(part.entries);
            look.gone.extend(part.gone);
            look.unreadable += part.unreadable;
        }
        let late = late.into_inner();
        let checked = turns.len().min(late);
        look.turn = turns[..checked].last().copied().flatten();
        Ok(match late {
            usize::MAX if later => Checked::Share,
            usize::MAX => Checked::All,
            _ => Checked::Some,
        })
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
                    State::Same => {}
                    State::Changed(entry) => found.entries.push(entry),
                    State::Gone => found.gone.push(known.key.to_owned()),
                    State::Unreadable => found.unreadable += 1,
                }
            }
        }
    }

    fn check(&self, known: KnownEntry<'_>, state: io::Result<Option<FileState>>) -> State {
        let state = match state {
            Ok(Some(state)) => state,
            Ok(None) => return State::Gone,
            Err(error) => {
                return match error.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => State::Gone,
                    _ => State::Unreadable,
                };
            }
        };
        let version = self.version_of(&state);
        if known.version.is_same_as(version) {
            return State::Same;
        }
        // A file that could not be read has no version. Only trying shows
        // whether it can be read now.
        let unread = known.skipped && !known.version.is_known();
        if unread && files::open(self.root.join(path_of_key(known.key))).is_err() {
            return State::Unreadable;
        }
        State::Changed(Entry {
            key: known.key.to_owned(),
            version,
            size_hint: state.size,
        })
    }
}

/// The state of an indexed file.
enum State {
    Same,
    Changed(Entry),
    Gone,
    Unreadable,
}
