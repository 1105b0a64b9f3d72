//! Web pages of allowed origins, as a browser lets them call: it asks first, it checks
//! what it is told against what the page wants, and it shows the page an answer only if
//! the answer names the page's origin.

use serde_json::{Value, json};

use super::{Response, Served, token};
use crate::desk::Desk;

const PAGE: &str = "https://app.example";

/// A browser that shows a page of this origin.
struct Browser<'a> {
    served: &'a Served,
    origin: &'a str,
}

/// What a page sees of a failed call: nothing, not even the status. The reason is
/// printed by a failed test.
#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct Blocked(&'static str);

impl Browser<'_> {
    /// Calls as `fetch` does in the mode `cors`, without credentials.
    fn fetch(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response, Blocked> {
        // Requests that a form could send need no question. These do: the method is
        // another one, or a header is not one of the few that every page may send, or
        // its value is not.
        let simple = |(name, value): &&(&str, &str)| match name.to_lowercase().as_str() {
            "accept" => true,
            "content-type" => !value.starts_with("application/json"),
            _ => false,
        };
        let asked: Vec<String> = headers
            .iter()
            .filter(|header| !simple(header))
            .map(|(name, _)| name.to_lowercase())
            .collect();
        if !matches!(method, "GET" | "HEAD" | "POST") || !asked.is_empty() {
            self.ask(method, path, &asked)?;
        }
        let mut sent = headers.to_vec();
        sent.push(("Origin", self.origin));
        let response = self.served.send(method, path, &sent, body);
        // The answer is shown only if it names the origin, letter by letter.
        self.is_allowed(&response)?;
        Ok(response)
    }

    /// Sends a preflight: without a token, as browsers do.
    fn ask(&self, method: &str, path: &str, headers: &[String]) -> Result<(), Blocked> {
        let wanted = headers.join(",");
        let mut sent = vec![
            ("Origin", self.origin),
            ("Access-Control-Request-Method", method),
            // A page of the public network that calls this machine.
            ("Access-Control-Request-Private-Network", "true"),
        ];
        if !wanted.is_empty() {
            sent.push(("Access-Control-Request-Headers", &wanted));
        }
        let response = self.served.send("OPTIONS", path, &sent, "");
        // Any other status than one of success ends it.
        if !(200..300).contains(&response.status) {
            return Err(Blocked("status of the preflight"));
        }
        self.is_allowed(&response)?;
        let listed = |name: &str, value: &str| {
            let list = header(&response, name).unwrap_or_default();
            let mut list = list.split(',').map(str::trim);
            list.any(|one| one.eq_ignore_ascii_case(value))
        };
        // A few methods need no leave.
        let free = matches!(method, "GET" | "HEAD" | "POST");
        if !free && !listed("access-control-allow-methods", method) {
            return Err(Blocked("method"));
        }
        if let Some(_missing) = headers
            .iter()
            .find(|name| !listed("access-control-allow-headers", name))
        {
            return Err(Blocked("headers"));
        }
        if header(&response, "access-control-allow-private-network") != Some("true") {
            return Err(Blocked("private network"));
        }
        Ok(())
    }

    fn is_allowed(&self, response: &Response) -> Result<(), Blocked> {
        // Nothing is allowed to every origin.
        assert!(!response.head.contains("access-control-allow-origin: *"));
        assert!(!response.head.contains("access-control-allow-credentials"));
        match header(response, "access-control-allow-origin") {
            Some(origin) if origin == self.origin => {
                // A cache in between must not show it to another page.
                let varies = header(response, "vary").unwrap_or_default();
                assert!(varies.contains("origin"), "{response:?}");
                Ok(())
            }
            _ => Err(Blocked("origin")),
        }
    }
}

/// Returns a header of a response, whose head is in lower case.
fn header<'a>(response: &'a Response, name: &str) -> Option<&'a str> {
    let mut lines = response.head.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The headers of a client of the protocol in a page.
fn with_token(bearer: &str) -> Vec<(&str, &str)> {
    vec![
        ("Authorization", bearer),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("Mcp-Protocol-Version", "2025-11-25"),
    ]
}

#[test]
fn pages_of_allowed_origins_can_call() {
    let desk = Desk::indexed();
    let bearer = format!("Bearer {}", token(&desk, &["page"]));
    let served = Served::start(&desk, &["--allow-origin", PAGE]);
    let browser = Browser {
        served: &served,
        origin: PAGE,
    };
    let search = json!({"query": "ramen"}).to_string();
    let found = browser
        .fetch("POST", "/api/search", &with_token(&bearer), &search)
        .unwrap();
    assert_eq!(
        (found.status, &found.json()["query"]),
        (200, &json!("ramen"))
    );
    // The protocol: a session that the page can read, a request in it, and its end.
    let handshake = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "page", "version": "1"},
    }});
    let begun = browser
        .fetch("POST", "/mcp", &with_token(&bearer), &handshake.to_string())
        .unwrap();
    assert_eq!(begun.status, 200);
    let exposed = header(&begun, "access-control-expose-headers").unwrap();
    assert!(exposed.contains("mcp-session-id"), "{begun:?}");
    let session = header(&begun, "mcp-session-id").unwrap();
    let mut headers = with_token(&bearer);
    headers.push(("Mcp-Session-Id", session));
    headers.push(("Last-Event-ID", "1"));
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}).to_string();
    let listed = browser.fetch("POST", "/mcp", &headers, &list).unwrap();
    assert!(listed.json()["result"]["tools"].is_array());
    assert_eq!(
        browser
            .fetch("DELETE", "/mcp", &headers, "")
            .unwrap()
            .status,
        204
    );
    // A page can read why it was refused.
    for (path, headers, body, status) in [
        (
            "/api/search",
            with_token("Bearer wrong"),
            search.as_str(),
            401,
        ),
        ("/api/search", with_token(&bearer), "{", 400),
        ("/mcp", with_token(&bearer), "{", 400),
        ("/no/such/route", with_token(&bearer), "{}", 404),
    ] {
        let refused = browser.fetch("POST", path, &headers, body).unwrap();
        assert_eq!(refused.status, status, "{refused:?}");
        let error: Value = refused.json();
        assert!(error["error"].is_object(), "{refused:?}");
    }
}

#[test]
fn other_pages_cannot() {
    let desk = Desk::indexed();
    let bearer = format!("Bearer {}", token(&desk, &["page"]));
    let served = Served::start(&desk, &["--allow-origin", PAGE]);
    for origin in [
        "https://evil.example",
        "http://app.example",
        "https://app.example:8443",
        "https://app.example.evil.example",
        "null",
    ] {
        let browser = Browser {
            served: &served,
            origin,
        };
        browser
            .fetch("POST", "/api/search", &with_token(&bearer), "{}")
            .unwrap_err();
        browser.fetch("GET", "/health", &[], "").unwrap_err();
    }
    // Without a page, nothing is allowed to any, and a question needs a token like
    // everything else.
    let found = served.get("/api/status", bearer.trim_start_matches("Bearer "));
    assert!(!found.head.contains("access-control"), "{found:?}");
    let asked = [("Access-Control-Request-Method", "POST")];
    assert_eq!(
        served.send("OPTIONS", "/api/search", &asked, "").status,
        401
    );
    for wrong in ["*", "null", "app.example", "https://app.example/page"] {
        let run = desk.run(&["mcp", "--http", "0", "--allow-origin", wrong]);
        assert_eq!(run.code, Some(2), "{run}");
    }
}
