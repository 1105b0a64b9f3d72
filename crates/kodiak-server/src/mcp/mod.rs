//! Speaks the Model Context Protocol, in both of its eras: with a handshake, and
//! with the version in every request. Only this module knows rmcp.
//!
//! * `handler` answers requests;
//! * `lines` moves messages over a pair of streams, one a line;
//! * `stdio` serves one client over standard input and output, and ends with it;
//! * `http` serves one request at a time, each with the rights of its sender;
//! * `activity` knows when the server is idle.

mod activity;
mod handler;
mod http;
mod lines;
mod stdio;

pub use activity::Activity;
pub use handler::Handler;
pub(crate) use http::http_service;
pub use stdio::{Ended, Lifetime, serve_stdio, serve_streams};
