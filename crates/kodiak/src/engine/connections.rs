//! Running work with a connection to the index.
//!
//! Work comes as a closure and is passed on by reference, so that opening and returning
//! connections is compiled once and not for each caller.

use std::sync::Arc;

use super::queue::patiently;
use super::{Engine, Job};
use crate::access::Guard;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::store::{Reader, ScopedReader, Writer};
use crate::sync::returning;

impl Engine {
    /// Runs `work` with a reader of the whole index.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&dyn Reader) -> Result<T>) -> Result<T> {
        self.read_within(None, work)
    }

    /// Runs `work` with a reader of the index for which only the guard's scope exists.
    /// Features use this to read data that no method returns.
    pub(super) fn read_as<T>(
        &self,
        guard: &Guard,
        work: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        self.read_within(Some(guard), work)
    }

    fn read_within<T>(
        &self,
        guard: Option<&Guard>,
        work: impl FnOnce(&dyn Reader) -> Result<T>,
    ) -> Result<T> {
        let (mut work, mut made) = (Some(work), None);
        self.with_reader(guard, &mut |reader| {
            if let Some(work) = work.take() {
                made = Some(work(reader)?);
            }
            Ok(())
        })?;
        made.ok_or(Error::Cancelled)
    }

    /// Runs `work` with a reader from the pool.
    fn with_reader(
        &self,
        guard: Option<&Guard>,
        work: &mut dyn FnMut(&dyn Reader) -> Result<()>,
    ) -> Result<()> {
        let shared = &*self.shared;
        let is_cancelled = || self.cancel.as_ref().is_some_and(Cancel::is_cancelled);
        if is_cancelled() {
            return Err(Error::Cancelled);
        }
        let view = guard.map(Guard::view).filter(|view| !view.is_everything());
        shared.readers.with(&*shared.store, |reader| {
            let cancel = self.cancel.as_ref();
            let interrupting = cancel.and_then(|cancel| {
                let interrupt = reader.interrupt();
                interrupt.map(|interrupt| cancel.interrupting(interrupt))
            });
            let done = match view {
                Some(view) => {
                    let tallies = Arc::clone(&shared.tallies);
                    work(&ScopedReader::new(reader, view.clone(), tallies))
                }
                None => work(reader),
            };
            drop(interrupting);
            if is_cancelled() {
                return Err(Error::Cancelled);
            }
            done
        })
    }

    /// Runs `work` with the write lock: after the earlier requests of this process,
    /// and once no other process writes. An erasing that was interrupted is
    /// finished first.
    pub(super) fn write<T>(
        &self,
        job: &Job<'_>,
        work: impl FnOnce(&mut dyn Writer) -> Result<T>,
    ) -> Result<T> {
        returning(work, |work| {
            self.with_writer(job, &mut |writer| {
                self.finish_begun(writer, job);
                work(writer)
            })
        })
    }

    /// Runs `work` with the write lock, without finishing anything first.
    pub(super) fn write_at_once<T>(
        &self,
        job: &Job<'_>,
        work: impl FnOnce(&mut dyn Writer) -> Result<T>,
    ) -> Result<T> {
        returning(work, |work| self.with_writer(job, work))
    }

    fn with_writer(
        &self,
        job: &Job<'_>,
        work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>,
    ) -> Result<()> {
        let _turn = self.shared.queue.enter(job)?;
        let shared = &*self.shared;
        let mut writer = patiently(shared.patience, job, || shared.store.writer(&shared.holder))?;
        // The last connection that closes empties the write-ahead log, and a
        // reader cannot do that.
        shared.readers.clear();
        shared.refresher.clear();
        work(&mut *writer)
    }
}
