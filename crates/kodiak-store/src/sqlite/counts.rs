//! Writes changes of the document frequencies of terms and words, in the transaction that
//! adds and removes their documents.

use rusqlite::{Connection, params};

use crate::FrequencyChanges;

/// Adds the changes to the tables.
pub(super) fn write(changes: &FrequencyChanges, connection: &Connection) -> rusqlite::Result<()> {
    let tables = [
        (
            changes.terms(),
            "INSERT INTO terms (term, documents) VALUES (?1, ?2)
             ON CONFLICT (term) DO UPDATE SET documents = documents + excluded.documents",
        ),
        (
            changes.words(),
            "INSERT INTO vocabulary (word, documents) VALUES (?1, ?2)
             ON CONFLICT (word) DO UPDATE SET documents = documents + excluded.documents",
        ),
    ];
    for (changes, sql) in tables {
        let mut statement = connection.prepare_cached(sql)?;
        for (name, change) in changes {
            statement.execute(params![name, change])?;
        }
    }
    Ok(())
}
