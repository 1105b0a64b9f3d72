//! The arguments of `kodiak open` and `kodiak note`.

use clap::{Args, Subcommand};

/// `kodiak open`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak open a1b2c3                 by id, as search prints it
  kodiak open a1b2c3:20              at line 20
  kodiak open notes/cooking/ramen.md:20

Files open in $VISUAL or $EDITOR, or else in vi. Notes from Bear open in Bear, at the
top.")]
pub(crate) struct OpenArguments {
    /// The note: its id, path, address (kodiak://…), title or file name; `:LINE` selects a line
    #[arg(value_name = "NOTE")]
    pub(crate) reference: String,
}

/// `kodiak note`.
#[derive(Debug, Subcommand)]
pub(crate) enum NoteVerb {
    /// Create a note in Bear
    New(NewNoteArguments),
}

/// `kodiak note new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak note new Ramen broth --tag cooking/soup --text 'Four hours.'
  pbpaste | kodiak note new Clipboard --text -

Bear creates the note, so this works on macOS only. The next search finds it.")]
pub(crate) struct NewNoteArguments {
    /// The title; several words need no quotes
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
    /// A tag, without `#`; repeat to add several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// The text below the title; `-` reads it from standard input
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) text: String,
}
