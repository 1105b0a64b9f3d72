//! An erasing from a source that the process at work does not know: another config, or
//! another machine, has it. What can be erased here is, and the rest stays recorded for the
//! process that knows the source.

use super::*;

/// Returns an engine over the same index that knows the memories and the pages alone, as
/// with another config.
fn stranger(home: &Home) -> Engine {
    stranger_with(home, "elsewhere/forgotten")
}

/// Returns such an engine with its list of what was forgotten in a file.
fn stranger_with(home: &Home, forgotten: &str) -> Engine {
    let path = |name: &str| home.root.join(name);
    let pages = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    let memories = MemoryOptions::default();
    Engine::builder(path("data/index.db"))
        .source(MemoryFolder::new("memory", &path("memory"), memories).unwrap())
        .source(MarkdownFolder::new("pages", &path("pages"), pages).unwrap())
        .model(tiny())
        .tombstones(Tombstones::at(path(forgotten)))
        .erased_with(erase_cache(&home.root))
        .deadline(Duration::from_mins(1))
        .open()
        .unwrap()
}

/// Returns a home as a process leaves it that is killed while it erases, before it has
/// erased any file.
fn stopped(folder: &Path, what: What) -> Home {
    let home = Home::new(&make(folder, "home"), what);
    let engine = home.fill(what);
    let at = folder.join("stopped");
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            copy(&home.root, &at);
        }
    };
    assert!(what.purge(&engine, &Job::new(&listener)).unwrap() > 0);
    let stopped = Home {
        root: at.canonicalize().unwrap(),
    };
    assert!(stopped.journal().exists());
    stopped
}

/// What an engine that does not know the source may do.
type Way = fn(&Engine);

fn ways() -> [(&'static str, Way); 5] {
    [
        ("sync", |engine| {
            let me = Guard::local();
            engine.sync(&me, ToSync::All, &Job::default()).unwrap();
        }),
        ("sync of what is known", |engine| {
            let me = Guard::local();
            engine.sync(&me, ToSync::Known, &Job::default()).unwrap();
        }),
        ("purge again", |engine| {
            let again = What::Session.purge(engine, &Job::default());
            assert!(matches!(again, Err(Error::NotErased { .. })), "{again:?}");
        }),
        ("repair", |engine| {
            let me = Guard::local();
            let diagnosis = engine.examine(&me).unwrap();
            let _ = engine.repair(&me, &diagnosis, &Job::default());
        }),
        ("embed", |engine| {
            engine
                .embed(&Guard::local(), None, &Job::default())
                .unwrap();
        }),
    ]
}

#[test]
fn what_is_not_known_here_is_erased_by_the_one_that_knows_it() {
    for (way, act) in ways() {
        let folder = quick_folder();
        let home = stopped(folder.path(), What::Session);
        let other = stranger(&home);
        // Whatever it does, and however often.
        for _ in 0..2 {
            act(&other);
            assert!(home.journal().exists(), "{way}");
        }
        let left = home.left();
        assert!(!left.is_empty(), "{way}");
        let kept = |file: &String| file.contains("data/transcripts/");
        assert!(left.iter().all(kept), "{way}: {left:?}");
        let waiting = other.eraser(&Guard::local()).waiting().unwrap();
        let names: Vec<&str> = waiting.iter().map(|one| one.source.as_str()).collect();
        assert_eq!(names, ["talks"], "{way}");
        assert!(waiting[0].place.ends_with("/agent"), "{waiting:?}");
        assert!(!other.examine(&Guard::local()).unwrap().is_clean());
        drop(other);
        // Then the one that knows it does anything.
        let engine = home.engine();
        index(&engine);
        home.assert_gone(What::Session, &engine, way);
    }
}

#[test]
fn a_title_that_is_erased_goes_with_the_source_that_has_it() {
    let folder = quick_folder();
    let home = Home::new(&make(folder.path(), "home"), What::Page);
    let talk = [
        turn("u1", TEXT),
        turn("u2", "Sourdough bread."),
        turn("u3", "Thanks."),
    ];
    home.write("agent/projects/p/s1.jsonl", &talk.concat());
    fs::remove_file(home.root.join("pages/sub/page.md")).unwrap();
    let engine = home.engine();
    index(&engine);
    let at = folder.path().join("stopped");
    let listener = |event: Event<'_>| {
        if let Event::Erasing {
            step: EraseStep::Tombstones,
        } = event
        {
            copy(&home.root, &at);
        }
    };
    let first = ["talks/s1/u1".to_owned()];
    let me = Guard::local();
    let purged = Memories::new(&engine).purge_named(&me, &first, &Job::new(&listener));
    assert_eq!(purged.unwrap(), 1);
    let home = Home {
        root: at.canonicalize().unwrap(),
    };
    let other = stranger(&home);
    other.sync(&me, ToSync::Known, &Job::default()).unwrap();
    assert!(home.journal().exists());
    drop(other);
    let engine = home.engine();
    engine.eraser(&me).finish(&Job::default()).unwrap();
    home.assert_gone(What::Turn, &engine, "without another sync");
}

#[test]
fn a_source_that_its_owner_removes_is_waited_for_no_longer() {
    let folder = quick_folder();
    let home = stopped(folder.path(), What::Session);
    let (me, job) = (Guard::local(), Job::default());
    let other = stranger_with(&home, "data/forgotten");
    other.sync(&me, ToSync::All, &job).unwrap();
    // The index has lost the source by then, and the journal has not.
    assert!(home.journal().exists());
    other.forget_source(&me, "talks", &job).unwrap();
    assert!(!home.journal().exists());
    assert!(other.eraser(&me).waiting().unwrap().is_empty());
    // What was erased stays away, even if the source comes back.
    drop(other);
    let engine = home.engine();
    index(&engine);
    assert_eq!(engine.search(&me, &ask("quasarblau")).unwrap().total, 0);
}

#[test]
fn an_erasing_that_waits_for_another_holds_up_none() {
    let folder = quick_folder();
    let home = stopped(folder.path(), What::Session);
    let (me, job) = (Guard::local(), Job::default());
    let other = stranger(&home);
    let own = Memory {
        text: "Meerkat burrows are deep.".to_owned(),
        title: None,
        ..memory("memory")
    };
    Memories::new(&other).remember(&me, &own, &job).unwrap();
    // It is told once, and not with everything that is written.
    let told = Mutex::new(0);
    let listener = |event: Event<'_>| {
        if let Event::ErasureUnfinished { .. } = event {
            *told.lock().unwrap() += 1;
        }
    };
    for _ in 0..3 {
        other
            .sync(&me, ToSync::Known, &Job::new(&listener))
            .unwrap();
    }
    assert_eq!(told.into_inner().unwrap(), 0);
    assert_eq!(What::Memory.purge(&other, &job).unwrap(), 1);
    assert!(files_with(&home.root, &["meerkat"]).is_empty());
    // By its project as well.
    let (id, project) = (Some("other".to_owned()), Some("/p/two".to_owned()));
    let own = Memory { id, project, ..own };
    Memories::new(&other).remember(&me, &own, &job).unwrap();
    let purged = Memories::new(&other).purge_project(&me, "/p/two", &job);
    assert_eq!(purged.unwrap(), 1);
    assert!(files_with(&home.root, &["meerkat"]).is_empty());
    assert!(home.journal().exists());
    drop(other);
    let engine = home.engine();
    index(&engine);
    home.assert_gone(What::Session, &engine, "after the other's");
}

#[test]
fn what_another_has_is_erased_here_and_by_it() {
    let folder = quick_folder();
    let home = Home::new(&make(folder.path(), "home"), What::Session);
    drop(home.fill(What::Session));
    let other = stranger(&home);
    let (me, job) = (Guard::local(), Job::default());
    let wanted: Vec<(String, String)> = ["u1", "u2", "u3"]
        .map(|turn| ("talks".to_owned(), format!("s1/{turn}")))
        .into();
    let refused = other
        .eraser(&me)
        .erase_documents(&wanted, &job)
        .unwrap_err();
    assert!(matches!(refused, Error::NotErased { .. }), "{refused}");
    assert!(refused.to_string().contains("talks"), "{refused}");
    assert!(
        home.left()
            .iter()
            .all(|file| file.contains("data/transcripts/"))
    );
    drop(other);
    let engine = home.engine();
    index(&engine);
    home.assert_gone(What::Session, &engine, "asked for elsewhere");
}

#[test]
fn what_is_beside_the_index_is_erased_or_waited_for() {
    for what in [What::Memory, What::Session] {
        let folder = quick_folder();
        let home = Home::new(folder.path(), what);
        let engine = home.fill(what);
        let (me, job) = (Guard::local(), Job::default());
        // A file in the place of the folder cannot be removed as one.
        let cache = home.root.join("cache/visits");
        fs::remove_dir_all(&cache).unwrap();
        home.write("cache/visits", TEXT);
        let refused = what.purge(&engine, &job).unwrap_err();
        assert!(matches!(refused, Error::NotErased { .. }), "{refused}");
        assert!(home.journal().exists());
        engine.sync(&me, ToSync::All, &job).unwrap();
        assert!(home.journal().exists() && !home.left().is_empty());
        fs::remove_file(&cache).unwrap();
        home.write("cache/visits/index.db", TEXT);
        engine.sync(&me, ToSync::All, &job).unwrap();
        home.assert_gone(what, &engine, "beside the index");
    }
}
