//! The arguments of `kodiak team`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `kodiak team`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kodiak team init --index postgres://kodiak@db.example/notes
  kodiak team invite ada --expires 90d
  kodiak team export backup

The address of the database is that of --index, KODIAK_INDEX or the setting `index`. Its
password is in PGPASSWORD, in ~/.pgpass, or in the file that `team.password_file` names.")]
pub(crate) enum TeamVerb {
    /// Create the index of a team in a database, and the first token
    Init(InitTeamArguments),
    /// Create a token for a person, and print the line to add to a client
    Invite(InviteArguments),
    /// Write memories, articles and pages as files
    Export(ExportArguments),
}

/// `kodiak team init`.
#[derive(Debug, Args)]
pub(crate) struct InitTeamArguments {
    /// The name of the first token, which may write
    #[arg(value_name = "NAME", default_value = "owner")]
    pub(crate) name: String,
    /// The address at which people will reach the server [default: the setting `team.url`]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

/// `kodiak team invite`.
#[derive(Debug, Args)]
pub(crate) struct InviteArguments {
    /// The name of the person, which is shown with what they write
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Limit them to this project; what they write belongs to it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only this source exists for them; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Allow only searching and reading
    #[arg(long)]
    pub(crate) read: bool,
    /// When the token expires: a date such as 2027-01-31, or a time from now: 30d, 2w, 3m, 1y [default: never]
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
    /// The address at which they reach the server [default: the setting `team.url`]
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
}

/// `kodiak team export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The folder to write to; other files in it stay as they are
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// Only this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}
