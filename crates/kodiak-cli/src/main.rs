//! The program `kodiak`: finds what you wrote, on your own machine.
//!
//! Parses the arguments, runs one verb, and decides the exit code. The verbs
//! share the other modules: `context` reads the config, `assemble` builds the
//! engine, `listener` reports its progress, `output` prints, and `failure` words
//! the errors and their hints.
//!
//! `assemble` names the concrete models, stores and sources, except for those that the
//! program can be built without: `sessions` opens transcripts and session records, and `team`
//! an index in a database. `index_place` says which of the two kinds of index is used.
//! `visits` keeps the indexes of folders that are searched without being sources.
//! `verbs/hook.rs` runs `kodiak-hook` for the clients of agents, within a time and whatever
//! goes wrong. The program also builds without the server (`--no-default-features
//! --features sessions`) and without the page.

#![cfg_attr(
    not(all(feature = "server", feature = "sessions")),
    expect(
        dead_code,
        reason = "some arguments, paths and settings are for sessions or for the server alone"
    )
)]

mod arguments;
mod assemble;
mod clients;
mod config;
mod context;
mod edited;
mod editor;
mod embedding;
mod failure;
mod index_place;
mod interrupt;
mod listener;
mod memory;
mod models;
mod nearest;
mod network;
mod opened;
mod opener;
mod output;
mod pages;
mod paths;
mod places;
mod privacy;
mod projects;
#[cfg(feature = "sessions")]
mod records;
mod registration;
mod registry;
mod rerankers;
#[cfg_attr(not(feature = "sessions"), path = "no_sessions.rs")]
mod sessions;
#[cfg_attr(not(feature = "team"), path = "no_team.rs")]
mod team;
#[cfg(feature = "sessions")]
mod transcripts;
mod usual;
mod verbs;
mod visits;
mod zone;

use std::ffi::OsString;
use std::process::ExitCode;

use arguments::{Arguments, Verb};
use output::Output;
use verbs::Outcome;

/// Embedding allocates and frees large blocks of memory all the time. The
/// system's allocator returns each block to the kernel, which clears it before
/// the next use: this costs about five percent of the time of embedding. Huge
/// pages would halve the time to the first vector, but indexing would take a
/// third more memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The exit code after a signal, without the number of the signal.
const SIGNALLED: u8 = 128;
/// The exit code after Ctrl-C.
const INTERRUPTED: u8 = SIGNALLED + 2;

fn main() -> ExitCode {
    let mut line: Vec<OsString> = std::env::args_os().collect();
    let is_bare = line.len() == 1 && output::is_for_people() && output::can_draw();
    if is_bare {
        line.push("pick".into());
    }
    let mut arguments = match Arguments::parse_line(line.clone()) {
        Ok(arguments) => arguments,
        // Another exit code would keep a prompt from the agent.
        Err(_) if verbs::hook::misunderstood(&line) => return ExitCode::SUCCESS,
        Err(error) => {
            output::usage(&error);
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    if let Verb::Pick(pick) = &mut arguments.verb {
        pick.is_bare = is_bare;
    }
    if !matches!(arguments.verb, Verb::Mcp(_) | Verb::Serve(_)) {
        zone::adopt();
    }
    let everywhere = &arguments.everywhere;
    let output = Output::new(everywhere.color, everywhere.verbose, everywhere.quiet);
    exit_code(verbs::run(&arguments, &output, interrupted), &output)
}

/// Ends the program at once, as the shell expects after Ctrl-C.
#[expect(
    clippy::exit,
    reason = "the signal comes on another thread, and the work does not end by itself"
)]
fn interrupted() -> ! {
    std::process::exit(INTERRUPTED.into())
}

/// Returns the exit code, with the meaning it has in grep: 0 found, 1 nothing
/// found, 2 error. A closed standard output is not an error.
fn exit_code(ended: anyhow::Result<Outcome>, output: &Output) -> ExitCode {
    match ended {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(2),
        Ok(Outcome::Stopped) => ExitCode::from(INTERRUPTED),
        Ok(Outcome::Signalled(signal)) => ExitCode::from(SIGNALLED.saturating_add(signal as u8)),
        Err(error) if error.is::<output::Closed>() => ExitCode::SUCCESS,
        Err(error) => {
            output.failure(&error);
            ExitCode::from(2)
        }
    }
}
