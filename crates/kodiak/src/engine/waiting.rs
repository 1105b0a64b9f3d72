//! The sources that an erasing waits for: one is away, or another config or another machine
//! has it.
//!
//! A process cannot erase from a source that it does not know, nor tell that the source is
//! empty. So the journal stays until some process has erased from each source, or a user
//! has removed the source.

use super::erasure::Erasure;
use super::{Engine, Eraser};
use crate::access::Capability;
use crate::error::{Error, Result};
use crate::source::Source;
use crate::store::{Filter, Reader, Writer};

/// A source that an erasing waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its name.
    pub source: String,
    /// Where it is: the path of a folder or a file, after the name of its machine if several
    /// share the index. Empty if that is not known.
    pub place: String,
    /// Whether it is registered here and cannot be reached now.
    pub registered: bool,
}

/// A source with documents to erase.
pub(super) enum Holder<'a> {
    Open(&'a dyn Source),
    Returned(Box<dyn Source>),
    /// It is registered and cannot be reached.
    Absent,
    /// It is not registered here.
    Unknown,
}

impl Holder<'_> {
    pub(super) fn source(&self) -> Option<&dyn Source> {
        match self {
            Self::Open(source) => Some(*source),
            Self::Returned(source) => Some(&**source),
            Self::Absent | Self::Unknown => None,
        }
    }
}

impl From<&Waiting> for Error {
    fn from(waiting: &Waiting) -> Self {
        let name = waiting.source.clone();
        if waiting.registered {
            return Self::SourceAbsent { name };
        }
        Self::SourceNotHere {
            name,
            location: match waiting.place.as_str() {
                "" => "at a place that is not known".to_owned(),
                place => place.to_owned(),
            },
        }
    }
}

impl Eraser<'_> {
    /// Returns the sources that an interrupted erasing waits for, because this engine cannot
    /// erase from them.
    pub fn waiting(&self) -> Result<Vec<Waiting>> {
        self.guard.require(Capability::Admin)?;
        let journal = self.engine.erasing_journal();
        let begun = journal.map(|journal| Erasure::read(&journal)).transpose()?;
        let Some(begun) = begun.flatten() else {
            return Ok(Vec::new());
        };
        let away = |name: &String| self.engine.holder(name).source().is_none();
        let names = begun.sources().into_iter().filter(away);
        Ok(names
            .map(|name| self.engine.waiting(name, &begun))
            .collect())
    }
}

impl Engine {
    /// Returns a source, opened if it has come back or was registered since.
    pub(super) fn holder(&self, name: &str) -> Holder<'_> {
        let mut sources = self.shared.sources.iter();
        if let Some(source) = sources.find(|source| source.name() == name) {
            return Holder::Open(&**source);
        }
        let mut absent = self.shared.absent.iter();
        if let Some(absent) = absent.find(|absent| absent.name == name) {
            let opened = absent.open(&self.shared.tombstones);
            return opened.map_or(Holder::Absent, Holder::Returned);
        }
        let mut later = self.shared.later.sources(&self.shared.names).into_iter();
        match later.find(|(later, _)| later == name) {
            Some((_, Ok(source))) => {
                super::leave_out(&*source, &self.shared.tombstones);
                Holder::Returned(source)
            }
            Some((_, Err(_))) => Holder::Absent,
            None => Holder::Unknown,
        }
    }

    /// Reports whether this engine knows nothing of any of these sources.
    pub(super) fn knows_none_of(&self, names: &[String]) -> bool {
        let is_unknown = |name: &String| matches!(self.holder(name), Holder::Unknown);
        names.iter().all(is_unknown)
    }

    /// Returns a description of a source that an erasing waits for.
    pub(super) fn waiting(&self, name: String, erasure: &Erasure) -> Waiting {
        Waiting {
            place: erasure.place_of(&name).unwrap_or_default().to_owned(),
            registered: !matches!(self.holder(&name), Holder::Unknown),
            source: name,
        }
    }

    /// Records where the sources of an erasing are, for the messages of processes that do
    /// not know them.
    pub(super) fn add_places(&self, erasure: &mut Erasure, reader: &dyn Reader) -> Result<()> {
        for name in erasure.sources() {
            let known = self.holder(&name);
            let place = if let Some(source) = known.source() {
                self.shared.place_of(source)
            } else {
                let only = Filter {
                    sources: vec![name.clone()],
                    ..Filter::default()
                };
                let known = reader.locations(&only)?.into_iter().next();
                known.map(|(_, place)| place).unwrap_or_default()
            };
            if !place.is_empty() {
                erasure.add_place(name, place);
            }
        }
        Ok(())
    }

    /// Lets an erasing wait for a source no longer, because a user has removed it. Its files
    /// stay, and so do the tombstones.
    pub(super) fn wait_no_longer_for(&self, name: &str, writer: &mut dyn Writer) -> Result<()> {
        let Some(journal) = self.erasing_journal() else {
            return Ok(());
        };
        let Some(mut begun) = Erasure::read(&journal)? else {
            return Ok(());
        };
        if !begun.sources().iter().any(|source| source == name) {
            return Ok(());
        }
        begun.waive(name);
        begun.write(&journal)?;
        // What is left of it may be nothing.
        self.finish_begun(writer, &super::Job::default());
        Ok(())
    }
}
