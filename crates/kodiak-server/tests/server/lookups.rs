//! A caller whose tokens are slowly looked up, or do not exist, holds up no
//! one else.

use std::io::Write;
use std::net::TcpStream;
use std::sync::{Condvar, Mutex};

use kodiak_server::http::Limits;
use kodiak_server::token::{Grant, Token, Tokens};
use serde_json::json;

use crate::desk::{Desk, reader};
use crate::watched::{Hook, Watched};
use crate::web::{Web, token};

/// Looking for some tokens does not end until this is told to go on, as with a database that
/// does not answer.
#[derive(Debug)]
struct Slow {
    /// The name of a token that is slow, beside those that do not exist.
    name: &'static str,
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Gate {
    held: bool,
    waiting: usize,
}

impl Slow {
    fn hold(&self, held: bool) {
        self.gate.lock().unwrap().held = held;
        self.changed.notify_all();
    }

    /// Waits until a look-up waits.
    fn until_one_waits(&self) {
        let mut gate = self.gate.lock().unwrap();
        while gate.waiting == 0 {
            gate = self.changed.wait(gate).unwrap();
        }
    }
}

impl Hook for Slow {
    fn presented(&self, found: Option<&Token>) {
        let is_slow = found.is_none_or(|token| token.name == self.name);
        let mut gate = self.gate.lock().unwrap();
        while is_slow && gate.held {
            gate.waiting += 1;
            self.changed.notify_all();
            gate = self.changed.wait(gate).unwrap();
            gate.waiting -= 1;
        }
    }
}

fn search(web: &Web, token: &str) -> u16 {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str())];
    let body = json!({"query": "ramen", "mode": "lexical"});
    web.post("/api/search", &headers, &body).status
}

/// Sends a request with a token, and does not wait for the answer.
fn begin(web: &Web, token: &str) -> TcpStream {
    let mut stream = TcpStream::connect(web.address).unwrap();
    let head = format!(
        "GET /api/status HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        web.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn slow_look_ups_hold_up_no_other_caller() {
    let desk = Desk::with_examples();
    let (slow, other) = (
        token(&desk, "slow", Grant::default()),
        token(&desk, "other", Grant::default()),
    );
    let slow_ones = Slow {
        name: "slow",
        gate: Mutex::default(),
        changed: Condvar::new(),
    };
    let watched = Watched::of(&desk, slow_ones);
    let held = &watched.hook;
    let limits = Limits {
        working: 4,
        ..Limits::default()
    };
    let web = Web::having(watched.clone(), &desk.server(reader()), limits);
    // Both have been let in before.
    assert_eq!((search(&web, &slow), search(&web, &other)), (200, 200));
    let unknown = format!("kodiak_{}", "0".repeat(64));
    for asks in [&unknown, &slow] {
        held.hold(true);
        let waiting: Vec<TcpStream> = (0..100).map(|_| begin(&web, asks)).collect();
        held.until_one_waits();
        for _ in 0..3 {
            assert_eq!(search(&web, &other), 200, "{asks}");
        }
        held.hold(false);
        drop(waiting);
    }
    // No caller is let in by what was known before.
    assert_eq!(search(&web, &slow), 200);
    watched.file.revoke("other", "test").unwrap();
    assert_eq!((search(&web, &other), search(&web, &slow)), (401, 200));
}
