//! Many servers over standard input and output: what idle ones take, and many that
//! are started at once on an index that is not there.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::stdio::Served;
use super::{Broken, Options, Place};
use crate::report::Report;

/// The number of idle servers.
const IDLE: usize = 10;
/// The most that they may take together, in megabytes.
const MOST: f64 = 400.0;
/// When the first sync of a server is over.
const SETTLED: Duration = Duration::from_secs(5);
/// When a server has dropped an unused model.
const DROPPED: Duration = Duration::from_secs(85);
/// The number of notes of a cold index.
const COLD_NOTES: usize = 200;
/// The number of memories that are written in one round.
const MEMORIES: usize = 5;

/// Measures what idle servers take together, after a search each: soon after it and,
/// if there is a model, when that is dropped.
pub(super) fn idle(place: &Place, report: &mut Report, broken: &mut Broken) -> Result<()> {
    let mut servers = Vec::new();
    for _ in 0..IDLE {
        let mut served = Served::start(&mut place.command(&["mcp"]))?;
        served.begin()?;
        served.search("idle")?;
        servers.push(served);
    }
    let together = || servers.iter().map(Served::megabytes).sum::<Result<f64>>();
    std::thread::sleep(SETTLED);
    let mut all = together()?;
    let model = &place.model;
    report.add(
        format!("{IDLE} idle servers"),
        all,
        "MB",
        format!("PSS together, 5 s after a search each, model {model}"),
    );
    if model != "none" {
        std::thread::sleep(DROPPED);
        all = together()?;
        report.add(
            format!("{IDLE} idle servers, later"),
            all,
            "MB",
            format!("PSS together, 90 s after a search each, model {model}"),
        );
    }
    broken.unless(
        all < MOST,
        format!("{IDLE} idle servers take less than {MOST} MB"),
    );
    Ok(())
}

/// Starts many servers at once where nothing is indexed yet, while another process
/// writes memories, again and again. Nothing may fail or be lost.
pub(super) fn cold(options: &Options, report: &mut Report) -> Result<()> {
    let place = Place::new(&options.program, "none")?;
    std::fs::create_dir(place.path("notes"))?;
    crate::all::write_notes(&place.path("notes"), COLD_NOTES)?;
    let notes = place.path("notes");
    place.run(&["add", &notes.to_string_lossy(), "--no-semantic", "--yes"])?;
    place.run(&["remember", "The first memory of all is about beginnings."])?;
    let started = Instant::now();
    let mut written = 1;
    for round in 0..options.rounds {
        for name in ["index.db", "index.db-wal", "index.db-shm", "index.vectors"] {
            let _ = std::fs::remove_file(place.path(name));
        }
        std::thread::scope(|scope| -> Result<()> {
            let servers: Vec<_> = (0..options.servers)
                .map(|_| {
                    scope.spawn(|| -> Result<()> {
                        let mut served = Served::start(&mut place.command(&["mcp"]))?;
                        served.begin()?;
                        served.search_patiently("beginnings")?;
                        Ok(())
                    })
                })
                .collect();
            for number in 0..MEMORIES {
                let text = format!(
                    "memory{round}x{number} {}",
                    unlike(round * MEMORIES + number)
                );
                place.run(&["remember", "--force", &text])?;
            }
            for server in servers {
                let ended = server.join();
                ended.map_err(|_| anyhow::anyhow!("a client panicked"))??;
            }
            Ok(())
        })
        .with_context(|| format!("round {round}"))?;
        written += MEMORIES;
        for number in 0..MEMORIES {
            place.run(&["search", &format!("memory{round}x{number}")])?;
        }
    }
    let kept = std::fs::read_dir(place.path("memory"))?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "md"))
        .count();
    ensure!(kept == written, "{kept} of {written} memories are left");
    let (servers, rounds) = (options.servers, options.rounds);
    report.add(
        format!("{servers} servers on a cold index, {rounds} rounds"),
        started.elapsed().as_secs_f64(),
        "s",
        format!("no error, all of {written} memories kept and found"),
    );
    Ok(())
}

/// Returns a text that is like no other.
fn unlike(number: usize) -> String {
    crate::zipf::Generator::new(number as u64 + 100).words(20)
}
