//! Bear's notes at one moment.
//!
//! One connection and one transaction serve a whole sync. Threads take turns at
//! the connection, and make documents of the rows while others read. Where the
//! files are read without locks and Bear wrote to them during the read, a new
//! transaction is begun and the rows are read again.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Rows};

use super::note::{self, FileState, Note, NoteFile, NoteState};
use super::problem::{PROGRAM, failure, refused};
use super::schema::{Lacking, Schema, discover};
use super::{BearDatabase, DATABASE};
use kodiak::source::{Container, Entry, Listing, Presence, Reading, Source};
use kodiak_base::files::exact_size;
use kodiak_base::{Error, ForeignProblem, Result};
use kodiak_store::foreign::{ForeignDatabase, Stamp};
use kodiak_text::document::{Document, Version};

/// How often rows are read again if Bear writes during the read.
const TRIES: usize = 5;
/// How long to wait before that.
const PAUSE: Duration = Duration::from_millis(2);
/// The number of rows between two looks at the clock.
const BLOCK: usize = 256;

/// Bear's notes at one moment.
#[derive(Debug)]
pub(crate) struct Snapshot<'a> {
    database: &'a BearDatabase,
    patience: Duration,
    open: Mutex<Open>,
}

/// An open transaction.
#[derive(Debug)]
struct Open {
    connection: ForeignDatabase,
    schema: Schema,
    /// The tags and attachments of all notes, once all notes were listed.
    around: Option<Around>,
}

impl Open {
    fn new(database: &BearDatabase, patience: Duration) -> Result<Self> {
        let path = &database.path;
        let connection =
            ForeignDatabase::open(path, patience).map_err(|refusal| refused(path, &refusal))?;
        let discovered = discover(connection.inner()).map_err(|error| failure(path, &error))?;
        let schema = discovered.map_err(|Lacking(what)| Error::Foreign {
            program: PROGRAM,
            path: path.clone(),
            problem: ForeignProblem::Lacks(what),
        })?;
        Ok(Self {
            connection,
            schema,
            around: None,
        })
    }
}

/// Reports whether an error may be gone in a moment.
fn may_pass(error: &Error) -> bool {
    use ForeignProblem::{Failed, Locked};
    matches!(
        error,
        Error::Foreign {
            problem: Failed(_) | Locked,
            ..
        }
    )
}

impl<'a> Snapshot<'a> {
    /// Begins a transaction. Waits for `patience` if another program has locked
    /// the database.
    pub(crate) fn new(database: &'a BearDatabase, patience: Duration) -> Result<Self> {
        let began = Instant::now();
        let mut tries = 0;
        let open = loop {
            tries += 1;
            match Open::new(database, patience) {
                // Bear may write while the schema is read without locks.
                Ok(open) if tries >= TRIES || open.connection.holds(&database.path) => break open,
                Ok(_) => {}
                Err(error) if !may_pass(&error) => return Err(error),
                // Bear starts or quits at this moment.
                Err(_) if tries < TRIES || began.elapsed() < patience => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(PAUSE);
        };
        Ok(Self {
            database,
            patience,
            open: Mutex::new(open),
        })
    }

    /// Returns the state of the files before the transaction began.
    pub(crate) fn stamp(&self) -> Stamp {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.connection.stamp()
    }

    /// Runs `work` in the transaction.
    fn with<T>(&self, work: impl Fn(&mut Open) -> rusqlite::Result<T>) -> Result<T> {
        let path = &self.database.path;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = work(&mut open);
        for _ in 1..TRIES {
            if open.connection.holds(path) {
                break;
            }
            *open = Open::new(self.database, self.patience)?;
            done = work(&mut open);
        }
        done.map_err(|error| failure(path, &error))
    }

    /// Returns the version and the size of every note, or `None` if there is no
    /// time for that.
    pub(crate) fn versions(&self, deadline: Option<Instant>) -> Result<Option<Versions>> {
        let max_bytes = self.database.options.max_bytes;
        self.with(|open| {
            let connection = open.connection.inner();
            let around = Around::read(connection, &open.schema)?;
            let mut statement = connection.prepare_cached(&open.schema.notes)?;
            let mut rows = statement.query([])?;
            let mut versions = Versions::default();
            let mut cursor = Cursor::default();
            while let Some(row) = rows.next()? {
                if versions.0.len().is_multiple_of(BLOCK)
                    && deadline.is_some_and(|deadline| Instant::now() >= deadline)
                {
                    return Ok(None);
                }
                let state = state(row)?;
                around.seek(state.row, &mut cursor);
                let tags = cursor.tags.iter().copied();
                let files = cursor.files.iter().copied();
                versions.0.push(Listed {
                    row: state.row,
                    version: note::version(&state, tags, files, max_bytes),
                    bytes: state.bytes,
                });
            }
            drop(rows);
            drop(statement);
            versions.0.sort_unstable_by_key(|note| note.row);
            open.around = Some(around);
            Ok(Some(versions))
        })
    }

    /// Reads a note. Returns `None` if it is gone.
    fn note(&self, row: i64) -> Result<Option<Note>> {
        let max_bytes = self.database.options.max_bytes;
        self.with(|open| {
            let connection = open.connection.inner();
            let mut statement = connection.prepare_cached(&open.schema.note)?;
            let note = statement.query_row([row], |row| {
                let state = state(row)?;
                Ok(Note {
                    identifier: text(row, 7)?,
                    title: text(row, 8)?,
                    text: if state.bytes > max_bytes {
                        String::new()
                    } else {
                        text(row, 9)?
                    },
                    state,
                    ..Note::default()
                })
            });
            let Some(mut note) = note.optional()? else {
                return Ok(None);
            };
            note.tags = tags_of(open, row)?;
            note.files = files_of(open, row)?;
            Ok(Some(note))
        })
    }
}

impl Source for Snapshot<'_> {
    fn name(&self) -> &str {
        self.database.name()
    }

    fn kind(&self) -> &'static str {
        self.database.kind()
    }

    fn location(&self) -> String {
        self.database.location()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.database.watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        let versions = self.versions(None)?.unwrap_or_default();
        Ok(Listing {
            entries: versions.0.iter().map(Listed::entry).collect(),
            left_out: Vec::new(),
            containers: vec![Container {
                key: DATABASE.to_owned(),
                version: self.stamp().version(),
            }],
        })
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let Ok(row) = entry.key.parse() else {
            return Ok(Reading::Gone);
        };
        let Some(note) = self.note(row)? else {
            return Ok(Reading::Gone);
        };
        let max_bytes = self.database.options.max_bytes;
        let version = note.version(max_bytes);
        let skipped = |reason: String| Ok(Reading::Skipped { reason, version });
        if note.state.bytes > max_bytes {
            return skipped(format!("larger than {}", exact_size(max_bytes)));
        }
        if note.identifier.is_empty() {
            return skipped("has no identifier".to_owned());
        }
        emit(note.into_document(self.name()));
        Ok(Reading::Read { version })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        let Ok(row) = entry_key.parse() else {
            return Presence::Gone;
        };
        match self.note(row) {
            Ok(Some(note)) => Presence::There(note.version(self.database.options.max_bytes)),
            Ok(None) => Presence::Gone,
            Err(_) => Presence::Unknown,
        }
    }
}

/// The versions of all notes, in the order of their numbers.
#[derive(Debug, Default)]
pub(crate) struct Versions(pub(super) Vec<Listed>);

/// A note that was listed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Listed {
    row: i64,
    pub(crate) version: Version,
    bytes: u64,
}

impl Versions {
    /// Returns the place of an entry among them.
    pub(crate) fn position(&self, entry_key: &str) -> Option<usize> {
        let row: i64 = entry_key.parse().ok()?;
        self.0.binary_search_by_key(&row, |note| note.row).ok()
    }
}

impl Listed {
    /// Returns the note's entry. The keys of all have the same length, so that
    /// entries are read in the order in which they are stored.
    pub(crate) fn entry(&self) -> Entry {
        Entry {
            key: format!("{:010}", self.row),
            version: self.version,
            size_hint: self.bytes,
        }
    }
}

/// The tags and attachments of all notes.
#[derive(Debug, Default)]
struct Around {
    /// The names of tags by their numbers.
    names: HashMap<i64, String>,
    /// Notes with tags, sorted.
    tags: Vec<(i64, i64)>,
    /// The state of attachments, sorted by note.
    files: Vec<FileState>,
}

impl Around {
    fn read(connection: &Connection, schema: &Schema) -> rusqlite::Result<Self> {
        let mut around = Self::default();
        if let Some(tags) = &schema.tags {
            let mut names = connection.prepare_cached(&tags.names)?;
            let mut names = names.query([])?;
            while let Some(row) = names.next()? {
                around.names.insert(row.get(0)?, text(row, 1)?);
            }
            let mut all = connection.prepare_cached(&tags.all)?;
            let mut all = all.query([])?;
            while let Some(row) = all.next()? {
                if let (Some(note), Some(tag)) = (row.get(0)?, row.get(1)?) {
                    around.tags.push((note, tag));
                }
            }
            around.tags.sort_unstable();
        }
        if let Some(files) = &schema.files {
            let mut all = connection.prepare_cached(&files.all)?;
            let mut all = all.query([])?;
            while let Some(row) = all.next()? {
                around.files.push(file_state(row)?);
            }
            around.files.sort_unstable();
        }
        Ok(around)
    }

    /// Moves the cursor to a note. That takes no search if it is the next one.
    fn seek<'around>(&'around self, note: i64, cursor: &mut Cursor<'around>) {
        let (tags, rest) = of_note(&self.tags, cursor.next_tag, note, |(note, _)| *note);
        cursor.next_tag = rest;
        cursor.tags.clear();
        let names = tags.iter().filter_map(|(_, tag)| self.names.get(tag));
        let names = names.map(String::as_str).filter(|name| !name.is_empty());
        cursor.tags.extend(names);
        cursor.tags.sort_unstable();
        cursor.tags.dedup();
        (cursor.files, cursor.next_file) =
            of_note(&self.files, cursor.next_file, note, |file| file.note);
    }
}

/// The tags and attachments of one note.
#[derive(Default)]
struct Cursor<'around> {
    /// The names of the tags, sorted.
    tags: Vec<&'around str>,
    files: &'around [FileState],
    next_tag: usize,
    next_file: usize,
}

/// Returns what belongs to a note, from a list that is sorted by note, and where
/// the next note begins. The note is probably the one at `next`.
fn of_note<T>(all: &[T], next: usize, note: i64, note_of: impl Fn(&T) -> i64) -> (&[T], usize) {
    let belongs = |one: &T| note_of(one) == note;
    let before = next.checked_sub(1).and_then(|before| all.get(before));
    let passed = before.is_some_and(|before| note_of(before) >= note);
    let skipped = all.get(next).is_some_and(|one| note_of(one) < note);
    let from = if passed || skipped {
        all.partition_point(|one| note_of(one) < note)
    } else {
        next
    };
    let count = all[from..].iter().take_while(|one| belongs(one)).count();
    (&all[from..from + count], from + count)
}

fn tags_of(open: &Open, note: i64) -> rusqlite::Result<Option<Vec<String>>> {
    let Some(statements) = &open.schema.tags else {
        return Ok(None);
    };
    if let Some(around) = &open.around {
        let mut cursor = Cursor::default();
        around.seek(note, &mut cursor);
        let names = cursor.tags.into_iter().map(str::to_owned);
        return Ok(Some(names.collect()));
    }
    let connection = open.connection.inner();
    let mut statement = connection.prepare_cached(&statements.of_note)?;
    let names = collect(statement.query([note])?, |row| text(row, 0))?;
    let mut names: Vec<String> = names.into_iter().filter(|name| !name.is_empty()).collect();
    names.sort_unstable();
    names.dedup();
    Ok(Some(names))
}

fn files_of(open: &Open, note: i64) -> rusqlite::Result<Vec<NoteFile>> {
    let Some(statements) = &open.schema.files else {
        return Ok(Vec::new());
    };
    let known = open.around.as_ref().map(|around| &around.files);
    let has_no_text =
        |files: &Vec<FileState>| of_note(files, 0, note, |file| file.note).0.is_empty();
    if known.is_some_and(has_no_text) {
        return Ok(Vec::new());
    }
    let connection = open.connection.inner();
    let mut statement = connection.prepare_cached(&statements.of_note)?;
    let mut files = collect(statement.query([note])?, |row| {
        Ok(NoteFile {
            state: file_state(row)?,
            name: text(row, 4)?,
            text: text(row, 5)?,
        })
    })?;
    files.sort_unstable_by_key(|file| file.state);
    Ok(files)
}

fn collect<T>(
    mut rows: Rows<'_>,
    read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    let mut all = Vec::new();
    while let Some(row) = rows.next()? {
        all.push(read(row)?);
    }
    Ok(all)
}

fn state(row: &Row<'_>) -> rusqlite::Result<NoteState> {
    Ok(NoteState {
        row: row.get(0)?,
        saves: row.get::<_, Option<i64>>(1)?.unwrap_or_default(),
        modified: row.get(2)?,
        created: row.get(3)?,
        archived: row.get::<_, i64>(4)? != 0,
        pinned: row.get::<_, i64>(5)? != 0,
        bytes: row.get(6)?,
    })
}

fn file_state(row: &Row<'_>) -> rusqlite::Result<FileState> {
    Ok(FileState {
        note: row.get(0)?,
        row: row.get(1)?,
        saves: row.get::<_, Option<i64>>(2)?.unwrap_or_default(),
        bytes: row.get(3)?,
    })
}

/// Returns the text of a column, whatever its bytes are. NULL is empty.
fn text(row: &Row<'_>, column: usize) -> rusqlite::Result<String> {
    Ok(match row.get_ref(column)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Null => String::new(),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_belongs_to_a_note_is_found_in_any_order(
            mut all in proptest::collection::vec(0_i64..20, 0..60),
            notes in proptest::collection::vec(0_i64..20, 0..30),
        ) {
            all.sort_unstable();
            let mut next = 0;
            for note in notes {
                let (found, after) = of_note(&all, next, note, |one| *one);
                let expected = all.iter().filter(|one| **one == note).count();
                prop_assert_eq!(found.len(), expected);
                prop_assert!(found.iter().all(|one| *one == note));
                next = after;
            }
        }
    }
}
