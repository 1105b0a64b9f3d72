//! Measures the real program on a folder: first index, no change, cold searches.

use std::path::Path;

use anyhow::{Context, Result};

use crate::clock::run;
use crate::report::{Report, median};

/// Typical searches. The rare word comes from the folder's own file names, so that
/// any folder can be used.
const SEARCHES: [(&str, &str); 6] = [
    ("six natural words", "how to make a list with"),
    ("common word", "the"),
    ("phrase", "\"this is\""),
    ("prefix", "inter*"),
    ("misspelt word", "documnetation"),
    ("two Chinese characters", "数据"),
];

/// Measures `program` on `path`; its index and settings go to a temporary folder.
pub(crate) fn measure(path: &Path, program: &Path, runs: usize, report: &mut Report) -> Result<()> {
    let place = tempfile::tempdir()?;
    let text = |name: &str| place.path().join(name).to_string_lossy().into_owned();
    let (index, config) = (text("index.db"), text("config.toml"));
    let folder = path
        .to_str()
        .with_context(|| format!("{} is no UTF-8 path", path.display()))?;
    let common = ["--index", &index, "--config", &config, "--quiet"];
    let with = |more: &[&'static str]| -> Vec<String> {
        common
            .iter()
            .chain(more)
            .map(|&text| text.to_owned())
            .collect()
    };
    let call = |arguments: &[String], watch_memory| {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(program, &arguments, watch_memory)
    };

    let mut add = with(&["add", "--name", "bench", "--yes"]);
    add.push(folder.to_owned());
    let first = call(&add, true)?;
    report.add(
        "first index",
        first.wall.as_secs_f64(),
        "s",
        "wall, new process",
    );
    report.add("first index: peak memory", first.peak_megabytes, "MB", "");
    let size = std::fs::metadata(&index)?.len();
    report.add("index size", size as f64 / 1e6, "MB", "");

    let sync = with(&["index"]);
    let mut times = Vec::new();
    for _ in 0..runs.min(5) {
        times.push(call(&sync, false)?.wall.as_secs_f64());
    }
    report.add(
        "sync with nothing changed",
        median(times),
        "s",
        "wall, new process, median",
    );

    let rare = rare_word(path);
    let searches = SEARCHES
        .iter()
        .map(|&(name, query)| (name, query.to_owned()));
    for (name, query) in std::iter::once(("rare word", rare)).chain(searches) {
        let mut search = with(&["search"]);
        search.push(query.clone());
        let mut times = Vec::new();
        for _ in 0..runs {
            times.push(call(&search, false)?.wall.as_secs_f64() * 1e3);
        }
        report.add(
            format!("search: {name}"),
            median(times),
            "ms",
            format!("wall, new process, median of {runs}: {query}"),
        );
    }
    Ok(())
}

/// Returns the longest word of a file name, which is seldom common.
fn rare_word(path: &Path) -> String {
    let mut best = String::from("sourdough");
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop().filter(|_| best.len() < 14) {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            let longest = name
                .split(|character: char| !character.is_alphabetic())
                .max_by_key(|word| word.len());
            if let Some(word) = longest.filter(|word| word.len() > best.len()) {
                best = word.to_owned();
            }
        }
    }
    best
}
