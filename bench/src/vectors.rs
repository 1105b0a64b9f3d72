//! Measures the scan of vectors: its speed relative to the machine's memory, and
//! the recall lost to 8-bit quantisation.
//!
//! New processes of this program write the file and open it for the first time,
//! so that their memory and start-up time are those of that task alone.

use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use kodiak::Error;
use kodiak::store::vectors::{Bitmap, KnnHit, Origin, QuantizedQuery, Slot, VectorFile};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::clock::{cpu_ms, run};
use crate::clusters::{Clusters, DIMENSIONS};
use crate::report::{Report, median};

/// The number of documents that a search requests.
const KEEP: usize = 50;
/// The number of documents that are rescored in full precision.
const RESCORED: usize = 100;
/// The depth at which recall is measured.
const TOP: usize = 10;
/// The number of queries for recall, and the maximum for a median.
const QUERIES: usize = 100;
/// The number of searches for a median.
const RUNS: usize = 25;
/// The number of new processes for a median.
const PROCESSES: usize = 9;
/// The seeds of the vectors and of the queries, which must differ.
const SEEDS: [u64; 2] = [7, 11];

/// The task of a separate process.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Alone {
    Write,
    Search,
}

/// Vectors in full precision, and queries for them.
struct Collection {
    slots: Vec<Slot>,
    vectors: Vec<f32>,
    queries: Vec<Vec<f32>>,
}

/// Measures the scan of `count` generated vectors.
pub(crate) fn measure(count: usize, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("vectors");
    let program = std::env::current_exe().context("could not find this program")?;
    let place = path.to_str().context("the temporary folder is not UTF-8")?;
    let number = count.to_string();
    let name = |what: &str| format!("{count} vectors: {what}");

    let arguments = ["vectors-alone", "write", place, "--count", &number];
    let wrote = run(&program, &arguments, true)?;
    let (megabytes, seconds) = (wrote.peak_megabytes, wrote.wall.as_secs_f64());
    report.add(name("generate and write"), seconds, "s", "new process");
    report.add(name("write: peak memory"), megabytes, "MB", "");
    let size = std::fs::metadata(&path)?.len();
    report.add(name("file"), size as f64 / 1e6, "MB", "");

    let mut times = vec![Vec::new(); 3];
    for _ in 0..PROCESSES {
        let arguments = ["vectors-alone", "search", place, "--count", &number];
        for (times, time) in times.iter_mut().zip(rows_of(&program, &arguments)?) {
            times.push(time);
        }
    }
    let cold = ["open", "open and first search", "second search"];
    for (what, times) in cold.into_iter().zip(times) {
        let detail = "wall, all cores, median of new processes";
        report.add(
            name(&format!("new process: {what}")),
            median(times),
            "ms",
            detail,
        );
    }

    let mut collection = Collection::generated(count);
    collection.queries = queries(QUERIES);
    let opening = VectorFile::open(&path, &origin())?;
    let file = opening.context("the file is not the one that was written")?;
    speed(&file, &collection, &name, report)?;
    recall(&file, &collection, &name, report);
    Ok(())
}

/// Measures recall on vectors of a real model: little-endian f32, one after the
/// other. Some of them serve as queries and are left out of the file.
pub(crate) fn measure_real(path: &Path, report: &mut Report) -> Result<()> {
    let bytes =
        std::fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let (numbers, rest) = bytes.as_chunks();
    let numbers: Vec<f32> = numbers
        .iter()
        .map(|&number| f32::from_le_bytes(number))
        .collect();
    ensure!(
        rest.is_empty() && !numbers.is_empty() && numbers.len().is_multiple_of(DIMENSIONS),
        "{} does not hold whole vectors of {DIMENSIONS} numbers",
        path.display()
    );
    let every = (numbers.len() / DIMENSIONS / QUERIES).max(2);
    let mut collection = Collection {
        slots: Vec::new(),
        vectors: Vec::new(),
        queries: Vec::new(),
    };
    for (at, vector) in numbers.chunks_exact(DIMENSIONS).enumerate() {
        if at % every == 0 {
            collection.queries.push(vector.to_vec());
        } else {
            let number = at as i64 + 1;
            let slot = Slot {
                chunk: number,
                document: number,
            };
            collection.slots.push(slot);
            collection.vectors.extend(vector);
        }
    }
    let count = collection.slots.len();
    let file = VectorFile::in_memory::<_, Error>(&origin(), 0, collection.given())?;
    let name = |what: &str| format!("{count} vectors of a model: {what}");
    recall(&file, &collection, &name, report);
    Ok(())
}

/// Runs the part of a measurement that belongs in a separate process.
pub(crate) fn alone(task: Alone, path: &Path, count: usize, report: &mut Report) -> Result<()> {
    match task {
        Alone::Write => {
            let mut clusters = Clusters::new(SEEDS[0]);
            let vectors = clusters.chunks(count).map(Ok::<_, Error>);
            VectorFile::write(path, &origin(), count as i64, vectors)?;
        }
        Alone::Search => {
            let query = [QuantizedQuery::new(&queries(1)[0])];
            let started = Instant::now();
            let file = VectorFile::open(path, &origin())?.context("the file is missing")?;
            report.add("open", milliseconds(started), "ms", "");
            black_box(file.nearest(&query, None, KEEP, None));
            report.add("open and first search", milliseconds(started), "ms", "");
            let started = Instant::now();
            black_box(file.nearest(&query, None, KEEP, None));
            report.add("second search", milliseconds(started), "ms", "");
        }
    }
    Ok(())
}

fn speed(
    file: &VectorFile,
    collection: &Collection,
    name: &dyn Fn(&str) -> String,
    report: &mut Report,
) -> Result<()> {
    let one = ThreadPoolBuilder::new().num_threads(1).build()?;
    let all = ThreadPoolBuilder::new().build()?;
    let count = collection.slots.len();
    let prepared: Vec<QuantizedQuery> = collection
        .queries
        .iter()
        .map(|query| QuantizedQuery::new(query))
        .collect();

    let words = vec![1_u64; count * DIMENSIONS / 8];
    let read = one_core(&one, |_| {
        black_box(&words)
            .iter()
            .fold(0, |sum: u64, word| sum.wrapping_add(*word))
    });
    let speed = (words.len() * 8) as f64 / read / 1e6;
    let detail = format!("CPU; as many bytes summed up, {speed:.1} GB/s");
    report.add(name("one core, reading only"), read, "ms", detail);
    drop(words);

    let mut clusters = Clusters::new(SEEDS[1]);
    let documents = collection.slots.last().map_or(0, |slot| slot.document);
    let tenth: Bitmap = (1..=documents)
        .filter(|_| clusters.random().is_multiple_of(10))
        .collect();
    let kinds: [(&str, usize, Option<&Bitmap>); 3] = [
        ("one core", 1, None),
        ("one core, a tenth allowed", 1, Some(&tenth)),
        ("one core, two queries", 2, None),
    ];
    for (what, queries, allowed) in kinds {
        let time = one_core(&one, |run| {
            file.nearest(&prepared[run..run + queries], allowed, KEEP, None)
        });
        report.add(name(what), time, "ms", format!("CPU, best {KEEP}"));
    }
    let times = (0..RUNS).map(|run| {
        all.install(|| {
            let started = Instant::now();
            black_box(file.nearest(&prepared[run..=run], None, KEEP, None));
            milliseconds(started)
        })
    });
    let detail = format!("wall, {} threads", all.current_num_threads());
    report.add(name("all cores"), median(times.collect()), "ms", detail);
    let exact = one_core(&one, |run| collection.exact(&collection.queries[run]));
    report.add(name("one core, f32 instead"), exact, "ms", "CPU");
    Ok(())
}

fn recall(
    file: &VectorFile,
    collection: &Collection,
    name: &dyn Fn(&str) -> String,
    report: &mut Report,
) {
    let (mut direct, mut rescored) = (0, 0);
    let (mut wanted, mut error) = (0, 0.0_f32);
    for query in &collection.queries {
        let exact = collection.exact(query);
        let near = file.nearest(&[QuantizedQuery::new(query)], None, RESCORED, None);
        let near = near.unwrap_or_default();
        for found in &near {
            error = error.max((found.similarity - collection.cosine_of(found.chunk, query)).abs());
        }
        let mut again: Vec<(f32, i64)> = near
            .iter()
            .map(|found: &KnnHit| (collection.cosine_of(found.chunk, query), found.document))
            .collect();
        again.sort_by(|left, right| right.0.total_cmp(&left.0));
        let hits = |documents: &mut dyn Iterator<Item = i64>| {
            documents
                .take(TOP)
                .filter(|document| exact.contains(document))
                .count()
        };
        direct += hits(&mut near.iter().map(|found| found.document));
        rescored += hits(&mut again.iter().map(|&(_, document)| document));
        wanted += exact.len();
    }
    let asked = collection.queries.len();
    for (what, hits) in [
        ("recall@10", direct),
        ("recall@10, best 100 rescored", rescored),
    ] {
        let detail = format!("{hits} of the {wanted} best by f32, {asked} queries");
        let part = hits as f64 / wanted.max(1) as f64;
        report.add(name(what), part, "", detail);
    }
    report.add(
        name("largest error of a cosine"),
        f64::from(error) * 1e3,
        "e-3",
        "among the best 100",
    );
}

impl Collection {
    fn generated(count: usize) -> Self {
        let mut collection = Self {
            slots: Vec::with_capacity(count),
            vectors: Vec::with_capacity(count * DIMENSIONS),
            queries: Vec::new(),
        };
        for (slot, vector) in Clusters::new(SEEDS[0]).chunks(count) {
            collection.slots.push(slot);
            collection.vectors.extend(vector);
        }
        collection
    }

    fn given(&self) -> impl Iterator<Item = Result<(Slot, Vec<f32>), Error>> {
        let vectors = self.vectors.chunks_exact(DIMENSIONS);
        self.slots
            .iter()
            .zip(vectors)
            .map(|(&slot, vector)| Ok((slot, vector.to_vec())))
    }

    fn cosine(&self, at: usize, query: &[f32]) -> f32 {
        dot(&self.vectors[at * DIMENSIONS..(at + 1) * DIMENSIONS], query)
    }

    /// Returns the cosine of the chunk with this number. The numbers are sorted.
    fn cosine_of(&self, chunk: i64, query: &[f32]) -> f32 {
        let at = self.slots.partition_point(|slot| slot.chunk < chunk);
        self.cosine(at, query)
    }

    /// Returns the best documents in full precision, scored by their best chunk.
    fn exact(&self, query: &[f32]) -> Vec<i64> {
        let mut best: Vec<(f32, i64)> = Vec::with_capacity(TOP + 1);
        for (at, slot) in self.slots.iter().enumerate() {
            let cosine = self.cosine(at, query);
            if best.len() == TOP && cosine <= best[TOP - 1].0 {
                continue;
            }
            match best
                .iter()
                .position(|&(_, document)| document == slot.document)
            {
                Some(known) if best[known].0 >= cosine => continue,
                Some(known) => {
                    best.remove(known);
                }
                None => {}
            }
            let place = best.partition_point(|&(other, _)| other >= cosine);
            best.insert(place, (cosine, slot.document));
            best.truncate(TOP);
        }
        best.into_iter().map(|(_, document)| document).collect()
    }
}

/// Returns the dot product, with sixteen partial sums that the compiler can keep
/// in vector registers.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    let (left, right) = (left.as_chunks::<16>().0, right.as_chunks::<16>().0);
    for (left, right) in left.iter().zip(right) {
        for lane in 0..16 {
            sums[lane] += left[lane] * right[lane];
        }
    }
    sums.iter().sum()
}

fn origin() -> Origin {
    Origin {
        model: "bench".to_owned(),
        dimensions: DIMENSIONS,
        generation: [0; 16],
    }
}

/// Returns queries from the same clusters as the vectors.
fn queries(count: usize) -> Vec<Vec<f32>> {
    let mut clusters = Clusters::new(SEEDS[0]);
    // The centroids are the same; from here on the seed differs.
    clusters.turn(SEEDS[1]);
    (0..count).map(|_| clusters.vector()).collect()
}

/// Returns the median CPU time of searches in a pool of one thread.
fn one_core<T: Send>(pool: &ThreadPool, search: impl Fn(usize) -> T + Sync) -> f64 {
    let times = (0..RUNS).map(|run| pool.install(|| cpu_ms(|| black_box(search(run))).1));
    median(times.collect())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// Returns the values that a new process of this program reports.
fn rows_of(program: &Path, arguments: &[&str]) -> Result<Vec<f64>> {
    let output = Command::new(program)
        .args(arguments)
        .arg("--json")
        .stderr(Stdio::null())
        .output()
        .with_context(|| format!("could not start {}", program.display()))?;
    ensure!(
        output.status.success(),
        "{} failed: {}",
        arguments.join(" "),
        output.status
    );
    let report: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let rows = report["rows"].as_array().context("a report has rows")?;
    Ok(rows
        .iter()
        .filter_map(|row| row["value"].as_f64())
        .collect())
}
