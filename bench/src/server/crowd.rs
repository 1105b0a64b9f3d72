//! Servers over standard input and output: the first call of one, what idle ones
//! take, and many that are started at once on an index that is not there.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{Options, Place};
use crate::report::{Report, median};

/// How often the first call is measured.
const RUNS: usize = 15;
/// The number of idle servers.
const IDLE: usize = 10;
/// The number of notes of a cold index.
const COLD_NOTES: usize = 200;
/// The number of memories that are written in one round.
const MEMORIES: usize = 5;
/// How long a server may say that nothing is indexed yet.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server with its client.
struct Served {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Served {
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().context("no standard output")?;
        Ok(Self {
            input: child.stdin.take(),
            output: BufReader::new(output),
            child,
            next: 0,
        })
    }

    fn send(&mut self, message: &Value) -> Result<()> {
        let input = self.input.as_mut().context("the input is closed")?;
        Ok(writeln!(input, "{message}")?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        loop {
            let mut line = String::new();
            ensure!(
                self.output.read_line(&mut line)? > 0,
                "the server has ended"
            );
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                ensure!(message["error"].is_null(), "{message}");
                return Ok(message["result"].clone());
            }
        }
    }

    fn begin(&mut self) -> Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        let version = "2025-11-25";
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        self.ask("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    fn search(&mut self, query: &str) -> Result<Value> {
        let params = json!({"name": "search", "arguments": {"query": query}});
        self.ask("tools/call", &params)
    }

    /// Searches until something is indexed.
    fn search_patiently(&mut self, query: &str) -> Result<Value> {
        let started = Instant::now();
        loop {
            let answer = self.search(query)?;
            let text = answer["content"][0]["text"].as_str().unwrap_or_default();
            if answer["isError"] == true {
                let begun = ["there is no index", "nothing is indexed yet"];
                ensure!(begun.iter().any(|one| text.contains(one)), "{text}");
            } else if answer["structuredContent"]["hits"][0].is_object() {
                return Ok(answer);
            } else {
                let complete = &answer["structuredContent"]["complete"];
                ensure!(complete == false, "silently missing: {text}");
            }
            ensure!(started.elapsed() < PATIENCE, "never indexed: {text}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Returns the share of memory that is its own, in megabytes.
    fn megabytes(&self) -> Result<f64> {
        let rollup = format!("/proc/{}/smaps_rollup", self.child.id());
        let text = std::fs::read_to_string(rollup)?;
        let line = text.lines().find(|line| line.starts_with("Pss:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        let kilobytes: f64 = number.context("no Pss")?.parse()?;
        Ok(kilobytes / 1e3)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Measures the first call of a new server beside a search in a new process.
pub(super) fn first_call(place: &Place, report: &mut Report) -> Result<()> {
    let query = "how does this one begin";
    let (mut calls, mut searches) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let mut served = Served::start(&mut place.command(&["mcp"]))?;
        served.begin()?;
        let started = Instant::now();
        served.search(query)?;
        calls.push(started.elapsed().as_secs_f64() * 1e3);
        drop(served);
        let started = Instant::now();
        // Finding nothing is fine.
        place.command(&["search", query]).status()?;
        searches.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let (call, search) = (median(calls), median(searches));
    let model = &place.model;
    report.add(
        "a search in a new process",
        search,
        "ms",
        format!("wall, median, model {model}"),
    );
    report.add(
        "first call after initialize",
        call,
        "ms",
        format!("{:.2} times the search in a new process", call / search),
    );
    Ok(())
}

/// Measures what idle servers take together, after a search each.
pub(super) fn idle(place: &Place, report: &mut Report) -> Result<()> {
    let mut servers = Vec::new();
    for _ in 0..IDLE {
        let mut served = Served::start(&mut place.command(&["mcp"]))?;
        served.begin()?;
        served.search("idle")?;
        servers.push(served);
    }
    // The first sync is over by then.
    std::thread::sleep(Duration::from_secs(5));
    let mut all = 0.0;
    for served in &servers {
        all += served.megabytes()?;
    }
    report.add(format!("{IDLE} idle servers"), all, "MB", "PSS together");
    Ok(())
}

/// Starts many servers at once where nothing is indexed yet, while another process
/// writes memories, again and again. Nothing may fail or be lost.
pub(super) fn cold(options: &Options, report: &mut Report) -> Result<()> {
    let place = Place::new(&options.program, "none")?;
    std::fs::create_dir(place.path("notes"))?;
    crate::all::write_notes(&place.path("notes"), COLD_NOTES)?;
    let notes = place.path("notes");
    place.run(&["add", &notes.to_string_lossy(), "--no-semantic"])?;
    place.run(&["remember", "The first memory of all is about beginnings."])?;
    let started = Instant::now();
    let mut written = 1;
    for round in 0..options.rounds {
        for name in ["index.db", "index.db-wal", "index.db-shm", "index.vectors"] {
            let _ = std::fs::remove_file(place.path(name));
        }
        std::thread::scope(|scope| -> Result<()> {
            let servers: Vec<_> = (0..options.servers)
                .map(|_| {
                    scope.spawn(|| -> Result<()> {
                        let mut served = Served::start(&mut place.command(&["mcp"]))?;
                        served.begin()?;
                        served.search_patiently("beginnings")?;
                        Ok(())
                    })
                })
                .collect();
            for number in 0..MEMORIES {
                let text = format!(
                    "memory{round}x{number} {}",
                    unlike(round * MEMORIES + number)
                );
                place.run(&["remember", "--force", &text])?;
            }
            for server in servers {
                let ended = server.join();
                ended.map_err(|_| anyhow::anyhow!("a client panicked"))??;
            }
            Ok(())
        })
        .with_context(|| format!("round {round}"))?;
        written += MEMORIES;
        for number in 0..MEMORIES {
            place.run(&["search", &format!("memory{round}x{number}")])?;
        }
    }
    let kept = std::fs::read_dir(place.path("memory"))?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "md"))
        .count();
    ensure!(kept == written, "{kept} of {written} memories are left");
    let (servers, rounds) = (options.servers, options.rounds);
    report.add(
        format!("{servers} servers on a cold index, {rounds} rounds"),
        started.elapsed().as_secs_f64(),
        "s",
        format!("no error, all of {written} memories kept and found"),
    );
    Ok(())
}

/// Returns a text that is like no other.
fn unlike(number: usize) -> String {
    crate::zipf::Generator::new(number as u64 + 100).words(20)
}
