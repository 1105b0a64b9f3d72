//! What a person reads in a page, beside the routes for programs: rendered notes,
//! pictures, counts, conversations and events, over real sockets.

mod counts;
mod offered;
mod pictures;
mod rendered;
mod watched;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use std::sync::Arc;

use kodiak_server::Server;
use kodiak_server::http::{HttpOptions, Limits};
use kodiak_server::token::{TokenFile, Tokens};
use serde_json::Value;

use crate::web::{Reply, Web};

/// A server over HTTP, with or without tokens.
pub(crate) struct Served(Web);

impl Served {
    /// Serves to callers without tokens.
    pub(crate) fn start(server: &Server) -> Self {
        Self::with_tokens(server, None)
    }

    pub(crate) fn with_tokens(server: &Server, tokens: Option<TokenFile>) -> Self {
        let options = HttpOptions {
            address: "127.0.0.1:0".parse().unwrap(),
            tokens: tokens.map(|tokens| Arc::new(tokens) as Arc<dyn Tokens>),
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: Limits::default(),
        };
        Self(Web::with(server, options))
    }

    pub(crate) fn send(&self, method: &str, path: &str, token: &str, body: &str) -> Reply {
        let bearer = format!("Bearer {token}");
        let mut headers = vec![("Content-Type", "application/json")];
        if !token.is_empty() {
            headers.push(("Authorization", &bearer));
        }
        self.0.send(method, path, &headers, body)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", "")
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, "", &body.to_string())
    }

    /// Opens the stream of events.
    pub(crate) fn events(&self, token: &str) -> Events {
        self.events_since(token, "")
    }

    /// Opens the stream of events after the one with this id.
    pub(crate) fn events_since(&self, token: &str, last: &str) -> Events {
        let mut stream = TcpStream::connect(self.0.address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        let authorization = match token {
            "" => String::new(),
            token => format!("Authorization: Bearer {token}\r\n"),
        };
        let last = match last {
            "" => String::new(),
            last => format!("Last-Event-ID: {last}\r\n"),
        };
        let head = format!(
            "GET /api/events HTTP/1.1\r\nHost: {}\r\n{authorization}{last}\r\n",
            self.0.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        Events {
            lines: BufReader::new(stream),
            id: String::new(),
        }
    }
}

/// A stream of events.
pub(crate) struct Events {
    lines: BufReader<TcpStream>,
    /// The id of the last event.
    pub(crate) id: String,
}

impl Events {
    /// Returns the next event and what it says; `None` if the stream ends.
    pub(crate) fn next(&mut self) -> Option<(String, Value)> {
        let mut name = None;
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap_or(0) == 0 {
                return None;
            }
            let line = line.trim_end();
            if let Some(event) = line.strip_prefix("event: ") {
                name = Some(event.to_owned());
            } else if let Some(id) = line.strip_prefix("id: ") {
                id.clone_into(&mut self.id);
            } else if let (Some(data), Some(name)) = (line.strip_prefix("data: "), &name) {
                return Some((name.clone(), serde_json::from_str(data).unwrap()));
            }
        }
    }
}
