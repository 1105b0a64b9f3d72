//! Storing exactly the entries that were just written, moved or deleted.
//!
//! A writer knows which entries it has changed, so nothing is listed.
//! Containers keep their recorded versions: the next search sees that they have
//! changed and looks at them itself.

use super::changes::Candidate;
use super::{Batches, Commit, Report, contest, gone, read_and_store};
use crate::error::Result;
use crate::source::{Located, Source};
use crate::store::Writer;

/// Brings these entries of `source` up to date in the index, in one transaction
/// unless they are many.
pub(crate) fn store_located(
    writer: &mut dyn Writer,
    source: &dyn Source,
    located: &[Located],
) -> Result<Report> {
    let mut analyzer = writer.analyzer();
    let mut report = Report::default();
    let mut batches = Batches::new(writer, Commit::EachBatch)?;
    let mut store = || {
        for Located { key, entry } in located {
            let known = batches.writer.reader().entry_state(source.name(), key)?;
            match (entry, known) {
                (Some(entry), known) => {
                    let entry = entry.clone();
                    let candidate = Candidate { entry, known };
                    read_and_store(source, candidate, &mut analyzer, &mut batches, &mut report)?;
                }
                (None, Some(state)) => {
                    gone::remove_one(source, state, &mut batches, &mut report)?;
                }
                (None, None) => {}
            }
        }
        contest::hand_over(source, &mut batches, &mut report)?;
        // What was missing when it was read was not deleted by this program. The next
        // look decides about it.
        batches.missed.clear();
        batches.finish()
    };
    if let Err(error) = store() {
        writer.roll_back()?;
        return Err(error);
    }
    Ok(report)
}
