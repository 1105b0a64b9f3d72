use proptest::prelude::*;

use super::*;

fn said(line: &str) -> String {
    let (mut found, mut text) = (Vec::new(), String::new());
    noise(line, &mut found);
    without_noise(line, &found, &mut text);
    text
}

#[test]
fn only_what_is_said_remains() {
    for (line, expected) in [
        ("Plain words, as they are.", "Plain words, as they are."),
        // Links and images.
        (
            "- [Bread](https://a.example/x?y=1) - how to",
            "- Bread - how to",
        ),
        ("see [a *b* c](b.md \"A title\").", "see a *b* c."),
        ("![An oven](data:image/png;base64,iVBORw0KGgo=)", "An oven"),
        (
            "[![Build](https://ci.example/a.svg)](https://ci.example)",
            "Build",
        ),
        ("[Foo](https://en.example/Foo_(bar)) is", "Foo is"),
        ("[spaced](<a b.md>) x", "spaced x"),
        ("[text][ref] and [one][]", "text and one"),
        ("[ref]: https://a.example/long/path", "[ref]: a.example"),
        ("[[Note]] and [[Folder/Note|the note]]", "Note and the note"),
        ("[[https://a.example/b][the page]]", "the page"),
        ("[[https://a.example/b]]", "a.example"),
        ("as said[^12] there", "as said there"),
        ("- [x] done, [ ] open", "- [x] done, [ ] open"),
        // Addresses.
        ("at https://www.a.example/b/c?d=e#f, or", "at a.example, or"),
        ("(https://a.example/b_(c))", "(a.example)"),
        ("<https://me:secret@a.example:80/b>", "a.example:80"),
        ("`http://localhost:3000/api`", "`localhost:3000`"),
        ("https://a.example", "a.example"),
        ("file:///etc/hosts", "file:///etc/hosts"),
        ("std://", "std://"),
        // Tables and rules.
        ("| a | b |", " a  b "),
        ("|---|:--:|", ""),
        ("|a|b|", "a b"),
        ("***", ""),
        ("=====", ""),
        ("a | b", "a | b"),
        ("--", "--"),
        // HTML.
        ("<div align=\"center\"><b>Bold</b></div>", "Bold"),
        ("one<br>two<br/>three", "one two three"),
        ("<!-- a remark -->", " a remark "),
        (
            "an <input type=\"date\"> element",
            "an <input type=\"date\"> element",
        ),
        ("if a <b and c> d", "if a  d"),
        ("x < y", "x < y"),
        // Code stays readable.
        ("let a = b[i][j] + c[0](d);", "let a = b[i][j] + c[0](d);"),
        ("\\[not a link](x.md)", "\\[not a link](x.md)"),
        ("[unclosed](a.md", "[unclosed](a.md"),
        ("ü[ü](ü.md)ü", "ü ü ü"),
    ] {
        assert_eq!(said(line), expected, "{line}");
    }
}

#[test]
fn a_long_line_of_signs_takes_linear_time() {
    // Quadratic time would take minutes.
    for piece in [
        "](", "[", "[[", "<a ", "![](", "a://", "[a](b", "[^", "][", "([",
    ] {
        let line = piece.repeat(50_000);
        assert!(said(&line).len() <= line.len() * 2, "{piece}");
    }
}

proptest! {
    #[test]
    fn ranges_are_in_order_and_on_characters(
        line in "(\\[|\\]|\\(|\\)|<a|</b>|>|!|\\||-|://|http|ü|字| |x|\\\\|#|\"|\\^|\\.){0,40}"
    ) {
        let mut found = Vec::new();
        noise(&line, &mut found);
        let mut end = 0;
        for range in &found {
            prop_assert!(range.start >= end && range.end > range.start);
            prop_assert!(line.get(range.clone()).is_some());
            end = range.end;
        }
        let mut text = String::new();
        without_noise(&line, &found, &mut text);
        let letters = |text: &str| text.chars().filter(|it| *it != ' ').count();
        let taken: usize = found.iter().map(|range| letters(&line[range.clone()])).sum();
        prop_assert_eq!(letters(&text) + taken, letters(&line));
    }
}
