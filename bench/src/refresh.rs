//! Measures whether a search finds what changed a moment before, through the real
//! program, and what looking for changes costs where nothing changed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;

use crate::clock::children_cpu;
use crate::report::{Report, median};
use crate::zipf::Generator;

/// The number of notes in one folder.
const PER_FOLDER: usize = 50;
/// The number of folders in one folder.
const FOLDERS: usize = 20;
const SEED: u64 = 11;
/// The number of searches after which an edit in place counts as lost.
const MOST_SEARCHES: usize = 1_000;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The number of notes.
    #[arg(long, default_value_t = 10_000)]
    documents: usize,
    /// The number of changes, and of searches where nothing changed.
    #[arg(long, default_value_t = 100)]
    runs: usize,
    /// All notes in one folder instead of small ones.
    #[arg(long)]
    flat: bool,
    /// The program to measure.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
}

/// A kind of change.
#[derive(Clone, Copy)]
enum Change {
    Written,
    Edited,
    Deleted,
}

impl Change {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Written, "written"),
        (Self::Edited, "edited in place"),
        (Self::Deleted, "deleted"),
    ];
}

/// The notes and the program that searches them.
struct Place {
    program: PathBuf,
    home: tempfile::TempDir,
    notes: Vec<PathBuf>,
}

/// The parts of an answer that are measured.
struct Searched {
    found: usize,
    /// The paths of the hits.
    paths: Vec<String>,
    complete: bool,
    milliseconds: f64,
}

impl Place {
    fn new(options: &Options) -> Result<Self> {
        let program = &options.program;
        let program = program
            .canonicalize()
            .with_context(|| format!("could not find {}", program.display()))?;
        let home = tempfile::tempdir()?;
        let mut generator = Generator::new(SEED);
        let mut notes = Vec::new();
        for number in 0..options.documents {
            let shelf = number / PER_FOLDER;
            let folder = if options.flat {
                "notes".to_owned()
            } else {
                format!("notes/{}/{}", shelf / FOLDERS, shelf % FOLDERS)
            };
            let folder = home.path().join(folder);
            std::fs::create_dir_all(&folder)?;
            let path = folder.join(format!("{number}.md"));
            let (title, body) = generator.note(number);
            std::fs::write(&path, format!("# {title}\n\n{body}\n"))?;
            notes.push(path);
        }
        let place = Self {
            program,
            home,
            notes,
        };
        let notes = place.home.path().join("notes");
        let added = place.command("add").arg(notes).arg("--yes").output()?;
        ensure!(added.status.success(), "could not index: {added:?}");
        Ok(place)
    }

    fn command(&self, verb: &str) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.program);
        command
            .env_clear()
            .env("HOME", home)
            .env("KODIAK_CONFIG", home.join("config.toml"))
            .env("KODIAK_INDEX", home.join("index.db"))
            .env("KODIAK_MODEL", "none")
            .env("KODIAK_OFFLINE", "1")
            .stdin(Stdio::null())
            .current_dir(home)
            .args([verb, "--quiet"]);
        command
    }

    fn search(&self, query: &str, more: &[&str]) -> Result<Searched> {
        let started = Instant::now();
        let mut search = self.command("search");
        let output = search
            .args(["--json", "--exact", query])
            .args(more)
            .output()?;
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
            .context("could not understand the program's answer")?;
        let hits = answer["hits"].as_array().context("no hits")?;
        let paths = hits.iter().filter_map(|hit| hit["file"].as_str());
        Ok(Searched {
            found: hits.len(),
            paths: paths.map(str::to_owned).collect(),
            complete: answer["complete"].as_bool().context("no complete")?,
            milliseconds,
        })
    }

    /// Edits a note in place so that it is the best for a word that other notes have
    /// too. Returns how many searches for it did not find that.
    fn searches_until_found(&self, word: &str, random: &mut Rng) -> Result<usize> {
        let path = &self.notes[random.usize(..self.notes.len())];
        // Not a copy of another one.
        let number = random.usize(..usize::MAX);
        std::fs::write(path, format!("# {word}\n\n{word} {number}\n"))?;
        let path = path.to_string_lossy();
        for missed in 0..MOST_SEARCHES {
            let searched = self.search(word, &["--limit", "200"])?;
            if searched.paths.iter().any(|found| *found == path) {
                return Ok(missed);
            }
            ensure!(!searched.complete, "complete and wrong");
        }
        anyhow::bail!("{path} was not found");
    }

    /// Makes a change. Returns the word to search for and the right number of
    /// hits.
    fn make(&mut self, change: Change, run: usize, random: &mut Rng) -> Result<(String, usize)> {
        let word = format!("zyxword{run}");
        let at = random.usize(..self.notes.len());
        let text = format!("# Note\n\n{word}\n");
        match change {
            Change::Written => {
                let folder = self.notes[at].parent().unwrap_or(Path::new(""));
                let path = folder.join(format!("new{run}.md"));
                std::fs::write(&path, text)?;
                self.notes.push(path);
                Ok((word, 1))
            }
            Change::Edited => {
                std::fs::write(&self.notes[at], text)?;
                Ok((word, 1))
            }
            Change::Deleted => {
                // A note that can be found until it is deleted.
                std::fs::write(&self.notes[at], text)?;
                let indexed = self.command("index").output()?;
                ensure!(indexed.status.success(), "could not index: {indexed:?}");
                std::fs::remove_file(self.notes.swap_remove(at))?;
                Ok((word, 0))
            }
        }
    }
}

/// Measures the program on generated notes.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let mut place = Place::new(options)?;
    let mut random = Rng::with_seed(SEED);
    let count = options.documents;
    for (change, name) in Change::ALL {
        let (mut right, mut complete, mut wrong) = (0, 0, 0);
        let mut times = Vec::new();
        for _ in 0..options.runs {
            let number = random.usize(..usize::MAX);
            let (word, expected) = place.make(change, number, &mut random)?;
            let searched = place.search(&word, &[])?;
            let is_right = searched.found == expected;
            right += usize::from(is_right);
            complete += usize::from(searched.complete);
            wrong += usize::from(searched.complete && !is_right);
            times.push(searched.milliseconds);
        }
        let detail = format!(
            "of {} right; {complete} complete, {wrong} of them wrong; median {:.1} ms",
            options.runs,
            median(times)
        );
        report.add(format!("{name}, {count} notes"), right as f64, "", detail);
    }

    // Every version can be trusted from here on.
    place.command("index").output()?;
    measure_known_words(&place, options, &mut random, report)?;
    place.command("index").output()?;
    measure_cost(&place, options, report)
}

/// Measures how many searches it takes to find an edit in place by a word that other
/// notes have too.
fn measure_known_words(
    place: &Place,
    options: &Options,
    random: &mut Rng,
    report: &mut Report,
) -> Result<()> {
    let mut generator = Generator::new(SEED);
    let mut missed = Vec::new();
    for _ in 0..options.runs {
        let word = generator.words(1);
        missed.push(place.searches_until_found(&word, random)?);
    }
    let at_once = missed.iter().filter(|missed| **missed == 0).count();
    let most = missed.iter().max().copied().unwrap_or_default();
    let detail = format!("of {} at once; the last after {most} others", options.runs);
    let name = "edited in place, found by a word of other notes";
    report.add(name, at_once as f64, "", detail);
    Ok(())
}

/// Measures what looking for changes costs where nothing changed.
fn measure_cost(place: &Place, options: &Options, report: &mut Report) -> Result<()> {
    let (mut off, mut on, mut complete) = (Vec::new(), Vec::new(), 0);
    let (mut off_cpu, mut on_cpu) = (0.0, 0.0);
    let mut generator = Generator::new(SEED);
    for _ in 0..options.runs {
        let query = generator.words(2);
        // In turns, so that both meet the same machine.
        let (searched, used) = with_cpu(|| place.search(&query, &["--no-refresh"]));
        off.push(searched?.milliseconds);
        off_cpu += used;
        let (searched, used) = with_cpu(|| place.search(&query, &[]));
        let searched = searched?;
        on.push(searched.milliseconds);
        on_cpu += used;
        complete += usize::from(searched.complete);
    }
    let runs = options.runs as f64;
    let detail = format!("wall, new process, median of {}", options.runs);
    let (off, on) = (median(off), median(on));
    report.add("cold search, not refreshed", off, "ms", detail.as_str());
    let detail = format!("{detail}; {complete} complete");
    report.add("cold search, nothing changed", on, "ms", detail);
    report.add("cost of looking for changes", on - off, "ms", "");
    let detail = format!("mean of {}", options.runs);
    let (off, on) = (off_cpu / runs, on_cpu / runs);
    report.add("CPU, not refreshed", off, "ms", detail.as_str());
    report.add("CPU, nothing changed", on, "ms", detail);
    Ok(())
}

/// Returns the milliseconds of CPU time of the programs that `run` started. They are
/// counted in hundredths of a second, so only the sum of many is exact.
fn with_cpu<T>(run: impl FnOnce() -> T) -> (T, f64) {
    let before = children_cpu();
    let result = run();
    let used = children_cpu().zip(before);
    let used = used.map_or(0.0, |(after, before)| {
        after.saturating_sub(before).as_secs_f64() * 1e3
    });
    (result, used)
}
