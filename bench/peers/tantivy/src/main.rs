//! Tantivy where `bench/compare` puts Kodiak: on a folder of notes, and on
//! generated documents inside one process.
//!
//! Documents, queries, clock and report are the files that `bench` itself uses,
//! so that both sides see the same words and are measured alike.

#[expect(dead_code, reason = "only the CPU clock is needed here")]
#[path = "../../../src/clock.rs"]
mod clock;
#[expect(dead_code, reason = "only what the generator needs")]
#[path = "../../../src/random.rs"]
mod random;
#[path = "../../../src/report.rs"]
mod report;
#[expect(dead_code, reason = "notes are for Kodiak alone")]
#[path = "../../../src/zipf.rs"]
mod zipf;

mod documents;
mod notes;

use anyhow::{Result, bail};

/// The same as Kodiak's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["index", folder, index] => notes::index(folder.as_ref(), index.as_ref()),
        ["search", index, query] => notes::search(index.as_ref(), query),
        ["scale", count, queries] => documents::measure(count.parse()?, queries.parse()?),
        _ => bail!("index FOLDER INDEX, search INDEX QUERY, or scale DOCUMENTS QUERIES"),
    }
}
