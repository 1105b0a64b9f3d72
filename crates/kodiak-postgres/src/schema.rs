//! The schema of an index: created and migrated under a lock.

use crate::address::quoted;
use crate::connection::{Connection, LONG, is_lost};
use crate::error::refused;
use crate::value::{Query, get};
use kodiak_base::error::{Cause, Error, Result};
use kodiak_text::text::Stemming;
use std::path::Path;

/// The migrations in order. They are never edited once released.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_initial.sql"),
    include_str!("migrations/0002_team.sql"),
    include_str!("migrations/0003_tokens.sql"),
    include_str!("migrations/0004_states.sql"),
    include_str!("migrations/0005_claims.sql"),
];

/// The newest format that this program knows.
pub(crate) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// The version of what makes terms of texts. It grows whenever other terms are made of any
/// text: programs with different ones would count terms that the other never added.
pub(crate) const ANALYSIS: i64 = 1;

/// The tables that are not derived from anything. They stay when an index is set aside.
const KEPT: [&str; 5] = [
    "team_folders",
    "team_files",
    "tombstones",
    "journals",
    "tokens",
];

/// The table of migrations, which a schema has from the first moment on.
const CREATED: &str = "CREATE TABLE IF NOT EXISTS migrations (
     number bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());";

/// What an index says about itself.
#[derive(Clone, Debug)]
pub(crate) struct Opened {
    pub(crate) generation: String,
    pub(crate) stemming: Stemming,
}

/// The name of a stemming in the index.
pub(crate) fn name_of(stemming: Stemming) -> &'static str {
    match stemming {
        Stemming::English => "english",
        Stemming::None => "none",
    }
}

/// Returns a random generation, as an expression in SQL.
pub(crate) const GENERATION: &str = "replace(gen_random_uuid()::text, '-', '')";

/// Returns the format of an index; `None` if there is none.
pub(crate) fn format(connection: &Connection, schema: &str) -> Result<Option<i64>> {
    let there = Query::new("SELECT to_regclass($1) IS NOT NULL")
        .with(format!("{}.migrations", quoted(schema)));
    let answers = connection.send(None, &[there], None)?;
    let is_there: bool = answers[0].first().map_or(Ok(false), |row| get(row, 0))?;
    if !is_there {
        return Ok(None);
    }
    let newest = Query::new(format!(
        "SELECT max(number) FROM {}.migrations",
        quoted(schema)
    ));
    let answers = connection.send(None, &[newest], None)?;
    answers[0].first().map_or(Ok(None), |row| get(row, 0))
}

/// Opens an index for reading.
pub(crate) fn open(connection: &Connection, schema: &str, place: &Path) -> Result<Opened> {
    let none = || Error::NoIndex {
        path: place.to_path_buf(),
    };
    let quoted = quoted(schema);
    let said = Query::new(format!(
        "SELECT s.generation, s.stemming, (SELECT max(number) FROM {quoted}.migrations)
         FROM {quoted}.state AS s"
    ));
    let answers = match connection.send(None, &[said], None) {
        // The state of another format may look differently.
        Err(error @ Error::Database { .. }) if !is_lost(&error) => {
            if let Ok(found) = format(connection, schema) {
                require(found, place)?;
            }
            return Err(error);
        }
        answers => answers?,
    };
    let row = answers[0].first().ok_or_else(none)?;
    let format: i64 = get::<Option<i64>>(row, 2)?.ok_or_else(none)?;
    require(Some(format), place)?;
    let stemming: &str = get(row, 1)?;
    Ok(Opened {
        generation: get(row, 0)?,
        stemming: if stemming == name_of(Stemming::None) {
            Stemming::None
        } else {
            Stemming::English
        },
    })
}

/// Refuses an index of another format than the newest.
fn require(format: Option<i64>, place: &Path) -> Result<()> {
    check(format, place)?;
    let format = format.unwrap_or(0);
    if format < i64::from(NEWEST) {
        let detail = format!(
            "it has format {format}, and this version reads {NEWEST}; index once to migrate it"
        );
        return Err(refused(place, Cause::ReadOnly, detail));
    }
    Ok(())
}

/// Refuses an index of a later version, which may have migrated it at any time.
pub(crate) fn check(format: Option<i64>, place: &Path) -> Result<()> {
    let found = format.unwrap_or(0);
    if found > i64::from(NEWEST) {
        return Err(Error::NewerIndex {
            path: place.to_path_buf(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            supported: NEWEST,
        });
    }
    Ok(())
}

/// Returns a statement that fails if a later version has migrated the index.
pub(crate) fn guard() -> Query {
    Query::new("SELECT 1 / (CASE WHEN max(number) > $1 THEN 0 ELSE 1 END) FROM migrations")
        .with(i64::from(NEWEST))
}

/// Says of an error, which [`guard`] may have caused, whether a later version has migrated the
/// index. No transaction may be open.
pub(crate) fn explained(
    connection: &Connection,
    schema: &str,
    place: &Path,
    error: Error,
) -> Error {
    if is_lost(&error) || !matches!(error, Error::Database { .. }) {
        return error;
    }
    let found = format(connection, schema);
    match found.and_then(|found| check(found, place)) {
        Err(newer @ Error::NewerIndex { .. }) => newer,
        _ => error,
    }
}

/// Returns the statements that move what is kept of an index of this format to another
/// schema, and say there of which format it is.
pub(crate) fn keep_tables(from: &str, to: &str, format: Option<i64>) -> String {
    let mut sql = format!("SET LOCAL search_path TO {to}; {CREATED}");
    if let Some(format) = format {
        sql.push_str(&format!(
            "CREATE TABLE kept (format bigint NOT NULL); INSERT INTO kept VALUES ({format});"
        ));
    }
    for table in KEPT {
        sql.push_str(&format!(
            "ALTER TABLE IF EXISTS {from}.{table} SET SCHEMA {to};"
        ));
    }
    sql
}

/// Creates what an index lacks, in one transaction.
pub(crate) fn migrate(
    connection: &Connection,
    schema: &str,
    place: &Path,
    lock: i64,
    stemming: Stemming,
) -> Result<()> {
    let found = format(connection, schema)?;
    check(found, place)?;
    if found == Some(i64::from(NEWEST)) {
        return Ok(());
    }
    let begin = format!(
        "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '1min';
         SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock({lock})"
    );
    let there = Query::new("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)");
    connection.set_patience(LONG);
    let migrated = (|| {
        let answers = connection.send(Some(&begin), &[there.with(schema)], None)?;
        // A user that may not create a schema may own one.
        if !answers[0].first().map_or(Ok(false), |row| get(row, 0))? {
            connection.send(
                Some(&format!("CREATE SCHEMA {}", quoted(schema))),
                &[],
                None,
            )?;
        }
        let created = format!("SET LOCAL search_path TO {}; {CREATED}", quoted(schema));
        connection.send(Some(&created), &[], None)?;
        // Another server may have been quicker.
        let found = format(connection, schema)?;
        check(found, place)?;
        create(connection, schema, MIGRATIONS, found.unwrap_or(0), stemming)?;
        connection.send(Some("COMMIT"), &[], None).map(drop)
    })();
    if migrated.is_err() {
        connection.send_away("ROLLBACK");
    }
    migrated
}

/// Applies the migrations after the first `done` in the open transaction. Those that made the
/// tables that were kept of another index find none of them: what they do was done to them.
fn create(
    connection: &Connection,
    schema: &str,
    migrations: &[&str],
    done: i64,
    stemming: Stemming,
) -> Result<()> {
    let kept = if done == 0 {
        kept_format(connection, schema)?
    } else {
        None
    };
    let aside = quoted(&format!("{schema}_kept"));
    let quoted = quoted(schema);
    if kept.is_some() {
        let mut sql = format!("CREATE SCHEMA {aside};");
        for table in KEPT {
            sql.push_str(&format!(
                "ALTER TABLE IF EXISTS {quoted}.{table} SET SCHEMA {aside};"
            ));
        }
        connection.send(Some(&sql), &[], None)?;
    }
    for (number, migration) in (1..).zip(migrations).skip(done.try_into().unwrap_or(0)) {
        let mut sql = format!("{migration};\nINSERT INTO migrations (number) VALUES ({number});");
        if number == 1 {
            sql.push_str(&format!(
                "INSERT INTO state (generation, stemming) VALUES ({GENERATION}, '{}');",
                name_of(stemming)
            ));
        }
        if kept == Some(number) {
            for table in KEPT {
                sql.push_str(&format!(
                    "DROP TABLE IF EXISTS {quoted}.{table};
                     ALTER TABLE IF EXISTS {aside}.{table} SET SCHEMA {quoted};"
                ));
            }
            sql.push_str(&format!("DROP SCHEMA {aside}; DROP TABLE {quoted}.kept;"));
        }
        connection.send(Some(&sql), &[], None)?;
    }
    Ok(())
}

/// Returns the format of the tables that were kept of an index that was set aside; `None` if
/// there are none, or an earlier version has kept them.
fn kept_format(connection: &Connection, schema: &str) -> Result<Option<i64>> {
    let kept = format!("{}.kept", quoted(schema));
    let there = Query::new("SELECT to_regclass($1) IS NOT NULL").with(&kept);
    let answers = connection.send(None, &[there], None)?;
    if !answers[0].first().map_or(Ok(false), |row| get(row, 0))? {
        return Ok(None);
    }
    let format = Query::new(format!("SELECT format FROM {kept}"));
    let answers = connection.send(None, &[format], None)?;
    answers[0].first().map_or(Ok(None), |row| get(row, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Address, PostgresIndex, TokenRow};
    use kodiak_store::Store;

    /// A migration that can be applied to a table once.
    const NEXT: &str = "ALTER TABLE tokens ADD COLUMN note text; ALTER TABLE team_files
         RENAME COLUMN author TO writer";

    #[test]
    #[ignore = "needs servers: tests/postgres/with starts them"]
    fn what_is_kept_of_an_index_is_not_migrated_again() {
        let addresses = std::env::var("KODIAK_TEST_POSTGRES").unwrap_or_default();
        assert!(!addresses.is_empty(), "tests/postgres/with sets it");
        for (number, address) in addresses.split_whitespace().enumerate() {
            let schema = format!("kodiak_schema_{}_{number}", std::process::id());
            let address = Address::parse(address).unwrap().with_schema(&schema);
            let index = PostgresIndex::new(address);
            let mut later = MIGRATIONS.to_vec();
            later.push(NEXT);
            index.create().unwrap();
            let token = TokenRow {
                hash: "ab".to_owned(),
                name: "Ada".to_owned(),
                ..TokenRow::default()
            };
            assert!(index.add_token(&token).unwrap());
            // Set aside by a program that knows as many migrations, and by one that has
            // brought it further.
            let known = i64::from(NEWEST);
            for (applied, done) in [(MIGRATIONS, 0), (&later[..], known), (&later[..], 0)] {
                if done == 0 {
                    index.set_aside("test").unwrap();
                    assert_eq!(index.tokens().unwrap(), std::slice::from_ref(&token));
                }
                let begin = format!("BEGIN; SET LOCAL search_path TO {schema}");
                let connection = index.pool().fresh().unwrap();
                connection.send(Some(&begin), &[], None).unwrap();
                create(&connection, &schema, applied, done, Stemming::English).unwrap();
                connection.send(Some("COMMIT"), &[], None).unwrap();
                let found = format(&connection, &schema).unwrap();
                assert_eq!(found, Some(applied.len() as i64));
                assert_eq!(index.tokens().unwrap(), std::slice::from_ref(&token));
            }
            let connection = index.pool().fresh().unwrap();
            let left =
                Query::new("SELECT nspname::text FROM pg_namespace WHERE starts_with(nspname, $1)");
            let left = connection.send(None, &[left.with(&schema)], None).unwrap();
            for row in &left[0] {
                let name: &str = get(row, 0).unwrap();
                assert!(!name.ends_with("_kept"), "{name}");
                let dropped = format!("DROP SCHEMA {name} CASCADE");
                connection.send(Some(&dropped), &[], None).unwrap();
            }
        }
    }
}
