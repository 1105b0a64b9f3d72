//! Measures whether a search finds what changed a moment before, through the real
//! program, and what looking for changes costs where nothing changed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use fastrand::Rng;

use crate::report::{Report, median};
use crate::zipf::Generator;

/// The number of notes in one folder.
const PER_FOLDER: usize = 50;
/// The number of folders in one folder.
const FOLDERS: usize = 20;
const SEED: u64 = 11;

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
        Ok(Searched {
            found: hits.len(),
            complete: answer["complete"].as_bool().context("no complete")?,
            milliseconds,
        })
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
    let (mut off, mut on, mut complete) = (Vec::new(), Vec::new(), 0);
    let mut generator = Generator::new(SEED);
    for _ in 0..options.runs {
        let query = generator.words(2);
        // In turns, so that both meet the same machine.
        off.push(place.search(&query, &["--no-refresh"])?.milliseconds);
        let searched = place.search(&query, &[])?;
        on.push(searched.milliseconds);
        complete += usize::from(searched.complete);
    }
    let detail = format!("wall, new process, median of {}", options.runs);
    let (off, on) = (median(off), median(on));
    report.add("cold search, not refreshed", off, "ms", detail.as_str());
    let detail = format!("{detail}; {complete} complete");
    report.add("cold search, nothing changed", on, "ms", detail);
    report.add("cost of looking for changes", on - off, "ms", "");
    Ok(())
}
