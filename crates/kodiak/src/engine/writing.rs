//! Bringing the index up to date with files that the engine has written.
//!
//! A file is written first and indexed second. Once written, it is in its source
//! even if indexing fails; the next sync or search finds it. A file may belong to
//! several sources that overlap: it is brought up to date in each of them.

use std::path::PathBuf;

use super::{Engine, Job};
use crate::error::Result;
use crate::store::{Filter, Writer};
use crate::sync;

impl Engine {
    /// Brings the index up to date with files of `source` that were written,
    /// moved or deleted. Returns whether that succeeded. A feature that writes files of its
    /// sources itself calls this afterwards.
    pub fn index_written(&self, source: &str, files: &[PathBuf], job: &Job<'_>) -> bool {
        let stored = self.write(job, |writer| self.store_written(source, files, writer, job));
        stored.is_ok_and(|complete| complete)
    }

    fn store_written(
        &self,
        main: &str,
        files: &[PathBuf],
        writer: &mut dyn Writer,
        job: &Job<'_>,
    ) -> Result<bool> {
        let indexed = writer.reader().locations(&Filter::default())?;
        let mut complete = true;
        for source in &self.shared.sources {
            let name = source.name();
            let is_indexed = indexed.iter().any(|(known, _)| known == name);
            if !is_indexed {
                // Of a source that was never indexed, there is nothing to update.
                // The one that was written to is indexed as a whole.
                if name == main {
                    let report = self.sync_named(&[name.to_owned()], writer, job)?;
                    complete &= report.is_complete();
                }
                continue;
            }
            if self.shared.require_own(name, writer.reader()).is_err() {
                complete &= name != main;
                continue;
            }
            let located = match source.locate(files) {
                Ok(located) => located,
                Err(error) if error.concerns_source() => {
                    complete &= name != main;
                    continue;
                }
                Err(error) => return Err(error),
            };
            if !located.is_empty() {
                let source = self.shared.to_sync(&**source);
                sync::store_located(writer, &source, &located)?;
            }
        }
        Ok(complete)
    }
}
