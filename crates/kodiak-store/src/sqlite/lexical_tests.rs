use super::*;
use crate::prelude::*;
use crate::{Row, SqliteWriter};
use kodiak_rank::Bm25;
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::Document;

#[test]
fn the_best_rows_in_order_with_ties_by_row() {
    let mut best = Best::new(3);
    for (row, score) in [(5, 1.0), (1, 0.5), (2, 2.0), (4, 1.0), (3, 1.0), (9, 0.1)] {
        best.offer(Match {
            row,
            score,
            coverage: score / 2.0,
        });
    }
    let matches = best.finish();
    assert_eq!(matches.total, 6);
    let kept = matches.best.iter();
    let kept: Vec<_> = kept.map(|it| (it.row, it.score, it.coverage)).collect();
    assert_eq!(kept, [(2, 2.0, 1.0), (3, 1.0, 0.5), (4, 1.0, 0.5)]);
}

#[test]
fn expressions_are_quoted() {
    let phrase = |text: &str, prefix, column| {
        Expression::Phrase(Phrase {
            text: text.into(),
            prefix,
            column,
            weight: 1.0,
            ..Phrase::default()
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
    assert_eq!(rendered.phrases.len(), 3);
}

fn weighed(text: &str, weight: f64) -> Phrase {
    Phrase {
        text: text.to_owned(),
        weight,
        ..Phrase::default()
    }
}

fn except(wanted: &str, unwanted: &str) -> Expression {
    Expression::Except(
        Box::new(Expression::Phrase(weighed(wanted, 3.0))),
        Box::new(Expression::Phrase(weighed(unwanted, 3.0))),
    )
}

#[test]
fn weights_are_in_the_order_fts5_numbers_phrases() {
    for (expression, sql, weights) in [
        (
            Expression::Any(vec![
                Expression::All(vec![]),
                Expression::Phrase(weighed("bear", 2.0)),
            ]),
            r#"(("") OR "bear")"#,
            &[0.0, 2.0][..],
        ),
        (
            Expression::Near(vec![weighed("…", 1.0), weighed("bear", 2.0)], 3),
            r#"(NEAR("bear" , 3))"#,
            &[2.0],
        ),
        (
            Expression::Near(vec![weighed("bear", 2.0), weighed("honey", 3.0)], 3),
            r#"(NEAR("bear" "honey" , 3) AND "bear")"#,
            &[2.0, 3.0, 0.0],
        ),
        (
            except("bear", "honey"),
            r#"("bear" NOT "honey")"#,
            &[3.0, 0.0],
        ),
        (
            Expression::Near(vec![weighed("…", 1.0)], 3),
            r#""""#,
            &[0.0],
        ),
    ] {
        let mut rendered = Rendered::default();
        rendered.render(&expression);
        assert_eq!(rendered.sql, sql);
        let found: Vec<f64> = rendered.phrases.iter().map(|&(weight, _)| weight).collect();
        assert_eq!(found, weights);
    }
}

#[test]
fn parts_that_a_document_does_not_meet_add_nothing_to_its_score() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer = SqliteWriter::open(&folder.path().join("index.db"), "test").unwrap();
    writer.begin().unwrap();
    // The group matches in the first document, so FTS5 has positions to
    // remember.
    for (key, body) in [
        ("near", "honey cakes bear bear bear river"),
        ("far", "honey bear cakes river"),
        ("plain", "salmon in a river"),
    ] {
        let document = Document {
            source: "notes".to_owned(),
            key: key.to_owned(),
            title: "Note".to_owned(),
            body: body.to_owned(),
            ..Document::default()
        };
        writer.put(&AnalyzedDocument::new(document)).unwrap();
    }
    writer.commit().unwrap();
    let river = || Expression::Phrase(weighed("river", 2.0));
    let corpus = writer.corpus().unwrap();
    let score = |part: Expression, row: Row| {
        let expression = Expression::Any(vec![part, river()]);
        let all = Filter::default();
        let bm25 = Bm25::default();
        let matches = writer.matches(&expression, &all, corpus, bm25, 9).unwrap();
        let found = matches.best.iter().find(|found| found.row == row);
        found.unwrap().score
    };
    let [near, far, plain] = [1, 2, 3];
    let nothing = score(Expression::Any(vec![]), plain);
    let group =
        |one: &str, other: &str| Expression::Near(vec![weighed(one, 3.0), weighed(other, 3.0)], 9);
    for (part, row) in [
        (group("honey cakes", "bear"), far),
        (group("bear", "honey cakes"), far),
        (except("bear", "honey"), near),
        (except("absent", "honey"), near),
    ] {
        let alone = score(part.clone(), row);
        assert!(
            (alone - nothing).abs() < 1e-9,
            "{part:?}: {alone} {nothing}"
        );
    }
    assert!(score(group("honey cakes", "bear"), near) > nothing + 1.0);
}

/// Writes notes of different lengths in which three words differ in frequency.
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
            weight,
            ..Phrase::default()
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
                min_document_length: 0.0,
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
