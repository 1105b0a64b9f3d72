//! Writing what a team keeps in its database as files: memories, articles and pages, each
//! source in a folder of its name.
//!
//! A file that this did not write, or that was changed since, is never touched. A record in
//! each folder says what was written, so that another run writes only what has changed, and
//! removes what is gone from the database.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use kodiak_base::error::{Error, Result};
use kodiak_base::files::{self, Folder, Rights, Temporary};

use crate::paths::{divided, is_plain};

/// The name of the record in each folder.
const RECORD: &str = ".kodiak-export.json";
/// The longest record that is read.
const LONGEST_RECORD: u64 = 256 << 20;
/// The longest file that is compared.
const LONGEST: u64 = 256 << 20;

/// What an export did with the files of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// The number of files that were written for the first time.
    pub written: usize,
    /// The number of files whose text has changed since the last export.
    pub updated: usize,
    /// The number of files that were the same.
    pub unchanged: usize,
    /// The number of files that were removed, because the database has them no longer.
    pub removed: usize,
    /// The paths of other files that were left as they are.
    pub left: Vec<String>,
}

/// Which texts were written to each path: the last, and one that may have been.
type Record = BTreeMap<String, Vec<String>>;

/// Writes the files of a source, given by their paths, to the folder `name` inside of
/// `folder`.
pub fn export(
    folder: &Path,
    name: &str,
    paths: &[String],
    text: &dyn Fn(&str) -> Result<String>,
) -> Result<Exported> {
    let root = folder.join(name);
    files::create_folder(&root).map_err(Error::io("create the folder", &root))?;
    let record_path = root.join(RECORD);
    let mut record = read(&record_path)?;
    let mut done = Exported::default();
    let mut now = Record::new();
    for path in paths {
        if !is_plain(path) {
            done.left.push(path.clone());
            continue;
        }
        let text = text(path)?;
        let hash = hash_of(text.as_bytes());
        let known = record.get(path).cloned().unwrap_or_default();
        let target = root.join(path);
        let found = present(&target)?;
        match &found {
            Some(found) if *found == hash => done.unchanged += 1,
            Some(found) if !known.contains(found) => {
                done.left.push(path.clone());
                // What was written before stays known, in case the change is undone.
                if !known.is_empty() {
                    now.insert(path.clone(), known);
                }
                continue;
            }
            _ => {
                // Before the file, so that it is known whenever this is stopped.
                let mut maybe = known;
                maybe.push(hash.clone());
                record.insert(path.clone(), maybe);
                write_record(&record_path, &record)?;
                if !write(&root, path, &text, found.is_some())? {
                    // Another program was faster.
                    done.left.push(path.clone());
                    continue;
                }
                if found.is_some() {
                    done.updated += 1;
                } else {
                    done.written += 1;
                }
            }
        }
        now.insert(path.clone(), vec![hash]);
    }
    let wanted: BTreeSet<&String> = paths.iter().collect();
    for (path, known) in record.iter().filter(|(path, _)| !wanted.contains(path)) {
        match present(&root.join(path))? {
            Some(found) if known.contains(&found) => {
                remove(&root, path)?;
                done.removed += 1;
            }
            Some(_) => done.left.push(path.clone()),
            None => {}
        }
    }
    write_record(&record_path, &now)?;
    Ok(done)
}

fn read(path: &Path) -> Result<Record> {
    match files::read(path, LONGEST_RECORD) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| Error::io("read", path)(std::io::Error::other(error))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Record::new()),
        Err(error) => Err(Error::io("read", path)(error)),
    }
}

fn write_record(path: &Path, record: &Record) -> Result<()> {
    let bytes = serde_json::to_vec_pretty(record)
        .map_err(|error| Error::io("write", path)(std::io::Error::other(error)))?;
    files::replace(path, &bytes).map_err(Error::io("write", path))
}

/// Returns the hash of what has a name; `None` if it is free. What is not a file that can
/// be compared has a hash that no text has.
fn present(path: &Path) -> Result<Option<String>> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(Some(String::new())),
        Err(error) => Err(Error::io("read", path)(error)),
        Ok(found) if !found.is_file() => Ok(Some(String::new())),
        Ok(_) => {
            let bytes = files::read(path, LONGEST).map_err(Error::io("read", path))?;
            Ok(Some(hash_of(&bytes)))
        }
    }
}

/// Writes a file in one step. Returns whether its name was free, unless it replaces one.
fn write(root: &Path, path: &str, text: &str, replaces: bool) -> Result<bool> {
    let target = root.join(path);
    let failed = Error::io("write", &target);
    let (above, name) = divided(path);
    let write = || {
        let folder = Folder::create(root, above)?;
        let complete = Temporary::write(&folder, text.as_bytes(), Rights::AsFolder)?;
        if replaces {
            complete.replace(name).map(|_| true)
        } else {
            complete.place(name)
        }
    };
    write().map_err(failed)
}

fn remove(root: &Path, path: &str) -> Result<()> {
    let target = root.join(path);
    let (above, name) = divided(path);
    let folder = Folder::open(root, above).map_err(Error::io("remove", &target))?;
    folder.erase_file(name)
}

fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn run(folder: &Path, rows: &[(&str, &str)]) -> Exported {
        let paths: Vec<String> = rows.iter().map(|(path, _)| (*path).to_owned()).collect();
        let text = |path: &str| {
            let row = rows.iter().find(|(known, _)| *known == path);
            Ok(row.map(|(_, text)| (*text).to_owned()).unwrap_or_default())
        };
        export(folder, "pages", &paths, &text).unwrap()
    }

    #[test]
    fn only_what_has_changed_is_written() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let read = |path: &str| fs::read_to_string(folder.join("pages").join(path)).unwrap();
        let first = run(folder, &[("a.md", "one"), ("b/c.md", "two")]);
        assert_eq!((first.written, first.left.len()), (2, 0));
        assert_eq!((read("a.md"), read("b/c.md")), ("one".into(), "two".into()));
        let second = run(folder, &[("a.md", "other"), ("b/c.md", "two")]);
        assert_eq!(
            (second.updated, second.unchanged, second.written),
            (1, 1, 0)
        );
        assert_eq!(read("a.md"), "other");
        let third = run(folder, &[("a.md", "other")]);
        assert_eq!((third.unchanged, third.removed), (1, 1));
        assert!(!folder.join("pages/b/c.md").exists());
    }

    #[test]
    fn other_files_stay_as_they_are() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path();
        let pages = folder.join("pages");
        fs::create_dir(&pages).unwrap();
        fs::write(pages.join("mine.md"), "mine").unwrap();
        let rows = [("mine.md", "theirs"), ("b.md", "two"), ("c.md", "three")];
        let first = run(folder, &rows);
        assert_eq!(
            (first.written, first.left.as_slice()),
            (2, &["mine.md".to_owned()][..])
        );
        // Changed since it was written, and gone from the database.
        fs::write(pages.join("b.md"), "two, changed").unwrap();
        fs::write(pages.join("c.md"), "three, changed").unwrap();
        let second = run(folder, &[("mine.md", "theirs"), ("b.md", "two, new")]);
        assert_eq!(second.left, ["mine.md", "b.md", "c.md"]);
        assert_eq!((second.updated, second.removed), (0, 0));
        for (name, text) in [
            ("mine.md", "mine"),
            ("b.md", "two, changed"),
            ("c.md", "three, changed"),
        ] {
            assert_eq!(fs::read_to_string(pages.join(name)).unwrap(), text);
        }
        // The change is undone.
        fs::write(pages.join("b.md"), "two").unwrap();
        assert_eq!(run(folder, &[("b.md", "two, new")]).updated, 1);
    }

    #[test]
    fn nothing_is_written_outside_of_the_folder() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("out");
        let outside = ["../up.md", "/tmp/x.md", ".hidden/a.md", ""];
        let rows = outside.map(|path| (path, "text"));
        assert_eq!(run(&folder, &rows).left, outside);
        assert!(!place.path().join("up.md").exists());
        #[cfg(unix)]
        {
            let elsewhere = place.path().join("elsewhere");
            fs::create_dir(&elsewhere).unwrap();
            std::os::unix::fs::symlink(&elsewhere, folder.join("pages/link")).unwrap();
            let text = |_: &str| Ok("text".to_owned());
            let paths = ["link/a.md".to_owned()];
            assert!(export(&folder, "pages", &paths, &text).is_err());
            assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
        }
    }
}
