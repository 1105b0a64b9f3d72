//! Answers that are not read hold a bounded room, for a bounded time, and only that of
//! those who do not read them. Everything here goes over real sockets.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use kodiak_server::http::Limits;
use kodiak_server::token::Grant;

use crate::desk::{Desk, reader};
use crate::web::{Web, token};

/// More than what both ends of a connection hold for a client that does not read.
const LARGE: usize = 12 << 20;
const PATH: &str = "/api/documents/note/files/large.png";

/// Writes a note with a large picture.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("notes/note.md", "![a picture](large.png)\n");
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    bytes.resize(LARGE, 7);
    std::fs::write(desk.path("notes/large.png"), bytes).unwrap();
    desk
}

/// Asks for the picture, and reads the status.
fn ask(web: &Web, token: &str) -> (u16, TcpStream) {
    let mut stream = TcpStream::connect(web.address).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_mins(1)))
        .unwrap();
    let head = format!(
        "GET {PATH} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n",
        web.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    let status = String::from_utf8_lossy(&status[9..]).parse().unwrap();
    (status, stream)
}

/// Reads the rest of an answer, and returns how many bytes that are.
fn rest(stream: &mut TcpStream) -> usize {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    bytes.len()
}

#[test]
fn unread_answers_take_only_the_room_of_their_caller() {
    let desk = desk();
    let (slow, other) = (
        token(&desk, "slow", Grant::default()),
        token(&desk, "other", Grant::default()),
    );
    let limits = Limits {
        answers: 4 * LARGE,
        // Only those that wait for room take this long.
        time: Duration::from_secs(3),
        unread: Duration::from_hours(1),
        ..Limits::default()
    };
    let web = Web::limited(&desk, &desk.server(reader()), limits);
    let mut held: Vec<(u16, TcpStream)> = (0..3).map(|_| ask(&web, &slow)).collect();
    assert!(held.iter().all(|(status, _)| *status == 200));
    assert_eq!(ask(&web, &slow).0, 503);
    // The other one reads what it asks for, as often as it wants.
    for _ in 0..3 {
        let (status, mut stream) = ask(&web, &other);
        assert_eq!(status, 200);
        assert!(rest(&mut stream) > LARGE);
    }
    // What is small needs no room.
    let bearer = format!("Bearer {slow}");
    let headers = [("Authorization", bearer.as_str())];
    assert_eq!(web.send("GET", "/api/status", &headers, "").status, 200);
    // A client that reads, or goes away, frees its room.
    let (_, mut stream) = held.pop().unwrap();
    assert!(rest(&mut stream) > LARGE);
    let (status, again) = ask(&web, &slow);
    assert_eq!(status, 200);
    drop((held, again));
    for _ in 0..3 {
        let (status, mut stream) = ask(&web, &slow);
        assert!(status == 200 && rest(&mut stream) > LARGE);
    }
}

#[test]
fn whoever_reads_nothing_is_given_up() {
    let desk = desk();
    let slow = token(&desk, "slow", Grant::default());
    let limits = Limits {
        answers: LARGE,
        unread: Duration::from_millis(200),
        ..Limits::default()
    };
    let web = Web::limited(&desk, &desk.server(reader()), limits);
    // There is room for one at a time, and each waits until the one before is given up.
    let mut held: Vec<(u16, TcpStream)> = (0..4).map(|_| ask(&web, &slow)).collect();
    for (status, stream) in &mut held[..3] {
        assert_eq!(*status, 200);
        let taken = rest(stream);
        assert!(taken < LARGE, "{taken}");
    }
}
