//! `kodiak serve`: serves many clients over HTTP.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use kodiak_server::Server;
use kodiak_server::http::{HttpOptions, Limits, listen};
use kodiak_server::token::Tokens;

use super::super::token;
use super::links::Links;
use crate::arguments::HttpArguments;
use crate::context::Context;
use crate::failure::refusal;

/// Serves until the process is told to end.
pub(super) fn serve(
    server: &Server,
    address: SocketAddr,
    arguments: &HttpArguments,
    open: bool,
    context: &Context<'_>,
) -> anyhow::Result<()> {
    let output = context.output;
    let tokens = token::kept(context)?;
    let listening = listen(server, options(address, arguments, &tokens)?)?;
    let address = listening.address();
    output.notice(&format!("serving http://{address}"));
    if let Some(links) = Links::to(&listening, arguments) {
        links.show(open, output)?;
    }
    if !arguments.no_token && !has_token(&*tokens)? {
        output.hint("programs need a token to call the server: run `kodiak token create NAME`");
    }
    listening.serve()?;
    Ok(())
}

/// Reports whether there is a valid token.
fn has_token(tokens: &dyn Tokens) -> anyhow::Result<bool> {
    let now = kodiak::date::now();
    let known = tokens.list();
    let known = known.map_err(|error| token::explained(&error))?;
    Ok(known.iter().any(|token| !token.is_expired(now)))
}

fn options(
    address: SocketAddr,
    arguments: &HttpArguments,
    tokens: &Arc<dyn Tokens>,
) -> anyhow::Result<HttpOptions> {
    let local = address.ip().is_loopback();
    if arguments.no_token && !local {
        return Err(refusal(
            format!("without a token, anyone who can reach {address} could read your notes"),
            "use 127.0.0.1, or leave out --no-token and run `kodiak token create NAME`",
        ));
    }
    let tokens = if arguments.no_token {
        None
    } else if has_token(&**tokens)? || local {
        Some(Arc::clone(tokens))
    } else {
        return Err(refusal(
            format!("{address} can be reached from other machines, and there is no valid token"),
            "run `kodiak token create NAME` first",
        ));
    };
    let mut limits = Limits::default();
    if let Some(seconds) = arguments.request_timeout {
        limits.time = Duration::from_secs(seconds);
    }
    if let Some(seconds) = arguments.session_idle {
        limits.session_idle = Duration::from_secs(seconds);
    }
    if let Some(waiting) = arguments.max_waiting {
        limits.waiting = waiting as usize;
    }
    Ok(HttpOptions {
        address,
        tokens,
        hosts: arguments.hosts.clone(),
        origins: arguments.origins.clone(),
        limits,
    })
}
