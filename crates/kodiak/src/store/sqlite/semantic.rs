//! What is there to be compared: the model that answers, its vectors, and the
//! documents that may be found.

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::compare::Vectors;
use super::filter::conditions;
use super::lexical::rendered;
use super::{SqliteStore, vector_from};
use crate::error::Result;
use crate::store::vectors::Bitmap;
use crate::store::{Expression, Filter, Row, Serving};

/// The model that answers. It is asked for several times in a search, so it must
/// not look at more than the first vectors: left alone, SQLite would read all of
/// them to make an index of its own.
const SERVING: &str = "SELECT id, key, name, dimensions FROM models WHERE serving
     AND EXISTS (SELECT 1 FROM embeddings NOT INDEXED WHERE model = models.id)";

/// A model with vectors in this index.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) number: i64,
    pub(super) serving: Serving,
}

impl SqliteStore {
    /// The model whose vectors answer; `None` where nothing is embedded.
    pub fn serving(&self) -> Result<Option<Serving>> {
        Ok(self.serving_model()?.map(|model| model.serving))
    }

    pub(super) fn serving_model(&self) -> Result<Option<Model>> {
        if !self.knows_meaning()? {
            return Ok(None);
        }
        self.with(|connection| {
            connection
                .prepare_cached(SERVING)?
                .query_row([], |row| {
                    Ok(Model {
                        number: row.get(0)?,
                        serving: Serving {
                            key: row.get(1)?,
                            name: row.get(2)?,
                            dimensions: row.get(3)?,
                        },
                    })
                })
                .optional()
        })
    }

    /// An index that an earlier version wrote has no passages until it is
    /// written to again.
    pub(super) fn knows_meaning(&self) -> Result<bool> {
        Ok(self.version()? >= 2)
    }

    /// The vectors that answer, to be compared; `None` where nothing is embedded.
    pub fn vectors(&self) -> Result<Option<Vectors>> {
        let Some(model) = self.serving_model()? else {
            return Ok(None);
        };
        let file = self.vector_file(&model)?;
        Ok(Some(Vectors { model, file }))
    }

    /// The vectors of a document's passages, in order.
    pub fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>> {
        let Some(model) = self.serving_model()? else {
            return Ok(Vec::new());
        };
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT e.vector FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id
                 WHERE c.document = ?1 AND e.model = ?2 ORDER BY c.ordinal",
            )?;
            let rows = statement.query_map(params![row, model.number], |row| {
                Ok(vector_from(row.get_ref(0)?.as_blob()?))
            })?;
            rows.collect()
        })
    }

    /// The documents that meet `filter` and `required`, and not `excluded`.
    pub fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap> {
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
}

#[cfg(test)]
#[path = "semantic_tests.rs"]
mod tests;
