//! People sign in with a browser, by a link or with a token.

use std::time::Duration;

use kodiak_server::http::{HttpOptions, Limits};
use kodiak_server::token::{Grant, Tokens};
use serde_json::{Value, json};

use crate::desk::{Desk, reader, writer};
use crate::web::{Browser, Web, token, tokens};

fn status(web: &Web, browser: &Browser) -> u16 {
    web.ask(browser, "GET", "/api/status", None).status
}

#[test]
fn a_link_signs_in_once() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let code = json!({"code": web.sign_in.code().unwrap()});
    let reply = web.post("/session", &[], &code);
    assert_eq!(reply.status, 200, "{reply:?}");
    let port = web.address.port();
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("kodiak-{port}=")), "{cookie}");
    assert!(
        cookie.ends_with("; httponly; samesite=strict; path=/"),
        "{cookie}"
    );
    assert_eq!(reply.header("cache-control"), Some("no-store"));
    let secret = reply.json()["secret"].as_str().unwrap().to_owned();
    let value = cookie.split(['=', ';']).nth(1).unwrap();
    assert_eq!((value.len(), secret.len()), (64, 64));
    assert_ne!(value, secret);

    let again = web.post("/session", &[], &code);
    assert_eq!((again.status, again.code().as_str()), (401, "code-invalid"));
    assert_eq!(again.header("set-cookie"), None);

    // The session has the rights of the server.
    let owner = web.owner();
    let session = web.ask(&owner, "GET", "/api/session", None).json();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        session,
        json!({"write": false, "local": true, "version": version})
    );
    let found = web.ask(
        &owner,
        "POST",
        "/api/search",
        Some(&json!({"query": "ramen"})),
    );
    assert!(!found.json()["hits"].as_array().unwrap().is_empty());
}

#[test]
fn a_link_expires() {
    let desk = Desk::with_examples();
    let limits = Limits {
        code: Duration::ZERO,
        ..Limits::default()
    };
    let web = Web::limited(&desk, &desk.server(reader()), limits);
    let code = json!({"code": web.sign_in.code().unwrap()});
    assert_eq!(web.post("/session", &[], &code).code(), "code-invalid");
}

#[test]
fn a_session_expires() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    for limits in [
        Limits {
            session_idle: Duration::ZERO,
            ..Limits::default()
        },
        Limits {
            session: Duration::ZERO,
            ..Limits::default()
        },
    ] {
        let web = Web::limited(&desk, &server, limits);
        let owner = web.owner();
        let refused = web.ask(&owner, "GET", "/api/status", None);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (401, "session-ended")
        );
        assert!(
            refused.head.contains("www-authenticate: bearer"),
            "{refused:?}"
        );
    }
}

#[test]
fn a_token_signs_in_until_it_is_revoked() {
    let desk = Desk::with_examples();
    let server = desk.server(writer());
    let web = Web::start(&desk, &server);
    let grant = Grant {
        project: Some("/work/atlas".to_owned()),
        ..Grant::default()
    };
    let secret = token(&desk, "laptop", grant);
    let (one, other) = (
        web.signed_in(&json!({"token": secret})),
        web.signed_in(&json!({"token": format!(" {secret}\n")})),
    );
    let owner = web.owner();
    let session = web.ask(&one, "GET", "/api/session", None).json();
    assert_eq!(
        session,
        json!({
            "write": false, "local": false, "name": "laptop", "project": "/work/atlas",
            "version": env!("CARGO_PKG_VERSION"),
        })
    );
    assert_eq!((status(&web, &one), status(&web, &owner)), (200, 200));
    tokens(&desk).revoke("laptop", "test").unwrap();
    for browser in [&one, &other] {
        let refused = web.ask(browser, "GET", "/api/status", None);
        assert_eq!(
            (refused.status, refused.code().as_str()),
            (401, "session-ended")
        );
    }
    // Another one of its name is another one.
    let new = token(&desk, "laptop", Grant::default());
    assert_eq!((status(&web, &one), status(&web, &owner)), (401, 200));
    assert_eq!(status(&web, &web.signed_in(&json!({"token": new}))), 200);
    let gone = web.post("/session", &[], &json!({"token": secret}));
    assert_eq!((gone.status, gone.code().as_str()), (401, "token-required"));
}

#[test]
fn an_expired_token_signs_in_nowhere() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let now = kodiak::date::now();
    let file = tokens(&desk);
    let create = |name: &str, end| {
        let grant = Grant::default();
        file.create(name, grant, now - 100, Some(end), "test")
            .unwrap()
    };
    let over = create("over", now - 1);
    let refused = web.post("/session", &[], &json!({"token": over}));
    assert_eq!(refused.status, 401, "{refused:?}");
    let short = web.signed_in(&json!({"token": create("short", now + 3)}));
    assert_eq!(status(&web, &short), 200);
    while kodiak::date::now() < now + 3 {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(status(&web, &short), 401);
}

#[test]
fn neither_secret_is_enough() {
    let desk = Desk::with_examples();
    let server = desk.server(reader());
    let web = Web::start(&desk, &server);
    // A server on another port of the host, which the browser has signed in to as well.
    let neighbour = Web::start(&desk, &server);
    let (owner, other) = (web.owner(), neighbour.owner());
    let refused = |headers: &[(&str, &str)], code: &str| {
        for (method, path) in [("GET", "/api/status"), ("DELETE", "/session")] {
            let reply = web.send(method, path, headers, "");
            assert_eq!(reply.status, 401, "{headers:?} {reply:?}");
            let expected = if path == "/session" {
                "session-ended"
            } else {
                code
            };
            assert_eq!(reply.code(), expected, "{headers:?}");
        }
    };
    refused(&[], "token-required");
    refused(&[("Cookie", &owner.cookie)], "session-ended");
    refused(&[("Kodiak-Secret", &owner.secret)], "session-ended");
    // The cookies of all ports come along, and those of others do not count.
    let renamed = other.cookie.replace(
        &neighbour.address.port().to_string(),
        &web.address.port().to_string(),
    );
    for cookie in [&other.cookie, &renamed] {
        for secret in [&owner.secret, &other.secret] {
            let headers = [("Cookie", cookie.as_str()), ("Kodiak-Secret", secret)];
            refused(&headers, "session-ended");
        }
    }
    let both = format!("{}; {}", other.cookie, owner.cookie);
    let headers = [("Cookie", both.as_str()), ("Kodiak-Secret", &owner.secret)];
    assert_eq!(web.send("GET", "/api/status", &headers, "").status, 200);
    let two = format!("{}; {renamed}", owner.cookie);
    let headers = [("Cookie", two.as_str()), ("Kodiak-Secret", &owner.secret)];
    refused(&headers, "session-ended");
    // A wrong token is not made up for by a session.
    let headers = [
        ("Cookie", owner.cookie.as_str()),
        ("Kodiak-Secret", &owner.secret),
        ("Authorization", "Bearer kodiak_00"),
    ];
    assert_eq!(web.send("GET", "/api/status", &headers, "").status, 401);
    assert_eq!(status(&web, &owner), 200);
}

#[test]
fn sessions_are_for_the_own_page() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let owner = web.owner();
    let session = |origin: &str, method: &str, path: &str, body: &str| {
        let headers = [
            ("Cookie", owner.cookie.as_str()),
            ("Kodiak-Secret", owner.secret.as_str()),
            ("Origin", origin),
            ("Content-Type", "application/json"),
        ];
        web.send(method, path, &headers, body)
    };
    let port = web.address.port();
    // On another port of the host, by another name of it, elsewhere, and one that may
    // call with a token.
    for origin in [
        format!("http://127.0.0.1:{}", port ^ 1),
        format!("http://localhost:{port}"),
        "http://evil.example".to_owned(),
        "null".to_owned(),
        "http://app.example".to_owned(),
    ] {
        for (method, path, body) in [
            ("GET", "/api/status", ""),
            ("POST", "/api/search", "{}"),
            ("DELETE", "/session", ""),
        ] {
            let reply = session(&origin, method, path, body);
            assert!(matches!(reply.status, 401 | 403), "{origin} {reply:?}");
        }
        let code = json!({"code": web.sign_in.code().unwrap()});
        let reply = web.post("/session", &[("Origin", &origin)], &code);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (403, "origin-not-allowed")
        );
        assert_eq!(reply.header("set-cookie"), None);
        // The code was not taken.
        assert_eq!(web.post("/session", &[], &code).status, 200);
    }
    let own = format!("http://{}", web.address);
    assert_eq!(session(&own, "GET", "/api/status", "").status, 200);
    // Programs have tokens, and sessions are none of theirs.
    let ping = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
    for (method, path) in [
        ("POST", "/mcp"),
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("GET", "/"),
        ("POST", "/nowhere"),
    ] {
        let reply = session(&own, method, path, ping);
        let expected = if path == "/" { 200 } else { 401 };
        assert_eq!(reply.status, expected, "{method} {path} {reply:?}");
    }
}

#[test]
fn signing_out_ends_a_session() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let (one, other) = (web.owner(), web.owner());
    let reply = web.ask(&one, "DELETE", "/session", None);
    assert_eq!(reply.status, 204, "{reply:?}");
    assert!(reply.header("set-cookie").unwrap().contains("max-age=0"));
    assert_eq!((status(&web, &one), status(&web, &other)), (401, 200));
    assert_eq!(web.ask(&one, "DELETE", "/session", None).status, 401);
}

#[test]
fn guesses_are_bounded_and_keep_no_one_out() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    let guess = |body: &Value| web.post("/session", &[], body);
    let codes = [json!({"code": "0"}), json!({"token": "kodiak_0"})];
    let first: Vec<u16> = (0..20)
        .map(|number| guess(&codes[number % 2]).status)
        .collect();
    assert_eq!(first, [401; 20]);
    let refused = guess(&codes[0]);
    assert_eq!(
        (refused.status, refused.code().as_str()),
        (429, "too-many-attempts")
    );
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&wait), "{refused:?}");
    assert_eq!(guess(&codes[1]).status, 429);
    assert_eq!(status(&web, &web.owner()), 200);
}

#[test]
fn what_signs_in_is_one_of_two() {
    let desk = Desk::with_examples();
    let web = Web::start(&desk, &desk.server(reader()));
    for body in [
        json!({}),
        json!({"code": "a", "token": "b"}),
        json!({"code": 1}),
        json!({"code": "a", "name": "b"}),
        json!(["a"]),
    ] {
        let reply = web.post("/session", &[], &body);
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (400, "bad-request"),
            "{body}"
        );
    }
    let form = [("Content-Type", "application/x-www-form-urlencoded")];
    assert_eq!(web.send("POST", "/session", &form, "code=a").status, 415);
    let long = json!({"code": "a".repeat(10_000)});
    assert_eq!(web.post("/session", &[], &long).status, 413);
    let wrong = web.send("GET", "/session", &[], "");
    assert_eq!(
        (wrong.status, wrong.code().as_str()),
        (405, "method-not-allowed")
    );
}

#[test]
fn without_tokens_the_page_needs_no_sign_in() {
    let desk = Desk::with_examples();
    let options = HttpOptions {
        address: "127.0.0.1:0".parse().unwrap(),
        tokens: None,
        hosts: Vec::new(),
        origins: Vec::new(),
        limits: Limits::default(),
    };
    let web = Web::with(&desk.server(reader()), options);
    let session = web.send("GET", "/api/session", &[], "").json();
    assert_eq!(
        (&session["local"], &session["write"]),
        (&json!(true), &json!(false))
    );
    let refused = web.post("/session", &[], &json!({"token": "kodiak_0"}));
    assert_eq!(refused.status, 401);
}
