//! Telling a person what the engine does while it does it.

use std::sync::{Mutex, PoisonError};

use kodiak::engine::Event;
use kodiak::sync::{EmbeddingProgress, Progress as SyncProgress, Report};

use crate::output::Output;
use crate::output::phrases::counted;
use crate::output::progress::{Embedding, Progress};
use crate::registry::told_of;

/// How much to say about a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// How it ended, whatever happened.
    Always,
    /// How it ended, if anything changed.
    Changes,
    /// Nothing: the caller says it.
    Never,
}

/// Turns the engine's events into bars and lines.
pub(crate) struct Listener<'a> {
    output: &'a Output,
    telling: Telling,
    shown: Mutex<Shown<'a>>,
}

/// What is on the screen.
#[derive(Default)]
enum Shown<'a> {
    #[default]
    Nothing,
    Sync(String, Progress<'a>),
    Embedding(Embedding<'a>),
}

impl<'a> Listener<'a> {
    /// Begins to listen.
    pub(crate) fn new(output: &'a Output, telling: Telling) -> Self {
        Self {
            output,
            telling,
            shown: Mutex::default(),
        }
    }

    /// Takes note of what happened.
    pub(crate) fn event(&self, event: Event<'_>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Waiting { holder } => {
                *shown = Shown::Nothing;
                let said = format!("waiting for {holder} to finish writing the index");
                self.output.notice(&said);
            }
            Event::Listing { source } => self.follow(&mut shown, source, None),
            Event::Found { source, entries } => {
                self.follow(&mut shown, source, Some(SyncProgress::Found(entries)));
            }
            Event::Indexed { source, entries } => {
                self.follow(&mut shown, source, Some(SyncProgress::Done(entries)));
            }
            Event::Synced {
                source,
                location,
                report,
            } => {
                // The bar makes way for what is said.
                *shown = Shown::Nothing;
                match self.telling {
                    Telling::Never => {}
                    Telling::Changes if !report.changed() && report.seen > 0 => {}
                    Telling::Always | Telling::Changes => {
                        tell(self.output, source, location, report);
                    }
                }
            }
            Event::SourceFailed {
                source,
                error,
                kept,
            } => {
                *shown = Shown::Nothing;
                let kept = counted(kept, "document");
                let told = told_of(source, error);
                let said = format!("{source}: not indexed, {kept} kept");
                self.output.partial_failure(&told.context(said));
            }
            Event::SourceForgotten { source, documents } => {
                let documents = counted(documents, "document");
                self.output.notice(&format!(
                    "{source}: no longer registered, {documents} removed from the index"
                ));
            }
            Event::EmbeddingFound {
                model,
                chunks,
                bytes,
            } => {
                *shown = Shown::Nothing;
                let mut embedding = Embedding::new(self.output, model);
                embedding.event(EmbeddingProgress::Found { chunks, bytes });
                *shown = Shown::Embedding(embedding);
            }
            Event::Embedded { chunks, bytes } => {
                if let Shown::Embedding(embedding) = &mut *shown {
                    embedding.event(EmbeddingProgress::Done { chunks, bytes });
                }
            }
            Event::Warning { error } => self.output.warning(&error.to_string()),
            _ => {}
        }
    }

    /// Shows the progress of this source.
    fn follow(&self, shown: &mut Shown<'a>, source: &str, progress: Option<SyncProgress>) {
        let same = matches!(&*shown, Shown::Sync(name, _) if name == source);
        if !same {
            // The bar before makes way first.
            *shown = Shown::Nothing;
            *shown = Shown::Sync(source.to_owned(), Progress::new(self.output, source));
        }
        if let (Shown::Sync(_, bar), Some(progress)) = (shown, progress) {
            bar.event(progress);
        }
    }

    /// Clears the screen of bars.
    pub(crate) fn end(&self) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown::Nothing;
    }
}

/// Says how the sync of a source ended.
pub(crate) fn tell(output: &Output, source: &str, location: &str, report: &Report) {
    output.notice(&summary(source, report));
    if report.seen == 0 {
        output.warning(&format!("no notes found in {location}"));
    }
}

/// How a sync ended: `notes: 42 documents (40 added, 2 updated)`.
fn summary(name: &str, report: &Report) -> String {
    let documents = report.documents as u64;
    let parts: Vec<String> = [
        (report.added, "added"),
        (report.updated, "updated"),
        (report.removed, "removed"),
        (report.skipped, "skipped"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, what)| format!("{number} {what}"))
    .collect();
    let changes = if parts.is_empty() {
        "nothing changed".to_owned()
    } else {
        parts.join(", ")
    };
    format!("{name}: {} ({changes})", counted(documents, "document"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries() {
        let mut report = Report {
            documents: 3,
            ..Report::default()
        };
        assert_eq!(
            summary("notes", &report),
            "notes: 3 documents (nothing changed)"
        );
        report.documents = 1;
        report.added = 1;
        report.removed = 2;
        report.skipped = 2;
        assert_eq!(
            summary("notes", &report),
            "notes: 1 document (1 added, 2 removed, 2 skipped)"
        );
    }
}
