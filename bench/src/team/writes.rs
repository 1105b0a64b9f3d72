//! Writers that write documents one by one, each in a transaction, and what it takes to
//! merge what they leave.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use kodiak::store::wait_for_lock;

use super::Options;
use super::indexes::{Index, document, put, used};
use crate::clock::process_cpu_ms;
use crate::report::Report;
use crate::server::percentile;
use crate::zipf::Generator;

/// How long a writer waits for its turn.
const PATIENCE: Duration = Duration::from_mins(1);
/// The number of words of a document, as many as a memory has.
const WORDS: usize = 30;

/// Has every number of writers write, and merges.
pub(super) fn measure(index: &Index<'_>, options: &Options, report: &mut Report) -> Result<()> {
    let mut written = index.documents;
    for &writers in &options.writers {
        write(index, writers, options.writes, written, report)?;
        written += options.writes;
    }
    index.timed("merge after writing", report, || index.optimize())
}

/// Has so many writers write `count` documents together, numbered from `from`.
fn write(
    index: &Index<'_>,
    writers: usize,
    count: usize,
    from: usize,
    report: &mut Report,
) -> Result<()> {
    let mut generator = Generator::new(from as u64);
    let texts: Vec<String> = (0..count).map(|_| generator.words(WORDS)).collect();
    let next = AtomicUsize::new(0);
    let writer = || -> Result<Vec<f64>> {
        let mut times = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(text) = texts.get(number) else {
                return Ok(times);
            };
            let begun = Instant::now();
            let mut writer =
                wait_for_lock(PATIENCE, |_, _| Ok(()), || index.store.writer("bench"))?;
            let mut analyzer = writer.analyzer();
            writer.begin()?;
            let title = format!("Memory {number}");
            put(
                &mut *writer,
                &mut analyzer,
                document(from + number, title, text.clone()),
            )?;
            writer.commit()?;
            drop(writer);
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
    };
    let (before, begun) = (index.server_ms(), Instant::now());
    let (times, ours) = process_cpu_ms(|| {
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..writers).map(|_| scope.spawn(writer)).collect();
            let ended = all.into_iter().map(|one| {
                let times = one.join();
                times.unwrap_or_else(|_| Err(anyhow::anyhow!("a writer has panicked")))
            });
            ended.collect::<Result<Vec<_>>>()
        })
    });
    let (mut times, wall) = (times?.concat(), begun.elapsed().as_secs_f64());
    let theirs = index.server_ms().zip(before).map(|(now, then)| now - then);
    let name = |what: &str| format!("{}: {writers} writers, {what}", index.name);
    let detail = format!(
        "{count} documents, each in a transaction, each {}",
        used(ours, theirs, count as f64)
    );
    report.add(name("writes a second"), count as f64 / wall, "", detail);
    let (p50, p95) = (percentile(&mut times, 50), percentile(&mut times, 95));
    report.add(name("p50"), p50, "ms", "wall, with the wait for the lock");
    report.add(name("p95"), p95, "ms", "");
    Ok(())
}
