//! Speaks the Model Context Protocol, in both of its eras: with a handshake, and
//! with the version in every request. Only this module knows rmcp.
//!
//! * `handler` answers requests;
//! * `message` reads one;
//! * `lines` moves messages over a pair of streams, one a line;
//! * `stdio` serves one client over standard input and output, and ends with it;
//! * `http` serves one request at a time, each with the rights of its sender;
//! * `hearing` tells clients what they asked to hear of; over HTTP, `session` knows
//!   what that is, and `stream` is what they read;
//! * `activity` knows when the server is idle.

mod activity;
mod handler;
mod hearing;
mod http;
mod lines;
mod message;
mod session;
mod stdio;
mod stream;

pub use activity::Activity;
pub use handler::Handler;
pub(crate) use http::http_router;
pub use stdio::{Ended, Lifetime, serve_stdio, serve_streams};
