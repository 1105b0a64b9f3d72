//! Bear's notes: the database of the macOS application as a source.
//!
//! ```
//! use std::path::Path;
//!
//! use kodiak::Error;
//! use kodiak_bear::{BearDatabase, BearOptions, identifier_in};
//!
//! // A source for an engine, if Bear is installed.
//! let missing = BearDatabase::new("bear", Path::new("/no/such/file"), BearOptions::default());
//! assert!(matches!(missing, Err(Error::Foreign { program: "Bear", .. })));
//! let link = "bear://x-callback-url/open-note?id=7E2F";
//! assert_eq!(identifier_in(link).as_deref(), Some("7E2F"));
//! ```
//!
//! Each note is an entry, named by its number in the database, and a document,
//! whose key is the identifier that Bear shows. Trashed, encrypted and deleted
//! notes do not exist here; archived ones have the field `archived`.
//!
//! The database is only read, and nothing is left beside it: `kodiak_store::foreign`
//! knows how, and tells cheaply that nothing has changed. `schema` finds the tables,
//! `snapshot` reads the rows of one moment, `note` makes documents of them, and
//! `link` has the addresses that Bear opens.

mod link;
mod note;
mod problem;
mod schema;
mod snapshot;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kodiak_base::Result;
use kodiak_text::document::{Document, Version};

use kodiak::source::{
    Container, DEFAULT_MAX_BYTES, Entry, Known, Listing, Look, Presence, Reading, Source,
};
use kodiak_store::foreign::Stamp;
pub use link::{identifier_in, link_to, link_to_create};
use problem::of_system;
use snapshot::{Snapshot, Versions};

/// The name of Bear's database in its folder.
pub const FILE_NAME: &str = "database.sqlite";
/// Where Bear keeps its database, from the home folder.
pub const FOLDER: &str = "Library/Group Containers/9K33E3U3T4.net.shinyfrog.bear/Application Data";

/// The key of the only container: the database itself.
const DATABASE: &str = "database";
/// How long to wait for a program that has locked the database.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait for it while a caller waits for an answer.
const NO_PATIENCE: Duration = Duration::from_millis(20);

/// Which notes to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BearOptions {
    /// The size in bytes above which a note is skipped.
    pub max_bytes: u64,
}

impl Default for BearOptions {
    fn default() -> Self {
        Self {
            max_bytes: DEFAULT_MAX_BYTES,
        }
    }
}

/// Bear's database as a source.
#[derive(Debug)]
pub struct BearDatabase {
    name: String,
    path: PathBuf,
    options: BearOptions,
    seen: Mutex<Option<Seen>>,
}

/// What the last look for changes found.
#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    /// The versions of all notes, or `None` if all are as indexed.
    versions: Option<Versions>,
}

impl BearDatabase {
    /// Opens the database at `path` as a source with this name. Fails if there
    /// is no such file. Whether it is Bear's shows when it is listed.
    pub fn new(name: impl Into<String>, path: &Path, options: BearOptions) -> Result<Self> {
        let path = path
            .canonicalize()
            .map_err(|error| of_system(path, &error))?;
        Ok(Self {
            name: name.into(),
            path,
            options,
            seen: Mutex::default(),
        })
    }

    /// Returns the database file, with all links in its path resolved.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn stamp(&self) -> Result<Stamp> {
        Stamp::of(&self.path).map_err(|error| of_system(&self.path, &error))
    }

    fn remember(&self, stamp: Stamp, versions: Option<Versions>) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some(Seen { stamp, versions });
    }

    /// Returns what the last look for changes tells about an entry, if nothing
    /// has been written since.
    fn remembered(&self, entry_key: &str) -> Option<Presence> {
        let now = self.stamp().ok()?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = seen.as_ref().filter(|seen| seen.stamp == now)?;
        Some(match &seen.versions {
            None => Presence::There(Version::UNKNOWN),
            Some(versions) => match versions.position(entry_key) {
                Some(at) => Presence::There(versions.0[at].version),
                None => Presence::Gone,
            },
        })
    }

    /// Compares all notes with what is indexed.
    fn compare(known: &dyn Known, versions: &Versions, look: &mut Look) -> Result<()> {
        let notes = &versions.0;
        let mut indexed = vec![false; notes.len()];
        known.each_entry(&mut |entry| {
            match versions.position(entry.key) {
                None => look.gone.push(entry.key.to_owned()),
                Some(at) => {
                    indexed[at] = true;
                    if !entry.version.is_same_as(notes[at].version) {
                        look.entries.push(notes[at].entry());
                    }
                }
            }
            ControlFlow::Continue(())
        })?;
        let new = notes.iter().zip(indexed).filter(|(_, indexed)| !indexed);
        let mut new: Vec<Entry> = new.map(|(note, _)| note.entry()).collect();
        // What is new comes first: nothing of it can be found yet.
        new.append(&mut look.entries);
        look.entries = new;
        Ok(())
    }
}

impl Source for BearDatabase {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> &'static str {
        "bear"
    }

    fn location(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Returns the folder: Bear writes to the log beside the database.
    fn watch_paths(&self) -> Vec<PathBuf> {
        self.path.parent().map(Path::to_owned).into_iter().collect()
    }

    fn list(&self) -> Result<Listing> {
        Snapshot::new(self, PATIENCE)?.list()
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        Snapshot::new(self, PATIENCE)?.read(entry, emit)
    }

    fn presence(&self, entry_key: &str) -> Presence {
        if let Some(presence) = self.remembered(entry_key) {
            return presence;
        }
        match Snapshot::new(self, NO_PATIENCE) {
            Ok(snapshot) => snapshot.presence(entry_key),
            Err(_) => Presence::Unknown,
        }
    }

    fn key_in(&self, address: &str) -> Option<String> {
        identifier_in(address)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        let containers = known.containers()?;
        let Some(indexed) = containers.get(DATABASE) else {
            return Ok(Look::default());
        };
        let stamp = self.stamp()?;
        let mut look = Look {
            finished: true,
            ..Look::default()
        };
        if indexed.is_same_as(stamp.version()) {
            self.remember(stamp, None);
            return Ok(look);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let snapshot = Snapshot::new(self, left.min(NO_PATIENCE))?;
        let Some(versions) = snapshot.versions(Some(deadline))? else {
            look.finished = false;
            return Ok(look);
        };
        let stamp = snapshot.stamp();
        drop(snapshot);
        Self::compare(known, &versions, &mut look)?;
        let version = stamp.version();
        if version != *indexed {
            look.containers.push(Container {
                key: DATABASE.to_owned(),
                version,
            });
        }
        self.remember(stamp, Some(versions));
        Ok(look)
    }

    fn snapshot(&self) -> Result<Option<Box<dyn Source + '_>>> {
        Ok(Some(Box::new(Snapshot::new(self, PATIENCE)?)))
    }
}
