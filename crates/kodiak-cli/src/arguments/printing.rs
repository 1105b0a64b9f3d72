//! The options of verbs that print hits.

use clap::{Args, ValueEnum};

/// How an answer is printed.
#[derive(Debug, Args)]
#[command(next_help_heading = "What to print")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct PrintArguments {
    /// How to print the answer [default: text]
    #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "files"])]
    format: Option<Format>,
    /// Print the whole answer as JSON, like --format json
    #[arg(long)]
    json: bool,
    /// Print only the files' paths, like --format files
    #[arg(long, conflicts_with_all = ["json", "explain"])]
    files: bool,
    /// With the formats line and files: end each entry with NUL instead of a line break
    #[arg(short = '0', long)]
    pub(crate) null: bool,
    /// How to order the hits; does not change which hits are shown
    #[arg(long, value_name = "ORDER", default_value = "score")]
    pub(crate) sort: Sort,
    /// Show every copy of a note as its own hit, instead of listing copies below the best one
    #[arg(long)]
    pub(crate) all_copies: bool,
    /// Show how each hit was ranked
    #[arg(long)]
    pub(crate) explain: bool,
    /// On a terminal, show all hits in full in `$KODIAK_PAGER`, `$PAGER` or `less`
    #[arg(long)]
    pub(crate) pager: bool,
}

impl PrintArguments {
    /// Returns the format that was asked for by any of its names.
    pub(crate) fn format(&self) -> Format {
        match self.format {
            Some(format) => format,
            None if self.json => Format::Json,
            None if self.files => Format::Files,
            None => Format::Text,
        }
    }
}

/// The format of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Titles, places and snippets, for people
    Text,
    /// The whole answer as JSON
    Json,
    /// PATH:LINE:TITLE, one hit per line, for fzf and editors
    Line,
    /// Absolute paths, each once
    Files,
    /// A `match` element for each hit, with the lines that match
    Xml,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    /// Best first
    Score,
    /// Last changed first
    Date,
    /// By title
    Title,
}
