//! Taking in session records: written first, then indexed and embedded.
//!
//! A record that is written stays, whatever happens afterwards: the next sync
//! indexes it, and the next backfill embeds it.

use std::path::PathBuf;
use std::time::Duration;

use super::ask::{Statements, said};
use super::same::groups;
use super::{Sessions, Statement};
use crate::records::{KIND, SessionRecords, StoredRecord};
use kodiak::access::{Capability, Guard};
use kodiak::engine::Job;
use kodiak::sync::EmbeddingReport;
use kodiak_base::{Error, Result};
use kodiak_store::{Filter, Reader};

/// The time that embedding new records may take. The next backfill continues.
const EMBEDDING: Duration = Duration::from_mins(1);

/// The result of taking in records.
#[derive(Debug)]
pub struct Ingestion {
    /// The outcome for each record, in order.
    pub records: Vec<Result<StoredRecord>>,
    /// Whether they can be found. Otherwise the next sync indexes them.
    pub indexed: bool,
    /// The report of the embedding: `None` without a model, or the reason why it failed.
    pub embedding: Result<Option<EmbeddingReport>>,
    /// Lessons of new records that other sessions have already taught.
    pub repeated: Vec<RepeatedLesson>,
}

/// A lesson that says the same as one of another session.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedLesson {
    /// The new lesson.
    pub new: Statement,
    /// The newest of the earlier ones.
    pub earlier: Statement,
    /// The number of other sessions that have it.
    pub sessions: usize,
}

impl Sessions<'_> {
    /// Writes records, each a JSON text, into a source of session records; indexes
    /// and embeds them. One that cannot be written does not stop the others.
    pub fn ingest(
        &self,
        guard: &Guard,
        source: &str,
        records: &[String],
        job: &Job<'_>,
    ) -> Result<Ingestion> {
        guard.require(Capability::Write)?;
        // A record says itself which project it belongs to.
        if guard.project().is_some() {
            return Err(Error::NotAllowed {
                capability: "ingest",
            });
        }
        let found = self.engine.view(guard).source(source)?.as_any();
        let target = found.and_then(|found| found.downcast_ref::<SessionRecords>());
        let target = target.ok_or_else(|| Error::NotWritable {
            name: source.to_owned(),
        })?;
        let records = target.store(records)?;
        let stored = || records.iter().filter_map(|record| record.as_ref().ok());
        let files: Vec<PathBuf> = stored().map(|record| record.file.clone()).collect();
        let mut ingestion = Ingestion {
            indexed: true,
            embedding: Ok(None),
            repeated: Vec::new(),
            records: Vec::new(),
        };
        if !files.is_empty() {
            ingestion.indexed = self.engine.index_written(source, &files, job);
            // A caller that may write a text may have it embedded.
            ingestion.embedding = self.engine.embed(&Guard::local(), Some(EMBEDDING), job);
            let new: Vec<&str> = stored()
                .filter(|record| record.new)
                .map(|record| record.key.as_str())
                .collect();
            ingestion.repeated = self.repeated_lessons(guard, source, &new, job)?;
        }
        ingestion.records = records;
        Ok(ingestion)
    }

    /// Returns the lessons of these sessions that other sessions have taught too.
    fn repeated_lessons(
        &self,
        guard: &Guard,
        source: &str,
        new: &[&str],
        job: &Job<'_>,
    ) -> Result<Vec<RepeatedLesson>> {
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let filter = guard.narrow(&Filter {
            kinds: vec![KIND.to_owned()],
            ..Filter::default()
        });
        let read = |reader: &dyn Reader| said(reader, Statements::Lessons, &filter);
        let said = match self.engine.view(&Guard::local()).read(read) {
            Err(Error::NoIndex { .. }) => return Ok(Vec::new()),
            other => other?,
        };
        let is_new = |one: &Statement| one.source == source && new.contains(&one.session.as_str());
        let texts: Vec<&str> = said.iter().map(|one| one.text.as_str()).collect();
        // The caller does not wait for the records of others.
        let vectors = self
            .engine
            .view(guard)
            .vectors_of(&texts, &|at| is_new(&said[at]), job);
        let mut repeated = Vec::new();
        for members in groups(&texts, vectors.as_ref()) {
            let others = || {
                let members = members.iter().map(|&index| &said[index]);
                members.filter(|one| !is_new(one))
            };
            let Some(earlier) = others().max_by_key(|one| one.at) else {
                continue;
            };
            let mut sessions: Vec<&str> = others().map(|one| one.session.as_str()).collect();
            sessions.sort_unstable();
            sessions.dedup();
            let new = members.iter().map(|&index| &said[index]);
            repeated.extend(new.filter(|one| is_new(one)).map(|new| RepeatedLesson {
                new: new.clone(),
                earlier: earlier.clone(),
                sessions: sessions.len(),
            }));
        }
        Ok(repeated)
    }
}
