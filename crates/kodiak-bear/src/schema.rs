//! Bear's tables, which differ between its versions.
//!
//! Core Data numbers its entities and uses the numbers in the names of tables
//! and columns that connect two of them: the tags of notes are in `Z_5TAGS` or
//! `Z_7TAGS`. `Z_PRIMARYKEY` has the numbers. Where it does not lead to a table,
//! the tables are searched by their names. This module turns what it finds into
//! the statements that `snapshot` runs.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension};

/// The statements that read a database.
#[derive(Debug)]
pub(crate) struct Schema {
    /// Lists the state of all notes.
    pub(crate) notes: String,
    /// Returns the state and the content of the note `?1`.
    pub(crate) note: String,
    /// The statements for tags, unless no note can have any.
    pub(crate) tags: Option<TagStatements>,
    /// The statements for attachments, unless Bear recognises no text in them.
    pub(crate) files: Option<FileStatements>,
}

/// The statements that read tags.
#[derive(Debug)]
pub(crate) struct TagStatements {
    /// Lists the names of all tags.
    pub(crate) names: String,
    /// Lists the notes with their tags, all of them.
    pub(crate) all: String,
    /// Lists the names of the tags of the note `?1`.
    pub(crate) of_note: String,
}

/// The statements that read attachments with recognised text.
#[derive(Debug)]
pub(crate) struct FileStatements {
    /// Lists the state of all of them.
    pub(crate) all: String,
    /// Lists the state and the content of those of the note `?1`.
    pub(crate) of_note: String,
}

/// What a database lacks to be Bear's.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lacking(pub(super) String);

/// The result of reading a schema: the schema, or what is missing.
pub(crate) type Discovered = Result<Schema, Lacking>;

const NOTES: &str = "ZSFNOTE";
const TAGS: &str = "ZSFNOTETAG";
const FILES: &str = "ZSFNOTEFILE";

/// A table with its columns.
struct Table {
    columns: HashSet<String>,
}

impl Table {
    /// Reads the columns of a table. A table that does not exist has none, nor has a
    /// view or a virtual table, which have no page: what they compute may not end.
    fn read(connection: &Connection, name: &str) -> rusqlite::Result<Self> {
        let mut statement = connection.prepare(
            "SELECT name FROM pragma_table_info(?1) WHERE EXISTS (
                 SELECT 1 FROM sqlite_schema AS s
                 WHERE s.type = 'table' AND s.rootpage > 0 AND s.name = ?1)",
        )?;
        let names = statement.query_map([name], |row| row.get(0))?;
        Ok(Self {
            columns: names.collect::<rusqlite::Result<_>>()?,
        })
    }

    fn exists(&self) -> bool {
        !self.columns.is_empty()
    }

    fn has(&self, column: &str) -> bool {
        self.columns.contains(column)
    }

    /// Returns the column, or another expression if the table does not have it.
    fn or<'a>(&self, column: &'a str, otherwise: &'a str) -> &'a str {
        if self.has(column) { column } else { otherwise }
    }

    /// Returns a condition that all of these flags are unset, as far as the
    /// table has them.
    fn none_of(&self, flags: &[&str]) -> String {
        let flags = flags.iter().filter(|flag| self.has(flag));
        let unset: Vec<String> = flags
            .map(|flag| format!("COALESCE({flag}, 0) = 0"))
            .collect();
        if unset.is_empty() {
            return "1".to_owned();
        }
        unset.join(" AND ")
    }
}

/// Reads the schema of a database.
pub(crate) fn discover(connection: &Connection) -> rusqlite::Result<Discovered> {
    let notes = Table::read(connection, NOTES)?;
    if !notes.exists() {
        return Ok(Err(Lacking(format!("table {NOTES}"))));
    }
    // Without the mark for trashed notes, deleted ones would be found.
    let needed = [
        "Z_PK",
        "ZUNIQUEIDENTIFIER",
        "ZTITLE",
        "ZTEXT",
        "ZMODIFICATIONDATE",
        "ZTRASHED",
    ];
    if let Some(missing) = needed.iter().find(|column| !notes.has(column)) {
        return Ok(Err(Lacking(format!(
            "column {missing} in the table {NOTES}"
        ))));
    }
    let state = format!(
        "Z_PK, {}, CAST(ZMODIFICATIONDATE AS REAL), CAST({} AS REAL), COALESCE({}, 0), \
         COALESCE({}, 0), COALESCE(octet_length(ZTEXT), 0)",
        notes.or("Z_OPT", "0"),
        notes.or("ZCREATIONDATE", "NULL"),
        notes.or("ZARCHIVED", "0"),
        notes.or("ZPINNED", "0"),
    );
    let visible = notes.none_of(&["ZTRASHED", "ZENCRYPTED", "ZPERMANENTLYDELETED"]);
    Ok(Ok(Schema {
        notes: format!("SELECT {state} FROM {NOTES} WHERE {visible}"),
        note: format!(
            "SELECT {state}, ZUNIQUEIDENTIFIER, ZTITLE, ZTEXT FROM {NOTES} \
             WHERE Z_PK = ?1 AND {visible}"
        ),
        tags: tags(connection)?,
        files: files(connection)?,
    }))
}

fn tags(connection: &Connection) -> rusqlite::Result<Option<TagStatements>> {
    let tags = Table::read(connection, TAGS)?;
    if !(tags.has("Z_PK") && tags.has("ZTITLE")) {
        return Ok(None);
    }
    let Some(Junction { table, note, tag }) = junction(connection)? else {
        return Ok(None);
    };
    Ok(Some(TagStatements {
        names: format!("SELECT Z_PK, ZTITLE FROM {TAGS}"),
        all: format!("SELECT {note}, {tag} FROM {table}"),
        of_note: format!(
            "SELECT ZTITLE FROM {TAGS} WHERE Z_PK IN (SELECT {tag} FROM {table} WHERE {note} = ?1)"
        ),
    }))
}

fn files(connection: &Connection) -> rusqlite::Result<Option<FileStatements>> {
    let files = Table::read(connection, FILES)?;
    let needed = ["Z_PK", "ZNOTE", "ZSEARCHTEXT"];
    if !needed.iter().all(|column| files.has(column)) {
        return Ok(None);
    }
    let state = format!(
        "ZNOTE, Z_PK, {}, octet_length(ZSEARCHTEXT)",
        files.or("Z_OPT", "0")
    );
    let searchable = format!(
        "octet_length(ZSEARCHTEXT) > 0 AND {}",
        files.none_of(&["ZPERMANENTLYDELETED"])
    );
    Ok(Some(FileStatements {
        all: format!("SELECT {state} FROM {FILES} WHERE ZNOTE IS NOT NULL AND {searchable}"),
        of_note: format!(
            "SELECT {state}, {}, ZSEARCHTEXT FROM {FILES} WHERE ZNOTE = ?1 AND {searchable}",
            files.or("ZFILENAME", "NULL")
        ),
    }))
}

/// The table that connects notes and tags, and its columns.
#[derive(Debug, PartialEq, Eq)]
struct Junction {
    table: String,
    note: String,
    tag: String,
}

/// Finds the table that connects notes and tags: by the numbers of both
/// entities, else by its name. The table of notes that are pinned in tags has a
/// similar name and is never taken.
fn junction(connection: &Connection) -> rusqlite::Result<Option<Junction>> {
    let note = entity(connection, "SFNote")?;
    let tag = entity(connection, "SFNoteTag")?;
    if let (Some(note), Some(tag)) = (note, tag) {
        let named = Junction {
            table: format!("Z_{note}TAGS"),
            note: format!("Z_{note}NOTES"),
            tag: format!("Z_{tag}TAGS"),
        };
        let table = Table::read(connection, &named.table)?;
        if table.has(&named.note) && table.has(&named.tag) {
            return Ok(Some(named));
        }
    }
    let mut statement =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    for name in names {
        let name = name?;
        if !is_numbered(&name, "TAGS") {
            continue;
        }
        let table = Table::read(connection, &name)?;
        let column = |ending| {
            let mut columns = table.columns.iter();
            columns.find(|column| is_numbered(column, ending)).cloned()
        };
        if let (Some(note), Some(tag)) = (column("NOTES"), column("TAGS")) {
            return Ok(Some(Junction {
                table: name,
                note,
                tag,
            }));
        }
    }
    Ok(None)
}

/// Returns the number of an entity.
fn entity(connection: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    let keys = Table::read(connection, "Z_PRIMARYKEY")?;
    if !(keys.has("Z_ENT") && keys.has("Z_NAME")) {
        return Ok(None);
    }
    let mut statement = connection.prepare("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?1")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

/// Reports whether a name is `Z_`, a number and `ending`.
fn is_numbered(name: &str, ending: &str) -> bool {
    let number = name
        .strip_prefix("Z_")
        .and_then(|rest| rest.strip_suffix(ending));
    number.is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
