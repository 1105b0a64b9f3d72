//! Reports the progress of the engine.

use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use kodiak::Error;
use kodiak::engine::Event;
use kodiak::sync::{EmbeddingProgress, Progress as SyncProgress, Report};

use crate::output::Output;
use crate::output::phrases::{counted, size};
use crate::output::progress::{Embedding, Progress};
use crate::output::removal::Removal;
use crate::registry::source_failure;

/// When to print the summary of a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Summaries {
    /// After every sync.
    Always,
    /// After a sync that changed something or found no notes.
    Changes,
    /// Never: the caller prints it.
    Never,
}

/// Turns the engine's events into progress bars and messages.
pub(crate) struct Listener<'a> {
    output: &'a Output,
    summaries: Summaries,
    shown: Mutex<Shown<'a>>,
}

/// The progress bar on the screen.
#[derive(Default)]
enum Shown<'a> {
    #[default]
    Nothing,
    Sync(String, Progress<'a>),
    Embedding(Embedding<'a>),
    Removal(Removal),
}

impl<'a> Listener<'a> {
    /// Creates a listener that shows nothing yet.
    pub(crate) fn new(output: &'a Output, summaries: Summaries) -> Self {
        Self {
            output,
            summaries,
            shown: Mutex::default(),
        }
    }

    /// Shows an event.
    pub(crate) fn event(&self, event: Event<'_>) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Waiting { holder } => {
                *shown = Shown::Nothing;
                self.output
                    .notice(&format!("waiting for {holder} to finish writing the index"));
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
                // Messages are printed once the bar is gone.
                *shown = Shown::Nothing;
                match self.summaries {
                    Summaries::Never => {}
                    Summaries::Changes if !report.changed() && report.seen > 0 => {}
                    Summaries::Always | Summaries::Changes => {
                        print_summary(self.output, source, location, report);
                    }
                }
            }
            Event::SourceFailed {
                source,
                error,
                kept,
            } => {
                *shown = Shown::Nothing;
                let kept = counted(kept, "note");
                let message = format!("{source}: not indexed, {kept} kept");
                let failure = source_failure(source, error).context(message);
                self.output.partial_failure(&failure);
            }
            Event::Removing {
                source,
                removed,
                entries,
            } => {
                if !matches!(*shown, Shown::Removal(_)) {
                    *shown = Shown::Removal(Removal::new(self.output, source, entries));
                }
                if let Shown::Removal(removal) = &mut *shown {
                    removal.removed(removed);
                }
            }
            Event::Compacting => {
                *shown = Shown::Nothing;
                *shown = Shown::Removal(Removal::compacting(self.output));
            }
            Event::Compacted { bytes } => {
                *shown = Shown::Nothing;
                if bytes > 0 {
                    let bytes = size(bytes);
                    self.output.notice(&format!("the index is {bytes} smaller"));
                }
            }
            Event::SourceForgotten { source, documents } => {
                *shown = Shown::Nothing;
                let documents = counted(documents, "note");
                self.output.notice(&format!(
                    "{source}: no longer registered, {documents} removed from the index"
                ));
            }
            Event::EmbeddingFound {
                model,
                chunks,
                bytes,
                earlier,
            } => {
                *shown = Shown::Nothing;
                let mut embedding = Embedding::new(self.output, model);
                embedding.event(EmbeddingProgress::Found {
                    chunks,
                    bytes,
                    earlier,
                });
                *shown = Shown::Embedding(embedding);
            }
            Event::Embedded { chunks, bytes } => {
                if let Shown::Embedding(embedding) = &mut *shown {
                    embedding.event(EmbeddingProgress::Done { chunks, bytes });
                }
            }
            Event::ErasureFinished { documents } => {
                *shown = Shown::Nothing;
                let documents = counted(documents as u64, "document");
                self.output.notice(&format!(
                    "finished erasing {documents}, which was interrupted"
                ));
            }
            Event::ErasureUnfinished { error } => {
                *shown = Shown::Nothing;
                self.output.warning(&unfinished_erasing(error));
            }
            Event::Warning { error } => self.output.warning(&error.to_string()),
            _ => {}
        }
    }

    /// Shows the progress of a source.
    fn follow(&self, shown: &mut Shown<'a>, source: &str, progress: Option<SyncProgress>) {
        let same = matches!(&*shown, Shown::Sync(name, _) if name == source);
        if !same {
            // The old bar is cleared before the new one is drawn.
            *shown = Shown::Nothing;
            *shown = Shown::Sync(source.to_owned(), Progress::new(self.output, source));
        }
        if let (Shown::Sync(_, bar), Some(progress)) = (shown, progress) {
            bar.event(progress);
        }
    }

    /// Removes the progress bar from the screen.
    pub(crate) fn end(&self) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Shown::Nothing;
    }
}

/// Words that something was not erased completely.
pub(crate) fn unfinished_erasing(error: &Error) -> String {
    let next = match error {
        Error::SourceNotHere { .. } => "the rest is erased where it is registered",
        _ => "the next command that writes tries again",
    };
    format!("not everything is erased yet: {error}; {next}")
}

/// Prints how the sync of a source ended.
pub(crate) fn print_summary(output: &Output, source: &str, location: &str, report: &Report) {
    output.notice(&summary(source, report));
    if report.seen == 0 {
        output.warning(&format!("no notes found in {location}"));
    }
}

/// Renders the result of the first sync of a source: `added ~/notes as 'notes': 42 notes`.
pub(crate) fn added(name: &str, from: Option<&str>, report: &Report) -> String {
    let mut text = match from {
        Some(folder) => format!("added {folder} as '{name}'"),
        None => format!("added {name}"),
    };
    let notes = counted(report.documents as u64, "note");
    let _ = write!(text, ": {notes}");
    if report.skipped > 0 {
        let files = counted(report.skipped as u64, "file");
        let _ = write!(text, ", {files} skipped (`kodiak status` says why)");
    }
    text
}

/// Renders how a sync ended: `journal: 42 notes (40 added, 2 updated)`.
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
    format!("{name}: {} ({changes})", counted(documents, "note"))
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
            "notes: 3 notes (nothing changed)"
        );
        report.documents = 1;
        report.added = 1;
        report.removed = 2;
        report.skipped = 2;
        assert_eq!(
            summary("notes", &report),
            "notes: 1 note (1 added, 2 removed, 2 skipped)"
        );
    }
}
