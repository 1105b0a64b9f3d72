//! The server as clients meet it: its tools over the example notes, and the
//! protocol over a pair of streams.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod cancelling;
mod desk;
mod experience;
mod framing;
mod fresh;
mod hearing;
mod held;
mod hostile;
mod names;
mod protocol;
mod scope;
mod tokens;
mod tools;
mod two_worlds;
mod typing;
mod wire;
