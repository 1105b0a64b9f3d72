//! What is kept beside an index under names: memories and pages, tombstones, tokens.

use std::collections::BTreeMap;

use kodiak::Cancel;
use kodiak_base::error::{Error, Result};

use super::PAGE;
use super::sums::Item;

/// A record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Its content.
    pub content: Vec<u8>,
    /// When it was last changed, where that matters.
    pub modified: Option<i64>,
}

impl Record {
    /// Returns the hash of its content. When it was changed does not matter: that of a file
    /// changes with a copy.
    pub fn hash(&self) -> [u8; 32] {
        Item::new(&self.content).hash()
    }
}

/// What came of putting a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// It is there.
    Stored,
    /// There is another one with its name, which stays.
    Taken,
}

/// Receives records, each with its name.
pub type VisitRecord<'a> = dyn FnMut(&str, Record) -> Result<()> + 'a;

/// Records by name.
pub trait Records {
    /// Calls `visit` with each record, until it fails.
    fn each(&self, visit: &mut VisitRecord<'_>) -> Result<()>;

    /// Returns the hashes of all records by name.
    fn list(&self) -> Result<BTreeMap<String, [u8; 32]>> {
        let mut hashes = BTreeMap::new();
        self.each(&mut |name, record| {
            hashes.insert(name.to_owned(), record.hash());
            Ok(())
        })?;
        Ok(hashes)
    }

    /// Stores a record under a name that none has. Never replaces one. The record is there
    /// as a whole or not at all, however the process ends.
    fn put(&self, name: &str, record: &Record) -> Result<Put>;

    /// Stores records like [`Records::put`]. Returns how many were stored.
    fn put_page(&self, page: &[(String, Record)]) -> Result<usize> {
        let mut stored = 0;
        for (name, record) in page {
            stored += usize::from(self.put(name, record)? == Put::Stored);
        }
        Ok(stored)
    }
}

/// Adds the records that the destination lacks. Returns their number.
pub(super) fn copy(from: &dyn Records, to: &dyn Records, cancel: &Cancel) -> Result<usize> {
    let there = to.list()?;
    let mut added = 0;
    let mut page = Vec::new();
    from.each(&mut |name, record| {
        if cancel.is_cancelled() {
            return Err(Error::Cancelled);
        }
        if !there.contains_key(name) {
            page.push((name.to_owned(), record));
        }
        if page.len() == PAGE {
            added += to.put_page(&page)?;
            page.clear();
        }
        Ok(())
    })?;
    if !page.is_empty() {
        added += to.put_page(&page)?;
    }
    Ok(added)
}
