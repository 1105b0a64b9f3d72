//! Speaks the Model Context Protocol, in both of its eras: with a handshake, and
//! with the version in every request.
//!
//! * `jsonrpc` reads and builds messages, and knows no method;
//! * `call` has the methods and their parameters;
//! * `revision` decides by which rules a request is answered;
//! * `handler` answers it, and `progress` tells how far long work is;
//! * `lines` serves a client over a pair of streams, one message a line;
//! * `stdio` does that over standard input and output, and ends with the client;
//! * `http` serves one request at a time, each with the rights of its sender, if its
//!   `headers` agree with its body;
//! * `hearing` tells clients what they asked to hear of; over HTTP, `session` knows
//!   what that is;
//! * `activity` knows when the server is idle.

mod activity;
mod call;
mod handler;
mod headers;
mod hearing;
mod http;
mod jsonrpc;
mod lines;
mod progress;
mod revision;
mod session;
mod stdio;

pub(crate) use http::http_router;
pub use stdio::{Ended, Lifetime, serve_stdio, serve_streams};
