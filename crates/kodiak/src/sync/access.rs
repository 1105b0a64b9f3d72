//! Short write turns, for work that takes long between two writes.

use std::cell::RefCell;

use crate::error::{Error, Result};
use crate::store::{Lock, Store, Writer};

/// Access to the writer in turns. Other processes may write between two turns.
pub trait WriteAccess {
    /// Runs `work` while no other writer is active.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()>;

    /// Takes the right to embed.
    fn embedding_lock(&self) -> Result<Option<Box<dyn Lock>>>;
}

/// Runs `work` while no other writer is active, and returns its result.
pub(super) fn writing<T>(
    access: &dyn WriteAccess,
    work: impl FnOnce(&mut dyn Writer) -> Result<T>,
) -> Result<T> {
    returning(work, |work| access.write(work))
}

/// Passes `work` to `run` by reference, so that `run` is compiled once and not for each
/// `work`. Returns the result of `work`.
pub(crate) fn returning<T>(
    work: impl FnOnce(&mut dyn Writer) -> Result<T>,
    run: impl FnOnce(&mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()>,
) -> Result<T> {
    let (mut work, mut made) = (Some(work), None);
    run(&mut |writer| {
        if let Some(work) = work.take() {
            made = Some(work(writer)?);
        }
        Ok(())
    })?;
    // One that did not run the work has given up.
    made.ok_or(Error::Cancelled)
}

/// Access through a writer that the caller already holds, so that no other process
/// can write anyway.
pub struct HeldWriter<'a>(RefCell<&'a mut dyn Writer>);

impl<'a> HeldWriter<'a> {
    /// Uses this writer for every turn.
    pub fn new(writer: &'a mut dyn Writer) -> Self {
        Self(RefCell::new(writer))
    }
}

impl WriteAccess for HeldWriter<'_> {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()> {
        work(&mut **self.0.borrow_mut())
    }

    fn embedding_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        Ok(None)
    }
}

/// A writer that stays open between turns, without holding the lock, because
/// opening one takes as long as a short turn.
#[derive(Default)]
pub(crate) struct KeptWriter(RefCell<Option<Box<dyn Writer>>>);

impl KeptWriter {
    /// Takes the lock again with the kept writer, or opens a new one.
    pub(crate) fn take(&self, store: &dyn Store, holder: &str) -> Result<Box<dyn Writer>> {
        let kept = self.0.take();
        // Another file may have replaced the index.
        if let Some(mut writer) = kept.filter(|kept| kept.reader().is_current()) {
            match writer.lock() {
                Ok(()) => return Ok(writer),
                Err(error) => {
                    self.0.replace(Some(writer));
                    return Err(error);
                }
            }
        }
        store.writer(holder)
    }

    /// Keeps a writer for the next turn and releases its lock until then.
    pub(crate) fn keep(&self, mut writer: Box<dyn Writer>) {
        writer.unlock();
        self.0.replace(Some(writer));
    }
}
