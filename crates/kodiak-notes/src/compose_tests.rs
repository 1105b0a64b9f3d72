//! Tests from drafts to files, new ones and existing ones.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn draft(title: &str, body: &str) -> Draft {
    Draft {
        title: title.to_owned(),
        body: body.to_owned(),
        ..Draft::default()
    }
}

fn composed(key: &str, old: &str, draft: &Draft) -> String {
    compose("notes", key, old, draft).unwrap()
}

fn refused(key: &str, old: &str, draft: &Draft) -> String {
    match compose("notes", key, old, draft) {
        Err(Error::BadDraft { detail, .. }) => detail,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_new_note_is_readable() {
    let full = Draft {
        tags: vec!["soup".into(), "#slow".into()],
        kind: Some("recipe".into()),
        category: Some("food".into()),
        created_at: date::parse("2026-01-31"),
        fields: [("rating".to_owned(), json!(5))].into_iter().collect(),
        ..draft("Ramen: the broth", "Bones.\n")
    };
    insta::assert_snapshot!(composed("ramen.md", "", &full), @r#"
    ---
    title: "Ramen: the broth"
    kind: recipe
    category: food
    created: 2026-01-31T00:00:00Z
    tags: [soup, slow]
    rating: 5
    ---
    Bones.
    "#);
    // What the text and the file name already say is not repeated.
    assert_eq!(composed("a.md", "", &draft("a", "text")), "text");
    let said = draft("Ramen", "# Ramen\n#soup\n");
    let said = Draft {
        tags: vec!["soup".into()],
        ..said
    };
    assert_eq!(composed("a.md", "", &said), "# Ramen\n#soup\n");
}

#[test]
fn an_update_keeps_what_the_draft_does_not_change() {
    let old = "---\n# by hand\nTITLE: 'Old'\nkeywords: a b\nrating:   5\nType: recipe\n---\nold\n";
    let same = Draft {
        tags: vec!["a".into(), "b".into()],
        ..draft("Old", "old\n")
    };
    assert_eq!(composed("x.md", old, &same), old);
    let changed = Draft {
        tags: vec!["c".into()],
        kind: Some("note".into()),
        fields: [
            ("Rating".to_owned(), Value::Null),
            ("more".to_owned(), json!([1])),
        ]
        .into_iter()
        .collect(),
        ..draft("New", "new\n")
    };
    assert_eq!(
        composed("x.md", old, &changed),
        "---\n# by hand\nTITLE: New\nkeywords: [c]\nType: note\nmore: [1]\n---\nnew\n"
    );
    let untagged = draft("Old", "old\n");
    assert_eq!(
        composed("x.md", old, &untagged),
        old.replace("keywords: a b\n", "")
    );
}

#[test]
fn a_text_that_looks_like_frontmatter_stays_a_text() {
    for body in [
        "---\na: 1\n---\nrest",
        "\u{feff}x",
        "---\n---\n",
        "---\n[\n---\n",
    ] {
        for old in ["", "---\nb: 2\n---\nold", "---\nb: 2\n---", "\u{feff}old"] {
            let text = composed("a.md", old, &draft("a", body));
            let read = document_from_text("notes", "a.md", &text, 0);
            assert_eq!(read.body, body, "{old:?}: {text:?}");
            assert_eq!(read.title, "a", "{old:?}: {text:?}");
        }
    }
}

#[test]
fn only_markdown_has_frontmatter() {
    for key in ["a.txt", "a.org"] {
        assert_eq!(composed(key, "old", &draft("a", "new")), "new");
        let said = refused(key, "old", &draft("Other", "new"));
        assert_eq!(said, "only a markdown file can hold its title");
    }
}

#[test]
fn fields_with_a_place_of_their_own_are_refused() {
    let twice = Draft {
        fields: [("Title".to_owned(), json!("x"))].into_iter().collect(),
        ..draft("a", "text")
    };
    assert_eq!(
        refused("a.md", "", &twice),
        "'Title' is not one of its other fields"
    );
}

proptest! {
    #[test]
    fn any_draft_reads_back(
        title in any::<String>(),
        body in any::<String>(),
        kind in "[a-z]{1,8}",
        tags in prop::collection::vec("[a-z]{1,5}", 0..4),
        old in "(---\n)?(title: a\n|tags: \\[x\\]\n|b: 1\n){0,3}(---\n)?[a-z\n]{0,10}",
    ) {
        let wanted = Draft { tags, kind: Some(kind.clone()), ..draft(&title, &body) };
        let text = compose("notes", "a.md", &old, &wanted).unwrap();
        let read = document_from_text("notes", "a.md", &text, 0);
        prop_assert_eq!(&read.body, &body);
        prop_assert_eq!(read.kind, kind);
        for tag in &wanted.tags {
            prop_assert!(read.tags.contains(tag), "{}", text);
        }
        // Writing the same draft again changes nothing.
        prop_assert_eq!(compose("notes", "a.md", &text, &wanted).unwrap(), text);
    }
}
