//! The arguments of `kodiak token`.

use clap::{Args, Subcommand};

/// `kodiak token`.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  kodiak token create laptop                  may search and read everything
  kodiak token create atlas --project atlas --allow-write --expires 30d
  kodiak token revoke laptop                  servers refuse it at once

A token is printed once. Only its hash is kept, in a file that only you can read.")]
pub(crate) enum TokenVerb {
    /// Create a token and print it, once
    Create(CreateTokenArguments),
    /// List the tokens, and what each allows
    List(ListTokensArguments),
    /// Revoke a token; servers refuse it at once
    Revoke(RevokeTokenArguments),
}

/// `kodiak token create`.
#[derive(Debug, Args)]
pub(crate) struct CreateTokenArguments {
    /// Its name, used to revoke it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Allow writing, where the server allows it too; searching and reading are always allowed
    #[arg(long, alias = "write")]
    pub(crate) allow_write: bool,
    /// Limit its holder to this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Only this project exists for its holder, and what is written belongs to it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// When it expires: a date such as 2027-01-31, or a time from now: 30d, 2w, 3m, 1y [default: never]
    #[arg(long, value_name = "DATE")]
    pub(crate) expires: Option<String>,
    /// Print the token and what it allows as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak token list`.
#[derive(Debug, Args)]
pub(crate) struct ListTokensArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak token revoke`.
#[derive(Debug, Args)]
pub(crate) struct RevokeTokenArguments {
    /// The token's name, as `kodiak token list` shows it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}
