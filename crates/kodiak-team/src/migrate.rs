//! Moving an index, and what is kept beside it, from one store to another, and back.
//!
//! Everything keeps its id, because an id is a hash of source and key. A migration adds
//! what the destination lacks and removes nothing, page by page, each page in a transaction:
//! one that was killed is repeated, and finds what it has done. Nothing that differs in the
//! destination is overwritten, except for documents of the index, where the one that was
//! changed later wins: they are derived from what their sources hold.
//!
//! * `documents` moves documents with their entries, and `sources` what is known of sources
//!   and of entries;
//! * `vectors` moves vectors;
//! * `records` moves what is kept beside an index under names: memories and pages,
//!   tombstones, tokens;
//! * `sums` has the checksums by which `verify` compares both sides, group by group, and
//!   `report` what came of it.
//!
//! Chunks are not moved but computed again from the same texts, and compared. What a server or a
//! machine keeps for itself stays there: the history of what was opened, and the cache of
//! embeddings.

mod documents;
mod files;
mod records;
mod report;
mod sources;
mod sums;
mod tokens;
mod tombstones;
mod vectors;
mod verify;

use std::time::Duration;

use kodiak::Cancel;
use kodiak_base::error::{Error, Result};
use kodiak_store::{Row, Store, Writer, wait_for_lock};

pub use files::{FolderRecords, RowRecords, Shelf};
pub use records::{Put, Record, Records, VisitRecord};
pub use report::{Group, MigrationReport, Side};
pub use tokens::TokenRecords;
pub use tombstones::{Remaining, TombstoneRecords};

/// The number of documents that are moved in one transaction.
const PAGE: usize = 256;

/// How long to wait for another writer.
const PATIENCE: Duration = Duration::from_mins(10);

/// What a migration does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// It moves what is kept beside the index.
    Records,
    /// It moves documents.
    Documents,
    /// It moves vectors.
    Vectors,
    /// It compares both sides.
    Verifying,
}

/// Receives how far a step is: how much of how much is done.
pub type Progress<'a> = dyn FnMut(Step, usize, usize) + 'a;

/// Reports whether a document was forgotten, given its source, its key and its thread.
pub type Forgotten<'a> = dyn Fn(&str, &str, Option<&str>) -> Result<bool> + 'a;

/// Returns where a source is as the destination says it, given its name and where it is as
/// the origin says it.
pub type Place<'a> = dyn Fn(&str, &str) -> String + 'a;

/// The same records on both sides.
struct Pair<'a> {
    name: &'static str,
    from: &'a dyn Records,
    to: &'a dyn Records,
}

/// A migration from one store to another.
pub struct Migration<'a> {
    from: &'a dyn Store,
    to: &'a dyn Store,
    holder: &'a str,
    records: Vec<Pair<'a>>,
    kept: Vec<&'a str>,
    forgotten: Option<&'a Forgotten<'a>>,
    place: Option<&'a Place<'a>>,
    cancel: Cancel,
}

impl<'a> Migration<'a> {
    /// Prepares a migration. `holder` is the name of this process for others that wait.
    pub fn new(from: &'a dyn Store, to: &'a dyn Store, holder: &'a str) -> Self {
        Self {
            from,
            to,
            holder,
            records: Vec::new(),
            kept: Vec::new(),
            forgotten: None,
            place: None,
            cancel: Cancel::new(),
        }
    }

    /// Adds records that are kept beside the index. They are moved in the order in which
    /// they are added, before the documents; `name` is that of their group in the report.
    #[must_use]
    pub fn records(
        mut self,
        name: &'static str,
        from: &'a dyn Records,
        to: &'a dyn Records,
    ) -> Self {
        self.records.push(Pair { name, from, to });
        self
    }

    /// Says that a source has files on one side and rows on the other. Their versions say
    /// nothing to each other.
    #[must_use]
    pub fn kept(mut self, source: &'a str) -> Self {
        self.kept.push(source);
        self
    }

    /// Sets what was forgotten. Such documents stay behind.
    #[must_use]
    pub fn forgotten(mut self, forgotten: &'a Forgotten<'a>) -> Self {
        self.forgotten = Some(forgotten);
        self
    }

    /// Sets where sources are in the destination. Without it, they are where they were.
    #[must_use]
    pub fn placed(mut self, place: &'a Place<'a>) -> Self {
        self.place = Some(place);
        self
    }

    /// Sets what stops the migration between two pages.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }

    /// Moves everything, and compares both sides. Others may read both, and write to the
    /// destination between two pages, but not to the origin.
    pub fn run(&self, progress: &mut Progress<'_>) -> Result<MigrationReport> {
        // A writer would create what is not there.
        drop(self.from.reader()?);
        let mut from = wait_for_lock(PATIENCE, |_, _| Ok(()), || self.from.writer(self.holder))?;
        let mut to = wait_for_lock(PATIENCE, |_, _| Ok(()), || self.to.writer(self.holder))?;
        to.unlock();
        let mut moving = Moving {
            migration: self,
            from: &mut *from,
            to: &mut *to,
            changed: 0,
        };
        for (number, pair) in self.records.iter().enumerate() {
            progress(Step::Records, number, self.records.len());
            moving.changed += records::copy(pair.from, pair.to, &self.cancel)?;
        }
        sources::copy(&mut moving)?;
        let rows = documents::copy(&mut moving, progress)?;
        sources::copy_entries(&mut moving)?;
        let missing = vectors::missing(moving.from)?;
        vectors::copy(&mut moving, &missing, progress)?;
        if moving.changed > 0 {
            moving.write(|writer| writer.optimize())?;
            moving.write(|writer| writer.refresh_vectors())?;
        }
        let changed = moving.changed;
        let groups = verify::compare(&mut moving, &rows, &missing, progress)?;
        let mut report = MigrationReport { groups, changed };
        for pair in &self.records {
            report.groups.push(verify::records(pair)?);
        }
        Ok(report)
    }

    fn is_kept(&self, source: &str) -> bool {
        self.kept.contains(&source)
    }

    fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        Ok(())
    }
}

/// A migration that runs.
struct Moving<'a> {
    migration: &'a Migration<'a>,
    /// Holds the lock of the origin, so that nothing changes there.
    from: &'a mut dyn Writer,
    /// Holds the lock of the destination for one page at a time.
    to: &'a mut dyn Writer,
    /// How much was written.
    changed: usize,
}

impl Moving<'_> {
    /// Does some work while no other writer is active in the destination.
    fn write<T>(&mut self, work: impl FnOnce(&mut dyn Writer) -> Result<T>) -> Result<T> {
        self.migration.check()?;
        wait_for_lock(PATIENCE, |_, _| Ok(()), || self.to.lock())?;
        let done = work(self.to);
        self.to.unlock();
        done
    }

    /// Does some work in a transaction of the destination.
    fn transaction<T>(&mut self, work: impl FnOnce(&mut dyn Writer) -> Result<T>) -> Result<T> {
        self.write(|writer| {
            writer.begin()?;
            match work(writer) {
                Ok(value) => writer.commit().map(|()| value),
                Err(error) => {
                    writer.roll_back()?;
                    Err(error)
                }
            }
        })
    }

    /// Returns the rows of documents in the destination, given their ids, each in its place.
    fn rows_there(&self, uids: &[String]) -> Result<Vec<Option<Row>>> {
        rows_of(self.to.reader(), uids)
    }
}

/// Returns the rows of documents, given their whole ids, each in its place.
fn rows_of(reader: &dyn kodiak_store::Reader, uids: &[String]) -> Result<Vec<Option<Row>>> {
    let names: Vec<String> = uids.iter().map(|uid| format!("#{uid}")).collect();
    let mut rows = vec![None; uids.len()];
    for (number, row) in reader.named(&names, &kodiak_store::Filter::default())? {
        if let Some(place) = rows.get_mut(number) {
            *place = Some(row);
        }
    }
    Ok(rows)
}
