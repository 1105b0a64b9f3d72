//! The arguments of `kodiak get` and `kodiak similar`.

use clap::Args;

use super::PrintArguments;

/// `kodiak get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak get a1b2c3                  by id, as search prints it, with or without #
  kodiak get a1b2c3:10-20            lines 10 to 20; 10- from line 10 to the end
  kodiak get notes/cooking/ramen.md  by source and path
  kodiak get ./ramen.md              by file
  kodiak get 'Ramen broth'           by title, or its beginning
  kodiak get ramen                   by file name
  kodiak get a1b2c3 d4e5f6 --json    several at once, by id, path or address")]
pub(crate) struct GetArguments {
    /// The note: its id, path, address (kodiak://…), title or file name; `:FROM-TO` selects lines
    #[arg(value_name = "NOTE")]
    pub(crate) reference: String,
    /// More notes, by id, path or address
    #[arg(value_name = "MORE", conflicts_with = "line_numbers")]
    pub(crate) more: Vec<String>,
    /// Also print this many turns before and after it, if it is part of a conversation
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        conflicts_with = "line_numbers"
    )]
    pub(crate) context: usize,
    /// Number the lines
    #[arg(short, long)]
    pub(crate) line_numbers: bool,
    /// Print the note as JSON, with its text and metadata
    #[arg(long, conflicts_with = "line_numbers")]
    pub(crate) json: bool,
}

/// `kodiak similar`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak similar a1b2c3              by id, as search prints it
  kodiak similar notes/cooking/ramen.md --limit 3")]
pub(crate) struct SimilarArguments {
    /// The note: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "NOTE")]
    pub(crate) note: String,
    /// The maximum number of notes [default: the config's `search.limit`, otherwise 10]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Only notes from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    #[command(flatten)]
    pub(crate) printing: PrintArguments,
}
