//! Questions and reads that a search sends at once.

use kodiak::rank::Bm25;
use kodiak::store::{
    Answers, Beginning, Contents, Expression, Filter, Look, Looked, Misspelt, Next, Phrase,
    Questions, Ranking, Reader, TermBeginning, Wanted,
};
use kodiak::{Document, Thread};
use serde_json::json;

use super::{key_of, note, on_each, put, rows, write};

fn only(source: &str) -> Filter {
    Filter {
        sources: vec![source.to_owned()],
        ..Filter::default()
    }
}

fn word(text: &str) -> Expression {
    Expression::Phrase(Phrase {
        text: text.to_owned(),
        weight: 1.0,
        ..Phrase::default()
    })
}

fn ask(reader: &dyn Reader, questions: &Questions, filter: &Filter) -> Answers {
    reader
        .consult(questions, filter, &mut |_, _| Next::Enough)
        .unwrap()
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|one| (*one).to_owned()).collect()
}

#[test]
fn many_questions_are_answered_in_order() {
    on_each(|store| {
        write(store, |writer| {
            put(writer, note("a.md", "A", "bear bears berry"));
            put(writer, note("b.md", "B", "bear moon"));
            let mut chat = note("c", "C", "moon");
            chat.source = "chats".to_owned();
            put(writer, chat);
            writer.put_source("chats", "/chats").unwrap();
        });
        let reader = store.reader().unwrap();
        let beginning = |prefix: &str, unless_word| Beginning {
            prefix: prefix.to_owned(),
            limit: 9,
            unless_word,
        };
        let misspelt = |word: &str, unless_word, unless_beginning| Misspelt {
            word: word.to_owned(),
            distance: 1,
            unless_word,
            unless_beginning,
        };
        let questions = Questions {
            revision: true,
            corpus: true,
            admitted: true,
            rows: true,
            coverage: true,
            incomplete: true,
            words: words(&["moon", "mon", "bear"]),
            frequencies: words(&["bear", "mon"]),
            beginnings: vec![
                beginning("bear", false),
                beginning("bear", true),
                beginning("ber", true),
            ],
            similar: vec![
                misspelt("mon", true, true),
                misspelt("moon", true, false),
                misspelt("moon", false, false),
                misspelt("moo", false, true),
            ],
            terms: words(&["bear", "moon", "mon"]),
            term_beginnings: vec![TermBeginning {
                prefix: "be".to_owned(),
                most: 1,
                limit: 9,
            }],
            expressions: vec![word("moon"), word("berry"), word("mon")],
            looks: Vec::new(),
        };
        let answers = ask(&*reader, &questions, &only("chats"));
        assert_eq!(answers.revision, Some(reader.revision().unwrap()));
        assert_eq!(answers.corpus.unwrap().documents, 3);
        assert_eq!(answers.admitted, Some(1));
        let known = rows(&*reader);
        let admitted: Vec<_> = answers.rows.unwrap().iter().collect();
        assert_eq!(admitted, [known["c"]]);
        // Nothing is embedded.
        assert_eq!(answers.coverage, None);
        assert_eq!(answers.incomplete, ["chats"]);
        // Words and terms are those of all documents.
        assert_eq!(answers.words, [true, false, true]);
        assert_eq!(answers.frequencies, [2, 0]);
        let pair = |word: &str, documents| (word.to_owned(), documents);
        assert_eq!(answers.beginnings[0], [pair("bear", 2), pair("bears", 1)]);
        assert_eq!(answers.beginnings[1], []);
        assert_eq!(answers.beginnings[2], [pair("berry", 1)]);
        let similar = |at: usize| -> Vec<&str> {
            let similar = answers.similar[at].iter();
            similar.map(|near| near.word.as_str()).collect()
        };
        assert_eq!(similar(0), ["moon"]);
        assert_eq!(similar(1), [] as [&str; 0]);
        assert_eq!(similar(2), ["moon"]);
        // A word begins so.
        assert_eq!(similar(3), [] as [&str; 0]);
        assert_eq!(answers.terms, [2, 2, 0]);
        assert_eq!(answers.term_beginnings[0], [pair("berri", 1)]);
        // Only what the filter admits matches.
        assert_eq!(answers.expressions, [true, false, false]);
        // What is not asked is not answered.
        let nothing = ask(&*reader, &Questions::default(), &Filter::default());
        assert!(nothing.corpus.is_none() && nothing.rows.is_none() && nothing.words.is_empty());
        assert!(nothing.incomplete.is_empty() && nothing.revision.is_none());
    });
}

#[test]
fn documents_are_looked_at_until_enough_were_seen() {
    on_each(|store| {
        write(store, |writer| {
            for number in 0..9 {
                put(writer, note(&format!("{number}"), "N", "bear"));
            }
            put(writer, note("moon", "M", "moon"));
        });
        let reader = store.reader().unwrap();
        let look = |text, most| Look {
            expression: word(text),
            most,
        };
        let questions = Questions {
            looks: vec![
                look("bear", 6),
                look("bear", 9),
                look("moon", 9),
                look("none", 9),
            ],
            ..Questions::default()
        };
        let mut steps: Vec<String> = Vec::new();
        let mut visit = |number: usize, step: Looked<'_>| {
            let (shown, next) = match step {
                Looked::Begins if number == 2 => ("skipped".to_owned(), Next::Enough),
                Looked::Begins => ("begins".to_owned(), Next::More),
                Looked::Matching(rows) => (format!("{}", rows.len()), Next::More),
                Looked::Document(document) if number == 1 && document.key == "1" => {
                    (document.key.clone(), Next::Enough)
                }
                Looked::Document(document) => (document.key.clone(), Next::More),
            };
            steps.push(format!("{number} {shown}"));
            next
        };
        let all = Filter::default();
        reader.consult(&questions, &all, &mut visit).unwrap();
        let expected = [
            "0 begins",
            "0 9",
            "0 0",
            "0 1",
            "0 2",
            "0 3",
            "0 4",
            "0 5",
            "1 begins",
            "1 9",
            "1 0",
            "1 1",
            "2 skipped",
            "3 begins",
            "3 0",
        ];
        assert_eq!(steps, expected);
    });
}

#[test]
fn another_expression_is_ranked_if_too_few_match_the_first() {
    on_each(|store| {
        write(store, |writer| {
            put(writer, note("a", "A", "bear moon"));
            put(writer, note("b", "B", "bear"));
        });
        let reader = store.reader().unwrap();
        let (rare, common) = (word("moon"), word("bear"));
        let total = |least| {
            let ranking = Ranking {
                expression: &rare,
                instead: Some((least, &common)),
                corpus: reader.corpus().unwrap(),
                bm25: Bm25::default(),
                limit: 9,
            };
            reader.ranked(&ranking, &Filter::default()).unwrap().total
        };
        assert_eq!([total(0), total(1), total(2)], [1, 1, 2]);
    });
}

#[test]
fn what_belongs_to_documents_is_read_at_once() {
    on_each(|store| {
        write(store, |writer| {
            for number in 0..5 {
                let mut turn = note(&format!("t{number}"), "", &"x".repeat(number + 1));
                turn.thread = Some(Thread {
                    name: "talk".to_owned(),
                    position: Some(number as i64),
                });
                turn.author = Some(format!("a{number}"));
                put(writer, turn);
            }
            let superseding = |key: &str, old: &str, at| {
                let mut document = Document {
                    created_at: Some(at),
                    ..note(key, key, "new")
                };
                document.fields.insert("supersedes".to_owned(), json!(old));
                document
            };
            put(writer, superseding("n1", "t0", 5));
            put(writer, superseding("n2", "n1", 9));
        });
        let reader = store.reader().unwrap();
        let known = rows(&*reader);
        let row = |key: &str| known[key];
        let wanted = Wanted {
            documents: vec![row("n1"), 1_000, row("t0")],
            fields: vec![row("n1"), row("t0")],
            entries: vec![row("t0"), 1_000],
            threads: vec![row("t2"), row("n1")],
            around: Some(1),
            longest: 4,
            successors: vec![row("t0")],
            admitting: Some(Filter {
                as_of: Some(6),
                ..Filter::default()
            }),
            revision: true,
            ..Wanted::default()
        };
        let read = reader.read(&wanted).unwrap();
        let keys: Vec<&str> = read.documents.iter().map(|one| one.key.as_str()).collect();
        assert_eq!(keys, ["n1", "t0"]);
        assert_eq!(
            read.fields[&row("n1")],
            [("supersedes".to_owned(), "t0".to_owned())]
        );
        assert!(read.fields.get(&row("t0")).is_none_or(Vec::is_empty));
        assert_eq!(
            (read.entries.len(), read.entries[&row("t0")].0.as_str()),
            (1, "t0")
        );
        let thread: Vec<_> = (0..5).map(|number| row(&format!("t{number}"))).collect();
        assert_eq!(read.threads, [thread]);
        // The authors of neighbours, and the texts of the documents themselves.
        let mut authors: Vec<&String> = read.authors.values().collect();
        authors.sort();
        assert_eq!(authors, ["a1", "a2", "a3"]);
        assert_eq!(read.bodies, [(row("t2"), "xxx".to_owned())]);
        // Successors have successors, which may be found or not.
        let pairs = [(row("t0"), row("n1")), (row("n1"), row("n2"))];
        assert_eq!(read.successors, pairs);
        assert_eq!(read.admitted, [row("n1")].into());
        assert_eq!(read.revision, Some(reader.revision().unwrap()));
        assert_eq!(
            reader.read(&Wanted::default()).unwrap(),
            Contents::default()
        );
    });
}

#[test]
fn threads_are_in_order() {
    on_each(|store| {
        let message = |key: &str, thread: &str, position, created_at| {
            let mut message = note(key, key, "hello");
            message.thread = Some(Thread {
                name: thread.to_owned(),
                position,
            });
            message.created_at = created_at;
            message.author = (key != "late").then(|| format!("author of {key}"));
            message
        };
        write(store, |writer| {
            put(writer, message("third", "one", Some(3), Some(1)));
            put(writer, message("late", "TWO", None, Some(9)));
            put(writer, message("first", "ONE", Some(1), Some(9)));
            put(writer, message("early", "two", None, Some(2)));
            put(writer, note("alone", "alone", "hello"));
        });
        let reader = store.reader().unwrap();
        let known = rows(&*reader);
        let asked = [known["third"], known["early"], known["alone"], 1_000];
        let mut threads: Vec<Vec<String>> = reader
            .threads_of(&asked)
            .unwrap()
            .iter()
            .map(|rows| rows.iter().map(|row| key_of(&*reader, *row)).collect())
            .collect();
        threads.sort();
        assert_eq!(threads, [["early", "late"], ["first", "third"]]);
        assert!(reader.threads_of(&[known["alone"]]).unwrap().is_empty());
        let wanted = Wanted {
            authors: vec![known["first"], known["late"], 1_000],
            ..Wanted::default()
        };
        let authors = reader.read(&wanted).unwrap().authors;
        assert_eq!(authors.len(), 1);
        assert_eq!(authors[&known["first"]], "author of first");
    });
}
