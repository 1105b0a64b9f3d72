use std::fs;

use super::*;
use kodiak::source::Draft;

struct Place {
    _folder: tempfile::TempDir,
    root: PathBuf,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self {
            _folder: folder,
            root,
        }
    }

    fn open(&self, holding: Holding) -> MemoryFolder {
        let options = MemoryOptions {
            holding,
            ..MemoryOptions::default()
        };
        MemoryFolder::new("memory", &self.root, options).unwrap()
    }
}

fn read(folder: &MemoryFolder, path: &str) -> Document {
    let entry = Entry {
        key: path.to_owned(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    let mut found = None;
    folder
        .read(&entry, &mut |document| found = Some(document))
        .unwrap();
    found.unwrap()
}

#[test]
fn a_memory_is_named_by_its_id_and_not_by_its_file() {
    let place = Place::new(&[
        ("a.md", "---\nid: first\ntitle: One\n---\ntext\n"),
        ("b.md", "no frontmatter\n"),
        ("c.md", "---\nid: 12\nmemory_kind: rule\n---\n# Heading\n"),
        ("d.md", "---\nid: ../../etc/passwd\n---\ntext\n"),
        ("e.md", "---\nid: e.md\n---\ntext\n"),
        ("articles/f.md", "---\nid: f\n---\ntext\n"),
    ]);
    let folder = place.open(Holding::Memories);
    let mut listed: Vec<String> = folder
        .list()
        .unwrap()
        .entries
        .into_iter()
        .map(|e| e.key)
        .collect();
    listed.sort();
    assert_eq!(listed, ["a.md", "b.md", "c.md", "d.md", "e.md"]);
    let named = |path: &str| {
        let document = read(&folder, path);
        (document.key, document.kind, document.title)
    };
    let of =
        |key: &str, kind: &str, title: &str| (key.to_owned(), kind.to_owned(), title.to_owned());
    assert_eq!(named("a.md"), of("first", "memory", "One"));
    assert_eq!(named("b.md"), of("b.md", "memory", ""));
    assert_eq!(named("c.md"), of("12", "rule", "Heading"));
    assert_eq!(named("d.md").0, "d.md");
    let problem = read(&folder, "d.md").problem.unwrap();
    assert!(
        problem.contains("../../etc/passwd") && problem.contains("id"),
        "{problem}"
    );
    assert_eq!(named("e.md").0, "e.md");
    assert_eq!(read(&place.open(Holding::Articles), "b.md").kind, "article");
}

#[test]
fn what_cannot_be_read_is_text_with_a_problem() {
    let mut bomb = "---\nid: bomb\na: &a [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for (name, before) in "bcdefghi".chars().zip("abcdefgh".chars()) {
        let aliases = vec![format!("*{before}"); 10].join(", ");
        bomb.push_str(&format!("{name}: &{name} [{aliases}]\n"));
    }
    bomb.push_str("---\nthe text stays\n");
    let place = Place::new(&[
        ("bomb.md", &bomb),
        (
            "date.md",
            "---\nid: dated\ncreated_at: some day\n---\ntext\n",
        ),
    ]);
    let folder = place.open(Holding::Memories);
    let document = read(&folder, "bomb.md");
    assert_eq!((document.key.as_str(), document.body), ("bomb.md", bomb));
    assert!(document.problem.unwrap().contains("frontmatter"));
    let document = read(&folder, "date.md");
    let problem = document.problem.unwrap();
    assert_eq!(document.key, "dated");
    for part in ["date.md", "created_at", "some day"] {
        assert!(problem.contains(part), "{problem}");
    }
}

#[test]
fn ids_are_names_of_files() {
    for id in ["a", "20261117-094512-345-3f9a2c", "ü-1", "a.b", "12"] {
        assert_eq!(check_id(id), Ok(()), "{id}");
    }
    let long = "x".repeat(129);
    for id in [
        "", "..", ".", "../a", "a/b", "/a", "a b", "-a", "#a", ".a", "a.md", "con", "a\n", "a\\b",
        "a.", &long,
    ] {
        assert!(check_id(id).is_err(), "{id}");
    }
}

#[test]
fn a_new_memory_reads_back_and_is_found_by_its_id_wherever_it_is() {
    let place = Place::new(&[]);
    let folder = place.open(Holding::Memories);
    let mut draft = Draft {
        body: "---\nnot: frontmatter\n---\ntext".to_owned(),
        tags: vec!["a".to_owned(), "b: c".to_owned()],
        kind: Some("note".to_owned()),
        created_at: Some(1_769_817_600),
        ..Draft::default()
    };
    for (name, value) in [
        ("project", "/src/api"),
        ("session", "s-1"),
        ("odd", "- x: ["),
    ] {
        draft.fields.insert(name.to_owned(), value.into());
    }
    let id = folder.create(&draft).unwrap();
    let document = read(&folder, &format!("{id}.md"));
    assert_eq!(document.key, id);
    assert_eq!(document.kind, "note");
    assert_eq!(document.body, format!("{}\n", draft.body));
    assert_eq!(document.tags, ["a", "b: c"]);
    assert_eq!(document.created_at, draft.created_at);
    assert_eq!(document.project.as_deref(), Some("/src/api"));
    assert_eq!(document.thread.unwrap().name, "s-1");
    assert_eq!(document.fields["odd"], "- x: [");
    assert_eq!(document.problem, None);

    let other = folder.create(&draft).unwrap();
    assert_ne!(id, other);
    fs::rename(
        place.root.join(format!("{id}.md")),
        place.root.join("renamed.md"),
    )
    .unwrap();
    assert_eq!(folder.file(&id), place.root.join("renamed.md"));
    assert!(folder.text(&id).unwrap().contains("s-1"));
    folder.delete(&id).unwrap();
    assert!(!place.root.join("renamed.md").exists());
    folder.text(&id).unwrap_err();
    folder.restore("renamed.md").unwrap();
    for copy in folder.copies(&id).unwrap() {
        folder.erase_copy(&copy).unwrap();
    }
    assert!(!place.root.join("renamed.md").exists());

    draft.key = Some("../escape".to_owned());
    folder.create(&draft).unwrap_err();
    draft.key = Some(other);
    assert!(matches!(folder.create(&draft), Err(Error::KeyTaken { .. })));
}

#[test]
fn what_waits_is_a_list_of_paths_inside() {
    let place = Place::new(&[]);
    let folder = place.open(Holding::Memories);
    let mut turn = folder.turn().unwrap();
    assert!(turn.waiting().unwrap().is_empty());
    turn.set_waiting(&["a.md".to_owned(), "../b.md".to_owned()])
        .unwrap();
    assert_eq!(turn.waiting().unwrap(), ["a.md"]);
    turn.set_waiting(&[]).unwrap();
    assert!(turn.waiting().unwrap().is_empty() && folder.list().unwrap().entries.is_empty());
}
