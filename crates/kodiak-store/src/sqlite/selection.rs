//! Documents by filter: selecting, ordering and counting them.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::SqliteStore;
use super::filter::{WRITTEN, conditions};
use super::lexical::rendered;
use super::read::fixed;
use crate::vectors::Bitmap;
use crate::{
    Days, Expression, Facets, Filter, Fingerprint, Matches, Moment, Row, Selection, Stretch,
};
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

    fn latest(&self, filter: &Filter, limit: usize) -> Result<Vec<Row>> {
        let (condition, mut values) = conditions(filter);
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&latest(&condition))?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
            rows.collect()
        })
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

    fn facets(&self, rows: &[Row]) -> Result<Facets> {
        let rows = list(rows);
        // The rows of documents are short: their texts are elsewhere.
        let documents = format!(
            "SELECT d.source, d.kind, d.project, {WRITTEN} FROM json_each(?) AS wanted
               JOIN documents AS d ON d.id = wanted.value"
        );
        // Counted by number first: there are far fewer tags than documents with one.
        let tags = "SELECT t.name, n FROM (
                      SELECT dt.tag AS tag, count(*) AS n FROM json_each(?) AS wanted
                       CROSS JOIN document_tags AS dt ON dt.document = wanted.value
                       GROUP BY dt.tag)
                    JOIN tags AS t ON t.id = tag";
        let mut facets = Facets::default();
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&documents)?;
            let mut found = statement.query([&rows])?;
            while let Some(row) = found.next()? {
                count(&mut facets.sources, row.get_ref(0)?.as_str()?);
                count(&mut facets.kinds, row.get_ref(1)?.as_str()?);
                if let Some(project) = row.get_ref(2)?.as_str_or_null()? {
                    count(&mut facets.projects, project);
                }
                let day = row.get::<_, i64>(3)?.div_euclid(DAY);
                *facets.days.entry(day).or_default() += 1;
            }
            Ok(())
        })?;
        facets.tags = self.counts(tags, vec![rows.into()])?.into_iter().collect();
        Ok(facets)
    }

    fn days(&self, filter: &Filter) -> Result<Days> {
        let (condition, values) = conditions(filter);
        let sql = format!("SELECT {WRITTEN} FROM documents AS d WHERE {condition}");
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let mut found = statement.query(params_from_iter(values))?;
            let mut days = Days::new();
            while let Some(row) = found.next()? {
                let day = row.get::<_, i64>(0)?.div_euclid(DAY);
                *days.entry(day).or_default() += 1;
            }
            Ok(days)
        })
    }
}

/// The number of seconds in a day.
const DAY: i64 = 24 * 60 * 60;

/// Counts one more of a value.
fn count(counts: &mut BTreeMap<String, u64>, value: &str) {
    match counts.get_mut(value) {
        Some(known) => *known += 1,
        None => {
            counts.insert(value.to_owned(), 1);
        }
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

/// Returns the query for the documents that meet a condition and changed last. The index
/// of these times ends it after so many rows, however many there are.
fn latest(condition: &str) -> String {
    format!("SELECT d.id FROM documents AS d WHERE {condition} ORDER BY d.updated_at DESC LIMIT ?")
}

/// Writes rows as a list in JSON.
pub(super) fn list(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    format!("[{}]", rows.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteWriter;

    #[test]
    fn the_latest_are_found_without_sorting_all() {
        let folder = tempfile::tempdir().unwrap();
        let writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
        // Those of one source are sorted: they may be few, and the newest be others.
        let (condition, mut values) = conditions(&Filter::default());
        values.push(100.into());
        let plan = writer.with(|connection| {
            let sql = format!("EXPLAIN QUERY PLAN {}", latest(&condition));
            let mut statement = connection.prepare(&sql)?;
            let lines =
                statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3))?;
            lines.collect::<rusqlite::Result<Vec<_>>>()
        });
        let plan = plan.unwrap().join("\n");
        assert!(plan.contains("documents_updated"), "{plan}");
        assert!(!plan.contains("TEMP B-TREE"), "{plan}");
    }
}
