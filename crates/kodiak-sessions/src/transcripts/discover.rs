//! Finding the sessions of an agent on the disk, without reading them.
//!
//! Owns the layout of each agent's folder and how a session is named. The name comes
//! from the file's, so that it stays when a session is archived, compressed or moved.
//! Links are not followed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::agent::Agent;
use super::history::{self, Prompts};
use super::parser::LineFormat;
use super::turns::safe_id;
use super::{cursor, opencode, opencode_files, titles};
use kodiak::source::LeftOut;
use kodiak_base::files::state::FileState;
use kodiak_store::foreign::{ForeignDatabase, Refusal, Stamp, plain};
use kodiak_text::document::Timestamp;
use kodiak_text::document::Version;

/// How deep folders are searched.
const DEPTH: usize = 8;
/// How long to wait for a program that has locked its database.
pub(super) const PATIENCE: std::time::Duration = std::time::Duration::from_secs(2);

/// Where the records of a session are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A file of JSON lines.
    Lines(PathBuf, LineFormat),
    /// A chat of Gemini CLI.
    Gemini(PathBuf),
    /// A session in the database of OpenCode.
    OpenCode(PathBuf, String),
    /// A session in the files of an earlier OpenCode: the folder and the session's.
    OpenCodeFiles(PathBuf, PathBuf),
    /// A chat in a database of Cursor.
    Cursor(PathBuf, String),
    /// A chat of an earlier Cursor, among others in one value of its database.
    CursorTab(PathBuf, String),
    /// The prompts of a session whose transcript is gone.
    History(PathBuf, Prompts),
}

impl Origin {
    /// Returns the file.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Lines(path, _)
            | Self::Gemini(path)
            | Self::OpenCode(path, _)
            | Self::OpenCodeFiles(_, path)
            | Self::Cursor(path, _)
            | Self::CursorTab(path, _)
            | Self::History(path, _) => path,
        }
    }
}

/// A session on the disk.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its name, which is the name of the entry.
    pub(super) key: String,
    pub(super) origin: Origin,
    /// The session that started it, where its place says so.
    pub(super) parent: Option<String>,
    /// Its title, where that is kept apart from it.
    pub(super) title: Option<String>,
    pub(super) version: Version,
    pub(super) size: u64,
    pub(super) modified: Timestamp,
}

/// The sessions of an agent, by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Discovered {
    pub(super) sessions: HashMap<String, Found>,
    pub(super) left_out: Vec<LeftOut>,
    /// The sessions of which the agent remembers prompts. Most have a transcript.
    pub(super) prompts: Vec<Found>,
}

/// Finds all sessions below a folder, or in a database.
pub(super) fn discover(agent: Agent, root: &Path) -> io::Result<Discovered> {
    fs::metadata(root)?;
    let mut discovered = Discovered::default();
    match agent {
        Agent::ClaudeCode => {
            discovered.walk(&below(root, &["projects"]), &mut claude);
            discovered.prompts = history::sessions(root);
        }
        Agent::Codex => {
            let folders = ["sessions", "archived_sessions"].map(|name| root.join(name));
            let (here, any) = (
                root.to_owned(),
                folders.iter().any(|folder| folder.is_dir()),
            );
            for folder in folders
                .into_iter()
                .filter(|_| any)
                .chain((!any).then_some(here))
            {
                discovered.walk(&folder, &mut codex);
            }
            discovered.prompts = history::sessions(root);
            for (session, title) in titles::of_codex(root) {
                let named = discovered.sessions.values_mut();
                named
                    .filter(|found| is_of(&found.key, &session))
                    .for_each(|found| found.title = Some(title.clone()));
            }
        }
        Agent::Pi => discovered.walk(&below(root, &["agent/sessions", "sessions"]), &mut pi),
        Agent::Gemini => discovered.walk(&below(root, &[".gemini/tmp", "tmp"]), &mut gemini),
        Agent::OpenCode => discovered.open_code(root),
        Agent::Cursor => {
            for database in databases(root) {
                discovered.cursor_chats(&database);
            }
            let projects = root.join("projects");
            if projects.is_dir() || !root.join("globalStorage").is_dir() {
                discovered.walk(&below(root, &["projects"]), &mut cursor_lines);
            }
        }
    }
    Ok(discovered)
}

/// Reports whether a session of Codex has this id. A second one may come after it.
pub(super) fn is_of(key: &str, session: &str) -> bool {
    let rest = key.strip_prefix(session);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// Returns the first of these folders that exists, or the folder itself.
fn below(root: &Path, names: &[&str]) -> PathBuf {
    let folders = names.iter().map(|name| root.join(name));
    folders
        .into_iter()
        .find(|folder| folder.is_dir())
        .unwrap_or_else(|| root.to_owned())
}

/// Returns the kind of a file, by its path.
type Classify<'a> = dyn FnMut(&Path) -> Option<(String, Origin, Option<String>)> + 'a;

impl Discovered {
    fn walk(&mut self, root: &Path, classify: &mut Classify<'_>) {
        if root.is_file() {
            if let Ok(metadata) = fs::metadata(root) {
                self.add_file(root, &metadata, classify);
            }
            return;
        }
        let mut folders = vec![(root.to_owned(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                // There may be no such folder, or none any more.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => {
                    self.left_out.push(LeftOut {
                        key: format!("{}/", folder.display()),
                        reason: error.to_string(),
                    });
                    continue;
                }
            };
            for entry in entries.flatten() {
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                if metadata.is_dir() && depth < DEPTH {
                    folders.push((entry.path(), depth + 1));
                } else if metadata.is_file() {
                    self.add_file(&entry.path(), &metadata, classify);
                }
            }
        }
    }

    fn add_file(&mut self, path: &Path, metadata: &fs::Metadata, classify: &mut Classify<'_>) {
        let Some((key, origin, parent)) = classify(path) else {
            return;
        };
        let state = FileState::of(metadata);
        let found = Found {
            key,
            origin,
            parent,
            title: None,
            version: if state.is_fresh() {
                Version::UNKNOWN
            } else {
                Version::of_file(&state, u64::MAX)
            },
            size: metadata.len(),
            modified: state.modified_at(),
        };
        self.add(found);
    }

    /// Adds a session. Of two with one name the plain file counts, then the one
    /// that was written last.
    fn add(&mut self, found: Found) {
        let rank = |found: &Found| {
            let path = found.origin.path();
            let plain = path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
            (plain, found.modified, found.size)
        };
        match self.sessions.get_mut(&found.key) {
            Some(known) if rank(known) >= rank(&found) => {}
            Some(known) => *known = found,
            None => {
                self.sessions.insert(found.key.clone(), found);
            }
        }
    }

    fn open_code(&mut self, root: &Path) {
        let files = if root.is_file() {
            vec![root.to_owned()]
        } else {
            files_in(root, opencode::is_database)
        };
        for path in files {
            let listed = with_database(&path, opencode::list);
            match listed {
                Ok(sessions) => {
                    for stored in sessions {
                        self.add(Found {
                            key: safe_id(&stored.id),
                            origin: Origin::OpenCode(path.clone(), stored.id),
                            parent: stored.parent,
                            title: None,
                            version: stored.version,
                            size: stored.size,
                            modified: stored.updated,
                        });
                    }
                }
                Err(reason) => self.leave_out(&path, reason),
            }
        }
        for found in opencode_files::sessions(root) {
            // Those that were moved to the database are left behind as files.
            self.sessions.entry(found.key.clone()).or_insert(found);
        }
    }

    fn cursor_chats(&mut self, path: &Path) {
        match with_database(path, cursor::list) {
            Ok(chats) => {
                for chat in chats {
                    self.add(Found {
                        key: safe_id(&chat.id),
                        origin: if chat.is_tab {
                            Origin::CursorTab(path.to_owned(), chat.id)
                        } else {
                            Origin::Cursor(path.to_owned(), chat.id)
                        },
                        parent: None,
                        title: None,
                        version: chat.version,
                        size: chat.size,
                        modified: chat.updated,
                    });
                }
            }
            Err(reason) => self.leave_out(path, reason),
        }
    }

    fn leave_out(&mut self, path: &Path, reason: String) {
        // As a folder: its sessions do not count as gone.
        let key = format!("{}/", path.display());
        self.left_out.push(LeftOut { key, reason });
    }
}

/// Runs `work` on a database of another program.
pub(super) fn with_database<T>(
    path: &Path,
    work: impl Fn(&rusqlite::Connection) -> rusqlite::Result<T>,
) -> Result<T, String> {
    const TRIES: usize = 5;
    let mut tries = 0;
    loop {
        tries += 1;
        let opened = ForeignDatabase::open(path, PATIENCE).map_err(|refusal| match refusal {
            Refusal::System(error) => error.to_string(),
            Refusal::Sqlite(error) => plain(&error),
        })?;
        let done = work(opened.inner()).map_err(|error| plain(&error));
        // Whatever was read while the program wrote is read again.
        if tries >= TRIES || opened.holds(path) {
            return done;
        }
    }
}

/// Returns the state of the databases of an agent, if it keeps its sessions in some.
pub(super) fn stamp(agent: Agent, root: &Path) -> Option<Version> {
    let files = match agent {
        Agent::OpenCode if root.is_file() => vec![root.to_owned()],
        Agent::OpenCode => files_in(root, opencode::is_database),
        _ => return None,
    };
    // Without a database, the files of an earlier version are in use.
    if files.is_empty() {
        return None;
    }
    let mut state = Vec::new();
    for file in files {
        let version = Stamp::of(&file).ok()?.version();
        if !version.is_known() {
            return None;
        }
        state.extend_from_slice(&version.0);
    }
    Some(Version::of(&state))
}

fn files_in(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| wanted(path) && path.is_file());
    files.sort();
    files
}

/// Returns the databases of Cursor: the global one and those of workspaces.
fn databases(root: &Path) -> Vec<PathBuf> {
    const NAME: &str = "state.vscdb";
    if root.is_file() {
        return vec![root.to_owned()];
    }
    let mut found = vec![root.join("globalStorage").join(NAME), root.join(NAME)];
    let workspaces = fs::read_dir(root.join("workspaceStorage"))
        .into_iter()
        .flatten()
        .flatten();
    found.extend(workspaces.map(|entry| entry.path().join(NAME)));
    found.retain(|path| path.is_file());
    found.sort();
    found
}

fn name(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn folder_name(path: &Path, above: usize) -> Option<&str> {
    path.ancestors().nth(above)?.file_name()?.to_str()
}

type Class = Option<(String, Origin, Option<String>)>;

fn claude(path: &Path) -> Class {
    let stem = name(path)?.strip_suffix(".jsonl")?;
    let origin = Origin::Lines(path.to_owned(), LineFormat::Claude);
    if folder_name(path, 1) == Some("subagents") {
        let session = safe_id(folder_name(path, 2)?);
        return Some((
            format!("{session}/{}", safe_id(stem)),
            origin,
            Some(session),
        ));
    }
    // Other files of the agent are not sessions.
    (stem != "history").then(|| (safe_id(stem), origin, None))
}

fn codex(path: &Path) -> Class {
    let name = name(path)?.strip_prefix("rollout-")?;
    let stem = name
        .strip_suffix(".zst")
        .unwrap_or(name)
        .strip_suffix(".jsonl")?;
    // After the time: `2026-08-22T14-03-11-`.
    let id = stem.get(20..).filter(|id| !id.is_empty()).unwrap_or(stem);
    let origin = Origin::Lines(path.to_owned(), LineFormat::Codex);
    Some((safe_id(id), origin, None))
}

fn pi(path: &Path) -> Class {
    let stem = name(path)?.strip_suffix(".jsonl")?;
    let id = stem.rsplit_once('_').map_or(stem, |(_, id)| id);
    let origin = Origin::Lines(path.to_owned(), LineFormat::Pi);
    Some((safe_id(id), origin, None))
}

fn gemini(path: &Path) -> Class {
    let name = name(path)?;
    let stem = name
        .strip_suffix(".jsonl")
        .or_else(|| name.strip_suffix(".json"))?;
    let origin = Origin::Gemini(path.to_owned());
    if folder_name(path, 1) == Some("chats") {
        let project = folder_name(path, 2).unwrap_or("chats");
        let key = format!("{}/{}", safe_id(project), safe_id(stem));
        return Some((key, origin, None));
    }
    if folder_name(path, 2) == Some("chats") {
        let (parent, project) = (
            folder_name(path, 1)?,
            folder_name(path, 3).unwrap_or("chats"),
        );
        let key = format!("{}/{}/{}", safe_id(project), safe_id(parent), safe_id(stem));
        return Some((key, origin, Some(parent.to_owned())));
    }
    None
}

fn cursor_lines(path: &Path) -> Class {
    let stem = name(path)?.strip_suffix(".jsonl")?;
    let mut above = path
        .ancestors()
        .skip(1)
        .filter_map(|folder| folder.file_name());
    above.find(|name| *name == "agent-transcripts")?;
    let origin = Origin::Lines(path.to_owned(), LineFormat::Cursor);
    Some((safe_id(stem), origin, None))
}
