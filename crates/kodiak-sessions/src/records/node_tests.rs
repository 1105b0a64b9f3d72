use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A node that says everything, with an unknown field.
fn full() -> serde_json::Value {
    json!({
        "id": "9f2c4e1ab0d37756", "version": 2, "previousVersions": ["9f2c4e1ab0d37756-v1"],
        "source": {"sessionFile": "a.jsonl", "computer": "laptop", "sessionId": "s-17"},
        "classification": {"type": "coding", "project": "~/src/api", "language": "rust"},
        "content": {
            "summary": "Implemented rate limiting for API endpoints using token bucket algorithm",
            "outcome": "success",
            "keyDecisions": [
                {"what": "Used token bucket algorithm", "why": "predictable behavior under burst traffic"},
                {"what": "Chose Redis for rate limit storage", "why": "shared state across instances"},
                {"what": "Set 100 req/min default limit", "why": "matches our SLA commitments"}
            ],
            "filesTouched": ["src/limit.rs"]
        },
        "lessons": {
            "project": [],
            "task": [{"level": "task", "confidence": "high", "actionable": "Use them.",
                "summary": "Redis MULTI/EXEC is essential for atomic increment + expire operations"}],
            "user": [{"summary": "Consider circuit breaker pattern for downstream service failures"}],
            "tool": [{"summary": "Load testing should simulate burst patterns, not just steady state"}]
        },
        "observations": {"modelQuirks": [{"model": "m", "observation": "Repeats itself", "frequency": "often"}]},
        "metadata": {"timestamp": "2026-01-20T10:00:00Z", "cost": 0.5},
        "semantic": {"tags": ["rate-limiting"], "topics": ["api", "redis"], "concepts": ["buckets"]},
        "future": {"field": [1]}
    })
}

/// The example of the format's own description.
const EXPECTED: &str = "\
[coding] Implemented rate limiting for API endpoints using token bucket algorithm

Decisions:
- Used token bucket algorithm (why: predictable behavior under burst traffic)
- Chose Redis for rate limit storage (why: shared state across instances)
- Set 100 req/min default limit (why: matches our SLA commitments)

Lessons:
- Redis MULTI/EXEC is essential for atomic increment + expire operations
- Consider circuit breaker pattern for downstream service failures
- Load testing should simulate burst patterns, not just steady state";

fn parse(value: &serde_json::Value) -> Result<Node, String> {
    Node::parse(&value.to_string())
}

#[test]
fn a_node_is_read_and_nothing_is_lost() {
    // As text, because the order of the levels counts.
    let text = include_str!("node_example.json");
    let node = Node::parse(text).unwrap();
    assert_eq!(node.text(), EXPECTED);
    let node = parse(&full()).unwrap();
    assert_eq!(
        (node.version, node.outcome.as_deref()),
        (Some(2), Some("success"))
    );
    assert_eq!(node.tags, ["rate-limiting", "api", "redis"]);
    assert_eq!(node.session(), Some("s-17"));
    assert_eq!(node.lessons[0].level, "task");
    assert_eq!(node.lessons[0].actionable, "Use them.");
    assert_eq!(node.quirks[0].observation, "Repeats itself");
    assert_eq!(node.timestamp, date::parse("2026-01-20T10:00:00Z"));
    assert!(node.problems.is_empty(), "{:?}", node.problems);
    assert_eq!(
        Value::Object(node.rest),
        json!({
            "previousVersions": ["9f2c4e1ab0d37756-v1"],
            "source": {"sessionFile": "a.jsonl", "computer": "laptop", "sessionId": "s-17"},
            "classification": {"language": "rust"},
            "content": {"filesTouched": ["src/limit.rs"]},
            "metadata": {"cost": 0.5},
            "semantic": {"concepts": ["buckets"]},
            "future": {"field": [1]},
        })
    );
}

#[test]
fn lessons_keep_the_order_of_the_file() {
    let node = Node::parse(
        r#"{"id": "a", "classification": {"type": "qa"}, "content": {"summary": "S"},
            "lessons": {"zeta": [{"summary": "1"}], "alpha": ["2"], "task": [{"summary": "3"}]}}"#,
    )
    .unwrap();
    assert_eq!(node.text(), "[qa] S\n\nLessons:\n- 1\n- 2\n- 3");
}

#[test]
fn a_reason_that_is_missing_is_not_made_up() {
    let node = parse(&json!({
        "id": "a", "classification": {"type": "qa"},
        "content": {"summary": "S", "keyDecisions": [{"what": "W"}, "V", {"what": "U", "why": ""}]},
    }))
    .unwrap();
    assert_eq!(node.text(), "[qa] S\n\nDecisions:\n- W\n- V\n- U");
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    for (path, value, expected) in [
        ("/id", Value::Null, "id is missing"),
        ("/id", json!(7), "id is not a text"),
        ("/id", json!(" "), "id is empty"),
        ("/id", json!("../x"), "id '../x': only letters"),
        (
            "/classification",
            Value::Null,
            "classification.type is missing",
        ),
        (
            "/classification/type",
            json!([]),
            "classification.type is not a text",
        ),
        (
            "/content/summary",
            Value::Null,
            "content.summary is missing",
        ),
        ("/content/summary", json!(""), "content.summary is empty"),
    ] {
        let mut node = full();
        *node.pointer_mut(path).unwrap() = value;
        let problem = parse(&node).unwrap_err();
        assert!(problem.contains(expected), "{problem}");
    }
    for (text, expected) in [
        ("{\"id\": \"a\"", "not valid JSON: EOF"),
        ("[]", "not a JSON object"),
        ("", "not valid JSON"),
    ] {
        let problem = Node::parse(text).unwrap_err();
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn what_is_optional_is_a_problem_at_most() {
    for (path, value, expected) in [
        (
            "/metadata/timestamp",
            json!("some day"),
            "metadata.timestamp \"some day\" is not a date",
        ),
        (
            "/content/keyDecisions",
            json!("x"),
            "content.keyDecisions is not a list",
        ),
        (
            "/content/outcome",
            json!(1),
            "content.outcome is not a text",
        ),
        ("/lessons", json!([]), "lessons is not an object"),
        ("/lessons/task", json!({}), "lessons.task is not a list"),
        (
            "/lessons/task",
            json!([{"details": "x"}]),
            "lessons.task: 1 without summary",
        ),
        ("/version", json!("two"), "version is not a whole number"),
        ("/semantic/tags", json!("a"), "semantic.tags is not a list"),
    ] {
        let mut node = full();
        *node.pointer_mut(path).unwrap() = value;
        let node = parse(&node).unwrap();
        assert_eq!(node.problems, [expected]);
        assert!(node.text().starts_with("[coding] Implemented"));
    }
    let mut node = full();
    *node.pointer_mut("/metadata/timestamp").unwrap() = json!(1_768_903_200_000_i64);
    assert_eq!(parse(&node).unwrap().timestamp, Some(1_768_903_200));
}

proptest! {
    #[test]
    fn any_text_is_a_node_or_an_error(text in "\\PC*") {
        let _ = Node::parse(&text);
    }

    #[test]
    fn any_value_in_any_place_is_survived(place in 0..12_usize, text in "\\PC{0,8}", number: i64) {
        let paths = [
            "/id", "/version", "/classification", "/classification/project", "/content",
            "/content/keyDecisions", "/content/keyDecisions/0", "/lessons", "/lessons/task",
            "/observations", "/metadata/timestamp", "/semantic/topics",
        ];
        for value in [json!(text), json!(number), json!([text]), json!({ text: number })] {
            let mut node = full();
            *node.pointer_mut(paths[place]).unwrap() = value;
            if let Ok(node) = parse(&node) {
                prop_assert!(node.text().starts_with('['));
            }
        }
    }
}
