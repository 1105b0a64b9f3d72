//! Measures the real program, each time in a new process: the first index, a sync
//! without changes, and searches from a cold start.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use kodiak::model::InstalledModel;

use super::findings::Column;
use super::queries::Kind;
use crate::clock::run_command;
use crate::report::median;

/// The number of syncs without changes.
const SYNCS: usize = 5;
/// The number of searches of each kind.
const SEARCHES: usize = 15;
/// The value of `--model` for lexical search only.
const NO_MODEL: &str = "none";

/// The program, with a separate home folder.
pub(crate) struct Program {
    path: PathBuf,
    home: tempfile::TempDir,
}

impl Program {
    /// Sets up the program at `path` without an index.
    pub(crate) fn new(path: &Path) -> Result<Self> {
        let home = tempfile::tempdir()?;
        // Every vector reaches the minimum, so that a search fuses the same number
        // of candidates at every size.
        let settings = "[search]\nminimum_similarity = -1.0\n";
        std::fs::write(home.path().join("config.toml"), settings)?;
        Ok(Self {
            path: path.to_path_buf(),
            home,
        })
    }

    /// Returns the path of its index.
    pub(crate) fn index(&self) -> PathBuf {
        self.home.path().join("index.db")
    }

    /// Returns the folder of its models.
    pub(crate) fn models(&self) -> PathBuf {
        self.home.path().join("models")
    }

    fn command(&self, model: &str, verb: &str) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.path);
        command
            .env_clear()
            .env("HOME", home)
            .env("KODIAK_CONFIG", home.join("config.toml"))
            .env("KODIAK_INDEX", self.index())
            .env("KODIAK_MODELS", self.models())
            .env("KODIAK_MODEL", model)
            .env("KODIAK_OFFLINE", "1")
            .current_dir(home)
            .args([verb, "--quiet"]);
        command
    }

    /// Indexes a folder for the first time.
    pub(crate) fn add(&self, folder: &Path, column: &mut Column) -> Result<()> {
        let folder = folder
            .canonicalize()
            .with_context(|| format!("could not find {}", folder.display()))?;
        let mut add = self.command(NO_MODEL, "add");
        let first = run_command(add.args(["--name", "bench", "--yes"]).arg(folder), true)?;
        let seconds = first.wall.as_secs_f64();
        column.add("first index", seconds, "s", "wall, new process, all cores");
        if let Some(cpu) = first.cpu {
            let detail = "CPU of the process";
            column.add("first index, CPU", cpu.as_secs_f64(), "s", detail);
        }
        if first.peak_megabytes > 0.0 {
            let peak = first.peak_megabytes;
            column.add("first index, peak memory", peak, "MB", "of the process");
        }
        Ok(())
    }

    /// Measures syncs without changes.
    pub(crate) fn sync(&self, column: &mut Column) -> Result<()> {
        let mut times = Vec::new();
        for _ in 0..SYNCS {
            let ran = run_command(&mut self.command(NO_MODEL, "index"), false)?;
            times.push(ran.wall.as_secs_f64() * 1e3);
        }
        let detail = format!("wall, new process, median of {SYNCS}");
        column.add("no-op sync", median(times), "ms", detail);
        Ok(())
    }

    /// Measures lexical searches.
    pub(crate) fn search_words(&self, texts: &[String], column: &mut Column) -> Result<()> {
        for kind in Kind::BY_WORD {
            self.search(kind, NO_MODEL, texts, column)?;
        }
        Ok(())
    }

    /// Measures how much longer a search takes that looks for changes, where there
    /// are none.
    pub(crate) fn refresh(&self, texts: &[String], column: &mut Column) -> Result<()> {
        let what = "looking for changes";
        let queries = Kind::RareWord.queries(texts, SEARCHES);
        if queries.is_empty() {
            column.leave_out(what, "the texts have no such words");
            return Ok(());
        }
        let (mut off, mut on) = (Vec::new(), Vec::new());
        for query in &queries {
            // In turns, so that both meet the same machine.
            for (more, times) in [(&["--no-refresh"][..], &mut off), (&[], &mut on)] {
                let mut search = self.command(NO_MODEL, "search");
                let ran = run_command(search.args(more).args(["--", query]), false)?;
                times.push(ran.wall.as_secs_f64() * 1e3);
            }
        }
        let (off, on) = (median(off), median(on));
        let detail = format!(
            "wall, a cold search of {on:.1} ms beside {off:.1} without, medians of {}",
            queries.len()
        );
        column.add(what, (on - off).max(0.0), "ms", detail);
        Ok(())
    }

    /// Measures hybrid searches with a model whose vectors are in the index.
    pub(crate) fn search_meanings(
        &self,
        model: &InstalledModel,
        texts: &[String],
        column: &mut Column,
    ) -> Result<()> {
        let name = &model.identity.name;
        let Some(query) = Kind::Hybrid.queries(texts, 1).pop() else {
            return self.search(Kind::Hybrid, name, texts, column);
        };
        let mut search = self.command(name, "search");
        search.args(["--mode", "hybrid", "--json", "--", &query]);
        let output = search.stdin(Stdio::null()).output()?;
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout)
            .context("could not understand the program's answer")?;
        ensure!(
            answer["retrievers"]["semantic"].is_string(),
            "meanings were not compared: {}",
            answer["notices"]
        );
        self.search(Kind::Hybrid, name, texts, column)
    }

    fn search(&self, kind: Kind, model: &str, texts: &[String], column: &mut Column) -> Result<()> {
        let what = format!("cold search: {}", kind.name());
        let queries = kind.queries(texts, SEARCHES);
        let Some(example) = queries.first() else {
            column.leave_out(what, "the texts have no such words");
            return Ok(());
        };
        let mode = if kind == Kind::Hybrid {
            "hybrid"
        } else {
            "auto"
        };
        let mut times = Vec::new();
        for query in &queries {
            let mut search = self.command(model, "search");
            if kind.as_you_type() {
                search.arg("--as-you-type");
            }
            let ran = run_command(search.args(["--mode", mode, "--", query]), false)?;
            times.push(ran.wall.as_secs_f64() * 1e3);
        }
        let detail = format!(
            "wall, new process, median of {}, such as {example}",
            queries.len()
        );
        column.add(what, median(times), "ms", detail);
        Ok(())
    }
}
