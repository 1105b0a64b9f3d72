//! Embedding documents.

use std::time::{Duration, Instant};

use super::queue::patiently;
use super::{Engine, Event, Job, View};
use crate::access::{Capability, Guard};
use crate::error::Result;
use crate::store::{Lock, Writer};
use crate::sync::{
    EmbeddingProgress, EmbeddingReport, KeptWriter, WriteAccess, backfill, embed_recent,
};

/// Write access in short turns, between which others may write.
struct Turns<'a> {
    engine: &'a Engine,
    job: &'a Job<'a>,
    kept: KeptWriter,
}

impl WriteAccess for Turns<'_> {
    fn write(&self, work: &mut dyn FnMut(&mut dyn Writer) -> Result<()>) -> Result<()> {
        let shared = &*self.engine.shared;
        let _turn = shared.queue.enter(self.job)?;
        let mut writer = patiently(shared.patience, self.job, || {
            self.kept.take(&*shared.store, &shared.holder)
        })?;
        self.engine.finish_begun(&mut *writer, self.job);
        work(&mut *writer)?;
        self.kept.keep(writer);
        Ok(())
    }

    fn embedding_lock(&self) -> Result<Option<Box<dyn Lock>>> {
        let shared = &*self.engine.shared;
        shared.store.embedding_lock(&shared.holder)
    }
}

impl View<'_, '_> {
    /// Returns the process that is embedding these documents now, if one is.
    pub fn embedding_holder(&self) -> Result<Option<String>> {
        self.guard.require(Capability::Admin)?;
        Ok(self.engine.shared.store.embedding_holder())
    }
}

impl View<'_, '_> {
    /// Reports whether documents are being embedded, by this engine or another process.
    /// Only a caller for which everything exists learns of it.
    pub fn is_embedding(&self) -> Result<bool> {
        self.guard.require(Capability::Search)?;
        Ok(self.guard.sees_everything() && !self.engine.embeds_candidates())
    }
}

impl Engine {
    /// Returns whether a search embeds candidates that have no vector yet. While a
    /// backfill runs, it leaves them to that.
    pub(super) fn embeds_candidates(&self) -> bool {
        let shared = &*self.shared;
        !shared.backfills.is_running(&*shared.store)
    }

    /// Embeds every chunk that lacks a vector, for at most `within`. Returns `None` if no
    /// model is configured. Others may write while it runs. The next call continues where
    /// this one ends.
    ///
    /// Fails with [`Error::ModelAbsent`](crate::Error::ModelAbsent) if a model is
    /// configured but not available.
    pub fn embed(
        &self,
        guard: &Guard,
        within: Option<Duration>,
        job: &Job<'_>,
    ) -> Result<Option<EmbeddingReport>> {
        guard.require(Capability::Admin)?;
        let model = match self.shared.models.for_documents() {
            Ok(Some(model)) => model,
            Ok(None) => return Ok(None),
            Err(absence) => return Err(absence.into()),
        };
        let _running = self.shared.backfills.begin();
        let until = within.and_then(|within| Instant::now().checked_add(within));
        let mut cache = self.cache(job);
        let name = &model.identity().name;
        let mut progress = |progress| {
            job.tell(match progress {
                EmbeddingProgress::Found {
                    chunks,
                    bytes,
                    earlier,
                } => Event::EmbeddingFound {
                    model: name,
                    chunks,
                    bytes,
                    earlier,
                },
                EmbeddingProgress::Done { chunks, bytes } => Event::Embedded { chunks, bytes },
            });
        };
        backfill(
            &self.turns(job),
            &*model,
            cache.as_mut(),
            until,
            job.cancel(),
            &mut progress,
        )
        .map(Some)
    }

    /// Embeds the text that was just written, for at most `within`. The rest, and
    /// everything that fails, is left to the next call of [`Engine::embed`].
    pub fn embed_soon(&self, within: Duration, job: &Job<'_>) {
        let Ok(Some(model)) = self.shared.models.for_documents() else {
            return;
        };
        let _running = self.shared.backfills.begin();
        let until = Instant::now().checked_add(within);
        let (turns, mut cache) = (self.turns(job), self.cache(job));
        let _ = embed_recent(&turns, &*model, cache.as_mut(), until, job.cancel());
    }

    fn turns<'a>(&'a self, job: &'a Job<'a>) -> Turns<'a> {
        Turns {
            engine: self,
            job,
            kept: KeptWriter::default(),
        }
    }
}
