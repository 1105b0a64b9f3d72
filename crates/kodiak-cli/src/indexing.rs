//! Running the sync with someone watching: progress while it runs, one line
//! when it is done.

use kodiak::source::Source;
use kodiak::store::Writer;
use kodiak::sync::{self, Report};

use crate::config::Config;
use crate::output::Output;
use crate::output::phrases::counted;
use crate::output::progress::Progress;

/// How much to say about a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    /// How it ended, whatever happened.
    Always,
    /// How it ended, if anything changed.
    Changes,
}

/// Brings the index in step with one source.
pub(crate) fn sync(
    writer: &mut Writer,
    source: &dyn Source,
    output: &Output,
    telling: Telling,
) -> kodiak::Result<Report> {
    let mut progress = Progress::new(output, source.name());
    let mut watch = |event| progress.event(event);
    let report = sync::sync(writer, source, &mut watch);
    drop(progress);
    let report = report?;
    if telling == Telling::Always || report.changed() {
        output.notice(&summary(source.name(), &report));
    }
    if report.seen == 0 {
        output.warning(&format!("no notes found in {}", source.location()));
    }
    Ok(report)
}

/// Takes what is no longer registered out of the index.
pub(crate) fn forget_unregistered(
    writer: &mut Writer,
    config: &Config,
    output: &Output,
) -> kodiak::Result<()> {
    for indexed in writer.sources()? {
        if config.source(&indexed.name).is_none() {
            forget(writer, &indexed.name)?;
            output.notice(&format!(
                "{}: no longer registered, {} removed from the index",
                indexed.name,
                counted(indexed.documents, "document")
            ));
        }
    }
    Ok(())
}

/// Takes a source out of the index.
pub(crate) fn forget(writer: &mut Writer, name: &str) -> kodiak::Result<()> {
    writer.begin()?;
    if let Err(error) = writer.remove_source(name) {
        writer.roll_back()?;
        return Err(error);
    }
    writer.commit()?;
    writer.refresh_vocabulary()?;
    writer.settle()
}

/// How a sync ended: `notes: 42 documents (40 added, 2 updated)`.
pub(crate) fn summary(name: &str, report: &Report) -> String {
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
