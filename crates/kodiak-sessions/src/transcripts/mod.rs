//! The transcripts of coding agents: prompts, replies and tool calls.
//!
//! A session is an entry, a turn is a document. `discover` finds the sessions of an
//! agent, `session` reads one, and the parsers (`claude`, `codex`, `pi`, `gemini`,
//! `opencode`, `cursor`) know one format each. `turns` joins records, bounds and
//! redacts them; `keep` has the copies that outlive the originals, which are only
//! ever read.

mod agent;
mod claude;
mod codex;
mod cursor;
mod cursor_tabs;
mod discover;
mod gemini;
mod history;
mod json;
mod keep;
mod lines;
mod opencode;
mod opencode_files;
mod parser;
mod pi;
mod retired;
mod session;
mod titles;
mod tool;
mod turn;
mod turns;
mod waiting;

#[cfg(test)]
mod tests;

use std::any::Any;
use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

pub use agent::{Agent, resume};
pub use turn::{Circumstances, KIND, Role, Turn, said_and_done};

use crate::without_secrets;
use discover::{Discovered, Found, discover};
use keep::{Copy, Keep};
use kodiak::source::{
    Container, Described, Details, Entry, KeptCopies, Known, LeftOut, Listing, Look, Presence,
    Reading, Source, Traits, WHOLE, vanished,
};
use kodiak::tombstones::Tombstones;
use kodiak_base::{Error, Result};
use kodiak_text::document::{Document, Version};
use turn::Belonging;

/// The key of the container of an agent that keeps its sessions in databases.
const DATABASES: &str = "databases";

/// The shortest time between two looks for a session that was not found.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// How transcripts are read.
#[derive(Clone, Debug, Default)]
pub struct TranscriptOptions {
    /// The folder for the copies of this source; without one, nothing is kept.
    pub keep: Option<PathBuf>,
    /// Whether the thoughts of agents are indexed.
    pub thinking: bool,
}

/// The transcripts of an agent as a source.
#[derive(Debug)]
pub struct TranscriptSource {
    name: String,
    agent: Agent,
    root: PathBuf,
    keep: Option<Keep>,
    options: TranscriptOptions,
    /// The tombstones of turns that must not be kept again.
    forgotten: OnceLock<Tombstones>,
    /// The sessions as they were last found, and when.
    found: Mutex<Option<(Arc<Discovered>, Instant)>>,
}

impl TranscriptSource {
    /// Opens the folder or database of an agent. It may be gone if copies of its
    /// sessions are there.
    pub fn new(
        name: impl Into<String>,
        agent: Agent,
        root: &Path,
        options: TranscriptOptions,
    ) -> Result<Self> {
        let keep = options.keep.clone().map(Keep::new);
        let kept = keep.as_ref().is_some_and(|keep| keep.folder().is_dir());
        let root = match fs::canonicalize(root) {
            Ok(root) => root,
            Err(_) if kept => root.to_owned(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(Error::FolderMissing {
                    path: root.to_owned(),
                });
            }
            Err(error) => return Err(Error::io("read", root)(error)),
        };
        Ok(Self {
            name: name.into(),
            agent,
            root,
            keep,
            options,
            forgotten: OnceLock::new(),
            found: Mutex::default(),
        })
    }

    /// Returns the agent.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// Returns the number of sessions on the disk and their size in bytes, as far
    /// as that is known without reading them.
    pub fn extent(&self) -> Result<(usize, u64)> {
        let found = self.discover()?;
        let sizes = found.sessions.values().map(|session| session.size);
        Ok((found.sessions.len(), sizes.sum()))
    }

    /// Returns the number of kept copies and their size in bytes.
    pub fn kept(&self) -> Result<(usize, u64)> {
        let copies = self.keep.as_ref().map(Keep::list).transpose()?;
        let copies = copies.unwrap_or_default();
        Ok((copies.len(), copies.iter().map(|(_, _, size)| size).sum()))
    }

    /// Looks for the sessions on the disk.
    fn discover(&self) -> Result<Arc<Discovered>> {
        let mut found = match discover(self.agent, &self.root) {
            Ok(found) => found,
            // The copies are left.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && self.keep.is_some() => {
                Discovered::default()
            }
            Err(error) => return Err(Error::io("read", &self.root)(error)),
        };
        let away = self.keep.is_some() && self.is_away();
        if away {
            found.left_out.push(LeftOut {
                key: WHOLE.to_owned(),
                reason: "its folder is missing or empty, so only kept sessions are listed"
                    .to_owned(),
            });
        }
        // Without copies, what cannot be looked at now would count as gone.
        if let (None, Some(left_out)) = (&self.keep, found.left_out.first()) {
            let path = PathBuf::from(left_out.key.trim_end_matches('/'));
            let error = std::io::Error::other(left_out.reason.clone());
            return Err(Error::io("read", path)(error));
        }
        self.add_prompts(&mut found)?;
        let found = Arc::new(found);
        let mut last = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        // Once the folder is back, another look is needed.
        *last = (!away).then(|| (Arc::clone(&found), Instant::now()));
        Ok(found)
    }

    /// Reports whether the agent's folder is missing or empty, as on a drive that is not
    /// mounted. Nothing in it counts as deleted then.
    fn is_away(&self) -> bool {
        match fs::read_dir(&self.root) {
            Ok(mut entries) => entries.next().is_none(),
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        }
    }

    /// Adds the sessions of which only prompts are left, neither a transcript nor a
    /// copy of one.
    fn add_prompts(&self, found: &mut Discovered) -> Result<()> {
        let prompts = std::mem::take(&mut found.prompts);
        if prompts.is_empty() {
            return Ok(());
        }
        let mut known: HashSet<String> = HashSet::new();
        let kept = self.keep.as_ref().map(Keep::list).transpose()?;
        let kept = kept.unwrap_or_default().into_iter().map(|(key, ..)| key);
        for entry in found.sessions.keys().cloned().chain(kept) {
            known.extend(history::names(&entry));
        }
        for session in prompts {
            if !known.contains(&session.key) {
                found.sessions.insert(session.key.clone(), session);
            }
        }
        Ok(())
    }

    /// Returns the sessions as they were last found. If the session of this entry is
    /// not among them, or has left its place, they are looked for again: another process
    /// may have found and indexed it since. Not too often, because most that are missing
    /// are gone for good.
    fn found_with(&self, entry: &str) -> Result<Arc<Discovered>> {
        // The lock must be free for the next look.
        let last = self
            .found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let Some((found, at)) = last else {
            return self.discover();
        };
        let session = found.sessions.get(entry);
        if session.and_then(session::version_now).is_some() || at.elapsed() < LOOK_AGAIN {
            return Ok(found);
        }
        self.discover()
    }

    /// Returns the version of a session. How it is read is part of it.
    fn version(&self, found: &Found) -> Version {
        if !found.version.is_known() {
            return Version::UNKNOWN;
        }
        let mut state = found.version.0.to_vec();
        state.extend_from_slice(&keep::FORMAT.to_le_bytes());
        state.push(u8::from(self.options.thinking));
        state.extend_from_slice(found.title.as_deref().unwrap_or_default().as_bytes());
        Version::of(&state)
    }

    /// Returns the entries of all sessions: those on the disk, and those of which
    /// only a copy is left.
    fn entries(&self, found: &Discovered) -> Result<Vec<Entry>> {
        let mut entries: Vec<Entry> = found
            .sessions
            .values()
            .map(|session| Entry {
                key: session.key.clone(),
                version: self.version(session),
                size_hint: session.size,
            })
            .collect();
        for (key, state, size) in self
            .keep
            .as_ref()
            .map(Keep::list)
            .transpose()?
            .unwrap_or_default()
        {
            if !found.sessions.contains_key(&key) {
                entries.push(Entry {
                    key,
                    version: Keep::version(&state),
                    size_hint: size,
                });
            }
        }
        Ok(entries)
    }

    fn containers(&self) -> Vec<Container> {
        let version = discover::stamp(self.agent, &self.root);
        let container = |version| Container {
            key: DATABASES.to_owned(),
            version,
        };
        version.map(container).into_iter().collect()
    }

    /// Reads a session on the disk, joins it with its kept copy, and keeps it.
    fn read_session(&self, found: &Found) -> std::result::Result<Copy, session::Failure> {
        let keep = self.keep.as_ref();
        // Prompts stay in the agent's own list.
        let keep = keep.filter(|_| history::session_of(&found.key).is_none());
        let kept = keep
            .map(|keep| keep.load(&found.key))
            .transpose()?
            .flatten();
        let mut copy = session::read(found, kept.as_ref(), self.options.thinking)?;
        copy.header.agent = self.agent.name().to_owned();
        self.leave_out_forgotten(&found.key, &mut copy)?;
        // A file that has grown may say the title once more.
        if kept.as_ref().is_some_and(|kept| kept.header.untitled) {
            copy.forget_title();
        }
        if let Some(keep) = keep
            && kept.as_ref() != Some(&copy)
        {
            if copy.turns.is_empty() {
                keep.remove(&found.key)?;
            } else {
                keep.store(&found.key, &copy)?;
            }
        }
        Ok(copy)
    }

    /// Removes the turns that were forgotten.
    fn leave_out_forgotten(&self, entry: &str, copy: &mut Copy) -> Result<()> {
        let Some(forgotten) = self.forgotten.get() else {
            return Ok(());
        };
        let mut kept = Vec::with_capacity(copy.turns.len());
        let all = copy.turns.len();
        let (turns, mut before) = (std::mem::take(&mut copy.turns), 0);
        for (at, turn) in turns.into_iter().enumerate() {
            let (key, thread) = (turn::key(entry, &turn), turn::thread(entry, &turn));
            if forgotten.hold(&self.name, &key, Some(&thread))? {
                continue;
            }
            before += usize::from(at < copy.header.point.turns);
            kept.push(turn);
        }
        copy.turns = kept;
        copy.header.point.turns = before;
        if copy.turns.len() < all {
            copy.forget_title();
        }
        Ok(())
    }

    fn emit(&self, entry: &str, copy: &Copy, emit: &mut dyn FnMut(Document)) {
        let belonging = Belonging {
            source: &self.name,
            agent: self.agent.name(),
            entry,
            session: &copy.header.session,
            modified: copy.header.modified,
        };
        let mut problem = copy.header.left_over.problem();
        for turn in &copy.turns {
            emit(turn::document(turn, belonging, problem.take()));
        }
    }
}

impl TranscriptSource {
    /// Reports whether the agent has deleted the original of an entry, and only the
    /// copy is left.
    fn is_original_gone(&self, entry_key: &str) -> bool {
        if history::session_of(entry_key).is_some() {
            return true;
        }
        let Ok(found) = self.found_with(entry_key) else {
            return false;
        };
        let there = found.sessions.get(entry_key).and_then(session::version_now);
        // What cannot be looked at now is not gone. A folder without anything has been
        // looked at; that its sessions may come back is for retention to consider.
        there.is_none() && found.left_out.iter().all(|one| one.key == WHOLE)
    }
}

impl Source for TranscriptSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "transcripts"
    }

    fn location(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        let root = if self.root.is_file() {
            self.root.parent()
        } else {
            Some(self.root.as_path())
        };
        root.map(Path::to_owned).into_iter().collect()
    }

    fn list(&self) -> Result<Listing> {
        // Before the sessions are found, so that what is written during the search shows.
        let containers = self.containers();
        let found = self.discover()?;
        Ok(Listing {
            entries: self.entries(&found)?,
            left_out: found.left_out.clone(),
            containers,
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let key = entry.key.as_str();
        let found = self.found_with(key)?;
        if let Some(session) = found.sessions.get(key) {
            match self.read_session(session) {
                Ok(copy) => {
                    self.emit(key, &copy, emit);
                    return Ok(Reading::Read {
                        version: self.version(session),
                    });
                }
                Err(session::Failure::Gone) => {}
                Err(session::Failure::Unavailable(reason)) => {
                    return Ok(Reading::Unavailable(reason));
                }
                Err(session::Failure::Fatal(error)) => return Err(error),
            }
        }
        let Some(keep) = &self.keep else {
            return Ok(Reading::Gone);
        };
        let mut version = keep.presence(key);
        let loaded = keep.load(key);
        if let Ok(Some(copy)) = &loaded
            && copy.header.format < keep::FORMAT
        {
            // What was hidden while it was read must not stay in the file, either.
            let mut copy = copy.clone();
            copy.header.format = keep::FORMAT;
            if keep.store(key, &copy).is_ok() {
                version = keep.presence(key);
            }
        }
        match (loaded, version) {
            (Ok(Some(mut copy)), Some(version)) => {
                self.leave_out_forgotten(key, &mut copy)?;
                self.emit(key, &copy, emit);
                Ok(Reading::Read { version })
            }
            (Ok(_), None) => Ok(Reading::Gone),
            (Ok(None), Some(version)) => Ok(Reading::Skipped {
                reason: "the kept copy cannot be understood".to_owned(),
                version,
            }),
            (Err(error), _) => Ok(Reading::Unavailable(error.to_string())),
        }
    }

    fn presence(&self, entry_key: &str) -> Presence {
        let Ok(found) = self.found_with(entry_key) else {
            return Presence::Unknown;
        };
        let kept = || {
            let keep = self.keep.as_ref()?;
            match keep.presence(entry_key) {
                Some(version) => Some(Presence::There(version)),
                None => self.is_away().then_some(Presence::Unknown),
            }
        };
        let Some(session) = found.sessions.get(entry_key) else {
            return kept().unwrap_or(Presence::Gone);
        };
        match session::version_now(session) {
            Some(version) => Presence::There(self.version(&Found {
                version,
                ..session.clone()
            })),
            None => kept().unwrap_or(Presence::Gone),
        }
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        let mut look = Look::default();
        let containers = self.containers();
        let indexed = known.containers()?;
        let same = |one: &Container| {
            indexed
                .get(&one.key)
                .is_some_and(|it| it.is_same_as(one.version))
        };
        if !containers.is_empty() && containers.iter().all(same) {
            look.finished = true;
            return Ok(look);
        }
        let found = self.discover()?;
        if self.is_away() && has_entries(known)? {
            return Err(vanished::nothing_in(self));
        }
        let entries = self.entries(&found)?;
        if Instant::now() >= deadline {
            return Ok(look);
        }
        let mut new: HashSet<usize> = (0..entries.len()).collect();
        let places: std::collections::HashMap<&str, usize> = entries
            .iter()
            .enumerate()
            .map(|(at, entry)| (entry.key.as_str(), at))
            .collect();
        let mut changed = Vec::new();
        known.each_entry(&mut |entry| {
            match places.get(entry.key) {
                Some(&at) => {
                    new.remove(&at);
                    if !entry.version.is_same_as(entries[at].version) {
                        changed.push(entries[at].clone());
                    }
                }
                None if !entry.key.ends_with('/') => {
                    look.gone.push(entry.key.to_owned());
                }
                None => {}
            }
            ControlFlow::Continue(())
        })?;
        // What is new comes first: nothing of it can be found yet.
        let mut new: Vec<usize> = new.into_iter().collect();
        new.sort_unstable();
        look.entries = new.into_iter().map(|at| entries[at].clone()).collect();
        look.entries.append(&mut changed);
        look.containers = containers;
        look.finished = true;
        Ok(look)
    }

    fn describe(&self, described: &Described<'_>) -> Result<Details> {
        if described.document.kind != KIND {
            return described.by_fields();
        }
        let fields = (described.fields)()?;
        let is_gone = |entry| self.is_original_gone(entry);
        Ok(Details {
            archived: false,
            turn: turn::details(&fields, described.entry.is_some_and(is_gone)),
        })
    }

    fn traits(&self) -> Traits {
        without_secrets()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn kept_copies(&self) -> Option<&dyn KeptCopies> {
        Some(self)
    }

    fn forget(&self, keys: &[&str]) -> Result<()> {
        let Some(keep) = &self.keep else {
            return Ok(());
        };
        keep.erase_left_over()?;
        let entry = |key: &&str| key.rsplit_once('/').map(|(entry, _)| entry.to_owned());
        let entries: HashSet<String> = keys.iter().filter_map(entry).collect();
        for entry in entries {
            let Some(mut copy) = keep.load(&entry)? else {
                continue;
            };
            let forgotten = |turn: &Turn| keys.contains(&turn::key(&entry, turn).as_str());
            let count = copy.turns.len();
            let point = copy.header.point.turns.min(count);
            let before = copy.turns[..point]
                .iter()
                .filter(|turn| !forgotten(turn))
                .count();
            copy.turns.retain(|turn| !forgotten(turn));
            if copy.turns.is_empty() {
                keep.remove(&entry)?;
            } else if copy.turns.len() < count {
                copy.header.point.turns = before;
                copy.forget_title();
                keep.store(&entry, &copy)?;
            }
        }
        retired::forget(self, keep, keys)
    }
}

fn has_entries(known: &dyn Known) -> Result<bool> {
    let mut any = false;
    known.each_entry(&mut |_| {
        any = true;
        ControlFlow::Break(())
    })?;
    Ok(any)
}
