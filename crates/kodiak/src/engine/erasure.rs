//! The journal of an erasing, written before anything is erased.
//!
//! It exists from the moment an erasing begins until no byte of the text is left, so that
//! the next process that writes finishes the work of one that was killed. It has hashes,
//! ids and paths, but no text of a document.

use serde::{Deserialize, Serialize};

use super::journal::Journal;
use super::target::{SharedEntry, Target};
use crate::document::{DocumentId, Timestamp, hex};
use crate::error::Result;
use crate::source::FileCopy;

/// The name of the journal.
pub(super) const NAME: &str = ".erasing";
/// The format of the journal.
const FORMAT: u32 = 1;

/// An erasing that has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Erasure {
    pub(super) format: u32,
    /// The number of documents that were indexed when it began.
    pub documents: usize,
    /// The documents.
    pub(super) targets: Vec<Target>,
    /// The entries that have further documents.
    pub(super) entries: Vec<SharedEntry>,
    /// The files of the documents, each with its source.
    pub(super) files: Vec<(String, FileCopy)>,
    /// The entries whose kept copies are moved to the trash instead, each with its
    /// source.
    pub(super) retired: Vec<(String, String)>,
    /// When they were retired.
    pub(super) retired_at: Timestamp,
    /// The hashes of the texts that may have been embedded, as hexadecimal digits.
    pub(super) hashes: Vec<String>,
    /// The tombstones that keep the documents from being indexed again.
    pub(super) tombstones: Vec<String>,
    /// The hashes of the names under which the documents were asked for.
    pub(super) asked: Vec<String>,
    /// Where sources are, for the messages of processes that do not know them.
    pub(super) places: Vec<(String, String)>,
    /// The sources that users have removed since, which are not waited for.
    pub(super) waived: Vec<String>,
    /// Whether only the logs, and sources that cannot be reached, are left.
    pub(super) index_is_erased: bool,
}

impl Erasure {
    /// Reads the journal, if there is one.
    pub(super) fn read(journal: &Journal) -> Result<Option<Self>> {
        let read: Option<Self> = journal.read()?;
        if read.as_ref().is_some_and(|read| read.format > FORMAT) {
            return Err(journal.is_newer());
        }
        Ok(read)
    }

    /// Writes the journal in one step.
    pub(super) fn write(&mut self, journal: &Journal) -> Result<()> {
        self.format = FORMAT;
        journal.write(self)
    }

    /// Records the hashes of texts that may have been embedded.
    pub(super) fn add_hashes(&mut self, hashes: &[[u8; 16]]) {
        self.hashes.extend(hashes.iter().map(|hash| hex(hash)));
        self.hashes.sort_unstable();
        self.hashes.dedup();
    }

    /// Returns the hashes of texts that may have been embedded.
    pub(super) fn hashes(&self) -> Vec<[u8; 16]> {
        let read = |digits: &String| {
            let number = u128::from_str_radix(digits, 16).ok()?;
            Some(number.to_be_bytes())
        };
        self.hashes.iter().filter_map(read).collect()
    }

    /// Records the names under which the documents were asked for.
    pub(super) fn add_asked(&mut self, names: &[String]) {
        self.asked.extend(names.iter().map(|name| hash_of(name)));
    }

    /// Reports whether documents were asked for under this name.
    pub fn was_asked(&self, name: &str) -> bool {
        self.asked.contains(&hash_of(name))
    }

    /// Records where a source is.
    pub(super) fn add_place(&mut self, source: String, place: String) {
        self.places.retain(|(known, _)| *known != source);
        self.places.push((source, place));
    }

    /// Returns where a source is, if that was recorded.
    pub(super) fn place_of(&self, source: &str) -> Option<&str> {
        let mut places = self.places.iter();
        let found = places.find(|(known, _)| known == source);
        found.map(|(_, place)| place.as_str())
    }

    /// Reports whether something is erased for good, and not only moved to a trash.
    pub(super) fn is_for_good(&self) -> bool {
        let stays = |target| self.is_retired(target);
        !self.files.is_empty() || !self.targets.iter().all(stays)
    }

    /// Returns the documents that are erased for good, each given by its source and its key.
    pub(super) fn erased_for_good(&self) -> Vec<(String, String)> {
        let targets = self
            .targets
            .iter()
            .filter(|target| !self.is_retired(target));
        let documents = targets.map(|target| (target.source.clone(), target.key.clone()));
        documents.collect()
    }

    /// Returns the entry and the id of each document of a source that is erased by an id it
    /// has chosen, in whichever file that is.
    pub(super) fn entries_with_ids(&self, source: &str) -> Vec<(&str, &str)> {
        let targets = self.targets.iter().filter(|target| target.source == source);
        let pairs = targets.filter_map(|target| {
            let (entry, id) = (target.entry.as_deref()?, target.id.as_deref()?);
            let stone = DocumentId::new(source, id).hex();
            let by_id = self.tombstones.contains(&stone) && !self.is_retired(target);
            by_id.then_some((entry, id))
        });
        pairs.collect()
    }

    /// Leaves the documents of a source as they are.
    pub(super) fn waive(&mut self, source: &str) {
        if self.index_is_erased {
            self.targets.retain(|target| target.source != source);
            self.entries.retain(|entry| entry.source != source);
        } else {
            self.waived.push(source.to_owned());
        }
        self.files.retain(|(of, _)| of != source);
        self.retired.retain(|(of, _)| of != source);
    }

    /// Returns the union of both. The index is still to be erased if it is in either.
    pub(super) fn and(mut self, other: Self) -> Self {
        // A source that was removed may have been added again.
        let again = other.sources();
        self.documents += other.documents;
        self.targets.extend(other.targets);
        self.entries.extend(other.entries);
        self.files.extend(other.files);
        self.retired.extend(other.retired);
        self.retired_at = self.retired_at.max(other.retired_at);
        self.hashes.extend(other.hashes);
        self.tombstones.extend(other.tombstones);
        self.asked.extend(other.asked);
        self.waived.retain(|source| !again.contains(source));
        self.waived.extend(other.waived);
        for (source, place) in other.places {
            self.add_place(source, place);
        }
        self.index_is_erased &= other.index_is_erased;
        self
    }

    /// Reduces it to the documents of these sources, once the index is erased.
    pub(super) fn leave_to(&mut self, sources: &[String]) {
        let left = |source: &String| sources.contains(source);
        self.targets.retain(|target| left(&target.source));
        self.files.retain(|(source, _)| left(source));
        self.retired.retain(|(source, _)| left(source));
        // What stays beside a document may repeat it, as a title does.
        self.entries.retain(|entry| left(&entry.source));
        self.places.retain(|(source, _)| left(source));
        self.hashes.clear();
        self.index_is_erased = true;
    }

    /// Returns the names of the sources that hold something of it.
    pub(super) fn sources(&self) -> Vec<String> {
        let targets = self.targets.iter().map(|target| target.source.clone());
        let retired = self.retired.iter().map(|(source, _)| source.clone());
        let files = self.files.iter().map(|(source, _)| source.clone());
        let mut sources: Vec<String> = targets.chain(retired).chain(files).collect();
        sources.retain(|source| !self.waived.contains(source));
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Reports whether the kept copy of a document is moved to the trash.
    pub(super) fn is_retired(&self, target: &Target) -> bool {
        let entry = target.entry.as_ref();
        let mut retired = self.retired.iter();
        entry.is_some_and(|entry| {
            retired.any(|(source, retired)| *source == target.source && retired == entry)
        })
    }
}

fn hash_of(name: &str) -> String {
    hex(&blake3::hash(name.trim().as_bytes()).as_bytes()[..16])
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use super::*;
    use crate::store::FileRecord;

    #[test]
    fn a_journal_is_read_as_it_was_written_and_only_by_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let record = FileRecord::beside(&folder.path().join("index.db"), NAME);
        let journal = Journal::of(Arc::new(record));
        let path = journal.path();
        assert_eq!(Erasure::read(&journal).unwrap(), None);
        let mut erasure = Erasure {
            documents: 2,
            files: vec![(
                "notes".to_owned(),
                FileCopy {
                    name: "sub/a.md".to_owned(),
                    hash: [7; 32],
                },
            )],
            ..Erasure::default()
        };
        erasure.add_hashes(&[[255; 16], [0; 16], [1; 16]]);
        erasure.add_asked(&["Ramen".to_owned()]);
        erasure.write(&journal).unwrap();
        let read = Erasure::read(&journal).unwrap().unwrap();
        assert_eq!(read, erasure);
        assert_eq!(read.hashes(), [[0; 16], [1; 16], [255; 16]]);
        assert!(read.was_asked(" Ramen") && !read.was_asked("ramen"));
        assert!(!fs::read_to_string(path).unwrap().contains("Ramen"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        fs::write(path, "{\"format\": 2}").unwrap();
        assert!(Erasure::read(&journal).is_err());
    }
}
