//! The server over HTTP: who is let in, what is refused, and that it stays alive.

mod cors;
mod description;
mod hostile;
mod link;
mod load;
mod scope;
mod session;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::desk::Desk;

/// A server that runs until this is dropped.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    log: Arc<Mutex<Vec<String>>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of a refusal.
    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap().to_owned()
    }
}

impl Served {
    /// Starts a server at a port that is free.
    pub(crate) fn start(desk: &Desk, options: &[&str]) -> Self {
        let line = ["serve", "127.0.0.1:0"].iter().chain(options);
        let line: Vec<&str> = line.copied().collect();
        Self::of(&mut desk.command(&line))
    }

    /// Starts a server with a command.
    pub(crate) fn of(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (kept, stderr) = (Arc::clone(&log), child.stderr.take().unwrap());
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line);
            }
        });
        let mut served = Self {
            child,
            address: String::new(),
            log,
        };
        served.address = served.said("serving http://", |line| {
            let rest = line.strip_prefix("serving http://")?;
            Some(rest.split('/').next()?.to_owned())
        });
        served
    }

    /// Waits for a line of the log.
    pub(crate) fn said<T>(&self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let started = Instant::now();
        while started.elapsed() < Duration::from_mins(1) {
            let lines = self.log.lock().unwrap();
            if let Some(found) = lines.iter().find_map(|line| find(line)) {
                return found;
            }
            drop(lines);
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("never said {what}: {:?}", self.log.lock().unwrap());
    }

    /// The lines of the log that contain a text.
    pub(crate) fn logged(&self, text: &str) -> usize {
        let lines = self.log.lock().unwrap();
        lines.iter().filter(|line| line.contains(text)).count()
    }

    /// Sends a request as it is and reads the response.
    pub(crate) fn raw(&self, request: &[u8]) -> std::io::Result<Response> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_read_timeout(Some(Duration::from_mins(1)))?;
        // A server that has heard enough may close before it has read all.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            read?;
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Ok(Response {
            status,
            head: head.to_lowercase(),
            body: body.to_owned(),
        })
    }

    /// Sends a request with these headers.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response {
        let mut request = format!("{method} {path} HTTP/1.1\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!(
            "Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
        self.raw(request.as_bytes()).unwrap()
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> Response {
        self.send(
            "GET",
            path,
            &[("Authorization", &format!("Bearer {token}"))],
            "",
        )
    }

    pub(crate) fn post(&self, path: &str, token: &str, body: &Value) -> Response {
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        self.send("POST", path, &headers, &body.to_string())
    }

    /// Sends a request of the protocol and returns its result or error.
    pub(crate) fn protocol(&self, token: &str, method: &str, params: &Value) -> Value {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let response = self.post("/mcp", token, &request);
        assert!(matches!(response.status, 200 | 404), "{response:?}");
        response.json()
    }

    /// Calls a tool and returns its result.
    pub(crate) fn call(&self, token: &str, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.protocol(token, "tools/call", &params)["result"].clone()
    }

    /// Fails unless the server answers.
    pub(crate) fn is_alive(&self) {
        assert_eq!(self.send("GET", "/health", &[], "").status, 200);
    }

    /// Tells the server to end, and returns its exit code.
    #[cfg(unix)]
    pub(crate) fn end(mut self) -> Option<i32> {
        let process = self.child.id().to_string();
        let killed = std::process::Command::new("kill").arg(process).status();
        assert!(killed.unwrap().success());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a token.
pub(crate) fn token(desk: &Desk, options: &[&str]) -> String {
    let line = ["token", "create"].iter().chain(options);
    let run = desk.ok(&line.copied().collect::<Vec<_>>());
    run.stdout.trim().to_owned()
}

#[test]
fn every_route_but_health_and_the_page_needs_a_token() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &[]);
    served.said("a hint", |line| {
        line.contains("kodiak token create").then_some(())
    });
    assert_eq!(
        served.send("GET", "/health", &[], "").json(),
        json!({"status": "ok"})
    );
    assert_eq!(served.send("GET", "/", &[], "").status, 200);
    // A token that is made now is valid now.
    let token = token(&desk, &["laptop"]);
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("POST", "/api/search"),
        ("GET", "/api/documents/x"),
        ("GET", "/api/links/x"),
        ("GET", "/api/similar/x"),
        ("GET", "/api/timeline"),
        ("GET", "/api/status"),
        ("GET", "/api/session"),
        ("GET", "/no/such/route"),
    ] {
        let refused = served.send(method, path, &[], "");
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (401, "token-required"),
            "{path}"
        );
        assert!(
            refused.head.contains("www-authenticate: bearer"),
            "{refused:?}"
        );
    }
    for wrong in ["", "x", &token[1..], &token.replace("kodiak_", "")] {
        assert_eq!(served.get("/api/status", wrong).status, 401, "{wrong}");
    }
    let status = served.get("/api/status", &token);
    assert_eq!(status.json()["sources"][0]["name"], "notes");
    assert!(
        status.head.contains("cache-control: no-store"),
        "{status:?}"
    );
    assert_eq!(served.get("/no/such/route", &token).code(), "no-route");
    let wrong = served.get("/api/search", &token);
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (405, "method-not-allowed")
    );
    // One that is revoked is refused at once.
    desk.ok(&["token", "revoke", "laptop"]);
    assert_eq!(served.get("/api/status", &token).status, 401);
    // However many were refused.
    assert!(served.logged("refused") >= 1);
}

#[test]
fn lines_beyond_the_end_are_told() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &[]);
    let token = token(&desk, &["laptop"]);
    let note = "/api/documents/notes%2Fproductivity%2Fgtd.md";
    let said = "line 40 is beyond the end of the note, which has 29 lines";
    // Both ways of naming lines.
    for path in [format!("{note}?lines=28-40"), format!("{note}:28-40")] {
        let answer = served.get(&path, &token);
        assert_eq!(answer.status, 200, "{path}");
        let answer = answer.json();
        assert_eq!(answer["notice"], said, "{path}");
        assert_eq!(answer["lines"], json!([28, 29]), "{path}");
        assert_eq!(answer["line_count"], 29, "{path}");
    }
    for path in [
        format!("{note}?lines=28-29"),
        format!("{note}?lines=3-"),
        note.to_owned(),
    ] {
        let answer = served.get(&path, &token).json();
        assert_eq!(answer["notice"], Value::Null, "{path}");
    }
    for path in [format!("{note}?lines=30-40"), format!("{note}:30-40")] {
        let answer = served.get(&path, &token);
        assert_eq!(answer.status, 400, "{path}");
        let text = answer.json().to_string();
        assert!(
            text.contains("within the 29 lines that there are"),
            "{text}"
        );
    }
}

#[test]
fn who_may_listen_where() {
    let desk = Desk::indexed();
    let refused = |line: &[&str], expected: &str| {
        let run = desk.run(line);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    };
    refused(&["mcp", "--http", "0.0.0.0:0"], "kodiak token create NAME");
    refused(
        &["mcp", "--http", "0.0.0.0:0", "--no-token"],
        "could read your notes",
    );
    refused(&["mcp", "--http", "7700x"], "127.0.0.1:7700");
    refused(&["mcp", "--no-token"], "--http");
    refused(
        &[
            "mcp",
            "--http",
            "127.0.0.1:0",
            "--no-token",
            "--allow-write",
        ],
        "cannot be used with",
    );
    let served = Served::start(&desk, &["--no-token"]);
    assert_eq!(served.send("GET", "/api/status", &[], "").status, 200);
    let taken = served.address.clone();
    refused(&["mcp", "--http", &taken], "could not listen at");
    let run = desk.run(&["mcp", "--http", &taken]);
    assert_eq!(
        run.stderr.to_lowercase().matches("in use").count(),
        1,
        "{run}"
    );
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_ends() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    // An idle connection does not hold it.
    let _idle = TcpStream::connect(&served.address).unwrap();
    assert_eq!(served.end(), Some(0));
}

#[test]
fn both_eras_are_served() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let client = json!({"name": "test", "version": "1"});
    let begun = served.protocol(
        "",
        "initialize",
        &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}),
    );
    assert_eq!(begun["result"]["protocolVersion"], "2025-11-25");
    assert_eq!(begun["result"]["serverInfo"]["name"], "kodiak");
    let found = served.call("", "search", &json!({"query": "ramen"}));
    assert!(
        !found["structuredContent"]["hits"]
            .as_array()
            .unwrap()
            .is_empty(),
        "{found}"
    );
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": client,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "ramen"}, "_meta": meta},
    });
    let headers = [
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "search"),
    ];
    let response = served.send("POST", "/mcp", &headers, &request.to_string());
    assert_eq!(
        response.json()["result"]["structuredContent"]["total"],
        found["structuredContent"]["total"]
    );
    // The header and the body must agree.
    let contradicting = response_to(&served, &headers, "tools/list");
    assert_eq!(contradicting.status, 400);
}

fn response_to(served: &Served, headers: &[(&str, &str)], method: &str) -> Response {
    let request = json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {}});
    served.send("POST", "/mcp", headers, &request.to_string())
}
