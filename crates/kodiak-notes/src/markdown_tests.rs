//! Tests of folders with ignored, linked, broken and hostile files.

use std::fs;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::*;
use kodiak::source::LeftOut;

/// Makes a folder with these files. A name that ends in `/` makes a folder.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        if name.ends_with('/') {
            fs::create_dir_all(path).unwrap();
        } else {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    folder
}

fn open(root: &Path, globs: &[&str]) -> MarkdownFolder {
    let options = FolderOptions {
        globs: globs.iter().map(ToString::to_string).collect(),
        ..FolderOptions::default()
    };
    MarkdownFolder::new("notes", root, options).unwrap()
}

fn keys(source: &MarkdownFolder) -> Vec<String> {
    let mut keys: Vec<_> = source
        .list()
        .unwrap()
        .entries
        .into_iter()
        .map(|entry| entry.key)
        .collect();
    keys.sort();
    keys
}

fn read(source: &MarkdownFolder, key: &str) -> Reading {
    read_into(source, key, &mut |_| {}).unwrap()
}

fn read_into(
    source: &MarkdownFolder,
    key: &str,
    emit: &mut dyn FnMut(Document),
) -> Result<Reading> {
    let entry = Entry {
        key: key.to_owned(),
        version: Version::UNKNOWN,
        size_hint: 0,
    };
    source.read(&entry, emit)
}

fn reason(source: &MarkdownFolder, key: &str) -> String {
    match read(source, key) {
        Reading::Skipped { reason, .. } | Reading::Unavailable(reason) => reason,
        other => panic!("{key}: {other:?}"),
    }
}

fn read_document(source: &MarkdownFolder, key: &str) -> Document {
    let mut documents = Vec::new();
    let reading = read_into(source, key, &mut |document| documents.push(document)).unwrap();
    assert!(
        matches!(reading, Reading::Read { .. }),
        "{key}: {reading:?}"
    );
    assert_eq!(documents.len(), 1, "{key}");
    documents.remove(0)
}

#[test]
fn lists_notes_of_every_kind_and_nothing_else() {
    let folder = folder(&[
        ("a.md", "text"),
        ("b/c/d.MARKDOWN", ""),
        ("e.mdx", ""),
        ("f.TXT", ""),
        ("g.org", ""),
        ("ü ü.md", ""),
        ("image.png", ""),
        ("md", ""),
        ("folder.md/", ""),
        ("a.md.bak", ""),
    ]);
    let source = open(folder.path(), &[]);
    assert_eq!(
        keys(&source),
        [
            "a.md",
            "b/c/d.MARKDOWN",
            "e.mdx",
            "f.TXT",
            "g.org",
            "ü ü.md"
        ]
    );
    assert_eq!(source.name(), "notes");
    assert_eq!(source.options(), &FolderOptions::default());
    assert_eq!(source.path_of("b/c"), source.root().join("b").join("c"));
}

#[test]
fn versions_agree_however_they_are_taken() {
    let folder = folder(&[("a.md", "text"), ("old.md", "older than time")]);
    let before = SystemTime::UNIX_EPOCH - Duration::from_millis(1500);
    let file = fs::File::options()
        .write(true)
        .open(folder.path().join("old.md"))
        .unwrap();
    file.set_modified(before).unwrap();
    let source = open(folder.path(), &[]);
    // Too fresh to be trusted: another write might leave no trace.
    let unknown = Version::UNKNOWN;
    assert_eq!(read(&source, "a.md"), Reading::Read { version: unknown });
    std::thread::sleep(Duration::from_millis(100));
    for entry in source.list().unwrap().entries {
        let version = entry.version;
        assert_eq!(source.presence(&entry.key), Presence::There(version));
        assert_eq!(read(&source, &entry.key), Reading::Read { version });
        let document = read_document(&source, &entry.key);
        if entry.key == "old.md" {
            assert_eq!(entry.size_hint, 15);
            assert_eq!(document.updated_at, -2);
        } else {
            assert_eq!(entry.size_hint, 4);
            assert!(document.updated_at > 0);
        }
    }
    assert_eq!(source.presence("none.md"), Presence::Gone);
    assert_eq!(source.presence(""), Presence::Gone);
}

#[test]
fn gitignores_hold_without_git_and_hidden_files_stay_hidden() {
    let folder = folder(&[
        (".gitignore", "drafts/\n*.tmp.md\n"),
        ("a.md", ""),
        ("x.tmp.md", ""),
        ("drafts/b.md", ""),
        ("sub/.gitignore", "secret.md\n"),
        ("sub/secret.md", ""),
        ("sub/open.md", ""),
        (".hidden.md", ""),
        (".obsidian/plugin.md", ""),
        (".git/description.md", ""),
    ]);
    assert_eq!(keys(&open(folder.path(), &[])), ["a.md", "sub/open.md"]);
}

#[test]
fn a_gitignore_cannot_bring_hidden_files_back() {
    let folder = folder(&[
        (".gitignore", "*\n!*/\n!*.md\n!.*\n"),
        ("a.md", ""),
        ("sub/b.md", ""),
        ("c.txt", ""),
        (".hidden.md", ""),
        (".git/d.md", ""),
    ]);
    assert_eq!(keys(&open(folder.path(), &[])), ["a.md", "sub/b.md"]);
}

#[test]
fn nothing_above_the_root_is_consulted() {
    let folder = folder(&[
        (".gitignore", "*.md\n"),
        (".ignore", "*.md\n"),
        (".notes/a.md", ""),
    ]);
    assert_eq!(keys(&open(&folder.path().join(".notes"), &[])), ["a.md"]);
}

#[test]
fn globs_choose_and_leave_out() {
    let folder = folder(&[
        (".gitignore", "ignored.md\n"),
        ("a.md", ""),
        ("b.rst", ""),
        ("ignored.md", ""),
        (".hidden.md", ""),
        ("#inbox/i.md", ""),
        ("journal/c.md", ""),
        ("journal/old/d.md", ""),
        ("archive/e.md", ""),
        ("archive/f.txt", ""),
    ]);
    let journal = "journal/c.md journal/old/d.md";
    for (globs, expected) in [
        (&["*.rst"][..], "b.rst"),
        (&["c.md"], "journal/c.md"),
        (&["journal/*.md"], "journal/c.md"),
        (&["journal/**"], journal),
        (&["/*.md"], "a.md"),
        (&["*.{rst,txt}"], "archive/f.txt b.rst"),
        (&["#inbox/*"], "#inbox/i.md"),
        (
            &["*.md", "!archive/", "!#inbox"],
            &format!("a.md {journal}"),
        ),
        (
            &["*.md", "!old/**", "!#inbox/**"],
            &format!("a.md archive/e.md {journal}"),
        ),
        (
            &["*.md", "!**/old/**", "!#inbox/**"],
            "a.md archive/e.md journal/c.md",
        ),
        (&["!archive/**", "!#inbox"], &format!("a.md {journal}")),
    ] {
        assert_eq!(
            keys(&open(folder.path(), globs)).join(" "),
            expected,
            "{globs:?}"
        );
    }
}

#[test]
fn bad_globs_are_named() {
    let folder = folder(&[]);
    for pattern in ["[a", "{a", "", " ", "!"] {
        let options = FolderOptions {
            globs: vec!["*.md".to_owned(), pattern.to_owned()],
            ..FolderOptions::default()
        };
        match MarkdownFolder::new("notes", folder.path(), options) {
            Err(Error::BadGlob {
                pattern: named,
                detail,
            }) => {
                assert_eq!(named, pattern);
                assert!(!detail.is_empty());
            }
            other => panic!("{pattern:?}: {other:?}"),
        }
    }
}

#[test]
fn a_missing_folder_is_an_error_at_every_step() {
    let folder = folder(&[("a.md", ""), ("root/b.md", "")]);
    let new = |name: &str| {
        MarkdownFolder::new("notes", &folder.path().join(name), FolderOptions::default())
    };
    assert!(matches!(new("none"), Err(Error::FolderMissing { .. })));
    assert!(matches!(new("a.md"), Err(Error::NotAFolder { .. })));

    let source = new("root").unwrap();
    let entries = source.list().unwrap().entries;
    assert_eq!(entries.len(), 1);
    fs::remove_file(source.path_of("b.md")).unwrap();
    assert_eq!(read(&source, "b.md"), Reading::Gone);
    fs::remove_dir_all(source.root()).unwrap();
    assert!(matches!(source.list(), Err(Error::FolderMissing { .. })));
    // Not gone: the drive may come back, and the index must still be there.
    assert!(matches!(
        read_into(&source, "b.md", &mut |_| {}),
        Err(Error::FolderMissing { .. })
    ));
}

#[test]
fn keys_cannot_lead_out_of_the_folder() {
    let folder = folder(&[("outside.md", "secret"), ("root/sub/a.md", "text")]);
    let source = open(&folder.path().join("root"), &[]);
    let absolute = folder.path().join("outside.md");
    for key in [
        "../outside.md",
        "sub/../../outside.md",
        "..",
        "",
        ".",
        "./sub/a.md",
        absolute.to_str().unwrap(),
    ] {
        assert_eq!(reason(&source, key), "leaves the folder", "{key}");
        assert_eq!(source.presence(key), Presence::Gone, "{key}");
        assert!(source.path_of(key).starts_with(source.root()), "{key}");
        assert!(
            !source.path_of(key).to_str().unwrap().contains(".."),
            "{key}"
        );
    }
    assert_eq!(read_document(&source, "sub/a.md").body, "text");
    assert_eq!(read(&source, "sub/a.md/b.md"), Reading::Gone);
    assert_eq!(reason(&source, "sub"), "is not a file");
    assert_eq!(source.presence("sub"), Presence::Gone);
}

#[test]
fn what_cannot_be_indexed_says_why() {
    let folder = folder(&[
        ("large.md", "12345"),
        ("exact.md", "1234"),
        ("binary.md", "a\0b"),
        ("empty.md", ""),
    ]);
    fs::write(folder.path().join("latin.md"), b"caf\xe9").unwrap();
    let options = FolderOptions {
        max_bytes: 4,
        ..FolderOptions::default()
    };
    let source = MarkdownFolder::new("notes", folder.path(), options).unwrap();
    assert_eq!(keys(&source).len(), 5);
    assert_eq!(reason(&source, "large.md"), "larger than 4 bytes");
    assert_eq!(reason(&source, "binary.md"), "binary");
    assert_eq!(read_document(&source, "latin.md").body, "café");
    assert_eq!(read_document(&source, "exact.md").body, "1234");
    assert_eq!(read_document(&source, "empty.md").title, "empty");
    for (bytes, text) in [
        (DEFAULT_MAX_BYTES, "10 MiB"),
        (512 * 1024, "512 KiB"),
        (1000, "1000 bytes"),
        (3 << 30, "3 GiB"),
        (1, "1 byte"),
        (0, "0 bytes"),
    ] {
        assert_eq!(exact_size(bytes), text);
    }
}

#[test]
fn a_document_is_its_file_byte_for_byte() {
    let text = "\u{feff}---\r\ntitle: T\r\n---\r\n# H\r\n#tag\r\n";
    let folder = folder(&[("sub/a.md", text)]);
    let document = read_document(&open(folder.path(), &[]), "sub/a.md");
    assert_eq!(
        (document.source.as_str(), document.key.as_str()),
        ("notes", "sub/a.md")
    );
    assert_eq!(format!("{}{}", document.front, document.body), text);
    assert_eq!(
        (document.title.as_str(), document.tags.as_slice()),
        ("T", &["tag".to_owned()][..])
    );
    assert_eq!(document.hash, *blake3::hash(text.as_bytes()).as_bytes());
    assert_eq!(document.front_lines(), 3);
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;

    #[test]
    fn links_are_neither_listed_nor_followed() {
        let folder = folder(&[
            ("outside.md", "secret"),
            ("away/b.md", "secret"),
            ("root/a.md", "text"),
        ]);
        let root = folder.path().join("root");
        symlink(folder.path().join("outside.md"), root.join("file.md")).unwrap();
        symlink(folder.path().join("away"), root.join("folder")).unwrap();
        symlink("a.md", root.join("inside.md")).unwrap();
        symlink("nowhere.md", root.join("dangling.md")).unwrap();
        symlink(&root, root.join("loop")).unwrap();
        for globs in [&[][..], &["**"]] {
            assert_eq!(keys(&open(&root, globs)), ["a.md"], "{globs:?}");
        }
        let source = open(&root, &[]);
        assert_eq!(reason(&source, "file.md"), "leaves the folder");
        assert_eq!(reason(&source, "folder/b.md"), "leaves the folder");
        assert_eq!(reason(&source, "inside.md"), "is a link");
        assert_eq!(read(&source, "dangling.md"), Reading::Gone);
        for key in ["file.md", "inside.md", "dangling.md", "folder", "loop"] {
            assert_eq!(source.presence(key), Presence::Gone, "{key}");
        }
    }

    #[test]
    fn a_root_that_is_a_link_is_resolved_once() {
        let folder = folder(&[("real/a.md", "text")]);
        let link = folder.path().join("link");
        symlink(folder.path().join("real"), &link).unwrap();
        let source = open(&link, &[]);
        assert_eq!(
            source.root(),
            folder.path().join("real").canonicalize().unwrap()
        );
        assert_eq!(keys(&source), ["a.md"]);
        assert_eq!(read_document(&source, "a.md").body, "text");
    }

    #[test]
    fn a_folder_without_permission_does_not_hide_the_others() {
        let folder = folder(&[("a.md", "text"), ("closed/b.md", ""), ("locked.md", "")]);
        let closed = folder.path().join("closed");
        let locked = folder.path().join("locked.md");
        let mode = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        };
        mode(&closed, 0o000);
        mode(&locked, 0o000);
        // The superuser can read everything, so there is nothing to test.
        let superuser = fs::read_dir(&closed).is_ok();
        let source = open(folder.path(), &[]);
        let listed = keys(&source);
        let left_out = source.list().unwrap().left_out;
        let reading = read(&source, "locked.md");
        mode(&closed, 0o700);
        if !superuser {
            assert_eq!(listed, ["a.md", "locked.md"]);
            let reason = "could not be read: Permission denied".to_owned();
            assert_eq!(reading, Reading::Unavailable(reason.clone()));
            let key = "closed/".to_owned();
            assert_eq!(left_out, [LeftOut { key, reason }]);
        }
    }

    #[test]
    fn a_root_without_permission_is_an_error() {
        let folder = folder(&[("root/a.md", "text")]);
        let root = folder.path().join("root");
        let source = open(&root, &[]);
        fs::set_permissions(&root, fs::Permissions::from_mode(0o000)).unwrap();
        let superuser = fs::read_dir(&root).is_ok();
        let listed = source.list();
        fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
        if !superuser {
            assert!(matches!(listed, Err(Error::Io { .. })), "{listed:?}");
        }
    }

    #[test]
    fn names_that_are_no_text_have_keys() {
        let folder = folder(&[("a.md", "text")]);
        let name = folder.path().join(OsStr::from_bytes(b"\xff.md"));
        // Some file systems refuse such names, so there is nothing to test.
        if fs::write(name, "text").is_ok() {
            let source = open(folder.path(), &[]);
            assert_eq!(keys(&source), ["a.md", "\u{fffd}FF.md"]);
            assert_eq!(read_document(&source, "\u{fffd}FF.md").title, "ÿ");
            assert!(source.list().unwrap().left_out.is_empty());
        }
    }

    #[test]
    fn a_pipe_is_not_waited_for() {
        let folder = folder(&[("a.md", "text")]);
        let pipe = folder.path().join("pipe.md");
        if !Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .is_ok_and(|status| status.success())
        {
            return;
        }
        let source = open(folder.path(), &[]);
        assert_eq!(keys(&source), ["a.md"]);
        assert_eq!(reason(&source, "pipe.md"), "is not a file");
        assert_eq!(source.presence("pipe.md"), Presence::Gone);
    }
}
