//! Documents by filters, and by what they are called.

use std::collections::BTreeMap;

use tokio_postgres::Row as SqlRow;

use crate::filter::{WRITTEN, conditions, is_text};
use crate::lexical::{Admitted, meeting};
use crate::plan::Plan;
use crate::reader::PostgresReader;
use crate::value::{Query, count, fixed, get};
use crate::vocabulary::all_admitted;
use kodiak_base::error::Result;
use kodiak_store::vectors::Bitmap;
use kodiak_store::{
    Best, Days, Expression, Facets, Filter, Fingerprint, Match, Matches, Moment, Name, Names, Row,
    Selection, Stretch,
};

/// The day on which a document was written, counted from 1970-01-01 in UTC.
const DAY: &str = "floor(coalesce(d.created_at, d.updated_at) / 86400.0)::bigint";

impl PostgresReader {
    /// Returns the newest documents that a filter admits, and how many it admits.
    fn newest_of(&self, filter: &Filter, limit: usize) -> Result<Matches> {
        let (mut counted, mut newest) = (Query::default(), Query::default());
        let condition = conditions(filter, &mut counted);
        counted.sql = format!("SELECT count(*) FROM documents AS d WHERE {condition}");
        let condition = conditions(filter, &mut newest);
        let most = newest.bind(limit);
        newest.sql = format!(
            "SELECT d.id, d.updated_at FROM documents AS d WHERE {condition}
             ORDER BY d.updated_at DESC, d.id LIMIT {most}"
        );
        let answers = self.ask(&[counted, newest])?;
        let mut best = Best::new(limit);
        for found in &answers[1] {
            best.offer(Match {
                row: get(found, 0)?,
                score: get::<i64>(found, 1)? as f64,
                coverage: 0.0,
            });
        }
        let total = answers[0].first().map_or(Ok(0), |row| count(row, 0))?;
        Ok(Matches {
            total: total as usize,
            ..best.finish()
        })
    }
}

impl Selection for PostgresReader {
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches> {
        let _hold = self.hold();
        if excluded.is_none() {
            return self.newest_of(filter, limit);
        }
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!("SELECT d.id, d.updated_at FROM documents AS d WHERE {condition}");
        let plan = excluded.map(|excluded| Plan::new(excluded, self.stemming));
        let plans: Vec<&Plan> = plan.iter().collect();
        let (fetched, mut answers) = self.fetch(&plans, vec![query])?;
        let everything = Admitted::everything();
        let unwanted = plan.map(|plan| meeting(&plan, &fetched, &everything));
        let mut best = Best::new(limit);
        for found in answers.pop().unwrap_or_default() {
            let row = get(&found, 0)?;
            if unwanted.as_ref().is_none_or(|rows| !rows.contains(row)) {
                best.offer(Match {
                    row,
                    score: get::<i64>(&found, 1)? as f64,
                    coverage: 0.0,
                });
            }
        }
        Ok(best.finish())
    }

    fn by_time(&self, filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>> {
        let mut query = Query::default();
        let mut condition = conditions(filter, &mut query);
        for (limit, sign) in [(stretch.after, ">="), (stretch.before, "<")] {
            if let Some(limit) = limit {
                let limit = query.bind(limit);
                condition.push_str(&format!(" AND {WRITTEN} {sign} {limit}"));
            }
        }
        let (order, sign) = if stretch.forward {
            ("ASC", ">")
        } else {
            ("DESC", "<")
        };
        if let Some(Moment { at, key, row }) = &stretch.beside {
            let (at, key, row) = (query.bind(*at), query.bind(key), query.bind(*row));
            condition.push_str(&format!(
                " AND ({WRITTEN}, d.key, d.id) {sign} ({at}, {key}, {row})"
            ));
        }
        let limit = query.bind(stretch.limit);
        query.sql = format!(
            "SELECT d.id FROM documents AS d WHERE {condition}
             ORDER BY {WRITTEN} {order}, d.key {order}, d.id {order} LIMIT {limit}"
        );
        let rows = self.rows_of(query)?;
        rows.iter().map(|row| get(row, 0)).collect()
    }

    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
        let _hold = self.hold();
        let plan = |expression: &Expression| Plan::new(expression, self.stemming);
        let (required, excluded) = (required.map(plan), excluded.map(plan));
        let plans: Vec<&Plan> = required.iter().chain(&excluded).collect();
        let admitted = Admitted::of(filter);
        let queries = admitted.as_ref().err().cloned().into_iter().collect();
        let (fetched, answers) = self.fetch(&plans, queries)?;
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(_) => Admitted::read(&answers[0])?,
        };
        let found = match &required {
            Some(required) => meeting(required, &fetched, &admitted),
            None => all_admitted(&fetched.live, &admitted),
        };
        let Some(excluded) = &excluded else {
            return Ok(found);
        };
        let unwanted = meeting(excluded, &fetched, &admitted);
        let wanted = found.iter().filter(|&row| !unwanted.contains(row));
        Ok(wanted.collect())
    }

    fn fingerprints(&self, filter: &Filter) -> Result<Vec<Fingerprint>> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql =
            format!("SELECT d.id, d.uid, d.hash, d.source FROM documents AS d WHERE {condition}");
        let rows = self.rows_of(query)?;
        let fingerprints = rows.iter().map(|row| {
            Ok(Fingerprint {
                row: get(row, 0)?,
                uid: get(row, 1)?,
                hash: fixed(row, 2)?,
                source: get(row, 3)?,
            })
        });
        fingerprints.collect()
    }

    fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!(
            "SELECT t.name, count(*) FROM tags AS t
             JOIN document_tags AS dt ON dt.tag = t.id JOIN documents AS d ON d.id = dt.document
             WHERE {condition} GROUP BY t.id, t.name ORDER BY lower(t.name), t.name"
        );
        self.counts(query)
    }

    fn facets(&self, rows: &[Row]) -> Result<Facets> {
        let _hold = self.hold();
        let counted = |sql: String| Query::new(sql).with(rows);
        let by = |value: &str| {
            counted(format!(
                "SELECT {value}, count(*) FROM documents AS d
                 WHERE d.id = ANY($1) AND {value} IS NOT NULL GROUP BY 1"
            ))
        };
        let answers = self.ask(&[
            by("d.source"),
            by("d.kind"),
            by("d.project"),
            counted(
                "SELECT t.name, count(*) FROM document_tags AS dt JOIN tags AS t ON t.id = dt.tag
                 WHERE dt.document = ANY($1) GROUP BY t.id, t.name"
                    .to_owned(),
            ),
            counted(format!(
                "SELECT {DAY}, count(*) FROM documents AS d WHERE d.id = ANY($1) GROUP BY 1"
            )),
        ])?;
        let names = |number: usize| -> Result<BTreeMap<String, u64>> {
            let rows = answers[number].iter();
            rows.map(|row| Ok((get(row, 0)?, count(row, 1)?))).collect()
        };
        Ok(Facets {
            sources: names(0)?,
            kinds: names(1)?,
            projects: names(2)?,
            tags: names(3)?,
            days: days_in(&answers[4])?,
        })
    }

    fn days(&self, filter: &Filter) -> Result<Days> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql =
            format!("SELECT {DAY}, count(*) FROM documents AS d WHERE {condition} GROUP BY 1");
        days_in(&self.rows_of(query)?)
    }

    fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!(
            "SELECT d.project, count(*) FROM documents AS d
             WHERE d.project IS NOT NULL AND {condition} GROUP BY d.project ORDER BY d.project"
        );
        self.counts(query)
    }

    fn document_counts(&self, filter: &Filter) -> Result<std::collections::BTreeMap<String, u64>> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!(
            "SELECT d.source, count(*) FROM documents AS d WHERE {condition} GROUP BY d.source"
        );
        Ok(self.counts(query)?.into_iter().collect())
    }
}

impl PostgresReader {
    /// Asks for names with counts.
    fn counts(&self, query: Query) -> Result<Vec<(String, u64)>> {
        let rows = self.rows_of(query)?;
        let pairs = rows.iter().map(|row| Ok((get(row, 0)?, count(row, 1)?)));
        pairs.collect()
    }

    /// Asks for the names of admitted documents that meet a condition.
    fn names(
        &self,
        condition: &str,
        mut query: Query,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let admitted = conditions(filter, &mut query);
        let limit = query.bind(limit);
        query.sql = format!(
            "SELECT d.id, d.source, d.key, d.title FROM documents AS d
             WHERE {condition} AND {admitted} ORDER BY d.source, d.key LIMIT {limit}"
        );
        let rows = self.rows_of(query)?;
        rows.iter().map(name).collect()
    }
}

fn name(row: &tokio_postgres::Row) -> Result<Name> {
    Ok((get(row, 0)?, get(row, 1)?, get(row, 2)?, get(row, 3)?))
}

impl Names for PostgresReader {
    fn with_id_prefix(&self, prefix: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        let mut query = Query::default();
        let (from, to) = (query.bind(prefix), query.bind(format!("{prefix}g")));
        // 'g' follows the last hexadecimal digit.
        let condition = format!("d.uid >= {from} AND d.uid < {to}");
        self.names(&condition, query, filter, limit)
    }

    fn with_path(
        &self,
        source: Option<&str>,
        key: &str,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Name>> {
        let mut query = Query::default();
        let mut condition = format!("d.key = {}", query.bind(key));
        if let Some(source) = source {
            condition.push_str(&format!(" AND d.source = {}", query.bind(source)));
            return self.names(&condition, query, filter, limit);
        }
        let _hold = self.hold();
        let exact = self.names(&condition, query, filter, limit)?;
        if !exact.is_empty() {
            return Ok(exact);
        }
        let mut query = Query::default();
        let end = query.bind(format!("/{key}"));
        let condition = format!("right(d.key, length({end})) = {end}");
        self.names(&condition, query, filter, limit)
    }

    fn with_title(&self, title: &str, filter: &Filter, limit: usize) -> Result<Vec<Name>> {
        let mut query = Query::default();
        let condition = is_text("d.title", title, &mut query);
        self.names(&condition, query, filter, limit)
    }

    fn each_name(&self, filter: &Filter, visit: &mut dyn FnMut(Name)) -> Result<()> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!(
            "SELECT d.id, d.source, d.key, d.title FROM documents AS d WHERE {condition} ORDER BY d.id"
        );
        for row in self.rows_of(query)? {
            visit(name(&row)?);
        }
        Ok(())
    }

    fn named(&self, names: &[String], filter: &Filter) -> Result<Vec<(usize, Row)>> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        let all = query.bind(names);
        // The digit 'g' follows the last hexadecimal one.
        query.sql = format!(
            "SELECT w.number, d.id FROM unnest({all}) WITH ORDINALITY AS w(name, number)
             JOIN documents AS d ON d.uid >= lower(substr(w.name, 2))
               AND d.uid < lower(substr(w.name, 2)) || 'g'
             WHERE starts_with(w.name, '#') AND length(w.name) > 1 AND {condition}
             UNION
             SELECT w.number, d.id FROM unnest({all}) WITH ORDINALITY AS w(name, number)
             JOIN documents AS d ON d.key = w.name WHERE {condition}
             ORDER BY 1, 2"
        );
        let rows = self.rows_of(query)?;
        let pairs = rows
            .iter()
            .map(|row| Ok((count(row, 0)? as usize - 1, get(row, 1)?)));
        pairs.collect()
    }
}

/// Reads numbers of documents by day.
fn days_in(rows: &[SqlRow]) -> Result<Days> {
    let days = rows.iter();
    days.map(|row| Ok((get(row, 0)?, count(row, 1)?))).collect()
}
