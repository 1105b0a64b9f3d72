//! Tombstones as records, and files without those that have one.

use kodiak::tombstones::{Tombstones, of_file};
use kodiak_base::error::Result;
use kodiak_notes::markdown::divide_number;

use super::files::Shelf;
use super::records::{Put, Record, Records, VisitRecord};
use crate::files::id_in;

/// The tombstones of one side. A record is a hash, which is its name as well.
#[derive(Debug)]
pub struct TombstoneRecords<'a> {
    tombstones: &'a Tombstones,
}

impl<'a> TombstoneRecords<'a> {
    /// Returns tombstones as records.
    pub fn new(tombstones: &'a Tombstones) -> Self {
        Self { tombstones }
    }
}

impl Records for TombstoneRecords<'_> {
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
        for hash in self.tombstones.all()? {
            visit(&hash, Record::default())?;
        }
        Ok(())
    }

    fn put(&self, name: &str, _: &Record) -> Result<Put> {
        self.tombstones.add_hashes(&[name.to_owned()])?;
        Ok(Put::Stored)
    }

    fn put_page(&self, page: &[(String, Record)]) -> Result<usize> {
        let hashes: Vec<String> = page.iter().map(|(name, _)| name.clone()).collect();
        self.tombstones.add_hashes(&hashes)?;
        Ok(hashes.len())
    }
}

/// The files of a source without those that were forgotten on the other side.
pub struct Remaining<'a> {
    inner: &'a dyn Records,
    source: &'a str,
    shelf: Shelf,
    tombstones: &'a Tombstones,
}

impl<'a> Remaining<'a> {
    /// Returns the files that `inner` has on a shelf, without those that the tombstones hold.
    pub fn new(
        inner: &'a dyn Records,
        source: &'a str,
        shelf: Shelf,
        tombstones: &'a Tombstones,
    ) -> Self {
        Self {
            inner,
            source,
            shelf,
            tombstones,
        }
    }

    fn was_forgotten(&self, name: &str, record: &Record) -> Result<bool> {
        let path = match self.shelf {
            Shelf::Listed => name,
            Shelf::Trash => divide_number(name).0,
        };
        if self.tombstones.hold(self.source, path, None)? {
            return Ok(true);
        }
        // A memory goes by the id that its text names.
        let Some(id) = id_in(&String::from_utf8_lossy(&record.content)) else {
            return Ok(false);
        };
        let file = of_file(path, &id);
        Ok(self.tombstones.hold(self.source, &id, None)?
            || self.tombstones.hold(self.source, &file, None)?)
    }
}

impl Records for Remaining<'_> {
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
        self.inner.each(&mut |name, record| {
            if self.was_forgotten(name, &record)? {
                return Ok(());
            }
            visit(name, record)
        })
    }

    fn put(&self, name: &str, record: &Record) -> Result<Put> {
        self.inner.put(name, record)
    }

    fn put_page(&self, page: &[(String, Record)]) -> Result<usize> {
        self.inner.put_page(page)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Kept(Mutex<BTreeMap<String, Record>>);

    impl Records for Kept {
        fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()> {
            let kept = self.0.lock().unwrap();
            kept.iter()
                .try_for_each(|(name, record)| visit(name, record.clone()))
        }

        fn put(&self, name: &str, record: &Record) -> Result<Put> {
            let mut kept = self.0.lock().unwrap();
            kept.insert(name.to_owned(), record.clone());
            Ok(Put::Stored)
        }
    }

    #[test]
    fn files_stay_behind_by_their_path_and_by_their_id() {
        let folder = tempfile::tempdir().unwrap();
        let tombstones = Tombstones::at(folder.path().join("forgotten"));
        let stone = |key: &str| ("memory".to_owned(), key.to_owned());
        let file = of_file("two.md", "twin");
        tombstones
            .add(&[stone("a/b.md"), stone("salt"), stone(&file)], &[])
            .unwrap();
        let all = Kept::default();
        for (name, text) in [
            ("a/b.md", "by its path"),
            ("b.md", "---\nid: salt\n---\nby its id\n"),
            ("one.md", "---\nid: twin\n---\nstays\n"),
            ("two.md", "---\nid: twin\n---\none of two\n"),
            ("c.md", "salt\n"),
        ] {
            let content = text.as_bytes().to_vec();
            let modified = None;
            all.put(name, &Record { content, modified }).unwrap();
        }
        let left = |source: &str, shelf: Shelf| {
            let remaining = Remaining::new(&all, source, shelf, &tombstones);
            remaining.list().unwrap().into_keys().collect::<Vec<_>>()
        };
        assert_eq!(left("memory", Shelf::Listed), ["c.md", "one.md"]);
        assert_eq!(left("memory", Shelf::Trash), ["c.md", "one.md"]);
        assert_eq!(left("pages", Shelf::Listed).len(), 5);
    }

    #[test]
    fn tombstones_are_added_to_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| Tombstones::at(folder.path().join(name)));
        let stone = |key: &str| ("notes".to_owned(), key.to_owned());
        from.add(&[stone("a"), stone("b")], &[stone("thread")])
            .unwrap();
        to.add(&[stone("b"), stone("c")], &[]).unwrap();
        let [here, there] = [&from, &to].map(TombstoneRecords::new);
        let cancel = kodiak::Cancel::new();
        assert_eq!(
            super::super::records::copy(&here, &there, &cancel).unwrap(),
            2
        );
        assert_eq!(
            super::super::records::copy(&here, &there, &cancel).unwrap(),
            0
        );
        assert_eq!(there.list().unwrap().len(), 4);
        for key in ["a", "b", "c"] {
            assert!(to.hold("notes", key, None).unwrap(), "{key}");
        }
        assert!(to.hold("notes", "new", Some("thread")).unwrap());
        assert!(!from.hold("notes", "c", None).unwrap());
    }
}
