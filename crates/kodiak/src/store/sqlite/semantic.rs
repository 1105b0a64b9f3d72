//! Reading vectors: the nearest passages, and how near given documents are.
//!
//! The vector file finds candidates, the vectors in the tables say how near
//! they really are. The file may lag behind the tables: what it lacks is
//! looked at one by one, and what is gone is dropped when its passage is
//! looked up, so that it never has to be waited for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use rusqlite::{OptionalExtension, params, params_from_iter};

use super::filter::conditions;
use super::lexical::rendered;
use super::{SqliteStore, vector_from};
use crate::embed::dot;
use crate::error::{Error, Result};
use crate::store::vectors::{Bitmap, Origin, Prepared, Slot, VectorFile};
use crate::store::{Coverage, Expression, Filter, Passage, Row, Serving};

/// The file is made anew once this part of what it should hold, and at least
/// so many vectors, are missing from it or gone.
const MOST_BEHIND: f64 = 0.1;
const LEAST_BEHIND: i64 = 1_000;
/// How many of a document's passages are compared exactly.
const COMPARED: usize = 3;

/// A vector file and what it looked like when it was opened.
#[derive(Debug)]
pub(super) struct OpenVectors {
    file: Arc<VectorFile>,
    origin: Origin,
    seen: Option<(SystemTime, u64)>,
}

/// What is embedded, and what is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EmbeddingStatus {
    /// The models with vectors here, the answering one first, each with the
    /// number of its vectors.
    pub models: Vec<(Serving, u64)>,
    /// Each source's coverage by the answering model.
    pub sources: Vec<(String, Coverage)>,
    /// Passages that could not be embedded, by reason.
    pub failures: Vec<(String, u64)>,
}

struct Model {
    number: i64,
    serving: Serving,
}

impl SqliteStore {
    /// The model whose vectors answer; `None` where nothing is embedded.
    pub fn serving(&self) -> Result<Option<Serving>> {
        Ok(self.serving_model()?.map(|model| model.serving))
    }

    fn serving_model(&self) -> Result<Option<Model>> {
        if !self.knows_meaning()? {
            return Ok(None);
        }
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT id, key, name, dimensions FROM models WHERE serving
                     AND EXISTS (SELECT 1 FROM embeddings WHERE model = models.id)",
                )?
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

    /// How many of the passages that `filter` admits have vectors that answer.
    pub fn coverage(&self, filter: &Filter) -> Result<Coverage> {
        let Some(model) = self.serving_model()? else {
            return Ok(Coverage::default());
        };
        let all = self.with(|connection| {
            connection
                .prepare_cached(
                    // Without a condition SQLite counts several times faster.
                    "SELECT (SELECT count(*) FROM chunks),
                            CASE WHEN (SELECT count(*) FROM models) = 1
                            THEN (SELECT count(*) FROM embeddings)
                            ELSE (SELECT count(*) FROM embeddings WHERE model = ?1) END",
                )?
                .query_row([model.number], |row| {
                    Ok(Coverage {
                        chunks: row.get(0)?,
                        embedded: row.get(1)?,
                    })
                })
        })?;
        // Where all is embedded, so is any part of it.
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

    /// What is embedded, source by source.
    pub fn embedding_status(&self) -> Result<EmbeddingStatus> {
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

    /// The `keep` documents with the passages nearest to any of `queries`,
    /// nearest first, among `rows` if given. `None` if the deadline passed.
    pub fn nearest(
        &self,
        queries: &[Vec<f32>],
        rows: Option<&Bitmap>,
        keep: usize,
        deadline: Option<Instant>,
    ) -> Result<Option<Vec<Passage>>> {
        let Some(model) = self.serving_model()? else {
            return Ok(Some(Vec::new()));
        };
        let file = self.vector_file(&model)?;
        let prepared: Vec<Prepared> = queries.iter().map(|query| Prepared::new(query)).collect();
        let mut best: HashMap<Row, Passage> = HashMap::new();
        // What is gone must not take the places of what is there: where some
        // is, more is asked for.
        let (mut wanted, mut looked_at) = (keep, 0);
        loop {
            let Some(near) = file.nearest(&prepared, rows, wanted, deadline) else {
                return Ok(None);
            };
            for candidate in near.iter().skip(looked_at) {
                if best.len() >= keep {
                    break;
                }
                if let Some(passage) = self.passage(&model, candidate.chunk, queries)? {
                    offer(&mut best, passage);
                }
            }
            if best.len() >= keep || near.len() < wanted {
                break;
            }
            looked_at = near.len();
            wanted = wanted.saturating_mul(4);
        }
        for (chunk, row) in self.not_in_file(&model, &file)? {
            if rows.is_none_or(|rows| rows.contains(row))
                && let Some(passage) = self.passage(&model, chunk, queries)?
            {
                offer(&mut best, passage);
            }
        }
        let mut best: Vec<Passage> = best.into_values().collect();
        best.sort_by(|one, other| {
            let by_similarity = other.similarity.total_cmp(&one.similarity);
            by_similarity.then(one.row.cmp(&other.row))
        });
        best.truncate(keep);
        Ok(Some(best))
    }

    /// The nearest passage of each of these documents, where it has vectors.
    pub fn passages_of(&self, rows: &[Row], queries: &[Vec<f32>]) -> Result<HashMap<Row, Passage>> {
        // Nothing is near to nothing.
        if queries.is_empty() {
            return Ok(HashMap::new());
        }
        let Some(model) = self.serving_model()? else {
            return Ok(HashMap::new());
        };
        let file = self.vector_file(&model)?;
        let prepared: Vec<Prepared> = queries.iter().map(|query| Prepared::new(query)).collect();
        let mut late: HashMap<Row, Vec<i64>> = HashMap::new();
        for (chunk, row) in self.not_in_file(&model, &file)? {
            late.entry(row).or_default().push(chunk);
        }
        let mut found = HashMap::with_capacity(rows.len());
        for &row in rows {
            let mut places: Vec<(f32, usize)> = file
                .of_document(row)
                .map(|at| {
                    let similarity = prepared.iter().map(|query| file.similarity(at, query));
                    (similarity.fold(f32::MIN, f32::max), at)
                })
                .collect();
            places.sort_by(|one, other| other.0.total_cmp(&one.0));
            places.truncate(COMPARED);
            let chunks = places.iter().map(|&(_, at)| file.slot(at).chunk);
            let late = late.get(&row).into_iter().flatten().copied();
            for chunk in chunks.chain(late) {
                let passage = self.passage(&model, chunk, queries)?;
                let Some(passage) = passage.filter(|passage| passage.row == row) else {
                    continue;
                };
                offer(&mut found, passage);
            }
        }
        Ok(found)
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

    /// A passage with its true similarity; `None` if it is gone.
    fn passage(&self, model: &Model, chunk: i64, queries: &[Vec<f32>]) -> Result<Option<Passage>> {
        self.with(|connection| {
            connection
                .prepare_cached(
                    "SELECT c.document, c.start_byte, c.end_byte, c.start_line, c.end_line,
                            c.heading, e.vector
                     FROM chunks AS c JOIN embeddings AS e ON e.chunk = c.id AND e.model = ?2
                     WHERE c.id = ?1",
                )?
                .query_row(params![chunk, model.number], |row| {
                    let vector = vector_from(row.get_ref(6)?.as_blob()?);
                    let similarities = queries.iter().map(|query| dot(query, &vector));
                    Ok(Passage {
                        row: row.get(0)?,
                        similarity: similarities.fold(f32::MIN, f32::max),
                        range: row.get(1)?..row.get(2)?,
                        lines: (row.get(3)?, row.get(4)?),
                        heading: row.get(5)?,
                    })
                })
                .optional()
        })
    }

    /// Passages whose vectors came after the file was made.
    fn not_in_file(&self, model: &Model, file: &VectorFile) -> Result<Vec<(i64, Row)>> {
        self.with(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT e.chunk, c.document FROM embeddings AS e
                 JOIN chunks AS c ON c.id = e.chunk WHERE e.id > ?1 AND e.model = ?2",
            )?;
            let rows = statement.query_map(params![file.upto(), model.number], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
    }

    /// The vector file: the one in use, the one on the disk, or a new one.
    fn vector_file(&self, model: &Model) -> Result<Arc<VectorFile>> {
        let path = vector_path(&self.path);
        let origin = self.origin(model)?;
        if let Some(open) = &*self.vectors.borrow()
            && open.seen == look(&path)
            && open.origin == origin
            && self.lacks_little(&open.file)?
        {
            return Ok(Arc::clone(&open.file));
        }
        // Damage is cured by making the file again, like any other reason.
        let opened = VectorFile::open(&path, &origin).ok().flatten();
        let file = match opened {
            Some(file) if self.lacks_little(&file)? => file,
            _ => self.make_vector_file(model, &origin, &path)?,
        };
        let file = Arc::new(file);
        *self.vectors.borrow_mut() = Some(OpenVectors {
            file: Arc::clone(&file),
            origin,
            seen: look(&path),
        });
        Ok(file)
    }

    /// Makes the vector file again if it lacks much, or holds much that is
    /// gone. Called after writing, so that searches need not.
    pub fn refresh_vectors(&self) -> Result<()> {
        if let Some(model) = self.serving_model()? {
            let file = self.vector_file(&model)?;
            if !self.holds_little_else(&model, &file)? {
                let origin = self.origin(&model)?;
                self.make_vector_file(&model, &origin, &vector_path(&self.path))?;
            }
        }
        Ok(())
    }

    /// The same in the middle of a run, without counting what is gone.
    pub fn refresh_vectors_if_far_behind(&self) -> Result<()> {
        if let Some(model) = self.serving_model()? {
            self.vector_file(&model)?;
        }
        Ok(())
    }

    /// Whether few vectors came after the file. Counted by their numbers,
    /// which may have gaps but are there at once.
    fn lacks_little(&self, file: &VectorFile) -> Result<bool> {
        let last: i64 = self.with(|connection| {
            connection
                .prepare_cached("SELECT coalesce(max(id), 0) FROM embeddings")?
                .query_row([], |row| row.get(0))
        })?;
        Ok(last - file.upto() <= bearable(file))
    }

    /// Whether most of what the file holds still exists.
    fn holds_little_else(&self, model: &Model, file: &VectorFile) -> Result<bool> {
        let left: i64 = self.with(|connection| {
            connection.query_row(
                "SELECT count(*) FROM embeddings WHERE id <= ?1 AND model = ?2",
                params![file.upto(), model.number],
                |row| row.get(0),
            )
        })?;
        Ok(file.len() as i64 - left <= bearable(file))
    }

    fn make_vector_file(&self, model: &Model, origin: &Origin, path: &Path) -> Result<VectorFile> {
        let written = self.fill_vector_file(model, |upto, vectors| {
            VectorFile::write(path, origin, upto, vectors)
        });
        match written {
            // A folder that cannot be written to is no reason not to search.
            Err(Error::Io { .. }) => self.fill_vector_file(model, |upto, vectors| {
                VectorFile::in_memory(origin, upto, vectors)
            }),
            other => other,
        }
    }

    fn fill_vector_file<T>(
        &self,
        model: &Model,
        fill: impl FnOnce(i64, &mut dyn Iterator<Item = Result<(Slot, Vec<f32>)>>) -> Result<T>,
    ) -> Result<T> {
        let upto = self.with(|connection| {
            connection.query_row("SELECT coalesce(max(id), 0) FROM embeddings", [], |row| {
                row.get(0)
            })
        })?;
        let mut statement = self
            .connection
            .prepare(
                "SELECT c.id, c.document, e.vector FROM chunks AS c
                 JOIN embeddings AS e ON e.chunk = c.id
                 WHERE e.model = ?1 AND e.id <= ?2 ORDER BY c.document, c.ordinal",
            )
            .map_err(|source| self.error(source))?;
        let rows = statement
            .query_map(params![model.number, upto], |row| {
                let slot = Slot {
                    chunk: row.get(0)?,
                    document: row.get(1)?,
                };
                Ok((slot, vector_from(row.get_ref(2)?.as_blob()?)))
            })
            .map_err(|source| self.error(source))?;
        let mut rows = rows.map(|row| row.map_err(|source| self.error(source)));
        fill(upto, &mut rows)
    }

    fn origin(&self, model: &Model) -> Result<Origin> {
        let generation: String = self.with(|connection| {
            connection
                .prepare_cached("SELECT value FROM meta WHERE key = 'generation'")?
                .query_row([], |row| row.get(0))
        })?;
        let mut bytes = [0; 16];
        for (byte, digits) in bytes.iter_mut().zip(generation.as_bytes().chunks(2)) {
            let digits = std::str::from_utf8(digits).unwrap_or_default();
            *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
        }
        Ok(Origin {
            model: model.serving.key.clone(),
            dimensions: model.serving.dimensions,
            generation: bytes,
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

/// Keeps a passage if it is the nearest of its document so far.
fn offer(best: &mut HashMap<Row, Passage>, passage: Passage) {
    let known = best.entry(passage.row).or_insert_with(|| passage.clone());
    if passage.similarity > known.similarity {
        *known = passage;
    }
}

/// How many vectors a file may lack, or hold for nothing.
fn bearable(file: &VectorFile) -> i64 {
    LEAST_BEHIND.max((file.len() as f64 * MOST_BEHIND) as i64)
}

/// Where the vectors of an index are scanned from.
fn vector_path(index: &Path) -> PathBuf {
    index.with_extension("vectors")
}

fn look(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
