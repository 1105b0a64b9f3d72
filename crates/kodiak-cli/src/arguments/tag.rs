//! The arguments of `kodiak tag`.

use clap::{Args, Subcommand};

/// `kodiak tag`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kodiak tag list
  kodiak tag add 'Ramen broth' cooking cooking/soup
  kodiak tag rename cooking kitchen     also turns cooking/soup into kitchen/soup")]
pub(crate) enum TagVerb {
    /// List all tags and how many notes have each
    List(ListTagsArguments),
    /// Add tags to a note, in its frontmatter
    Add(TagNoteArguments),
    /// Remove tags from a note; in its text, the words stay without `#`
    Remove(TagNoteArguments),
    /// Rename a tag, and those below it, in all notes that Kodiak may write to
    Rename(RenameTagArguments),
}

/// `kodiak tag list`.
#[derive(Debug, Args)]
pub(crate) struct ListTagsArguments {
    /// Only tags of notes from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak tag add` and `kodiak tag remove`.
#[derive(Debug, Args)]
pub(crate) struct TagNoteArguments {
    /// The note: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "NOTE")]
    pub(crate) note: String,
    /// A tag, with or without `#`
    #[arg(value_name = "TAG", required = true)]
    pub(crate) tags: Vec<String>,
}

/// `kodiak tag rename`.
#[derive(Debug, Args)]
#[command(after_help = "\
Each file is rewritten in one step and keeps everything else byte for byte. If the
renaming is interrupted, the next `kodiak tag` or `kodiak page` command that writes
finishes it.")]
pub(crate) struct RenameTagArguments {
    /// The tag, with or without `#`
    #[arg(value_name = "TAG")]
    pub(crate) from: String,
    /// Its new name
    #[arg(value_name = "NEW")]
    pub(crate) to: String,
}
