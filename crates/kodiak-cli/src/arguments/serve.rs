//! The arguments of `kodiak serve`, and the options it shares with `kodiak mcp`.

use std::net::SocketAddr;

use clap::Args;

use super::HttpArguments;
use super::http::address;

/// What a server offers, and to whom.
#[derive(Debug, Args)]
pub(crate) struct OfferArguments {
    /// The sets of tools to offer
    #[arg(
        long,
        value_name = "SETS",
        value_delimiter = ',',
        default_value = "default"
    )]
    pub(crate) tools: Vec<String>,
    /// Also offer tools that write
    #[arg(long)]
    pub(crate) allow_write: bool,
    /// Wrap text answers in JSON that says whether the call succeeded
    #[arg(long)]
    pub(crate) jp: bool,
    /// Search without a model: by words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// Limit clients to this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Limit clients to this project; what they write belongs to it
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The maximum number of tokens of an answer, unless a call sets another [default: 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
}

/// `kodiak serve`.
#[derive(Debug, Args)]
#[command(after_help = "\
The server offers a web page for searching and reading, the Model Context Protocol at /mcp
and a JSON API at /api. It prints a sign-in link that works once and expires after a minute;
on a terminal, press Enter for another one. Programs need a token: `kodiak token create NAME`
makes one.
`kodiak mcp --help` lists the sets of tools.

Examples:
  kodiak serve --open                     at 127.0.0.1:7700, for reading, in the browser
  kodiak serve 8080 --allow-write
  kodiak serve 0.0.0.0:7700 --allow-host notes.example --source work")]
pub(crate) struct ServeArguments {
    /// The address to serve at; a port alone means 127.0.0.1
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:7700", value_parser = address)]
    pub(crate) address: SocketAddr,
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) offer: OfferArguments,
    #[command(flatten)]
    pub(crate) http: HttpArguments,
}
