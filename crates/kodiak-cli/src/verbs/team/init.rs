//! `kodiak team init`: creates the index of a team and its first token.

use std::sync::Arc;

use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak_server::token::{Grant, Token};

use super::super::{Outcome, token};
use crate::arguments::InitTeamArguments;
use crate::assemble::{Purpose, holder};
use crate::context::Context;
use crate::output::shell;
use crate::team::Server;

/// Where a server listens if nothing else is said.
const USUAL: &str = "http://127.0.0.1:7700";

pub(super) fn run(arguments: &InitTeamArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let name = token::name(&arguments.name)?;
    let server = super::server(context)?;
    let url = super::url(arguments.url.as_ref(), &context.config()?)?;
    let url = url.unwrap_or_else(|| USUAL.to_owned());
    let output = context.output;
    let shown = server.shown().display().to_string();
    output.notice(&if server.index()?.create()? {
        format!("created the index {shown}")
    } else {
        format!("there is an index at {shown} already; nothing in it was changed")
    });
    index(context, server)?;
    let tokens = token::kept(context)?;
    let now = kodiak::date::now();
    let known = tokens.list().map_err(|error| token::explained(&error))?;
    let may_write = |one: &&Token| {
        one.grant.write && one.grant.sources.is_empty() && one.grant.project.is_none()
    };
    let mut writers = known.iter().filter(may_write);
    if let Some(writer) = writers.find(|one| !one.is_expired(now)) {
        output.notice(&format!(
            "no token was created: '{}' already has write access",
            writer.name
        ));
        output.hint("run `kodiak team invite NAME` to let people in");
        return Ok(Outcome::Done);
    }
    let grant = Grant {
        write: true,
        ..Default::default()
    };
    let made = tokens.create(name, grant, now, None, &holder("team init"));
    let secret = made.map_err(|error| token::explained(&error))?;
    let entry = serde_json::to_string_pretty(&super::entry(&url, &secret))?;
    output.answer(&format!("{entry}\n"))?;
    output.notice(&format!(
        "Add this to an MCP client to connect with the token '{name}'. It is shown only once."
    ));
    let address = shell::word(server.address()?).into_owned();
    output.hint(&format!(
        "run `kodiak serve --allow-write --index {address}`, and `kodiak team invite NAME` for \
         each person"
    ));
    Ok(Outcome::Done)
}

/// Indexes the sources that are kept in the index, which are empty at first, so that no
/// search says that they were never looked at.
fn index(context: &Context<'_>, server: &Arc<Server>) -> anyhow::Result<()> {
    let config = context.config()?;
    let purpose = Purpose::of("team init").without_model(true);
    let engine = context.engine(&config, purpose)?;
    let kept: Vec<String> = server.sources().into_iter().map(|one| one.name).collect();
    engine.sync(&Guard::local(), ToSync::Only(&kept), &Job::default())?;
    Ok(())
}
