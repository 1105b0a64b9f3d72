//! Tests of blocks as people write them, and of hostile ones.

use std::fmt::Write;

use serde_json::json;

use super::*;

fn fields(text: &str) -> Value {
    let divided = divide(text);
    assert_eq!(divided.problem, None, "{text}");
    assert_eq!(format!("{}{}", divided.front, divided.body), text);
    Value::Object(divided.fields)
}

fn problem(text: &str) -> String {
    let divided = divide(text);
    assert_eq!(divided.front, "", "{text}");
    assert_eq!(divided.body, text);
    assert!(divided.fields.is_empty());
    let problem = divided.problem.unwrap_or_default();
    let reason = problem.strip_prefix("frontmatter could not be read: ");
    reason
        .unwrap_or_else(|| panic!("{text:?}: {problem:?}"))
        .to_owned()
}

#[test]
fn a_block_ends_where_its_closing_line_does() {
    for (text, front) in [
        ("---\na: 1\n---\nbody\n", "---\na: 1\n---\n"),
        ("---\na: 1\n...\nbody\n", "---\na: 1\n...\n"),
        ("---  \na: 1\n--- \t\nbody\n", "---  \na: 1\n--- \t\n"),
        ("---\r\na: 1\r\n---\r\nbody\r\n", "---\r\na: 1\r\n---\r\n"),
        ("\u{feff}---\na: 1\n---\nbody\n", "\u{feff}---\na: 1\n---\n"),
        ("---\na: 1\n---", "---\na: 1\n---"),
    ] {
        assert_eq!(divide(text).front, front, "{text}");
        assert_eq!(fields(text), json!({"a": 1}), "{text}");
    }
}

#[test]
fn what_opens_no_block_is_body() {
    for text in [
        "",
        "---",
        "---\n",
        "---\nunclosed: yes\n",
        "----\na: 1\n----\n",
        " ---\na: 1\n---\n",
        "\n---\na: 1\n---\n",
        "text\n---\na: 1\n---\n",
        "---\na: 1\n ---\n",
    ] {
        let divided = divide(text);
        assert_eq!((divided.front, divided.body), ("", text));
        assert_eq!(divided.problem, None, "{text}");
    }
    let marked = divide("\u{feff}text");
    assert_eq!((marked.front, marked.body), ("\u{feff}", "text"));
}

#[test]
fn empty_blocks_are_frontmatter_without_fields() {
    for text in [
        "---\n---\n",
        "---\n\n---\nbody",
        "---\n# a comment\n---\n",
        "---\n{}\n---\n",
    ] {
        assert_eq!(fields(text), json!({}));
        assert!(divide(text).front.ends_with("---\n"));
    }
}

#[test]
fn values_keep_their_type_and_numbers_their_spelling() {
    let text = "---
count: 3
negative: -7
ratio: 0.5
version: 1.10
agent: 007
colour: 0x1F
large: 12345678901234567890123
quoted: \"1.10\"
answer: true
norway: no
switch: on
nothing:
tilde: ~
date: 2024-01-31
time: 2024-01-31 09:00
list: [1.10, a, ~]
nested: {deeper: {number: 1_000}}
anchored: &name 1.20
again: *name
tagged: !!int \"5\"
infinite: .inf
2024: year
Ünï: ✓
---
";
    assert_eq!(
        fields(text),
        json!({
            "count": 3, "negative": -7, "ratio": 0.5, "version": "1.10", "agent": "007",
            "colour": "0x1F", "large": "12345678901234567890123", "quoted": "1.10",
            "answer": true, "norway": "no", "switch": "on", "nothing": null, "tilde": null,
            "date": "2024-01-31", "time": "2024-01-31 09:00", "list": ["1.10", "a", null],
            "nested": {"deeper": {"number": "1_000"}}, "anchored": "1.20", "again": "1.20",
            "tagged": 5, "infinite": ".inf", "2024": "year", "Ünï": "✓",
        })
    );
}

#[test]
fn broken_blocks_stay_in_the_body_and_say_why() {
    for (text, part) in [
        ("---\ntitle: a: b\n---\nbody", "line 2, column 9"),
        ("---\na: 1\nb: [1, 2\n---\nbody", "line"),
        ("---\na: 1\na: 2\n---\n", "duplicate"),
        ("---\ntags: [#a, #b]\n---\n", "line 2"),
        ("---\na: *unknown\n---\n", "line 2"),
        (
            "---\na: 1\n--- b\n---\n",
            "a second document begins at line 3",
        ),
        ("---\n? [a]\n: b\n---\n", "a name is not a text at line 2"),
        ("---\na: &a [*a]\n---\n", "line 2"),
        ("---\n- a\n- b\n---\n", "no `name: value` lines"),
        ("---\njust text\n---\n", "no `name: value` lines"),
        ("---\n42\n---\n", "no `name: value` lines"),
    ] {
        let reason = problem(text);
        assert!(reason.contains(part), "{text:?}: {reason}");
        assert!(!reason.contains('\n') && reason.len() < 300, "{reason}");
    }
    let marked = divide("\u{feff}---\n[\n---\n");
    assert_eq!((marked.front, marked.body), ("\u{feff}", "---\n[\n---\n"));
    assert!(marked.problem.is_some());
}

#[test]
fn merged_mappings_give_way_to_what_is_written() {
    let text = "---
base: &base {a: 1, b: 2}
more: &more {b: 3, c: 4}
one: {<<: *base, b: own}
all:
  <<: [*base, *more]
\"<<\": a name
---
";
    let base = json!({"a": 1, "b": 2});
    let more = json!({"b": 3, "c": 4});
    assert_eq!(
        fields(text),
        json!({
            "base": base, "more": more, "one": {"a": 1, "b": "own"},
            "all": {"a": 1, "b": 2, "c": 4}, "<<": "a name",
        })
    );
    let reason = problem("---\na: 1\n<<: 2\n---\n");
    assert!(reason.contains("only mappings"), "{reason}");
}

#[test]
fn hostile_blocks_are_refused() {
    let mut laughs = String::from("---\na0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..30 {
        let alias = format!("*a{}", level - 1);
        let aliases = vec![alias; 9].join(", ");
        writeln!(laughs, "a{level}: &a{level} [{aliases}]").unwrap();
    }
    let deep = format!("---\na: {}{}\n", "[".repeat(200), "]".repeat(200));
    let indented: String = (0..300).map(|level| " ".repeat(level) + "a:\n").collect();
    let mut nested = String::from("---\nb0: &b0 [x]\n");
    for level in 1..30 {
        writeln!(nested, "b{level}: &b{level} [*b{}]", level - 1).unwrap();
    }
    let mut repeated = format!("---\nlong: &long {}\n", "x".repeat(30_000));
    for anchor in 0..50 {
        writeln!(repeated, "k{anchor}: &k{anchor} v").unwrap();
    }
    writeln!(repeated, "many: [{}]", vec!["*long"; 200].join(",")).unwrap();
    let too_long = format!("---\na: {}\n", "x".repeat(MAX_BLOCK_BYTES));
    for (block, part) in [
        (laughs, "repeats itself"),
        (deep, "nested"),
        (format!("---\n{indented}"), "nested"),
        (nested, "nested"),
        (repeated, "repeats itself"),
        (too_long, "longer than 64 KiB"),
    ] {
        // Expanded, the first would not end in reasonable time.
        let reason = problem(&format!("{block}---\nbody\n"));
        assert!(reason.contains(part), "{reason}");
    }
}
