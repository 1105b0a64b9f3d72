//! Measures the page: types queries into it in a headless browser, at a steady pace.
//!
//! Wall time counts here: from the key to its hits by words in the page, and to the frame
//! in which they are painted. The frame with the typed letter, for which the page does
//! nothing, is the share of the display. `tests/page/measure` types and measures; it needs
//! Chromium and npm.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Deserialize;

use crate::report::Report;
use crate::server::{Place, Served};
use crate::zipf::Generator;

/// The frame that people see stutter.
const LONGEST_TASK_MS: f64 = 50.0;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program to measure.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
    /// The number of generated notes; may be repeated.
    #[arg(long, default_values_t = [1_000, 10_000, 100_000])]
    notes: Vec<usize>,
    /// The number of queries that are typed.
    #[arg(long, default_value_t = 40)]
    queries: usize,
    /// The keys that are typed in a second.
    #[arg(long, default_value_t = 10)]
    keys: u32,
}

/// What the browser measured.
#[derive(Debug, Deserialize)]
struct Measured {
    /// From a key to its hits on the display, in milliseconds, of the keys that were not
    /// superseded.
    keys: Vec<f64>,
    /// The same to its hits in the page, before the next frame.
    shown: Vec<f64>,
    /// From a key to the frame with its letter.
    letters: Vec<f64>,
    /// The keys that were followed by another one before their hits were painted.
    superseded: usize,
    /// From the last key of a query to the last change of its hits.
    settled: Vec<f64>,
    /// Tasks of the page that took more than 50 ms while keys were typed.
    long_tasks: Vec<f64>,
    /// From the navigation to the first text on the screen, in a running browser whose
    /// cache is empty.
    first_paint: Vec<f64>,
    /// The same of an answer of one line.
    bare_paint: Vec<f64>,
    /// From the navigation to the first text of the first page of a new browser.
    fresh_paint: Vec<f64>,
    /// What is transferred when the page is loaded for the first time.
    bytes: u64,
    /// What is transferred when it is loaded again.
    bytes_again: u64,
}

/// Indexes notes, serves them, and lets a browser type.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mut transferred = None;
    for &notes in &options.notes {
        let place = Place::filled(&options.program, notes, "none")?;
        let line = ["serve", "127.0.0.1:0", "--no-token", "--no-semantic"];
        let served = Served::start(&mut place.command(&line))?;
        let mut generator = Generator::new(7);
        let queries = generator.queries(options.queries);
        let mut measured = typed(&served.address, &queries, options.keys)?;
        let what = |part: &str| format!("{notes} notes: {part}");
        let detail = format!(
            "from a key to its hits by words in the page; {} keys a second, {} answered, {} \
             superseded before",
            options.keys,
            measured.keys.len(),
            measured.superseded
        );
        add(report, &what("key to hits"), &mut measured.shown, &detail);
        let detail = "the same to the frame in which they are painted";
        add(
            report,
            &what("key to painted hits"),
            &mut measured.keys,
            detail,
        );
        let detail = "from a key to the frame with its letter: the share of the display";
        add(
            report,
            &what("key to painted letter"),
            &mut measured.letters,
            detail,
        );
        let detail = "from the last key of a query to its last hits, after a pause of 120 ms";
        add(
            report,
            &what("query to settled list"),
            &mut measured.settled,
            detail,
        );
        let slowest = measured.long_tasks.iter().copied().fold(0.0, f64::max);
        let over = measured
            .long_tasks
            .iter()
            .filter(|&&task| task > LONGEST_TASK_MS);
        report.add(
            what("tasks over 50 ms"),
            over.count() as f64,
            "",
            format!("0 is the aim; the longest took {slowest:.0} ms"),
        );
        let detail = "from navigation to the first text, running browser, empty cache";
        add(
            report,
            &what("first paint"),
            &mut measured.first_paint,
            detail,
        );
        let detail = "the same for /health, one line of text: the share of the browser";
        add(
            report,
            &what("first paint of one line"),
            &mut measured.bare_paint,
            detail,
        );
        let detail = "from navigation to the first text, first page of a new browser";
        add(
            report,
            &what("first paint, new browser"),
            &mut measured.fresh_paint,
            detail,
        );
        transferred = Some((measured.bytes, measured.bytes_again));
    }
    if let Some((first, again)) = transferred {
        let detail = "files of the page, compressed, with headers; 120 kB is the limit";
        report.add("transferred", first as f64 / 1e3, "kB", detail);
        report.add(
            "transferred when loaded again",
            again as f64 / 1e3,
            "kB",
            "",
        );
    }
    Ok(())
}

/// Types queries into the page at an address.
fn typed(address: &str, queries: &[String], keys: u32) -> Result<Measured> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/page/measure");
    let mut child = Command::new(&script)
        .args([format!("http://{address}"), keys.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("could not run {}", script.display()))?;
    let mut stdin = child.stdin.take().context("no standard input")?;
    stdin.write_all(&serde_json::to_vec(queries)?)?;
    drop(stdin);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the browser could not measure");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Adds the median, the 95th percentile and the worst of some times.
fn add(report: &mut Report, what: &str, times: &mut [f64], detail: &str) {
    times.sort_by(f64::total_cmp);
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("worst", 1.0)] {
        let place = (times.len() as f64 * share) as usize;
        let value = times.get(place.min(times.len().saturating_sub(1)));
        let value = value.copied().unwrap_or_default();
        report.add(format!("{what}, {name}"), value, "ms", detail);
    }
}
