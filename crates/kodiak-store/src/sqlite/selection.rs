//! Documents by filters: which there are, in which order, and what they have in common.

use std::ops::ControlFlow;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::SqliteStore;
use super::filter::{WRITTEN, conditions};
use super::lexical::rendered;
use super::read::fixed;
use crate::vectors::Bitmap;
use crate::{Expression, Filter, Fingerprint, Matches, Moment, Row, Selection, Stretch};
use kodiak_base::error::Result;

impl Selection for SqliteStore {
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches> {
        let (mut condition, mut values) = conditions(filter);
        if let Some(excluded) = excluded {
            condition.push_str(
                " AND d.id NOT IN (SELECT rowid FROM documents_fts WHERE documents_fts MATCH ?)",
            );
            values.push(rendered(excluded).into());
        }
        let sql = format!("SELECT d.id, d.updated_at * 1.0 FROM documents AS d WHERE {condition}");
        self.unranked(&sql, values, limit)
    }

    fn by_time(&self, filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>> {
        let (mut condition, mut values) = conditions(filter);
        for (limit, sign) in [(stretch.after, ">="), (stretch.before, "<")] {
            if let Some(limit) = limit {
                condition.push_str(&format!(" AND {WRITTEN} {sign} ?"));
                values.push(limit.into());
            }
        }
        let (order, sign) = if stretch.forward {
            ("ASC", ">")
        } else {
            ("DESC", "<")
        };
        if let Some(Moment { at, key, row }) = &stretch.beside {
            condition.push_str(&format!(" AND ({WRITTEN}, d.key, d.id) {sign} (?, ?, ?)"));
            values.extend([
                Value::from(*at),
                Value::from(key.clone()),
                Value::from(*row),
            ]);
        }
        values.push(i64::try_from(stretch.limit).unwrap_or(i64::MAX).into());
        let sql = format!(
            "SELECT d.id FROM documents AS d WHERE {condition}
             ORDER BY {WRITTEN} {order}, d.key {order}, d.id {order} LIMIT ?"
        );
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
            rows.collect()
        })
    }

    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
        if let Some(members) = filter.members() {
            return self.members_matching(members, required, excluded);
        }
        let (mut condition, mut values) = conditions(filter);
        for (expression, how) in [(required, "IN"), (excluded, "NOT IN")] {
            if let Some(expression) = expression {
                condition.push_str(&format!(
                    " AND d.id {how} (SELECT rowid FROM documents_fts WHERE documents_fts MATCH ?)"
                ));
                values.push(rendered(expression).into());
            }
        }
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id FROM documents AS d WHERE {condition}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, Row>(0))?;
            rows.collect()
        })
    }

    fn fingerprints(&self, filter: &Filter) -> Result<Vec<Fingerprint>> {
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id, d.uid, d.hash, d.source FROM documents AS d WHERE {condition}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok(Fingerprint {
                    row: row.get(0)?,
                    uid: row.get(1)?,
                    hash: fixed(row.get_ref(2)?.as_blob()?),
                    source: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }

    fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT t.name, count(*) FROM tags AS t
               JOIN document_tags AS dt ON dt.tag = t.id
               JOIN documents AS d ON d.id = dt.document
              WHERE {condition} GROUP BY t.id ORDER BY t.name"
        );
        self.counts(&sql, values)
    }

    fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT d.project, count(*) FROM documents AS d
              WHERE d.project IS NOT NULL AND {condition}
              GROUP BY d.project ORDER BY d.project"
        );
        self.counts(&sql, values)
    }
}

impl SqliteStore {
    /// Returns pairs of one of these documents and a newer one that names it as
    /// superseded and meets `filter`.
    pub(super) fn direct_successors(
        &self,
        rows: &[Row],
        filter: &Filter,
    ) -> Result<Vec<(Row, Row)>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT older.id, d.id FROM json_each(?) AS wanted
               JOIN documents AS older ON older.id = wanted.value
               JOIN fields AS f ON f.name = 'supersedes' AND f.value = older.key
               JOIN documents AS d ON d.id = f.document
              WHERE d.source = older.source AND d.id <> older.id AND {condition}
              ORDER BY wanted.key, {WRITTEN}, d.id"
        );
        let wanted = std::iter::once(Value::from(list(rows)));
        self.with(|connection| {
            // Hardly any index has such documents, and then there is nothing to do.
            let any: bool = connection
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM fields WHERE name = 'supersedes')")?
                .query_row([], |row| row.get(0))?;
            if !any {
                return Ok(Vec::new());
            }
            let mut statement = connection.prepare_cached(&sql)?;
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let pairs = statement.query_map(params_from_iter(wanted.chain(values)), pair)?;
            pairs.collect()
        })
    }

    /// Runs a query that yields names with counts.
    fn counts(&self, sql: &str, values: Vec<Value>) -> Result<Vec<(String, u64)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
            let counts = statement.query_map(params_from_iter(values), pair)?;
            counts.collect()
        })
    }

    /// Returns which of these documents match `required`, but not `excluded`.
    fn members_matching(
        &self,
        members: &Bitmap,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
        let matching = |expression: &Expression, within: &Bitmap| -> Result<Bitmap> {
            let mut found = Bitmap::new();
            self.each_match(expression, |row| {
                if within.contains(row) {
                    found.insert(row);
                }
                ControlFlow::Continue(())
            })?;
            Ok(found)
        };
        let found = match required {
            Some(required) => matching(required, members)?,
            None => members.clone(),
        };
        let Some(excluded) = excluded else {
            return Ok(found);
        };
        let unwanted = matching(excluded, &found)?;
        let wanted = found.iter().filter(|&row| !unwanted.contains(row));
        Ok(wanted.collect())
    }
}

/// Writes rows as a list in JSON.
pub(super) fn list(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    format!("[{}]", rows.join(","))
}
