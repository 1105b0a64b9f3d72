//! Links, and their texts, lead to the documents that they point to.

use kodiak::access::Guard;
use kodiak::analysis::links::{LinkTarget, outgoing};
use kodiak::analysis::markup::Lines;
use kodiak::rank::Bm25;
use kodiak::rank::evidence::QueryWord;
use kodiak::store::{Expression, Filter, Meant, Phrase, Reader, SqliteIndex, Store, Writer};
use kodiak::{Document, Result};
use proptest::prelude::*;

use super::finding::assert_alike;
use super::random::word;
use super::{key_of, note, on_each, others, put, write};

fn part(text: &str) -> Phrase {
    Phrase {
        text: text.to_owned(),
        weight: 2.0,
        word: Some(QueryWord {
            number: 0,
            surprise: 2.0,
        }),
        ..Phrase::default()
    }
}

/// Returns the documents that the links with a word lead to, with the number of
/// documents that have these links.
fn linked_within(reader: &dyn Reader, word: &str, filter: &Filter) -> Vec<(String, u32)> {
    let found = reader
        .linked(&[part("nowhere"), part(word)], filter)
        .unwrap();
    assert!(found.iter().all(|one| one.phrase == 1));
    let named = found
        .iter()
        .map(|one| (key_of(reader, one.row), one.documents));
    let mut named: Vec<_> = named.collect();
    named.sort();
    named
}

fn linked(store: &dyn Store, word: &str) -> Vec<(String, u32)> {
    linked_within(&*store.reader().unwrap(), word, &Filter::default())
}

fn pairs(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    let pairs = expected.iter();
    pairs.map(|&(key, count)| (key.to_owned(), count)).collect()
}

fn fill(writer: &mut dyn Writer) {
    for (key, title, body) in [
        ("gtd.md", "Getting things done", "Lists."),
        (
            "log/monday.md",
            "Monday",
            "About [planning](../gtd.md) and [planning](../gtd.md).",
        ),
        (
            "log/tuesday.md",
            "Tuesday",
            "[[gtd|my planning]], [[Getting things done]]",
        ),
        (
            "self.md",
            "Self",
            "[planning](self.md) in [a list](list.md)",
        ),
    ] {
        put(writer, note(key, title, body));
    }
}

#[test]
fn each_document_that_links_counts_once() {
    on_each(|store| {
        write(store, fill);
        assert_eq!(linked(store, "planning"), pairs(&[("gtd.md", 2)]));
        // A wiki link without a text has its target for one; terms are stemmed.
        assert_eq!(linked(store, "things"), pairs(&[("gtd.md", 1)]));
        assert_eq!(linked(store, "plans"), pairs(&[("gtd.md", 2)]));
        assert_eq!(linked(store, "my planning"), pairs(&[("gtd.md", 1)]));
        assert_eq!(linked(store, "about"), []);
        let reader = store.reader().unwrap();
        let prefix = Phrase {
            prefix: true,
            ..part("pla")
        };
        let found = reader.linked(&[prefix], &Filter::default()).unwrap();
        assert_eq!(found.len(), 1);
    });
}

#[test]
fn a_target_may_come_later_be_renamed_and_go() {
    on_each(|store| {
        write(store, fill);
        assert_eq!(linked(store, "list"), []);
        write(store, |writer| put(writer, note("list.md", "All", "x")));
        assert_eq!(linked(store, "list"), pairs(&[("list.md", 1)]));
        let rename = |writer: &mut dyn Writer, from: &str, to: Document| {
            let entry = writer.reader().entry_states("notes").unwrap()[from];
            writer.remove_entry("notes", entry.row.unwrap()).unwrap();
            put(writer, to);
        };
        // In another folder, it is the only one of its name.
        write(store, |writer| {
            rename(writer, "list.md", note("sub/list.md", "All", "x"));
        });
        assert_eq!(linked(store, "list"), pairs(&[("sub/list.md", 1)]));
        write(store, |writer| {
            rename(writer, "sub/list.md", note("other.md", "All", "x"));
        });
        assert_eq!(linked(store, "list"), []);
        // A title counts for wiki links, also if it changes.
        write(store, |writer| put(writer, note("gtd.md", "GTD", "Lists.")));
        assert_eq!(linked(store, "things"), []);
        let entry = || store.reader().unwrap().entry_states("notes").unwrap()["gtd.md"];
        write(store, |writer| {
            writer.remove_entry("notes", entry().row.unwrap()).unwrap()
        });
        assert_eq!(linked(store, "planning"), []);
    });
}

#[test]
fn links_change_with_their_document_and_go_with_it() {
    on_each(|store| {
        write(store, fill);
        write(store, |writer| {
            put(
                writer,
                note("log/monday.md", "Monday", "[my system](../gtd.md)"),
            )
        });
        assert_eq!(linked(store, "planning"), pairs(&[("gtd.md", 1)]));
        assert_eq!(linked(store, "system"), pairs(&[("gtd.md", 1)]));
        let entries = store.reader().unwrap().entry_states("notes").unwrap();
        write(store, |writer| {
            let row = entries["log/tuesday.md"].row.unwrap();
            writer.remove_entry("notes", row).unwrap();
        });
        assert_eq!(linked(store, "planning"), []);
        let erased = [("notes".to_owned(), "log/monday.md".to_owned())];
        let mut writer = store.writer("test").unwrap();
        writer.erase(&erased, &mut |_| ()).unwrap();
        drop(writer);
        assert_eq!(linked(store, "system"), []);
        write(store, |writer| writer.remove_source("notes").unwrap());
        assert_eq!(linked(store, "list"), []);
    });
}

#[test]
fn of_two_documents_with_one_name_the_nearer_is_meant() {
    on_each(|store| {
        write(store, |writer| {
            for (key, body) in [
                ("a/plan.md", "x"),
                ("b/plan.md", "y"),
                ("a/x.md", "[[plan|ours]]"),
                ("b/x.md", "[theirs](plan.md)"),
                ("x.md", "[[plan|whose]] [[b/plan|exact]]"),
            ] {
                put(writer, note(key, "", body));
            }
            // Another source has the name, too.
            let mut other = note("plan.md", "", "x");
            other.source = "other".to_owned();
            put(writer, other);
        });
        assert_eq!(linked(store, "ours"), pairs(&[("a/plan.md", 1)]));
        assert_eq!(linked(store, "theirs"), pairs(&[("b/plan.md", 1)]));
        assert_eq!(linked(store, "whose"), []);
        assert_eq!(linked(store, "exact"), pairs(&[("b/plan.md", 1)]));
    });
}

#[test]
fn links_by_an_alias_lead_to_its_document() {
    let called = |key: &str, alias: &str, source: &str| {
        let mut document = note(key, "", "x");
        document.source = source.to_owned();
        document.fields = serde_json::json!({ "aliases": [alias] })
            .as_object()
            .unwrap()
            .clone();
        document
    };
    on_each(|store| {
        write(store, |writer| {
            put(writer, called("gtd.md", " The Method ", "notes"));
            put(writer, called("one.md", "Überblick", "notes"));
            put(writer, called("two.md", "überblick", "notes"));
            put(writer, called("away.md", "Elsewhere", "other"));
            for (key, body) in [
                ("a.md", "[[the method|planning]]"),
                ("b.md", "[planning](the method)"),
                ("c.md", "[[überblick|whose]] [[elsewhere|foreign]]"),
            ] {
                put(writer, note(key, "", body));
            }
        });
        assert_eq!(linked(store, "planning"), pairs(&[("gtd.md", 1)]));
        assert_eq!(linked(store, "whose"), []);
        assert_eq!(linked(store, "foreign"), []);
        // A document that is called so by its title is meant before another's alias.
        write(store, |writer| {
            put(writer, note("method.md", "The method", "y"))
        });
        assert_eq!(linked(store, "planning"), pairs(&[("method.md", 1)]));
    });
}

#[test]
fn only_links_of_documents_in_scope_count() {
    on_each(|store| {
        write(store, |writer| {
            let project = |mut document: Document, project: &str| {
                document.project = Some(project.to_owned());
                document
            };
            put(writer, project(note("gtd.md", "GTD", "x"), "mine"));
            put(
                writer,
                project(note("a.md", "A", "[planning](gtd.md)"), "mine"),
            );
            put(
                writer,
                project(note("b.md", "B", "[planning, secret](gtd.md)"), "theirs"),
            );
            put(writer, project(note("sub/gtd.md", "GTD", "x"), "theirs"));
            put(
                writer,
                project(note("sub/c.md", "C", "[[a|quiet]]"), "theirs"),
            );
        });
        let reader = store.reader().unwrap();
        let all = Filter::default();
        let mine = Guard::local().in_project("mine").narrow(&all);
        assert_eq!(
            linked_within(&*reader, "planning", &all),
            pairs(&[("gtd.md", 2)])
        );
        assert_eq!(
            linked_within(&*reader, "planning", &mine),
            pairs(&[("gtd.md", 1)])
        );
        assert_eq!(linked_within(&*reader, "secret", &mine), []);
        assert_eq!(linked_within(&*reader, "quiet", &mine), []);
        let nothing = Guard::local().within(["other"]).narrow(&all);
        assert_eq!(linked_within(&*reader, "planning", &nothing), []);
        // What a caller asks for besides limits what is found and not who may say so.
        let asked = Filter {
            paths: vec!["gtd".to_owned()],
            ..Filter::default()
        };
        assert_eq!(
            linked_within(&*reader, "planning", &asked),
            pairs(&[("gtd.md", 2)])
        );
        let found = found(&*reader, &[part("planning")], &asked).unwrap();
        assert_eq!(found, ["gtd.md"]);
        let elsewhere = Filter {
            paths: vec!["a".to_owned()],
            ..Filter::default()
        };
        let found = self::found(&*reader, &[part("planning")], &elsewhere).unwrap();
        assert_eq!(found, ["a.md"]);
    });
}

/// Returns the documents that any of the phrases finds, the best first.
fn found(reader: &dyn Reader, phrases: &[Phrase], filter: &Filter) -> Result<Vec<String>> {
    let parts = phrases.iter().cloned().map(Expression::Phrase);
    let any = Expression::Any(parts.collect());
    let matches = reader.matches(&any, filter, reader.corpus()?, Bm25::default(), 9)?;
    assert_eq!(matches.total, matches.best.len());
    Ok(matches
        .best
        .iter()
        .map(|one| key_of(reader, one.row))
        .collect())
}

#[test]
fn links_find_and_raise_and_no_weight_turns_that_off() {
    on_each(|store| {
        write(store, |writer| {
            for (key, body) in [
                ("a.md", "lists"),
                ("b.md", "lists"),
                ("c.md", "[lists of work](b.md)"),
            ] {
                put(writer, note(key, key, body));
            }
        });
        let reader = store.reader().unwrap();
        let all = Filter::default();
        let found = |phrases: &[Phrase]| found(&*reader, phrases, &all).unwrap();
        assert_eq!(found(&[part("lists")])[0], "b.md");
        assert_eq!(found(&[part("work")]), ["b.md", "c.md"]);
        // Not where a word counts for nothing, or is asked for in another column.
        let weightless = Phrase {
            word: None,
            ..part("work")
        };
        assert_eq!(found(&[weightless]), ["c.md"]);
        let titled = Phrase {
            column: Some(kodiak::store::Column::Title),
            ..part("work")
        };
        assert_eq!(found(&[titled]), [] as [&str; 0]);
        let without = Bm25 {
            links_weight: 0.0,
            ..Bm25::default()
        };
        let work = Expression::Phrase(part("work"));
        let corpus = reader.corpus().unwrap();
        let matches = reader.matches(&work, &all, corpus, without, 9).unwrap();
        assert_eq!(matches.total, 1);
        // What must not occur is looked for in the document.
        let except = Expression::Except(Box::new(work), Box::new(Expression::Phrase(part("x"))));
        let matches = reader.matches(&except, &all, corpus, Bm25::default(), 9);
        assert_eq!(matches.unwrap().total, 1);
    });
}

/// A body of words and of links to notes by number.
fn body() -> impl Strategy<Value = String> {
    let word = "(bear|bears|bee|run|running|数据库|据库)";
    let link = (word, 0..6_usize).prop_map(|(text, number)| format!("[{text}]({number}.md)"));
    let part = prop_oneof![2 => word.prop_map(String::from), 1 => link];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.join(" "))
}

fn phrase() -> impl Strategy<Value = Phrase> {
    let text = "(bear|bee|runs|数据库|库|be)( bear)?";
    let weight = prop_oneof![Just(0.0), Just(0.5), Just(3.25)];
    (text, any::<bool>(), weight, word()).prop_map(|(text, prefix, weight, word)| Phrase {
        text,
        prefix,
        weight,
        word,
        column: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn all_stores_rank_by_links_alike(
        bodies in prop::collection::vec(body(), 1..7),
        queries in prop::collection::vec(prop::collection::vec(phrase(), 1..4), 8),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = SqliteIndex::new(folder.path().join("index.db"));
        let others = others();
        let stores = others.iter().map(|store| &**store);
        for store in stores.chain([&sqlite as &dyn Store]) {
            write(store, |writer| {
                for (number, body) in bodies.iter().enumerate() {
                    put(writer, note(&format!("{number}.md"), "bear", body));
                }
            });
        }
        let sqlite = sqlite.reader().unwrap();
        let others: Vec<_> = others.iter().map(|store| store.reader().unwrap()).collect();
        let corpus = sqlite.corpus().unwrap();
        for phrases in queries {
            // Forms of a phrase that differ in weight alone cannot be told apart.
            let mut phrases = phrases;
            phrases.sort_by_key(|one| (one.text.clone(), one.prefix));
            phrases.dedup_by(|one, other| one.text == other.text && one.prefix == other.prefix);
            let any = Expression::Any(phrases.into_iter().map(Expression::Phrase).collect());
            for other in &others {
                assert_alike(&*sqlite, &**other, &any, corpus);
            }
        }
    }
}

/// Returns what the links of a note mean, and which notes link to it, as keys.
fn around(reader: &dyn Reader, key: &str, filter: &Filter) -> (Vec<String>, Vec<String>) {
    let found = reader.with_path(Some("notes"), key, &Filter::default(), 1);
    let row = found.unwrap()[0].0;
    let document = reader.documents(&[row]).unwrap().remove(0);
    let lines = Lines::of(document.markup, &document.body);
    let targets: Vec<LinkTarget> = outgoing(document.markup, &lines, &document.body)
        .into_iter()
        .map(|link| link.target)
        .collect();
    let meant = reader.meant(row, &targets, filter).unwrap();
    let meant = meant.into_iter().map(|meant| match meant {
        Meant::Nothing => "nothing".to_owned(),
        Meant::Several => "several".to_owned(),
        Meant::Document(row) => key_of(reader, row),
    });
    let linking = reader.linking(row, filter).unwrap();
    let linking = linking.into_iter().map(|row| key_of(reader, row));
    (meant.collect(), linking.collect())
}

#[test]
fn links_are_followed_in_both_directions() {
    on_each(|store| {
        write(store, |writer| {
            fill(writer);
            let mut called = note(
                "people/bob.md",
                "Robert",
                "See [[gtd]] and [x](../none.md).",
            );
            called.fields = serde_json::json!({ "aliases": ["Bob", "Bücher"] })
                .as_object()
                .unwrap()
                .clone();
            put(writer, called);
            put(
                writer,
                note("b/two.md", "Two", "[[Bob]] [[bucher]] [[Plan]]"),
            );
            put(writer, note("b/plan.md", "One", "[[two]]"));
            put(writer, note("c/plan.md", "Other", "[[b/two]]"));
        });
        let reader = store.reader().unwrap();
        let all = Filter::default();
        let (meant, linking) = around(&*reader, "gtd.md", &all);
        assert_eq!(meant, [] as [&str; 0]);
        assert_eq!(
            linking,
            ["log/monday.md", "log/tuesday.md", "people/bob.md"]
        );
        let (meant, linking) = around(&*reader, "people/bob.md", &all);
        assert_eq!(
            (meant, linking),
            (
                vec!["nothing".to_owned(), "gtd.md".to_owned()],
                vec!["b/two.md".to_owned()]
            )
        );
        let (meant, linking) = around(&*reader, "b/two.md", &all);
        assert_eq!(meant, ["people/bob.md", "people/bob.md", "b/plan.md"]);
        assert_eq!(linking, ["b/plan.md", "c/plan.md"]);
        // A note's link to itself is not a link from another one.
        let (_, linking) = around(&*reader, "self.md", &all);
        assert_eq!(linking, [] as [&str; 0]);
        // Outside the scope, nothing is meant and nothing links.
        let narrow = Guard::local().within(["other"]).narrow(&all);
        let (meant, linking) = around(&*reader, "b/two.md", &narrow);
        assert_eq!(meant, ["nothing"; 3]);
        assert_eq!(linking, [] as [&str; 0]);
    });
}
