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

/// A request whose body is not all there yet.
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

    /// Sends the rest, and returns the status.
    fn finish(mut self) -> Option<u16> {
        self.0.write_all(&Self::BODY[1..]).unwrap();
        self.0
            .set_read_timeout(Some(Duration::from_mins(1)))
            .unwrap();
        let mut response = Vec::new();
        let _ = self.0.read_to_end(&mut response);
        let response = String::from_utf8_lossy(&response).into_owned();
        response.split(' ').nth(1)?.parse().ok()
    }
}

/// Bodies that do not come take no place of those that are served, and idle connections
/// no place of those that come.
#[test]
fn slow_bodies_and_idle_connections_do_not_lock_others_out() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token", "--max-waiting", "1"]);
    let held: Vec<Held> = (0..200).map(|_| Held::begin(&served)).collect();
    assert_eq!(statuses(&served, 1, 4), [(200, 4)]);
    // More than there are places for connections, all of them silent.
    let idle: Vec<TcpStream> = (0..700)
        .filter_map(|_| TcpStream::connect(&served.address).ok())
        .collect();
    assert_eq!(statuses(&served, 1, 4), [(200, 4)]);
    served.is_alive();
    drop((idle, held));
    let late = Held::begin(&served);
    assert_eq!(late.finish(), Some(200));
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
