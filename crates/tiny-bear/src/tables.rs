//! The tables of Bear's database, in several generations.

use rusqlite::Connection;

/// A generation of Bear's database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    /// With `Z_7TAGS` (`Z_7NOTES`, `Z_14TAGS`).
    Older,
    /// With `Z_5TAGS` (`Z_5NOTES`, `Z_13TAGS`).
    Newer,
}

impl Generation {
    /// All generations.
    pub const ALL: [Self; 2] = [Self::Older, Self::Newer];

    /// Returns the number of the entity of notes.
    pub fn note(self) -> i64 {
        match self {
            Self::Older => 7,
            Self::Newer => 5,
        }
    }

    /// Returns the number of the entity of tags.
    pub fn tag(self) -> i64 {
        match self {
            Self::Older => 14,
            Self::Newer => 13,
        }
    }
}

/// Creates the tables. Core Data puts numbers first, then times, then texts in
/// the order of their names.
pub(crate) fn create(connection: &Connection, generation: Generation) -> rusqlite::Result<()> {
    let (note, tag) = (generation.note(), generation.tag());
    connection.execute_batch(&format!(
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
         INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES
            (1, 'SFBase', 0, 0), ({note}, 'SFNote', 1, 0), (6, 'SFNoteBackLink', 1, 0),
            (9, 'SFNoteFile', 1, 0), ({tag}, 'SFNoteTag', 1, 0);
         CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
         CREATE TABLE ZSFNOTE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZARCHIVED INTEGER, ZENCRYPTED INTEGER, ZHASFILES INTEGER, ZLOCKED INTEGER,
            ZPERMANENTLYDELETED INTEGER, ZPINNED INTEGER, ZTRASHED INTEGER,
            ZCREATIONDATE TIMESTAMP, ZMODIFICATIONDATE TIMESTAMP, ZTRASHEDDATE TIMESTAMP,
            ZSUBTITLE VARCHAR, ZTEXT VARCHAR, ZTITLE VARCHAR, ZUNIQUEIDENTIFIER VARCHAR,
            ZENCRYPTEDDATA BLOB);
         CREATE TABLE ZSFNOTETAG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZPINNED INTEGER, ZMODIFICATIONDATE TIMESTAMP, ZTITLE VARCHAR);
         CREATE TABLE ZSFNOTEFILE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZPERMANENTLYDELETED INTEGER, ZNOTE INTEGER, ZFILENAME VARCHAR, ZSEARCHTEXT VARCHAR);
         CREATE INDEX ZSFNOTEFILE_ZNOTE_INDEX ON ZSFNOTEFILE (ZNOTE);
         CREATE TABLE ZSFNOTEBACKLINK (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
            ZLINKEDBY INTEGER, ZLINKINGTO INTEGER);
         CREATE TABLE Z_{note}PINNEDINTAGS (Z_{note}PINNEDNOTES INTEGER, Z_{tag}PINNEDINTAGS INTEGER,
            PRIMARY KEY (Z_{note}PINNEDNOTES, Z_{tag}PINNEDINTAGS));
         CREATE TABLE Z_{note}TAGS (Z_{note}NOTES INTEGER, Z_{tag}TAGS INTEGER,
            PRIMARY KEY (Z_{note}NOTES, Z_{tag}TAGS));
         CREATE INDEX Z_{note}TAGS_Z_{tag}TAGS_INDEX ON Z_{note}TAGS (Z_{tag}TAGS, Z_{note}NOTES);"
    ))
}
