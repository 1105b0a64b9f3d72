//! The file that describes the API says what the server does.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use super::{Response, Served, token};
use crate::desk::Desk;

fn description() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Follows a reference within the file.
fn resolved<'a>(whole: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(pointer) => whole.pointer(pointer.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

/// Checks a value against a schema, as far as the file uses schemas. Unlike the
/// file, it wants every property of an object to be described.
fn check(whole: &Value, schema: &Value, value: &Value, at: &str) {
    let schema = resolved(whole, schema);
    match &schema["type"] {
        Value::String(kind) => assert!(is_of(value, kind), "{at} is not {kind}: {value}"),
        Value::Array(kinds) => {
            let any = kinds
                .iter()
                .any(|kind| is_of(value, kind.as_str().unwrap()));
            assert!(any, "{at}: {value}");
        }
        _ => {}
    }
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{at}: {value}");
    }
    if let Some(properties) = schema["properties"].as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(
                value.get(name.as_str().unwrap()).is_some(),
                "{at} lacks {name}: {value}"
            );
        }
        for (name, inner) in value.as_object().unwrap() {
            let described = properties.get(name);
            let described = described.unwrap_or_else(|| panic!("{at}.{name} is not described"));
            check(whole, described, inner, &format!("{at}.{name}"));
        }
    }
    if let (Some(items), Some(values)) = (schema.get("items"), value.as_array()) {
        for inner in values {
            check(whole, items, inner, &format!("{at}[]"));
        }
    }
}

#[test]
fn the_described_routes_are_those_there_are() {
    let whole = description();
    assert_eq!(whole["openapi"], "3.1.0");
    assert_eq!(whole["info"]["version"], env!("CARGO_PKG_VERSION"));
    let desk = Desk::indexed();
    let served = Served::start(&desk, &["--no-token"]);
    let mut described = BTreeSet::new();
    for (path, methods) in whole["paths"].as_object().unwrap() {
        let path = path.replace("{id}", "gtd").replace("{path}", "a.png");
        for method in ["get", "post", "put", "patch", "delete"] {
            // A stream does not end.
            if (method, path.as_str()) == ("get", "/api/events") {
                assert!(methods.get(method).is_some());
                continue;
            }
            let headers = [("Content-Type", "application/json")];
            let answer = served.send(&method.to_uppercase(), &path, &headers, "{}");
            let known = methods.get(method).is_some();
            assert_eq!(answer.status != 405, known, "{method} {path}: {answer:?}");
            if known {
                described.insert(path.clone());
                let status = answer.status.to_string();
                assert!(
                    methods[method]["responses"].get(&status).is_some(),
                    "{answer:?}"
                );
            } else {
                let mut lines = answer.head.lines();
                let allowed = lines.find(|line| line.starts_with("allow: ")).unwrap();
                for method in methods.as_object().unwrap().keys() {
                    assert!(allowed.contains(method.as_str()), "{answer:?}");
                }
            }
        }
    }
}

/// Checks an answer of a route against its description.
fn check_answer(whole: &Value, method: &str, path: &str, answer: &Response) {
    let responses = &whole["paths"][path][method]["responses"];
    let response = resolved(whole, &responses[answer.status.to_string()]);
    assert!(response.is_object(), "{method} {path} {answer:?}");
    if answer.status == 204 {
        assert_eq!(answer.body, "");
        return;
    }
    let schema = &response["content"]["application/json"]["schema"];
    assert!(schema.is_object(), "{path} {answer:?}");
    check(whole, schema, &answer.json(), path);
}

/// Writes, and takes it back.
fn writing_is_as_described(whole: &Value) {
    let desk = Desk::indexed();
    desk.ok(&["add", "notes", "--writable"]);
    let token = token(&desk, &["writer", "--allow-write"]);
    let served = Served::start(&desk, &["--allow-write"]);
    let gtd = "/api/documents/notes%2Fproductivity%2Fgtd.md";
    let id = "/api/documents/{id}";
    let post = |route: &str, path: &str, body: &Value, status: u16| {
        let answer = served.post(path, &token, body);
        assert_eq!(answer.status, status, "{path} {body} {answer:?}");
        check_answer(whole, "post", route, &answer);
        if status >= 300 || status == 204 {
            return Value::Null;
        }
        json!({"undo": answer.json()["undo"]})
    };
    let page = json!({"title": "New", "text": "Text.", "tags": ["a"], "source": "notes"});
    let undo = post("/api/pages", "/api/pages", &page, 201);
    post("/api/pages", "/api/pages", &page, 409);
    post("/api/pages", "/api/pages", &json!({}), 400);
    post("/api/undo", "/api/undo", &undo, 204);
    post("/api/undo", "/api/undo", &undo, 404);
    let memory = json!({"text": "Known.", "kind": "decision", "project": "atlas"});
    let undo = post("/api/memories", "/api/memories", &memory, 201);
    post("/api/memories", "/api/memories", &memory, 200);
    post("/api/undo", "/api/undo", &undo, 204);
    let tags = (format!("{id}/tags"), format!("{gtd}/tags"));
    let change = json!({"add": ["a"], "remove": ["gtd"]});
    let undo = post(&tags.0, &tags.1, &change, 200);
    post("/api/undo", "/api/undo", &undo, 200);
    post(&tags.0, "/api/documents/nowhere/tags", &change, 404);
    let open = (format!("{id}/open"), format!("{gtd}/open"));
    post(&open.0, &open.1, &json!({}), 403);
    let bearer = format!("Bearer {token}");
    let gone = served.send("DELETE", gtd, &[("Authorization", &bearer)], "");
    assert_eq!(gone.status, 200, "{gone:?}");
    check_answer(whole, "delete", id, &gone);
    post("/api/undo", "/api/undo", &gone.json(), 200);
}

#[test]
fn real_answers_are_as_described() {
    let whole = description();
    let desk = Desk::indexed();
    let token = token(&desk, &["laptop"]);
    let served = Served::start(&desk, &[]);
    let is_as_described = |method: &str, path: &str, answer: &Response| {
        check_answer(&whole, method, path, answer);
    };
    for (body, status) in [
        (json!({"query": "ramen broth"}), 200),
        (json!({"query": "ramne broht", "limit": 3}), 200),
        (
            json!({"query": "ramen", "explain": true, "all_copies": true}),
            200,
        ),
        (json!({"query": "xyzzyplugh"}), 200),
        (json!({"query": "", "tags": ["cooking"]}), 200),
        (json!({}), 200),
        (json!({"limit": 0}), 400),
    ] {
        let answer = served.post("/api/search", &token, &body);
        assert_eq!(answer.status, status, "{answer:?}");
        is_as_described("post", "/api/search", &answer);
        let answer = served.post("/api/facets", &token, &body);
        assert_eq!(answer.status, status, "{answer:?}");
        is_as_described("post", "/api/facets", &answer);
    }
    for (path, route, status) in [
        ("/api/documents/gtd", "/api/documents/{id}", 200),
        ("/api/documents/gtd?lines=2-3", "/api/documents/{id}", 200),
        ("/api/documents/nowhere", "/api/documents/{id}", 404),
        ("/api/documents/gtd?lines=x", "/api/documents/{id}", 400),
        (
            "/api/documents/gtd/rendered",
            "/api/documents/{id}/rendered",
            200,
        ),
        (
            "/api/documents/gtd/rendered?line=0",
            "/api/documents/{id}/rendered",
            400,
        ),
        (
            "/api/documents/gtd/conversation",
            "/api/documents/{id}/conversation",
            404,
        ),
        (
            "/api/documents/gtd/files/nowhere.png",
            "/api/documents/{id}/files/{path}",
            404,
        ),
        ("/api/recent?limit=3", "/api/recent", 200),
        ("/api/recent?limit=0", "/api/recent", 400),
        (
            "/api/timeline/counts?source=notes",
            "/api/timeline/counts",
            200,
        ),
        (
            "/api/timeline/counts?unit=year",
            "/api/timeline/counts",
            400,
        ),
        ("/api/events?x=1", "/api/events", 400),
        ("/api/links/gtd", "/api/links/{id}", 200),
        ("/api/links/gtd?limit=1", "/api/links/{id}", 200),
        ("/api/links/nowhere", "/api/links/{id}", 404),
        ("/api/links/gtd?limit=0", "/api/links/{id}", 400),
        ("/api/similar/gtd", "/api/similar/{id}", 200),
        (
            "/api/similar/gtd?limit=1&source=notes&lines=1-3",
            "/api/similar/{id}",
            200,
        ),
        // Lines beyond the end are said to be so.
        ("/api/similar/gtd?lines=1-9999", "/api/similar/{id}", 200),
        ("/api/similar/nowhere", "/api/similar/{id}", 404),
        ("/api/similar/gtd?limit=0", "/api/similar/{id}", 400),
        ("/api/similar/gtd?lines=x", "/api/similar/{id}", 400),
        ("/api/similar/gtd?query=x", "/api/similar/{id}", 400),
        ("/api/timeline?source=notes&limit=3", "/api/timeline", 200),
        (
            "/api/timeline?source=notes&around=gtd&context=2",
            "/api/timeline",
            200,
        ),
        (
            "/api/timeline?source=notes&around=nowhere",
            "/api/timeline",
            404,
        ),
        ("/api/timeline?around=nowhere", "/api/timeline", 404),
        ("/api/timeline", "/api/timeline", 200),
        ("/api/timeline?limit=x", "/api/timeline", 400),
        ("/api/status", "/api/status", 200),
        ("/api/status?x=1", "/api/status", 400),
        ("/api/session", "/api/session", 200),
        ("/api/session?x=1", "/api/session", 400),
        ("/health", "/health", 200),
    ] {
        let answer = served.get(path, &token);
        assert_eq!(answer.status, status, "{answer:?}");
        is_as_described("get", route, &answer);
    }
    writing_is_as_described(&whole);
    is_as_described(
        "get",
        "/api/status",
        &served.send("GET", "/api/status", &[], ""),
    );
    for (body, status) in [
        (json!({"token": token}), 200),
        (json!({"token": "kodiak_0"}), 401),
        (json!({"code": "0"}), 401),
        (json!({}), 400),
    ] {
        let answer = served.post("/session", "", &body);
        assert_eq!(answer.status, status, "{answer:?}");
        is_as_described("post", "/session", &answer);
    }
    let host = served.send("GET", "/api/status", &[("Host", "evil.example")], "");
    is_as_described("get", "/api/status", &host);
}

/// Removes from an answer the time it took, and where files are on the server's machine,
/// which is not for callers.
fn without_place_and_time(answer: &mut Value) {
    answer["took_ms"] = Value::Null;
    for hit in answer["hits"].as_array_mut().unwrap() {
        hit.as_object_mut().unwrap().remove("file");
    }
}

#[test]
fn answers_are_those_of_the_command_line() {
    let desk = Desk::indexed();
    // However busy the machine is, all changes are looked for.
    desk.configure("refresh_ms", 60_000);
    let served = Served::start(&desk, &["--no-token"]);
    let mut answer = served
        .post("/api/search", "", &json!({"query": "ramen broth"}))
        .json();
    let mut printed = desk.json(&["search", "ramen", "broth", "--json"]);
    for value in [&mut answer, &mut printed] {
        without_place_and_time(value);
    }
    assert_eq!(answer, printed);
    let id = answer["hits"][0]["id"]
        .as_str()
        .unwrap()
        .trim_start_matches('#')
        .to_owned();
    let answer = served.get(&format!("/api/documents/{id}"), "").json();
    let mut printed = desk.json(&["get", &id, "--json"]);
    printed.as_object_mut().unwrap().remove("file");
    assert_eq!(answer, printed);
    let answer = served.get(&format!("/api/links/{id}"), "").json();
    assert_eq!(answer, desk.json(&["links", &id, "--json"]));
    let mut answer = served.get(&format!("/api/similar/{id}"), "").json();
    let mut printed = desk.json(&["similar", &id, "--json"]);
    assert!(!answer["hits"].as_array().unwrap().is_empty());
    for value in [&mut answer, &mut printed] {
        without_place_and_time(value);
    }
    assert_eq!(answer, printed);
    let answer = served.get("/api/timeline?source=notes&limit=5", "").json();
    let printed = desk.json(&["timeline", "--source", "notes", "-n", "5", "--json"]);
    assert_eq!(answer["entries"].as_array().unwrap().len(), 5);
    assert_eq!(answer, printed);
}
