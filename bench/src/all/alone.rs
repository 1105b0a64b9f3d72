//! Measures the library, each task in its own process, so that the memory is that
//! of the task.

use std::cell::RefCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use kodiak::access::Guard;
use kodiak::embed::Embedder;
use kodiak::search::{Answer, Mode, Request, Router};
use kodiak::store::prelude::*;
use kodiak::store::{Filter, SqliteStore, SqliteWriter, Wanted};
use kodiak::sync::HeldWriter;
use kodiak::sync::{EmbeddingProgress, backfill};
use kodiak::{Cancel, Stop};

use super::findings::{Column, say};
use super::pretend::Pretender;
use super::queries::Kind;
use super::texts::{self, Texts};
use crate::clock::{cpu_ms, own_peak_megabytes, process_cpu_ms};
use crate::report::{Report, median};
use crate::scale;

/// The number of searches of each kind that count, and of those that warm up.
const SEARCHES: usize = 25;
const WARMING: usize = 5;
/// The number of documents that a semantic search requests from the store.
const NEAREST: usize = 200;
/// The deadline, long enough that no search is cut short.
const PATIENCE: Duration = Duration::from_mins(2);

/// The task of a separate process.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub(crate) enum Task {
    /// Write generated documents into a new index.
    Fill,
    /// Give every chunk a vector.
    Embed,
    /// Search.
    Search,
}

/// The input of a task.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    task: Task,
    #[arg(long)]
    index: PathBuf,
    /// The number of generated documents.
    #[arg(long)]
    documents: usize,
    /// The folder that was indexed instead.
    #[arg(long)]
    folder: Option<PathBuf>,
    /// The name and revision of the model that the vectors carry.
    #[arg(long)]
    model: Option<String>,
}

/// Runs a task in a new process and adds the rows it reports.
pub(crate) fn start(
    task: Task,
    index: &Path,
    texts: &Texts,
    model: Option<&str>,
    column: &mut Column,
) -> Result<()> {
    let program = std::env::current_exe().context("could not find this program")?;
    let mut command = Command::new(&program);
    let name = match task {
        Task::Fill => "fill",
        Task::Embed => "embed",
        Task::Search => "search",
    };
    command
        .args(["all-alone", name, "--json", "--index"])
        .arg(index);
    match texts {
        Texts::Generated(count) => command.args(["--documents", &count.to_string()]),
        Texts::Folder(folder) => command.args(["--documents", "0", "--folder"]).arg(folder),
    };
    if let Some(model) = model {
        command.args(["--model", model]);
    }
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("could not start {}", program.display()))?;
    ensure!(output.status.success(), "{name} failed: {}", output.status);
    let report: Report = serde_json::from_slice(&output.stdout)?;
    column.rows.extend(report.rows);
    Ok(())
}

/// Runs a task in this process.
pub(crate) fn run(options: &Options, report: &mut Report) -> Result<()> {
    let texts = match &options.folder {
        Some(folder) => Texts::Folder(folder.clone()),
        None => Texts::Generated(options.documents),
    };
    let pretender = || Pretender::new(options.model.as_deref());
    match options.task {
        Task::Fill => fill(&options.index, options.documents, report),
        Task::Embed => embed(&options.index, &pretender(), report),
        Task::Search => search(&options.index, &texts, pretender(), report),
    }
}

fn fill(index: &Path, count: usize, report: &mut Report) -> Result<()> {
    let mut tenths = Tenths::of("filling", count);
    let documents = texts::generated(count)
        .enumerate()
        .inspect(|&(number, _)| tenths.reached(number))
        .map(|(_, document)| document);
    let (filled, used) = process_cpu_ms(|| scale::fill(index, documents));
    filled?;
    let detail = "CPU of the process, documents given to the library";
    report.add("fill without files", used / 1e3, "s", detail);
    peak("fill without files, peak memory", "of the process", report);
    Ok(())
}

fn embed(index: &Path, pretender: &Pretender, report: &mut Report) -> Result<()> {
    let mut writer = SqliteWriter::open(index, "bench")?;
    let mut tenths = Tenths::of("storing vectors", 0);
    let mut progress = |event| match event {
        EmbeddingProgress::Found { chunks, .. } => {
            tenths = Tenths::of("storing vectors", chunks);
        }
        EmbeddingProgress::Done { chunks, .. } => tenths.reached(chunks),
    };
    let (done, used) = process_cpu_ms(|| {
        backfill(
            &HeldWriter::new(&mut writer),
            pretender,
            None,
            None,
            &Cancel::new(),
            &mut progress,
        )
    });
    let done = done?;
    ensure!(
        done.embedded > 0 && done.left == 0 && done.failed == 0,
        "not everything has a vector: {done:?}"
    );
    let each = used * 1e3 / done.embedded as f64;
    let detail = format!(
        "CPU of the process, the model aside; {} chunks, {each:.0} us each",
        done.embedded
    );
    report.add("store vectors", used / 1e3, "s", detail);
    peak("store vectors, peak memory", "of the process", report);
    Ok(())
}

fn search(index: &Path, texts: &Texts, pretender: Pretender, report: &mut Report) -> Result<()> {
    let texts = texts.sample()?;
    read_once(index)?;
    let store = SqliteStore::open(index)?;
    let words = Router::new(&store, &[], Guard::local());
    for kind in Kind::BY_WORD {
        let search = |request: &Request| {
            let (answer, used) = cpu_ms(|| words.search(request));
            Ok((answer?, used))
        };
        warm("warm search", kind, &texts, "CPU", report, search)?;
    }
    in_scope(&store, &texts, report)?;
    let detail = "of a process that searches by word";
    peak("warm search, peak memory", detail, report);

    let pretender = Arc::new(pretender);
    let mut times = Vec::new();
    for query in Kind::Hybrid.queries(&texts, WARMING + SEARCHES) {
        let vectors = [pretender.vector(&query)];
        let (near, used) = process_cpu_ms(|| {
            let index = store.vectors()?.context("nothing is embedded")?;
            let near = index.nearest(&vectors, None, NEAREST, &Stop::default())?;
            let near = near.unwrap_or_default();
            // As a search does, to get the exact similarities.
            store.read(&Wanted {
                chunks: near.iter().map(|one| one.chunk).collect(),
                ..Wanted::default()
            })?;
            anyhow::Ok(near)
        });
        ensure!(!near?.is_empty(), "nothing is near");
        times.push(used);
    }
    if times.len() > WARMING {
        let times = times.split_off(WARMING);
        let detail = format!(
            "CPU of the process, the {NEAREST} nearest documents, median of {}",
            times.len()
        );
        report.add("vector scan", median(times), "ms", detail);
    }

    let embedder: Arc<dyn Embedder> = pretender;
    let both = Router::new(&store, &[], Guard::local())
        .with_embedder(Some(embedder))
        .with_deadline(PATIENCE);
    let walls = RefCell::new(Vec::new());
    let search = |request: &Request| {
        let started = Instant::now();
        let (answer, used) = process_cpu_ms(|| both.search(request));
        walls
            .borrow_mut()
            .push(started.elapsed().as_secs_f64() * 1e3);
        let answer = answer?;
        ensure!(
            answer.retrievers.semantic.is_some(),
            "meanings were not compared: {:?}",
            answer.notices
        );
        Ok((answer, used))
    };
    warm(
        "warm search",
        Kind::Hybrid,
        &texts,
        "CPU of the process, the model aside",
        report,
        search,
    )?;
    let walls = walls.into_inner();
    if walls.len() > WARMING {
        let detail = "of the same searches, both rankings at the same time";
        let median = median(walls[WARMING..].to_vec());
        report.add("warm hybrid search, wall", median, "ms", detail);
    }
    let detail = "of the same process after meanings, the mapped vectors included";
    peak("warm hybrid search, peak memory", detail, report);
    Ok(())
}

/// Searches as a caller for which only some sources exist. All are among them, so
/// that as many documents are ranked as without a scope: what a scope costs is the
/// difference. Must take at most twice as long.
fn in_scope(store: &SqliteStore, texts: &[String], report: &mut Report) -> Result<()> {
    // Documents that were given to the library are of a source that is not registered.
    let counts = store.document_counts(&Filter::default())?;
    let sources: Vec<String> = counts.into_keys().collect();
    ensure!(
        !sources.is_empty(),
        "the index has no source to restrict to"
    );
    let scoped = Router::new(store, &[], Guard::local().within(sources));
    let (first, used) = cpu_ms(|| scoped.search(&Request::new("first")));
    first?;
    let detail = "CPU, what is in the scope is counted once for each state of the index";
    report.add("first search in a scope", used, "ms", detail);
    for kind in Kind::BY_WORD {
        let search = |request: &Request| {
            let (answer, used) = cpu_ms(|| scoped.search(request));
            Ok((answer?, used))
        };
        warm("warm search in a scope", kind, texts, "CPU", report, search)?;
    }
    Ok(())
}

/// Reads the index, so that the system keeps it in memory as far as possible.
/// Filling a large index may have evicted its beginning, and the time of the disk
/// is not that of a search.
fn read_once(index: &Path) -> Result<()> {
    let told = || format!("could not read {}", index.display());
    let mut file = File::open(index).with_context(told)?;
    std::io::copy(&mut file, &mut std::io::sink()).with_context(told)?;
    Ok(())
}

/// Runs different queries of a kind. The first ones warm up and do not count.
fn warm(
    what: &str,
    kind: Kind,
    texts: &[String],
    clock: &str,
    report: &mut Report,
    search: impl Fn(&Request) -> Result<(Answer, f64)>,
) -> Result<()> {
    let (mut times, mut found) = (Vec::new(), 0);
    let queries = kind.queries(texts, WARMING + SEARCHES);
    let counted = queries.get(WARMING..).unwrap_or_default();
    let Some(example) = counted.first() else {
        return Ok(());
    };
    for (at, query) in queries.iter().enumerate() {
        let mode = if kind == Kind::Hybrid {
            Mode::Hybrid
        } else {
            Mode::Auto
        };
        let (answer, used) = search(&Request {
            query: query.clone(),
            limit: 10,
            mode,
            as_you_type: kind.as_you_type(),
            ..Request::default()
        })?;
        if at >= WARMING {
            times.push(used);
            found += usize::from(!answer.hits.is_empty());
        }
    }
    let count = times.len();
    let worst = times.iter().copied().fold(0.0, f64::max);
    report.add(
        format!("{what}: {}", kind.name()),
        median(times),
        "ms",
        format!("{clock}, median of {count}, worst {worst:.2}, {found} found something, such as {example}"),
    );
    Ok(())
}

fn peak(what: &str, detail: &str, report: &mut Report) {
    if let Some(peak) = own_peak_megabytes() {
        report.add(what, peak, "MB", detail);
    }
}

/// Prints when another tenth of a long task is done.
struct Tenths {
    what: &'static str,
    all: usize,
    said: usize,
}

impl Tenths {
    fn of(what: &'static str, all: usize) -> Self {
        Self { what, all, said: 0 }
    }

    fn reached(&mut self, done: usize) {
        let tenth = 10 * done / self.all.max(1);
        if tenth > self.said {
            self.said = tenth;
            say(&format!("{}: {}0 %", self.what, tenth));
        }
    }
}
