//! The program `kodiak`: finds what you wrote, on your own machine.
//!
//! Parses the arguments, runs one verb, and decides the exit code. What the
//! verbs have in common is beside them: `context` reads the config, `assemble` puts the
//! engine together, `listener` tells what it does, `output` prints, `failure` finds words for errors.

mod arguments;
mod assemble;
mod config;
mod context;
mod embedding;
mod failure;
mod listener;
mod models;
mod nearest;
mod output;
mod paths;
mod registration;
mod registry;
mod verbs;

use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;
use output::Output;
use verbs::Outcome;

/// Models ask for large pieces of memory and give them back all the time. The
/// system's allocator hands each back to the kernel, which clears it the next
/// time: some five percent of embedding. With huge pages a first vector would be
/// there in half the time, but indexing would take a third more memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            output::usage(&error);
            return ExitCode::from(error.exit_code() as u8);
        }
    };
    let everywhere = &arguments.everywhere;
    let output = Output::new(everywhere.color, everywhere.verbose, everywhere.quiet);
    exit_code(verbs::run(&arguments, &output), &output)
}

/// As grep has them: 0 found, 1 nothing found, 2 error. A reader that had
/// enough is no error.
fn exit_code(ended: anyhow::Result<Outcome>, output: &Output) -> ExitCode {
    match ended {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Nothing) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(2),
        Err(error) if error.is::<output::Closed>() => ExitCode::SUCCESS,
        Err(error) => {
            output.failure(&error);
            ExitCode::from(2)
        }
    }
}
