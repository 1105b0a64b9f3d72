//! Many clients at once, and more than can be served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;

use super::Served;
use crate::desk::Desk;

/// Sends searches from many threads and counts the answers by status.
fn statuses(served: &Served, clients: usize, requests: usize) -> Vec<(u16, usize)> {
    let counts = Mutex::new(std::collections::BTreeMap::new());
    std::thread::scope(|scope| {
        for client in 0..clients {
            let counts = &counts;
            scope.spawn(move || {
                for number in 0..requests {
                    let word = ["ramen", "productivity", "wal", "garden"][(client + number) % 4];
                    let asked = json!({"query": word, "mode": "lexical"});
                    let answer = served.post("/api/search", "", &asked);
                    if answer.status == 200 {
                        assert_eq!(answer.json()["query"], word);
                    }
                    *counts.lock().unwrap().entry(answer.status).or_insert(0) += 1;
                }
            });
        }
    });
    counts.into_inner().unwrap().into_iter().collect()
}

#[test]
fn many_clients_are_served_while_the_index_is_rebuilt() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let rebuilding = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..3 {
                desk.ok(&["index", "--rebuild"]);
                rebuilding.fetch_add(1, Ordering::Relaxed);
            }
        });
        assert_eq!(statuses(&served, 40, 10), [(200, 400)]);
    });
    assert_eq!(rebuilding.into_inner(), 3);
}

/// A request whose body is not all there yet. It has its place until it is.
struct Held(TcpStream);

impl Held {
    const BODY: &'static [u8] = br#"{"query": "ramen", "mode": "lexical"}"#;

    fn begin(served: &Served) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let head = format!(
            "POST /api/search HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            served.address,
            Self::BODY.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&Self::BODY[..1]).unwrap();
        Self(stream)
    }

    /// Returns the status, if there is a response by then.
    fn status(&mut self, patience: Duration) -> Option<u16> {
        self.0.set_read_timeout(Some(patience)).unwrap();
        let mut line = Vec::new();
        let mut byte = [0];
        while line.last() != Some(&b'\n') {
            if self.0.read(&mut byte).ok()? == 0 {
                return None;
            }
            line.push(byte[0]);
        }
        let line = String::from_utf8(line).unwrap();
        line.split(' ').nth(1)?.parse().ok()
    }

    fn finish(mut self) -> Option<u16> {
        self.0.write_all(&Self::BODY[1..]).unwrap();
        self.status(Duration::from_mins(1))
    }
}

/// Requests take all places, so the next one is refused for certain, and those that
/// have a place are answered.
#[test]
fn whoever_finds_no_place_is_refused_and_the_others_are_answered() {
    let desk = Desk::indexed();
    let options = [
        "--no-token",
        "--max-waiting",
        "3",
        "--request-timeout",
        "300",
    ];
    let served = Served::start(&desk, &options);
    let mut held: Vec<Held> = Vec::new();
    let refused = loop {
        // However many cores there are, there are fewer places.
        assert!(held.len() < 10_000, "nobody is refused");
        let mut next = Held::begin(&served);
        match next.status(Duration::from_millis(100)) {
            Some(status) => break status,
            None => held.push(next),
        }
    };
    assert_eq!(refused, 503);
    assert!(held.len() > 3, "{} have a place", held.len());
    // All the same to those who come now, whatever they want.
    for _ in 0..5 {
        let answer = served.post("/api/search", "", &json!({"query": "ramen"}));
        assert_eq!((answer.status, answer.code().as_str()), (503, "busy"));
        assert!(answer.head.contains("retry-after: 1"), "{answer:?}");
        served.is_alive();
    }
    assert!(served.logged("too many requests") >= 1);
    for one in held {
        assert_eq!(one.finish(), Some(200));
    }
    assert_eq!(statuses(&served, 1, 4), [(200, 4)]);
}

#[test]
fn more_than_can_be_served_are_told_to_come_again() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token", "--max-waiting", "1"]);
    let counts = statuses(&served, 60, 10);
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    assert_eq!(all, 600);
    assert!(
        counts.iter().all(|(status, _)| matches!(status, 200 | 503)),
        "{counts:?}"
    );
    assert!(
        counts.iter().any(|(status, _)| *status == 200),
        "{counts:?}"
    );
    // Those that were refused are told once in a while, not each.
    if let Some((_, refused)) = counts.iter().find(|(status, _)| *status == 503) {
        let logged = served.logged("too many requests");
        assert!(
            logged >= 1 && (logged < 20 || logged < *refused),
            "{logged} of {refused}"
        );
    }
    served.is_alive();
}
