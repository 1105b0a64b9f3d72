//! Which documents were opened, and when: a small file beside the index.
//!
//! It has ids of documents and times, but neither the text of a document nor a query. Only
//! its owner can read it. It is bounded, and losing it loses nothing else, so a damaged one
//! counts as empty. Whether anything is recorded, and which answers it may reorder, is up
//! to the caller. It lets hits pass others that are about as relevant, and a purge covers it.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::document::{DocumentId, Timestamp};
use crate::error::{Error, Result};
use crate::files::{self, turn::Turn};
use crate::rank::frecency;
use crate::search::Hit;

/// The suffix of the file, after the name of the index.
const SUFFIX: &str = ".opened";
/// The most documents that are kept, and the most openings of each.
const MAX_DOCUMENTS: usize = 1_000;
const MAX_TIMES: usize = 10;
/// The most bytes that are read: far more than a full one has.
const MAX_BYTES: u64 = 1 << 20;
/// The format of the file.
const FORMAT: u32 = 1;

/// The file that says which documents were opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    path: PathBuf,
}

/// The documents that were opened, the one that was opened last first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
pub struct Opened {
    format: u32,
    documents: Vec<OpenedDocument>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(default)]
struct OpenedDocument {
    id: String,
    /// When it was opened, the last time first.
    at: Vec<Timestamp>,
}

impl History {
    /// Returns the history beside an index. It is the same whichever path leads to the
    /// index.
    pub fn beside(index: &Path) -> Self {
        let index = index.canonicalize().unwrap_or_else(|_| index.to_owned());
        let mut name = index.file_name().unwrap_or_default().to_owned();
        name.push(SUFFIX);
        Self {
            path: index.with_file_name(name),
        }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the opened documents; none if the file is missing or damaged.
    pub fn read(&self) -> Opened {
        self.parsed().ok().flatten().unwrap_or_default()
    }

    /// Records that a document was opened, in one step.
    pub fn record(&self, source: &str, key: &str, at: Timestamp) -> Result<()> {
        let _turn = Turn::at(files::folder_of(&self.path));
        let mut opened = self.read();
        opened.add(DocumentId::new(source, key).hex(), at);
        self.write(&opened)
    }

    /// Removes the documents for which `known` returns false, so that no byte of the
    /// file names them. A damaged file is removed.
    pub fn retain(&self, known: impl Fn(&str) -> Result<bool>) -> Result<()> {
        if !self.path.exists() {
            return Ok(());
        }
        let _turn = Turn::at(files::folder_of(&self.path));
        let mut opened = match self.parsed() {
            Ok(Some(opened)) => opened,
            Ok(None) => return Ok(()),
            Err(_) => return self.remove(),
        };
        let before = opened.documents.len();
        let mut kept = Vec::with_capacity(before);
        for document in opened.documents {
            if known(&document.id)? {
                kept.push(document);
            }
        }
        opened.documents = kept;
        match opened.documents.len() {
            0 => self.remove(),
            after if after < before => self.write(&opened),
            _ => Ok(()),
        }
    }

    /// Reads the file, if there is one.
    fn parsed(&self) -> Result<Option<Opened>> {
        let failed = Error::io("read", &self.path);
        let bytes = match files::read(&self.path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let opened: Opened = match serde_json::from_slice(&bytes) {
            Ok(opened) => opened,
            Err(error) => return Err(failed(error.into())),
        };
        if opened.format > FORMAT {
            let detail = "it was written by a later version of Kodiak";
            return Err(failed(std::io::Error::new(ErrorKind::InvalidData, detail)));
        }
        Ok(Some(opened))
    }

    fn write(&self, opened: &Opened) -> Result<()> {
        let failed = Error::io("write", &self.path);
        match serde_json::to_vec(opened) {
            Ok(bytes) => files::replace(&self.path, &bytes).map_err(failed),
            Err(error) => Err(failed(error.into())),
        }
    }

    fn remove(&self) -> Result<()> {
        match std::fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::io("remove", &self.path)(error))
            }
            _ => {
                files::sync_folder(files::folder_of(&self.path));
                Ok(())
            }
        }
    }
}

impl Opened {
    /// Returns the ids of the documents, the one that was opened last first.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.documents.iter().map(|document| document.id.as_str())
    }

    /// Returns the ids of the documents with the moment at which each was opened last,
    /// the one that was opened last first.
    pub fn moments(&self) -> impl Iterator<Item = (&str, Timestamp)> {
        let documents = self.documents.iter();
        documents.filter_map(|one| Some((one.id.as_str(), *one.at.first()?)))
    }

    /// Returns the ids of the documents that are opened often, with the moment at which each
    /// was opened last. The one that is opened most often and lately comes first.
    pub fn often(&self, now: Timestamp) -> impl Iterator<Item = (&str, Timestamp)> {
        let weighed = self.documents.iter().filter_map(|document| {
            let weight = document.weight(now);
            let last = *document.at.first()?;
            frecency::is_often(weight).then_some((weight, document.id.as_str(), last))
        });
        let mut often: Vec<_> = weighed.collect();
        often.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
        often.into_iter().map(|(_, id, last)| (id, last))
    }

    /// Reports whether nothing was opened.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Lets hits that were opened pass others that are about as relevant. Hits that are
    /// probably relevant stay before the others, and hits of this project before hits of
    /// another.
    pub fn reorder(&self, hits: &mut Vec<Hit>, now: Timestamp) {
        if self.is_empty() || hits.len() < 2 {
            return;
        }
        let weights: HashMap<&str, f64> = self
            .documents
            .iter()
            .map(|document| (document.id.as_str(), document.weight(now)))
            .collect();
        let places: Vec<frecency::Place> = hits
            .iter()
            .map(|hit| {
                let id = DocumentId::new(&hit.source, &hit.path).hex();
                frecency::Place {
                    relevance: hit.relevance,
                    frecency: weights.get(id.as_str()).copied().unwrap_or_default(),
                    part: u8::from(hit.probable) * 2 + u8::from(hit.elsewhere),
                }
            })
            .collect();
        let order = frecency::order(&places);
        let mut taken: Vec<Option<Hit>> = hits.drain(..).map(Some).collect();
        hits.extend(order.into_iter().filter_map(|number| taken[number].take()));
    }

    fn add(&mut self, id: String, at: Timestamp) {
        self.format = FORMAT;
        let mut document = match self.documents.iter().position(|known| known.id == id) {
            Some(number) => self.documents.remove(number),
            None => OpenedDocument { id, at: Vec::new() },
        };
        document.at.insert(0, at);
        document.at.truncate(MAX_TIMES);
        self.documents.insert(0, document);
        self.documents.truncate(MAX_DOCUMENTS);
    }
}

impl OpenedDocument {
    /// Returns what its openings count for.
    fn weight(&self, now: Timestamp) -> f64 {
        frecency::weight(self.at.iter().map(|at| now.saturating_sub(*at)))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn history() -> (tempfile::TempDir, History) {
        let folder = tempfile::tempdir().unwrap();
        let history = History::beside(&folder.path().join("index.db"));
        (folder, history)
    }

    fn id(key: &str) -> String {
        DocumentId::new("notes", key).hex()
    }

    #[test]
    fn what_was_opened_last_comes_first_and_names_no_note() {
        let (folder, history) = history();
        assert!(history.read().is_empty());
        for (key, at) in [("a.md", 1), ("b.md", 2), ("a.md", 3)] {
            history.record("notes", key, at).unwrap();
        }
        let opened = history.read();
        assert!(opened.ids().eq([id("a.md"), id("b.md")]));
        assert_eq!(opened.documents[0].at, [3, 1]);
        let text = fs::read_to_string(history.path()).unwrap();
        assert!(!text.contains("a.md") && !text.contains("notes"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(history.path()).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_opened_often_and_lately_comes_first() {
        const DAY: Timestamp = 24 * 60 * 60;
        let mut opened = Opened::default();
        for (id, days) in [
            ("years ago", vec![0, 1, 2, 3, 4, 5]),
            ("twice", vec![798, 799]),
            ("daily", vec![795, 796, 797, 798]),
            ("once", vec![800]),
        ] {
            for day in days {
                opened.add(id.to_owned(), day * DAY);
            }
        }
        let often: Vec<_> = opened.often(800 * DAY).collect();
        assert_eq!(often, [("daily", 798 * DAY), ("twice", 799 * DAY)]);
        assert_eq!(Opened::default().often(0).count(), 0);
    }

    #[test]
    fn it_is_bounded() {
        let mut opened = Opened::default();
        for number in 0..MAX_DOCUMENTS + 5 {
            opened.add(number.to_string(), number as Timestamp);
        }
        for at in 0..MAX_TIMES + 5 {
            opened.add("7".to_owned(), at as Timestamp);
        }
        assert_eq!(opened.documents.len(), MAX_DOCUMENTS);
        assert_eq!(opened.documents[0].at.len(), MAX_TIMES);
        let bytes = serde_json::to_vec(&opened).unwrap();
        assert!((bytes.len() * 4) < MAX_BYTES as usize);
    }

    #[test]
    fn what_is_not_known_is_removed_by_bytes() {
        let (_folder, history) = history();
        history.retain(|_| Ok(true)).unwrap();
        assert!(!history.path().exists());
        history.record("notes", "a.md", 1).unwrap();
        history.record("notes", "b.md", 2).unwrap();
        history.retain(|known| Ok(known == id("a.md"))).unwrap();
        let text = fs::read_to_string(history.path()).unwrap();
        assert!(text.contains(&id("a.md")) && !text.contains(&id("b.md")));
        history.retain(|_| Ok(false)).unwrap();
        assert!(!history.path().exists());
    }

    #[test]
    fn a_damaged_file_says_nothing_and_is_replaced() {
        let (_folder, history) = history();
        for damaged in ["", "{\"documents\": 7}", "{\"format\": 2}"] {
            fs::write(history.path(), damaged).unwrap();
            assert!(history.read().is_empty(), "{damaged}");
            history.retain(|_| Ok(true)).unwrap();
            assert!(!history.path().exists(), "{damaged}");
        }
        fs::write(history.path(), "{").unwrap();
        history.record("notes", "a.md", 1).unwrap();
        assert!(history.read().ids().eq([id("a.md")]));
    }
}
