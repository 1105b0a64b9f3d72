//! The arguments of `kodiak eval`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use kodiak::search::Mode;
use kodiak_eval::names_and_values;

use super::mode_parser;

/// `kodiak eval`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
#[command(after_help = examples())]
pub(crate) struct EvalArguments {
    /// Folders that each are a test set or contain several, and the JSON files of LongMemEval or LoCoMo; with --queries, a folder of notes
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Run the queries in this file over a folder of notes; each line is a query, a tab and the paths that answer it (can be repeated)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["splits", "compare", "floors", "relevance"])]
    pub(crate) queries: Vec<PathBuf>,
    /// With --queries: also run each query over N notes: those that answer it, plus random others
    #[arg(long, value_name = "N,…", value_delimiter = ',', requires = "queries")]
    pub(crate) sizes: Vec<NonZeroUsize>,
    /// With --sizes: choose other random notes
    #[arg(long, value_name = "N", default_value_t = 0, requires = "sizes")]
    pub(crate) seed: u64,
    /// With --queries: show how many answers would be denied and refused at other thresholds
    #[arg(long, requires = "queries")]
    pub(crate) curve: bool,
    /// The search modes to measure [default: all]
    #[arg(long = "mode", value_name = "MODE", value_parser = mode_parser())]
    pub(crate) modes: Vec<Mode>,
    /// Measure only the modes that need no model
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// The splits of a set to measure [default: all]
    #[arg(long = "split", value_name = "NAME")]
    pub(crate) splits: Vec<String>,
    /// Measure only the first N queries of each split or file of queries
    #[arg(long, value_name = "N")]
    pub(crate) limit_queries: Option<usize>,
    /// Compare with an earlier run, from the file that holds its --json output
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Also measure with other ranking parameters and compare with the current ones (each --try separately)
    #[arg(long = "try", value_name = "NAME=VALUE,…")]
    pub(crate) tries: Vec<String>,
    /// Compare models: the figures are for the first one, and each of the others is compared with it
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', conflicts_with_all = ["no_semantic", "relevance", "floors"])]
    pub(crate) models: Vec<String>,
    /// Also measure with a reranker, the one that the config names or this one, and compare
    #[arg(long, value_name = "MODEL", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "relevance")]
    pub(crate) rerank: Option<String>,
    /// Fail unless the figures reach the minimums in this file
    // A floor is set for all queries, so it means nothing for some of them.
    #[arg(long, value_name = "FILE", conflicts_with = "limit_queries")]
    pub(crate) floors: Option<PathBuf>,
    /// Check the relevance of hits: each set is also asked the questions of others
    #[arg(long, conflicts_with_all = ["modes", "splits", "compare", "tries", "floors"])]
    pub(crate) relevance: bool,
    /// With --relevance: write a picture (SVG) of predicted and found relevance to this file
    #[arg(long, value_name = "FILE", requires = "relevance")]
    pub(crate) plot: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Returns the examples, with the current values of the parameters.
fn examples() -> String {
    format!(
        "\
Examples:
  kodiak eval examples/judged                              every split, in every mode
  kodiak eval sets --split test --mode auto                every set in a folder, and their mean
  kodiak eval locomo10.json --mode auto                    turns and sessions of conversations, by question type
  kodiak eval examples/judged --mode auto --json > before.json
  kodiak eval examples/judged --mode auto --compare before.json
  kodiak eval examples/judged --mode auto --try k1=0.9 --try k1=0.9,chunk_tokens=128
  kodiak eval sets --models all-minilm-l6-v2,granite-embedding-30m-english
  kodiak eval examples/judged --floors examples/judged/floors.json
  kodiak eval ~/notes --queries known.tsv --queries absent.tsv    judged queries over notes, and those that no note answers
  kodiak eval ~/notes --queries known.tsv --sizes 5,50,500 --mode auto --curve

Parameters to try, with their current values:
  {}",
        names_and_values()
    )
}
