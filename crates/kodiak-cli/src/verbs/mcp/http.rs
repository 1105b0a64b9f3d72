//! `kodiak serve`: serves many clients over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use kodiak_server::Server;
use kodiak_server::http::{HttpOptions, Limits, listen};

use super::super::token;
use crate::arguments::HttpArguments;
use crate::failure::refusal;
use crate::output::Output;

/// Serves until the process is told to end.
pub(super) fn serve(
    server: &Server,
    address: SocketAddr,
    arguments: &HttpArguments,
    output: &Output,
) -> anyhow::Result<()> {
    let listening = listen(server, options(address, arguments, output)?)?;
    let address = listening.address();
    output.notice(&format!(
        "serving http://{address}/mcp and http://{address}/api"
    ));
    listening.serve()?;
    Ok(())
}

fn options(
    address: SocketAddr,
    arguments: &HttpArguments,
    output: &Output,
) -> anyhow::Result<HttpOptions> {
    let local = address.ip().is_loopback();
    if arguments.no_token && !local {
        return Err(refusal(
            format!("without a token, {address} would let in everyone who can reach it"),
            "use 127.0.0.1, or leave out --no-token and run `kodiak token create NAME`",
        ));
    }
    let tokens = if arguments.no_token {
        None
    } else {
        Some(token::file()?)
    };
    if let Some(tokens) = &tokens {
        let now = kodiak::date::now();
        let known = tokens.list().map_err(|error| token::explained(&error))?;
        let any = known.iter().any(|token| !token.is_expired(now));
        if !any && !local {
            return Err(refusal(
                format!(
                    "there is no valid token, and {address} can be reached from other machines"
                ),
                "run `kodiak token create NAME` first",
            ));
        }
        if !any {
            output.hint("the server has no token yet and refuses every request: run `kodiak token create NAME`");
        }
    }
    let mut limits = Limits::default();
    if let Some(seconds) = arguments.request_timeout {
        limits.time = Duration::from_secs(seconds);
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
