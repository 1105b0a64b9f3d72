//! Tests from whole files to documents, with tables and with random texts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

fn document(key: &str, text: &str) -> Document {
    document_from_text("notes", key, text, -1)
}

#[test]
fn titles_come_from_frontmatter_then_heading_then_name() {
    for (key, text, expected) in [
        ("a.md", "---\ntitle: Written\n---\n# Heading", "Written"),
        ("a.md", "---\ntitle: 2024\n---\n", "2024"),
        ("a.md", "---\ntitle: 1.10\n---\n", "1.10"),
        ("a.md", "---\ntitle: |\n  two\n  lines\n---\n", "two lines"),
        ("a.md", "---\ntitle: '  '\n---\n# Heading", "Heading"),
        ("a.md", "---\ntitle: [a]\n---\n# Heading", "Heading"),
        (
            "a.md",
            "---\ntitle: '**kept** as is'\n---\n",
            "**kept** as is",
        ),
        ("a.md", "\u{feff}# Heading", "Heading"),
        ("folder/My-note_1.md", "## Summary\ntext", "My-note_1"),
        ("folder/a.b.md", "", "a.b"),
        ("folder/a.md", " \n\t\n", "a"),
        ("folder/README", "", "README"),
        ("u\u{308}ber.md", "", "über"),
        (".md", "", ".md"),
        ("x/ .md", "", "x/ .md"),
        (" ", "", "untitled"),
        ("", "", "untitled"),
        ("a.txt", "# Heading", "Heading"),
        ("a.txt", "---\ntitle: no\n---\n", "a"),
        ("a.org", "#+TITLE: Org\n# comment", "Org"),
        ("a.ORG", "* Headline :tag:", "Headline"),
        ("a.org", "# comment", "a"),
    ] {
        assert_eq!(document(key, text).title, expected, "{key}: {text:?}");
    }
}

#[test]
fn tags_come_from_frontmatter_then_text() {
    for (text, expected) in [
        (
            "---\ntags: [One, '#two', two words]\n---\n#one #three",
            "One|two|two words|three",
        ),
        (
            "---\ntags:\n  - one\n  -\n  - 2024\n  - 3.10\n---\n",
            "one|2024|3.10",
        ),
        ("---\ntags: one, two words,\n---\n", "one|two words"),
        ("---\ntags: one '#two'\n---\n", "one|'#two'"),
        ("---\ntags: \"#one #two\"\n---\n", "one|two"),
        ("---\ntag: one\nkeywords: [two]\n---\n", "one|two"),
        ("---\nTags: [one]\n---\n", "one"),
        ("---\ntags: 2024\n---\n", "2024"),
        ("---\ntags:\n---\n#one", "one"),
        ("---\ntags: [' ', '#', '##one']\n---\n", "one"),
        ("---\r\ntags: [one]\r\n---\r\n#two\r\n", "one|two"),
    ] {
        assert_eq!(document("a.md", text).tags.join("|"), expected, "{text:?}");
    }
    assert_eq!(document("a.org", "* x :one:\n#two").tags, ["one"]);
    assert_eq!(document("a.txt", "#one").tags, ["one"]);
}

#[test]
fn fields_find_their_place_and_none_is_lost() {
    let written = document(
        "a.md",
        "---
kind: decision
type: other
category: ' work '
created: tomorrow
date: 2026-01-31
updated: 2026-01-31 09:00
aliases: [x]
Rating: 5
---
body
",
    );
    assert_eq!(written.kind, "decision");
    assert_eq!(written.category.as_deref(), Some("work"));
    assert_eq!(written.created_at, Some(1_769_817_600));
    assert_eq!(written.updated_at, 1_769_817_600 + 9 * 3600);
    assert_eq!(
        Value::Object(written.fields),
        json!({"type": "other", "created": "tomorrow", "aliases": ["x"], "Rating": 5})
    );
    assert_eq!(written.body, "body\n");

    for (field, kind) in [
        ("memory_kind: fact", "fact"),
        ("type: project", "project"),
        ("type: 5", "note"),
        ("type: [a]", "note"),
        ("kind: 2024", "2024"),
        ("kind: ''", "note"),
    ] {
        assert_eq!(
            document("a.md", &format!("---\n{field}\n---\n")).kind,
            kind,
            "{field}"
        );
    }

    let bare = document("a.md", "body");
    assert_eq!((bare.kind.as_str(), bare.category), ("note", None));
    assert_eq!((bare.created_at, bare.updated_at), (None, -1));
    assert_eq!(bare.hash, *blake3::hash(b"body").as_bytes());
}

#[test]
fn broken_frontmatter_is_searched_as_text() {
    let broken = document("a.md", "---\ntitle: a: b\n---\n# Heading\n#tag");
    assert!(
        broken
            .problem
            .unwrap()
            .starts_with("frontmatter could not be read: ")
    );
    assert_eq!(broken.front, "");
    assert!(broken.body.contains("title: a: b"));
    assert_eq!(
        (broken.title.as_str(), broken.tags),
        ("Heading", vec!["tag".to_owned()])
    );
    assert_eq!(document("a.md", "---\nno end\n").problem, None);
}

/// Returns random sequences of fragments that mean something to one parser or
/// another.
fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop::sample::select(vec![
        "---\n",
        "...\n",
        "\n",
        "\r\n",
        " ",
        "    ",
        "\t",
        "# ",
        "## ",
        "#",
        "#tag",
        "#zwei Wörter#",
        "===\n",
        "title: ",
        "tags: ",
        "created: ",
        "2024-01-31",
        "- ",
        "1. ",
        "> ",
        "```",
        "~~~",
        "`",
        "**",
        "_",
        "[",
        "]",
        "(",
        ")",
        "[[",
        "]]",
        "|",
        "<!--",
        "-->",
        "<a ",
        ">",
        "&x ",
        "*x",
        "{",
        "}",
        ":",
        ",",
        "\"",
        "'",
        "\\",
        "!",
        "://",
        "word",
        "日本",
        "é",
        "e\u{301}",
        "\u{feff}",
        "\u{200d}",
        "#+TITLE: ",
        "* head :a:b:",
        "0x",
        "1.10",
        "~",
        "%",
        "@",
    ]);
    prop::collection::vec(fragment, 0..40).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_document_carries_what_its_file_says_of_its_surroundings() {
    let said = |text: &str| {
        let document = document("a.md", text);
        let thread = document.thread.map(|thread| {
            assert_eq!(thread.position, None);
            thread.name
        });
        [thread, document.author, document.project].map(Option::unwrap_or_default)
    };
    for (front, body, expected) in [
        ("thread: T\nsession: S", "", ["T", "", ""]),
        ("thread: ''\nsession: S", "", ["S", "", ""]),
        ("Session: 12\nProject: Atlas", "text", ["12", "", "Atlas"]),
        ("thread: [one, two]", "Ana: hello", ["one", "Ana", ""]),
        ("thread: T\nspeaker: Ben", "Ana: hello", ["T", "Ben", ""]),
        (
            "author: [Ana, Ben]\nspeaker: Cleo",
            "",
            ["", "Ana, Ben", ""],
        ),
        // Outside a thread a colon means nothing.
        ("project: [x]", "Ana: hello", ["", "", "x"]),
        ("thread: {a: 1}\nauthor: {b: 2}", "Ana: hello", ["", "", ""]),
    ] {
        let text = format!("---\n{front}\n---\n{body}");
        assert_eq!(said(&text), expected, "{text}");
    }
    let kept = document("a.md", "---\nthread: T\nproject: P\nauthor: A\n---\n").fields;
    assert_eq!(
        Value::Object(kept),
        json!({"thread": "T", "project": "P", "author": "A"})
    );
}

#[test]
fn the_markup_comes_from_the_extension() {
    for (key, markup) in [
        ("a.md", Markup::Markdown),
        ("a.mdx", Markup::Markdown),
        ("a.ORG", Markup::Org),
        ("a.txt", Markup::Plain),
        ("org", Markup::Markdown),
    ] {
        assert_eq!(document(key, "* text").markup, markup, "{key}");
    }
}

fn check(key: &str, text: &str) -> Result<(), TestCaseError> {
    let document = document(key, text);
    prop_assert_eq!(format!("{}{}", document.front, document.body), text);
    prop_assert!(!document.title.trim().is_empty());
    prop_assert!(!document.title.contains('\n'));
    prop_assert!(!document.kind.trim().is_empty());
    let mut seen = std::collections::HashSet::new();
    for tag in &document.tags {
        prop_assert!(!tag.trim().is_empty() && !tag.starts_with('#'), "{:?}", tag);
        prop_assert!(seen.insert(tag.to_lowercase()), "{:?}", tag);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_text_makes_a_document(text in any::<String>(), key in any::<String>()) {
        check(&key, &text)?;
    }

    #[test]
    fn any_markdown_makes_a_document(
        head in prop::sample::select(vec!["", "---\n", "\u{feff}---\n", "---\r\n"]),
        text in fragments(),
        extension in prop::sample::select(vec!["md", "txt", "org", "mdx"]),
    ) {
        check(&format!("folder/a.{extension}"), &format!("{head}{text}"))?;
    }

    #[test]
    fn any_block_makes_a_document(block in fragments(), body in fragments()) {
        check("a.md", &format!("---\n{block}\n---\n{body}"))?;
    }
}
