//! Reorders the answers to judged queries by simulated histories of what was opened.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use kodiak_eval::{Habit, Histories, measure_frecency};

use crate::embed;
use crate::report::Report;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A judged set in BEIR layout, or a folder of several; it is only read.
    sets: PathBuf,
    /// A model's folder, to ask by meaning as well. Its vectors are cached there.
    #[arg(long)]
    model: Option<PathBuf>,
    /// Choose other documents to have been opened.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of histories of each habit.
    #[arg(long, default_value_t = 20)]
    histories: usize,
}

/// Prints what the histories do. Fails if a hit that was ahead by the margin moved down.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let embedder = embed::cached(options.model.as_deref())?;
    let histories = Histories {
        seed: options.seed,
        count: options.histories,
    };
    let scratch = std::env::temp_dir();
    let rows = measure_frecency(&options.sets, histories, &scratch, embedder.as_ref())?;
    for row in &rows {
        let habit = match row.habit {
            Habit::Found => "any hits opened",
            Habit::Wanted => "wanted notes opened",
        };
        let name = format!("{}, {}, {habit}", row.set, row.split);
        report.add(
            format!("{name}: nDCG@10"),
            row.ndcg_after * 100.0,
            "%",
            format!("{:.2} without a history", row.ndcg_before * 100.0),
        );
        report.add(
            format!("{name}: answers in another order"),
            row.changed as f64,
            "",
            format!(
                "of {}; {} pairs of hits, {} of them ahead by the margin; largest lead {:.3}",
                row.answers, row.pairs, row.ahead, row.largest_lead
            ),
        );
    }
    let ahead: usize = rows.iter().map(|row| row.ahead).sum();
    ensure!(ahead == 0, "{ahead} hits that were ahead moved down");
    Ok(())
}
