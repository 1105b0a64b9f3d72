//! Writes databases like those of the note application Bear, for tests and
//! measurements.
//!
//! Tables, column order and write-ahead log are as Core Data makes them. The
//! numbers in table names differ between the generations of Bear. Nothing here
//! comes from a real database.

mod tables;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

pub use rusqlite;
pub use tables::Generation;

/// The seconds from 1970 to 2001, when Bear's time begins.
const BEARS_EPOCH: f64 = 978_307_200.0;

/// A database that can be written to, as Bear does.
#[derive(Debug)]
pub struct Bear {
    connection: Connection,
    generation: Generation,
}

/// A note to be written. Times are in seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column of its own")]
pub struct Note {
    /// The identifier that people see.
    pub identifier: String,
    /// The title, or NULL.
    pub title: Option<String>,
    /// The text, or NULL.
    pub text: Option<String>,
    /// The tags, without `#`.
    pub tags: Vec<String>,
    /// The tags that the note is pinned in.
    pub pinned_in: Vec<String>,
    /// The attachments: their names, and the text that was recognised in them.
    pub files: Vec<(String, Option<String>)>,
    /// When it was created.
    pub created: f64,
    /// When it was last modified.
    pub modified: f64,
    /// Whether it is in the trash.
    pub trashed: bool,
    /// Whether it is archived.
    pub archived: bool,
    /// Whether it is encrypted.
    pub encrypted: bool,
    /// Whether it is deleted for good, and waits for other devices to know.
    pub deleted: bool,
}

impl Note {
    /// Returns a note with this identifier, title and text, and without tags.
    pub fn new(identifier: &str, title: &str, text: &str) -> Self {
        Self {
            identifier: identifier.to_owned(),
            title: Some(title.to_owned()),
            text: Some(text.to_owned()),
            tags: Vec::new(),
            pinned_in: Vec::new(),
            files: Vec::new(),
            created: 1_769_850_000.0,
            modified: 1_769_850_000.0,
            trashed: false,
            archived: false,
            encrypted: false,
            deleted: false,
        }
    }

    /// Returns the note with these tags.
    #[must_use]
    pub fn tagged(mut self, tags: &[&str]) -> Self {
        self.tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        self
    }
}

impl Bear {
    /// Creates an empty database in WAL mode.
    pub fn create(path: &Path, generation: Generation) -> rusqlite::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")?;
        tables::create(&connection, generation)?;
        Ok(Self {
            connection,
            generation,
        })
    }

    /// Opens a database that [`Bear::create`] created.
    pub fn open(path: &Path, generation: Generation) -> rusqlite::Result<Self> {
        Ok(Self {
            connection: Connection::open(path)?,
            generation,
        })
    }

    /// Returns the connection, to do what Bear might do besides.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Adds a note and returns its number.
    pub fn add(&self, note: &Note) -> rusqlite::Result<i64> {
        self.connection
            .prepare_cached(
                "INSERT INTO ZSFNOTE (Z_ENT, Z_OPT, ZARCHIVED, ZENCRYPTED, ZPERMANENTLYDELETED,
                    ZTRASHED, ZCREATIONDATE, ZMODIFICATIONDATE, ZTEXT, ZTITLE, ZUNIQUEIDENTIFIER)
                 VALUES (?1, 1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            )?
            .execute(params![
                self.generation.note(),
                note.archived,
                note.encrypted,
                note.deleted,
                note.trashed,
                note.created - BEARS_EPOCH,
                note.modified - BEARS_EPOCH,
                note.text,
                note.title,
                note.identifier,
            ])?;
        let row = self.connection.last_insert_rowid();
        let (number, tag_number) = (self.generation.note(), self.generation.tag());
        for tag in &note.tags {
            let tag = self.tag(tag)?;
            self.connection
                .prepare_cached(&format!(
                    "INSERT OR IGNORE INTO Z_{number}TAGS (Z_{number}NOTES, Z_{tag_number}TAGS)
                     VALUES (?1, ?2)"
                ))?
                .execute([row, tag])?;
        }
        for tag in &note.pinned_in {
            let tag = self.tag(tag)?;
            self.connection.execute(
                &format!(
                    "INSERT INTO Z_{number}PINNEDINTAGS
                        (Z_{number}PINNEDNOTES, Z_{tag_number}PINNEDINTAGS) VALUES (?1, ?2)"
                ),
                [row, tag],
            )?;
        }
        for (name, text) in &note.files {
            self.attach(row, name, text.as_deref())?;
        }
        Ok(row)
    }

    /// Adds an attachment to a note.
    pub fn attach(&self, note: i64, name: &str, text: Option<&str>) -> rusqlite::Result<()> {
        let sql = "INSERT INTO ZSFNOTEFILE (Z_OPT, ZNOTE, ZFILENAME, ZSEARCHTEXT)
                   VALUES (1, ?1, ?2, ?3)";
        self.connection.execute(sql, params![note, name, text])?;
        Ok(())
    }

    /// Changes the text of a note, and with it its time and its number of saves.
    pub fn edit(&self, identifier: &str, text: &str, modified: f64) -> rusqlite::Result<()> {
        let sql = "UPDATE ZSFNOTE SET ZTEXT = ?2, ZMODIFICATIONDATE = ?3, Z_OPT = Z_OPT + 1
                   WHERE ZUNIQUEIDENTIFIER = ?1";
        let changed = (identifier, text, modified - BEARS_EPOCH);
        self.connection.execute(sql, changed)?;
        Ok(())
    }

    /// Sets a flag of a note, such as `ZTRASHED`, and leaves its time alone.
    pub fn set(&self, identifier: &str, column: &str, value: bool) -> rusqlite::Result<()> {
        let sql = format!(
            "UPDATE ZSFNOTE SET {column} = ?2, Z_OPT = Z_OPT + 1 WHERE ZUNIQUEIDENTIFIER = ?1"
        );
        self.connection.execute(&sql, params![identifier, value])?;
        Ok(())
    }

    /// Returns the number of a tag, and adds it if it is new.
    fn tag(&self, name: &str) -> rusqlite::Result<i64> {
        let known = self
            .connection
            .prepare_cached("SELECT Z_PK FROM ZSFNOTETAG WHERE ZTITLE = ?1")?
            .query_row([name], |row| row.get(0))
            .optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        let sql = "INSERT INTO ZSFNOTETAG (Z_ENT, Z_OPT, ZTITLE) VALUES (?1, 1, ?2)";
        self.connection
            .execute(sql, params![self.generation.tag(), name])?;
        Ok(self.connection.last_insert_rowid())
    }
}
