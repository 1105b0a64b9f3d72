//! The threads that candidates are part of.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::turn::MAX_BODY_BYTES;
use crate::error::Result;
use crate::rank::thread::REACH;
use crate::store::{Contents, Reader, Row, Wanted, around};

/// The threads of some documents.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    /// The documents whose threads are known.
    rows: HashSet<Row>,
    /// Each thread with all of its documents, in order.
    pub(super) threads: Vec<Vec<Row>>,
    /// Who wrote or said the documents that are, or are near, one of `rows`.
    pub(super) authors: HashMap<Row, String>,
    /// The texts of those of `rows` that are in a thread and not too long.
    pub(super) bodies: HashMap<Row, String>,
}

impl Context {
    /// Returns the reads that the threads of these documents need.
    pub(super) fn wanted(rows: Vec<Row>) -> Wanted {
        Wanted {
            threads: rows,
            around: Some(REACH),
            longest: MAX_BODY_BYTES,
            ..Wanted::default()
        }
    }

    /// Takes the threads of these documents out of the contents.
    pub(super) fn read(rows: &[Row], contents: &mut Contents) -> Self {
        Self {
            rows: rows.iter().copied().collect(),
            threads: std::mem::take(&mut contents.threads),
            authors: std::mem::take(&mut contents.authors),
            bodies: std::mem::take(&mut contents.bodies).into_iter().collect(),
        }
    }

    /// Returns the context of these documents alone, after reading it if it is not known.
    pub(super) fn of(&self, store: &dyn Reader, rows: &[Row]) -> Result<Cow<'_, Self>> {
        if !rows.iter().all(|row| self.rows.contains(row)) {
            let mut contents = store.read(&Self::wanted(rows.to_vec()))?;
            return Ok(Cow::Owned(Self::read(rows, &mut contents)));
        }
        if self.threads.is_empty() || rows.len() == self.rows.len() {
            return Ok(Cow::Borrowed(self));
        }
        let asked: HashSet<Row> = rows.iter().copied().collect();
        let mut threads = self.threads.clone();
        threads.retain(|thread| thread.iter().any(|row| asked.contains(row)));
        let near = around(rows, &threads, REACH).into_iter();
        let author = |row: Row| Some((row, self.authors.get(&row)?.clone()));
        Ok(Cow::Owned(Self {
            threads,
            authors: near.filter_map(author).collect(),
            bodies: self.bodies.clone(),
            rows: asked,
        }))
    }
}
