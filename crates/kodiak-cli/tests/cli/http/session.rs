//! Sessions of clients over HTTP, and the streams that they hear through.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::{Response, Served, token};
use crate::desk::Desk;

/// A stream that continues.
struct Stream(BufReader<TcpStream>);

impl Stream {
    fn open(served: &Served, session: &str, token: &str) -> Self {
        let mut stream = TcpStream::connect(&served.address).unwrap();
        let timeout = Some(Duration::from_mins(1));
        stream.set_read_timeout(timeout).unwrap();
        let request = format!(
            "GET /mcp HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\
             Authorization: Bearer {token}\r\n\r\n",
            served.address
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut opened = Self(BufReader::new(stream));
        assert!(opened.line().unwrap().contains("200 OK"));
        opened
    }

    /// The next line, unless the stream has ended.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then_some(line)
    }

    /// The next notification of a method.
    fn heard(&mut self, method: &str) -> Value {
        loop {
            let line = self.line().expect("the stream goes on");
            let Some(data) = line.strip_prefix("data: ") else {
                continue;
            };
            let message: Value = serde_json::from_str(data).unwrap();
            if message["method"] == method {
                return message["params"].clone();
            }
        }
    }

    /// Reads until the stream ends.
    fn end(mut self) {
        while self.line().is_some() {}
    }
}

fn ask(served: &Served, session: &str, token: &str, method: &str, params: &Value) -> Response {
    let bearer = format!("Bearer {token}");
    let mut headers = vec![
        ("Authorization", bearer.as_str()),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", "2025-11-25"),
    ];
    if !session.is_empty() {
        headers.push(("Mcp-Session-Id", session));
    }
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    served.send("POST", "/mcp", &headers, &request.to_string())
}

/// Begins, and returns the id of the session.
fn begin(served: &Served, token: &str) -> String {
    let client = json!({"name": "test", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let begun = ask(served, "", token, "initialize", &params);
    assert_eq!(begun.status, 200, "{begun:?}");
    let mut lines = begun.head.lines();
    let id = lines.find_map(|line| line.strip_prefix("mcp-session-id: "));
    id.expect("a session").to_owned()
}

#[test]
fn a_session_hears_through_its_streams() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let session = begin(&served, "");
    let other = begin(&served, "");
    assert_ne!(session, other);
    // Several streams at once, and requests beside them.
    let first = Stream::open(&served, &session, "");
    let mut second = Stream::open(&served, &session, "");
    let deaf = Stream::open(&served, &other, "");
    let address = "kodiak://notes/heard.md";
    desk.write("notes/heard.md", "# Heard\n\nNothing yet.\n");
    let read = ask(
        &served,
        &session,
        "",
        "resources/read",
        &json!({"uri": address}),
    );
    assert!(read.body.contains("Nothing yet."), "{read:?}");
    for method in [
        "resources/subscribe",
        "resources/unsubscribe",
        "resources/subscribe",
    ] {
        let answer = ask(&served, &session, "", method, &json!({"uri": address}));
        assert_eq!(answer.json()["result"], json!({}), "{answer:?}");
    }
    desk.write("notes/heard.md", "# Heard\n\nA knock at the door.\n");
    let updated = second.heard("notifications/resources/updated");
    assert_eq!(updated, json!({"uri": address}));
    // Ending a session ends its streams.
    let ended = served.send("DELETE", "/mcp", &[("Mcp-Session-Id", &session)], "");
    assert_eq!(ended.status, 204);
    first.end();
    second.end();
    let gone = ask(&served, &session, "", "tools/list", &json!({}));
    assert_eq!(gone.status, 404, "{gone:?}");
    // The others go on until the server ends, and do not hold it up.
    let served_on = ask(&served, &other, "", "tools/list", &json!({}));
    assert_eq!(served_on.status, 200);
    #[cfg(unix)]
    {
        assert_eq!(served.end(), Some(0));
        deaf.end();
    }
    #[cfg(not(unix))]
    drop(deaf);
}

#[test]
fn a_client_that_outlives_the_server_goes_on() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let session = begin(&served, "");
    drop(served);
    let served = Served::start(&desk, &["--no-token"]);
    let listed = ask(&served, &session, "", "tools/list", &json!({}));
    assert!(listed.json()["result"]["tools"].is_array(), "{listed:?}");
    let level = ask(
        &served,
        &session,
        "",
        "logging/setLevel",
        &json!({"level": "debug"}),
    );
    assert_eq!(level.json()["result"], json!({}), "{level:?}");
    for wrong in ["x", &"g".repeat(32), &"a".repeat(64)] {
        let refused = ask(&served, wrong, "", "tools/list", &json!({}));
        assert_eq!(refused.status, 404, "{refused:?}");
    }
    // Without a session there is no one to notify.
    let refused = ask(
        &served,
        "",
        "",
        "logging/setLevel",
        &json!({"level": "debug"}),
    );
    assert!(refused.body.contains("needs a session"), "{refused:?}");
    assert_eq!(served.send("GET", "/mcp", &[], "").status, 405);
    let plain = served.send("GET", "/mcp", &[("Mcp-Session-Id", &session)], "");
    assert_eq!(plain.status, 406);
}

#[test]
fn a_session_has_the_rights_of_who_opened_it() {
    let desk = Desk::indexed();
    let all = token(&desk, &["all"]);
    let narrow = token(&desk, &["narrow", "--source", "notes"]);
    let served = Served::start(&desk, &[]);
    let session = begin(&served, &all);
    let params = json!({"level": "debug"});
    assert_eq!(
        ask(&served, &session, &all, "logging/setLevel", &params).status,
        200
    );
    let refused = ask(&served, &session, &narrow, "logging/setLevel", &params);
    assert_eq!(refused.status, 404, "{refused:?}");
    // A caller whose token was revoked gets no more events.
    let address = "kodiak://notes/heard.md";
    desk.write("notes/heard.md", "# Heard\n");
    ask(
        &served,
        &session,
        &all,
        "resources/read",
        &json!({"uri": address}),
    );
    ask(
        &served,
        &session,
        &all,
        "resources/subscribe",
        &json!({"uri": address}),
    );
    let stream = Stream::open(&served, &session, &all);
    desk.ok(&["token", "revoke", "all"]);
    stream.end();
    assert_eq!(
        ask(&served, &session, &all, "tools/list", &json!({})).status,
        401
    );
}
