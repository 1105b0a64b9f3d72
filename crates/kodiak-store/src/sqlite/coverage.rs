//! Counts the embedded part of the index.

use rusqlite::params_from_iter;

use super::SqliteStore;
use super::filter::conditions;
use crate::{Coverage, EmbeddingProgress, EmbeddingStatus, Filter, ModelNumber, Serving, State};
use kodiak_base::error::Result;

impl EmbeddingProgress for SqliteStore {
    fn serving(&self) -> Result<Option<Serving>> {
        Ok(self.serving_model()?.map(|model| model.serving))
    }

    fn coverage(&self, filter: &Filter) -> Result<Coverage> {
        let Some(model) = self.serving_model()? else {
            return Ok(Coverage::default());
        };
        let revision = self.revision()?;
        let all = match self.coverage.get() {
            Some((known, all)) if known == revision => all,
            _ => self.count_embedded(model.number)?,
        };
        self.coverage.set(Some((revision, all)));
        // If everything is embedded, so is any part of it.
        if filter.is_empty() || all.embedded == all.chunks {
            return Ok(all);
        }
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT count(*), count(e.id) FROM documents AS d
                 JOIN chunks AS c ON c.document = d.id
                 LEFT JOIN embeddings AS e ON e.chunk = c.id AND e.model = {}
                 WHERE {condition}",
                model.number
            ))?;
            statement.query_row(params_from_iter(values), |row| {
                Ok(Coverage {
                    chunks: row.get(0)?,
                    embedded: row.get(1)?,
                })
            })
        })
    }

    fn coverage_by(&self, model: &str) -> Result<Coverage> {
        if !self.knows_meaning()? {
            return Ok(Coverage::default());
        }
        self.with(|connection| {
            connection.query_row(
                "SELECT count(*), count(e.id) FROM chunks AS c
                 JOIN documents AS d ON d.id = c.document AND d.deleted_at IS NULL
                 LEFT JOIN embeddings AS e ON e.chunk = c.id
                    AND e.model = (SELECT id FROM models WHERE key = ?1)",
                [model],
                |row| {
                    Ok(Coverage {
                        chunks: row.get(0)?,
                        embedded: row.get(1)?,
                    })
                },
            )
        })
    }

    fn any_embedded(&self, filter: &Filter) -> Result<bool> {
        let Some(model) = self.serving_model()? else {
            return Ok(false);
        };
        let (condition, values) = conditions(filter);
        self.with(|connection| {
            // In this order the first document usually answers.
            let mut statement = connection.prepare_cached(&format!(
                "SELECT EXISTS (SELECT 1 FROM documents AS d
                 CROSS JOIN chunks AS c ON c.document = d.id
                 CROSS JOIN embeddings AS e ON e.chunk = c.id AND e.model = {}
                 WHERE {condition})",
                model.number
            ))?;
            statement.query_row(params_from_iter(values), |row| row.get(0))
        })
    }

    fn embedding_status(&self) -> Result<EmbeddingStatus> {
        if !self.knows_meaning()? {
            return Ok(EmbeddingStatus::default());
        }
        let models = self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT key, name, dimensions,
                        (SELECT count(*) FROM embeddings WHERE model = models.id)
                 FROM models ORDER BY serving DESC, id",
            )?;
            let rows = statement.query_map([], |row| {
                let serving = Serving {
                    key: row.get(0)?,
                    name: row.get(1)?,
                    dimensions: row.get(2)?,
                };
                Ok((serving, row.get(3)?))
            })?;
            rows.collect::<rusqlite::Result<_>>()
        })?;
        let sources = self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT d.source, count(c.id), count(e.id) FROM documents AS d
                 LEFT JOIN chunks AS c ON c.document = d.id
                 LEFT JOIN embeddings AS e ON e.chunk = c.id
                    AND e.model = (SELECT id FROM models WHERE serving)
                 WHERE d.deleted_at IS NULL GROUP BY d.source ORDER BY d.source",
            )?;
            let rows = statement.query_map([], |row| {
                let coverage = Coverage {
                    chunks: row.get(1)?,
                    embedded: row.get(2)?,
                };
                Ok((row.get(0)?, coverage))
            })?;
            rows.collect::<rusqlite::Result<_>>()
        })?;
        let failures = self.with(|connection| {
            let mut statement = connection.prepare(
                "SELECT reason, count(*) FROM embedding_failures
                 GROUP BY reason ORDER BY count(*) DESC, reason",
            )?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<_>>()
        })?;
        Ok(EmbeddingStatus {
            models,
            sources,
            failures,
        })
    }
}

impl SqliteStore {
    fn count_embedded(&self, model: ModelNumber) -> Result<Coverage> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    // SQLite counts several times faster without a condition.
                    "SELECT (SELECT count(*) FROM chunks),
                            CASE WHEN (SELECT count(*) FROM models) = 1
                            THEN (SELECT count(*) FROM embeddings)
                            ELSE (SELECT count(*) FROM embeddings WHERE model = ?1) END",
                )?
                .query_row([model], |row| {
                    Ok(Coverage {
                        chunks: row.get(0)?,
                        embedded: row.get(1)?,
                    })
                })
        })
    }
}
