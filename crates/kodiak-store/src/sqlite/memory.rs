//! Documents by time, by many names at once, and what supersedes them.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::SqliteStore;
use super::filter::{WRITTEN, conditions};
use crate::{Filter, Moment, Row, Stretch};
use kodiak_base::error::Result;

impl SqliteStore {
    /// Returns documents that match `filter` in the order in which they were
    /// written.
    pub fn by_time(&self, filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>> {
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

    /// Returns which of these documents are superseded by documents that match
    /// `filter`: pairs of the older and the newer one.
    pub fn successors(&self, rows: &[Row], filter: &Filter) -> Result<Vec<(Row, Row)>> {
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

    /// Returns the documents that `filter` admits and that have these names: keys,
    /// or beginnings of ids after `#`. Each row comes with the number of its name.
    pub fn named(&self, names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>> {
        let (condition, values) = conditions(filter);
        // The digit 'g' follows the last hexadecimal one.
        let sql = format!(
            "SELECT wanted.key, d.id FROM json_each(?) AS wanted
               CROSS JOIN documents AS d ON d.uid >= lower(substr(wanted.value, 2))
                AND d.uid < lower(substr(wanted.value, 2)) || 'g'
              WHERE wanted.value LIKE '#_%' AND {condition}
             UNION
             SELECT wanted.key, d.id FROM json_each(?) AS wanted
               CROSS JOIN sources AS s
               CROSS JOIN documents AS d ON d.source = s.name AND d.key = wanted.value
              WHERE {condition}
             ORDER BY 1, 2"
        );
        let wanted = Value::from(serde_json::to_string(names).unwrap_or_default());
        let mut all = vec![wanted.clone()];
        all.extend(values.iter().cloned());
        all.push(wanted);
        all.extend(values);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let pair = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let pairs = statement.query_map(params_from_iter(all), pair)?;
            pairs.collect()
        })
    }
}

/// Writes rows as a list in JSON.
pub(super) fn list(rows: &[Row]) -> String {
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    format!("[{}]", rows.join(","))
}
