//! Measures remembering, listing and reading among many memories, in one process and
//! without a model.

use std::path::Path;

use anyhow::{Result, ensure};
use kodiak::Engine;
use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak_memory::{Memories, Memory, TimelineRequest};
use kodiak_memory::{MemoryFolder, MemoryOptions};

use crate::clock::process_cpu_ms;
use crate::report::{Report, median};
use crate::zipf::Generator;

/// The number of words of a memory.
const WORDS: usize = 30;
/// The number of entries that are listed and read at once.
const AT_ONCE: usize = 50;
/// The beginning of 2026, and the seconds between two memories.
const START: i64 = 1_767_225_600;
const STEP: i64 = 600;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of memories.
    #[arg(long, default_value_t = 10_000)]
    memories: usize,
    /// The number of runs of each kind.
    #[arg(long, default_value_t = 50)]
    runs: usize,
}

/// Writes many memories, indexes them, and measures what is done with them.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let place = tempfile::tempdir()?;
    let root = place.path().join("memory");
    std::fs::create_dir(&root)?;
    let mut generator = Generator::new(5);
    for number in 0..options.memories {
        write(&root, number, &generator.words(WORDS))?;
    }
    let folder = MemoryFolder::new("memory", &root, MemoryOptions::default())?;
    let engine = Engine::builder(place.path().join("index.db"))
        .source(folder)
        .open()?;
    let (guard, job) = (Guard::local(), Job::default());
    let (synced, used) = process_cpu_ms(|| engine.sync(&guard, ToSync::All, &job));
    synced?;
    let memories = options.memories;
    let per_memory = used / memories as f64 * 1e3;
    report.add(
        format!("{memories} memories: index"),
        per_memory,
        "us",
        "CPU per memory",
    );

    let remember = |text: &str, known: bool| -> Result<f64> {
        let memory = Memory {
            source: "memory".to_owned(),
            text: text.to_owned(),
            ..Memory::default()
        };
        let (remembered, used) =
            process_cpu_ms(|| Memories::new(&engine).remember(&guard, &memory, &job));
        ensure!(remembered?.deduplicated == known, "{text}");
        Ok(used)
    };
    let texts: Vec<String> = (0..options.runs).map(|_| generator.words(WORDS)).collect();
    for (known, what) in [(false, "remember"), (true, "remember what is known")] {
        let times = texts.iter().map(|text| remember(text, known));
        let times = times.collect::<Result<Vec<f64>>>()?;
        let what = format!("{memories} memories: {what}");
        report.add(what, median(times), "ms", "CPU, duplicate check included");
    }

    let request = TimelineRequest {
        limit: AT_ONCE,
        ..TimelineRequest::default()
    };
    let mut times = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..options.runs {
        let (timeline, used) = process_cpu_ms(|| Memories::new(&engine).timeline(&guard, &request));
        let entries = timeline?.entries.into_iter();
        ids = entries.map(|entry| entry.card.id).collect();
        times.push(used);
    }
    let what = format!("{memories} memories: timeline of {AT_ONCE}");
    report.add(what, median(times), "ms", "CPU");
    let mut times = Vec::new();
    for _ in 0..options.runs {
        let (found, used) = process_cpu_ms(|| Memories::new(&engine).observations(&guard, &ids));
        ensure!(found?.observations.len() == ids.len(), "not all were found");
        times.push(used);
    }
    let what = format!("{memories} memories: get {AT_ONCE}");
    report.add(what, median(times), "ms", "CPU");
    Ok(())
}

fn write(root: &Path, number: usize, text: &str) -> Result<()> {
    let at = kodiak::date::format(START + number as i64 * STEP);
    let kind = if number.is_multiple_of(3) {
        "decision"
    } else {
        "memory"
    };
    let project = number % 7;
    let front = format!(
        "---\nid: memory-{number}\nkind: {kind}\ntags: [bench, tag{project}]\n\
         project: /src/{project}\ncreated_at: {at}\n---\n"
    );
    let path = root.join(format!("memory-{number}.md"));
    std::fs::write(path, format!("{front}{text}\n"))?;
    Ok(())
}
