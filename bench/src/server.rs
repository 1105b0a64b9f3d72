//! Measures the server: many clients over HTTP, more than can be served, many
//! servers on one index, and what an idle one takes.
//!
//! `http` is a client of one connection, `load` has many of them, and `crowd` has
//! many servers over standard input and output.

mod crowd;
mod http;
mod load;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::report::Report;

/// What to measure, and how much of it.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program to measure.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
    /// The number of generated notes.
    #[arg(long, default_value_t = 10_000)]
    documents: usize,
    /// The number of clients over HTTP, each with one request a second.
    #[arg(long, default_value_t = 200)]
    clients: usize,
    /// How long they go on.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How long ten times as many requests come.
    #[arg(long, default_value_t = 15)]
    overload_seconds: u64,
    /// The number of servers that are started at once on an index that is not there.
    #[arg(long, default_value_t = 16)]
    servers: usize,
    /// How often they are.
    #[arg(long, default_value_t = 100)]
    rounds: usize,
    /// The model for the first call and the search beside it; it has to be installed.
    #[arg(long, default_value = "none")]
    model: String,
}

/// A folder with notes, their index and a config.
struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
    model: String,
}

impl Place {
    fn new(program: &Path, model: &str) -> Result<Self> {
        let found = program.canonicalize();
        Ok(Self {
            folder: tempfile::tempdir()?,
            program: found.with_context(|| format!("{} is missing", program.display()))?,
            model: model.to_owned(),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("KODIAK_INDEX", self.path("index.db"))
            .env("KODIAK_CONFIG", self.path("config.toml"))
            .env("KODIAK_MEMORY", self.path("memory"))
            .env("KODIAK_MODEL", &self.model)
            .env("KODIAK_OFFLINE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs the program to its end.
    fn run(&self, arguments: &[&str]) -> Result<()> {
        let status = self.command(arguments).status()?;
        ensure!(status.success(), "{arguments:?} ended with {status}");
        Ok(())
    }
}

/// Measures everything.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let place = Place::new(&options.program, &options.model)?;
    std::fs::create_dir(place.path("notes"))?;
    crate::all::write_notes(&place.path("notes"), options.documents)?;
    let notes = place.path("notes");
    place.run(&["add", &notes.to_string_lossy()])?;
    load::measure(&place, options, report)?;
    crowd::first_call(&place, report)?;
    crowd::idle(&place, report)?;
    crowd::cold(options, report)
}

/// Returns the share of the numbers that this percentage of them does not exceed.
fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let at = (numbers.len() * percent / 100).min(numbers.len().saturating_sub(1));
    numbers.get(at).copied().unwrap_or(0.0)
}
