//! Kept copies: a session that was read stays, whatever becomes of its original.
//!
//! Agents delete their transcripts after weeks. A copy has the turns as they are
//! indexed: bounded and redacted, one to a line, after a line that describes the
//! session and says where reading of the original continues. Copies are data, not
//! index. Forgetting removes them, and retention moves them to a hidden folder first
//! (`retired`). Only their owner can read them: folders have mode 0700, files 0600.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::turn::{Circumstances, Session, Turn};
use super::turns::{LeftOver, ResumePoint};
use kodiak_base::files;
use kodiak_base::files::folder::Folder;
use kodiak_base::files::left_over::{erase_left_over, is_left_over};
use kodiak_base::files::state::FileState;
use kodiak_base::files::temporary::{Rights, Temporary, move_without_overwriting};
use kodiak_base::{Error, Result};
use kodiak_text::document::{Timestamp, Version};

/// The format of the copies, including the secrets that are left out. Copies in an earlier
/// format may have secrets that are recognised by now.
pub(super) const FORMAT: u32 = 2;
const EXTENSION: &str = "jsonl";
/// The folder of retired copies. It is hidden, so that they are not listed.
const TRASH: &str = ".trash";

/// The folder of the copies of one source.
#[derive(Clone, Debug)]
pub(super) struct Keep {
    folder: PathBuf,
}

/// The facts about a kept session beside its turns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Header {
    pub(super) format: u32,
    pub(super) agent: String,
    pub(super) session: Session,
    /// Whether something of it was forgotten. Its title may say that, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) untitled: bool,
    /// When the original was last written.
    pub(super) modified: Timestamp,
    /// Whether thinking is part of it.
    pub(super) thinking: bool,
    pub(super) left_over: LeftOver,
    /// A hash of the part of the original that was read, as hexadecimal digits.
    pub(super) fingerprint: String,
    pub(super) point: ResumePoint,
}

/// A copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) header: Header,
    pub(super) turns: Vec<Turn>,
}

impl Copy {
    /// Removes the title for good: it is made from turns, one of which was forgotten.
    pub(super) fn forget_title(&mut self) {
        self.header.untitled = true;
        self.header.session.title = None;
        self.header.point.context.session.title = None;
    }
}

impl Keep {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the copy of an entry. The parts of its key are safe as
    /// names of files.
    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.{EXTENSION}"))
    }

    /// Lists the copies: the key of each entry, its state and its size.
    pub(super) fn list(&self) -> Result<Vec<(String, FileState, u64)>> {
        let mut found = Vec::new();
        let mut folders = vec![(self.folder.clone(), String::new())];
        while let Some((folder, prefix)) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(Error::io("read", &folder)(error)),
            };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let Ok(metadata) = entry.metadata() else {
                    continue;
                };
                if name.starts_with('.') {
                    // A killed process may have left a whole session.
                    let path = Path::new(&name);
                    if let Ok(folder) = Folder::root(&folder)
                        && is_left_over(&folder, path)
                    {
                        folder.erase_file(path)?;
                    }
                    continue;
                }
                if metadata.is_dir() {
                    folders.push((entry.path(), format!("{prefix}{name}/")));
                } else if let Some(stem) =
                    name.strip_suffix(".jsonl").filter(|_| metadata.is_file())
                {
                    found.push((
                        format!("{prefix}{stem}"),
                        FileState::of(&metadata),
                        metadata.len(),
                    ));
                }
            }
        }
        Ok(found)
    }

    /// Returns the version of an entry of which only the copy is left.
    pub(super) fn version(state: &FileState) -> Version {
        let mut bytes = b"kept".to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&Version::of_file(&state.without_change_time(), u64::MAX).0);
        Version::of(&bytes)
    }

    /// Returns the version of a copy, if there is one.
    pub(super) fn presence(&self, key: &str) -> Option<Version> {
        let metadata = fs::symlink_metadata(self.path(key)).ok()?;
        metadata
            .is_file()
            .then(|| Self::version(&FileState::of(&metadata)))
    }

    /// Reads a copy. One that cannot be understood counts as none, unless it is of
    /// a later format: that must not be overwritten.
    pub(super) fn load(&self, key: &str) -> Result<Option<Copy>> {
        let path = self.path(key);
        let file = match files::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        read(BufReader::new(file)).map_err(Error::io("read", &path))
    }

    /// Returns when something was last said in a copy, or else when its original was
    /// last written. It reads no more of the turns than their times.
    pub(super) fn last_said(&self, key: &str) -> Result<Option<Timestamp>> {
        #[derive(Deserialize)]
        struct Said {
            at: Option<Timestamp>,
        }
        let path = self.path(key);
        let read = || -> io::Result<Option<Timestamp>> {
            let mut lines = BufReader::new(files::open(&path)?).lines();
            let header = lines.next().transpose()?.unwrap_or_default();
            let Ok(header) = serde_json::from_str::<Header>(&header) else {
                return Ok(None);
            };
            let mut last = None;
            for line in lines {
                let said: Option<Said> = serde_json::from_str(&line?).ok();
                last = last.max(said.and_then(|said| said.at));
            }
            Ok(Some(last.unwrap_or(header.modified)))
        };
        match read() {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            other => other.map_err(Error::io("read", &path)),
        }
    }

    /// Writes a copy in one step.
    pub(super) fn store(&self, key: &str, copy: &Copy) -> Result<()> {
        let path = self.path(key);
        let (folder, name) = divided(&path);
        files::create_folder(folder).map_err(Error::io("create the folder", folder))?;
        let text = write(copy);
        let folder = Folder::root(folder).map_err(Error::io("open the folder", folder))?;
        Temporary::write(&folder, text.as_bytes(), Rights::Owner)
            .and_then(|complete| complete.replace(name))
            .map_err(Error::io("write", &path))?;
        Ok(())
    }

    /// Deletes a copy.
    pub(super) fn remove(&self, key: &str) -> Result<()> {
        let path = self.path(key);
        let (folder, name) = divided(&path);
        match Folder::root(folder) {
            Ok(folder) => {
                folder.erase_file(name)?;
                folder.sync();
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(Error::io("open the folder", folder)(error)),
        }
    }

    /// Deletes the temporary files that killed processes have left.
    pub(super) fn erase_left_over(&self) -> Result<()> {
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            if let Ok(open) = Folder::root(&folder) {
                erase_left_over(&open)?;
            }
            let Ok(entries) = fs::read_dir(&folder) else {
                continue;
            };
            let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|it| it.is_dir());
            folders.extend(entries.flatten().filter(is_folder).map(|it| it.path()));
        }
        Ok(())
    }

    /// Returns a folder of copies that were moved out of the way at a moment.
    pub(super) fn trash_of(&self, at: Timestamp) -> Self {
        Self::new(self.folder.join(TRASH).join(at.to_string()))
    }

    /// Returns the folders of copies that were moved out of the way, each with its
    /// moment.
    pub(super) fn trashes(&self) -> Result<Vec<(Timestamp, Self)>> {
        let trash = self.folder.join(TRASH);
        let entries = match fs::read_dir(&trash) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", &trash)(error)),
        };
        let names = entries
            .flatten()
            .filter_map(|it| it.file_name().into_string().ok());
        let mut moments: Vec<Timestamp> = names.filter_map(|name| name.parse().ok()).collect();
        moments.sort_unstable();
        Ok(moments
            .into_iter()
            .map(|at| (at, self.trash_of(at)))
            .collect())
    }

    /// Moves a copy to another folder, unless it is gone or the other has one. Returns
    /// whether it was moved.
    pub(super) fn move_to(&self, other: &Self, key: &str) -> Result<bool> {
        let (from, to) = (self.path(key), other.path(key));
        if !from.exists() {
            return Ok(false);
        }
        let ((old, old_name), (new, new_name)) = (divided(&from), divided(&to));
        files::create_folder(new).map_err(Error::io("create the folder", new))?;
        let open = |path: &Path| Folder::root(path).map_err(Error::io("open the folder", path));
        let (old, new) = (open(old)?, open(new)?);
        let moved = move_without_overwriting(&old, old_name, &new, new_name);
        moved.map_err(Error::io("move", &from))
    }

    /// Removes the folder and those inside if there is nothing in them.
    pub(super) fn remove_if_empty(&self) {
        fn remove(folder: &Path) {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    remove(&entry.path());
                }
            }
            // One that is not empty stays.
            let _ = fs::remove_dir(folder);
        }
        remove(&self.folder);
    }
}

/// Divides the path of a file into its folder and its name.
fn divided(path: &Path) -> (&Path, &Path) {
    let folder = path.parent().unwrap_or(path);
    (folder, Path::new(path.file_name().unwrap_or_default()))
}

fn read(mut file: impl BufRead) -> io::Result<Option<Copy>> {
    let mut line = String::new();
    file.read_line(&mut line)?;
    let Ok(header) = serde_json::from_str::<Header>(&line) else {
        return Ok(None);
    };
    if header.format > FORMAT {
        let message = "it was written by a later version of Kodiak";
        return Err(io::Error::new(ErrorKind::InvalidData, message));
    }
    let mut copy = Copy {
        header,
        turns: Vec::new(),
    };
    let mut around = Circumstances::default();
    loop {
        line.clear();
        if file.read_line(&mut line)? == 0 {
            return Ok(Some(copy));
        }
        // A line that cannot be read is lost; the others are not.
        let Ok(mut turn) = serde_json::from_str::<Turn>(&line) else {
            continue;
        };
        inherit(&mut turn.around, &mut around);
        if copy.header.format < FORMAT {
            turn.hide_secrets();
        }
        copy.turns.push(turn);
    }
}

/// Fills in the circumstances that a turn shares with the one before.
fn inherit(own: &mut Circumstances, before: &mut Circumstances) {
    let pairs = [
        (&mut own.cwd, &mut before.cwd),
        (&mut own.project, &mut before.project),
        (&mut own.branch, &mut before.branch),
        (&mut own.model, &mut before.model),
    ];
    for (own, before) in pairs {
        match own {
            Some(own) => *before = Some(own.clone()),
            None => own.clone_from(before),
        }
    }
}

fn write(copy: &Copy) -> String {
    let mut text = line(&copy.header);
    let mut before = Circumstances::default();
    for turn in &copy.turns {
        let mut turn = turn.clone();
        let now = turn.around.clone();
        let pairs = [
            (&mut turn.around.cwd, &before.cwd),
            (&mut turn.around.project, &before.project),
            (&mut turn.around.branch, &before.branch),
            (&mut turn.around.model, &before.model),
        ];
        for (own, before) in pairs {
            if own == before {
                *own = None;
            }
        }
        text.push_str(&line(&turn));
        before = now;
    }
    text
}

/// Writes a value as a line.
fn line(value: &impl Serialize) -> String {
    // The keys of these values are names, which JSON can always write.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}
