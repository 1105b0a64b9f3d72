//! Tests of what matches, in which columns and with which filters, and in what
//! order.

use super::*;
use crate::prelude::*;

#[test]
fn filters_limit_before_ranking() {
    let mut documents = three();
    documents[1].kind = "Recipe".into();
    documents[1].category = Some("food".into());
    documents[1].created_at = Some(50);
    documents[1].fields.insert("status".into(), "draft".into());
    documents[1]
        .fields
        .insert("people".into(), serde_json::json!(["Ana", "Jonas"]));
    documents[0].key = "sub/a.md".into();
    documents.push(Document {
        source: "other".into(),
        ..note("o.md", "Other", "pears", &[])
    });
    let (_fixture, writer) = fixture(documents);
    let of = |text: &str| vec![text.to_owned()];
    let pair = |name: &str, value: &str| vec![(name.to_owned(), value.to_owned())];
    let all = Filter::default();
    for (filter, expected) in [
        (
            Filter {
                sources: of("other"),
                ..all.clone()
            },
            vec!["o.md"],
        ),
        (
            Filter {
                tags: of("fruit"),
                ..all.clone()
            },
            vec!["b.md", "sub/a.md"],
        ),
        (
            Filter {
                tags: of("#Work"),
                ..all.clone()
            },
            vec!["sub/a.md"],
        ),
        (
            Filter {
                tags: vec!["fruit".into(), "work".into()],
                ..all.clone()
            },
            vec!["sub/a.md"],
        ),
        (
            Filter {
                tags: of("wor"),
                ..all.clone()
            },
            vec![],
        ),
        (
            Filter {
                tags: of("%"),
                ..all.clone()
            },
            vec![],
        ),
        (
            Filter {
                kinds: of("recipe"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                categories: of("Food"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                before: Some(60),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                after: Some(900),
                ..all.clone()
            },
            vec!["b.md", "o.md", "sub/a.md"],
        ),
        (
            Filter {
                after: Some(60),
                before: Some(900),
                ..all.clone()
            },
            vec![],
        ),
        (
            Filter {
                paths: of("sub/"),
                ..all.clone()
            },
            vec!["sub/a.md"],
        ),
        (
            Filter {
                fields: pair("Status", "Draft"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("people", "Jonas"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("kind", "recipe"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("Category", "FOOD"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("tags", "fruit"),
                ..all.clone()
            },
            vec!["b.md", "sub/a.md"],
        ),
        (
            Filter {
                fields: pair("created", "1970-01-01"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("title", "beta"),
                ..all.clone()
            },
            vec!["b.md"],
        ),
        (
            Filter {
                fields: pair("status", "final"),
                ..all.clone()
            },
            vec![],
        ),
    ] {
        assert_eq!(found_with(&writer, "pear", &filter), expected, "{filter:?}");
    }
}

#[test]
fn columns_limit_where_a_phrase_may_stand() {
    let (_fixture, writer) = fixture(vec![
        note("a.md", "Pears", "text", &[]),
        note("b.md", "Title", "pears", &[]),
        note("c.md", "Title", "text", &["pears"]),
    ]);
    let corpus = writer.corpus().unwrap();
    for (column, row) in [(Column::Title, 1), (Column::Tags, 3)] {
        let expression = Expression::Phrase(Phrase {
            text: "pear".into(),
            column: Some(column),
            weight: 1.0,
            ..Phrase::default()
        });
        let matches = writer
            .matches(&expression, &Filter::default(), corpus, Bm25::default(), 9)
            .unwrap();
        assert_eq!(
            matches.best.iter().map(|hit| hit.row).collect::<Vec<_>>(),
            [row]
        );
    }
}

#[test]
fn a_word_in_the_title_outranks_the_same_word_in_the_body() {
    let (_fixture, writer) = fixture(vec![
        note("body.md", "Fruit", "pear basket", &[]),
        note("title.md", "Pear", "fruit basket", &[]),
    ]);
    let corpus = writer.corpus().unwrap();
    let matches = writer
        .matches(
            &phrase("pear"),
            &Filter::default(),
            corpus,
            Bm25::default(),
            9,
        )
        .unwrap();
    assert_eq!(matches.best[0].row, 2);
    assert!(matches.best[0].score > matches.best[1].score && matches.best[1].score > 0.0);
}

#[test]
fn a_title_outranks_the_tag_of_a_short_note() {
    let filler = "and then some more about other things ".repeat(20);
    let (_fixture, writer) = fixture(vec![
        note("short.md", "Inbox", "short", &["gtd"]),
        note("long.md", "GTD methodology", &filler, &["gtd"]),
        note("other.md", "Other", &filler, &[]),
        note("more.md", "More", &filler, &[]),
        note("last.md", "Last", &filler, &[]),
    ]);
    let corpus = writer.corpus().unwrap();
    let matches = writer
        .matches(
            &phrase("gtd"),
            &Filter::default(),
            corpus,
            Bm25::default(),
            9,
        )
        .unwrap();
    assert_eq!(matches.best[0].row, 2);
}
