//! Counts the queries that are answered while a folder of notes is being embedded:
//! whether what pays is embedded first.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use kodiak::embed::OnnxEmbedder;
use kodiak_eval::{CachedEmbedder, answered_while_embedding};

use crate::report::Report;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The folder of notes; it is only read.
    folder: PathBuf,
    /// Judged queries: lines of a query, a tab and the paths that answer it.
    queries: PathBuf,
    /// The folder of installed models, where vectors are cached too.
    #[arg(long)]
    models: PathBuf,
    /// The name of the model.
    #[arg(long, default_value = "all-minilm-l6-v2")]
    model: String,
    /// The shares of the work after which the queries are asked, in percent.
    #[arg(long, value_delimiter = ',', default_values_t = [0, 10, 25, 50, 100])]
    percent: Vec<u64>,
}

/// Asks the queries at each share of the work.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let (models, name) = (&options.models, &options.model);
    let installed = kodiak::model::find(models, name)?;
    let installed = installed.with_context(|| format!("'{name}' is not installed"))?;
    let embedder = Arc::new(OnnxEmbedder::new(installed));
    let embedder = Arc::new(CachedEmbedder::new(embedder, models)?);
    let scratch = std::env::temp_dir();
    let (folder, queries) = (&options.folder, &options.queries);
    let rows = answered_while_embedding(folder, queries, &scratch, &embedder, &options.percent)?;
    for row in rows {
        report.add(
            format!("{} % of the work: target among three", row.percent),
            row.among_three as f64,
            "",
            format!(
                "of {}, {} of them first; {:.0} % of the chunks",
                row.queries,
                row.first,
                row.chunks * 100.0
            ),
        );
    }
    Ok(())
}
