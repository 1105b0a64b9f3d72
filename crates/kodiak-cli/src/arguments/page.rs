//! The arguments of `kodiak page`.

use clap::{Args, Subcommand};

/// `kodiak page`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kodiak page new Ramen broth --tag cooking --text 'Four hours.'
  kodiak page edit 'Ramen broth'
  kodiak page rename 'Ramen broth' Tonkotsu
  kodiak page delete Tonkotsu
  kodiak page restore Tonkotsu

Pages are markdown files in folders that Kodiak may write to: those added with
`kodiak add FOLDER --writable`. If there are none, `page new` creates one
in the folder named by KODIAK_PAGES or by `pages` in the config, or else in the data
folder.")]
pub(crate) enum PageVerb {
    /// Write a new page and print its path
    New(NewPageArguments),
    /// Change a page in the editor, or replace or extend its text
    Edit(EditArguments),
    /// Rename a page and its file
    Rename(RenamePageArguments),
    /// List pages, most recently changed first, or the trash
    List(ListPagesArguments),
    /// Move pages to the trash
    Delete(DeleteArguments),
    /// Put a page back from the trash
    Restore(RestoreArguments),
}

/// `kodiak page new`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak page new Ramen broth --tag cooking/soup --text 'Four hours.'
  kodiak page new Standup --folder work/meetings --edit
  date | kodiak page new Log --text -
  pbpaste | kodiak page new Clipboard --text - --source bear

With --source bear, Bear creates a note, which works on macOS only. The next search
finds it.")]
pub(crate) struct NewPageArguments {
    /// The title; several words need no quotes
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
    /// A tag, without `#`; repeat to add several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// The text; `-` reads it from standard input
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    pub(crate) text: String,
    /// The source to write to, or `bear` [default: pages, otherwise the first that is writable]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Write it even if a page with this title exists; not in Bear
    #[arg(long)]
    pub(crate) again: bool,
    /// The folder inside the source; not in Bear
    #[arg(long, value_name = "FOLDER")]
    pub(crate) folder: Option<String>,
    /// Open the new page in the editor; not in Bear
    #[arg(long)]
    pub(crate) edit: bool,
}

/// `kodiak page edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak page edit 'Ramen broth'             in VISUAL, otherwise EDITOR
  kodiak page edit a1b2c3 --append '- salt'  at its end
  kodiak page edit a1b2c3 --text - < new.md  everything below the frontmatter")]
pub(crate) struct EditArguments {
    /// The page: its id, path, address (kodiak://…), title or file name; `:LINE` selects a line
    #[arg(value_name = "PAGE")]
    pub(crate) page: String,
    /// Replace the text below the frontmatter; `-` reads it from standard input
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "append",
        allow_hyphen_values = true
    )]
    pub(crate) text: Option<String>,
    /// Add lines at the end; `-` reads them from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) append: Option<String>,
}

/// `kodiak page rename`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  kodiak page rename 'Ramen broth' Tonkotsu broth

Kodiak changes the title in the frontmatter or in the first heading, wherever the page
has it. If the file name is taken, a number is added.")]
pub(crate) struct RenamePageArguments {
    /// The page: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "PAGE")]
    pub(crate) page: String,
    /// The new title; several words need no quotes
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
}

/// `kodiak page list`.
#[derive(Debug, Args)]
pub(crate) struct ListPagesArguments {
    /// Only pages of this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Only pages with this tag; repeat to require several
    #[arg(long = "tag", value_name = "TAG", conflicts_with = "trash")]
    pub(crate) tags: Vec<String>,
    /// The maximum number of pages
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// List deleted pages, most recently deleted first
    #[arg(long)]
    pub(crate) trash: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak page delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Deleted pages go to .trash in the source's folder, which searches ignore.
`kodiak page list --trash` lists it.")]
pub(crate) struct DeleteArguments {
    /// The page: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "PAGE", required = true)]
    pub(crate) pages: Vec<String>,
}

/// `kodiak page restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak page restore 'Ramen broth'
  kodiak page restore 'pages/Ramen broth.md'

Restoring never overwrites a page: if its name is taken, rename the other page first.")]
pub(crate) struct RestoreArguments {
    /// The page: its path as `kodiak page list --trash` shows it, or its title
    #[arg(value_name = "PAGE")]
    pub(crate) page: String,
    /// Only look in the trash of this source
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
}
