//! Measures Kodiak: what the README and the docs claim about speed, this prints.
//!
//! Machines are noisy: CPU time is measured where one process does the work,
//! and the median of several runs everywhere. Nothing here is a test.

mod clock;
mod folder;
mod report;
mod scale;
mod typos;
mod zipf;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use report::Report;

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
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let mut report = Report::default();
    match arguments.what {
        What::Folder {
            path,
            program,
            runs,
        } => folder::measure(&path, &program, runs, &mut report)?,
        What::Scale { documents, queries } => {
            for count in documents {
                scale::measure(count, queries, &mut report)?;
            }
        }
        What::Typos { path, pairs, most } => typos::measure(&path, &pairs, most, &mut report)?,
    }
    report.print(arguments.json)
}
