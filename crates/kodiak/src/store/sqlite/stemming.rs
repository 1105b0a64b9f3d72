//! Where an index says what became of the endings of its words.

use rusqlite::{Connection, OptionalExtension};

use crate::text::Stemming;

/// What stands under the key `stemming` where words stay whole; an index that
/// has no such key has English stems.
const NONE: &str = "none";

/// What an index says. One that is not made yet says nothing.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Stemming> {
    if !connection.table_exists(None, "meta")? {
        return Ok(Stemming::default());
    }
    let said: Option<String> = connection
        .query_row("SELECT value FROM meta WHERE key = 'stemming'", [], |row| {
            row.get(0)
        })
        .optional()?;
    Ok(match said.as_deref() {
        Some(NONE) => Stemming::None,
        _ => Stemming::English,
    })
}

/// Has the index say this.
pub(super) fn write(connection: &Connection, stemming: Stemming) -> rusqlite::Result<()> {
    match stemming {
        Stemming::English => connection.execute("DELETE FROM meta WHERE key = 'stemming'", []),
        Stemming::None => connection.execute(
            "INSERT OR REPLACE INTO meta (key, value) VALUES ('stemming', ?1)",
            [NONE],
        ),
    }
    .map(drop)
}
