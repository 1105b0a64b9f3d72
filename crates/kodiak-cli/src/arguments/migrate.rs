//! The arguments of `kodiak migrate`.

use std::ffi::OsString;

use clap::Args;

/// `kodiak migrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak migrate --to postgres://kodiak@db.example/notes          from this machine to a server
  kodiak migrate --back-from postgres://kodiak@db.example/notes   and back

Ids, vectors, memories, pages, tombstones and tokens are kept. Nothing is deleted on either
side, and no file or token is replaced by another one. Run it again to resume an
interrupted migration or to add new documents. The exit code is 2 if something differs.")]
pub(crate) struct MigrateArguments {
    /// Move from the index of this machine to the one at this address
    #[arg(
        long,
        value_name = "ADDRESS",
        conflicts_with = "back_from",
        required_unless_present = "back_from"
    )]
    pub(crate) to: Option<OsString>,
    /// Move the index at this address to this machine
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) back_from: Option<OsString>,
    /// Print a JSON report of both sides
    #[arg(long)]
    pub(crate) json: bool,
}
