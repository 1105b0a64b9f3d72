//! A server cannot be held up: by bodies that do not come, by connections that say
//! nothing, by one caller's requests, or by a client that writes and never reads.
//! Everything here goes over real sockets.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use kodiak_server::http::{HttpOptions, Limits, listen};
use kodiak_server::mcp::Lifetime;
use kodiak_server::token::{Grant, TokenFile, Tokens};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;

use crate::desk::{Desk, reader};

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server over HTTP, until this is dropped.
struct Served {
    address: SocketAddr,
    end: Option<oneshot::Sender<()>>,
    serving: Option<std::thread::JoinHandle<()>>,
}

impl Served {
    fn start(desk: &Desk, limits: Limits) -> Self {
        let tokens = TokenFile::new(desk.path("tokens.json"));
        let options = HttpOptions {
            address: "127.0.0.1:0".parse().unwrap(),
            tokens: Some(Arc::new(tokens)),
            hosts: Vec::new(),
            origins: Vec::new(),
            limits,
        };
        let listening = listen(&desk.server(reader()), options).unwrap();
        let address = listening.address();
        let (end, told) = oneshot::channel();
        let serving = std::thread::spawn(move || {
            let told = async {
                let _ = told.await;
            };
            listening.serve_until(told).unwrap();
        });
        Self {
            address,
            end: Some(end),
            serving: Some(serving),
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends the head of a search whose body has this length.
    fn begin(&self, token: &str, length: usize) -> TcpStream {
        let mut stream = self.connect();
        let head = format!(
            "POST /api/search HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n",
            self.address
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Searches, and returns the status.
    fn search(&self, token: &str) -> Option<u16> {
        let mut stream = self.begin(token, BODY.len());
        stream.write_all(BODY).unwrap();
        status(stream)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(serving) = self.serving.take() {
            let _ = serving.join();
        }
    }
}

const BODY: &[u8] = br#"{"query": "ramen", "mode": "lexical"}"#;

/// Returns the status of a response, or `None` if the connection was closed.
fn status(mut stream: TcpStream) -> Option<u16> {
    let mut response = Vec::new();
    let _ = stream.read_to_end(&mut response);
    let response = String::from_utf8_lossy(&response).into_owned();
    response.split(' ').nth(1)?.parse().ok()
}

fn token(desk: &Desk, name: &str) -> String {
    let file = TokenFile::new(desk.path("tokens.json"));
    let now = kodiak::date::now();
    file.create(name, Grant::default(), now, None, "test")
        .unwrap()
}

#[test]
fn slow_bodies_take_no_worker() {
    let desk = Desk::with_examples();
    let (slow, other) = (token(&desk, "slow"), token(&desk, "other"));
    let limits = Limits {
        working: 4,
        waiting: 4,
        body_time: Duration::from_mins(10),
        body_pause: Duration::from_mins(10),
        ..Limits::default()
    };
    let served = Served::start(&desk, limits);
    let mut held: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = served.begin(&slow, BODY.len());
            stream.write_all(&BODY[..1]).unwrap();
            stream
        })
        .collect();
    // All are being read, and the same token and another one are served.
    assert_eq!(served.search(&other), Some(200));
    assert_eq!(served.search(&slow), Some(200));
    // Those that send the rest are answered, too.
    for mut stream in held.drain(..) {
        stream.write_all(&BODY[1..]).unwrap();
        assert_eq!(status(stream), Some(200));
    }
}

#[test]
fn bodies_that_do_not_come_are_given_up() {
    let desk = Desk::with_examples();
    let token = token(&desk, "slow");
    // One that sends nothing, and one that continues for ever.
    for (time, pause) in [(60_000, 50), (200, 60_000)] {
        let limits = Limits {
            body_time: Duration::from_millis(time),
            body_pause: Duration::from_millis(pause),
            ..Limits::default()
        };
        let served = Served::start(&desk, limits);
        let mut stream = served.begin(&token, 500_000);
        let writer = stream.try_clone().unwrap();
        let dripping = std::thread::spawn(move || {
            let mut writer = writer;
            // Less than has to come, until the server has had enough.
            while writer.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 408");
        drop(stream);
        drop(served);
        dripping.join().unwrap();
    }
}

#[test]
fn idle_connections_make_room() {
    let desk = Desk::with_examples();
    let token = token(&desk, "laptop");
    let limits = Limits {
        connections: 16,
        ..Limits::default()
    };
    let served = Served::start(&desk, limits);
    // Some say nothing at all, some begin a request without a token and stop.
    let idle: Vec<TcpStream> = (0..64)
        .map(|number| {
            let mut stream = served.connect();
            if number % 2 == 0 {
                let _ = stream.write_all(b"GET /health HTTP/1.1\r\nHost: local");
            }
            stream
        })
        .collect();
    for _ in 0..20 {
        assert_eq!(served.search(&token), Some(200));
    }
    // The oldest were closed.
    assert_eq!(status(idle.into_iter().next().unwrap()), None);
}

#[test]
fn requests_that_are_not_all_there_make_room() {
    let desk = Desk::with_examples();
    let (slow, other) = (token(&desk, "slow"), token(&desk, "other"));
    let limits = Limits {
        connections: 16,
        ..Limits::default()
    };
    let served = Served::start(&desk, limits);
    let _held: Vec<TcpStream> = (0..64)
        .map(|_| {
            let mut stream = served.begin(&slow, BODY.len());
            let _ = stream.write_all(&BODY[..1]);
            stream
        })
        .collect();
    for _ in 0..5 {
        assert_eq!(served.search(&other), Some(200));
    }
}

/// A stream that continues is not idle, however long it is silent.
#[test]
fn streams_are_not_idle() {
    let desk = Desk::with_examples();
    let token = token(&desk, "laptop");
    let limits = Limits {
        connections: 8,
        ..Limits::default()
    };
    let served = Served::start(&desk, limits);
    let mut stream = served.connect();
    let head = format!(
        "GET /mcp HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\nMcp-Session-Id: {}\r\n\r\n",
        served.address,
        "0".repeat(32)
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut begun = [0; 15];
    stream.read_exact(&mut begun).unwrap();
    assert_eq!(&begun, b"HTTP/1.1 200 OK");
    let _idle: Vec<TcpStream> = (0..32).map(|_| served.connect()).collect();
    assert_eq!(served.search(&token), Some(200));
    stream.set_nonblocking(true).unwrap();
    let mut rest = [0; 4096];
    // What was sent is there, and the end is not.
    loop {
        match stream.read(&mut rest) {
            Ok(0) => panic!("the stream was closed"),
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                break;
            }
        }
    }
}

/// A client that writes and never reads is no longer heard at some point; once it
/// reads, every request is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_is_not_heard() {
    const MOST: usize = 20_000;
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    // Both directions hold little.
    let (ours, theirs) = tokio::io::duplex(4 * 1024);
    let serving = tokio::spawn(async move {
        let (input, output) = tokio::io::split(theirs);
        kodiak_server::mcp::serve_streams(&server, input, output, Lifetime::default()).await
    });
    let (mut input, mut output) = tokio::io::split(ours);
    let begin = json!({"jsonrpc": "2.0", "id": "begin", "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    output
        .write_all(format!("{begin}\n").as_bytes())
        .await
        .unwrap();
    let mut written = 0;
    let stopped = loop {
        let request = json!({"jsonrpc": "2.0", "id": written, "method": "tools/list"});
        let line = format!("{request}\n");
        let quiet = Duration::from_secs(2);
        match tokio::time::timeout(quiet, output.write_all(line.as_bytes())).await {
            Ok(sent) => sent.unwrap(),
            // A part of the line may have been written: it is the last one.
            Err(_) => break true,
        }
        written += 1;
        if written == MOST {
            break false;
        }
    };
    assert!(stopped, "all {MOST} were read");
    assert!(written >= 256, "{written}");
    // Whatever was begun is answered when it is read.
    let mut answered = 0;
    let mut bytes = vec![0; 1 << 16];
    let mut line = Vec::new();
    while answered < written {
        let read = tokio::time::timeout(PATIENCE, input.read(&mut bytes)).await;
        let read = read.expect("an answer").unwrap();
        assert!(read > 0);
        for &byte in &bytes[..read] {
            if byte != b'\n' {
                line.push(byte);
                continue;
            }
            let message: serde_json::Value = serde_json::from_slice(&line).unwrap();
            answered += usize::from(message["id"].is_u64());
            line.clear();
        }
    }
    drop((input, output));
    serving.abort();
}
