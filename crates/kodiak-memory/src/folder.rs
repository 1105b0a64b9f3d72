//! A folder of memories: markdown files that carry their own names.
//!
//! A memory's key is the `id` in its frontmatter. Its file can be renamed and moved without
//! it becoming another memory. A file without an id goes by its path. This module knows
//! ids, and `write` the form of the files; [`NoteFiles`] lists, reads and keeps them, in a
//! folder or elsewhere.

mod trashed;
mod write;

use std::any::Any;
use std::path::{Path, PathBuf};
use std::time::Instant;

use kodiak::source::fields::list_in;
use kodiak::source::{
    DEFAULT_MAX_BYTES, Described, Details, Entry, Known, Listing, Located, Look, Presence, Reading,
    Redaction, Source, Traits, Version, WritableSource,
};
use kodiak_base::{Error, Result};
use kodiak_notes::NoteFiles;
use kodiak_notes::files::AddingTurn;
use kodiak_notes::markdown::{FolderOptions, MarkdownFolder, names};
use kodiak_notes::note::interpret;
use kodiak_text::date;
use kodiak_text::document::{Document, Timestamp};

/// The longest id in bytes.
const MAX_ID_LENGTH: usize = 128;
/// The fields that must be dates.
const DATES: [&str; 4] = ["created_at", "created", "updated_at", "updated"];
/// The folder of articles inside a folder of memories.
pub const ARTICLES_FOLDER: &str = "articles";

/// The kind of the files in a folder, unless they name another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Holding {
    /// Memories: short texts, each with one thing in it.
    #[default]
    Memories,
    /// Articles: longer texts, with a reference to where they are from.
    Articles,
}

impl Holding {
    /// Returns the kind of its documents and of the source.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memories => "memory",
            Self::Articles => "article",
        }
    }
}

/// How a folder of memories is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// The kind of its files.
    pub holding: Holding,
    /// Which of its files are memories, as in [`FolderOptions`].
    pub globs: Vec<String>,
    /// The size in bytes above which a file is skipped.
    pub max_bytes: u64,
}

impl Default for MemoryOptions {
    fn default() -> Self {
        Self {
            holding: Holding::default(),
            globs: Vec::new(),
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }
}

/// A folder of memories as a source. It can always be written to.
#[derive(Debug)]
pub struct MemoryFolder {
    files: Box<dyn NoteFiles>,
    holding: Holding,
}

impl MemoryFolder {
    /// Opens the folder `root` as a source with this name. A folder of memories
    /// leaves its folder of articles to another source.
    pub fn new(name: impl Into<String>, root: &Path, options: MemoryOptions) -> Result<Self> {
        let mut globs = options.globs;
        if options.holding == Holding::Memories {
            globs.push(format!("!/{ARTICLES_FOLDER}/"));
        }
        let options_of_folder = FolderOptions {
            globs,
            max_bytes: options.max_bytes,
            writable: true,
            project: None,
        };
        let folder = MarkdownFolder::new(name, root, options_of_folder)?;
        Ok(Self::over(folder, options.holding))
    }

    /// Creates a source of files that are kept anywhere.
    pub fn over(files: impl NoteFiles + 'static, holding: Holding) -> Self {
        Self {
            files: Box::new(files),
            holding,
        }
    }

    /// Returns its files.
    pub fn into_files(self) -> Box<dyn NoteFiles> {
        self.files
    }

    /// Returns the kind of the folder's files.
    pub fn holding(&self) -> Holding {
        self.holding
    }

    /// Waits for the turn to add a memory, so that no other thread or process adds one
    /// between a check for duplicates and a write.
    pub(crate) fn turn(&self) -> Result<Box<dyn AddingTurn + '_>> {
        self.files.turn()
    }

    pub(crate) fn interpret(
        &self,
        source: &str,
        path: &str,
        text: &str,
        modified: Timestamp,
    ) -> Document {
        let mut document = interpret(source, path, text, modified);
        if document.kind.is_empty() {
            self.holding.name().clone_into(&mut document.kind);
        }
        let mut problems: Vec<String> = document.problem.take().into_iter().collect();
        if let Some(id) = list_in(&document.fields, &["id"]).into_iter().next() {
            match check_id(&id) {
                Ok(()) => {
                    document.key = id;
                    document.fallback_key = Some(path.to_owned());
                }
                Err(detail) => problems.push(format!(
                    "its id '{}' is not used: {detail}",
                    id.escape_debug()
                )),
            }
        }
        for name in DATES {
            for value in list_in(&document.fields, &[name]) {
                if date::parse(&value).is_none() {
                    problems.push(format!(
                        "its {name} '{}' is not a date",
                        value.escape_debug()
                    ));
                }
            }
        }
        if !problems.is_empty() {
            let problems = problems.join("; ");
            document.problem = Some(if document.key == path {
                problems
            } else {
                format!("{path}: {problems}")
            });
        }
        document
    }

    /// Returns the key that a file's document has if no other file has the same.
    fn key_at(&self, path: &str) -> Option<String> {
        let entry = Entry {
            key: path.to_owned(),
            version: Version::UNKNOWN,
            size_hint: 0,
        };
        let mut key = None;
        let reading = self.read(&entry, &mut |document| key = Some(document.key));
        reading.ok().and(key)
    }

    /// Returns the path of the file that holds a memory. The usual name is tried
    /// first, then the files that may have it are read. For a memory that does not exist it is the
    /// path that it would get.
    fn path_of(&self, key: &str) -> String {
        let usual = format!("{key}.md");
        if self.key_at(&usual).as_deref() == Some(key) {
            return usual;
        }
        // Of two files with one id, the second goes by its path.
        if self.key_at(key).is_some() {
            return key.to_owned();
        }
        let paths = self.files.with_word(key).unwrap_or_default();
        let holds = |path: &String| self.key_at(path).as_deref() == Some(key);
        paths.into_iter().find(holds).unwrap_or(usual)
    }
}

/// Checks that an id can be the name of a file on every system. The error says why it
/// cannot.
pub(crate) fn check_id(id: &str) -> Result<(), &'static str> {
    if id.is_empty() {
        return Err("it is empty");
    }
    if id.len() > MAX_ID_LENGTH {
        return Err("it is longer than 128 bytes");
    }
    if id.contains('/') {
        return Err("it contains a slash");
    }
    if id.starts_with(['-', '#']) {
        return Err("it begins with a sign that has another meaning");
    }
    if id.ends_with('.') {
        return Err("it ends with a dot");
    }
    if id.contains(char::is_whitespace) {
        return Err("it contains white space");
    }
    // It would be taken for a path.
    if names::check(id).is_ok() {
        return Err("it ends like the name of a file");
    }
    names::check(&format!("{id}.md"))
}

/// Fails if an id cannot be the name of a file.
pub(crate) fn require_id(id: &str) -> Result<()> {
    check_id(id).map_err(|detail| Error::BadKey {
        key: id.to_owned(),
        detail: detail.to_owned(),
    })
}

impl Source for MemoryFolder {
    fn name(&self) -> &str {
        self.files.name()
    }

    fn kind(&self) -> &'static str {
        self.holding.name()
    }

    fn location(&self) -> String {
        self.files.location()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.files.watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        self.files.list()
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let interpret = |source: &str, path: &str, text: &str, modified| {
            self.interpret(source, path, text, modified)
        };
        self.files.read(entry, &interpret, emit)
    }

    fn presence(&self, entry_key: &str) -> Presence {
        self.files.presence(entry_key)
    }

    fn presences(&self, entry_keys: &[&str]) -> Vec<Presence> {
        self.files.presences(entry_keys)
    }

    fn snapshot(&self) -> Result<Option<Box<dyn Source + '_>>> {
        let holding = self.holding;
        let snapshot = self.files.snapshot()?;
        Ok(snapshot.map(|files| Box::new(Self { files, holding }) as Box<dyn Source + '_>))
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.files.changes_since(known, deadline)
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        self.files.locate(files)
    }

    fn writable(&self) -> Option<&dyn WritableSource> {
        Some(self)
    }

    fn describe(&self, _: &Described<'_>) -> Result<Details> {
        Ok(Details::default())
    }

    fn traits(&self) -> Traits {
        Traits {
            statements: true,
            chosen_keys: true,
            certain: self.files.is_certain(),
            redaction: Some(Redaction {
                word: kodiak_redact::WORD,
                count: kodiak_redact::replaced,
            }),
        }
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
