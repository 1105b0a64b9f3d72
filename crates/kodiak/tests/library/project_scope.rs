//! Projects as a filter and as a scope: a caller that is held to a project learns
//! nothing of the rest, by whatever way it asks.

use std::fs;

use kodiak::access::Guard;
use kodiak::engine::{Job, ToSync};
use kodiak::search::{Mode, Request};
use kodiak::source::Draft;
use kodiak::store::Filter;
use kodiak::{Engine, Error, Reference};
use kodiak_notes::MarkdownFolder;
use kodiak_notes::Notes;
use kodiak_notes::markdown::FolderOptions;
use tempfile::TempDir;

const MODES: [Mode; 3] = [Mode::Auto, Mode::Lexical, Mode::Like];

/// An index of two projects and a note that belongs to none.
fn three() -> (TempDir, Engine) {
    let folder = TempDir::new().unwrap();
    let root = folder.path().join("notes");
    fs::create_dir(&root).unwrap();
    for (name, text) in [
        (
            "a.md",
            "---\nproject: /src/api\ntags: [redis]\n---\n# Caching\n\nlimits of the cache\n",
        ),
        (
            "b.md",
            "---\nproject: /src/web\ntags: [hidden]\n---\n# Quagga\n\nsecret cache words\n",
        ),
        ("c.md", "# Orphan\n\nno project, but a cache\n"),
    ] {
        fs::write(root.join(name), text).unwrap();
    }
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", &root, options).unwrap();
    let engine = Engine::builder(folder.path().join("index.db"))
        .source(source)
        .open()
        .unwrap();
    engine
        .sync(&Guard::local(), ToSync::All, &Job::default())
        .unwrap();
    (folder, engine)
}

fn found(engine: &Engine, guard: &Guard, request: &Request) -> Vec<String> {
    let answer = engine.search(guard, request).unwrap();
    assert_eq!(answer.total, answer.hits.len());
    let mut paths: Vec<_> = answer.hits.into_iter().map(|hit| hit.card.path).collect();
    paths.sort();
    paths
}

#[test]
fn a_filter_selects_projects() {
    let (_folder, engine) = three();
    for mode in MODES {
        let search = |projects: &[&str]| {
            let mut request = Request::new("cache");
            request.mode = mode;
            request.filter.projects = projects.iter().map(|&name| name.to_owned()).collect();
            found(&engine, &Guard::local(), &request)
        };
        assert_eq!(search(&[]), ["a.md", "b.md", "c.md"]);
        assert_eq!(search(&["/src/api"]), ["a.md"]);
        assert_eq!(search(&["/src/api", "/src/web"]), ["a.md", "b.md"]);
        assert!(search(&["api"]).is_empty());
    }
    let projects = engine.view(&Guard::local()).projects(&Filter::default());
    let expected = [("/src/api".to_owned(), 1), ("/src/web".to_owned(), 1)];
    assert_eq!(projects.unwrap(), expected);
}

#[test]
fn a_scope_hides_everything_else() {
    let (_folder, engine) = three();
    let guard = Guard::local().in_project("/src/api");
    for mode in MODES {
        let mut request = Request::new("cache");
        request.mode = mode;
        assert_eq!(found(&engine, &guard, &request), ["a.md"]);
        // A wish cannot widen it.
        request.filter.projects = vec!["/src/web".into()];
        assert!(found(&engine, &guard, &request).is_empty());
    }
    // Neither corrections nor suggestions come from outside.
    let answer = engine.search(&guard, &Request::new("quaga")).unwrap();
    assert_eq!((answer.corrected, answer.suggestions), (None, Vec::new()));
    assert_eq!(engine.view(&guard).spelling("quaga").unwrap(), None);
    // Nor do completions.
    for (query, found) in [("quag", 0), ("secr", 0), ("cachi", 1), ("lim", 1)] {
        for as_you_type in [false, true] {
            let request = Request {
                as_you_type,
                ..Request::new(query)
            };
            let answer = engine.search(&guard, &request).unwrap();
            assert_eq!(answer.completed.is_some(), found > 0, "{query}");
            assert_eq!((answer.total, answer.corrected), (found, None), "{query}");
        }
    }
    for query in ["q", "qu", "s"] {
        let request = Request {
            as_you_type: true,
            ..Request::new(query)
        };
        assert!(found(&engine, &guard, &request).is_empty(), "{query}");
        assert!(
            !found(&engine, &Guard::local(), &request).is_empty(),
            "{query}"
        );
    }
    for name in [
        "b.md",
        "c.md",
        "Quagga",
        "notes/b.md",
        "kodiak://notes/b.md",
    ] {
        let refused = engine
            .get(&guard, &name.parse::<Reference>().unwrap())
            .unwrap_err();
        let Error::NoDocument { suggestions, .. } = refused else {
            panic!("{refused}");
        };
        assert!(!suggestions.concat().contains("b.md"), "{suggestions:?}");
    }
    let everything = Filter::default();
    let tags = Notes::new(&engine).tags(&guard, &everything).unwrap();
    assert_eq!(tags.len(), 1);
    assert_eq!(engine.view(&guard).list(&everything, 9).unwrap().len(), 1);
    let projects = engine.view(&guard).projects(&everything).unwrap();
    assert_eq!(projects, [("/src/api".to_owned(), 1)]);
    let status = engine.status(&guard).unwrap();
    assert_eq!((status.documents, status.words, status.bytes), (1, 0, 0));
    assert!(status.sources.iter().all(|source| source.changes.is_none()));
}

#[test]
fn what_is_written_in_a_scope_stays_in_it() {
    let (folder, engine) = three();
    let guard = Guard::local().in_project("/src/api");
    let job = Job::default();
    let draft = Draft {
        title: "New".into(),
        body: "fresh words\n".into(),
        ..Draft::default()
    };
    let saved = Notes::new(&engine)
        .create(&guard, "notes", &draft, &job)
        .unwrap();
    let request = Request::new("fresh");
    assert_eq!(
        found(&engine, &guard, &request),
        std::slice::from_ref(&saved.key)
    );
    let text = fs::read_to_string(folder.path().join("notes").join(&saved.key)).unwrap();
    assert!(text.contains("project: \"/src/api\""), "{text}");
    // Nothing outside can be read for writing, changed or deleted.
    let before = fs::read_to_string(folder.path().join("notes/b.md")).unwrap();
    assert!(Notes::new(&engine).text(&guard, "notes", "b.md").is_err());
    assert!(
        Notes::new(&engine)
            .delete(&guard, "notes", "b.md", &job)
            .is_err()
    );
    assert!(
        Notes::new(&engine)
            .rename(&guard, "notes", "b.md", "Mine", &job)
            .is_err()
    );
    let tags = ["x".to_owned()];
    assert!(
        Notes::new(&engine)
            .add_tags(&guard, "notes", "b.md", &tags, &job)
            .is_err()
    );
    let other = [("notes".to_owned(), "b.md".to_owned())];
    assert!(engine.eraser(&guard).erase_documents(&other, &job).is_err());
    Notes::new(&engine)
        .delete(&Guard::local(), "notes", "c.md", &job)
        .unwrap();
    assert!(Notes::new(&engine).trash(&guard, "notes").is_err());
    assert!(
        Notes::new(&engine)
            .restore(&guard, "notes", "c.md", &job)
            .is_err()
    );
    let after = fs::read_to_string(folder.path().join("notes/b.md")).unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_source_exists_if_it_has_a_document_of_the_project() {
    let folder = TempDir::new().unwrap();
    let source = |name: &str| {
        let root = folder.path().join(name);
        fs::create_dir(&root).unwrap();
        let text = "---\nproject: /src/web\n---\n# A note\n";
        fs::write(root.join("a.md"), text).unwrap();
        let options = FolderOptions {
            writable: true,
            ..FolderOptions::default()
        };
        MarkdownFolder::new(name, &root, options).unwrap()
    };
    let engine = Engine::builder(folder.path().join("index.db"))
        .source(source("notes"))
        .source(source("pages"))
        .open()
        .unwrap();
    let job = Job::default();
    engine.sync(&Guard::local(), ToSync::All, &job).unwrap();
    let guard = Guard::local().in_project("/src/api");
    // Pages of a project may begin in the source of pages, and nowhere else.
    assert_eq!(Notes::new(&engine).writable_sources(&guard), ["pages"]);
    let draft = Draft {
        title: "First".to_owned(),
        ..Draft::default()
    };
    let refused = Notes::new(&engine)
        .create(&guard, "notes", &draft, &job)
        .unwrap_err();
    let never = Notes::new(&engine)
        .create(&guard, "never", &draft, &job)
        .unwrap_err();
    for (error, expected) in [(refused, "notes"), (never, "never")] {
        let Error::UnknownSource { name, known } = error else {
            panic!("{error}");
        };
        assert_eq!((name.as_str(), known.len()), (expected, 0));
    }
    Notes::new(&engine)
        .create(&guard, "pages", &draft, &job)
        .unwrap();
    let web = Guard::local().in_project("/src/web");
    assert_eq!(
        Notes::new(&engine).writable_sources(&web),
        ["notes", "pages"]
    );
}
