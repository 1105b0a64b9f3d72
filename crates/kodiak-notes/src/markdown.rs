//! A folder of notes: Markdown, plain text, Org.
//!
//! This module reads files safely and never leaves the folder. `walk` finds them by the
//! `rules` of ignore files, `look` finds changes among them and `check`s files one by one,
//! `locate` finds out about single ones, `note` interprets the text of a file, `save`
//! writes notes, `trash` keeps deleted ones, `waiting` lists those that may not be indexed
//! yet, and `files` offers all of this as files of notes.

mod check;
mod files;
mod keys;
mod locate;
mod look;
pub mod names;
mod rules;
mod save;
mod trash;
mod waiting;
mod walk;

use std::any::Any;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use ignore::overrides::{Override, OverrideBuilder};

use kodiak_base::files::exact_size;
use kodiak_base::files::folder::{self, Folder};
use kodiak_base::files::state::{self, FileState};
use kodiak_base::{Error, Result};
use kodiak_text::document::{Document, Timestamp, Version};

use super::decode::{Decoded, Encoding, decoded};
pub use super::note::document_from_text;
pub use keys::path_in;
use keys::path_of_key;
pub(crate) use keys::readable;
use kodiak::source::{
    DEFAULT_MAX_BYTES, Entry, Known, Listing, Located, Look, Presence, Reading, Source,
    WritableSource, mounts,
};
pub use trash::divide_number;

/// Which files of a folder to use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderOptions {
    /// The files to use, instead of those with a note's extension. A glob is
    /// matched against the path from the root; one without `/` matches at any
    /// depth. A glob that starts with `!` excludes files; if all globs do, they
    /// exclude from the files with a note's extension.
    pub globs: Vec<String>,
    /// The size in bytes above which a file is skipped.
    pub max_bytes: u64,
    /// Whether notes may be saved into the folder.
    pub writable: bool,
    /// The project of notes that name none.
    pub project: Option<String>,
}

impl Default for FolderOptions {
    fn default() -> Self {
        Self {
            globs: Vec::new(),
            max_bytes: DEFAULT_MAX_BYTES,
            writable: false,
            project: None,
        }
    }
}

/// A folder of notes as a source. Links are neither followed nor listed, and
/// nothing outside the folder is read, not even a gitignore.
#[derive(Debug)]
pub struct MarkdownFolder {
    name: String,
    root: PathBuf,
    options: FolderOptions,
    globs: Override,
    /// The number of how files become documents; another reads all of them again.
    format: u32,
    /// Returns the device that a folder is on. Only tests replace it.
    device: DeviceOf,
}

/// Returns the number of the device that a file or folder is on, where known.
type DeviceOf = fn(&Path) -> Option<u64>;

impl MarkdownFolder {
    /// Opens the folder `root` as a source with this name.
    pub fn new(name: impl Into<String>, root: &Path, options: FolderOptions) -> Result<Self> {
        require_folder(root)?;
        let root = root.canonicalize().map_err(Error::io("read", root))?;
        Ok(Self {
            name: name.into(),
            globs: compile(&root, &options.globs)?,
            root,
            options,
            format: 0,
            device: state::device,
        })
    }

    /// Returns the folder, with all links in its path resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the options of the folder.
    pub fn options(&self) -> &FolderOptions {
        &self.options
    }

    /// Returns the path of a document's file. For any key it is a path inside
    /// the folder: components that would lead out are dropped.
    pub fn path_of(&self, key: &str) -> PathBuf {
        let path = path_of_key(key);
        let parts = path.components();
        let inside = parts.filter(|part| matches!(part, Component::Normal(_)));
        inside.fold(self.root.clone(), |path, part| path.join(part))
    }

    /// Sets the number of how files become documents. It is part of each file's
    /// version, so that another number has all files read again.
    #[must_use]
    pub fn with_format(mut self, format: u32) -> Self {
        self.format = format;
        self
    }

    /// Returns the version of a file in this state.
    fn version_of(&self, state: &FileState) -> Version {
        let version = Version::of_file(state, self.options.max_bytes);
        // What a document gets from the options changes with them.
        let project = self.options.project.as_deref().unwrap_or_default();
        if self.format == 0 && project.is_empty() {
            return version;
        }
        let format = self.format.to_le_bytes();
        Version::of(&[&version.0[..], &format, project.as_bytes()].concat())
    }

    /// Interprets a system error for one file. If the whole folder is missing,
    /// for example because a drive is unplugged, the file does not count as
    /// gone.
    pub fn failed(&self, error: &io::Error) -> Result<Reading> {
        if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) {
            require_folder(&self.root)?;
            return Ok(Reading::Gone);
        }
        Ok(Reading::Unavailable(unreadable(error)))
    }
}

impl Source for MarkdownFolder {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "markdown"
    }

    fn location(&self) -> String {
        self.root.to_string_lossy().into_owned()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        vec![self.root.clone()]
    }

    fn list(&self) -> Result<Listing> {
        // An unreadable root must not look like an empty one, or everything in
        // the index would count as deleted.
        require_folder(&self.root)?;
        fs::read_dir(&self.root).map_err(Error::io("read", &self.root))?;
        let (listing, _) = self.walk(None);
        // Nor must a root that vanished in the meantime.
        require_folder(&self.root)?;
        Ok(listing)
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        self.read_as(entry, &document_from_text, emit)
    }

    fn presence(&self, entry_key: &str) -> Presence {
        if let Some(folder) = mounts::marked(entry_key) {
            let is_empty = |path| fs::read_dir(path).is_ok_and(|mut all| all.next().is_none());
            return match self.container_version(entry_key) {
                Some(version) => Presence::There(version),
                None if is_empty(self.path_of(folder)) => Presence::Unknown,
                None => Presence::Gone,
            };
        }
        if !stays_inside(entry_key) {
            return Presence::Gone;
        }
        match fs::symlink_metadata(self.path_of(entry_key)) {
            Ok(metadata) if metadata.is_file() => {
                Presence::There(self.version_of(&FileState::of(&metadata)))
            }
            Ok(_) => Presence::Gone,
            Err(error) => match self.failed(&error) {
                Ok(Reading::Gone) => Presence::Gone,
                _ => Presence::Unknown,
            },
        }
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.look(known, deadline)
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        self.locate_files(files)
    }

    fn writable(&self) -> Option<&dyn WritableSource> {
        self.options.writable.then_some(self as &dyn WritableSource)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A file that was read.
pub struct LookedAt {
    state: FileState,
    /// Whether it may be written again without its state showing it.
    too_fresh: bool,
    /// Its text, or the reason why it is not indexed.
    pub content: Result<String, String>,
    /// Its encoding, if it is text.
    encoding: Option<Encoding>,
}

impl LookedAt {
    /// Returns when the file was last modified.
    pub fn modified_at(&self) -> Timestamp {
        self.state.modified_at()
    }
}

impl MarkdownFolder {
    /// Returns the version of a file that was read. It is unknown if the file may
    /// have been written in between: that shows as a change later.
    pub fn version_read(&self, file: &LookedAt) -> Version {
        if file.too_fresh {
            return Version::UNKNOWN;
        }
        self.version_of(&file.state)
    }

    /// Reads an entry. `interpret` makes a document of the source's name, the key,
    /// the text and the time of the last change.
    pub fn read_as(
        &self,
        entry: &Entry,
        interpret: &dyn Fn(&str, &str, &str, Timestamp) -> Document,
        emit: &mut dyn FnMut(Document),
    ) -> Result<Reading> {
        let file = match self.read_file(&entry.key) {
            Ok(file) => file,
            Err(error) => return self.failed(&error),
        };
        let version = self.version_read(&file);
        Ok(match file.content {
            Ok(text) => {
                let modified = file.state.modified_at();
                let mut document = interpret(&self.name, &entry.key, &text, modified);
                if document.project.is_none() {
                    document.project = self.options.project.clone();
                }
                if let Some(remark) = file.encoding.and_then(Encoding::remark) {
                    document.problem = Some(match document.problem.take() {
                        Some(problem) => format!("{problem}; {remark}"),
                        None => remark.to_owned(),
                    });
                }
                emit(document);
                Reading::Read { version }
            }
            Err(reason) => Reading::Skipped { reason, version },
        })
    }

    /// Reads the text of a file, or returns the reason why it is not indexed.
    pub fn read_file(&self, key: &str) -> io::Result<LookedAt> {
        let refused = |reason: &str, state: FileState| {
            Ok(LookedAt {
                too_fresh: state.is_fresh(),
                state,
                content: Err(reason.to_owned()),
                encoding: None,
            })
        };
        if !stays_inside(key) {
            return refused("leaves the folder", FileState::default());
        }
        let path = self.path_of(key);
        let metadata = fs::symlink_metadata(&path)?;
        let state = FileState::of(&metadata);
        if metadata.is_symlink() {
            let inside = path.canonicalize()?.starts_with(&self.root);
            let reason = if inside {
                "is a link"
            } else {
                "leaves the folder"
            };
            return refused(reason, state);
        }
        if !metadata.is_file() {
            return refused("is not a file", state);
        }
        let (folder, name) = divided(key);
        match Folder::open(&self.root, &folder) {
            Err(error) if folder::is_link(&error) => refused("leaves the folder", state),
            folder => self.read_in(&folder?, &name),
        }
    }

    /// Reads the text of a file in an open folder, like [`Self::read_file`].
    pub fn read_in(&self, folder: &Folder, name: &Path) -> io::Result<LookedAt> {
        let file = folder.open_file(name)?;
        // Before reading, so that a write during reading shows as a change
        // later.
        let state = FileState::of(&file.metadata()?);
        let content = self.content(file, state.size)?;
        Ok(LookedAt {
            too_fresh: state.is_fresh(),
            state,
            encoding: content.as_ref().ok().map(|decoded| decoded.encoding),
            content: content.map(|decoded| decoded.text),
        })
    }

    /// Reads a file of about this size, if it is text.
    fn content(&self, file: File, size: u64) -> io::Result<Result<Decoded, String>> {
        let limit = self.options.max_bytes;
        let too_large = || Ok(Err(format!("larger than {}", exact_size(limit))));
        if size > limit {
            return too_large();
        }
        let mut bytes = Vec::with_capacity(size as usize + 1);
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return too_large();
        }
        Ok(decoded(bytes).ok_or_else(|| "binary".to_owned()))
    }
}

fn compile(root: &Path, globs: &[String]) -> Result<Override> {
    let bad = |pattern: &str, detail: String| Error::BadGlob {
        pattern: pattern.to_owned(),
        detail,
    };
    let mut builder = OverrideBuilder::new(root);
    for glob in globs {
        if glob.trim_start_matches('!').trim().is_empty() {
            return Err(bad(glob, "it is empty".to_owned()));
        }
        // Gitignore comments make no sense in a list of globs.
        let line = if glob.starts_with('#') {
            &format!("\\{glob}")
        } else {
            glob
        };
        if let Err(error) = builder.add(line) {
            let detail = match error {
                ignore::Error::Glob { err, .. } => err,
                error => error.to_string(),
            };
            return Err(bad(glob, detail));
        }
    }
    builder
        .build()
        .map_err(|error| bad(&globs.join(" "), error.to_string()))
}

/// Fails if there is no folder at a path.
pub fn require_folder(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(Error::NotAFolder {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(Error::FolderMissing {
            path: path.to_owned(),
        }),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

/// Divides a key into the path of its folder and the name of its file.
pub fn divided(key: &str) -> (PathBuf, PathBuf) {
    let path = path_of_key(key);
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().unwrap_or_default();
    (folder.to_owned(), PathBuf::from(name))
}

/// Reports whether a key is a plain path downwards.
pub fn stays_inside(key: &str) -> bool {
    let mut parts = Path::new(key).components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

fn not_there(key: &str) -> Error {
    Error::NoDocument {
        reference: key.to_owned(),
        suggestions: Vec::new(),
    }
}

fn unreadable(error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.split(" (os error").next().unwrap_or(&text);
    format!("could not be read: {reason}")
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
