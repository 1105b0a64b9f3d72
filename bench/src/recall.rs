//! Recalls the documents of a judged set as memories, one project for each group, and
//! compares what is found with what an evaluation finds.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use kodiak_eval::{Asked, compare_recall};

use crate::embed;
use crate::report::Report;

/// The largest difference between two figures that are taken for equal.
const EQUAL: f64 = 0.0005;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A judged set in BEIR layout whose queries have groups; it is only read.
    set: PathBuf,
    /// A model's folder, to recall by meaning as well. Its vectors are cached there.
    #[arg(long)]
    model: Option<PathBuf>,
}

/// Asks every query both ways. Fails if the figures differ.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let embedder = embed::cached(options.model.as_deref())?;
    let scratch = std::env::temp_dir();
    let rows = compare_recall(&options.set, &scratch, embedder.as_ref())?;
    for row in &rows {
        let asked = match row.asked {
            Asked::Judged => "judged",
            Asked::Usual => "as usual",
        };
        let (one, other) = (&row.evaluated, &row.recalled);
        for (name, evaluated, recalled) in [
            ("nDCG@10", one.ndcg_at_10, other.ndcg_at_10),
            ("hit@1", one.hit_at_1, other.hit_at_1),
            ("MRR", one.mrr, other.mrr),
        ] {
            report.add(
                format!("recall, {asked}: {name}"),
                recalled * 100.0,
                "%",
                format!("eval {:.2}", evaluated * 100.0),
            );
        }
        report.add(
            format!("recall, {asked}: other first ten hits"),
            row.different.len() as f64,
            "",
            format!("of {} queries", row.queries),
        );
    }
    for row in rows {
        let difference = row.difference();
        ensure!(
            difference <= EQUAL,
            "recalling and evaluating differ by {difference:.4}; queries with other hits: {}",
            row.different.join(" ")
        );
    }
    Ok(())
}
