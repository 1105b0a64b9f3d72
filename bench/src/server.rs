//! Measures the server: many clients over HTTP, more than can be served, many
//! servers on one index, what an idle one takes, how soon one answers, and how soon
//! it is gone with its parent.
//!
//! `http` is a client of one connection, `load` has many of them; `stdio` is a server
//! over standard input and output, `crowd` has many of them, and `alone` one;
//! `reembedding` has many clients beside a process that embeds. What is
//! required and does not hold is collected, and ends the run with an error.

mod alone;
mod crowd;
mod http;
mod load;
mod reembedding;
mod stdio;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use clap::{Args, ValueEnum};

use crate::report::Report;
pub(crate) use http::Served;

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
    /// The model for the first call, the search beside it and the idle servers; it has to
    /// be installed.
    #[arg(long, default_value = "none")]
    model: String,
    /// The number of generated notes for the first call and the idle servers; that of the
    /// other clients if absent.
    #[arg(long)]
    notes: Option<usize>,
    /// A folder of notes to embed again while clients search; it is only read. Needs a
    /// model.
    #[arg(long, requires = "model")]
    folder: Option<PathBuf>,
    /// Measure only this; may be repeated.
    #[arg(long, value_enum)]
    only: Vec<Part>,
}

/// What can be measured by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Many clients over HTTP.
    Load,
    /// Many clients over HTTP while a folder is embedded again.
    Reembedding,
    /// The first call of a server.
    FirstCall,
    /// Idle servers.
    Idle,
    /// A server whose parent is gone.
    Orphan,
    /// Many servers on an index that is not there.
    Cold,
}

impl Options {
    fn wants(&self, part: Part) -> bool {
        self.only.is_empty() || self.only.contains(&part)
    }
}

/// What is required and does not hold.
#[derive(Debug, Default)]
struct Broken(Vec<String>);

impl Broken {
    /// Takes note of a requirement, unless it holds.
    fn unless(&mut self, holds: bool, required: impl Into<String>) {
        if !holds {
            self.0.push(required.into());
        }
    }
}

/// A folder with notes, their index and a config.
pub(crate) struct Place {
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

    /// Returns a place with this many notes, indexed.
    pub(crate) fn filled(program: &Path, notes: usize, model: &str) -> Result<Self> {
        let place = Self::new(program, model)?;
        let folder = place.path("notes");
        std::fs::create_dir(&folder)?;
        crate::all::write_notes(&folder, notes)?;
        place.run(&["add", &folder.to_string_lossy(), "--yes"])?;
        Ok(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
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

/// Measures everything that is wanted. Fails if a requirement does not hold.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mut broken = Broken::default();
    if options.wants(Part::Load) {
        let place = Place::filled(&options.program, options.documents, "none")?;
        load::measure(&place, options, report, &mut broken)?;
    }
    if let Some(folder) = &options.folder
        && options.wants(Part::Reembedding)
    {
        reembedding::measure(folder, options, report, &mut broken)?;
    }
    if [Part::FirstCall, Part::Idle, Part::Orphan].map(|part| options.wants(part)) != [false; 3] {
        let notes = options.notes.unwrap_or(options.documents);
        let place = Place::filled(&options.program, notes, &options.model)?;
        if options.wants(Part::FirstCall) {
            alone::first_call(&place, notes, report, &mut broken)?;
        }
        if options.wants(Part::Idle) {
            crowd::idle(&place, report, &mut broken)?;
        }
        if options.wants(Part::Orphan) {
            alone::orphan(&place, report, &mut broken)?;
        }
    }
    if options.wants(Part::Cold) {
        crowd::cold(options, report)?;
    }
    if !broken.0.is_empty() {
        bail!("required and not so: {}", broken.0.join("; "));
    }
    Ok(())
}

/// Returns the share of the numbers that this percentage of them does not exceed.
pub(crate) fn percentile(numbers: &mut [f64], percent: usize) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let at = (numbers.len() * percent / 100).min(numbers.len().saturating_sub(1));
    numbers.get(at).copied().unwrap_or(0.0)
}
