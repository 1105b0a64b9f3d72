//! An index whose words stay whole: everything that reads it cuts them so.

use kodiak::analysis::Analyzer;
use kodiak::chunk::ChunkOptions;
use kodiak::search::{Answer, Mode, Request};
use kodiak::store::prelude::*;
use kodiak::text::Stemming;
use kodiak::{Cancel, Document, Error, sync};

use crate::collection::{Collection, ask, paths, sorted};

/// Two notes, each with another form of the same words.
fn forms() -> Collection {
    Collection::new(&[
        (
            "many.md",
            "# Databases\n\nDatabases and who runs them; a database's file is no concern.\n",
        ),
        ("one.md", "# Keeping\n\nThe database is running 数据库.\n"),
    ])
}

/// Returns such notes with an index that leaves words whole.
fn whole() -> Collection {
    let notes = forms();
    let mut writer = notes.writer().with_stemming(Stemming::None).unwrap();
    sync::sync(&mut writer, &notes.source(), &Cancel::new(), &mut |_| {}).unwrap();
    drop(writer);
    notes
}

/// The words of a query as they are, by word.
fn exactly(query: &str) -> Request {
    Request {
        exact: true,
        mode: Mode::Lexical,
        explain: true,
        ..ask(query)
    }
}

fn found(notes: &Collection, query: &str) -> Vec<String> {
    sorted(paths(&notes.answer(&exactly(query))))
}

/// The marked words of the first hit.
fn marked(answer: &Answer) -> Vec<&str> {
    let hit = &answer.hits[0];
    let marks = hit.marks.iter().cloned();
    marks.map(|mark| &hit.snippet[mark]).collect()
}

fn assert_whole(notes: &Collection) {
    let store = notes.store();
    assert_eq!(store.stemming(), Stemming::None);
    assert_eq!(store.examine().unwrap(), []);
    assert_eq!(notes.writer().stemming(), Stemming::None);
}

#[test]
fn a_word_is_found_by_its_own_form_only() {
    let notes = whole();
    assert_whole(&notes);
    assert_eq!(found(&notes, "databases"), ["many.md"]);
    assert_eq!(found(&notes, "DATABASES"), ["many.md"]);
    assert_eq!(found(&notes, "database"), ["many.md", "one.md"]);
    assert_eq!(found(&notes, "\"databases and who\""), ["many.md"]);
    assert_eq!(found(&notes, "database -databases"), ["one.md"]);
    assert_eq!(found(&notes, "run"), [] as [&str; 0]);
    assert_eq!(found(&notes, "run*"), ["many.md", "one.md"]);
    assert_eq!(found(&notes, "runn*"), ["one.md"]);
    assert_eq!(found(&notes, "数据"), ["one.md"]);
    let stems = notes
        .store()
        .document_frequencies(&["databas", "databases"]);
    assert_eq!(stems.unwrap(), [0, 1]);

    let stemmed = forms();
    stemmed.sync();
    assert_eq!(stemmed.store().stemming(), Stemming::English);
    assert_eq!(found(&stemmed, "databases"), ["many.md", "one.md"]);
    assert_eq!(found(&stemmed, "run"), ["many.md", "one.md"]);
}

#[test]
fn marks_and_explanations_are_of_the_same_form() {
    let notes = whole();
    let answer = notes.answer(&exactly("databases"));
    assert_eq!(marked(&answer), ["Databases"]);
    let explained = &answer.hits[0].explanation.as_ref().unwrap().terms[0];
    assert_eq!(explained.term, "databases");
    // Title, which the body repeats as its heading, body and tags.
    assert_eq!((explained.occurrences, explained.documents), ([1, 2, 0], 1));
    assert_eq!(marked(&notes.answer(&exactly("run*"))).len(), 1);

    let stemmed = forms();
    stemmed.sync();
    let answer = stemmed.answer(&exactly("databases"));
    assert_eq!(marked(&answer), ["Databases", "database"]);
}

#[test]
fn another_form_is_a_correction_where_words_stay_whole() {
    let asked = ask("keepings");
    let corrected = |notes: &Collection| notes.answer(&asked).corrected;
    assert_eq!(corrected(&whole()).as_deref(), Some("keeping"));
    let stemmed = forms();
    stemmed.sync();
    assert_eq!(corrected(&stemmed), None);
    assert_eq!(found(&stemmed, "keepings"), ["one.md"]);
}

#[test]
fn later_changes_keep_words_whole() {
    let notes = whole();
    notes.write("one.md", "# Keeping\n\nNothing but backups now.\n");
    notes.write("more.md", "# More\n\nDatabases again.\n");
    notes.remove("many.md");
    let report = notes.sync();
    assert_eq!((report.added, report.updated, report.removed), (1, 1, 1));
    assert_whole(&notes);
    assert_eq!(found(&notes, "databases"), ["more.md"]);
    assert_eq!(found(&notes, "database"), [] as [&str; 0]);
    assert_eq!(found(&notes, "backup"), [] as [&str; 0]);

    notes.rebuild_with(None);
    assert_whole(&notes);
    assert_eq!(found(&notes, "databases"), ["more.md"]);
    assert_eq!(found(&notes, "backup"), [] as [&str; 0]);

    notes.run_sql("DELETE FROM terms; DELETE FROM vocabulary");
    assert_ne!(notes.store().examine().unwrap(), []);
    notes.writer().repair().unwrap();
    assert_whole(&notes);
    assert_eq!(found(&notes, "databases"), ["more.md"]);
}

#[test]
fn a_rebuild_that_fails_leaves_words_whole() {
    let notes = whole();
    let mut writer = notes.writer();
    writer.begin().unwrap();
    writer.start_over().unwrap();
    writer.roll_back().unwrap();
    drop(writer);
    assert_whole(&notes);
    assert_eq!(found(&notes, "databases"), ["many.md"]);
}

#[test]
fn a_document_prepared_otherwise_is_cut_again() {
    let note = |key: &str, body: &str| Document {
        source: "notes".into(),
        key: key.into(),
        body: body.into(),
        ..Document::default()
    };
    let way = |stemming| {
        move |document| Analyzer::new(ChunkOptions::default(), stemming).analyze(document)
    };
    for (index, prepared) in [
        (Stemming::None, Stemming::English),
        (Stemming::English, Stemming::None),
    ] {
        let notes = Collection::new(&[]);
        let mut writer = notes.writer().with_stemming(index).unwrap();
        writer.begin().unwrap();
        writer
            .put(&way(prepared)(note("a.md", "databases")))
            .unwrap();
        writer.put(&way(index)(note("b.md", "backups"))).unwrap();
        writer.commit().unwrap();
        assert_eq!(writer.examine().unwrap(), [], "{index:?}");
    }
}

#[test]
fn a_filled_index_keeps_the_words_it_has() {
    let notes = forms();
    notes.sync();
    let refused = notes.writer().with_stemming(Stemming::None).unwrap_err();
    assert!(matches!(refused, Error::WordsSettled { .. }), "{refused}");
    let same = notes.writer().with_stemming(Stemming::English).unwrap();
    assert_eq!(same.stemming(), Stemming::English);
    drop(same);
    assert_eq!(found(&notes, "run"), ["many.md", "one.md"]);
    assert_eq!(notes.store().examine().unwrap(), []);
}

#[test]
fn an_emptied_index_can_be_filled_otherwise() {
    let notes = whole();
    let mut writer = notes.writer();
    writer.begin().unwrap();
    writer.remove_source("notes").unwrap();
    writer.commit().unwrap();
    let mut writer = writer.with_stemming(Stemming::English).unwrap();
    sync::sync(&mut writer, &notes.source(), &Cancel::new(), &mut |_| {}).unwrap();
    drop(writer);
    assert_eq!(notes.store().stemming(), Stemming::English);
    assert_eq!(notes.store().examine().unwrap(), []);
    assert_eq!(found(&notes, "databases"), ["many.md", "one.md"]);
}
