//! The command line of `kodiak pick`.

use clap::{Args, ValueEnum};

/// `kodiak pick`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak                             the same, without a query
  kodiak pick ramen --source notes
  cp \"$(kodiak pick --print)\" /tmp   print the choice instead of opening it

Enter opens the note in $VISUAL or $EDITOR, or else in vi. F1 lists the keys.")]
pub(crate) struct PickArguments {
    /// The query to start with; several words need no quotes
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Only notes from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Search without a model: by words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Print the path of the chosen note instead of opening it
    #[arg(long)]
    pub(crate) print: bool,
    /// What to print [default: path]
    #[arg(long, value_name = "FORMAT", requires = "print")]
    pub(crate) format: Option<PickFormat>,
    /// Whether nothing was typed but the name of the program.
    #[arg(skip)]
    pub(crate) is_bare: bool,
}

/// The forms in which a choice is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PickFormat {
    /// The path
    Path,
    /// PATH:LINE, which `kodiak open` takes
    Line,
}
