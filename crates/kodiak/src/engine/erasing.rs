//! Carrying out an erasing, and finishing one that was interrupted.
//!
//! What is to be erased is recorded first, then the tombstones are written, then what the
//! sources hold is erased, then the cache, then the index, and last what the history of
//! opened documents says of them. The record is removed when no byte is left, also in
//! sources that only another process knows. Every step can be repeated, and whatever writes
//! the index next begins with what an earlier process has left.

use std::path::PathBuf;

use super::erasure::Erasure;
use super::journal::Journal;
use super::target::{SharedEntry, is_of_another_entry};
use super::{Engine, Event, Job};
use crate::document::Version;
use crate::error::{Error, Result};
use crate::files::{self, Folder};
use crate::source::{Entry, Located, Source, WithoutTombstones};
use crate::store::{EraseStep, Writer};
use crate::sync;

/// A source that something is to be erased from.
enum Holder<'a> {
    Open(&'a dyn Source),
    Returned(Box<dyn Source>),
    /// It is registered and cannot be reached.
    Absent,
    /// It is not registered, so its files are not ours to erase.
    Unknown,
}

impl Holder<'_> {
    fn source(&self) -> Option<&dyn Source> {
        match self {
            Self::Open(source) => Some(*source),
            Self::Returned(source) => Some(&**source),
            Self::Absent | Self::Unknown => None,
        }
    }
}

impl Engine {
    /// Finishes an erasing that was interrupted if a search writes, unless only readers
    /// hold it up: a search does not wait for them.
    pub(super) fn finish_begun_beside_search(&self, writer: &mut dyn Writer) {
        let journal = self.erasing_journal();
        let begun = journal.and_then(|journal| Erasure::read(&journal).ok().flatten());
        if begun.is_some_and(|begun| !begun.index_is_erased) {
            self.finish_begun(writer, &Job::default());
        }
    }

    /// Finishes an erasing that was interrupted, as the first work of a writer. That it
    /// cannot be finished is not a reason not to write.
    pub(super) fn finish_begun(&self, writer: &mut dyn Writer, job: &Job<'_>) {
        let Some(journal) = self.erasing_journal() else {
            return;
        };
        // What a killed process was writing beside the index may say what was erased.
        if let Ok(folder) = Folder::root(files::folder_of(journal.path())) {
            files::left_over::remove_left_over(&folder);
        }
        let finished = match Erasure::read(&journal) {
            Ok(None) => return,
            Ok(Some(begun)) => {
                let documents = begun.documents;
                self.carry_out_erasing(begun, writer, job)
                    .map(|()| documents)
            }
            Err(error) => Err(error),
        };
        match finished {
            Ok(documents) => job.tell(Event::ErasureFinished { documents }),
            Err(error) => job.tell(Event::ErasureUnfinished { error: &error }),
        }
    }

    /// Records what is to be erased, and erases it. Once it is recorded, it will be
    /// erased, whatever happens.
    pub(super) fn begin_erasing(
        &self,
        mut erasure: Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<()> {
        if let Some(journal) = self.erasing_journal() {
            // What could not be finished continues with it.
            if let Some(begun) = Erasure::read(&journal)? {
                erasure = begun.and(erasure);
            }
            job.tell(Event::Erasing {
                step: EraseStep::Journal,
            });
            erasure.write(&journal)?;
        }
        self.carry_out_erasing(erasure, writer, job)
            .map_err(not_erased)
    }

    pub(super) fn erasing_journal(&self) -> Option<Journal> {
        let file = self.shared.store.file()?;
        let journaled = self.shared.journaled;
        journaled.then(|| Erasure::journal_beside(file))
    }

    pub(super) fn carry_out_erasing(
        &self,
        mut erasure: Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<()> {
        let journal = self.erasing_journal();
        let begin = |step| job.tell(Event::Erasing { step });
        let mut absent = Vec::new();
        let is_absent = |name: &String| matches!(self.holder(name), Holder::Absent);
        if erasure.index_is_erased && erasure.sources().iter().all(is_absent) {
            absent = erasure.sources();
        } else {
            begin(EraseStep::Tombstones);
            self.shared.tombstones.add_hashes(&erasure.tombstones)?;
            let files = self.erase_originals(&erasure, &mut absent, job)?;
            begin(EraseStep::Surroundings);
            self.settle(&files, writer)?;
            self.take_out_retired(&erasure, writer)?;
            self.read_again(&erasure.entries, writer)?;
            begin(EraseStep::Cache);
            self.erase_vectors(&erasure, writer.reader())?;
            let mut documents = Vec::new();
            for target in &erasure.targets {
                // A file that stays may have its id by now.
                if !is_of_another_entry(writer.reader(), target)? {
                    documents.push((target.source.clone(), target.key.clone()));
                }
            }
            writer.erase(&documents, &mut |step| begin(step))?;
            self.forget_opened(writer.reader())?;
            erasure.leave_to(&absent);
        }
        begin(EraseStep::Logs);
        if let Err(error) = self.empty_logs(writer) {
            if let Some(journal) = &journal {
                // If this fails, more than needed is repeated.
                let _ = erasure.write(journal);
            }
            return Err(error);
        }
        if let Some(name) = absent.into_iter().next() {
            if let Some(journal) = &journal {
                erasure.write(journal)?;
            }
            return Err(Error::SourceAbsent { name });
        }
        begin(EraseStep::Done);
        journal.map_or(Ok(()), |journal| journal.remove())
    }

    /// Returns a source, opened if it has come back.
    fn holder(&self, name: &str) -> Holder<'_> {
        let mut sources = self.shared.sources.iter();
        if let Some(source) = sources.find(|source| source.name() == name) {
            return Holder::Open(&**source);
        }
        let mut absent = self.shared.absent.iter();
        match absent.find(|absent| absent.name == name) {
            Some(absent) => {
                let opened = absent.open(&self.shared.tombstones);
                opened.map_or(Holder::Absent, Holder::Returned)
            }
            None => Holder::Unknown,
        }
    }

    /// Erases what the sources hold. Returns the files that are gone, and adds the
    /// sources that cannot be reached to `away`.
    fn erase_originals(
        &self,
        erasure: &Erasure,
        absent: &mut Vec<String>,
        job: &Job<'_>,
    ) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for name in erasure.sources() {
            let holder = self.holder(&name);
            let Some(source) = holder.source() else {
                if matches!(holder, Holder::Absent) {
                    absent.push(name);
                }
                continue;
            };
            match erase_from(source, erasure, job) {
                Ok(erased) => files.extend(erased),
                Err(error) if error.concerns_source() => absent.push(name),
                Err(error) => return Err(error),
            }
        }
        Ok(files)
    }

    /// Removes the entries of deleted files: their names may say something, too.
    fn settle(&self, files: &[PathBuf], writer: &mut dyn Writer) -> Result<()> {
        if files.is_empty() {
            return Ok(());
        }
        for source in &self.shared.sources {
            match source.locate(files) {
                Ok(located) if located.is_empty() => {}
                Ok(located) => {
                    let source = WithoutTombstones::new(&**source, &self.shared.tombstones);
                    sync::store_located(writer, &source, &located)?;
                }
                Err(error) if error.concerns_source() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes the entries whose copies are in the trash.
    fn take_out_retired(&self, erasure: &Erasure, writer: &mut dyn Writer) -> Result<()> {
        for (name, entry) in &erasure.retired {
            let holder = self.holder(name);
            let Some(source) = holder.source() else {
                continue;
            };
            let located = Located {
                key: entry.clone(),
                entry: None,
            };
            let source = WithoutTombstones::new(source, &self.shared.tombstones);
            sync::store_located(writer, &source, &[located])?;
        }
        Ok(())
    }

    /// Reindexes the rest of the entries: something erased may be in the title
    /// of what stays.
    fn read_again(&self, entries: &[SharedEntry], writer: &mut dyn Writer) -> Result<()> {
        for entry in entries {
            let holder = self.holder(&entry.source);
            let Some(source) = holder.source() else {
                continue;
            };
            let located = Located {
                key: entry.key.clone(),
                entry: Some(Entry {
                    key: entry.key.clone(),
                    version: Version::UNKNOWN,
                    size_hint: entry.size,
                }),
            };
            let source = WithoutTombstones::new(source, &self.shared.tombstones);
            match sync::store_located(writer, &source, &[located]) {
                Err(error) if !error.concerns_source() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    /// Empties the logs of the index and of the cache.
    fn empty_logs(&self, writer: &mut dyn Writer) -> Result<()> {
        if let Some(cache) = self.cache_to_erase()? {
            cache.empty_log()?;
        }
        writer.empty_log()
    }
}

/// Erases what a source holds. Returns the files that are gone.
fn erase_from(source: &dyn Source, erasure: &Erasure, job: &Job<'_>) -> Result<Vec<PathBuf>> {
    let begin = || {
        job.tell(Event::Erasing {
            step: EraseStep::Originals,
        });
    };
    let name = source.name();
    let retired = erasure.retired.iter().filter(|(of, _)| of == name);
    let retired: Vec<&str> = retired.map(|(_, entry)| entry.as_str()).collect();
    if let (Some(copies), false) = (source.kept_copies(), retired.is_empty()) {
        begin();
        copies.retire(&retired, erasure.retired_at)?;
    }
    let targets = erasure
        .targets
        .iter()
        .filter(|target| target.source == name);
    let targets = targets.filter(|target| !erasure.is_retired(target));
    let keys: Vec<&str> = targets.map(|target| target.key.as_str()).collect();
    if !keys.is_empty() {
        begin();
        source.forget(&keys)?;
    }
    let mut files = Vec::new();
    let Some(writable) = source.writable() else {
        return Ok(files);
    };
    for (_, copy) in erasure.files.iter().filter(|(of, _)| of == name) {
        begin();
        match writable.erase_copy(copy) {
            Ok(file) => files.push(file),
            // Its folder was replaced by something else.
            Err(Error::NoDocument { .. } | Error::BadKey { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(files)
}

pub(super) fn not_erased(error: Error) -> Error {
    Error::NotErased {
        source: Box::new(error),
    }
}
