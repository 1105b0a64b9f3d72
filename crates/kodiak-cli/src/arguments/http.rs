//! The arguments of `kodiak serve` that are about HTTP.

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;

/// The heading of these options.
pub(super) const HEADING: &str = "Over HTTP";

/// How a server is reached over HTTP.
#[derive(Debug, Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct HttpArguments {
    /// Allow every user of this machine to read without a token
    #[arg(long, conflicts_with = "allow_write")]
    pub(crate) no_token: bool,
    /// A host name that clients use to reach the server; repeat for several [default: localhost and its address]
    #[arg(long = "allow-host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// The origin of web pages that may call the server, such as <https://app.example>; repeat for several [default: its own]
    #[arg(long = "allow-origin", value_name = "ORIGIN", value_parser = origin)]
    pub(crate) origins: Vec<String>,
    /// The time limit of a request [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) request_timeout: Option<u64>,
    /// The maximum number of waiting requests; more are refused [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) max_waiting: Option<u32>,
    /// Sign the page out after this many seconds without activity [default: 43200]
    #[arg(long, value_name = "SECONDS", hide = true, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) session_idle: Option<u64>,
}

/// Parses an address; a port alone is one of this machine only.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").unwrap_or(text);
    if let Ok(port) = local.parse() {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    text.parse()
        .map_err(|_| "expected an address and a port, such as 127.0.0.1:7700".to_owned())
}

/// Parses the origin of web pages as browsers send it: a scheme, a host, and a port
/// unless it is the usual one.
fn origin(text: &str) -> Result<String, String> {
    let expected = || "expected an origin, such as https://app.example".to_owned();
    let text = text.strip_suffix('/').unwrap_or(text);
    let (scheme, host) = text.split_once("://").ok_or_else(expected)?;
    let known = |sign: char| sign.is_ascii_alphanumeric() || "+-.".contains(sign);
    let odd = |sign: char| sign.is_whitespace() || sign.is_control() || "/?#@*\\".contains(sign);
    if scheme.is_empty() || !scheme.chars().all(known) || host.is_empty() || host.contains(odd) {
        return Err(expected());
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_a_scheme_and_a_host() {
        for text in [
            "https://app.example",
            "http://localhost:3000",
            "http://[::1]:8080",
            "chrome-extension://abcdef",
            "https://app.example/",
        ] {
            assert_eq!(origin(text).unwrap(), text.trim_end_matches('/'));
        }
        for text in [
            "",
            "*",
            "null",
            "app.example",
            "https://",
            "https://*",
            "https://*.example",
            "https://app.example/page",
            "https://user@app.example",
            "https://a b",
        ] {
            origin(text).unwrap_err();
        }
    }

    #[test]
    fn a_port_alone_is_local() {
        for (text, expected) in [
            ("7700", "127.0.0.1:7700"),
            ("localhost:7700", "127.0.0.1:7700"),
            ("0.0.0.0:1", "0.0.0.0:1"),
            ("[::1]:1", "[::1]:1"),
        ] {
            assert_eq!(address(text).unwrap().to_string(), expected);
        }
        for text in ["", "127.0.0.1", "host:1", "70000", ":1"] {
            address(text).unwrap_err();
        }
    }
}
