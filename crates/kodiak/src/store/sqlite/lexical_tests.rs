use super::*;
use crate::analysis::AnalyzedDocument;
use crate::document::Document;
use crate::store::SqliteWriter;

#[test]
fn the_best_rows_in_order_with_ties_by_row() {
    let mut best = Best::new(3);
    for (row, score) in [(5, 1.0), (1, 0.5), (2, 2.0), (4, 1.0), (3, 1.0), (9, 0.1)] {
        best.offer(row, score);
    }
    let matches = best.finish();
    assert_eq!(matches.total, 6);
    assert_eq!(matches.best, [(2, 2.0), (3, 1.0), (4, 1.0)]);
}

#[test]
fn expressions_are_quoted() {
    let phrase = |text: &str, prefix, column| {
        Expression::Phrase(Phrase {
            text: text.into(),
            prefix,
            column,
            weight: 1.0,
        })
    };
    let mut rendered = Rendered::default();
    rendered.render(&Expression::Except(
        Box::new(Expression::Any(vec![
            phrase("say \"hi\" AND", false, None),
            phrase("pre", true, Some(Column::Title)),
        ])),
        Box::new(phrase("no\0", false, None)),
    ));
    assert_eq!(
        rendered.sql,
        r#"(("say ""hi"" AND" OR title : "pre" *) NOT "no ")"#
    );
    assert_eq!(rendered.weights.len(), 3);
}

/// Notes of different lengths, in which three words are more and less common.
fn varied() -> (tempfile::TempDir, SqliteWriter) {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    writer.begin().unwrap();
    for number in 0..400_usize {
        let often = |word: &str, every: usize| format!("{word} ").repeat(number % every % 5);
        let filler = "filler ".repeat(number * 37 % 211);
        let title = if number % 9 == 0 { "bear" } else { "note" };
        let document = Document {
            source: "notes".to_owned(),
            key: format!("{number}.md"),
            kind: "note".to_owned(),
            title: title.to_owned(),
            body: often("bear", 7) + &often("honey", 11) + &often("river", 13) + &filler,
            ..Document::default()
        };
        writer.put(&AnalyzedDocument::new(document)).unwrap();
    }
    writer.commit().unwrap();
    (folder, writer)
}

#[test]
fn the_best_are_the_same_however_few_are_asked_for() {
    let (_folder, writer) = varied();
    let phrase = |text: &str, weight| {
        Expression::Phrase(Phrase {
            text: text.to_owned(),
            prefix: false,
            column: None,
            weight,
        })
    };
    let words = [
        phrase("bear", 0.7),
        phrase("honey", 1.9),
        phrase("river", 0.4),
    ];
    let corpus = writer.corpus().unwrap();
    for expression in [words[0].clone(), Expression::Any(words.to_vec())] {
        for bm25 in [
            Bm25::default(),
            Bm25 {
                least_length: 0.0,
                ..Bm25::default()
            },
        ] {
            let ask = |limit| {
                let filter = Filter::default();
                writer
                    .matches(&expression, &filter, corpus, bm25, limit)
                    .unwrap()
            };
            let all = ask(1_000);
            assert_eq!(all.best.len(), all.total);
            for limit in [1, 2, 10, 100] {
                let some = ask(limit);
                assert_eq!(some.total, all.total);
                assert_eq!(some.best, all.best[..limit]);
            }
        }
    }
}
