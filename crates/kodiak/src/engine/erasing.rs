//! Carrying out an erasing, and finishing one that was interrupted.
//!
//! The plan is recorded first and the tombstones are written second. Then the documents are
//! erased from the sources, the cache, the index and the history of opened documents, in
//! this order. The record is removed when no byte is left, also in sources that only
//! another process knows. Every step can be repeated, and the next writer finishes an
//! erasing that an earlier process has left.

use std::path::PathBuf;

use super::erasure::{self, Erasure};
use super::journal::Journal;
use super::target::{SharedEntry, is_of_another_entry};
use super::waiting::Waiting;
use super::{Engine, Event, Job};
use crate::document::Version;
use crate::error::{Error, Result};
use crate::files::{self, Folder};
use crate::source::{Entry, FileCopy, Located, Source, WithoutTombstones, WritableSource};
use crate::store::{EraseStep, Writer};
use crate::sync;

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
        if let Some(file) = journal.file()
            && let Ok(folder) = Folder::root(files::folder_of(file))
        {
            files::left_over::remove_left_over(&folder);
        }
        let finished = match Erasure::read(&journal) {
            Ok(None) => return,
            Ok(Some(begun)) => self.finish_here(begun, writer, job),
            Err(error) => Err(error),
        };
        match finished {
            Ok(Some(documents)) => job.tell(Event::ErasureFinished { documents }),
            Ok(None) => {}
            Err(error) => job.tell(Event::ErasureUnfinished { error: &error }),
        }
    }

    /// Finishes an erasing. Returns the number of its documents; `None` if all that can be
    /// erased here was erased before, and this engine does not know the rest.
    fn finish_here(
        &self,
        begun: Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<Option<usize>> {
        let documents = begun.documents;
        let was_told = begun.index_is_erased && self.knows_none_of(&begun.sources());
        match self.carry_out_erasing(begun, writer, job)?.first() {
            None => Ok(Some(documents)),
            Some(_) if was_told => Ok(None),
            Some(waiting) => Err(waiting.into()),
        }
    }

    /// Records a plan and carries it out. A recorded plan is carried out in the end,
    /// whatever happens.
    pub(super) fn begin_erasing(
        &self,
        mut erasure: Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<()> {
        self.add_places(&mut erasure, writer.reader())?;
        let own = erasure.sources();
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
        let waiting = self.carry_out_erasing(erasure, writer, job);
        let waiting = waiting.map_err(not_erased)?;
        // What an earlier one waits for is not part of what was asked for.
        match waiting.iter().find(|one| own.contains(&one.source)) {
            Some(waiting) => Err(not_erased(waiting.into())),
            None => Ok(()),
        }
    }

    pub(super) fn erasing_journal(&self) -> Option<Journal> {
        let journaled = self.shared.journaled;
        self.journal(erasure::NAME).filter(|_| journaled)
    }

    /// Erases everything that this process can reach, and returns the sources that the rest
    /// waits for. The journal is removed if there are none.
    pub(super) fn carry_out_erasing(
        &self,
        mut erasure: Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<Vec<Waiting>> {
        let journal = self.erasing_journal();
        let begin = |step| job.tell(Event::Erasing { step });
        let is_away = |name: &String| self.holder(name).source().is_none();
        let names = if erasure.index_is_erased && erasure.sources().iter().all(is_away) {
            erasure.sources()
        } else {
            let away = self.erase_here(&erasure, writer, job)?;
            erasure.leave_to(&away);
            away
        };
        begin(EraseStep::Logs);
        if let Err(error) = self.empty_logs(writer) {
            if let Some(journal) = &journal {
                // If this fails, more than needed is repeated.
                let _ = erasure.write(journal);
            }
            return Err(error);
        }
        let waiting = names.into_iter().map(|name| self.waiting(name, &erasure));
        let waiting: Vec<Waiting> = waiting.collect();
        if waiting.is_empty() {
            begin(EraseStep::Done);
            journal.map_or(Ok(()), |journal| journal.remove())?;
        } else if let Some(journal) = &journal {
            erasure.write(journal)?;
        }
        Ok(waiting)
    }

    /// Erases everything but the logs. Returns the sources that cannot be reached.
    fn erase_here(
        &self,
        erasure: &Erasure,
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<Vec<String>> {
        let begin = |step| job.tell(Event::Erasing { step });
        let mut away = Vec::new();
        begin(EraseStep::Tombstones);
        self.shared.tombstones.add_hashes(&erasure.tombstones)?;
        let files = self.erase_originals(erasure, &mut away, job)?;
        begin(EraseStep::Surroundings);
        if erasure.is_for_good() {
            self.shared.surroundings.erase(&erasure.erased_for_good())?;
        }
        self.settle(&files, writer)?;
        self.take_out_retired(erasure, writer)?;
        self.read_again(&erasure.entries, writer)?;
        begin(EraseStep::Cache);
        self.erase_vectors(erasure, writer.reader())?;
        let mut documents = Vec::new();
        for target in &erasure.targets {
            // A file that stays may have its id by now.
            if !is_of_another_entry(writer.reader(), target)? {
                documents.push((target.source.clone(), target.key.clone()));
            }
        }
        writer.erase(&documents, &mut |step| begin(step))?;
        self.forget_opened(writer.reader())?;
        Ok(away)
    }

    /// Erases the documents from the sources. Returns the erased files, and adds the
    /// sources that cannot be reached to `away`.
    fn erase_originals(
        &self,
        erasure: &Erasure,
        away: &mut Vec<String>,
        job: &Job<'_>,
    ) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for name in erasure.sources() {
            let holder = self.holder(&name);
            let Some(source) = holder.source() else {
                away.push(name);
                continue;
            };
            match erase_from(source, erasure, job) {
                Ok(erased) => files.extend(erased),
                Err(error) if error.concerns_source() => away.push(name),
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

    /// Reindexes the remaining documents of the entries: their titles may contain erased
    /// text.
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

/// Erases the documents from a source. Returns the erased files.
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
    // Another program may have changed or moved them since the erasing began.
    let strayed = strayed(source, writable, erasure)?;
    let recorded = erasure.files.iter().filter(|(of, _)| of == name);
    for copy in recorded.map(|(_, copy)| copy).chain(&strayed) {
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

/// Returns the files that have the id of an erased document and are not those that were
/// recorded: with another text, or at another place.
fn strayed(
    source: &dyn Source,
    writable: &dyn WritableSource,
    erasure: &Erasure,
) -> Result<Vec<FileCopy>> {
    let mut strayed = Vec::new();
    for (entry, id) in erasure.entries_with_ids(source.name()) {
        // To look for an id may mean to read all files.
        let is_there = id_in(source, entry).as_deref() == Some(id);
        let found = writable.copies(if is_there { entry } else { id })?;
        let found = found.into_iter().filter(|copy| {
            let is_recorded = erasure
                .files
                .iter()
                .any(|(of, known)| of == source.name() && known == copy);
            !is_recorded && id_in(source, &copy.name).as_deref() == Some(id)
        });
        strayed.extend(found);
    }
    Ok(strayed)
}

/// Returns the id of the document in a file.
fn id_in(source: &dyn Source, path: &str) -> Option<String> {
    let entry = Entry {
        key: path.to_owned(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    let mut id = None;
    let read = source.read(&entry, &mut |document| id = Some(document.key));
    read.ok().and(id)
}

pub(super) fn not_erased(error: Error) -> Error {
    Error::NotErased {
        source: Box::new(error),
    }
}
