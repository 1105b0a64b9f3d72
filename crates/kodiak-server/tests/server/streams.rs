//! Streams that go on: each caller has its share of them, and what they cost does not
//! grow with their number.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use kodiak_server::http::Limits;
use kodiak_server::token::{Grant, Token, Tokens};

use crate::desk::{Desk, reader};
use crate::watched::{Hook, Watched};
use crate::web::{Web, token};

/// What a test waits for at most, on a slow machine.
const PATIENCE: Duration = Duration::from_mins(1);
/// The routes of streams.
const ROUTES: [&str; 2] = ["/api/events", "/mcp"];

/// Opens a stream, and returns its status and what follows.
fn open(web: &Web, route: &str, token: &str, session: usize) -> (u16, BufReader<TcpStream>) {
    let mut stream = TcpStream::connect(web.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "GET {route} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\nMcp-Session-Id: {session:032x}\r\n\r\n",
        web.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    let status = String::from_utf8_lossy(&status[9..]).parse().unwrap();
    (status, BufReader::new(stream))
}

/// Waits for a line that begins like this. Returns whether it came before the end.
fn hears(stream: &mut BufReader<TcpStream>, beginning: &str) -> bool {
    let mut lines = stream.lines().map_while(Result::ok);
    lines.any(|line| line.starts_with(beginning))
}

#[test]
fn no_caller_keeps_others_from_their_streams() {
    let desk = Desk::new();
    desk.write("notes/a.md", "A note.\n");
    let (many, more, other) = (
        token(&desk, "many", Grant::default()),
        token(&desk, "more", Grant::default()),
        token(&desk, "other", Grant::default()),
    );
    let web = Web::start(&desk, &desk.server(reader()));
    // More than there are places for, by one caller and then by two.
    let mut held: Vec<_> = (0..270)
        .map(|number| open(&web, ROUTES[number % 2], &many, number))
        .collect();
    for number in 270..430 {
        held.push(open(&web, ROUTES[number % 2], &more, number));
        // The machine has a bound of open files.
        if number % 2 == 0 {
            held.retain(|(status, _)| *status == 200);
        }
    }
    for (number, route) in ROUTES.into_iter().enumerate() {
        let (status, mut stream) = open(&web, route, &other, 1_000 + number);
        assert_eq!(status, 200, "{route}");
        let first = if route == "/mcp" {
            ":"
        } else {
            "event: status"
        };
        assert!(hears(&mut stream, first), "{route}");
    }
}

/// Counts how often each token is asked for.
#[derive(Debug, Default)]
struct Counted {
    asked: Mutex<HashMap<String, usize>>,
    more: Condvar,
}

impl Counted {
    /// Forgets what was counted, and waits until a token was asked for so often again.
    /// Returns how often another one was.
    fn compared(&self, name: &str, times: usize, other: &str) -> usize {
        let mut asked = self.asked.lock().unwrap();
        asked.clear();
        while asked.get(name).copied().unwrap_or_default() < times {
            let (next, waited) = self.more.wait_timeout(asked, PATIENCE).unwrap();
            assert!(!waited.timed_out());
            asked = next;
        }
        asked.get(other).copied().unwrap_or_default()
    }
}

impl Hook for Counted {
    fn has(&self, token: &Token) {
        let mut asked = self.asked.lock().unwrap();
        *asked.entry(token.name.clone()).or_default() += 1;
        drop(asked);
        self.more.notify_all();
    }
}

/// Whether a caller is still let in is looked up as often for many streams as for one,
/// and all of them end when it is not.
#[test]
fn looks_do_not_grow_with_streams() {
    let desk = Desk::new();
    desk.write("notes/a.md", "A note.\n");
    let (one, many) = (
        token(&desk, "one", Grant::default()),
        token(&desk, "many", Grant::default()),
    );
    let watched = Watched::of(&desk, Counted::default());
    let counted = &watched.hook;
    let web = Web::having(watched.clone(), &desk.server(reader()), Limits::default());
    let (status, mut single) = open(&web, "/api/events", &one, 0);
    assert!(status == 200 && hears(&mut single, "event: status"));
    let mut streams: Vec<_> = (1..=40)
        .map(|number| open(&web, ROUTES[number % 2], &many, number))
        .collect();
    for (number, (status, stream)) in (1..).zip(&mut streams) {
        let first = ["event: status", ":"][number % 2];
        assert!(*status == 200 && hears(stream, first), "{number}");
    }
    let looks = counted.compared("one", 4, "many");
    assert!(looks <= 6, "{looks} looks for 40 streams, and 4 for one");
    watched.file.revoke("many", "test").unwrap();
    for (_, stream) in &mut streams {
        assert!(!hears(stream, "never"));
    }
    // The other one goes on.
    assert_eq!(counted.compared("one", 2, "many"), 0);
}
