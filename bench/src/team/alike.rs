//! Asks judged sets of PostgreSQL and of SQLite, and compares the answers hit by hit.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, ensure};
use kodiak::store::Store;
use kodiak_eval::{Alike, compare_stores};
use kodiak_postgres::{Address, PostgresIndex};

use super::Options;
use super::postgres::Server;
use crate::embed;
use crate::report::Report;

/// The number of different answers that are shown.
const SHOWN: usize = 3;

/// Compares every set. Fails if an answer differs.
pub(super) fn measure(
    sets: &[PathBuf],
    server: &Server,
    options: &Options,
    report: &mut Report,
) -> Result<()> {
    let embedder = embed::cached(options.model.as_deref())?;
    let scratch = std::env::temp_dir();
    let mut wrong = Vec::new();
    for folder in sets {
        let set = folder.file_name().unwrap_or_default().display().to_string();
        let vectors = tempfile::tempdir()?;
        let address = Address::parse(server.address())?.with_schema("kodiak_alike");
        let index = PostgresIndex::new(address.clone());
        let open = || {
            // A process of its own, with nothing derived yet.
            let folder = tempfile::tempdir_in(vectors.path())?;
            let index = PostgresIndex::new(address.clone()).with_cache(folder.keep());
            Ok(Arc::new(index) as Arc<dyn Store>)
        };
        let compared = compare_stores(&Alike {
            set: folder,
            other: &open,
            embedder: embedder.as_ref(),
            scratch: &scratch,
            most: options.queries,
        });
        index.delete()?;
        let compared = compared?;
        wrong.extend(compared.problems.iter().map(|one| format!("{set}: {one}")));
        for row in &compared.rows {
            report.add(
                format!("{set}, {}, {}: other answers", row.split, row.mode),
                row.different.len() as f64,
                "",
                format!(
                    "of {} queries over {} documents, {} hits; {} with equals in another order; \
                     scores within {:.1e}",
                    row.queries, compared.documents, row.hits, row.reordered, row.rounding
                ),
            );
            for one in row.different.iter().take(SHOWN) {
                wrong.push(format!("{set}, {}: {one:?}", row.mode));
            }
        }
    }
    ensure!(wrong.is_empty(), "answers differ:\n{}", wrong.join("\n"));
    Ok(())
}
