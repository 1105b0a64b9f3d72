//! The stemming of an index, as recorded in its metadata.

use rusqlite::{Connection, OptionalExtension};

use kodiak_text::text::Stemming;

/// The value of the key `stemming` if words are not stemmed. An index without
/// the key has English stems.
const NONE: &str = "none";

/// Returns the recorded stemming; the default for an index that is not created
/// yet.
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

/// Records the stemming.
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
