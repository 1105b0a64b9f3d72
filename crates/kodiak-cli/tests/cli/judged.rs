//! The promises of the README of `examples/judged` about its queries by meaning.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kodiak::text::{Stemming, fold_into, words};

use crate::eval::{judged, judged_queries};

/// The words of the queries that say nothing about a note. The list is short on
/// purpose: lists of stop words have many that carry meaning.
const FUNCTION_WORDS: &str = "\
    a about after along an and at away back before being between by can cannot down \
    during each enough everyone for from getting got haven his how i in is it many must \
    my notes of off on one only or out per s same several should something still t that \
    the their till to too up use using were what when where which while who why with \
    without your yourself";

/// Returns the stems of the words of a text, each with a word that has it.
fn stems(text: &str) -> BTreeMap<String, String> {
    let folded = words(text).map(|word| {
        let mut folded = String::new();
        fold_into(&text[word.range], &mut folded);
        folded
    });
    folded
        .filter(|word| !FUNCTION_WORDS.split(' ').any(|function| function == word))
        .map(|word| {
            let mut stem = word.clone();
            Stemming::English.stem(&mut stem);
            (stem, word)
        })
        .collect()
}

#[test]
fn queries_by_meaning_share_no_word_with_the_notes_that_are_wanted() {
    let queries: BTreeMap<String, String> = judged_queries("meaning")
        .iter()
        .map(|query| {
            let field = |name: &str| query[name].as_str().unwrap().to_owned();
            (field("_id"), field("text"))
        })
        .collect();
    let mut seen = BTreeSet::new();
    for (id, text) in &queries {
        assert!(seen.insert(text), "{id} repeats a query: {text}");
        assert!(!stems(text).is_empty(), "{id} says nothing: {text}");
        assert!((2..=10).contains(&text.split(' ').count()), "{id}: {text}");
    }
    let judgements = fs::read_to_string(judged().join("qrels_meaning.tsv")).unwrap();
    let wanted = judgements
        .lines()
        .filter_map(|line| line.strip_suffix("\t2"));
    let mut checked = 0;
    for line in wanted {
        let (id, path) = line.split_once('\t').unwrap();
        let note = fs::read_to_string(judged().join("../notes").join(path)).unwrap();
        let note = stems(&note);
        for (stem, word) in stems(&queries[id]) {
            let shared = note.get(&stem);
            assert!(shared.is_none(), "{id}: {word} is {shared:?} in {path}");
        }
        checked += 1;
    }
    assert!(checked >= queries.len(), "{checked}");
}

#[test]
fn a_shared_word_would_be_noticed() {
    let note = stems("The borrowed tools, and other Cafés.");
    for word in ["borrowing", "tool", "CAFE"] {
        let (stem, _) = stems(word).into_iter().next().unwrap();
        assert!(note.contains_key(&stem), "{word}");
    }
    assert!(stems("what is it about").is_empty());
}
