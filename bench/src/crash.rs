//! Stops the program at random moments while it writes, with Ctrl-C, SIGTERM and SIGKILL,
//! and checks what is left: nothing may be lost, half written or still there although it
//! was purged.
//!
//! This module stops and counts; `place` is a home with one source of each kind, and
//! `work` knows what each kind of work leaves behind.

mod place;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;

use crate::report::Report;
use place::Place;
use work::{Kind, World};

/// What to stop, and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of stops
    #[arg(default_value_t = 1000)]
    stops: usize,
    /// The program to stop.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
    /// The number of notes that carry a tag.
    #[arg(long, default_value_t = 60)]
    notes: usize,
    /// The seed of the random moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// How a process is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

const SIGNALS: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Kill];

/// What was seen of one kind of work.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Stops before anything had happened.
    before: usize,
    /// Stops in the middle.
    between: usize,
    /// Stops when everything was done.
    after: usize,
}

/// What a stopped process had done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    Nothing,
    Some,
    All,
}

/// Stops the program as often as asked for. Fails at the first thing that is wrong.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let program = options.program.canonicalize();
    let program = program.with_context(|| format!("{} is missing", options.program.display()))?;
    let place = Place::new(program)?;
    let mut world = World::new(&place, options.notes)?;
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut seen = [Seen::default(); Kind::ALL.len()];
    // How long each kind of work takes.
    let mut takes = [Duration::ZERO; Kind::ALL.len()];
    for (kind, takes) in Kind::ALL.into_iter().zip(&mut takes) {
        *takes = world.whole(kind).with_context(|| format!("{kind:?}"))?;
    }
    for stop in 0..options.stops {
        let which = stop % Kind::ALL.len();
        let kind = Kind::ALL[which];
        let signal = SIGNALS[random.usize(..SIGNALS.len())];
        let after = takes[which].mul_f64(random.f64() * 1.1);
        let stopped = world.stopped(kind, signal, after, &mut random);
        let done = stopped
            .with_context(|| format!("stop {stop}: {kind:?} with {signal:?} after {after:?}"))?;
        match done {
            Done::Nothing => seen[which].before += 1,
            Done::Some => seen[which].between += 1,
            Done::All => seen[which].after += 1,
        }
    }
    world.check_everything()?;
    for (kind, seen) in Kind::ALL.into_iter().zip(seen) {
        let Seen {
            before,
            between,
            after,
        } = seen;
        let stops = before + between + after;
        let detail = format!("{before} before, {between} in between, {after} after");
        report.add(format!("{} stopped", kind.name()), stops as f64, "", detail);
    }
    let checked = "everything was compared";
    report.add("lost or half written", 0.0, "", checked);
    report.add("purged and still there", 0.0, "", "every byte was searched");
    report.add("temporary files left", world.litter()? as f64, "files", "");
    Ok(())
}
