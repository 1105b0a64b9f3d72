//! From a source to the index: what is new, what changed, what is gone.
//!
//! Workers read, hash and cut documents while one writer stores them in
//! batches. Every batch is a transaction, so that a process that dies loses at
//! most one and the next sync goes on from there.

mod embedding;
mod queue;

use std::collections::{BTreeMap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::analysis::{AnalyzedDocument, Analyzer};
use crate::date;
use crate::document::Stamp;
use crate::embed::Identity;
use crate::error::Result;
use crate::source::{Entry, LeftOut, Listing, Reading, Source};
use crate::store::sqlite::State;
use crate::store::{EmbeddingCache, Writer};
pub use embedding::{EmbeddingProgress, EmbeddingReport, backfill};
use queue::{Closing, ReadingQueue};

/// A batch ends at this many documents or bytes, whichever comes first. Each
/// writes the counts of all its words and a segment of the full text, so that
/// larger ones cost less; a process that dies loses a few seconds of work.
const BATCH_DOCUMENTS: usize = 10_000;
const BATCH_BYTES: u64 = 32 << 20;

/// A file written this shortly before it was listed may be written again
/// without its time changing, so its stamp is not trusted next time.
const TOO_FRESH_NS: i64 = 50_000_000;

/// How a sync changed the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Entries the source has.
    pub seen: usize,
    /// Documents that were not there before.
    pub added: usize,
    /// Documents whose content changed.
    pub updated: usize,
    /// Documents that are gone.
    pub removed: usize,
    /// What was left out.
    pub skipped: usize,
    /// Documents that are indexed now.
    pub documents: usize,
}

impl Report {
    /// Whether anything changed.
    pub fn changed(&self) -> bool {
        self.added + self.updated + self.removed > 0
    }
}

/// Told to whoever watches a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The source was listed; so many entries have to be read.
    Found(usize),
    /// So many of them are done.
    Done(usize),
}

/// Brings the index in step with `source`, in transactions of its own.
pub fn sync(
    writer: &mut Writer,
    source: &dyn Source,
    place: &str,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    run(writer, source, place, Commit::EachBatch, progress)
}

/// Empties the index and fills it from `sources`, in one transaction: readers
/// see the old index until the new one is complete, and still see it if this
/// fails. A source that cannot be listed fails the whole. Vectors come back
/// from the cache, as far as it has them.
pub fn rebuild<'a>(
    writer: &mut Writer,
    sources: impl IntoIterator<Item = (&'a dyn Source, &'a str)>,
    vectors: Option<(&Identity, &EmbeddingCache)>,
    progress: &mut dyn FnMut(&str, Progress),
) -> Result<Vec<Report>> {
    writer.begin()?;
    let fill = || {
        writer.start_over()?;
        let mut reports = Vec::new();
        for (source, place) in sources {
            let mut progress = |event| progress(source.name(), event);
            reports.push(run(writer, source, place, Commit::Never, &mut progress)?);
        }
        writer.rebuild_vocabulary()?;
        if let Some((identity, cache)) = vectors {
            embedding::restore(writer, identity, cache)?;
        }
        Ok(reports)
    };
    match fill() {
        Ok(reports) => {
            writer.commit()?;
            writer.settle()?;
            Ok(reports)
        }
        Err(error) => {
            writer.roll_back()?;
            Err(error)
        }
    }
}

/// Who ends the transactions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commit {
    EachBatch,
    Never,
}

fn run(
    writer: &mut Writer,
    source: &dyn Source,
    place: &str,
    commit: Commit,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let started_ns = now_ns();
    let Listing {
        mut entries,
        left_out,
    } = source.list()?;
    entries.sort_unstable_by(|one, other| one.key.cmp(&other.key));
    let mut states = writer.states(source.name())?;
    let before = states.values().filter(|state| state.hash.is_some()).count();
    let mut report = Report {
        seen: entries.len(),
        skipped: left_out.len(),
        ..Report::default()
    };
    let mut to_read = Vec::new();
    for mut entry in entries {
        let known = states.remove(&entry.key);
        if known
            .as_ref()
            .is_some_and(|state| state.stamp == entry.stamp)
        {
            report.skipped += usize::from(known.is_some_and(|state| state.hash.is_none()));
            continue;
        }
        if entry.stamp.modified_ns > started_ns - TOO_FRESH_NS {
            entry.stamp.modified_ns = 0;
        }
        to_read.push((entry, known));
    }
    let gone = gone_for_good(states, &left_out);
    progress(Progress::Found(to_read.len()));

    let mut batches = Batches::new(writer, commit)?;
    let store = || {
        batches.writer.put_source(source.name(), place)?;
        store_read(source, &to_read, &mut batches, &mut report, progress)?;
        remove_gone(source, gone, &mut batches, &mut report)?;
        note_left_out(source, left_out, &mut batches)?;
        batches.writer.mark_synced(source.name(), date::now())?;
        batches.finish()
    };
    if let Err(error) = store() {
        if commit == Commit::EachBatch {
            // The batch that failed leaves nothing behind; those before it stay.
            writer.roll_back()?;
        }
        return Err(error);
    }
    report.documents = before + report.added - report.removed;
    if commit == Commit::EachBatch && report.changed() {
        writer.refresh_vocabulary()?;
        writer.settle()?;
    }
    Ok(report)
}

fn store_read(
    source: &dyn Source,
    to_read: &[(Entry, Option<State>)],
    batches: &mut Batches<'_>,
    report: &mut Report,
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let threads = std::thread::available_parallelism()
        .map_or(2, usize::from)
        .min(8);
    let queue = ReadingQueue::new(to_read);
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, queue) = (sender.clone(), &queue);
            let mut analyzer = batches.writer.analyzer();
            scope.spawn(move || {
                while let Some((at, entry, known)) = queue.next() {
                    let outcome = read_one(source, entry, known, &mut analyzer);
                    // A closed channel means the writer gave up: stop reading.
                    if sender.send((at, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // However this ends, no worker must be left waiting for room.
        let _closing = Closing(&queue);
        // Stored in listing order, so that the same folder always makes the
        // same index, whichever worker was quicker.
        let mut early = BTreeMap::new();
        let mut done = 0;
        for (at, outcome) in receiver {
            early.insert(at, outcome);
            while let Some(outcome) = early.remove(&done) {
                let (entry, known) = &to_read[done];
                store_one(source, entry, known.as_ref(), outcome?, batches, report)?;
                queue.stored(entry);
                done += 1;
                progress(Progress::Done(done));
            }
        }
        Ok(())
    })
}

enum Outcome {
    Changed(Box<AnalyzedDocument>),
    Unchanged,
    Skipped(String),
    Unavailable(String),
    Gone,
}

fn read_one(
    source: &dyn Source,
    entry: &Entry,
    known: Option<&State>,
    analyzer: &mut Analyzer,
) -> Result<Outcome> {
    Ok(match source.read(entry)? {
        Reading::Document(mut document) => {
            if known.is_some_and(|state| state.hash == Some(document.hash)) {
                Outcome::Unchanged
            } else {
                if entry.stamp.modified_ns == 0 {
                    document.stamp.modified_ns = 0;
                }
                Outcome::Changed(Box::new(analyzer.analyze(*document)))
            }
        }
        Reading::Skipped(reason) => Outcome::Skipped(reason),
        Reading::Unavailable(reason) => Outcome::Unavailable(reason),
        Reading::Gone => Outcome::Gone,
    })
}

fn store_one(
    source: &dyn Source,
    entry: &Entry,
    known: Option<&State>,
    outcome: Outcome,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    let indexed_before = known.is_some_and(|state| state.hash.is_some());
    match outcome {
        Outcome::Changed(analyzed) => {
            batches.writer.put(&analyzed)?;
            if indexed_before {
                report.updated += 1;
            } else {
                report.added += 1;
            }
        }
        Outcome::Unchanged => batches.writer.touch(source.name(), entry)?,
        Outcome::Skipped(reason) => {
            batches.writer.skip(source.name(), entry, &reason)?;
            report.skipped += 1;
            report.removed += usize::from(indexed_before);
        }
        Outcome::Unavailable(reason) => {
            // Without a time it counts as changed, and is tried again.
            let mut untimed = entry.clone();
            untimed.stamp.modified_ns = 0;
            batches.writer.skip(source.name(), &untimed, &reason)?;
            report.skipped += 1;
            report.removed += usize::from(indexed_before);
        }
        Outcome::Gone => {
            batches.writer.remove(source.name(), &entry.key)?;
            report.removed += usize::from(indexed_before);
        }
    }
    batches.count(entry.stamp.size)
}

/// What is known and no longer listed, but for what lies in a folder that could
/// not be listed: that may well be there.
fn gone_for_good(
    mut states: HashMap<String, State>,
    left_out: &[LeftOut],
) -> HashMap<String, State> {
    let folders: Vec<&str> = left_out
        .iter()
        .map(|left_out| left_out.key.as_str())
        .filter(|key| key.ends_with('/'))
        .collect();
    states.retain(|key, _| !folders.iter().any(|folder| key.starts_with(folder)));
    states
}

fn note_left_out(
    source: &dyn Source,
    left_out: Vec<LeftOut>,
    batches: &mut Batches<'_>,
) -> Result<()> {
    for LeftOut { key, reason } in left_out {
        let entry = Entry {
            key,
            stamp: Stamp::default(),
        };
        batches.writer.skip(source.name(), &entry, &reason)?;
        batches.count(0)?;
    }
    Ok(())
}

fn remove_gone(
    source: &dyn Source,
    gone: HashMap<String, State>,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    for (key, state) in gone {
        batches.writer.remove(source.name(), &key)?;
        report.removed += usize::from(state.hash.is_some());
        batches.count(state.stamp.size)?;
    }
    Ok(())
}

/// Ends a transaction and begins the next when enough is in it.
struct Batches<'a> {
    writer: &'a mut Writer,
    commit: Commit,
    documents: usize,
    bytes: u64,
}

impl<'a> Batches<'a> {
    fn new(writer: &'a mut Writer, commit: Commit) -> Result<Self> {
        if commit == Commit::EachBatch {
            writer.begin()?;
        }
        Ok(Self {
            writer,
            commit,
            documents: 0,
            bytes: 0,
        })
    }

    fn count(&mut self, bytes: u64) -> Result<()> {
        self.documents += 1;
        self.bytes += bytes;
        if self.documents < BATCH_DOCUMENTS && self.bytes < BATCH_BYTES {
            return Ok(());
        }
        (self.documents, self.bytes) = (0, 0);
        match self.commit {
            Commit::EachBatch => {
                self.writer.commit()?;
                self.writer.begin()
            }
            Commit::Never => self.writer.flush(),
        }
    }

    fn finish(&mut self) -> Result<()> {
        match self.commit {
            Commit::EachBatch => self.writer.commit(),
            Commit::Never => self.writer.flush(),
        }
    }
}

fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as i64)
}
