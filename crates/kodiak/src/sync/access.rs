//! Short turns at writing, for work that takes long between two writes.

use std::cell::RefCell;

use crate::error::{Error, Result};
use crate::store::{Store, WriteLock, Writer};

/// A way to the only writer, turn by turn. Others may write between two turns.
pub trait WriteAccess {
    /// Runs `work` as the only writer.
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()>;

    /// Takes the right to embed, which nobody else has meanwhile.
    fn embedding_lock(&self) -> Result<Option<WriteLock>>;
}

/// Runs `work` as the only writer and returns what it made.
pub(super) fn writing<T>(
    access: &dyn WriteAccess,
    work: impl FnOnce(&mut dyn Writer) -> Result<T>,
) -> Result<T> {
    let (mut work, mut made) = (Some(work), None);
    access.write(&mut |writer| {
        if let Some(work) = work.take() {
            made = Some(work(writer)?);
        }
        Ok(())
    })?;
    // An access that does not run what it is given has given up on it.
    made.ok_or(Error::Cancelled)
}

/// A writer at hand, for whoever keeps everyone else from writing anyway.
pub struct HeldWriter<'a>(RefCell<&'a mut dyn Writer>);

impl<'a> HeldWriter<'a> {
    /// Takes every turn with this writer.
    pub fn new(writer: &'a mut dyn Writer) -> Self {
        Self(RefCell::new(writer))
    }
}

impl WriteAccess for HeldWriter<'_> {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()> {
        work(&mut **self.0.borrow_mut())
    }

    fn embedding_lock(&self) -> Result<Option<WriteLock>> {
        Ok(None)
    }
}

/// A writer that is kept open between turns, without the lock: opening one takes
/// as long as a short turn.
#[derive(Default)]
pub(crate) struct KeptWriter(RefCell<Option<Box<dyn Writer>>>);

impl KeptWriter {
    /// Takes up the kept writer, or opens one.
    pub(crate) fn take(&self, store: &dyn Store, holder: &str) -> Result<Box<dyn Writer>> {
        let kept = self.0.take();
        // Another file may have taken the index's place.
        if let Some(mut writer) = kept.filter(|kept| kept.reader().is_current()) {
            match writer.take_up() {
                Ok(()) => return Ok(writer),
                Err(error) => {
                    self.0.replace(Some(writer));
                    return Err(error);
                }
            }
        }
        store.writer(holder)
    }

    /// Keeps a writer for the next turn and lets others write until then.
    pub(crate) fn keep(&self, mut writer: Box<dyn Writer>) {
        writer.let_go();
        self.0.replace(Some(writer));
    }
}
