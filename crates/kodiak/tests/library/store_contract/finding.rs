//! Words, expressions and filters.

use std::collections::BTreeSet;

use kodiak::access::Guard;
use kodiak::rank::{Bm25, Corpus};
use kodiak::store::{Column, Expression, Filter, Matches, Phrase, Reader, Writer};
use serde_json::json;

use super::{key_of, keys, note, on_both, on_each, put, rows, write};

fn phrase(text: &str, weight: f64) -> Expression {
    Expression::Phrase(part(text, weight))
}

fn part(text: &str, weight: f64) -> Phrase {
    Phrase {
        text: text.to_owned(),
        weight,
        ..Phrase::default()
    }
}

fn prefix(text: &str, weight: f64) -> Expression {
    Expression::Phrase(Phrase {
        prefix: true,
        ..part(text, weight)
    })
}

fn within(column: Column, text: &str, weight: f64) -> Expression {
    Expression::Phrase(Phrase {
        column: Some(column),
        ..part(text, weight)
    })
}

fn except(wanted: Expression, unwanted: Expression) -> Expression {
    Expression::Except(Box::new(wanted), Box::new(unwanted))
}

/// Notes that differ in everything a filter or an expression can ask for.
fn corpus(writer: &mut dyn Writer) {
    writer.put_source("notes", "/notes").unwrap();
    let fields = |value: serde_json::Value| value.as_object().unwrap().clone();
    let mut bear = note(
        "animals/bear.md",
        "Brown bear",
        "A bear likes honey and the river.",
    );
    bear.tags = vec!["Animals/mammals".to_owned()];
    bear.kind = "Fact".to_owned();
    bear.created_at = Some(86_400);
    bear.updated_at = 500_000;
    bear.fields = fields(json!({"status": "Done", "stars": 5}));
    let mut honey = note(
        "honey.md",
        "Honey",
        "Bees make honey. Honey cakes are sweet, running down the river bank like a bear runs.",
    );
    honey.tags = vec!["food".to_owned(), "bear".to_owned()];
    honey.category = Some("Recipes".to_owned());
    honey.updated_at = 400_000;
    honey.fields = fields(json!({"meta": {"lang": ["en", "de"]}, "status": "draft"}));
    let mut database = note(
        "tech/database.md",
        "数据库",
        "数据库 of 日本語 words: 100% sure_thing.",
    );
    database.tags = vec!["food/asian".to_owned()];
    database.updated_at = 400_000;
    let mut river = note("river.md", "River", "");
    river.updated_at = 300_000;
    let mut chat = note(
        "chat",
        "Bears in a chat",
        "honey said the runner, bear with me",
    );
    chat.source = "chats".to_owned();
    chat.kind = "message".to_owned();
    chat.created_at = Some(200_000);
    for document in [bear, honey, database, river, chat] {
        put(writer, document);
    }
}

/// Returns the keys found, best first, and asserts what holds of all matches.
fn found(reader: &dyn Reader, matches: &Matches) -> Vec<String> {
    assert_eq!(matches.total, matches.best.len());
    assert!(
        matches
            .best
            .is_sorted_by(|one, next| one.score >= next.score)
    );
    let keys = matches.best.iter().map(|it| key_of(reader, it.row));
    keys.collect()
}

fn matching(reader: &dyn Reader, expression: &Expression, filter: &Filter) -> Vec<String> {
    let corpus = reader.corpus().unwrap();
    let matches = reader.matches(expression, filter, corpus, Bm25::default(), 99);
    let mut found = found(reader, &matches.unwrap());
    let count = reader.count(expression, filter).unwrap();
    assert_eq!(count, found.len() as u64);
    // The same documents, whichever way they are asked for.
    let bitmap = reader.rows(filter, Some(expression), None).unwrap();
    let others = reader.rows(filter, None, Some(expression)).unwrap();
    assert_eq!(bitmap.len(), found.len());
    let everything = reader.rows(filter, None, None).unwrap();
    assert_eq!(bitmap.len() + others.len(), everything.len());
    for (key, row) in rows(reader) {
        assert_eq!(bitmap.contains(row), found.contains(&key), "{key}");
        let other = everything.contains(row) && !bitmap.contains(row);
        assert_eq!(others.contains(row), other, "{key}");
    }
    found.sort();
    found
}

#[test]
fn expressions_find_the_documents_that_meet_them() {
    let (bear, honey, database, chat) = ("animals/bear.md", "honey.md", "tech/database.md", "chat");
    let near = |texts: &[&str], distance| {
        Expression::Near(texts.iter().map(|text| part(text, 1.0)).collect(), distance)
    };
    let cases: Vec<(Expression, Vec<&str>)> = vec![
        (phrase("bears", 1.0), vec![bear, chat, honey]),
        (phrase("honey cakes", 1.0), vec![honey]),
        (phrase("cakes honey", 1.0), vec![]),
        (phrase("runs", 1.0), vec![honey]),
        (prefix("runn", 1.0), vec![chat]),
        (prefix("sweet ru", 1.0), vec![honey]),
        (prefix("cakes are swe", 1.0), vec![]),
        (phrase("据库", 1.0), vec![database]),
        (prefix("库", 1.0), vec![database]),
        (phrase("数据库 of", 1.0), vec![database]),
        (phrase("…", 1.0), vec![]),
        (within(Column::Title, "bear", 1.0), vec![bear, chat]),
        (within(Column::Tags, "bear", 1.0), vec![honey]),
        (within(Column::Tags, "mammals", 1.0), vec![bear]),
        (within(Column::Title, "honey", 1.0), vec![honey]),
        (near(&["bear", "river"], 5), vec![bear, honey]),
        (near(&["bear", "river"], 4), vec![bear, honey]),
        (near(&["river", "bear"], 2), vec![]),
        (near(&["said the", "with"], 2), vec![chat]),
        (near(&["said the", "with"], 1), vec![]),
        (near(&["honey", "…"], 1), vec![bear, chat, honey]),
        (near(&["…"], 1), vec![]),
        (
            Expression::All(vec![phrase("honey", 1.0), phrase("river", 1.0)]),
            vec![bear, honey],
        ),
        (
            Expression::Any(vec![phrase("said", 1.0), phrase("words", 1.0)]),
            vec![chat, database],
        ),
        (
            except(phrase("bear", 1.0), phrase("river", 1.0)),
            vec![chat],
        ),
        (Expression::All(vec![]), vec![]),
        (Expression::Any(vec![]), vec![]),
        (
            except(phrase("bear", 1.0), Expression::Any(vec![])),
            vec![bear, chat, honey],
        ),
    ];
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        for (expression, expected) in &cases {
            let found = matching(&*reader, expression, &Filter::default());
            assert_eq!(found, *expected, "{expression:?}");
        }
    });
}

#[test]
fn a_filter_leaves_out_single_documents() {
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        let all: Vec<_> = rows(&*reader).into_values().collect();
        for out in [&all[..1], &all[1..], &all[..]] {
            let filter = Filter {
                without: out.to_vec(),
                ..Filter::default()
            };
            let left = reader.rows(&filter, None, None).unwrap();
            assert_eq!(left.len(), all.len() - out.len());
            assert!(out.iter().all(|&row| !left.contains(row)));
        }
    });
}

#[test]
fn filters_admit_what_they_say() {
    let (bear, honey, database) = ("animals/bear.md", "honey.md", "tech/database.md");
    let everything = vec![bear, "chat", honey, "river.md", database];
    let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let with = |set: &dyn Fn(&mut Filter)| {
        let mut filter = Filter::default();
        set(&mut filter);
        filter
    };
    let field = |name: &str, value: &str| {
        with(&|filter| filter.fields = vec![(name.to_owned(), value.to_owned())])
    };
    let cases = vec![
        (Filter::default(), everything.clone()),
        (with(&|it| it.sources = list(&["chats", "x"])), vec!["chat"]),
        (
            with(&|it| *it = Guard::local().within(["chats"]).narrow(it)),
            vec!["chat"],
        ),
        (
            with(&|it| *it = Guard::local().within([""; 0]).narrow(it)),
            vec![],
        ),
        (with(&|it| it.tags = list(&["#animals"])), vec![bear]),
        (
            with(&|it| it.tags = list(&[" FOOD "])),
            vec![honey, database],
        ),
        (with(&|it| it.tags = list(&["food", "bear"])), vec![honey]),
        (with(&|it| it.tags = list(&["foo"])), vec![]),
        (with(&|it| it.kinds = list(&["fact", "x"])), vec![bear]),
        (with(&|it| it.categories = list(&["RECIPES"])), vec![honey]),
        (
            with(&|it| it.after = Some(400_000)),
            vec![bear, honey, database],
        ),
        (with(&|it| it.before = Some(86_401)), vec![bear, "chat"]),
        (
            with(&|it| {
                it.after = Some(150_000);
                it.before = Some(300_001);
            }),
            vec!["chat", "river.md"],
        ),
        (
            with(&|it| it.paths = list(&["animals/", "tech/d"])),
            vec![bear, database],
        ),
        (with(&|it| it.paths = list(&["imals/"])), vec![]),
        (
            with(&|it| it.not_kinds = list(&["FACT", "message"])),
            vec![honey, "river.md", database],
        ),
        (
            with(&|it| it.not_paths = vec![(None, "animals/".to_owned())]),
            vec!["chat", honey, "river.md", database],
        ),
        (
            with(&|it| {
                it.not_paths = vec![
                    (Some("chats".to_owned()), String::new()),
                    (Some("chats".to_owned()), "animals/".to_owned()),
                    (Some("notes".to_owned()), "tech/".to_owned()),
                ];
            }),
            vec![bear, honey, "river.md"],
        ),
        (field("STATUS", "done"), vec![bear]),
        (field("stars", "5"), vec![bear]),
        (field("meta.lang", "de"), vec![honey]),
        (field("title", "honey"), vec![honey]),
        (field("type", "message"), vec!["chat"]),
        (field("category", "recipes"), vec![honey]),
        (field("tags", "#food"), vec![honey]),
        (field("created", "1970-01-02"), vec![bear]),
        (field("created", "1970-01-01"), vec![]),
        (field("created", "no date"), vec![]),
        (field("nothing", "5"), vec![]),
    ];
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        for (filter, expected) in &cases {
            let newest = reader.newest(filter, None, 99).unwrap();
            let mut all = found(&*reader, &newest);
            all.sort();
            assert_eq!(all, *expected, "{filter:?}");
            let latest = reader.latest(filter, 99).unwrap();
            let rows = newest.best.iter().map(|found| found.row);
            assert_eq!(
                latest.iter().copied().collect::<BTreeSet<_>>(),
                rows.collect(),
                "{filter:?}"
            );
            // Every way of asking goes by the filter.
            let any = Expression::Any(["bear", "river", "words"].map(|it| phrase(it, 1.0)).into());
            assert_eq!(matching(&*reader, &any, filter), *expected, "{filter:?}");
            let needles = ["r".to_owned(), "数".to_owned()];
            let literal = reader.containing(&needles, &[], filter, 99).unwrap();
            let mut literal = found(&*reader, &literal);
            literal.sort();
            assert_eq!(literal, *expected, "{filter:?}");
        }
    });
}

#[test]
fn the_newest_come_first() {
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        let all = Filter::default();
        let newest = reader.newest(&all, None, 99).unwrap();
        let order = found(&*reader, &newest);
        // Of those that changed at the same moment the first comes first.
        let expected = ["animals/bear.md", "honey.md", "tech/database.md"];
        assert_eq!(order[..3], expected);
        let latest = |limit| {
            let rows = reader.latest(&all, limit).unwrap();
            reader.documents(&rows).unwrap()
        };
        let moments: Vec<_> = latest(99).iter().map(|it| it.updated_at).collect();
        assert!(
            moments.is_sorted_by(|one, other| one >= other),
            "{moments:?}"
        );
        assert_eq!(latest(2)[..], latest(99)[..2]);
        assert_eq!(latest(0), []);
        let unwanted = phrase("honey", 0.0);
        let newest = reader.newest(&all, Some(&unwanted), 1).unwrap();
        assert_eq!((newest.total, newest.best.len()), (2, 1));
        assert_eq!(key_of(&*reader, newest.best[0].row), "tech/database.md");
    });
}

#[test]
fn texts_are_found_literally() {
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        let ask = |needles: &[&str], excluded: &[&[&str]]| {
            let own =
                |texts: &[&str]| -> Vec<String> { texts.iter().map(|&it| it.into()).collect() };
            let excluded: Vec<_> = excluded.iter().map(|texts| own(texts)).collect();
            let all = Filter::default();
            let matches = reader
                .containing(&own(needles), &excluded, &all, 99)
                .unwrap();
            let scores: Vec<f64> = matches.best.iter().map(|it| it.score).collect();
            (found(&*reader, &matches), scores)
        };
        let keys = |keys: &[&str]| -> Vec<String> { keys.iter().map(|&it| it.into()).collect() };
        // A title counts ten times a body, ASCII case aside.
        let honey = keys(&["honey.md", "animals/bear.md", "chat"]);
        assert_eq!(ask(&["HONEY"], &[]), (honey, vec![11.0, 1.0, 1.0]));
        assert_eq!(
            ask(&["0% sure_t"], &[]),
            (keys(&["tech/database.md"]), vec![1.0])
        );
        assert_eq!(ask(&["sure%thing"], &[]).0, keys(&[]));
        assert_eq!(ask(&[], &[]).0, keys(&[]));
        // Only what has all texts of an exclusion is left out.
        let excluded: &[&[&str]] = &[&["bees", "said"], &["brown", "likes"], &[]];
        assert_eq!(ask(&["honey"], excluded).0, keys(&["honey.md", "chat"]));
    });
}

#[test]
fn words_are_counted_completed_and_corrected() {
    on_each(|store| {
        write(store, corpus);
        let reader = store.reader().unwrap();
        let terms = reader.document_frequencies(&["bear", "runner", "库", "nothing"]);
        assert_eq!(terms.unwrap(), [3, 1, 1, 0]);
        assert_eq!(reader.word_frequency("bear").unwrap(), 3);
        // Words are not stemmed.
        assert_eq!(reader.word_frequency("bears").unwrap(), 1);
        assert_eq!(reader.word_frequency("Bear").unwrap(), 0);
        let pair = |word: &str, documents| (word.to_owned(), documents);
        let beginning = reader.words_beginning("bea", 9).unwrap();
        assert_eq!(beginning, [pair("bear", 3), pair("bears", 1)]);
        assert_eq!(reader.words_beginning("bea", 1).unwrap(), beginning[..1]);
        let runs = [pair("runner", 1), pair("running", 1), pair("runs", 1)];
        assert_eq!(reader.words_beginning("run", 9).unwrap(), runs);
        let terms = |prefix, most, limit| reader.terms_beginning(prefix, most, limit).unwrap();
        assert_eq!(terms("bea", u64::MAX, 9), [pair("bear", 3)]);
        assert_eq!(terms("bea", 2, 9), []);
        assert_eq!(terms("run", 1, 9), [pair("run", 1), pair("runner", 1)]);
        assert_eq!(terms("run", 1, 1), [pair("run", 1)]);
        let near = |word: &str, distance| {
            let near = reader.similar_words(word, distance).unwrap().into_iter();
            let mut near: Vec<_> = near
                .map(|near| (near.word, near.distance, near.documents))
                .collect();
            near.sort();
            near
        };
        let found = |word: &str, distance, documents| (word.to_owned(), distance, documents);
        assert_eq!(near("baer", 1), [found("bear", 1, 3)]);
        let two = [
            found("bear", 0, 3),
            found("bears", 1, 1),
            found("bees", 2, 1),
        ];
        assert_eq!(near("bear", 2)[..2], two[..2]);
        assert_eq!(near("rivre", 1), [found("river", 1, 3)]);
        assert!(near("zzzzzz", 2).is_empty());
    });
}

#[test]
fn stores_score_alike() {
    let near = |texts: [&str; 2], distance| {
        Expression::Near(texts.map(|text| part(text, 2.5)).into(), distance)
    };
    let expressions = [
        phrase("bear", 1.5),
        phrase("honey cakes", 4.0),
        prefix("r", 0.5),
        within(Column::Title, "honey", 2.0),
        within(Column::Tags, "bear", 2.0),
        near(["bear", "river"], 6),
        near(["honey", "bear"], 3),
        Expression::Any(vec![
            phrase("bear", 1.5),
            phrase("honey", 2.0),
            phrase("库", 3.0),
        ]),
        Expression::All(vec![phrase("bear", 1.5), phrase("honey", 2.0)]),
        // What must not be there counts nothing, and neither does what stands
        // beside it.
        Expression::Any(vec![
            except(phrase("bear", 2.0), phrase("river", 3.0)),
            phrase("honey", 1.5),
        ]),
        Expression::Any(vec![
            except(phrase("absent", 2.0), phrase("bear", 3.0)),
            phrase("honey", 1.5),
        ]),
        // Phrases have the weight they were given, whatever is empty before them.
        Expression::Any(vec![
            Expression::All(vec![]),
            phrase("bear", 1.5),
            phrase("honey", 9.0),
        ]),
        Expression::Any(vec![near(["…", "bear"], 3), phrase("honey", 9.0)]),
        // Words that are not near each other count nothing.
        Expression::Any(vec![near(["honey cakes", "bear"], 1), phrase("river", 2.0)]),
        Expression::Any(vec![near(["bear", "honey cakes"], 1), phrase("river", 2.0)]),
        Expression::Any(vec![near(["bear", "river bank"], 9), phrase("honey", 2.0)]),
    ];
    on_both(corpus, |sqlite, memory| {
        let (sqlite, memory) = (sqlite.reader().unwrap(), memory.reader().unwrap());
        assert_eq!(keys(&*sqlite), keys(&*memory));
        let corpus = memory.corpus().unwrap();
        assert_eq!(sqlite.corpus().unwrap(), corpus);
        for expression in &expressions {
            assert_alike(&*sqlite, &*memory, expression, corpus);
        }
    });
}

/// Asserts that both stores find the same documents with the same scores.
pub(super) fn assert_alike(
    one: &dyn Reader,
    other: &dyn Reader,
    expression: &Expression,
    corpus: Corpus,
) {
    let (all, bm25) = (Filter::default(), Bm25::default());
    let found = |reader: &dyn Reader, limit: usize| {
        let matches = reader
            .matches(expression, &all, corpus, bm25, limit)
            .unwrap();
        let scored = matches
            .best
            .iter()
            .map(|it| (key_of(reader, it.row), it.score, it.coverage));
        (matches.total, scored.collect::<Vec<_>>())
    };
    for limit in [99, 2] {
        let (one, other) = (found(one, limit), found(other, limit));
        let about = format!("{expression:?}\n{one:?}\n{other:?}");
        assert_eq!(one.0, other.0, "{about}");
        assert_eq!(one.1.len(), other.1.len(), "{about}");
        for (one, other) in one.1.iter().zip(&other.1) {
            assert!((one.1 - other.1).abs() < 1e-9, "{about}");
        }
        // Scores that differ by rounding alone may change places.
        if limit == 99 {
            let by_key = |found: &[(String, f64, f64)]| {
                let covered = found.iter();
                let mut covered: Vec<(String, i64)> = covered
                    .map(|(key, _, coverage)| (key.clone(), (coverage * 1e6).round() as i64))
                    .collect();
                covered.sort();
                covered
            };
            assert_eq!(by_key(&one.1), by_key(&other.1), "{about}");
        }
    }
}
