//! Tests folders of notes as a corpus. The tests of sets cover lines of JSON.

use tempfile::TempDir;

use super::*;

/// A set beside a folder of notes, and the set's path.
fn set(reference: &str, notes: &[(&str, &str)]) -> (TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("corpus.json"), reference).unwrap();
    for (name, text) in notes {
        let path = parent.path().join("notes").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    (parent, folder)
}

/// What is wrong with such a set, without where it is.
fn problem(reference: &str) -> String {
    let (parent, folder) = set(reference, &[]);
    let corpus = Corpus::find(&folder).unwrap();
    let mut documents = corpus.documents();
    let error = documents.next().unwrap().unwrap_err();
    assert!(documents.next().is_none());
    format!("{error:#}").replace(parent.path().to_str().unwrap(), "[HERE]")
}

#[test]
fn notes_come_by_path_and_are_read_like_a_users() {
    let note =
        "---\ntitle: Ramen\ntags: [soup]\nkind: recipe\ncreated: 2024-02-11\n---\nBones. #pork\n";
    let (_parent, folder) = set(
        r#"{"notes": "../notes"}"#,
        &[
            ("travel.txt", "Ear plugs"),
            ("cooking/ramen.md", note),
            ("picture.png", "not a note"),
            ("cooking/empty-title.md", "# Found in the text\n"),
        ],
    );
    let documents = Corpus::find(&folder).unwrap().documents();
    let documents: Vec<Document> = documents.map(Result::unwrap).collect();
    let titles: Vec<(&str, &str)> = documents
        .iter()
        .map(|document| (document.key.as_str(), document.title.as_str()))
        .collect();
    assert_eq!(
        titles,
        [
            ("cooking/empty-title.md", "Found in the text"),
            ("cooking/ramen.md", "Ramen"),
            ("travel.txt", "travel"),
        ]
    );
    let ramen = &documents[1];
    assert_eq!(ramen.tags, ["soup", "pork"]);
    assert_eq!(ramen.kind, "recipe");
    assert_eq!(ramen.created_at, kodiak::date::parse("2024-02-11"));
    assert_eq!(ramen.body, "Bones. #pork\n");
}

#[test]
fn notes_that_cannot_be_read_are_left_out() {
    let (parent, folder) = set(r#"{"notes": "../notes"}"#, &[("good.md", "good")]);
    fs::write(parent.path().join("notes/bad.md"), b"\0\xff\xfe\0\0").unwrap();
    let documents = Corpus::find(&folder).unwrap().documents();
    let keys: Vec<String> = documents.map(|document| document.unwrap().key).collect();
    assert_eq!(keys, ["good.md"]);
}

#[test]
fn lines_go_before_notes() {
    let (_parent, folder) = set(r#"{"notes": "../notes"}"#, &[("a.md", "a")]);
    fs::write(
        folder.join("corpus.jsonl"),
        r#"{"_id": "line", "text": "b"}"#,
    )
    .unwrap();
    let documents = Corpus::find(&folder).unwrap().documents();
    let keys: Vec<String> = documents.map(|document| document.unwrap().key).collect();
    assert_eq!(keys, ["line"]);
}

#[test]
fn a_reference_that_leads_nowhere_says_so() {
    assert_eq!(
        problem(r#"{"notes": "../elsewhere"}"#),
        "[HERE]/set/corpus.json: the folder [HERE]/set/../elsewhere does not exist"
    );
    assert_eq!(
        problem(r#"{"notes": "corpus.json"}"#),
        "[HERE]/set/corpus.json: [HERE]/set/corpus.json is a file, not a folder"
    );
    for reference in [
        "",
        "[]",
        "{}",
        r#"{"notes": 1}"#,
        r#"{"notes": "..", "x": 1}"#,
    ] {
        let message = problem(reference);
        let expected = "[HERE]/set/corpus.json does not name a folder of notes: ";
        assert!(message.starts_with(expected), "{message}");
    }
}
