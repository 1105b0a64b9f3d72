//! A client over HTTP with one connection that it keeps.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// A server over HTTP, killed when this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
}

impl Served {
    /// Starts a server and waits until it listens.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let stderr = child.stderr.take().context("no standard error")?;
        let mut lines = BufReader::new(stderr).lines();
        let line = lines.next().context("the server said nothing")??;
        let rest = line.strip_prefix("serving http://");
        let address = rest.and_then(|rest| rest.split('/').next());
        let address = address.with_context(|| format!("not an address: {line}"))?;
        let address = address.to_owned();
        // A full pipe would stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self { child, address })
    }

    /// Returns its private memory in megabytes. Pages of the index,
    /// which every connection maps, are the system's.
    pub(super) fn megabytes(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("RssAnon:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        let kilobytes: f64 = number.context("no RssAnon")?.parse()?;
        Ok(kilobytes / 1e3)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client that keeps its connection.
pub(super) struct Client {
    address: String,
    connection: BufReader<TcpStream>,
}

impl Client {
    pub(super) fn connect(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        Ok(Self {
            address: address.to_owned(),
            connection: BufReader::new(stream),
        })
    }

    /// Searches, and returns the status of the response.
    pub(super) fn search(&mut self, query: &str, mode: &str) -> Result<u16> {
        Ok(self.answer(query, mode)?.0)
    }

    /// Searches, and returns the status of the response and the answer.
    pub(super) fn answer(&mut self, query: &str, mode: &str) -> Result<(u16, Value)> {
        let body = serde_json::json!({"query": query, "mode": mode}).to_string();
        let request = format!(
            "POST /api/search HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.connection.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.connection.read_line(&mut line)?;
        let status = line.split(' ').nth(1).context("no status")?.parse()?;
        let mut length = None;
        loop {
            line.clear();
            if self.connection.read_line(&mut line)? == 0 {
                bail!("the response ended early");
            }
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = Some(value.trim().parse::<usize>()?);
            }
        }
        let mut body = vec![0; length.context("no length")?];
        self.connection.read_exact(&mut body)?;
        let mut answer = Value::Null;
        if status == 200 {
            answer = serde_json::from_slice(&body)?;
            anyhow::ensure!(answer["hits"].is_array(), "not an answer: {answer}");
        }
        Ok((status, answer))
    }
}
