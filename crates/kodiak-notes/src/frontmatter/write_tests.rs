//! Tests that written blocks read back equal, with tables and with random
//! fields.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other}"),
    }
}

fn set(name: &str, value: Value) -> FieldChange {
    (name.to_owned(), Some(value))
}

fn remove(name: &str) -> FieldChange {
    (name.to_owned(), None)
}

fn written_block(fields: &Map<String, Value>) -> String {
    write(fields.iter().map(|(name, value)| (name.as_str(), value)))
}

#[test]
fn a_block_is_readable() {
    let fields = [
        ("title", json!("Ramen, as in Tokyo")),
        ("tags", json!(["soup", "slow food", "a/b", "x, y"])),
        ("created", json!("2026-01-31")),
        ("at", json!("2026-01-31T09:00:00Z")),
        ("rating", json!(5)),
        ("half", json!(2.5)),
        ("done", json!(true)),
        ("answer", json!("no")),
        ("version", json!("1.10")),
        ("odd name", json!({"a": null, "b": []})),
        ("note", json!("one: two # three\n\"four\"")),
    ];
    let block = write(fields.iter().map(|(name, value)| (*name, value)));
    insta::assert_snapshot!(block, @r#"
    ---
    title: Ramen, as in Tokyo
    tags: [soup, slow food, a/b, "x, y"]
    created: 2026-01-31
    at: 2026-01-31T09:00:00Z
    rating: 5
    half: 2.5
    done: true
    answer: "no"
    version: "1.10"
    "odd name": {"a": null, "b": []}
    note: "one: two # three\n\"four\""
    ---
    "#);
    let read: Vec<_> = divide(&block).fields.into_iter().collect();
    let mut expected: Vec<_> = fields.map(|(name, value)| (name.to_owned(), value)).into();
    expected.sort_by(|(one, _), (other, _)| one.cmp(other));
    assert_eq!(read, expected);
    assert_eq!(write([]), "");
}

#[test]
fn strings_that_look_like_something_else_stay_strings() {
    for text in [
        "",
        " ",
        "~",
        "null",
        "Null",
        "true",
        "Yes",
        "on",
        "y",
        "1",
        "1.5",
        "0x1f",
        "1e3",
        "-1",
        ".inf",
        "NaN",
        "- a",
        "a: b",
        "a #b",
        "#a",
        "*a",
        "&a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a`",
        "{a}",
        "[a]",
        "---",
        "...",
        "'a'",
        "\"a\"",
        "a\\n",
        "a\nb",
        "a\tb",
        "a\0b",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{fffe}",
        "\u{10ffff}",
        "😀",
        "a ",
        " a",
        "? a",
        "a:",
        ":",
        "<<",
        "=",
        "2026-01-31",
        "2026-13-45",
        "12:30:45",
        "1_000",
        "e\u{301}",
        "ß",
    ] {
        let fields = object(json!({"field": text, "list": [text], text: "value"}));
        let block = written_block(&fields);
        let divided = divide(&block);
        assert_eq!(divided.problem, None, "{text:?}: {block}");
        assert_eq!(divided.fields, fields, "{text:?}: {block}");
        assert_eq!(divided.front, block, "{text:?}");
    }
}

#[test]
fn an_edit_leaves_every_other_byte_as_it_is() {
    let front = "\u{feff}---\r\n# mine\r\nTitle:   'Old'  # why\r\n\r\ntags:\r\n- a\r\n# b\r\n\
                 - b\r\n\r\n'odd ''name''':  1.10\r\n\"quoted\": |\r\n  two\r\n\r\n  lines\r\n\
                 # the end\r\n---\r\n";
    assert_eq!(edit(front, &[]).unwrap(), front);
    let replace = |from: &str, to: &str| {
        assert!(front.contains(from));
        front.replace(from, to)
    };
    for (change, expected) in [
        (
            set("Title", json!("New")),
            replace("Title:   'Old'  # why\r\n", "Title: New\r\n"),
        ),
        (
            set("tags", json!(["c"])),
            replace("tags:\r\n- a\r\n# b\r\n- b\r\n", "tags: [c]\r\n"),
        ),
        (
            remove("tags"),
            replace("tags:\r\n- a\r\n# b\r\n- b\r\n", ""),
        ),
        (
            set("odd 'name'", json!(2)),
            replace("'odd ''name''':  1.10\r\n", "\"odd 'name'\": 2\r\n"),
        ),
        (
            set("quoted", json!("one")),
            replace(
                "\"quoted\": |\r\n  two\r\n\r\n  lines\r\n",
                "quoted: one\r\n",
            ),
        ),
        (
            set("new", json!(true)),
            replace("# the end\r\n", "# the end\r\nnew: true\r\n"),
        ),
        (remove("none"), front.to_owned()),
    ] {
        let edited = edit(front, std::slice::from_ref(&change)).unwrap();
        assert_eq!(edited, expected, "{change:?}");
    }
}

#[test]
fn a_block_whose_lines_cannot_be_told_apart_is_written_anew() {
    for front in [
        "---\n{a: 1, b: 2}\n---\n",
        "---\n  a: 1\n  b: 2\n---\n",
        "---\n? a\n: 1\n? b\n: 2\n---\n",
        "---\na: &x 1\nb: 2\n---\n",
    ] {
        let edited = edit(front, &[set("a", json!("new"))]).unwrap();
        let expected = object(json!({"a": "new", "b": 2}));
        assert_eq!(divide(&edited).fields, expected, "{front}");
    }
    // One field is the anchor of another, and the edit removes it.
    let edited = edit("---\na: &x 1\nb: *x\n---\n", &[set("a", json!(3))]).unwrap();
    assert_eq!(divide(&edited).fields, object(json!({"a": 3, "b": 1})));
}

#[test]
fn a_text_without_a_block_gets_one() {
    assert_eq!(edit("", &[]).unwrap(), "");
    let change = [remove("b"), set("a", json!(1))];
    assert_eq!(edit("", &change).unwrap(), "---\na: 1\n---\n");
    assert_eq!(
        edit("\u{feff}", &change).unwrap(),
        "\u{feff}---\na: 1\n---\n"
    );
}

#[test]
fn what_cannot_be_read_back_is_refused() {
    let long = edit("", &[set("a", json!("x".repeat(MAX_BLOCK_BYTES)))]);
    assert_eq!(long.unwrap_err(), "its fields are longer than 64 KiB");
    let name = edit("", &[set(&"n".repeat(201), json!(1))]);
    assert!(name.unwrap_err().contains("200 characters"));
    let mut deep = json!(1);
    for _ in 0..40 {
        deep = json!([deep]);
    }
    let deep = edit("", &[set("a", deep)]);
    assert_eq!(
        deep.unwrap_err(),
        "its fields cannot be written as frontmatter"
    );
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[-:#'\"\\\\\\[\\]{}&*!|>%@`?, \n\t\r~a-c0-9.]{0,12}",
        "[A-Za-z ]{0,20}",
        "[0-9eE.+-]{1,6}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1_000_000_i32..1_000_000).prop_map(|number| Value::from(f64::from(number) / 64.0)),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(text(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn fields() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::btree_map(text(), value(), 0..6).prop_map(|fields| {
        let short = fields
            .into_iter()
            .filter(|(name, _)| name.chars().count() <= 100);
        short.collect()
    })
}

proptest! {
    #[test]
    fn what_is_written_reads_back_equal(
        mut fields in fields(),
        one in value(),
        body in any::<String>(),
    ) {
        fields.insert("one".to_owned(), one);
        let block = written_block(&fields);
        let whole = format!("{block}{body}");
        let divided = divide(&whole);
        prop_assert_eq!(divided.problem, None, "{}", block);
        prop_assert_eq!(divided.fields, fields, "{}", block);
        prop_assert_eq!(divided.body, body);
    }

    #[test]
    fn an_edit_sets_what_it_says_and_nothing_else(
        before in fields(),
        changes in prop::collection::vec((text(), prop::option::of(value())), 0..4),
    ) {
        let mut wanted = before.clone();
        for (name, value) in &changes {
            match value {
                Some(value) => drop(wanted.insert(name.clone(), value.clone())),
                None => drop(wanted.remove(name)),
            }
        }
        let edited = edit(&written_block(&before), &changes);
        prop_assert_eq!(divide(&edited.unwrap()).fields, wanted);
    }
}
