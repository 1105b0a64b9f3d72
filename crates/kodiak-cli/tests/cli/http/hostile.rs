//! Requests that are never sent by accident: refused cleanly, logged once, and the
//! server is alive.

use std::io::Write;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::{Served, token};
use crate::desk::Desk;

const JSON: [(&str, &str); 2] = [
    ("Content-Type", "application/json"),
    ("Accept", "application/json, text/event-stream"),
];

#[test]
fn web_pages_of_others_are_refused() {
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token", "--allow-host", "notes.example"]);
    for host in [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "",
    ] {
        for path in ["/health", "/api/status", "/mcp"] {
            let refused = served.send("GET", path, &[("Host", host)], "");
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (403, "host-not-allowed")
            );
        }
    }
    let port = served.address.rsplit(':').next().unwrap();
    for host in [
        format!("localhost:{port}"),
        "127.0.0.1".into(),
        "notes.example".into(),
    ] {
        assert_eq!(
            served.send("GET", "/health", &[("Host", &host)], "").status,
            200
        );
    }
    for origin in [
        "http://evil.example",
        "null",
        "http://localhost:3000",
        "https://127.0.0.1",
    ] {
        for (method, path) in [
            ("GET", "/health"),
            ("POST", "/api/search"),
            ("POST", "/mcp"),
        ] {
            let mut headers = JSON.to_vec();
            headers.push(("Origin", origin));
            let refused = served.send(method, path, &headers, "{}");
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (403, "origin-not-allowed")
            );
            assert!(!refused.head.contains("access-control"), "{refused:?}");
        }
    }
    let own = format!("http://{}", served.address);
    assert_eq!(
        served
            .send("GET", "/health", &[("Origin", &own)], "")
            .status,
        200
    );
    // A browser asks first, and hears no.
    let asked = [
        ("Origin", "http://evil.example"),
        ("Access-Control-Request-Method", "POST"),
    ];
    assert_eq!(
        served.send("OPTIONS", "/api/search", &asked, "").status,
        403
    );
    let missing = served
        .raw(b"GET /health HTTP/1.1\r\nConnection: close\r\n\r\n")
        .unwrap();
    assert!(matches!(missing.status, 400 | 403), "{missing:?}");
    // Twelve were refused for their host, and the log says so once in a while.
    assert!((1..12).contains(&served.logged("is not called 'evil.example")));
    served.is_alive();
}

#[test]
fn malformed_requests_are_refused() {
    let desk = Desk::indexed();
    let token = token(&desk, &["laptop"]);
    let served = Served::start(&desk, &[]);
    let bearer = format!("Bearer {token}");
    let send = |path: &str, body: &str| {
        let mut headers = JSON.to_vec();
        headers.push(("Authorization", &bearer));
        served.send("POST", path, &headers, body)
    };
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"query\": {}1{}}}", "[".repeat(5_000), "]".repeat(5_000));
    for body in [
        "",
        "{",
        "null",
        "[]",
        "\u{feff}{}",
        "{\"query\": 1}",
        "{\"query\": \"a\", \"x\": 1}",
        "{\"limit\": 0}",
        "{\"limit\": 101}",
        "{\"limit\": -1}",
        "{\"limit\": 1e99}",
        "{\"mode\": \"fuzzy\"}",
        "{\"min_relevance\": 2}",
        "{\"after\": \"soon\"}",
        "{\"after\": \"2026\", \"before\": \"2025\"}",
        "{\"sources\": [\"nowhere\"]}",
        "{\"query\": \"a\", \"query\": \"b\"}",
        &deep,
        &nested,
    ] {
        let refused = send("/api/search", body);
        let shown: String = body.chars().take(60).collect();
        assert_eq!(refused.status, 400, "{shown}: {refused:?}");
        assert_eq!(refused.code(), "bad-request", "{shown}");
    }
    for (body, code) in [
        ("", -32700),
        ("{", -32700),
        ("hello", -32700),
        (&deep, -32700),
        (&nested, -32700),
        ("null", -32600),
        ("[]", -32600),
        ("{}", -32600),
        ("{\"jsonrpc\": \"1.0\", \"id\": 1}", -32600),
        (
            "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
        ),
    ] {
        let refused = send("/mcp", body);
        assert_eq!(refused.status, 400, "{refused:?}");
        assert!(refused.head.contains("content-type: application/json"));
        let error = refused.json();
        assert_eq!(
            (&error["jsonrpc"], &error["error"]["code"]),
            (&json!("2.0"), &json!(code)),
            "{refused:?}"
        );
    }
    for params in [
        json!({}),
        json!({"name": 1}),
        json!([]),
        json!({"name": "get", "arguments": 1}),
    ] {
        let refused = served.protocol(&token, "tools/call", &params);
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(1), &json!(-32602)),
            "{refused}"
        );
    }
    let missing = served.protocol(&token, "no/such/method", &json!({}));
    assert_eq!(missing["error"]["code"], -32601, "{missing}");
    // The same error as over the protocol, and not an answer without hits.
    let unknown = send(
        "/api/search",
        "{\"query\": \"a\", \"projects\": [\"nowhere\"]}",
    );
    let told = served.call(
        &token,
        "search",
        &json!({"query": "a", "project": "nowhere"}),
    );
    let told = told["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(unknown.status, 400, "{unknown:?}");
    let message = unknown.json()["error"]["message"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(told.contains(&message), "{told}: {message}");
    assert_eq!(
        served.get("/api/timeline?project=nowhere", &token).status,
        400
    );
    let plain = [("Authorization", bearer.as_str()), JSON[1]];
    let plain = served.send("POST", "/mcp", &plain, "{}");
    assert_eq!(
        (plain.status, &plain.json()["error"]["code"]),
        (415, &json!(-32600))
    );
    // Too large, whether it says so or not.
    let large = json!({"query": "x".repeat(2 << 20)}).to_string();
    assert_eq!(send("/api/search", &large).status, 413);
    assert_eq!(send("/mcp", &large).status, 413);
    for path in ["/api/search", "/mcp"] {
        let mut chunked = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: {bearer}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
            served.address
        )
        .into_bytes();
        for _ in 0..40 {
            chunked.extend_from_slice(b"10000\r\n");
            chunked.extend(std::iter::repeat_n(b' ', 0x10000));
            chunked.extend_from_slice(b"\r\n");
        }
        // It may close the connection before all was sent.
        if let Ok(refused) = served.raw(&chunked) {
            assert_eq!(refused.status, 413, "{refused:?}");
        }
    }
    let plain = served.send("POST", "/api/search", &[("Authorization", &bearer)], "{}");
    assert_eq!((plain.status, plain.code().as_str()), (415, "not-json"));
    for (method, params) in [
        ("no/such/method", json!({})),
        ("tools/call", json!({"name": "rm"})),
    ] {
        let refused = served.protocol(&token, method, &params);
        assert!(refused["error"]["code"].is_i64(), "{refused}");
    }
    for bytes in [
        &b"\x16\x03\x01\x02\x00\x01\x00"[..],
        b"GET\r\n\r\n",
        b"\0\0\0\0",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let _ = served.raw(bytes);
    }
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(1 << 20));
    let _ = served.raw(long.as_bytes());
    // A silent one does not hold up others.
    let mut silent = TcpStream::connect(&served.address).unwrap();
    silent.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").unwrap();
    served.is_alive();
    assert!(served.logged("panicked") == 0);
}

#[test]
fn no_path_leads_out() {
    let desk = Desk::indexed();
    desk.write("secret.md", "# Secret\n\nA secret outside every source.\n");
    let token = token(&desk, &["laptop"]);
    let served = Served::start(&desk, &[]);
    let root = desk.path("secret.md");
    let root = root.to_str().unwrap();
    let ways = [
        "../secret.md",
        "notes/../secret.md",
        "notes/../../etc/passwd",
        "/etc/passwd",
        root,
        "kodiak://notes/../secret.md",
        "kodiak://notes/..%2fsecret.md",
        "file:///etc/passwd",
        "..\\secret.md",
        "notes/\0",
        "%2e%2e/secret.md",
        "#",
        "#../x",
        "-",
        ":",
        "notes/:1-",
    ];
    for way in ways {
        let encoded: String = way.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = served.get(&format!("/api/documents/{encoded}"), &token);
        assert!(matches!(answer.status, 400 | 404), "{way}: {answer:?}");
        assert!(!answer.body.contains("outside every source"), "{answer:?}");
        assert!(!answer.body.contains("root:"), "{answer:?}");
        let answer = served.call(&token, "get", &json!({"ids": [way]}));
        assert_eq!(answer["isError"], true, "{way}: {answer}");
        let answer = served.protocol(&token, "resources/read", &json!({"uri": way}));
        assert!(answer["error"].is_object(), "{way}: {answer}");
    }
    for path in [
        "/api/documents/..",
        "/api/documents/%FF",
        "/api/documents/",
        "/api/../api/status",
        "//api/status",
    ] {
        let answer = served.get(path, &token);
        assert!((400..500).contains(&answer.status), "{path}: {answer:?}");
    }
    let answer = served.get("/api/documents/gtd?lines=0", &token);
    assert_eq!(answer.status, 400, "{answer:?}");
    // Ten thousand ids at once.
    let ids: Vec<Value> = (0..10_000).map(|id| json!(format!("#{id:08x}"))).collect();
    let answer = served.call(&token, "get", &json!({"ids": ids}));
    assert_eq!(answer["isError"], true);
    assert!(answer.to_string().len() < 2_000, "{answer}");
    served.is_alive();
}
