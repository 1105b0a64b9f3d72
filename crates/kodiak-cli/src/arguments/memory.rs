//! The command line of memories: `remember`, `article`, `timeline`, `recall` and
//! `forget`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use kodiak::search::Mode;

use super::PrintArguments;
use super::search::{field_and_value, mode_parser};

/// The arguments that memories and articles share.
#[derive(Debug, Args)]
pub(crate) struct DescribeArguments {
    /// Its kind, such as decision, error, rule or code [default: memory, or article]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// A tag, without `#`; repeat to add several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Its category
    #[arg(long, value_name = "CATEGORY")]
    pub(crate) category: Option<String>,
    /// The project it belongs to: a folder, or its name; '' for none [default: the repository of the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The session it is from
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// One sentence that a timeline shows instead of the beginning of the text
    #[arg(long, value_name = "TEXT")]
    pub(crate) summary: Option<String>,
    /// A memory that this one corrects or replaces, and then outranks; repeat to name several
    #[arg(long, value_name = "ID")]
    pub(crate) supersedes: Vec<String>,
    /// Another field of its frontmatter; repeat to add several
    #[arg(long = "meta", value_name = "FIELD=VALUE", value_parser = field_and_value)]
    pub(crate) metadata: Vec<(String, String)>,
    /// When it was learned, if not now: 2026-01-31, or 2026-01-31T09:00:00Z
    #[arg(long = "at", value_name = "DATE")]
    pub(crate) created_at: Option<String>,
    /// Its id, also used as its file name [default: derived from the time]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Never remove it because of its age
    #[arg(long)]
    pub(crate) protect: bool,
    /// Store it even if something similar is known; an identical text is never stored twice
    #[arg(long)]
    pub(crate) force: bool,
    /// The source to write to [default: memory, or article]
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where a text is from.
#[derive(Debug, Args)]
pub(crate) struct OriginArguments {
    /// Where it comes from: an address, a path or a title; stores it as an article
    #[arg(long, value_name = "REFERENCE")]
    pub(crate) source_ref: Option<String>,
    /// The kind of its source, such as web, pdf or book; stores it as an article
    #[arg(long, value_name = "TYPE")]
    pub(crate) source_type: Option<String>,
}

impl OriginArguments {
    /// Reports whether anything says where the text is from.
    pub(crate) fn is_given(&self) -> bool {
        self.source_ref.is_some() || self.source_type.is_some()
    }
}

/// `kodiak remember`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak remember 'The API allows 100 requests a minute.' --kind decision --tag api
  kodiak remember 'It is 200 now.' --supersedes 20260131-090000-000-1f3a9c
  git log -1 --format=%B | kodiak remember --kind summary
  kodiak remember --file buckets.md --title 'Token buckets' --source-ref https://example.org

Memories are Markdown files in the folder named by KODIAK_MEMORY or by `memory` in the
config, or else in the data folder. A text with --source-ref is an article, in a folder
beside them. A text that is already known is not stored again; Kodiak names the memory
that has it. Keys, tokens and passwords are redacted.")]
pub(crate) struct RememberArguments {
    /// The text; several words need no quotes, and `-` or nothing reads standard input
    #[arg(value_name = "TEXT", conflicts_with = "file")]
    pub(crate) text: Vec<String>,
    /// The file that holds the text
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Its title [default: none; for an article, its first heading or file name]
    #[arg(long, value_name = "TITLE")]
    pub(crate) title: Option<String>,
    #[command(flatten)]
    pub(crate) origin: OriginArguments,
    #[command(flatten)]
    pub(crate) described: DescribeArguments,
}

/// `kodiak article`.
#[derive(Debug, Subcommand)]
pub(crate) enum ArticleVerb {
    /// Save a longer text with a reference to its source
    Save(Box<SaveArticleArguments>),
}

/// `kodiak article save`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak article save Token buckets --file buckets.md --source-type web --source-ref https://example.org
  pdftotext paper.pdf - | kodiak article save 'A paper' --source-type pdf --source-ref paper.pdf")]
pub(crate) struct SaveArticleArguments {
    /// The title; several words need no quotes
    #[arg(value_name = "TITLE", required = true)]
    pub(crate) title: Vec<String>,
    /// The text; `-` reads standard input [default: standard input]
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) text: Option<String>,
    /// The file that holds the text
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) origin: OriginArguments,
    #[command(flatten)]
    pub(crate) described: DescribeArguments,
}

/// Which memories are meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where to look")]
pub(crate) struct ChooseArguments {
    /// Only from this source; repeat to include several [default: memories and sessions]
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Only with this tag (`work` includes `work/atlas`); repeat to require several
    #[arg(long = "tag", value_name = "TAG")]
    pub(crate) tags: Vec<String>,
    /// Only of this kind; repeat to include several
    #[arg(long = "kind", value_name = "KIND")]
    pub(crate) kinds: Vec<String>,
    /// Only of this category; repeat to include several
    #[arg(long = "category", value_name = "CATEGORY")]
    pub(crate) categories: Vec<String>,
    /// Only of this project: its folder, or the folder's name; repeat to include several
    #[arg(long = "project", value_name = "PROJECT")]
    pub(crate) projects: Vec<String>,
    /// Only on or after this date: 2026-01-31, 2026-01, 2026, today, yesterday, or an age: 7d, 2w, 3m, 1y
    #[arg(long, value_name = "DATE")]
    pub(crate) after: Option<String>,
    /// Only before this date; with --after, in between
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<String>,
}

/// `kodiak timeline`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak timeline --after 7d                      what was learned in the last week
  kodiak timeline --around a1b2c3 --context 5     what was learned before and after
  kodiak timeline --kind decision --project api --json")]
pub(crate) struct TimelineArguments {
    /// Also list the turns of sessions with coding agents; `--kind turn` lists only these
    #[arg(long)]
    pub(crate) turns: bool,
    /// List the entries before and after this one
    #[arg(long, value_name = "ID", conflicts_with_all = ["after", "before", "limit"])]
    pub(crate) around: Option<String>,
    /// The number of entries before and after it
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 5,
        requires = "around"
    )]
    pub(crate) context: u32,
    /// The maximum number of entries; the latest are kept
    #[arg(short = 'n', long = "limit", value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) chosen: ChooseArguments,
    /// Print the timeline as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak recall`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak recall rate limits                  memories and sessions, those of this project first
  kodiak recall rate limits --kind decision --as-of 2026-01-31
  kodiak recall deployment --project api --json

A memory that was corrected ranks below its correction and is marked as superseded.")]
pub(crate) struct RecallArguments {
    /// The words to search for; several words need no quotes
    #[arg(value_name = "QUERY", required = true)]
    pub(crate) query: Vec<String>,
    /// The maximum number of hits [default: the config's `search.limit`, otherwise 10]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// The search mode
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = mode_parser())]
    pub(crate) mode: Mode,
    /// Search without a model: by words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Search the index as it is, without looking for changed files
    #[arg(long)]
    pub(crate) no_refresh: bool,
    #[command(flatten)]
    pub(crate) chosen: ChooseArguments,
    /// Search as of the end of this date: ignore anything written or corrected later
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) as_of: Option<String>,
    #[command(flatten)]
    pub(crate) printing: PrintArguments,
}

/// `kodiak forget`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak forget a1b2c3                    move it to the trash
  kodiak forget rate limits               search for these words, and ask which to forget
  kodiak forget --purge a1b2c3            erase it everywhere, including the index and the trash
  kodiak forget --purge --session s-17    everything from a session")]
pub(crate) struct ForgetArguments {
    /// The memories to forget, by id (every file that has it) or path (one file); Kodiak searches for any other words
    #[arg(value_name = "ID", required_unless_present_any = ["session", "project"])]
    pub(crate) ids: Vec<String>,
    /// Erase them for good, instead of moving them to the trash
    #[arg(long)]
    pub(crate) purge: bool,
    /// If a search for the words finds a single memory, forget it without asking
    #[arg(long)]
    pub(crate) yes: bool,
    /// Forget everything from this session
    #[arg(
        long,
        value_name = "SESSION",
        requires = "purge",
        conflicts_with = "ids"
    )]
    pub(crate) session: Option<String>,
    /// Forget all memories and sessions of this project: its folder, or the folder's name
    #[arg(
        long,
        value_name = "PROJECT",
        requires = "purge",
        conflicts_with = "ids"
    )]
    pub(crate) project: Option<String>,
}
