//! Files of notes, wherever they are kept: in a folder, or in rows of a database.
//!
//! [`NoteFiles`] is the interface of such a place. `markdown` implements it for folders,
//! and [`NoteSource`] is a source of pages over any of them. Naming notes and composing
//! their text work alike everywhere: [`create`], [`update`] and [`rename`].

mod source;

use std::fmt::Debug;
use std::path::PathBuf;
use std::time::Instant;

use crate::compose::compose;
use crate::markdown::names;
use crate::note::divide_name;
use kodiak::source::{
    Draft, Entry, FileCopy, Known, Listing, Located, Look, Presence, Reading, Trashed,
};
use kodiak_base::files::exact_size;
use kodiak_base::{Error, Result};
use kodiak_text::document::{Document, Timestamp};

pub use source::NoteSource;

/// Makes a document of the name of a source, a path, a text and the time of the last change.
pub type Interpret<'a> = &'a dyn Fn(&str, &str, &str, Timestamp) -> Document;

/// Files of notes. A file is named by its path, with `/`, and has a text. Every change of a
/// file happens in one step, so that readers see the old text or the new one.
pub trait NoteFiles: Debug + Send + Sync {
    /// Returns the name of the source that the files are of.
    fn name(&self) -> &str;

    /// Returns where they are, for messages.
    fn location(&self) -> String;

    /// Returns the paths to watch for changes; none unless the notes are files of this
    /// machine.
    fn watch_paths(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reports whether a file that is not listed is certainly gone. It may not be in a
    /// folder, whose drive may be away.
    fn is_certain(&self) -> bool {
        false
    }

    /// Lists all files.
    fn list(&self) -> Result<Listing>;

    /// Reads a file and passes the document that `interpret` makes of it to `emit`.
    fn read(
        &self,
        entry: &Entry,
        interpret: Interpret<'_>,
        emit: &mut dyn FnMut(Document),
    ) -> Result<Reading>;

    /// Reports whether a file still exists, and in which version.
    fn presence(&self, path: &str) -> Presence;

    /// Reports the same of several files, in their order.
    fn presences(&self, paths: &[&str]) -> Vec<Presence> {
        paths.iter().map(|path| self.presence(path)).collect()
    }

    /// Looks for changes since the index was last brought up to date.
    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look>;

    /// Returns which of these files, given as [`NoteFiles::file`] returns them, are here.
    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>>;

    /// Returns the files as they are at this moment, for a caller that lists them and then
    /// reads many, if that is faster or more consistent.
    fn snapshot(&self) -> Result<Option<Box<dyn NoteFiles>>> {
        Ok(None)
    }

    /// Returns the paths of the files whose texts may contain `word`, sorted. Where looking
    /// for it takes as long as reading all, these are all.
    fn with_word(&self, word: &str) -> Result<Vec<String>> {
        let _ = word;
        let entries = self.list()?.entries.into_iter();
        let mut paths: Vec<String> = entries.map(|entry| entry.key).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    /// Returns a name of a file that no other source has: for a folder its absolute path.
    fn file(&self, path: &str) -> PathBuf;

    /// Returns the whole text of a file.
    fn text(&self, path: &str) -> Result<String>;

    /// Creates a file with the text that `text` makes, unless its path is taken. Returns
    /// whether it did.
    fn create(&self, path: &str, text: &dyn Fn() -> Result<String>) -> Result<bool>;

    /// Changes the text of a file with `change`, if its hash is still `seen`. Otherwise the
    /// error is a [`Conflict`](Error::Conflict).
    fn rewrite(
        &self,
        path: &str,
        seen: [u8; 32],
        change: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<()>;

    /// Gives a file another path in the same folder, unless that is taken. Returns whether
    /// it did.
    fn rename(&self, path: &str, new: &str) -> Result<bool>;

    /// Moves a file to the trash.
    fn delete(&self, path: &str) -> Result<()>;

    /// Calls `visit` with each file in the trash and its text, in no particular order.
    fn read_trash(&self, visit: &mut dyn FnMut(Trashed, &str)) -> Result<()>;

    /// Moves a file from the trash back to its path, which must be free, and returns the
    /// path. `name` is its name in the trash, or the path that it had: then the one that
    /// was deleted last is meant.
    fn restore(&self, name: &str) -> Result<String>;

    /// Returns a file in the trash as a copy that can be erased, if it is there.
    fn copy_in_trash(&self, name: &str) -> Result<Option<FileCopy>>;

    /// Returns the file with this path and those in the trash that had it.
    fn copies(&self, path: &str) -> Result<Vec<FileCopy>>;

    /// Deletes such a file for good, unless its text has changed since or it is gone.
    /// Returns it as [`NoteFiles::file`] does.
    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf>;

    /// Waits for the turn to add a file that no other says the same as.
    fn turn(&self) -> Result<Box<dyn AddingTurn + '_>>;
}

/// The turn of one writer to add a file, until dropped. From its beginning on, the writer
/// learns of every file that others add.
pub trait AddingTurn: Debug {
    /// Returns the paths of files that were written and may not be indexed yet.
    fn waiting(&mut self) -> Result<Vec<String>>;

    /// Records which files may not be indexed yet. A place that knows this by itself does
    /// nothing.
    fn set_waiting(&mut self, paths: &[String]) -> Result<()>;

    /// Creates a file, unless its path is taken or `repeats` reports that it says the same
    /// as one that was written since the turn began, given by its path and its text.
    fn create(
        &mut self,
        path: &str,
        text: &str,
        repeats: &mut dyn FnMut(&str, &str) -> bool,
    ) -> Result<Added>;
}

/// The outcome of adding a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It was created.
    Created,
    /// Another file has its path.
    Taken,
    /// Another file says the same.
    Repeats,
}

/// Saves a new note and returns its path: the one that the draft wants, or one made from
/// its title, with a number if that is taken.
pub fn create(files: &dyn NoteFiles, draft: &Draft) -> Result<String> {
    let create = |path: &str| files.create(path, &|| compose(files.name(), path, "", draft));
    if let Some(path) = &draft.key {
        return if create(path)? {
            Ok(path.clone())
        } else {
            Err(Error::KeyTaken { key: path.clone() })
        };
    }
    let stem = names::marked_stem(&draft.title, draft.mark.as_deref());
    let folder = draft.folder.as_deref().unwrap_or_default();
    names::first_free(folder.trim_end_matches('/'), &stem, "md", create)
}

/// Changes a note as a draft says, if its text is still the one whose hash is `seen`.
pub fn update(files: &dyn NoteFiles, path: &str, draft: &Draft, seen: [u8; 32]) -> Result<()> {
    files.rewrite(path, seen, &mut |old| {
        compose(files.name(), path, old, draft)
    })
}

/// Gives a note a name made from `title`, in the same folder, and returns its new path.
/// The name ends with `mark`, if there is one. It never overwrites.
pub fn rename(
    files: &dyn NoteFiles,
    path: &str,
    title: &str,
    mark: Option<&str>,
) -> Result<String> {
    let (_, extension) = divide_name(path);
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let stem = names::marked_stem(title, mark);
    names::first_free(folder, &stem, extension, |new| {
        Ok(new == path || files.rename(path, new)?)
    })
}

/// Lists the files in the trash, the last deleted first.
pub fn trash(files: &dyn NoteFiles) -> Result<Vec<Trashed>> {
    let mut found = Vec::new();
    files.read_trash(&mut |trashed, _| found.push(trashed))?;
    found.sort_by(|one: &Trashed, other| {
        let newest = other.deleted_at.cmp(&one.deleted_at);
        newest.then_with(|| one.name.cmp(&other.name))
    });
    Ok(found)
}

/// The folder of deleted files. It is hidden, so that it is never listed.
pub(crate) const TRASH: &str = ".trash";

/// Returns the name in the trash of the `number`th file that had this path.
pub fn name_in_trash(path: &str, number: u64) -> String {
    match number {
        1 => path.to_owned(),
        _ => format!("{path}.~{number}~"),
    }
}

/// Returns the name of a [`FileCopy`] for a file in the trash.
pub fn trash_path(name: &str) -> String {
    format!("{TRASH}/{name}")
}

/// Returns the name in the trash of the file that a [`FileCopy`] with this name is of, if it
/// is there.
pub fn path_in_trash(copy: &str) -> Option<&str> {
    copy.strip_prefix(TRASH)?.strip_prefix('/')
}

/// Refuses a text that would be too large to be indexed.
pub fn require_size(path: &str, text: &str, limit: u64) -> Result<()> {
    if text.len() as u64 <= limit {
        return Ok(());
    }
    Err(Error::BadDraft {
        key: path.to_owned(),
        detail: format!("it would be larger than {}", exact_size(limit)),
    })
}
