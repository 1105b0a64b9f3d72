//! Kills the program at random moments while it writes, and counts what is left
//! half done: nothing may be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::report::Report;

/// What to kill, and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The program to kill.
    #[arg(long, default_value = "target/release/kodiak")]
    program: PathBuf,
    /// The number of rounds. Each kills a tag's renaming, an edit and a deletion.
    #[arg(long, default_value_t = 200)]
    rounds: usize,
    /// The number of notes that carry the tag.
    #[arg(long, default_value_t = 100)]
    notes: usize,
    /// The seed of the random moments.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// What was seen right after the kills.
#[derive(Debug, Default)]
struct Seen {
    /// Renamings of which no file was written.
    none: usize,
    /// Renamings of which some files were written.
    some: usize,
    /// Renamings of which all files were written.
    all: usize,
    /// Edits and deletions that had not taken place.
    before: usize,
    /// Those that had.
    after: usize,
}

struct Place {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Place {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .env("KODIAK_INDEX", self.folder.path().join("index.db"))
            .env("KODIAK_CONFIG", self.folder.path().join("config.toml"))
            .env("KODIAK_MODEL", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs the program to its end. Finding nothing left to do is fine.
    fn finish(&self, arguments: &[&str]) -> Result<Duration> {
        let started = Instant::now();
        let status = self.command(arguments).status()?;
        ensure!(
            matches!(status.code(), Some(0 | 1)),
            "{arguments:?} ended with {status}"
        );
        Ok(started.elapsed())
    }

    fn kill(&self, arguments: &[&str], after: Duration) -> Result<()> {
        let mut child = self.command(arguments).spawn()?;
        std::thread::sleep(after);
        child.kill()?;
        child.wait()?;
        Ok(())
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.notes().join(name)).ok()
    }
}

fn text(note: usize, round: usize) -> String {
    let filler = "words and more words\r\n".repeat(300 * (note % 5));
    format!("---\r\ntags: [t{round}, keep]\r\n---\r\nnote{note} #t{round}/sub\r\n{filler}end")
}

/// Kills the program in every round. Fails at the first file that is neither old
/// nor new.
pub(crate) fn measure(options: &Options, report: &mut Report) -> Result<()> {
    let program = options.program.canonicalize();
    let program = program.with_context(|| format!("{} is missing", options.program.display()))?;
    let place = Place {
        folder: tempfile::tempdir()?,
        program,
    };
    fs::create_dir(place.notes())?;
    for note in 0..options.notes {
        fs::write(place.notes().join(format!("{note}.md")), text(note, 0))?;
    }
    fs::write(place.notes().join("page.md"), "version0\n")?;
    let notes = place.notes();
    let notes = notes.to_str().context("the temporary folder has no name")?;
    place.finish(&["add", notes, "--writable"])?;
    let renaming = place.finish(&["tag", "rename", "t0", "t1"])?;
    let editing = place.finish(&["page", "edit", "notes/page.md", "--text", "version0"])?;
    let mut random = fastrand::Rng::with_seed(options.seed);
    let mut moment = |whole: Duration| whole.mul_f64(random.f64() * 1.1);
    let mut seen = Seen::default();
    for round in 1..=options.rounds {
        kill_renaming(&place, options.notes, round, moment(renaming), &mut seen)?;
        kill_page(&place, round, [moment(editing), moment(editing)], &mut seen)?;
    }
    place.finish(&["index"])?;
    let checked = place.command(&["doctor"]).status()?;
    ensure!(checked.success(), "the index is damaged");
    let rounds = format!("of {} rounds", options.rounds);
    for (name, count) in [
        ("renamings killed before the first file", seen.none),
        ("renamings killed between files", seen.some),
        ("renamings killed after the last file", seen.all),
    ] {
        report.add(name, count as f64, "", rounds.clone());
    }
    report.add(
        "edits and deletions killed before",
        seen.before as f64,
        "",
        "",
    );
    report.add(
        "edits and deletions killed after",
        seen.after as f64,
        "",
        "",
    );
    report.add(
        "files half written or lost",
        0.0,
        "",
        "every file was compared",
    );
    report.add(
        "litter",
        litter(&place.notes())? as f64,
        "files",
        "hidden, never listed",
    );
    Ok(())
}

fn kill_renaming(
    place: &Place,
    notes: usize,
    round: usize,
    after: Duration,
    seen: &mut Seen,
) -> Result<()> {
    let (from, to) = (format!("t{round}"), format!("t{}", round + 1));
    let rename = ["tag", "rename", &from, &to];
    place.kill(&rename, after)?;
    let mut written = 0;
    for note in 0..notes {
        let now = place.read(&format!("{note}.md"));
        let is = |round| now.as_ref() == Some(&text(note, round));
        ensure!(
            is(round) || is(round + 1),
            "round {round}: {note}.md is {now:?}"
        );
        written += usize::from(is(round + 1));
    }
    match written {
        0 => seen.none += 1,
        _ if written == notes => seen.all += 1,
        _ => seen.some += 1,
    }
    place.finish(&rename)?;
    for note in 0..notes {
        let now = place.read(&format!("{note}.md"));
        ensure!(
            now == Some(text(note, round + 1)),
            "round {round}: {note}.md was not finished"
        );
    }
    Ok(())
}

fn kill_page(place: &Place, round: usize, after: [Duration; 2], seen: &mut Seen) -> Result<()> {
    let (old, new) = (format!("version{}\n", round - 1), format!("version{round}"));
    let written = format!("{new}\n");
    let edit = ["page", "edit", "notes/page.md", "--text", &new];
    place.kill(&edit, after[0])?;
    let now = place.read("page.md");
    ensure!(
        now.as_ref() == Some(&old) || now.as_ref() == Some(&written),
        "round {round}: the page is {now:?}"
    );
    let done = now.as_ref() == Some(&written);
    place.finish(&edit)?;
    place.kill(&["page", "delete", "notes/page.md"], after[1])?;
    let (there, trashed) = (place.read("page.md"), place.read(".trash/page.md"));
    ensure!(
        there.is_some() != trashed.is_some(),
        "round {round}: the page is {there:?}, in the trash {trashed:?}"
    );
    let deleted = trashed.is_some();
    ensure!(
        there.or(trashed) == Some(written),
        "round {round}: the page has changed"
    );
    if deleted {
        place.finish(&["page", "restore", "page.md"])?;
    }
    for happened in [done, deleted] {
        seen.after += usize::from(happened);
        seen.before += usize::from(!happened);
    }
    Ok(())
}

/// Counts the temporary files that killed processes left behind.
fn litter(folder: &Path) -> Result<usize> {
    let names =
        fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    Ok(names.filter(|name| name.starts_with(".kodiak-")).count())
}
