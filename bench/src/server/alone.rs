//! One server over standard input and output: how soon it answers, and how soon it
//! is gone with its parent.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::stdio::Served;
use super::{Broken, Place};
use crate::report::{Report, median};

/// How often the first call is measured.
const RUNS: usize = 15;
/// The most that the first call may take, in searches in a new process.
const MOST_RATIO: f64 = 2.0;
/// How often a parent is killed.
const PARENTS: usize = 5;
/// How soon a server has to be gone with its parent.
const GONE: Duration = Duration::from_secs(5);

/// Measures the first call of a new server beside a search in a new process, in
/// turns.
pub(super) fn first_call(
    place: &Place,
    notes: usize,
    report: &mut Report,
    broken: &mut Broken,
) -> Result<()> {
    let query = "how does this one begin";
    let model = &place.model;
    let semantic = model != "none";
    let (mut calls, mut searches) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut served = Served::start(&mut place.command(&["mcp"]))?;
        served.begin()?;
        let started = Instant::now();
        let answer = served.search(query)?;
        calls.push(started.elapsed().as_secs_f64() * 1e3);
        drop(served);
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        ensure!(answer["isError"] != true, "the call failed: {text}");
        ensure!(
            !(semantic && text.contains("lexical only")),
            "the model {model} was not used: {text}"
        );
        let mut search = place.command(&["search", query, "--json"]);
        let started = Instant::now();
        let found = search.stdout(Stdio::piped()).output()?;
        searches.push(started.elapsed().as_secs_f64() * 1e3);
        let found: Value = serde_json::from_slice(&found.stdout).context("not an answer")?;
        ensure!(
            found["retrievers"]["semantic"].is_string() == semantic,
            "the model {model} was not used as it should: {}",
            found["retrievers"]
        );
    }
    let (call, search) = (median(calls), median(searches));
    let ratio = call / search;
    let what = |row: &str| format!("{notes} notes: {row}");
    report.add(
        what("a search in a new process"),
        search,
        "ms",
        format!("wall, median, model {model}"),
    );
    report.add(
        what("first call after initialize"),
        call,
        "ms",
        format!("{ratio:.2} times the search in a new process"),
    );
    broken.unless(
        ratio <= MOST_RATIO,
        format!("the first call takes at most {MOST_RATIO} times a search in a new process"),
    );
    Ok(())
}

/// Kills the parent of a server while this process holds the pipe that the server
/// reads from, and measures how soon the server is gone.
pub(super) fn orphan(place: &Place, report: &mut Report, broken: &mut Broken) -> Result<()> {
    let mut longest = Duration::ZERO;
    for _ in 0..PARENTS {
        let program = place.command(&[]);
        // A shell gives what runs in the background no input, unless it is told to.
        let mut shell = Command::new("/bin/sh");
        shell
            .args(["-c", "exec 3<&0; \"$0\" mcp <&3 & wait"])
            .arg(program.get_program())
            .stderr(Stdio::null());
        for (name, value) in program.get_envs() {
            shell.env(name, value.unwrap_or_default());
        }
        let mut served = Served::start(&mut shell)?;
        served.begin()?;
        served.search("parent")?;
        let started = Instant::now();
        served.kill()?;
        // The output ends when the last process does that has it.
        let mut rest = Vec::new();
        served.output().read_to_end(&mut rest)?;
        longest = longest.max(started.elapsed());
    }
    report.add(
        "gone after parent's death",
        longest.as_secs_f64(),
        "s",
        format!("the longest of {PARENTS}, the pipe held by another process"),
    );
    broken.unless(
        longest <= GONE,
        format!("a server is gone {} s after its parent", GONE.as_secs()),
    );
    Ok(())
}
