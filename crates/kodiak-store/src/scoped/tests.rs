//! Tests that what is counted in a scope is what an index of the scope alone would
//! count, before and after changes.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::prelude::*;
use crate::{SqliteStore, SqliteWriter};
use kodiak_text::AnalyzedDocument;
use kodiak_text::document::Document;

/// Texts in several scripts, with words that share stems and beginnings.
const TEXTS: [&str; 9] = [
    "running runs",
    "the runner ran",
    "数据库 database",
    "ภาษาไทย",
    "bread and breads",
    "Über-coolness v2 2024",
    "",
    "compile compiler compiling",
    "bread",
];

/// A document: the number of its source, of itself, and of its texts.
type Planned = (usize, usize, [usize; 3]);

fn document((source, key, texts): &Planned) -> Document {
    let [title, body, tag] = texts.map(|text| TEXTS[text]);
    Document {
        source: ["inside", "outside"][*source].into(),
        key: format!("{key}.md"),
        kind: "note".into(),
        title: title.into(),
        body: format!("{body} {title} {body}"),
        tags: tag.split_whitespace().map(str::to_owned).collect(),
        fields: [("Aliases".to_owned(), vec![tag, body].into())]
            .into_iter()
            .collect(),
        hash: *blake3::hash(format!("{texts:?}").as_bytes()).as_bytes(),
        updated_at: 1_000,
        ..Document::default()
    }
}

fn write(path: &Path, documents: &[Planned], removed: &[Planned]) {
    let mut writer = SqliteWriter::open(path, "test").unwrap();
    writer.begin().unwrap();
    for planned in documents {
        let analyzed = AnalyzedDocument::new(document(planned));
        writer.put(&analyzed).unwrap();
    }
    for planned in removed {
        let Document { source, key, .. } = document(planned);
        writer.remove(&source, &key).unwrap();
    }
    writer.commit().unwrap();
}

/// Returns everything that is counted, with the frequencies of these terms.
fn counted(reader: &dyn Reader, terms: &[&str]) -> String {
    let corpus = reader.corpus().unwrap();
    let frequencies = reader.document_frequencies(terms).unwrap();
    let mut said = format!("{corpus:?} {frequencies:?}");
    let everything = Filter::default();
    let length = reader.total_length(&everything).unwrap();
    let rows = reader.rows(&everything, None, None).unwrap();
    for term in terms {
        let having = reader.rows_with_term(term, &rows).unwrap();
        said.push_str(&format!("\n{term} {}", having.len()));
    }
    let spelt = |said: &mut String| {
        for word in ["runing", "bred", "bread", "run", "runs", "compile", "none"] {
            let mut near = reader.similar_words(word, 2).unwrap();
            near.sort_by(|one, other| one.word.cmp(&other.word));
            let is_known = reader.has_word(word).unwrap();
            let frequency = reader.word_frequency(word).unwrap();
            said.push_str(&format!("\n{word} {is_known} {frequency} {near:?}"));
        }
    };
    let begun = |said: &mut String| {
        for prefix in ["", "r", "ru", "b", "comp", "数", "ภ", "q"] {
            let words = reader.words_beginning(prefix, 9).unwrap();
            let terms = reader.terms_beginning(prefix, 2, 9).unwrap();
            said.push_str(&format!("\n{prefix} {words:?} {terms:?}"));
        }
    };
    // Once without the vocabulary of the scope, as far as that goes, and once with it.
    spelt(&mut said);
    begun(&mut said);
    said.push_str(&format!("\n{length} {}", reader.vocabulary_size().unwrap()));
    spelt(&mut said);
    begun(&mut said);
    said
}

fn inside() -> Scope {
    Scope::default().of_sources(vec!["inside".to_owned()])
}

/// Keeps the last document with each name.
fn distinct(documents: &[Planned]) -> Vec<Planned> {
    let named = documents.iter().map(|one| ((one.0, one.1), *one));
    named.collect::<BTreeMap<_, _>>().into_values().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_scope_is_counted_as_if_it_were_alone(
        first in prop::collection::vec((0..2_usize, 0..6_usize, [0..9_usize, 0..9, 0..9]), 1..12),
        second in prop::collection::vec((0..2_usize, 0..6_usize, [0..9_usize, 0..9, 0..9]), 0..6),
        gone in 0..4_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (all, alone) = (folder.path().join("all.db"), folder.path().join("alone.db"));
        let tallies = Arc::new(Tallies::default());
        let of_scope = |documents: &[Planned]| -> Vec<Planned> {
            documents.iter().copied().filter(|one| one.0 == 0).collect()
        };
        let removed: Vec<Planned> = distinct(&first).into_iter().take(gone).collect();
        for (documents, removed) in [(&first, &Vec::new()), (&second, &removed)] {
            write(&all, documents, removed);
            write(&alone, &of_scope(documents), &of_scope(removed));
            let (all, alone) = (SqliteStore::open(&all).unwrap(), SqliteStore::open(&alone).unwrap());
            let scoped = ScopedReader::new(&all, inside(), Arc::clone(&tallies));
            let terms = Vocabulary::terms_beginning(&all, "", u64::MAX, 1_000).unwrap();
            let terms: Vec<&str> = terms.iter().map(|(term, _)| term.as_str()).collect();
            let terms = [&terms[..], &["none", "breads", "数据库", ""]].concat();
            prop_assert_eq!(counted(&scoped, &terms), counted(&alone, &terms));
        }
    }
}

#[test]
fn a_tally_is_kept_until_the_documents_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    write(&path, &[(0, 1, [0, 0, 0]), (1, 1, [1, 1, 1])], &[]);
    let tallies = Arc::new(Tallies::default());
    let taken = || {
        // Another connection has other revisions of the same state.
        let store = SqliteStore::open(&path).unwrap();
        let scoped = ScopedReader::new(&store, inside(), Arc::clone(&tallies));
        scoped.tally().unwrap()
    };
    let first = taken();
    assert!(Arc::ptr_eq(&first, &taken()));
    // What changes outside leaves it as it is.
    write(&path, &[(1, 2, [3, 3, 3])], &[]);
    assert!(Arc::ptr_eq(&first, &taken()));
    write(&path, &[(0, 2, [3, 3, 3])], &[]);
    let second = taken();
    assert!(!Arc::ptr_eq(&first, &second));
    assert_eq!((first.members().len(), second.members().len()), (1, 2));
    // A document that comes into the scope though its text stays.
    let mut writer = SqliteWriter::open(&path, "test").unwrap();
    writer.begin().unwrap();
    let entry = writer.entry_states("outside").unwrap()["1.md"].row.unwrap();
    let mut document = document(&(1, 1, [1, 1, 1]));
    document.project = Some("atlas".to_owned());
    writer.touch(entry, &document).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let store = SqliteStore::open(&path).unwrap();
    let atlas = Scope::default().of_project("atlas".to_owned());
    let scoped = ScopedReader::new(&store, atlas, tallies);
    assert_eq!(scoped.corpus().unwrap().documents, 1);
    assert_eq!(
        scoped.sources().unwrap().len(),
        0,
        "it was never registered"
    );
    assert_eq!(scoped.documents_of_source("outside").unwrap(), 1);
}

#[test]
fn an_id_is_as_short_as_the_scope_allows() {
    assert_eq!(Tally::default().short_id("abcdef0011"), "abcdef");
    let uids = ["abcdef0011", "abcdef0022", "123456789a"];
    let present = (1..).zip(uids).map(|(row, uid)| Fingerprint {
        row,
        uid: uid.to_owned(),
        source: "inside".to_owned(),
        hash: [0; 32],
    });
    let tally = Tally::of(present.collect());
    let short = uids.map(|uid| tally.short_id(uid));
    assert_eq!(short, ["abcdef001", "abcdef002", "123456"]);
}

#[test]
fn whether_a_word_is_known_depends_on_the_scope_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("index.db");
    // More documents inside have the stem of "bread" than are read.
    let mut plan: Vec<Planned> = (0..20).map(|key| (0, key, [8, 8, 6])).collect();
    plan.push((1, 1, [4, 4, 6]));
    write(&path, &plan, &[]);
    let tallies = Arc::new(Tallies::default());
    let known = || {
        let store = SqliteStore::open(&path).unwrap();
        assert!(Vocabulary::has_word(&store, "breads").unwrap());
        let scoped = ScopedReader::new(&store, inside(), Arc::clone(&tallies));
        let words = ["bread", "breads", "breaded", "none"];
        let has = words.map(|word| Vocabulary::has_word(&scoped, word).unwrap());
        let counts = words.map(|word| Vocabulary::word_frequency(&scoped, word).unwrap());
        (has, counts)
    };
    for _ in 0..2 {
        assert_eq!(known(), ([true, false, false, false], [20, 0, 0, 0]));
    }
    // The last document inside has the word, too.
    write(&path, &[(0, 30, [4, 4, 6])], &[]);
    assert_eq!(known(), ([true, true, false, false], [21, 1, 0, 0]));
    write(&path, &[], &[(0, 30, [4, 4, 6])]);
    assert_eq!(known(), ([true, false, false, false], [20, 0, 0, 0]));
}
