//! Requests that no client should send: each is refused, logged once, and the
//! next one is answered.

use serde_json::json;

use crate::desk::{Desk, reader};
use crate::wire::Wire;

#[tokio::test]
async fn what_is_not_a_message_is_refused_and_logged_once() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    // Before the beginning, what needs no answer is ignored.
    wire.tell("notifications/cancelled", json!({"requestId": 1}))
        .await;
    wire.initialize().await;
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}1{}}}"#,
        r#"{"a":"#.repeat(10_000),
        "}".repeat(10_000)
    );
    for (line, code) in [
        (&b"{\"jsonrpc\": \"2.0\", \"id\": 1"[..], -32700),
        (b"hello", -32700),
        (b"\xff\xfe\x00", -32700),
        (deep.as_bytes(), -32700),
        (nested.as_bytes(), -32700),
        (b"[]", -32600),
        (b"{}", -32600),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]",
            -32600,
        ),
        (
            b"{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
            -32600,
        ),
    ] {
        wire.send(line).await;
        let refused = wire.receive().await;
        assert_eq!(refused["error"]["code"], code, "{refused}");
    }
    // The same again is not logged again.
    for _ in 0..20 {
        wire.send(b"{}").await;
        assert_eq!(wire.receive().await["error"]["code"], -32600);
    }
    let logged = desk.log.lock().unwrap().len();
    assert!((1..=4).contains(&logged), "{logged}");
    wire.send(b"").await;
    assert!(wire.ask("ping", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn a_line_without_end_is_skipped() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    wire.initialize().await;
    let long = vec![b'a'; 17 << 20];
    wire.send(&long).await;
    assert_eq!(wire.receive().await["error"]["code"], -32600);
    assert!(wire.ask("ping", json!({})).await["result"].is_object());
}

#[tokio::test]
async fn unknown_methods_and_arguments_are_refused() {
    let desk = Desk::with_examples();
    let mut wire = Wire::new(&desk.server(reader()));
    wire.initialize().await;
    for method in [
        "fly",
        "tools/fly",
        "sampling/createMessage",
        "logging/setLevel",
        "",
    ] {
        let refused = wire.ask(method, json!({})).await;
        assert!(refused["error"]["code"].is_number(), "{method}: {refused}");
    }
    let many: Vec<String> = (0..10_000).map(|number| format!("{number:06x}")).collect();
    for (name, arguments) in [
        ("get", json!({"ids": many})),
        ("get", json!({"ids": many[..100]})),
        ("get", json!({"ids": []})),
        ("get", json!({"ids": ["../../../etc/passwd"]})),
        (
            "get",
            json!({"ids": ["/etc/passwd", "notes/../../../etc/passwd"]}),
        ),
        ("get", json!({"ids": ["#\u{0}\u{1b}[2J"]})),
        ("get", json!({"ids": ["a".repeat(1_000_000)]})),
        ("get", json!({"ids": {"a": 1}})),
        ("get", json!({})),
        ("search", json!({"query": 1, "limit": -5})),
        ("search", json!({"query": "a", "limit": 1e300})),
        ("search", json!({"query": "a", "after": "someday"})),
        ("search", json!({"query": "a", "sources": ["elsewhere"]})),
        ("search", json!({"query": "a", "project": "elsewhere"})),
        ("note_get", json!({"ids": ["../x"], "lines": ["0-1"]})),
        ("page_create", json!({"title": "x"})),
        ("note_create", json!({"title": "x"})),
    ] {
        let refused = wire.call(name, arguments).await;
        assert_eq!(refused["isError"], true, "{name}: {refused}");
        let text = refused["content"][0]["text"].as_str().unwrap();
        assert!(text.starts_with("Error: ") && text.len() < 2_000, "{text}");
    }
    let odd = wire
        .call("search", json!({"query": "\"( NEAR OR ^* \u{0}"}))
        .await;
    assert_eq!(odd["isError"], false);
}
