//! Forgetting that holds: what was purged is in no byte of any file, and stays away.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kodiak::access::Guard;
use kodiak::engine::{Engine, Job, ToSync};
use kodiak::store::Filter;
use kodiak::tombstones::Tombstones;
use kodiak_memory::Memories;
use kodiak_notes::MarkdownFolder;
use kodiak_notes::markdown::FolderOptions;

use crate::collection::ask;
use crate::embedders::tiny;

struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("notes")).unwrap();
        fs::create_dir_all(folder.path().join("data")).unwrap();
        Self { folder }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn note(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join("notes").join(name), text).unwrap();
    }

    fn engine(&self, writable: bool) -> Engine {
        let options = FolderOptions {
            writable,
            ..FolderOptions::default()
        };
        let root = self.folder.path().join("notes");
        Engine::builder(self.data().join("index.db"))
            .source(MarkdownFolder::new("notes", &root, options).unwrap())
            .model(tiny())
            .tombstones(Tombstones::at(self.data().join("forgotten")))
            .deadline(Duration::from_mins(1))
            .open()
            .unwrap()
    }

    fn index(engine: &Engine) {
        engine
            .sync(&Guard::local(), ToSync::All, &Job::default())
            .unwrap();
        engine
            .embed(&Guard::local(), None, &Job::default())
            .unwrap();
    }
}

/// Returns the files below a folder that contain any of these, whatever its case.
pub(crate) fn files_with(folder: &Path, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let bytes = fs::read(&path).unwrap().to_ascii_lowercase();
            for word in words {
                let word = word.to_ascii_lowercase();
                if bytes
                    .windows(word.len())
                    .any(|part| part == word.as_bytes())
                {
                    found.push(format!("{word} in {}", path.display()));
                }
            }
        }
    }
    found
}

fn pair(key: &str) -> (String, String) {
    ("notes".to_owned(), key.to_owned())
}

fn fill(desk: &Desk) {
    for number in 0..40 {
        let text = format!("# Noodles {number}\n\nBroth and noodles for evening {number}.\n");
        desk.note(&format!("noodles-{number}.md"), &text);
    }
}

const SECRET: &[&str] = &[
    "zwielicht",
    "quasarblau",
    "kryptonotiz",
    "altfassung",
    "geheimtag",
];

#[test]
fn purged_text_is_in_no_byte_and_stays_away() {
    let desk = Desk::new();
    fill(&desk);
    let engine = desk.engine(false);
    // An earlier text of the same note is erased as well.
    desk.note(
        "kryptonotiz.md",
        "# Zwielicht\n\nDie Altfassung mit quasarblau.\n",
    );
    Desk::index(&engine);
    let text = "---\ntags: [geheimtag]\n---\n# Zwielicht\n\nEs war quasarblau, und noodles.\n";
    desk.note("kryptonotiz.md", text);
    Desk::index(&engine);
    assert!(!files_with(&desk.data(), SECRET).is_empty());
    assert_eq!(
        engine
            .search(&Guard::local(), &ask("quasarblau"))
            .unwrap()
            .total,
        1
    );

    let me = Guard::local();
    let purged = engine
        .eraser(&me)
        .erase_documents(&[pair("kryptonotiz.md")], &Job::default());
    assert_eq!(purged.unwrap(), 1);
    // The note itself cannot be written to: only its name is still known, because
    // the file is there.
    let left = files_with(&desk.data(), SECRET);
    let named = |line: &String| line.starts_with("kryptonotiz") && line.contains("index.db");
    assert!(left.iter().all(named), "{left:#?}");
    assert!(
        engine
            .search(&me, &ask("quasarblau"))
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(engine.search(&me, &ask("noodles")).unwrap().hits.len(), 10);

    // Neither a change nor a rebuild nor a new index brings it back.
    desk.note(
        "kryptonotiz.md",
        "# Zwielicht\n\nEs war quasarblau, noch immer.\n",
    );
    Desk::index(&engine);
    engine.rebuild(&me, false, &Job::default()).unwrap();
    assert!(
        engine
            .search(&me, &ask("quasarblau"))
            .unwrap()
            .hits
            .is_empty()
    );
    drop(engine);
    for file in ["index.db", "index.vectors", "embeddings.db"] {
        let _ = fs::remove_file(desk.data().join(file));
    }
    let engine = desk.engine(false);
    Desk::index(&engine);
    assert!(
        engine
            .search(&me, &ask("quasarblau"))
            .unwrap()
            .hits
            .is_empty()
    );
    assert_eq!(engine.search(&me, &ask("noodles")).unwrap().hits.len(), 10);
    let left = files_with(&desk.data(), &SECRET[..2]);
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_purged_note_is_deleted_where_that_is_allowed() {
    let desk = Desk::new();
    fill(&desk);
    desk.note("kryptonotiz.md", "# Zwielicht\n\nEs war quasarblau.\n");
    let engine = desk.engine(true);
    Desk::index(&engine);
    let me = Guard::local();
    let documents = [
        pair("kryptonotiz.md"),
        pair("noodles-3.md"),
        pair("no such note.md"),
    ];
    assert_eq!(
        engine
            .eraser(&me)
            .erase_documents(&documents, &Job::default())
            .unwrap(),
        2
    );
    let left = files_with(desk.folder.path(), SECRET);
    assert!(left.is_empty(), "{left:#?}");
    assert!(
        engine
            .search(&me, &ask("quasarblau"))
            .unwrap()
            .hits
            .is_empty()
    );
}

#[test]
fn sessions_and_projects_are_purged_as_a_whole() {
    let desk = Desk::new();
    fill(&desk);
    let turn = |session: &str, project: &str, text: &str| {
        format!("---\nsession: {session}\nproject: {project}\n---\n{text}\n")
    };
    desk.note("a1.md", &turn("s-1", "/p/one", "zwielicht eins"));
    desk.note("a2.md", &turn("s-1", "/p/one", "zwielicht zwei"));
    desk.note("b1.md", &turn("s-2", "/p/one", "zwielicht drei"));
    desk.note("c1.md", &turn("s-3", "/p/two", "zwielicht vier"));
    let engine = desk.engine(false);
    Desk::index(&engine);
    let (me, job) = (Guard::local(), Job::default());
    let left = |engine: &Engine| {
        let mut names: Vec<String> = engine
            .search(&me, &ask("zwielicht"))
            .unwrap()
            .hits
            .into_iter()
            .flat_map(|hit| {
                [
                    vec![hit.card.path],
                    hit.also_in.into_iter().map(|it| it.path).collect(),
                ]
            })
            .flatten()
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        Memories::new(&engine)
            .purge_session(&me, "s-1", &job)
            .unwrap(),
        2
    );
    assert_eq!(left(&engine), ["b1.md", "c1.md"]);
    // A later turn of the same session stays away, too.
    desk.note("a3.md", &turn("s-1", "/p/one", "zwielicht wieder"));
    Desk::index(&engine);
    assert_eq!(left(&engine), ["b1.md", "c1.md"]);
    assert_eq!(
        Memories::new(&engine)
            .purge_project(&me, "/p/one", &job)
            .unwrap(),
        1
    );
    assert_eq!(left(&engine), ["c1.md"]);
    let rest = engine.view(&me).list(&Filter::default(), 100).unwrap();
    assert_eq!(rest.len(), 41);
}

#[test]
fn only_what_a_guard_admits_can_be_purged() {
    let desk = Desk::new();
    fill(&desk);
    desk.note("a1.md", "---\nproject: /p/one\n---\nzwielicht\n");
    let engine = desk.engine(false);
    Desk::index(&engine);
    let job = Job::default();
    let elsewhere = Guard::local().within(["other"]);
    assert!(
        engine
            .eraser(&elsewhere)
            .erase_documents(&[pair("a1.md")], &job)
            .is_err()
    );
    let held = Guard::local().in_project("/p/two");
    assert!(
        engine
            .eraser(&held)
            .erase_documents(&[pair("a1.md")], &job)
            .is_err()
    );
    let reader = Guard::holding([kodiak::access::Capability::Read]);
    assert!(
        engine
            .eraser(&reader)
            .erase_documents(&[pair("a1.md")], &job)
            .is_err()
    );
    assert_eq!(
        engine
            .search(&Guard::local(), &ask("zwielicht"))
            .unwrap()
            .total,
        1
    );
    let held = Guard::local().in_project("/p/one");
    assert_eq!(
        engine
            .eraser(&held)
            .erase_documents(&[pair("a1.md")], &job)
            .unwrap(),
        1
    );
}
