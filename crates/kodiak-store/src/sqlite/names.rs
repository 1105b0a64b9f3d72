//! Documents by their ids, paths and titles.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::SqliteStore;
use super::filter::conditions;
use crate::{Filter, Name, Names, Row};
use kodiak_base::error::Result;

impl Names for SqliteStore {
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        // 'g' follows the last hexadecimal digit.
        let values = vec![prefix.to_owned().into(), prefix.to_owned().into()];
        self.names("d.uid >= ? AND d.uid < ? || 'g'", values, filter, limit)
    }

    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let key = Value::from(key.to_owned());
        if let Some(source) = source {
            let values = vec![source.to_owned().into(), key];
            return self.names("d.source = ? AND d.key = ?", values, filter, limit);
        }
        let exact = self.names("d.key = ?", vec![key.clone()], filter, limit)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let ends = "substr(d.key, -length(?) - 1) = '/' || ?";
        self.names(ends, vec![key.clone(), key], filter, limit)
    }

    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        let values = vec![title.to_owned().into()];
        self.names("d.title = ? COLLATE NOCASE", values, filter, limit)
    }

    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()> {
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare(&format!(
                "SELECT d.id, d.source, d.key, d.title FROM documents AS d WHERE {condition}"
            ))?;
            let mut rows = statement.query(params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                visit((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            }
            Ok(())
        })
    }

    fn named(&self, names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>> {
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

impl SqliteStore {
    fn names(
        &self,
        condition: &str,
        mut values: Vec<Value>,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let (admitted, more) = conditions(filter);
        values.extend(more);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT d.id, d.source, d.key, d.title FROM documents AS d
                 WHERE {condition} AND {admitted} ORDER BY d.source, d.key LIMIT {limit}"
            ))?;
            let rows = statement.query_map(params_from_iter(values), |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })?;
            rows.collect()
        })
    }
}
