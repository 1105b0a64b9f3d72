//! The arguments of `kodiak sessions`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `kodiak sessions`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Records say what a session did, decided and learned. `kodiak add --sessions FOLDER` adds
a folder of them, and `kodiak add --transcripts` the transcripts of coding agents, which
`kodiak search` finds.")]
pub(crate) enum SessionsVerb {
    /// Find what was done, decided and learned
    Ask(Box<BrainArguments>),
    /// Add records from files or standard input
    Add(IngestArguments),
}

/// `kodiak sessions ask`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[command(after_help = "\
Examples:
  kodiak sessions ask what did we learn about caching
  kodiak sessions ask flaky tests --project ~/src/api --after 3m
  kodiak sessions ask --lessons -n 20         the most common lessons first
  kodiak sessions ask --similar 9f2c4e1ab0d37756

Sessions are found by meaning. If none is close enough, they are searched by words.")]
pub(crate) struct BrainArguments {
    /// The question; several words need no quotes
    #[arg(value_name = "QUESTION", required_unless_present_any = ["lessons", "quirks", "forget_queries"])]
    pub(crate) question: Vec<String>,
    /// The maximum number of sessions or lessons [default: the config's `search.limit`, otherwise 10]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Find the sessions most similar to a session, given by its id, or to a text
    #[arg(long)]
    pub(crate) similar: bool,
    /// List the lessons of all sessions; similar ones are merged
    #[arg(long, conflicts_with_all = ["question", "similar", "quirks"])]
    pub(crate) lessons: bool,
    /// List observations about models, with similar ones merged
    #[arg(long, conflicts_with_all = ["question", "similar"])]
    pub(crate) quirks: bool,
    /// Sessions farther than this count as unrelated, from 0 to 2 [default: the config's `brain.threshold`, otherwise the model's own]
    #[arg(long, value_name = "DISTANCE", value_parser = distance)]
    pub(crate) threshold: Option<f64>,
    /// Forget the remembered questions that contain TEXT, or all of them
    #[arg(long, value_name = "TEXT", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["question", "similar", "lessons", "quirks"])]
    pub(crate) forget_queries: Option<String>,
    /// Only sessions of this project: a folder, or the name of one; repeat to include several
    #[arg(
        long = "project",
        value_name = "PROJECT",
        help_heading = "Where to look"
    )]
    pub(crate) projects: Vec<String>,
    /// Only sessions from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME", help_heading = "Where to look")]
    pub(crate) sources: Vec<String>,
    /// Only sessions of this category, such as debugging; repeat to include several
    #[arg(
        long = "category",
        aliases = ["type", "kind"],
        value_name = "CATEGORY",
        help_heading = "Where to look"
    )]
    pub(crate) categories: Vec<String>,
    /// Only sessions with this outcome: success, partial, failed or abandoned
    #[arg(long, value_name = "OUTCOME", help_heading = "Where to look")]
    pub(crate) outcome: Option<String>,
    /// Only sessions on or after this date: 2026-01-31, 2026-01, 2026, today, yesterday, or an age: 7d, 2w, 3m, 1y
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) after: Option<String>,
    /// Only sessions before this date
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) before: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// On a terminal, show all of it in `$KODIAK_PAGER`, `$PAGER` or `less`
    #[arg(long)]
    pub(crate) pager: bool,
}

/// `kodiak sessions add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak sessions add - < node.json            one record
  kodiak sessions add nodes.jsonl more.jsonl   a record on each line

A record is written to the folder of its source, indexed and embedded. If there is
no source for records yet, Kodiak creates one in the folder named by KODIAK_SESSIONS or
by `sessions` in the config, or else in the data folder.

Exit codes: 0 all records are stored, 2 some or all are not.")]
pub(crate) struct IngestArguments {
    /// Files with records as JSON; `-` is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) files: Vec<PathBuf>,
    /// The source to write to [default: sessions, otherwise the first that accepts records]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Print the result for each record as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses a distance.
fn distance(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok();
    let number = number.filter(|number| (0.0..=2.0).contains(number));
    number.ok_or_else(|| "it must be a number from 0 to 2, such as 0.5".to_owned())
}
