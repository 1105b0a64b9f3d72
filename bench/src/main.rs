//! Measures Kodiak: prints the figures of speed that the README and the docs claim.
//!
//! Machines are noisy: CPU time is measured where one process does the work,
//! and the median of several runs everywhere. Nothing here is a test.

mod all;
mod bear;
mod chunks;
mod clock;
mod clusters;
mod crash;
mod embed;
mod embed_order;
mod folder;
mod frecency;
mod hook;
mod memory;
mod mix;
mod page;
mod pick;
mod picture;
mod quality;
mod recall;
mod redact;
mod refresh;
mod report;
mod scale;
mod server;
mod team;
mod transcripts;
mod typos;
mod vectors;
mod zipf;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use report::Report;

/// The allocator of the program, so that the figures are those of the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Debug, Parser)]
#[command(about, version)]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Print JSON instead of a table.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Measure everything at several sizes, and how it grows.
    All(all::Options),
    /// Sync and search the notes of Bear, and the same notes as files.
    Bear(bear::Options),
    /// Kill the program at random while it writes pages and renames tags.
    Crash(crash::Options),
    /// Run one task of `all` in its own process.
    #[command(hide = true)]
    AllAlone(all::AloneOptions),
    /// Draw the figures that `kodiak eval --json` printed.
    Quality(quality::Options),
    /// Index a folder and search it, each time in a new process of the program.
    Folder {
        /// The folder; it is only read.
        path: PathBuf,
        /// The program to measure.
        #[arg(long, default_value = "target/release/kodiak")]
        program: PathBuf,
        /// The number of runs of each search.
        #[arg(long, default_value_t = 15)]
        runs: usize,
    },
    /// Reorder the answers to judged queries by what was opened before.
    Frecency(frecency::Options),
    /// Tell agents what is known about prompts: how often it is right, and what it costs.
    Hook(hook::Options),
    /// Remember, list and read among many memories.
    Memory(memory::Options),
    /// Search a mix of notes, memories, session records and transcripts, beside notes alone.
    Mix(mix::Options),
    /// Type queries into the page in a headless browser, at a steady pace.
    Page(page::Options),
    /// Type queries into the picker, at a steady pace and without a terminal.
    Pick(pick::Options),
    /// Recall the documents of a judged set as memories, beside what `eval` finds.
    Recall(recall::Options),
    /// Plant made-up secrets, and count the lines of a folder that would be redacted.
    Redact {
        /// The folder; it is only read.
        path: Option<PathBuf>,
    },
    /// Change notes and search for them at once, each time in a new process of the program.
    Refresh(refresh::Options),
    /// Search generated documents whose word frequencies are those of real text.
    Scale {
        /// The number of documents; may be repeated.
        #[arg(long, default_values_t = [10_000, 100_000])]
        documents: Vec<usize>,
        /// The number of different queries of each kind.
        #[arg(long, default_value_t = 25)]
        queries: usize,
        /// The number of hits of each query.
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Index generated transcripts of a coding agent.
    Transcripts(transcripts::Options),
    /// Serve many clients over HTTP, more than can be served, and many at once over
    /// standard input and output.
    Server(server::Options),
    /// Search and fill an index in PostgreSQL beside one in SQLite, with many clients, and
    /// with a slow network.
    Team(team::Options),
    /// Correct misspelt and right words against the vocabulary of a folder.
    Typos(typos::Options),
    /// Count the chunks of a folder, or of generated lists of links, with and without
    /// link targets, whole addresses and markup.
    Chunks {
        /// The folder; it is only read.
        path: Option<PathBuf>,
    },
    /// Scan vectors, generated ones and those of a model.
    Vectors {
        /// The number of generated vectors.
        #[arg(long, default_value_t = 100_000)]
        count: usize,
        /// Also measure a million, which takes 2 GB of memory.
        #[arg(long)]
        large: bool,
        /// Vectors of a model with 384 dimensions: little-endian f32, nothing else.
        #[arg(long, value_name = "FILE")]
        model_vectors: Option<PathBuf>,
    },
    /// Run one task of `vectors` in its own process.
    #[command(hide = true)]
    VectorsAlone {
        task: vectors::Alone,
        path: PathBuf,
        #[arg(long)]
        count: usize,
    },
    /// Embed texts of about 200 tokens, and compare with onnxruntime if it is installed.
    Embed(embed::Options),
    /// Ask judged queries while a folder of notes is being embedded.
    EmbedOrder(embed_order::Options),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut report = Report::new(arguments.json);
    match arguments.what {
        What::All(options) => return all::measure(&options, arguments.json),
        What::Bear(options) => bear::measure(&options, &mut report)?,
        What::Crash(options) => crash::measure(&options, &mut report)?,
        What::Chunks { path } => chunks::measure(path.as_deref(), &mut report)?,
        What::AllAlone(options) => all::run_alone(&options, &mut report)?,
        What::Quality(options) => return quality::draw(&options),
        What::Folder {
            path,
            program,
            runs,
        } => folder::measure(&path, &program, runs, &mut report)?,
        What::Frecency(options) => frecency::measure(&options, &mut report)?,
        What::Hook(options) => hook::measure(&options, &mut report)?,
        What::Memory(options) => memory::measure(&options, &mut report)?,
        What::Mix(options) => mix::measure(&options, &mut report)?,
        What::Page(options) => page::measure(&options, &mut report)?,
        What::Pick(options) => pick::measure(&options, &mut report)?,
        What::Recall(options) => recall::measure(&options, &mut report)?,
        What::Redact { path } => redact::measure(path.as_deref(), &mut report)?,
        What::Refresh(options) => refresh::measure(&options, &mut report)?,
        What::Scale {
            documents,
            queries,
            limit,
        } => {
            for count in documents {
                scale::measure(count, queries, limit, &mut report)?;
            }
        }
        What::Transcripts(options) => transcripts::measure(&options, &mut report)?,
        What::Server(options) => server::measure(&options, &mut report)?,
        What::Team(options) => team::measure(&options, &mut report)?,
        What::Typos(options) => typos::measure(&options, &mut report)?,
        What::Vectors {
            count,
            large,
            model_vectors,
        } => {
            vectors::measure(count, &mut report)?;
            if large {
                vectors::measure(1_000_000, &mut report)?;
            }
            if let Some(path) = model_vectors {
                vectors::measure_real(&path, &mut report)?;
            }
        }
        What::VectorsAlone { task, path, count } => {
            vectors::alone(task, &path, count, &mut report)?;
        }
        What::Embed(options) => embed::measure(&options, &mut report)?,
        What::EmbedOrder(options) => embed_order::measure(&options, &mut report)?,
    }
    report.finish()
}
