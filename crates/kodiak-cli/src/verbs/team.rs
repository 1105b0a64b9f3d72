//! `kodiak team`: creates an index that a team shares, invites people, and exports what
//! they wrote.

mod export;
mod init;
mod invite;

use std::sync::Arc;

use serde_json::json;

use super::Outcome;
use crate::arguments::TeamVerb;
use crate::config::Config;
use crate::context::Context;
use crate::failure::refusal;
use crate::team::Server;

pub(super) fn run(verb: &TeamVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        TeamVerb::Init(arguments) => init::run(arguments, context),
        TeamVerb::Invite(arguments) => invite::run(arguments, context),
        TeamVerb::Export(arguments) => export::run(arguments, context),
    }
}

/// Returns the server that has the index.
fn server<'a>(context: &'a Context<'_>) -> anyhow::Result<&'a Arc<Server>> {
    let Some(server) = context.index.server() else {
        return Err(refusal(
            format!("the index {} is a file", context.index.shown().display()),
            "name a database with --index postgres://user@host/database, or with `kodiak config \
             set index`",
        ));
    };
    server.require()?;
    Ok(server)
}

/// Returns the address at which people reach the team's server, if one is named.
fn url(typed: Option<&String>, config: &Config) -> anyhow::Result<Option<String>> {
    let Some(url) = typed.or(config.team.url.as_ref()) else {
        return Ok(None);
    };
    let is_address = url.starts_with("https://") || url.starts_with("http://");
    if !is_address || url.contains(|sign: char| sign.is_whitespace() || sign.is_control()) {
        return Err(refusal(
            format!("'{url}' is not an address of a server"),
            "write one such as https://kodiak.example",
        ));
    }
    Ok(Some(url.trim_end_matches('/').to_owned()))
}

/// Returns the entry that lets a client of the Model Context Protocol in.
fn entry(url: &str, token: &str) -> serde_json::Value {
    json!({"mcpServers": {"kodiak": {
        "type": "http",
        "url": format!("{url}/mcp"),
        "headers": {"Authorization": format!("Bearer {token}")},
    }}})
}
