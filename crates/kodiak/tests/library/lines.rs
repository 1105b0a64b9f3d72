//! A source of another kind, to try the contract with: a folder of files with a
//! document on each line, `key: text`.
//!
//! A file that begins with `!locked` cannot be read for now, one that begins
//! with `!nothing` holds nothing to index.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kodiak::source::{Entry, Listing, Presence, Reading, Source};
use kodiak::{Document, Error, Markup, Result, Thread, Version};

pub(crate) struct Lines {
    root: PathBuf,
}

impl Lines {
    pub(crate) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// Reads a file; `None` if it is not there though the folder is.
    fn text(&self, key: &str) -> Result<Option<String>> {
        match fs::read_to_string(self.root.join(key)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound && self.root.is_dir() => Ok(None),
            Err(error) => Err(Error::io("read", self.root.join(key))(error)),
        }
    }

    fn document(&self, file: &str, number: usize, line: &str) -> Option<Document> {
        let (key, text) = line.split_once(": ")?;
        Some(Document {
            source: self.name().to_owned(),
            key: key.to_owned(),
            kind: "line".to_owned(),
            title: key.to_owned(),
            body: text.to_owned(),
            markup: Markup::Plain,
            thread: Some(Thread {
                name: file.to_owned(),
                position: Some(number as i64),
            }),
            hash: *blake3::hash(line.as_bytes()).as_bytes(),
            ..Document::default()
        })
    }
}

impl Source for Lines {
    fn name(&self) -> &'static str {
        "lines"
    }

    fn kind(&self) -> &'static str {
        "lines"
    }

    fn location(&self) -> String {
        self.root.display().to_string()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        vec![self.root.clone()]
    }

    fn list(&self) -> Result<Listing> {
        let failed = |error| Error::io("read", &self.root)(error);
        let mut listing = Listing::default();
        for file in fs::read_dir(&self.root).map_err(failed)? {
            let key = file.map_err(failed)?.file_name().into_string().unwrap();
            if let Some(text) = self.text(&key)? {
                listing.entries.push(Entry {
                    key,
                    version: Version::of(text.as_bytes()),
                    size_hint: text.len() as u64,
                });
            }
        }
        Ok(listing)
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        let Some(text) = self.text(&entry.key)? else {
            return Ok(Reading::Gone);
        };
        let version = Version::of(text.as_bytes());
        for (number, line) in text.lines().enumerate() {
            // Whatever was emitted before does not count then.
            match line {
                "!locked" => return Ok(Reading::Unavailable("locked".to_owned())),
                "!nothing" => {
                    return Ok(Reading::Skipped {
                        reason: "nothing in it".to_owned(),
                        version,
                    });
                }
                _ => self
                    .document(&entry.key, number, line)
                    .into_iter()
                    .for_each(&mut *emit),
            }
        }
        Ok(Reading::Read { version })
    }

    fn presence(&self, entry_key: &str) -> Presence {
        match self.text(entry_key) {
            Ok(Some(text)) => Presence::There(Version::of(text.as_bytes())),
            Ok(None) => Presence::Gone,
            Err(_) => Presence::Unknown,
        }
    }
}
