//! Writing through the engine: notes are renamed, trashed, restored and tagged,
//! and the index follows at once, in every source that has the file.

use std::fs;
use std::path::PathBuf;

use kodiak::access::{Capability, Guard};
use kodiak::engine::{Event, Job, ToSync};
use kodiak::search::{Mode, Request};
use kodiak::source::Draft;
use kodiak::store::Filter;
use kodiak::{Cancel, Engine, Error};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::Notes;
use kodiak_notes::markdown::FolderOptions;
use tempfile::TempDir;

/// A folder with an index beside it.
struct Place {
    folder: TempDir,
}

impl Place {
    fn new(files: &[(&str, &str)]) -> Self {
        let place = Self {
            folder: TempDir::new().unwrap(),
        };
        fs::create_dir(place.root()).unwrap();
        for (name, text) in files {
            place.write(name, text);
        }
        place
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("notes")
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap()
    }

    fn index(&self) -> PathBuf {
        self.folder.path().join("index.db")
    }

    /// An engine over these folders, given as name, path and whether it is
    /// writable. A search does not look for changes: it must not need to.
    fn engine(&self, sources: &[(&str, &str, bool)]) -> Engine {
        let mut builder = Engine::builder(self.index()).refresh(std::time::Duration::ZERO);
        for (name, path, writable) in sources {
            let options = FolderOptions {
                writable: *writable,
                ..FolderOptions::default()
            };
            let root = self.root().join(path);
            builder = builder.source(MarkdownFolder::new(*name, &root, options).unwrap());
        }
        let engine = builder.open().unwrap();
        engine
            .sync(&Guard::local(), ToSync::All, &Job::default())
            .unwrap();
        engine
    }
}

fn found(engine: &Engine, query: &str) -> Vec<String> {
    let request = Request {
        query: query.to_owned(),
        mode: Mode::Lexical,
        exact: true,
        all_copies: true,
        ..Request::default()
    };
    let hits = engine.search(&Guard::local(), &request).unwrap().hits;
    let mut found: Vec<String> = hits
        .into_iter()
        .map(|hit| format!("{}/{}", hit.source, hit.path))
        .collect();
    found.sort();
    found
}

fn me() -> Guard {
    Guard::local()
}

#[test]
fn what_is_written_is_found_at_once_in_every_source_that_has_it() {
    let place = Place::new(&[
        ("work/a.md", "# Alpha\n\nzebra\n"),
        ("work/hidden/.gitignore", "*\n"),
        ("b.md", "other\n"),
    ]);
    let engine = place.engine(&[("all", "", false), ("work", "work", true)]);
    let job = Job::default();
    assert_eq!(found(&engine, "zebra"), ["all/work/a.md", "work/a.md"]);

    let saved = Notes::new(&engine)
        .delete(&me(), "work", "a.md", &job)
        .unwrap();
    assert!(saved.indexed);
    assert_eq!(found(&engine, "zebra"), [] as [&str; 0]);
    assert_eq!(place.text("work/.trash/a.md"), "# Alpha\n\nzebra\n");
    // A whole sync does not bring it back either.
    engine.sync(&me(), ToSync::All, &job).unwrap();
    assert_eq!(found(&engine, "zebra"), [] as [&str; 0]);

    let trash = Notes::new(&engine).trash(&me(), "work").unwrap();
    assert_eq!((&*trash[0].name, &*trash[0].title), ("a.md", "Alpha"));
    Notes::new(&engine)
        .restore(&me(), "work", "a.md", &job)
        .unwrap();
    assert_eq!(found(&engine, "zebra"), ["all/work/a.md", "work/a.md"]);
    assert!(!place.root().join("work/.trash").exists());

    let renamed = Notes::new(&engine)
        .rename(&me(), "work", "a.md", "Beta  two", &job)
        .unwrap();
    assert_eq!(renamed.key, "Beta two.md");
    assert_eq!(place.text("work/Beta two.md"), "# Beta two\n\nzebra\n");
    assert_eq!(
        found(&engine, "zebra"),
        ["all/work/Beta two.md", "work/Beta two.md"]
    );
    assert_eq!(found(&engine, "Alpha"), [] as [&str; 0]);

    // Only what was written is indexed, not what else has changed.
    place.write("b.md", "giraffe\n");
    let page = Notes::new(&engine)
        .text(&me(), "work", "Beta two.md")
        .unwrap();
    let seen = page.hash;
    let replace =
        |text| Notes::new(&engine).replace(&me(), "work", "Beta two.md", text, seen, &job);
    replace("# Beta\r\n\r\nlion").unwrap();
    assert_eq!(found(&engine, "lion").len(), 2);
    assert_eq!(found(&engine, "giraffe"), [] as [&str; 0]);
    assert!(matches!(replace("x"), Err(Error::Conflict { .. })));
    assert_eq!(place.text("work/Beta two.md"), "# Beta\r\n\r\nlion");

    // A file that another source ignores stays out of that source.
    let draft = Draft {
        title: "Secret".to_owned(),
        body: "okapi\n".to_owned(),
        folder: Some("hidden".to_owned()),
        ..Draft::default()
    };
    Notes::new(&engine)
        .create(&me(), "work", &draft, &job)
        .unwrap();
    assert_eq!(found(&engine, "okapi"), [] as [&str; 0]);
}

#[test]
fn a_restored_note_takes_nobodys_place() {
    let place = Place::new(&[("a.md", "first\n")]);
    let engine = place.engine(&[("notes", "", true)]);
    let job = Job::default();
    Notes::new(&engine)
        .delete(&me(), "notes", "a.md", &job)
        .unwrap();
    place.write("a.md", "second\n");
    let outcome = Notes::new(&engine).restore(&me(), "notes", "a.md", &job);
    assert!(
        matches!(outcome, Err(Error::KeyTaken { .. })),
        "{outcome:?}"
    );
    assert_eq!(place.text("a.md"), "second\n");
    Notes::new(&engine)
        .delete(&me(), "notes", "a.md", &job)
        .unwrap();
    let names: Vec<String> = Notes::new(&engine)
        .trash(&me(), "notes")
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names.len(), 2);
    assert!(names.contains(&"a.md.~2~".to_owned()), "{names:?}");
    Notes::new(&engine)
        .restore(&me(), "notes", "a.md.~2~", &job)
        .unwrap();
    assert_eq!(place.text("a.md"), "second\n");
    for name in ["../a.md", "b.md", "", ".trash/a.md"] {
        let outcome = Notes::new(&engine).restore(&me(), "notes", name, &job);
        assert!(
            matches!(outcome, Err(Error::NoDocument { .. })),
            "{name}: {outcome:?}"
        );
    }
}

#[test]
fn writing_needs_the_capability_the_scope_and_a_writable_source() {
    let place = Place::new(&[("a.md", "#tag\n")]);
    let engine = place.engine(&[("notes", "", true), ("read", "", false)]);
    let job = Job::default();
    let tags = ["x".to_owned()];
    let reader = Guard::holding([Capability::Search, Capability::Read]);
    let outside = Guard::local().within(["other"]);
    let results = |guard: &Guard, source: &str| {
        [
            Notes::new(&engine).text(guard, source, "a.md").map(drop),
            Notes::new(&engine)
                .replace(guard, source, "a.md", "", [0; 32], &job)
                .map(drop),
            Notes::new(&engine)
                .rename(guard, source, "a.md", "b", &job)
                .map(drop),
            Notes::new(&engine)
                .delete(guard, source, "a.md", &job)
                .map(drop),
            Notes::new(&engine).trash(guard, source).map(drop),
            Notes::new(&engine)
                .restore(guard, source, "a.md", &job)
                .map(drop),
            Notes::new(&engine)
                .reindex(guard, source, &["a.md"], &job)
                .map(drop),
            Notes::new(&engine)
                .add_tags(guard, source, "a.md", &tags, &job)
                .map(drop),
            Notes::new(&engine)
                .remove_tags(guard, source, "a.md", &tags, &job)
                .map(drop),
        ]
    };
    for outcome in results(&reader, "notes") {
        assert!(
            matches!(outcome, Err(Error::NotAllowed { .. })),
            "{outcome:?}"
        );
    }
    for outcome in results(&outside, "notes") {
        assert!(
            matches!(outcome, Err(Error::UnknownSource { .. })),
            "{outcome:?}"
        );
    }
    for outcome in results(&me(), "read") {
        assert!(
            matches!(outcome, Err(Error::NotWritable { .. })),
            "{outcome:?}"
        );
    }
    for outcome in [
        Notes::new(&engine)
            .rename_tag(&reader, "tag", "new", &job)
            .map(drop),
        Notes::new(&engine)
            .resume_tag_rename(&reader, &job)
            .map(drop),
    ] {
        assert!(
            matches!(outcome, Err(Error::NotAllowed { .. })),
            "{outcome:?}"
        );
    }
    assert!(Notes::new(&engine).writable_sources(&reader).is_empty());
    assert_eq!(Notes::new(&engine).writable_sources(&me()), ["notes"]);
    let renamed = Notes::new(&engine)
        .rename_tag(&outside, "tag", "new", &job)
        .unwrap();
    assert_eq!(renamed.files, 0);
    let powerless = Guard::holding([]);
    assert!(
        Notes::new(&engine)
            .tags(&powerless, &Filter::default())
            .is_err()
    );
    assert_eq!(place.text("a.md"), "#tag\n");
}

/// Names that are easily taken for each other.
const NAMES: [&str; 12] = [
    "ramen", "Ramen", "RAMEN", "a_b", "a-b", "a b", "é", "e\u{301}", "🐻", "🐼", " x", "x",
];

#[test]
fn names_that_look_alike_stay_apart() {
    let files: Vec<(String, String)> = NAMES
        .iter()
        .enumerate()
        .map(|(number, name)| (format!("{name}.md"), format!("body{number}x\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    let place = Place::new(&files);
    // Some file systems take some of them for one.
    let different = fs::read_dir(place.root()).unwrap().count() == NAMES.len();
    if !different {
        return;
    }
    let engine = place.engine(&[("notes", "", true)]);
    let job = Job::default();
    for (number, name) in NAMES.iter().enumerate() {
        let key = format!("{name}.md");
        let word = format!("body{number}x");
        let at = |key: &str| found(&engine, &word) == [format!("notes/{key}")];
        assert!(at(&key), "{key}");
        let reference = kodiak::document::uri("notes", &key).parse().unwrap();
        let got = engine.get(&me(), &reference).unwrap();
        assert_eq!(got.document.key, key);
        assert_eq!(got.text, format!("{word}\n"));
        let title = format!("new {number}");
        let new = Notes::new(&engine)
            .rename(&me(), "notes", &key, &title, &job)
            .unwrap()
            .key;
        assert!(at(&new), "{key} {new}");
        Notes::new(&engine)
            .delete(&me(), "notes", &new, &job)
            .unwrap();
        assert_eq!(found(&engine, &word), [] as [&str; 0]);
        Notes::new(&engine)
            .restore(&me(), "notes", &new, &job)
            .unwrap();
        // The others are where they were.
        let rest = NAMES[number + 1..].iter();
        for (other, name) in rest.enumerate() {
            let text = place.text(&format!("{name}.md"));
            assert_eq!(text, format!("body{}x\n", number + 1 + other));
        }
    }
    // By title, each is itself where its title is.
    for title in ["Ramen", "ramen", "RAMEN"] {
        let draft = Draft {
            title: title.to_owned(),
            ..Draft::default()
        };
        let key = Notes::new(&engine)
            .create(&me(), "notes", &draft, &job)
            .unwrap()
            .key;
        assert_eq!(key, format!("{title}.md"));
    }
    for title in ["Ramen", "ramen", "RAMEN"] {
        let found = engine.get(&me(), &title.parse().unwrap()).unwrap();
        assert_eq!(found.document.title, title);
    }
}

#[test]
fn a_tag_is_renamed_in_the_files_that_have_it() {
    let odd =
        "\u{feff}---\r\ntags:\r\n  - old # mine\r\nx : [1,  2]\r\n---\r\ntext #old/sub\r\nend";
    let place = Place::new(&[
        ("a.md", odd),
        ("b.md", "#Old and `#old`\n"),
        ("c.md", "#older\n"),
        ("d.org", "* T :old:\n"),
        ("read/e.md", "#old\n"),
        ("write/f.md", "#old\n"),
    ]);
    let engine = place.engine(&[
        ("all", "", false),
        ("write", "write", true),
        ("read", "read", false),
    ]);
    let job = Job::default();
    let untouched = fs::metadata(place.root().join("c.md"))
        .unwrap()
        .modified()
        .unwrap();
    let done = Notes::new(&engine)
        .rename_tag(&me(), "#old", "new", &job)
        .unwrap();
    assert_eq!((done.files, done.resumed, done.indexed), (1, false, true));
    assert_eq!(
        done.read_only,
        [("all".to_owned(), 4), ("read".to_owned(), 1)]
    );
    assert_eq!(place.text("write/f.md"), "#new\n");
    assert_eq!(place.text("b.md"), "#Old and `#old`\n");

    let engine = place.engine(&[("all", "", true), ("write", "write", true)]);
    let done = Notes::new(&engine)
        .rename_tag(&me(), "old", "new", &job)
        .unwrap();
    assert_eq!(done.files, 3);
    assert_eq!(done.left.len(), 1, "{:?}", done.left);
    assert_eq!(done.left[0].key, "d.org");
    assert_eq!(
        place.text("a.md"),
        odd.replace("- old", "- new").replace("#old", "#new")
    );
    assert_eq!(place.text("b.md"), "#new and `#old`\n");
    let after = fs::metadata(place.root().join("c.md"))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(after, untouched);
    let tags = Notes::new(&engine).tags(&me(), &Filter::default()).unwrap();
    let tags: Vec<(&str, u64)> = tags.iter().map(|one| (&*one.tag, one.documents)).collect();
    assert_eq!(tags, [("new", 5), ("new/sub", 1), ("old", 1), ("older", 1)]);
    assert!(!journal(&place).exists());
}

fn journal(place: &Place) -> PathBuf {
    place.folder.path().join("index.db.tag-rename")
}

#[test]
fn an_interrupted_rename_is_finished_and_not_done_twice() {
    let files: Vec<(String, String)> = (0..6)
        .map(|number| (format!("{number}.md"), format!("n{number} #a #a/x\n")))
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (&**a, &**b)).collect();
    let place = Place::new(&files);
    let engine = place.engine(&[("notes", "", true)]);
    // Cancelled once it is planned: the journal is there, and no file has changed.
    let cancel = Cancel::new();
    let stop = |event: Event<'_>| {
        if matches!(event, Event::Synced { .. }) {
            cancel.cancel();
        }
    };
    let job = Job::new(&stop).cancelled_by(cancel.clone());
    let outcome = Notes::new(&engine).rename_tag(&me(), "a", "a/b", &job);
    assert!(matches!(outcome, Err(Error::Cancelled)), "{outcome:?}");
    assert!(journal(&place).exists());
    // One file was rewritten before the process died, and the user edits another.
    place.write("0.md", "n0 #a/b #a/b/x\n");
    place.write("1.md", "somebody else's #a\n");
    let job = Job::default();
    let resumed = Notes::new(&engine)
        .rename_tag(&me(), "a", "a/b", &job)
        .unwrap();
    assert!(resumed.resumed && resumed.indexed);
    assert_eq!((resumed.files, resumed.left.len()), (5, 1));
    assert_eq!(place.text("1.md"), "somebody else's #a\n");
    for number in [0, 2, 3, 4, 5] {
        let text = place.text(&format!("{number}.md"));
        assert_eq!(text, format!("n{number} #a/b #a/b/x\n"));
    }
    assert!(!journal(&place).exists());
    assert_eq!(
        Notes::new(&engine).resume_tag_rename(&me(), &job).unwrap(),
        None
    );
    let filter = Filter {
        tags: vec!["a/b".to_owned()],
        ..Filter::default()
    };
    assert_eq!(engine.view(&me()).list(&filter, 9).unwrap().len(), 5);
}

#[test]
fn a_tag_can_be_renamed_by_case_alone() {
    let place = Place::new(&[("a.md", "#Work\n"), ("b.md", "#Work/deep\n#Work\n")]);
    let engine = place.engine(&[("notes", "", true)]);
    let done = Notes::new(&engine).rename_tag(&me(), "Work", "work", &Job::default());
    assert_eq!(done.unwrap().files, 2);
    assert_eq!(place.text("b.md"), "#work/deep\n#work\n");
    let tags = Notes::new(&engine).tags(&me(), &Filter::default()).unwrap();
    let tags: Vec<_> = tags.into_iter().map(|one| one.tag).collect();
    assert_eq!(tags, ["work", "work/deep"]);
}

#[test]
fn another_rename_finishes_the_interrupted_one_first() {
    let place = Place::new(&[("a.md", "#one #two\n")]);
    let engine = place.engine(&[("notes", "", true)]);
    let cancel = Cancel::new();
    let stop = |event: Event<'_>| {
        if matches!(event, Event::Synced { .. }) {
            cancel.cancel();
        }
    };
    let job = Job::new(&stop).cancelled_by(cancel.clone());
    Notes::new(&engine)
        .rename_tag(&me(), "one", "first", &job)
        .unwrap_err();
    let narrow = Guard::local().within(["other"]);
    assert_eq!(
        Notes::new(&engine)
            .resume_tag_rename(&narrow, &Job::default())
            .unwrap(),
        None
    );
    let done = Notes::new(&engine)
        .rename_tag(&me(), "two", "second", &Job::default())
        .unwrap();
    assert_eq!(place.text("a.md"), "#first #second\n");
    let earlier = done.earlier.unwrap();
    assert_eq!((&*earlier.from, earlier.files), ("one", 1));
}

#[test]
fn tags_are_added_and_removed() {
    let place = Place::new(&[("a.md", "A #inline tag\n"), ("b.txt", "plain\n")]);
    let engine = place.engine(&[("notes", "", true)]);
    let job = Job::default();
    let tags = |tags: &[&str]| tags.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>();
    let add =
        |key, new: &[&str]| Notes::new(&engine).add_tags(&me(), "notes", key, &tags(new), &job);
    add("a.md", &["x", "#y/z", "INLINE"]).unwrap();
    assert_eq!(
        place.text("a.md"),
        "---\ntags: [x, y/z]\n---\nA #inline tag\n"
    );
    let filter = Filter {
        tags: tags(&["y"]),
        ..Filter::default()
    };
    assert_eq!(engine.view(&me()).list(&filter, 9).unwrap().len(), 1);
    assert!(matches!(add("a.md", &["a,b"]), Err(Error::BadTag { .. })));
    assert!(matches!(add("b.txt", &["x"]), Err(Error::BadDraft { .. })));
    assert!(matches!(add("c.md", &["x"]), Err(Error::NoDocument { .. })));
    let gone = tags(&["x", "y/z", "inline"]);
    Notes::new(&engine)
        .remove_tags(&me(), "notes", "a.md", &gone, &job)
        .unwrap();
    assert_eq!(place.text("a.md"), "---\n---\nA inline tag\n");
    assert!(
        Notes::new(&engine)
            .tags(&me(), &Filter::default())
            .unwrap()
            .is_empty()
    );
}

#[cfg(unix)]
#[test]
fn links_and_modes_are_respected() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new(&[("real/a.md", "#tag\n"), ("b.md", "#tag\n")]);
    let root = place.root();
    symlink(root.join("real"), root.join("linked")).unwrap();
    symlink(root.join("b.md"), root.join("c.md")).unwrap();
    fs::set_permissions(root.join("b.md"), fs::Permissions::from_mode(0o640)).unwrap();
    let engine = place.engine(&[("notes", "", true)]);
    let job = Job::default();
    // Even inside the folder, no link is followed.
    for key in ["linked/a.md", "c.md"] {
        for outcome in [
            Notes::new(&engine).text(&me(), "notes", key).map(drop),
            Notes::new(&engine)
                .delete(&me(), "notes", key, &job)
                .map(drop),
            Notes::new(&engine)
                .rename(&me(), "notes", key, "x", &job)
                .map(drop),
            Notes::new(&engine)
                .add_tags(&me(), "notes", key, &["x".to_owned()], &job)
                .map(drop),
        ] {
            assert!(
                matches!(outcome, Err(Error::BadKey { .. })),
                "{key}: {outcome:?}"
            );
        }
    }
    let draft = Draft {
        title: "new".to_owned(),
        folder: Some("linked".to_owned()),
        ..Draft::default()
    };
    assert!(
        Notes::new(&engine)
            .create(&me(), "notes", &draft, &job)
            .is_err()
    );
    Notes::new(&engine)
        .rename_tag(&me(), "tag", "other", &job)
        .unwrap();
    let mode = fs::metadata(root.join("b.md"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o640);
    assert_eq!(place.text("b.md"), "#other\n");
    // A file that its owner has made read-only stays as it is.
    fs::set_permissions(root.join("b.md"), fs::Permissions::from_mode(0o440)).unwrap();
    let done = Notes::new(&engine)
        .rename_tag(&me(), "other", "third", &job)
        .unwrap();
    assert_eq!((done.files, done.left.len()), (1, 1));
    assert_eq!(place.text("b.md"), "#other\n");
}
