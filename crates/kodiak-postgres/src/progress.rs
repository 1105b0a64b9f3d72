//! Counts the embedded part of the index.

use std::sync::PoisonError;

use crate::batch::{Answered, Asked, Batch};
use crate::filter::conditions;
use crate::live::Live;
use crate::reader::PostgresReader;
use crate::value::{Query, count, get};
use kodiak_base::error::Result;
use kodiak_store::{Coverage, EmbeddingProgress, EmbeddingStatus, Filter, Serving};

/// The model in use: the one that serves, if it has vectors.
pub(crate) const SERVING: &str = "SELECT m.id, m.key, m.name, m.dimensions FROM models AS m
     WHERE m.serving AND EXISTS (SELECT 1 FROM embeddings AS e WHERE e.model = m.id)";

/// The coverage in one state of an index, as it was counted last. Counting takes longer
/// than most searches.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    /// The random number of the state.
    stamp: i64,
    /// That of everything; `None` if no model is in use.
    all: Option<Coverage>,
    /// That of what filters admit.
    parts: Vec<(Filter, Coverage)>,
}

/// The number of filters whose coverage is kept.
const MAX_PARTS: usize = 64;

/// Reads the columns of [`SERVING`].
pub(crate) fn serving(row: &tokio_postgres::Row) -> Result<Serving> {
    Ok(Serving {
        key: get(row, 1)?,
        name: get(row, 2)?,
        dimensions: count(row, 3)? as usize,
    })
}

fn coverage(row: &tokio_postgres::Row, from: usize) -> Result<Coverage> {
    Ok(Coverage {
        chunks: count(row, from)?,
        embedded: count(row, from + 1)?,
    })
}

impl EmbeddingProgress for PostgresReader {
    fn serving(&self) -> Result<Option<Serving>> {
        let rows = self.rows_of(Query::new(SERVING))?;
        rows.first().map(serving).transpose()
    }

    fn coverage(&self, filter: &Filter) -> Result<Coverage> {
        let _hold = self.hold();
        let mut batch = Batch::default();
        let asked = self.ask_coverage(filter, &mut batch);
        let (live, answers) = self.ask_live(batch.into_queries())?;
        let found = self.read_coverage(filter, &live, &Answered(answers), asked)?;
        Ok(found.unwrap_or_default())
    }

    fn coverage_by(&self, model: &str) -> Result<Coverage> {
        let query = Query::new(
            "SELECT (SELECT count(*) FROM chunks),
                    (SELECT count(*) FROM embeddings AS e JOIN models AS m ON m.id = e.model
                     WHERE m.key = $1)",
        );
        let rows = self.rows_of(query.with(model))?;
        rows.first()
            .map_or(Ok(Coverage::default()), |row| coverage(row, 0))
    }

    fn any_embedded(&self, filter: &Filter) -> Result<bool> {
        let mut query = Query::default();
        let condition = conditions(filter, &mut query);
        query.sql = format!(
            "SELECT EXISTS (SELECT 1 FROM embeddings AS e JOIN chunks AS c ON c.id = e.chunk
             JOIN documents AS d ON d.id = c.document
             WHERE e.model = (SELECT id FROM models WHERE serving) AND {condition})"
        );
        let rows = self.rows_of(query)?;
        rows.first().map_or(Ok(false), |row| get(row, 0))
    }

    fn embedding_status(&self) -> Result<EmbeddingStatus> {
        let _hold = self.hold();
        let answers = self.ask(&[
            Query::new(
                "SELECT m.id, m.key, m.name, m.dimensions,
                        (SELECT count(*) FROM embeddings AS e WHERE e.model = m.id)
                 FROM models AS m ORDER BY m.serving DESC, m.id",
            ),
            Query::new(
                "SELECT d.source, count(c.id), count(e.id) FROM documents AS d
                 LEFT JOIN chunks AS c ON c.document = d.id
                 LEFT JOIN embeddings AS e ON e.chunk = c.id
                   AND e.model = (SELECT id FROM models WHERE serving)
                 GROUP BY d.source ORDER BY d.source",
            ),
            Query::new(
                "SELECT reason, count(*) FROM embedding_failures
                 GROUP BY reason ORDER BY count(*) DESC, reason",
            ),
        ])?;
        let models = answers[0]
            .iter()
            .map(|row| Ok((serving(row)?, count(row, 4)?)));
        let sources = answers[1]
            .iter()
            .map(|row| Ok((get(row, 0)?, coverage(row, 1)?)));
        let failures = answers[2]
            .iter()
            .map(|row| Ok((get(row, 0)?, count(row, 1)?)));
        Ok(EmbeddingStatus {
            models: models.collect::<Result<_>>()?,
            sources: sources.collect::<Result<_>>()?,
            failures: failures.collect::<Result<_>>()?,
        })
    }
}

impl PostgresReader {
    /// Returns what was counted last, if it is of a state of the index, or for no state
    /// whatever it is of.
    fn counted(&self, live: Option<&Live>) -> Option<Counted> {
        if self.writing.get() {
            return None;
        }
        let counted = self.shared.coverage.lock();
        let counted = counted.unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_of = |live: &Live| live.stamp == Some(counted.stamp);
        live.is_none_or(is_of).then_some(counted)
    }

    fn keep_counted(&self, counted: Counted) {
        if !self.writing.get() {
            let kept = self.shared.coverage.lock();
            *kept.unwrap_or_else(PoisonError::into_inner) = Some(counted);
        }
    }

    /// Asks for the coverage of everything, unless the index is as it was when that was
    /// counted last, and for that of a filter, if it may be another.
    pub(crate) fn ask_coverage(&self, filter: &Filter, batch: &mut Batch) -> [Asked; 2] {
        let settled = self.settled();
        let known = self.counted(settled.as_deref());
        // In a snapshot whose state is known, what was counted of it still holds.
        let is_known = settled.is_some() && known.is_some();
        let known = known.unwrap_or_else(|| Counted {
            stamp: 0,
            all: None,
            parts: Vec::new(),
        });
        let whole = batch.add_if(!is_known, || {
            Query::new(
                "SELECT (SELECT count(*) FROM chunks),
                        (SELECT count(*) FROM embeddings AS e WHERE e.model = m.id), m.id
                 FROM models AS m
                 WHERE NOT EXISTS (SELECT 1 FROM state AS s JOIN states AS t
                                   ON t.revision = s.revision WHERE t.stamp = $1)
                   AND m.serving AND EXISTS (SELECT 1 FROM embeddings AS e WHERE e.model = m.id)",
            )
            .with(known.stamp)
        });
        let is_whole = known.all.is_some_and(|all| all.embedded == all.chunks);
        let has_part = known.parts.iter().any(|(one, _)| one == filter);
        let part = batch.add_if(!filter.is_empty() && !is_whole && !has_part, || {
            part(filter)
        });
        [whole, part]
    }

    /// Reads the answers to [`PostgresReader::ask_coverage`]; `None` if nothing is embedded.
    pub(crate) fn read_coverage(
        &self,
        filter: &Filter,
        live: &Live,
        answered: &Answered,
        [whole, part_asked]: [Asked; 2],
    ) -> Result<Option<Coverage>> {
        let mut counted = match (self.counted(Some(live)), answered.first(whole)) {
            (Some(counted), None) => counted,
            (_, row) => Counted {
                stamp: live.stamp.unwrap_or(0),
                all: row.map(|row| coverage(row, 0)).transpose()?,
                parts: Vec::new(),
            },
        };
        let Some(all) = counted.all else {
            self.keep_counted(counted);
            return Ok(None);
        };
        // If everything is embedded, so is any part of it.
        if filter.is_empty() || all.embedded == all.chunks {
            self.keep_counted(counted);
            return Ok(Some(all));
        }
        let known = counted.parts.iter().find(|(one, _)| one == filter);
        let found = match (known, answered.first(part_asked)) {
            (Some((_, known)), _) => *known,
            (None, Some(row)) => coverage(row, 0)?,
            (None, None) => {
                let rows = self.rows_of(part(filter))?;
                let row = rows.first();
                row.map_or(Ok(Coverage::default()), |row| coverage(row, 0))?
            }
        };
        if known.is_none() {
            if counted.parts.len() >= MAX_PARTS {
                counted.parts.clear();
            }
            counted.parts.push((filter.clone(), found));
        }
        self.keep_counted(counted);
        Ok(Some(found))
    }
}

/// Asks for the coverage of what a filter admits.
fn part(filter: &Filter) -> Query {
    let mut query = Query::default();
    let condition = conditions(filter, &mut query);
    query.sql = format!(
        "SELECT count(*), count(e.id) FROM documents AS d JOIN chunks AS c ON c.document = d.id
         LEFT JOIN embeddings AS e ON e.chunk = c.id
           AND e.model = (SELECT id FROM models WHERE serving) WHERE {condition}"
    );
    query
}
