//! A team on servers of two versions: several engines over one database.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot do its work ends the test"
)]

mod authors;
mod erasing;
mod migrating;
mod pages;
mod remembering;
mod servers;
mod writing;
