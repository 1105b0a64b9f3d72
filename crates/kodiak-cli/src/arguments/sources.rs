//! The arguments of the verbs about sources and the index: `add`, `remove`, `sources`,
//! `index`, `status` and `doctor`.

use std::path::PathBuf;

use clap::Args;

use super::{TranscriptArguments, WITHOUT_SESSIONS};

/// `kodiak add`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The folder that holds the notes or records; with --bear, Bear's database
    #[arg(value_name = "PATH", required_unless_present_any = ["bear", "transcripts"])]
    pub(crate) path: Option<PathBuf>,
    /// Add the notes of Bear [default path: `KODIAK_BEAR_DB`, otherwise where Bear keeps them]
    #[arg(long, conflicts_with = "globs")]
    pub(crate) bear: bool,
    /// Add session records: a folder of node files such as 9f2c4e1ab0d37756-v1.json, at any depth
    #[arg(long, conflicts_with_all = ["bear", "globs"], hide = WITHOUT_SESSIONS)]
    pub(crate) sessions: bool,
    /// Add another folder of memories, such as one that a team shares; `remember --source NAME` writes to it
    #[arg(long, conflicts_with_all = ["bear", "sessions", "transcripts", "globs", "writable"])]
    pub(crate) memory: bool,
    #[command(flatten)]
    pub(crate) transcripts: TranscriptArguments,
    /// The name of the source [default: the folder's name, bear, sessions, memory or the agent's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Index the files that match this pattern, such as '*.rst', instead of the usual ones; '!drafts/' excludes files
    #[arg(long = "glob", value_name = "PATTERN")]
    pub(crate) globs: Vec<String>,
    /// Allow Kodiak to write notes to the folder when you ask it to; also applies to a registered source
    #[arg(long, conflicts_with_all = ["bear", "transcripts"])]
    pub(crate) writable: bool,
    /// Do not embed: search by words only. For the first source, Kodiak saves this choice
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Index a very large number of files without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

/// `kodiak remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// The source's name, as `kodiak status` shows it
    #[arg(value_name = "NAME", required_unless_present = "visits")]
    pub(crate) name: Option<String>,
    /// Remove the indexes of all folders that were searched with `search --in` and belong to no source
    #[arg(long, conflicts_with = "name")]
    pub(crate) visits: bool,
}

/// `kodiak sources`.
#[derive(Debug, Args)]
pub(crate) struct SourcesArguments {
    /// Print the sources as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the names, one per line
    #[arg(long, conflicts_with = "json")]
    pub(crate) names: bool,
}

/// `kodiak index`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IndexArguments {
    /// The sources to index [default: all]
    #[arg(value_name = "SOURCE", conflicts_with = "rebuild")]
    pub(crate) sources: Vec<String>,
    /// Build a new index from the notes; searches use the old one until the new one is complete
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// With --rebuild: also embed every text again instead of reusing embeddings
    #[arg(long, requires = "rebuild", conflicts_with = "no_semantic")]
    pub(crate) embeddings: bool,
    /// Remove the notes of a source that has become empty, instead of keeping them in case its drive is missing
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Keep running and index notes as they change, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Index for search by words only: do not embed
    #[arg(long)]
    pub(crate) no_semantic: bool,
}

/// `kodiak rebuild`, an earlier name.
#[derive(Debug, Args)]
pub(crate) struct RebuildArguments {
    /// Also embed every text again instead of reusing embeddings
    #[arg(long, conflicts_with = "no_semantic")]
    embeddings: bool,
    /// Index for search by words only: do not embed
    #[arg(long)]
    no_semantic: bool,
}

impl RebuildArguments {
    /// Returns the arguments of `kodiak index` that mean the same.
    pub(crate) fn as_index(&self) -> IndexArguments {
        IndexArguments {
            sources: Vec::new(),
            rebuild: true,
            embeddings: self.embeddings,
            allow_empty: false,
            watch: false,
            no_semantic: self.no_semantic,
        }
    }
}

/// `kodiak status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Show how much of each source is embedded, and what failed
    #[arg(long)]
    pub(crate) embeddings: bool,
    /// Print the status as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no problem found, 1 problems found, 2 the index could not be checked."
)]
pub(crate) struct DoctorArguments {
    /// Repair what can be repaired; a damaged index is set aside and rebuilt
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
