use std::fs;

use serde_json::{Value, json};

use super::*;
use crate::records::StoredRecord;
use kodiak_base::Error;

struct Tree {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    fn write(&self, key: &str, text: &str) -> PathBuf {
        let path = self.root.join(key);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn source(&self, writable: bool) -> SessionRecords {
        let options = SessionOptions {
            writable,
            ..SessionOptions::default()
        };
        SessionRecords::new("sessions", &self.root, options).unwrap()
    }

    fn listed(&self) -> Vec<String> {
        let entries = self.source(false).list().unwrap().entries;
        entries.into_iter().map(|entry| entry.key).collect()
    }
}

fn node(id: &str, version: u64, summary: &str) -> String {
    json!({
        "id": id, "version": version, "classification": {"type": "coding"},
        "content": {"summary": summary}, "metadata": {"timestamp": "2026-01-20T10:00:00Z"},
        "unknown": {"kept": true},
    })
    .to_string()
}

fn read(source: &SessionRecords, key: &str) -> (Reading, Vec<Document>) {
    let mut documents = Vec::new();
    let entry = Entry {
        key: key.to_owned(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    let reading = source.read(&entry, &mut |document| documents.push(document));
    (reading.unwrap(), documents)
}

#[test]
fn only_the_highest_version_of_a_node_is_listed() {
    let tree = Tree::new();
    for key in [
        "nodes/2026/01/a-v1.json",
        "nodes/2026/01/a-v10.json",
        "nodes/2026/02/a-v9.json",
        "deep/er/than/that/b-v1.json",
        "nodes/2026/01/index.json",
        "nodes/2026/01/a-v11.json.tmp",
        ".trash/a-v12.json",
    ] {
        tree.write(key, "{}");
    }
    let newest = ["deep/er/than/that/b-v1.json", "nodes/2026/01/a-v10.json"];
    assert_eq!(tree.listed(), newest);
    fs::remove_file(tree.root.join("nodes/2026/01/a-v10.json")).unwrap();
    assert_eq!(tree.listed()[1], "nodes/2026/02/a-v9.json");
}

#[test]
fn the_same_version_twice_is_reported() {
    let tree = Tree::new();
    tree.write("x/a-v1.json", &node("a", 1, "One"));
    tree.write("y/a-v1.json", &node("a", 1, "Two"));
    let listing = tree.source(false).list().unwrap();
    assert_eq!(listing.entries.len(), 1);
    assert_eq!(listing.left_out[0].key, "y/a-v1.json");
    assert!(listing.left_out[0].reason.contains("x/a-v1.json"));
}

#[test]
fn a_document_has_what_its_node_says() {
    let tree = Tree::new();
    tree.write(
        "nodes/9f2c4e1ab0d37756-v1.json",
        include_str!("node_example.json"),
    );
    let (reading, documents) = read(&tree.source(false), "nodes/9f2c4e1ab0d37756-v1.json");
    assert!(matches!(reading, Reading::Read { .. }));
    let document = &documents[0];
    assert_eq!(document.key, "9f2c4e1ab0d37756");
    assert_eq!(
        (document.kind.as_str(), document.category.as_deref()),
        ("session", Some("coding"))
    );
    assert_eq!(document.tags, ["rate-limiting", "api", "redis"]);
    assert_eq!(document.project.as_deref(), Some("~/src/api"));
    assert_eq!(
        document.created_at,
        kodiak_text::date::parse("2026-01-20T10:00:00Z")
    );
    assert_eq!(document.updated_at, document.created_at.unwrap());
    let field = |name: &str| document.fields[name].clone();
    assert_eq!(field("type"), json!("coding"));
    assert_eq!(field("outcome"), json!("success"));
    assert_eq!(field("file"), json!("nodes/9f2c4e1ab0d37756-v1.json"));
    assert_eq!(field("lesson.level"), json!(["task", "user", "tool"]));
    assert_eq!(document.problem, None);
}

#[test]
fn decisions_and_lessons_come_back_from_the_stored_fields() {
    let text = include_str!("node_example.json");
    let node = Node::parse(text).unwrap();
    let document = document::of("s", "9f2c4e1ab0d37756-v1.json", &node, None, 0);
    let mut flat = Vec::new();
    for (name, value) in &document.fields {
        let values = match value {
            Value::Array(values) => values.clone(),
            one => vec![one.clone()],
        };
        let texts = values.iter().filter_map(|value| value.as_str());
        flat.extend(texts.map(|text| (name.clone(), text.to_owned())));
    }
    let (decisions, lessons, quirks) = parts_of(&flat);
    assert_eq!(
        (decisions, lessons, quirks),
        (node.decisions, node.lessons, node.quirks)
    );
}

#[test]
fn a_bad_node_names_its_field_and_an_earlier_version_takes_its_place() {
    let tree = Tree::new();
    tree.write("a-v1.json", &node("a", 1, "The first"));
    tree.write("a-v2.json", "{\"id\": \"a\"");
    tree.write(
        "b-v1.json",
        r#"{"id": "b", "classification": {"type": "qa"}, "content": {}}"#,
    );
    tree.write("c-v1.json", &node("d", 1, "Another id"));
    tree.write("e-v3.json", &node("e", 2, "Another version"));
    let source = tree.source(false);
    let reason = |key: &str| match read(&source, key) {
        (Reading::Skipped { reason, .. }, documents) if documents.is_empty() => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("b-v1.json"), "content.summary is missing");
    assert_eq!(
        reason("c-v1.json"),
        "id is 'd', but the name of the file says 'c'"
    );
    let (_, documents) = read(&source, "a-v2.json");
    assert_eq!(documents[0].title, "The first");
    let problem = documents[0].problem.as_deref().unwrap();
    assert!(
        problem.starts_with("a-v2.json: not valid JSON"),
        "{problem}"
    );
    let (_, documents) = read(&source, "e-v3.json");
    let problem = documents[0].problem.as_deref();
    assert_eq!(
        problem,
        Some("version is 2, but the name of the file says 3")
    );
}

#[test]
fn records_are_written_once_and_never_changed() {
    let tree = Tree::new();
    let source = tree.source(true);
    let store = |texts: &[String]| source.store(texts).unwrap();
    let stored = store(&[node("a", 1, "One"), node("a", 2, "Two"), node("b", 1, "B")]);
    let stored: Vec<StoredRecord> = stored.into_iter().map(Result::unwrap).collect();
    assert!(stored.iter().all(|record| record.new));
    let file = tree.root.join("nodes/2026/01/a-v1.json");
    assert_eq!(stored[0].file, file);
    let written: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(written["unknown"], json!({"kept": true}));
    // The same again, spelt otherwise, is no news; anything else is refused.
    let spaced = node("a", 1, "One").replace(',', " ,\n ");
    assert!(!store(&[spaced])[0].as_ref().unwrap().new);
    let refused = store(&[node("a", 1, "Other"), node("c", 1, "C")]);
    let error = refused[0].as_ref().unwrap_err();
    assert!(
        matches!(error, Error::RecordTaken { version: 1, .. }),
        "{error}"
    );
    assert!(refused[1].as_ref().unwrap().new);
    assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), 4);
}

#[test]
fn records_that_cannot_be_files_are_refused() {
    let tree = Tree::new();
    let source = tree.source(true);
    for id in ["../x", "a/b", "", ".hidden", "nul", "a\\b"] {
        let refused = source.store(&[node(id, 1, "S")]).unwrap();
        assert!(matches!(refused[0], Err(Error::BadRecord { .. })), "{id}");
    }
    assert_eq!(fs::read_dir(&tree.root).unwrap().count(), 0);
    let refused = tree.source(false).store(&[node("a", 1, "S")]);
    assert!(matches!(refused, Err(Error::NotWritable { .. })));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let tree = Tree::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), tree.root.join("nodes")).unwrap();
    let refused = tree.source(true).store(&[node("a", 1, "S")]).unwrap();
    assert!(
        matches!(refused[0], Err(Error::BadKey { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn secrets_do_not_get_into_the_tree() {
    let tree = Tree::new();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let stored = tree
        .source(true)
        .store(&[node("a", 1, &format!("Used {secret} for it"))]);
    let file = stored.unwrap().remove(0).unwrap().file;
    let written = fs::read_to_string(file).unwrap();
    assert!(!written.contains(secret), "{written}");
    assert_eq!(Node::parse(&written).unwrap().id, "a");
}

#[test]
fn a_written_file_brings_the_other_versions_along() {
    let tree = Tree::new();
    tree.write("nodes/a-v1.json", &node("a", 1, "One"));
    let second = tree.write("nodes/2026/a-v2.json", &node("a", 2, "Two"));
    tree.write("nodes/b-v1.json", &node("b", 1, "B"));
    let source = tree.source(false);
    let located = |files: &[PathBuf]| -> Vec<(String, bool)> {
        let located = source.locate(files).unwrap();
        located
            .into_iter()
            .map(|one| (one.key, one.entry.is_some()))
            .collect()
    };
    let both = [
        ("nodes/2026/a-v2.json".to_owned(), true),
        ("nodes/a-v1.json".to_owned(), false),
    ];
    assert_eq!(located(std::slice::from_ref(&second)), both);
    fs::remove_file(&second).unwrap();
    let both = [
        ("nodes/a-v1.json".to_owned(), true),
        ("nodes/2026/a-v2.json".to_owned(), false),
    ];
    assert_eq!(located(&[second]), both);
    assert!(located(&[tree.root.join("other.md")]).is_empty());
}
