//! `kodiak team invite`: creates a token for a person.

use super::super::{Outcome, token};
use crate::arguments::InviteArguments;
use crate::assemble::holder;
use crate::context::Context;
use crate::failure::refusal;

pub(super) fn run(arguments: &InviteArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let name = token::name(&arguments.name)?;
    super::server(context)?;
    let config = context.config()?;
    let Some(url) = super::url(arguments.url.as_ref(), &config)? else {
        return Err(refusal(
            "the server's public address is not set",
            "name it with --url https://kodiak.example, or once with `kodiak config set team.url`",
        ));
    };
    let now = kodiak::date::now();
    let expires = arguments.expires.as_deref();
    let expires_at = expires.map(|text| token::expiry(text, now)).transpose()?;
    let grant = token::grant(
        !arguments.read,
        &arguments.sources,
        arguments.project.as_deref(),
        context,
    )?;
    let tokens = token::kept(context)?;
    let made = tokens.create(name, grant, now, expires_at, &holder("team invite"));
    let secret = made.map_err(|error| token::explained(&error))?;
    let line = serde_json::to_string(&super::entry(&url, &secret))?;
    context.output.answer(&format!("{line}\n"))?;
    context.output.notice(&format!(
        "Give this line to '{name}'; it is shown only once. It goes in a client's config file, such \
         as .mcp.json or .cursor/mcp.json; the token in it also signs in to the page at {url}."
    ));
    Ok(Outcome::Done)
}
