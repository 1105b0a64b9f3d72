//! The tokens that are kept with an index: rows, which any server reads at each request.
//!
//! The caller decides what a token allows; here a token is a row with a hash.

use tokio_postgres::Row as SqlRow;

use crate::index::PostgresIndex;
use crate::lock::number;
use crate::schema;
use crate::value::{Query, get};
use kodiak_base::error::Result;
use kodiak_store::Store;

/// A token without the token itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenRow {
    /// The hash of the token, in hexadecimal digits.
    pub hash: String,
    /// Its name. No two tokens have one.
    pub name: String,
    /// Whether its holder may write.
    pub write: bool,
    /// The sources that exist for its holder; all if empty.
    pub sources: Vec<String>,
    /// The project that exists for its holder; all if absent.
    pub project: Option<String>,
    /// When it was made, in seconds since 1970.
    pub created_at: i64,
    /// When it stops to be valid, if ever.
    pub expires_at: Option<i64>,
    /// The day on which it was last used, counted from 1970.
    pub used_on: Option<i64>,
}

/// The columns of a token.
const COLUMNS: &str = "hash, name, can_write, sources, project, created_at, expires_at, used_on";

impl PostgresIndex {
    /// Creates the index if there is none, and brings it to the newest format. Returns
    /// whether there was none.
    pub fn create(&self) -> Result<bool> {
        self.with_connection(|connection| {
            let schema = self.schema();
            let is_new = schema::format(connection, schema)?.is_none();
            let migrating = number(schema, "migrating");
            schema::migrate(connection, schema, self.place(), migrating, self.stemming())?;
            Ok(is_new)
        })
    }

    /// Returns all tokens, in the order in which they were made.
    pub fn tokens(&self) -> Result<Vec<TokenRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {}.tokens ORDER BY created_at, name",
            self.quoted()
        );
        self.sent(&Query::new(sql))?.iter().map(row).collect()
    }

    /// Returns the token with this hash.
    pub fn token(&self, hash: &str) -> Result<Option<TokenRow>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM {}.tokens WHERE hash = $1",
            self.quoted()
        );
        let found = self.sent(&Query::new(sql).with(hash))?;
        found.first().map(row).transpose()
    }

    /// Adds a token. Returns whether no other one had its name.
    pub fn add_token(&self, token: &TokenRow) -> Result<bool> {
        let schema = self.schema();
        let format = self.with_connection(|connection| schema::format(connection, schema))?;
        schema::check(format, self.place())?;
        let schema = self.quoted();
        let added = Query::new(format!(
            "INSERT INTO {schema}.tokens ({COLUMNS}) VALUES
                 ($1, $2, $3, CASE WHEN cardinality($4) > 0 THEN $4 END, $5, $6, $7, NULL)
             ON CONFLICT DO NOTHING"
        ));
        let added = added
            .with(&token.hash)
            .with(&token.name)
            .with(token.write)
            .with(token.sources.as_slice())
            .with(token.project.as_deref())
            .with(token.created_at)
            .with(token.expires_at);
        self.require_format()?;
        self.sent(&added)?;
        // If the connection was lost after it was added, it is there.
        Ok(self.token(&token.hash)?.is_some())
    }

    /// Removes the token of this name. Returns whether there was one.
    pub fn remove_token(&self, name: &str) -> Result<bool> {
        self.require_format()?;
        let sql = format!(
            "DELETE FROM {}.tokens WHERE name = $1 RETURNING hash",
            self.quoted()
        );
        Ok(!self.sent(&Query::new(sql).with(name))?.is_empty())
    }

    /// Records the day on which a token was used, unless it is known.
    pub fn token_was_used(&self, hash: &str, day: i64) -> Result<()> {
        let sql = format!(
            "UPDATE {}.tokens SET used_on = $2
             WHERE hash = $1 AND used_on IS DISTINCT FROM $2",
            self.quoted()
        );
        self.sent(&Query::new(sql).with(hash).with(day)).map(drop)
    }

    /// Refuses an index that a later version has migrated.
    fn require_format(&self) -> Result<()> {
        self.with_connection(|connection| {
            schema::check(schema::format(connection, self.schema())?, self.place())
        })
    }

    /// Sends one statement that may be repeated, outside of any transaction.
    fn sent(&self, query: &Query) -> Result<Vec<SqlRow>> {
        let queries = std::slice::from_ref(query);
        let answers = self.with_connection(|connection| connection.send(None, queries, None));
        Ok(answers?.pop().unwrap_or_default())
    }

    /// Runs `work`, which may be repeated, with a connection. One that was kept may have
    /// been lost since.
    fn with_connection<T>(
        &self,
        work: impl Fn(&crate::connection::Connection) -> Result<T>,
    ) -> Result<T> {
        self.pool().with(work)
    }
}

fn row(row: &SqlRow) -> Result<TokenRow> {
    Ok(TokenRow {
        hash: get(row, 0)?,
        name: get(row, 1)?,
        write: get(row, 2)?,
        sources: get::<Option<Vec<String>>>(row, 3)?.unwrap_or_default(),
        project: get(row, 4)?,
        created_at: get(row, 5)?,
        expires_at: get(row, 6)?,
        used_on: get(row, 7)?,
    })
}
