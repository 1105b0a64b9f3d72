//! A server that runs until it is dropped, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::place::Machine;

/// How long anything may take on a busy machine.
pub(crate) const LONG: Duration = Duration::from_mins(1);

pub(crate) struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Starts a server that lets write at a port that is free.
    pub(crate) fn start(machine: &Machine) -> Self {
        let mut command = machine.command(&["serve", "127.0.0.1:0", "--allow-write"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut heard = Vec::new();
        let started = Instant::now();
        let address = loop {
            let left = LONG.saturating_sub(started.elapsed());
            let line = receiver
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("it does not serve: {heard:?}"));
            if let Some(rest) = line.strip_prefix("serving http://") {
                break rest.split('/').next().unwrap().to_owned();
            }
            heard.push(line);
        };
        Self { child, address }
    }

    /// Sends a request and returns the status and the body.
    pub(crate) fn send(&self, method: &str, path: &str, token: &str, body: &Value) -> (u16, Value) {
        self.try_send(method, path, token, body).unwrap()
    }

    /// Sends a request to a server that may be too busy for it.
    pub(crate) fn try_send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: &Value,
    ) -> std::io::Result<(u16, Value)> {
        let mut stream = self.try_open(method, path, token, body)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let ended = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(ended)?;
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok((status, serde_json::from_str(body).unwrap_or_default()))
    }

    fn try_open(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: &Value,
    ) -> std::io::Result<TcpStream> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Accept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.address,
            body.len()
        );
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(LONG))?;
        stream.write_all(request.as_bytes())?;
        Ok(stream)
    }

    /// Returns the events of the page, line by line.
    pub(crate) fn events(&self, token: &str) -> impl Iterator<Item = String> {
        let stream = self
            .try_open("GET", "/api/events", token, &Value::Null)
            .unwrap();
        BufReader::new(stream).lines().map_while(Result::ok)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
