//! Measures Kodiak: what the README and the docs claim about speed, this prints.
//!
//! Machines are noisy: CPU time is measured where one process does the work,
//! and the median of several runs everywhere. Nothing here is a test.

mod all;
mod clock;
mod clusters;
mod embed;
mod folder;
mod picture;
mod quality;
mod report;
mod scale;
mod typos;
mod vectors;
mod zipf;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use report::Report;

/// The same as the program's, so that what is measured is what people get.
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
    /// Everything at several sizes, and how it grows.
    All(all::Options),
    /// What `all` measures in a process of its own.
    #[command(hide = true)]
    AllAlone(all::AloneOptions),
    /// Draw what `kodiak eval --json` found.
    Quality(quality::Options),
    /// Index a folder and search it, each time in a new process of the program.
    Folder {
        /// The folder; it is only read.
        path: PathBuf,
        /// The program to measure.
        #[arg(long, default_value = "target/release/kodiak")]
        program: PathBuf,
        /// How often each search is run.
        #[arg(long, default_value_t = 15)]
        runs: usize,
    },
    /// Search generated documents whose words are spread as in real text.
    Scale {
        /// How many documents; may be repeated.
        #[arg(long, default_values_t = [10_000, 100_000])]
        documents: Vec<usize>,
        /// How many different queries of each kind.
        #[arg(long, default_value_t = 25)]
        queries: usize,
        /// How many hits each query asks for.
        #[arg(long, default_value_t = 10)]
        limit: usize,
    },
    /// Correct misspelt words against the vocabulary of a folder.
    Typos {
        /// The folder whose words are known; it is only read.
        path: PathBuf,
        /// Lines of a misspelling, a tab and the right word.
        pairs: PathBuf,
        /// How many pairs to try, evenly spread over those that can be used.
        #[arg(long, default_value_t = 1_000)]
        most: usize,
    },
    /// Scan vectors, generated ones and those of a model.
    Vectors {
        /// How many generated vectors.
        #[arg(long, default_value_t = 100_000)]
        count: usize,
        /// Also a million, which takes 2 GB of memory.
        #[arg(long)]
        large: bool,
        /// Vectors of a model with 384 dimensions: little-endian f32, nothing else.
        #[arg(long, value_name = "FILE")]
        model_vectors: Option<PathBuf>,
    },
    /// What `vectors` measures in a process of its own.
    #[command(hide = true)]
    VectorsAlone {
        task: vectors::Alone,
        path: PathBuf,
        #[arg(long)]
        count: usize,
    },
    /// Embed texts of about 200 tokens, beside onnxruntime where there is one.
    Embed(embed::Options),
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut report = Report::default();
    match arguments.what {
        What::All(options) => return all::measure(&options, arguments.json),
        What::AllAlone(options) => all::run_alone(&options, &mut report)?,
        What::Quality(options) => return quality::draw(&options),
        What::Folder {
            path,
            program,
            runs,
        } => folder::measure(&path, &program, runs, &mut report)?,
        What::Scale {
            documents,
            queries,
            limit,
        } => {
            for count in documents {
                scale::measure(count, queries, limit, &mut report)?;
            }
        }
        What::Typos { path, pairs, most } => typos::measure(&path, &pairs, most, &mut report)?,
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
    }
    report.print(arguments.json)
}
