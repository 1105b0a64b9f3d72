//! The program over an index that a team shares, as people meet it.
//!
//! `KODIAK_TEST_POSTGRES` has the addresses of servers, with spaces between them;
//! `tests/postgres/with` starts some. Tests that need them are ignored unless asked for.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod alike;
mod backup;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod cuts;
mod errors;
mod export;
#[cfg(unix)]
mod failover;
mod gate;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod limits;
mod machines;
mod migrate;
mod place;
#[cfg(unix)]
mod pooler;
#[cfg(unix)]
mod programs;
#[expect(dead_code, reason = "the tests of the store use all of it")]
#[path = "../../../kodiak-postgres/src/server_tests/relay.rs"]
mod relay;
#[cfg(unix)]
mod replica;
mod served;
mod servers;
#[cfg(unix)]
mod tls;
