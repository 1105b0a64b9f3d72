//! Many clients that search by meaning while another process embeds everything again.

use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::http::{Client, Served};
use super::load::{Load, Outcome};
use super::{Broken, Options, Place, percentile};
use crate::all::Kind;
use crate::embed;
use crate::report::Report;

/// The number of different queries.
const QUERIES: usize = 200;
/// How long the other process has to empty the index and embed a first group. Before
/// that, searches are by words only.
const BEGINNING: Duration = Duration::from_mins(2);
/// How many times as long the median search may take beside the other process.
const SLOWER: f64 = 2.5;
/// How many times as much memory the server may take.
const LARGER: f64 = 1.5;

/// A process, killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Measures the same load without and with the other process.
pub(super) fn measure(
    folder: &Path,
    options: &Options,
    report: &mut Report,
    broken: &mut Broken,
) -> Result<()> {
    let place = Place::new(&options.program, &options.model)?;
    let notes = folder.canonicalize()?;
    place.run(&["add", &notes.to_string_lossy(), "--yes"])?;
    let texts = embed::pieces(&notes)?;
    let queries = Kind::SixWords.queries(&texts, QUERIES);
    ensure!(!queries.is_empty(), "there is nothing to search for");
    let served =
        Served::start(&mut place.command(&["mcp", "--http", "127.0.0.1:0", "--no-token"]))?;
    // The first search loads the model.
    Client::connect(&served.address)?.search(&queries[0], "auto")?;
    let load = Load {
        address: &served.address,
        queries: &queries,
        mode: "auto",
        clients: options.clients,
        interval: Duration::from_secs(1),
        stage: Duration::from_secs(options.seconds),
    };
    let clients = options.clients;
    let what = |row: &str| format!("{clients} clients by meaning: {row}");
    let mut alone = load.run();
    let (before, start) = (percentile(&mut alone.times, 50), served.megabytes()?);
    report.add(what("p50"), before, "ms", counted(&alone));

    let mut command: Command = place.command(&["index", "--rebuild", "--embeddings"]);
    let mut embedding = Running(command.spawn().context("could not embed again")?);
    wait_for_vectors(&served, &queries[0])?;
    let mut beside = load.run();
    let ended = embedding.0.try_wait()?.is_some();
    let during = percentile(&mut beside.times, 50);
    let slower = during / before;
    let detail = format!("{slower:.1} times as long; {}", counted(&beside));
    report.add(what("p50 while embedding"), during, "ms", detail);
    broken.unless(
        slower <= SLOWER,
        format!("searches take at most {SLOWER} times as long while others embed"),
    );
    let end = served.megabytes()?;
    let detail = format!("{start:.0} at the start of it");
    report.add(what("memory while embedding"), end, "MB", detail);
    broken.unless(
        end <= LARGER * start,
        format!("a server grows at most to {LARGER} times its size while others embed"),
    );
    ensure!(!ended, "the embedding ended too soon; use more notes");
    Ok(())
}

/// Waits until the index has some vectors.
fn wait_for_vectors(served: &Served, query: &str) -> Result<()> {
    let mut client = Client::connect(&served.address)?;
    let started = Instant::now();
    loop {
        let (_, answer) = client.answer(query, "auto")?;
        let embedded = answer["embedded"].as_f64().unwrap_or(0.0);
        if embedded > 0.0 && embedded < 1.0 {
            return Ok(());
        }
        ensure!(started.elapsed() < BEGINNING, "nothing is being embedded");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Describes how many were answered.
fn counted(outcome: &Outcome) -> String {
    let answers = outcome.times.len();
    let refused: usize = outcome.refused.values().sum();
    let failed = outcome.failures.len();
    format!("{answers} answers, {refused} refused, {failed} failed")
}
