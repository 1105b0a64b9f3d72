//! A server over standard input and output, with its client.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

/// How long a server may say that nothing is indexed yet.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server with its client.
pub(super) struct Served {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Served {
    pub(super) fn start(command: &mut Command) -> Result<Self> {
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

    pub(super) fn begin(&mut self) -> Result<()> {
        let client = json!({"name": "bench", "version": "1"});
        let version = "2025-11-25";
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        self.ask("initialize", &params)?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    }

    pub(super) fn search(&mut self, query: &str) -> Result<Value> {
        let params = json!({"name": "search", "arguments": {"query": query}});
        self.ask("tools/call", &params)
    }

    /// Searches until something is indexed.
    pub(super) fn search_patiently(&mut self, query: &str) -> Result<Value> {
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

    /// Kills the process that was started. Its input stays open.
    pub(super) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Returns what the server writes to.
    pub(super) fn output(&mut self) -> &mut BufReader<ChildStdout> {
        &mut self.output
    }

    /// Returns the share of memory that is its own, in megabytes.
    pub(super) fn megabytes(&self) -> Result<f64> {
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
