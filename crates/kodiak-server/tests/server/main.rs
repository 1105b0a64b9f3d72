//! The server as clients meet it: its tools over the example notes, and the
//! protocol over a pair of streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod cancelling;
mod changing;
mod desk;
mod experience;
mod framing;
mod fresh;
mod hearing;
mod held;
mod hostile;
mod lookups;
mod names;
#[cfg(feature = "page")]
mod page;
mod protocol;
mod purging;
mod reading;
mod scope;
mod secrets;
mod signing_in;
mod streams;
mod tokens;
mod tools;
mod two_worlds;
mod typing;
mod unplugged;
mod unread;
mod watched;
mod web;
mod wire;
