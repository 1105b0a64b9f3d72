//! What can be typed after `kodiak eval`.

use std::path::PathBuf;

use clap::Args;
use kodiak::search::Mode;
use kodiak_eval::names_and_values;

use super::mode_parser;

/// `kodiak eval`.
#[derive(Debug, Args)]
#[command(after_help = examples())]
pub(crate) struct EvalArguments {
    /// Folders that are a test set each, or hold several
    #[arg(value_name = "FOLDER", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// How to search [default: every way there is]
    #[arg(long = "mode", value_name = "MODE", value_parser = mode_parser())]
    pub(crate) modes: Vec<Mode>,
    /// Measure the ways that need no model
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Only these splits of a set [default: all]
    #[arg(long = "split", value_name = "NAME")]
    pub(crate) splits: Vec<String>,
    /// Only the first queries of each split
    #[arg(long, value_name = "N")]
    pub(crate) limit_queries: Option<usize>,
    /// Compare with an earlier run: a file of what it printed with --json
    #[arg(long, value_name = "FILE")]
    pub(crate) compare: Option<PathBuf>,
    /// Measure other numbers too and compare them with today's (each --try by itself)
    #[arg(long = "try", value_name = "NAME=VALUE,…")]
    pub(crate) tries: Vec<String>,
    /// Fail unless the figures reach those in this file
    // With some of the queries only, a floor for all of them means nothing.
    #[arg(long, value_name = "FILE", conflicts_with = "limit_queries")]
    pub(crate) floors: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Made anew each time, so that the numbers are today's.
fn examples() -> String {
    format!(
        "\
Examples:
  kodiak eval examples/judged                              every split, in every way
  kodiak eval sets --split test --mode auto                every set in a folder, and their mean
  kodiak eval examples/judged --mode auto --json > before.json
  kodiak eval examples/judged --mode auto --compare before.json
  kodiak eval examples/judged --mode auto --try k1=0.9 --try k1=0.9,chunk_tokens=128
  kodiak eval examples/judged --floors examples/judged/floors.json

What can be tried, with what it is today:
  {}",
        names_and_values()
    )
}
