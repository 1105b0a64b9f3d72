//! All stores on random corpora and expressions.

use kodiak::rank::evidence::QueryWord;
use kodiak::store::{Column, Expression, Phrase, Reader, SqliteIndex, Store};
use proptest::prelude::*;

use super::finding::assert_alike;
use super::{note, others, put, write};

/// Words that meet each other often: inflected ones, prefixes of others, and
/// scripts without spaces.
const WORDS: &str = "(bear|bears|bee|been|run|running|river|a|数据库|据库|库|กขค)";

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    prop::collection::vec(WORDS, words).prop_map(|words| words.join(" "))
}

/// A word of a query, or none.
pub(super) fn word() -> impl Strategy<Value = Option<QueryWord>> {
    let surprise = prop_oneof![Just(0.25), Just(1.5), Just(4.0)];
    let word = (0_u32..4, surprise);
    prop::option::of(word.prop_map(|(number, surprise)| QueryWord { number, surprise }))
}

fn phrase() -> impl Strategy<Value = Phrase> {
    let column = prop_oneof![
        4 => Just(None),
        1 => Just(Some(Column::Title)),
        1 => Just(Some(Column::Tags)),
    ];
    // Sometimes there is nothing in it to look for.
    let text = prop_oneof![6 => text(1..3), 1 => Just("…".to_owned())];
    let weight = prop_oneof![Just(0.0), Just(0.5), Just(2.0), Just(3.25)];
    (text, any::<bool>(), column, weight, word()).prop_map(
        |(text, prefix, column, weight, word)| Phrase {
            text,
            prefix,
            column,
            weight,
            word,
        },
    )
}

fn expression() -> impl Strategy<Value = Expression> {
    let near = (prop::collection::vec(phrase(), 1..4), 0_usize..6);
    let leaf = prop_oneof![
        3 => phrase().prop_map(Expression::Phrase),
        1 => near.prop_map(|(phrases, distance)| Expression::Near(phrases, distance)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = || prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            parts().prop_map(Expression::All),
            parts().prop_map(Expression::Any),
            (inner.clone(), inner.clone())
                .prop_map(|(one, other)| Expression::Except(Box::new(one), Box::new(other))),
        ]
    })
}

/// A title, a body and a tag. Tags are written in whichever order a store likes,
/// so that only one is looked for in order.
fn documents() -> impl Strategy<Value = Vec<(String, String, String)>> {
    prop::collection::vec((text(0..4), text(0..12), text(0..3)), 1..8)
}

fn fill(store: &dyn Store, documents: &[(String, String, String)]) -> Box<dyn Reader + Send> {
    write(store, |writer| {
        for (number, (title, body, tag)) in documents.iter().enumerate() {
            let mut document = note(&format!("{number}.md"), title, body);
            document.tags = vec![tag.clone()];
            put(writer, document);
        }
        // Some are replaced and some removed, as in any index.
        if let Some((_, body, _)) = documents.get(3) {
            put(writer, note("1.md", "bear", body));
            let entry = writer.reader().entry_states("notes").unwrap()["2.md"];
            writer.remove_entry("notes", entry.row.unwrap()).unwrap();
        }
    });
    store.reader().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn both_find_the_same(
        documents in documents(),
        expressions in prop::collection::vec(expression(), 12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = fill(&SqliteIndex::new(folder.path().join("index.db")), &documents);
        for other in others() {
            let other = fill(&*other, &documents);
            let corpus = other.corpus().unwrap();
            prop_assert_eq!(sqlite.corpus().unwrap(), corpus);
            for expression in &expressions {
                assert_alike(&*sqlite, &*other, expression, corpus);
            }
        }
    }

    #[test]
    fn both_know_the_same_words(
        bodies in prop::collection::vec("[a-d]{3,6}( [a-d]{3,6}){0,9}", 1..5),
        words in prop::collection::vec("[a-d]{1,7}", 1..8),
    ) {
        let documents: Vec<_> = bodies
            .into_iter()
            .map(|body| (String::new(), body, String::new()))
            .collect();
        let folder = tempfile::tempdir().unwrap();
        let sqlite = fill(&SqliteIndex::new(folder.path().join("index.db")), &documents);
        for other in others() {
            let other = fill(&*other, &documents);
            prop_assert_eq!(sqlite.vocabulary_size().unwrap(), other.vocabulary_size().unwrap());
            for word in &words {
                let known = |reader: &dyn Reader| {
                    let near = [1, 2].map(|distance| {
                        let near = reader.similar_words(word, distance).unwrap().into_iter();
                        let mut near: Vec<_> =
                            near.map(|it| (it.word, it.distance, it.documents)).collect();
                        near.sort();
                        near
                    });
                    let beginning = reader.words_beginning(&word[..1], 5).unwrap();
                    (near, beginning, reader.word_frequency(word).unwrap())
                };
                prop_assert_eq!(known(&*sqlite), known(&*other));
            }
        }
    }
}
