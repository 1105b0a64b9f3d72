//! Syncing: from a source to the index.
//!
//! Workers read, hash and analyse documents while one writer stores them in
//! batches. Every batch is a transaction, so a process that dies loses at most
//! one, and the next sync continues from there.

mod access;
mod changes;
mod contest;
mod embedding;
mod gone;
mod queue;
mod refresh;
mod written;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::analysis::{AnalyzedDocument, Analyzer};
use crate::cancel::Cancel;
use crate::date;
use crate::document::{Document, Version};
use crate::embed::Identity;
use crate::error::{Error, Result};
use crate::source::{Container, LeftOut, Reading, Source, mounts};
use crate::store::{EmbeddingCache, EntryState, KnownDocument, Writer};
pub use access::{HeldWriter, WriteAccess};
pub(crate) use access::{KeptWriter, returning};
use changes::{Candidate, compare, require_entries};
pub use changes::{Changes, changes};
pub(crate) use embedding::embed_recent;
pub use embedding::{EmbeddingProgress, EmbeddingReport, backfill};
use queue::{Closing, ReadingQueue};
pub(crate) use refresh::{certain_changes, refresh};
pub(crate) use written::store_located;

/// The number of documents or bytes, whichever comes first, at which a batch
/// ends. Each batch writes the counts of all its words and a segment of the
/// full text, so larger batches cost less. A process that dies loses a few
/// seconds of work.
const BATCH_DOCUMENTS: usize = 10_000;
const BATCH_BYTES: u64 = 32 << 20;

/// How a sync changed the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of entries in the source.
    pub seen: usize,
    /// The number of documents that were added.
    pub added: usize,
    /// The number of documents whose content changed.
    pub updated: usize,
    /// The number of documents that were removed.
    pub removed: usize,
    /// The number of entries that were skipped or could not be listed.
    pub skipped: usize,
    /// The number of documents that are now indexed.
    pub documents: usize,
}

impl Report {
    /// Reports whether anything changed.
    pub fn changed(&self) -> bool {
        self.added + self.updated + self.removed > 0
    }
}

/// The progress of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The source was listed; this many entries must be read.
    Found(usize),
    /// This many of them are done.
    Done(usize),
}

/// Brings the index up to date with `source`, in separate transactions. A cancelled sync
/// keeps what it has committed, and the next one continues from there. Fails with
/// [`Error::SourceEmpty`] if the source has documents in the index and lists none.
pub fn sync(
    writer: &mut dyn Writer,
    source: &dyn Source,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    run(writer, source, Commit::EachBatch, None, cancel, progress)
}

/// Empties the index and fills it from `sources`, in one transaction: readers
/// see the old index until the new one is complete, and still see it if this
/// fails. If one source cannot be listed, the whole rebuild fails. Vectors are
/// restored from the cache as far as it has them.
pub fn rebuild(
    writer: &mut dyn Writer,
    sources: &[&dyn Source],
    vectors: Option<(&Identity, &EmbeddingCache)>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(&str, Progress),
) -> Result<Vec<Report>> {
    writer.begin()?;
    let mut fill = || {
        let documents = |source: &&dyn Source| writer.reader().documents_of_source(source.name());
        let before = sources.iter().map(documents).collect::<Result<Vec<_>>>()?;
        let containers = |source: &&dyn Source| writer.reader().containers(source.name());
        let containers = sources.iter().map(containers);
        let containers = containers.collect::<Result<Vec<_>>>()?;
        writer.start_over()?;
        let mut reports = Vec::new();
        for ((source, before), known) in sources.iter().zip(before).zip(containers) {
            let mut progress = |event| progress(source.name(), event);
            let report = run(
                writer,
                *source,
                Commit::Never,
                Some(&known),
                cancel,
                &mut progress,
            )?;
            if before > 0 {
                gone::require_shown(*source, writer)?;
            }
            reports.push(report);
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
            writer.optimize()?;
            Ok(reports)
        }
        Err(error) => {
            writer.roll_back()?;
            Err(error)
        }
    }
}

/// When a sync commits its transactions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commit {
    EachBatch,
    Never,
}

/// Syncs a source. A rebuild gives the containers that were indexed before it.
fn run(
    writer: &mut dyn Writer,
    source: &dyn Source,
    commit: Commit,
    rebuilt: Option<&HashMap<String, Version>>,
    cancel: &Cancel,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let snapshot = source.snapshot()?;
    let source = snapshot.as_deref().unwrap_or(source);
    let mut listing = source.list()?;
    if let Some(containers) = rebuilt {
        // What is away cannot be indexed again.
        if let Some(folder) = listing.note_away(containers) {
            return Err(mounts::not_mounted(source, &folder));
        }
    } else {
        listing.note_away(&writer.reader().containers(source.name())?);
    }
    let left_out = listing.left_out.clone();
    let containers = std::mem::take(&mut listing.containers);
    let states = writer.reader().entry_states(source.name())?;
    let before = writer.reader().documents_of_source(source.name())?;
    let mut report = Report {
        seen: listing.entries.len(),
        ..Report::default()
    };
    require_entries(source, &listing, before)?;
    let compared = compare(listing, states);
    report.skipped = left_out.len() + compared.still_skipped;
    let to_read = compared
        .to_read
        .into_iter()
        .map(|candidate| ToRead::new(writer, candidate))
        .collect::<Result<Vec<_>>>()?;
    progress(Progress::Found(to_read.len()));

    let mut batches = Batches::new(writer, commit)?;
    let store = || {
        let location = source.location();
        batches.writer.put_source(source.name(), &location)?;
        store_read(
            source,
            &to_read,
            &mut batches,
            &mut report,
            cancel,
            progress,
        )?;
        gone::remove(source, compared.gone, &mut batches, &mut report)?;
        contest::hand_over(source, &mut batches, &mut report)?;
        note_left_out(source, left_out, &mut batches)?;
        // Last, with everything that was listed in them: until then a search
        // must still see that they have changed.
        replace_containers(source, &containers, batches.writer)?;
        batches.writer.mark_synced(source.name(), date::now())?;
        batches.finish()
    };
    if let Err(error) = store() {
        if commit == Commit::EachBatch {
            // Only the failed batch is rolled back. Earlier batches are
            // committed.
            writer.roll_back()?;
        }
        return Err(error);
    }
    report.documents = (before as usize + report.added).saturating_sub(report.removed);
    if commit == Commit::EachBatch && report.changed() {
        writer.refresh_vocabulary()?;
        writer.optimize()?;
    }
    Ok(report)
}

/// An entry to read, with the documents already indexed from it.
#[derive(Debug)]
struct ToRead {
    candidate: Candidate,
    /// The hash of each of its indexed documents, by key.
    known: HashMap<String, [u8; 32]>,
}

impl ToRead {
    fn new(writer: &dyn Writer, candidate: Candidate) -> Result<Self> {
        let row = candidate.known.and_then(|state| state.row);
        let known = match row {
            Some(row) => writer.reader().documents_of_entry(row)?,
            None => Vec::new(),
        };
        let by_key = |known: KnownDocument| (known.key, known.hash);
        Ok(Self {
            candidate,
            known: known.into_iter().map(by_key).collect(),
        })
    }

    /// Returns the approximate number of bytes that reading it yields.
    fn size(&self) -> u64 {
        self.candidate.entry.size_hint
    }
}

fn store_read(
    source: &dyn Source,
    to_read: &[ToRead],
    batches: &mut Batches<'_>,
    report: &mut Report,
    cancel: &Cancel,
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
                while let Some((at, to_read)) = queue.next() {
                    let outcome = read_one(source, to_read, &mut analyzer);
                    // A closed channel means that the writer has failed: stop
                    // reading.
                    if sender.send((at, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // However this ends, no worker may be left waiting for room.
        let _closing = Closing(&queue);
        // Stored in the order of the listing, so that the same folder always
        // gives the same index, whichever worker is faster.
        let mut early = BTreeMap::new();
        let mut done = 0;
        for (at, outcome) in receiver {
            early.insert(at, outcome);
            if cancel.is_cancelled() {
                return Err(Error::Cancelled);
            }
            while let Some(outcome) = early.remove(&done) {
                let to_read = &to_read[done];
                store_one(source, to_read, outcome?, batches, report)?;
                queue.stored(to_read);
                done += 1;
                progress(Progress::Done(done));
            }
        }
        Ok(())
    })
}

/// The outcome of reading an entry.
enum Outcome {
    Read {
        version: Version,
        documents: Vec<ReadDocument>,
    },
    Skipped {
        reason: String,
        version: Version,
    },
    Unavailable(String),
    Gone,
}

/// A document that was read.
enum ReadDocument {
    /// Its content is new to the index.
    Changed(Box<AnalyzedDocument>),
    /// Its content is already indexed. Only its metadata may have changed.
    Same(Box<Document>),
}

impl ReadDocument {
    fn key(&self) -> &str {
        match self {
            Self::Changed(analyzed) => &analyzed.document().key,
            Self::Same(document) => &document.key,
        }
    }
}

fn read_one(source: &dyn Source, to_read: &ToRead, analyzer: &mut Analyzer) -> Result<Outcome> {
    let mut documents: Vec<ReadDocument> = Vec::new();
    let mut emitted = HashSet::new();
    let reading = source.read(&to_read.candidate.entry, &mut |mut document| {
        // A key names one document. A second one would replace the first.
        if !emitted.insert(document.key.clone()) {
            return;
        }
        if to_read.known.get(&document.key) == Some(&document.hash) {
            // The text is already stored and need not be held in memory.
            (document.front, document.body) = (String::new(), String::new());
            documents.push(ReadDocument::Same(Box::new(document)));
        } else {
            documents.push(ReadDocument::Changed(Box::new(analyzer.analyze(document))));
        }
    })?;
    Ok(match reading {
        Reading::Read { version } => Outcome::Read { version, documents },
        Reading::Skipped { reason, version } => Outcome::Skipped { reason, version },
        Reading::Unavailable(reason) => Outcome::Unavailable(reason),
        Reading::Gone => Outcome::Gone,
    })
}

fn store_one(
    source: &dyn Source,
    to_read: &ToRead,
    outcome: Outcome,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    let (name, size) = (source.name(), to_read.size());
    let key = &to_read.candidate.entry.key;
    let writer = &mut *batches.writer;
    let mut stored = 1;
    match outcome {
        Outcome::Read { version, documents } => {
            stored = documents.len().max(1);
            let entry = writer.put_entry(name, key, version, size, None)?;
            let mut gone: HashSet<&str> = to_read.known.keys().map(String::as_str).collect();
            for mut document in documents {
                let freed = contest::settle(source, key, &mut document, writer)?;
                batches.freed.extend(freed);
                gone.remove(document.key());
                let known = to_read.known.get(document.key());
                match document {
                    ReadDocument::Changed(analyzed) if known == Some(&analyzed.document().hash) => {
                        writer.touch(entry, analyzed.document())?;
                    }
                    ReadDocument::Changed(analyzed) => {
                        if writer.put_from(entry, &analyzed)? {
                            report.updated += 1;
                        } else {
                            report.added += 1;
                        }
                    }
                    ReadDocument::Same(document) => writer.touch(entry, &document)?,
                }
            }
            let mut gone: Vec<&str> = gone.into_iter().collect();
            gone.sort_unstable();
            for key in gone {
                let removed = writer.remove_from_entry(name, entry, key)?;
                report.removed += usize::from(removed);
                if source.traits().chosen_keys {
                    batches.freed.push(key.to_owned());
                }
            }
        }
        Outcome::Skipped { reason, version } => {
            let entry = writer.put_entry(name, key, version, size, Some(&reason))?;
            report.removed += writer.clear_entry(name, entry)?;
            report.skipped += 1;
            batches.freed.extend(to_read.known.keys().cloned());
        }
        Outcome::Unavailable(reason) => {
            // Without a version, the next sync reads it again. Its indexed
            // documents stay.
            writer.put_entry(name, key, Version::UNKNOWN, size, Some(&reason))?;
            report.skipped += 1;
        }
        // Whether it was deleted is decided together with all that are missing.
        Outcome::Gone => {
            let known = to_read.candidate.known;
            batches
                .missed
                .extend(known.map(|state| (key.clone(), state)));
        }
    }
    batches.count(stored, size)
}

fn note_left_out(
    source: &dyn Source,
    left_out: Vec<LeftOut>,
    batches: &mut Batches<'_>,
) -> Result<()> {
    for LeftOut { key, reason } in left_out {
        let (name, unknown) = (source.name(), Version::UNKNOWN);
        batches
            .writer
            .put_entry(name, &key, unknown, 0, Some(&reason))?;
        batches.count(1, 0)?;
    }
    Ok(())
}

/// Records the containers that were listed, and removes the records of others.
fn replace_containers(
    source: &dyn Source,
    containers: &[Container],
    writer: &mut dyn Writer,
) -> Result<()> {
    let name = source.name();
    let mut before = writer.reader().containers(name)?;
    for Container { key, version } in containers {
        if before.remove(key) != Some(*version) {
            writer.put_container(name, key, *version)?;
        }
    }
    for key in before.keys() {
        writer.remove_container(name, key)?;
    }
    Ok(())
}

/// Reads an entry and stores its documents.
fn read_and_store(
    source: &dyn Source,
    candidate: Candidate,
    analyzer: &mut Analyzer,
    batches: &mut Batches<'_>,
    report: &mut Report,
) -> Result<()> {
    let to_read = ToRead::new(batches.writer, candidate)?;
    let outcome = read_one(source, &to_read, analyzer)?;
    store_one(source, &to_read, outcome, batches, report)
}

/// Commits a transaction and begins the next once it is large enough.
struct Batches<'a> {
    writer: &'a mut dyn Writer,
    commit: Commit,
    documents: usize,
    bytes: u64,
    /// Keys that documents had and have no longer, so that others may have them.
    freed: Vec<String>,
    /// Entries that were missing when they were read.
    missed: Vec<(String, EntryState)>,
}

impl<'a> Batches<'a> {
    fn new(writer: &'a mut dyn Writer, commit: Commit) -> Result<Self> {
        if commit == Commit::EachBatch {
            writer.begin()?;
        }
        Ok(Self {
            writer,
            commit,
            documents: 0,
            bytes: 0,
            freed: Vec::new(),
            missed: Vec::new(),
        })
    }

    /// Counts an entry that is stored completely, with its number of documents.
    /// The documents of one entry are never split across transactions.
    fn count(&mut self, documents: usize, bytes: u64) -> Result<()> {
        self.documents += documents;
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
