//! Tests of changing tags in texts.

use proptest::prelude::*;

use super::*;

fn rename(text: &str, from: &str, to: &str) -> String {
    retag("a.md", text, TagChange::Rename { from, to }).unwrap()
}

#[test]
fn a_renamed_tag_is_replaced_where_it_is_written() {
    for (text, expected) in [
        ("no tags\n", "no tags\n"),
        ("#old and #older, #old/sub.", "#new and #older, #new/sub."),
        (
            "# Title #old\n\n> - (#OLD)\n",
            "# Title #new\n\n> - (#new)\n",
        ),
        (
            "`#old`\n\n    #old\n\n```\n#old\n```\n#old",
            "`#old`\n\n    #old\n\n```\n#old\n```\n#new",
        ),
        ("#old# x #old/two words# y", "#new# x #new/two words# y"),
        (
            "---\ntags: [a, old, old/x]\n---\n",
            "---\ntags: [a, new, new/x]\n---\n",
        ),
        (
            "---\ntags:   # mine\n  - \"old\"\n\n  - b # old\n---\n",
            "---\ntags:   # mine\n  - \"new\"\n\n  - b # old\n---\n",
        ),
        (
            "---\ntags: old, b\nx: old\n---\n#old",
            "---\ntags: new, b\nx: old\n---\n#new",
        ),
        ("---\ntags: old b\n---\n", "---\ntags: new b\n---\n"),
        ("---\ntags: old,, b\n---\n", "---\ntags: new,, b\n---\n"),
        (
            "---\nTag: old\nkeywords: ['#old']\n---\n",
            "---\nTag: new\nkeywords: ['#new']\n---\n",
        ),
        (
            "\u{feff}---\r\n# c\r\ntags: [old]\r\nodd : 'x'\r\n...\r\n#old\r\nend",
            "\u{feff}---\r\n# c\r\ntags: [new]\r\nodd : 'x'\r\n...\r\n#new\r\nend",
        ),
        (
            "---\ntags: [old, new]\nx: 1\n---\n",
            "---\ntags: [new]\nx: 1\n---\n",
        ),
        ("---\nbroken: [\n---\n#old\n", "---\nbroken: [\n---\n#new\n"),
    ] {
        assert_eq!(rename(text, "old", "new"), expected, "{text:?}");
    }
}

#[test]
fn renames_nest_and_change_words() {
    assert_eq!(rename("#a/b #a/b/c #a", "a/b", "x"), "#x #x/c #a");
    assert_eq!(rename("#a #a/c", "a", "a/b"), "#a/b #a/b/c");
    assert_eq!(rename("#a, #b", "a", "two words"), "#two words#, #b");
    assert_eq!(rename("#two words# x", "two words", "a"), "#a# x");
    assert_eq!(rename("#work", "Work", "WORK"), "#WORK");
    assert_eq!(rename("#e\u{301}te", "éte", "summer"), "#summer");
    assert_eq!(below("a/b/c", "A/b"), Some("/c"));
    assert_eq!(below("ab", "a"), None);
    assert_eq!(below("a", "a/b"), None);
}

#[test]
fn what_cannot_be_written_is_refused() {
    let change = TagChange::Rename {
        from: "a",
        to: "c++",
    };
    assert!(retag("a.md", "x #a y", change).is_err());
    assert_eq!(
        retag("a.md", "---\ntags: [a]\n---\n", change).unwrap(),
        "---\ntags: [c++]\n---\n"
    );
    assert!(retag("a.org", "* Title :a:\n", change).is_err());
    assert!(retag("a.txt", "text", TagChange::Add("b")).is_err());
    let plain = TagChange::Rename { from: "a", to: "b" };
    assert_eq!(retag("a.txt", "x #a y", plain).unwrap(), "x #b y");
    for tag in ["", "#", "a,b", "a//b", "/a", "a\nb", "--", "a#b"] {
        assert!(tidy_tag(tag).is_err(), "{tag:?}");
    }
    assert_eq!(tidy_tag(" #a/b c# ").unwrap(), "a/b c");
}

#[test]
fn tags_are_added_to_the_frontmatter() {
    for (text, expected) in [
        ("text", "---\ntags: [new]\n---\ntext"),
        ("a\r\nb", "---\r\ntags: [new]\r\n---\r\na\r\nb"),
        ("x #NEW y", "x #NEW y"),
        ("---\nx: 1\n---\ntext", "---\nx: 1\ntags: [new]\n---\ntext"),
        ("---\ntags: []\n---\n", "---\ntags: [new]\n---\n"),
        (
            "---\ntags: [a,  b]\n---\n",
            "---\ntags: [a,  b, new]\n---\n",
        ),
        (
            "---\ntags:\n  - a\nx: 1\n---\n",
            "---\ntags:\n  - a\n  - new\nx: 1\n---\n",
        ),
        (
            "---\r\ntags:\r\n- a\r\n---\r\n",
            "---\r\ntags:\r\n- a\r\n- new\r\n---\r\n",
        ),
        ("---\ntags: a b\n---\n", "---\ntags: [a, b, new]\n---\n"),
        ("---\ntags:\n---\n", "---\ntags: [new]\n---\n"),
    ] {
        let added = retag("a.md", text, TagChange::Add("new"));
        let expected = if text.contains("#NEW") {
            text
        } else {
            expected
        };
        assert_eq!(added.unwrap(), expected, "{text:?}");
    }
}

#[test]
fn a_removed_tag_leaves_its_words() {
    for (text, expected) in [
        (
            "I like #old things, #old/x too",
            "I like old things, #old/x too",
        ),
        ("#old#", "old"),
        ("---\ntags: [a, old]\n---\n#b", "---\ntags: [a]\n---\n#b"),
        ("---\ntags: old\nx: 1\n---\n", "---\nx: 1\n---\n"),
        ("---\ntags: [old]\nx: 1\n---\n", "---\nx: 1\n---\n"),
        ("nothing", "nothing"),
    ] {
        let removed = retag("a.md", text, TagChange::Remove("old"));
        assert_eq!(removed.unwrap(), expected, "{text:?}");
    }
}

proptest! {
    #[test]
    fn only_tags_change(
        text in "(---\n)?(tags: \\[a, b\\]\n|tags: a b\n|x: a\n)?(---\n)?([a#b/ `>*-]|#a|#a/b|\n|\r\n|ü){0,40}"
    ) {
        let change = TagChange::Rename { from: "a", to: "other" };
        let Ok(new) = retag("a.md", &text, change) else {
            return Ok(());
        };
        let plain = |text: &str| text.replace("other", "a");
        prop_assert_eq!(plain(&new), text);
        let left = tags_of("a.md", &new).into_iter().any(|tag| below(&tag, "a").is_some());
        prop_assert!(!left, "{}", new);
    }
}
