//! Tests of saving notes into real folders.

use tempfile::TempDir;

use super::*;
use crate::markdown::FolderOptions;
use kodiak::source::{Entry, Presence, Reading, Source, Version};

fn open(root: &Path) -> MarkdownFolder {
    let options = FolderOptions {
        writable: true,
        ..FolderOptions::default()
    };
    MarkdownFolder::new("notes", root, options).unwrap()
}

fn folder() -> (TempDir, MarkdownFolder) {
    let folder = TempDir::new().unwrap();
    let source = open(folder.path());
    (folder, source)
}

fn draft(title: &str, body: &str) -> Draft {
    Draft {
        title: title.to_owned(),
        body: body.to_owned(),
        ..Draft::default()
    }
}

fn at(key: &str) -> Draft {
    Draft {
        key: Some(key.to_owned()),
        ..draft("Title", "text")
    }
}

fn text(source: &MarkdownFolder, key: &str) -> String {
    fs::read_to_string(source.path_of(key)).unwrap()
}

fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

fn keys(source: &MarkdownFolder) -> Vec<String> {
    let entries = source.list().unwrap().entries.into_iter();
    let mut keys: Vec<String> = entries.map(|entry| entry.key).collect();
    keys.sort();
    keys
}

/// Returns every file under a folder, hidden or not.
fn all_files(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(folder).unwrap();
                files.push(inside.to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

/// Erases all files of a note.
fn purge(source: &MarkdownFolder, key: &str) -> Result<()> {
    let copies = source.copies(key)?;
    if copies.is_empty() {
        return Err(not_there(key));
    }
    for copy in copies {
        source.erase_copy(&copy)?;
    }
    Ok(())
}

#[test]
fn only_a_folder_opened_for_it_is_writable() {
    let (folder, source) = folder();
    assert!(source.writable().is_some());
    let options = FolderOptions::default();
    let source = MarkdownFolder::new("notes", folder.path(), options).unwrap();
    assert!(source.writable().is_none());
}

#[test]
fn a_note_is_created_changed_deleted_and_erased() {
    let (folder, source) = folder();
    let key = source.create(&draft("Ramen: broth", "Bones.\n")).unwrap();
    assert_eq!(key, "Ramen broth.md");
    let written = text(&source, &key);
    assert_eq!(written, "---\ntitle: \"Ramen: broth\"\n---\nBones.\n");
    let mut documents = Vec::new();
    let entry = Entry {
        key: key.clone(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    let reading = source.read(&entry, &mut |one| documents.push(one)).unwrap();
    assert!(matches!(reading, Reading::Read { .. }));
    assert_eq!(documents[0].title, "Ramen: broth");

    let changed = draft("Ramen", "Fish.\n");
    source.update(&key, &changed, documents[0].hash).unwrap();
    assert_eq!(text(&source, &key), "---\ntitle: Ramen\n---\nFish.\n");
    source.delete(&key).unwrap();
    assert_eq!(source.presence(&key), Presence::Gone);
    assert_eq!(keys(&source), [] as [&str; 0]);
    assert_eq!(all_files(folder.path()), [".trash/Ramen broth.md"]);
    purge(&source, &key).unwrap();
    assert_eq!(all_files(folder.path()), [] as [&str; 0]);
    for outcome in [
        source.delete(&key),
        purge(&source, &key),
        source.update(&key, &changed, [0; 32]),
    ] {
        assert!(
            matches!(outcome, Err(Error::NoDocument { .. })),
            "{outcome:?}"
        );
    }
}

#[test]
fn nothing_is_overwritten_by_a_new_note() {
    let (_folder, source) = folder();
    let names = [(); 3].map(|()| source.create(&draft("Same", "text")).unwrap());
    assert_eq!(names, ["Same.md", "Same 2.md", "Same 3.md"]);
    let key = source.create(&at("sub/deep/a.md")).unwrap();
    assert_eq!(key, "sub/deep/a.md");
    let again = source.create(&at("sub/deep/a.md"));
    assert!(matches!(again, Err(Error::KeyTaken { .. })), "{again:?}");
}

#[test]
fn creators_at_once_never_overwrite_each_other() {
    let (folder, source) = folder();
    let mut keys: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|worker| {
                // Each has its own source, like a separate process.
                let source = open(folder.path());
                scope.spawn(move || {
                    let create = |number| {
                        let body = format!("{worker} {number}");
                        let key = source.create(&draft("Same", &body)).unwrap();
                        assert!(text(&source, &key).ends_with(&body));
                        key
                    };
                    (0..8).map(create).collect::<Vec<_>>()
                })
            })
            .collect();
        let joined = workers.into_iter().map(|worker| worker.join().unwrap());
        joined.flatten().collect()
    });
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 32);
    assert_eq!(all_files(folder.path()).len(), 32);
    assert_eq!(self::keys(&source), keys);
}

#[test]
fn a_note_that_changed_meanwhile_is_a_conflict() {
    let (_folder, source) = folder();
    let key = source.create(&draft("A", "one")).unwrap();
    let seen = hash(&text(&source, &key));
    fs::write(source.path_of(&key), "somebody else's").unwrap();
    let outcome = source.update(&key, &draft("A", "two"), seen);
    match outcome {
        Err(Error::Conflict { key: named, path }) => {
            assert_eq!(named, key);
            assert_eq!(path, source.path_of(&key));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(text(&source, &key), "somebody else's");
}

#[test]
fn the_trash_keeps_every_version() {
    let (folder, source) = folder();
    for body in ["one", "two", "three"] {
        source
            .create(&Draft {
                key: Some("sub/a.md".to_owned()),
                ..draft("a", body)
            })
            .unwrap();
        source.delete("sub/a.md").unwrap();
    }
    source.create(&at("sub/a.md.~2~.md")).unwrap();
    source.delete("sub/a.md.~2~.md").unwrap();
    let trash = |name: &str| fs::read_to_string(folder.path().join(".trash/sub").join(name));
    assert_eq!(trash("a.md").unwrap(), "one");
    assert_eq!(trash("a.md.~2~").unwrap(), "two");
    assert_eq!(trash("a.md.~3~").unwrap(), "three");
    purge(&source, "sub/a.md").unwrap();
    assert_eq!(all_files(folder.path()), [".trash/sub/a.md.~2~.md"]);
}

#[test]
fn hostile_keys_and_titles_stay_in_the_folder() {
    let outside = TempDir::new().unwrap();
    let root = outside.path().join("root");
    fs::create_dir(&root).unwrap();
    fs::write(outside.path().join("a.md"), "outside").unwrap();
    let source = open(&root);
    let absolute = outside.path().join("b.md");
    let long = format!("{}.md", "x".repeat(300));
    for key in [
        "../a.md",
        "../new.md",
        "x/../../a.md",
        absolute.to_str().unwrap(),
        "",
        "a\0.md",
        "a\n.md",
        ".hidden.md",
        ".trash/a.md",
        "con.md",
        "a.txt",
        "a",
        &long,
    ] {
        let outcome = source.create(&at(key));
        assert!(
            matches!(outcome, Err(Error::BadKey { .. })),
            "{key:?}: {outcome:?}"
        );
    }
    for key in [
        "../a.md",
        "x/../../a.md",
        absolute.to_str().unwrap(),
        "",
        ".trash/a.md",
    ] {
        for outcome in [
            source.update(key, &at(key), hash("outside")),
            source.delete(key),
            purge(&source, key),
        ] {
            assert!(
                matches!(outcome, Err(Error::BadKey { .. })),
                "{key:?}: {outcome:?}"
            );
        }
    }
    let hidden = source.delete(".trash/a.md").unwrap_err();
    assert!(hidden.to_string().contains("it is hidden"), "{hidden}");
    for title in [
        "../../a",
        "/etc/passwd",
        "a\0b\n",
        "CON",
        &"x".repeat(300),
        "",
        ".",
        "é\u{202e}",
    ] {
        let key = source.create(&draft(title, "text")).unwrap();
        assert!(keys(&source).contains(&key), "{title:?}: {key}");
    }
    assert_eq!(
        fs::read_to_string(outside.path().join("a.md")).unwrap(),
        "outside"
    );
    let beside = fs::read_dir(outside.path()).unwrap();
    assert_eq!(beside.count(), 2);
}

#[test]
fn a_note_that_the_source_would_not_list_is_not_created() {
    let folder = TempDir::new().unwrap();
    let options = FolderOptions {
        globs: vec!["journal/**".to_owned(), "!journal/old/".to_owned()],
        writable: true,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", folder.path(), options).unwrap();
    for key in ["a.md", "journal/old/a.md", "other/a.md"] {
        let outcome = source.create(&at(key));
        assert!(
            matches!(outcome, Err(Error::BadKey { .. })),
            "{key}: {outcome:?}"
        );
    }
    source.create(&at("journal/a.md")).unwrap();
    assert_eq!(keys(&source), ["journal/a.md"]);
}

#[test]
fn what_a_killed_process_leaves_behind_is_in_nobodys_way() {
    let (folder, source) = folder();
    // The names that this process is about to use, and one of another process.
    let process = std::process::id();
    for number in 0..300 {
        let name = format!(".kodiak-{process}-{number}.tmp");
        fs::write(folder.path().join(name), "half a no").unwrap();
    }
    fs::write(folder.path().join(".kodiak-1-0.tmp"), "half a no").unwrap();
    let key = source.create(&draft("A", "text")).unwrap();
    source
        .update(&key, &draft("A", "more"), hash(&text(&source, &key)))
        .unwrap();
    assert_eq!(keys(&source), ["A.md"]);
    assert_eq!(all_files(folder.path()).len(), 302);
}

#[test]
fn a_file_that_is_no_text_is_not_rewritten() {
    let (_folder, source) = folder();
    fs::write(source.path_of("a.md"), [0xff, 0]).unwrap();
    let seen = *blake3::hash(&[0xff, 0]).as_bytes();
    let outcome = source.update("a.md", &draft("a", "text"), seen);
    assert!(matches!(outcome, Err(Error::BadKey { .. })), "{outcome:?}");
    assert_eq!(fs::read(source.path_of("a.md")).unwrap(), [0xff, 0]);
    // It can still be deleted.
    source.delete("a.md").unwrap();
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn links_do_not_lead_out_of_the_folder() {
        let outside = TempDir::new().unwrap();
        let root = outside.path().join("root");
        let away = outside.path().join("away");
        fs::create_dir(&root).unwrap();
        fs::create_dir(&away).unwrap();
        fs::write(away.join("a.md"), "outside").unwrap();
        symlink(&away, root.join("link")).unwrap();
        symlink(&away, root.join(".trash")).unwrap();
        symlink(away.join("a.md"), root.join("file.md")).unwrap();
        let source = open(&root);
        fs::write(root.join("mine.md"), "mine").unwrap();
        for outcome in [
            source.create(&at("link/new.md")).map(drop),
            source.create(&at("link/sub/new.md")).map(drop),
            source.update("link/a.md", &at("x.md"), hash("outside")),
            source.update("file.md", &at("x.md"), hash("outside")),
            source.delete("link/a.md"),
            source.delete("mine.md"),
            purge(&source, "link/a.md"),
            purge(&source, "file.md"),
        ] {
            assert!(matches!(outcome, Err(Error::BadKey { .. })), "{outcome:?}");
        }
        let taken = source.create(&at("file.md"));
        assert!(matches!(taken, Err(Error::KeyTaken { .. })), "{taken:?}");
        assert_eq!(all_files(&away), ["a.md"]);
        assert_eq!(fs::read_to_string(away.join("a.md")).unwrap(), "outside");
    }

    #[test]
    fn permissions_outlive_an_update() {
        let (_folder, source) = folder();
        let key = source.create(&draft("A", "one")).unwrap();
        let path = source.path_of(&key);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let seen = hash(&text(&source, &key));
        source.update(&key, &draft("A", "two"), seen).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_named() {
        let (folder, source) = folder();
        let key = source.create(&draft("A", "one")).unwrap();
        let seen = hash(&text(&source, &key));
        let mode = |mode| {
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(0o500);
        // The superuser can write everywhere, so there is nothing to test.
        let probe = folder.path().join("probe");
        let superuser = fs::write(&probe, "").is_ok();
        let outcomes = (!superuser).then(|| {
            [
                source.create(&draft("B", "two")).map(drop),
                source.update(&key, &draft("A", "two"), seen),
                source.delete(&key),
            ]
        });
        mode(0o700);
        for outcome in outcomes.into_iter().flatten() {
            let error = outcome.unwrap_err();
            assert!(error.is_read_only(), "{error}");
            let said = error.to_string();
            assert!(said.contains(source.root().to_str().unwrap()), "{said}");
        }
    }
}

#[test]
fn a_file_with_another_text_is_not_erased() {
    let folder = TempDir::new().unwrap();
    let source = open(folder.path());
    fs::write(folder.path().join("a.md"), "old").unwrap();
    let copies = source.copies("a.md").unwrap();
    fs::write(folder.path().join("a.md"), "new").unwrap();
    fs::write(folder.path().join(".kodiak-2147483647-0.tmp"), "old").unwrap();
    let path = source.erase_copy(&copies[0]).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(all_files(folder.path()), ["a.md"]);
    fs::write(&path, "old").unwrap();
    for _ in 0..2 {
        source.erase_copy(&copies[0]).unwrap();
        assert!(!path.exists());
    }
}
