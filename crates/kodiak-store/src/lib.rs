//! Where an index lives: traits over plain types, and SQLite, the vector file, the
//! embedding cache and the write lock behind them.
//!
//! A store keeps documents and everything derived from them, and answers typed
//! queries. It knows nothing of sources or of how results are presented.
//!
//! ```
//! use kodiak_store::{Reader, SqliteStore, SqliteWriter};
//! use kodiak_text::{AnalyzedDocument, Document};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("index.db");
//! let mut writer = SqliteWriter::open(&path, "example")?;
//! writer.begin()?;
//! writer.put(&AnalyzedDocument::new(Document {
//!     source: "notes".into(),
//!     key: "bread.md".into(),
//!     title: "Bread".into(),
//!     ..Document::default()
//! }))?;
//! writer.commit()?;
//! assert_eq!(SqliteStore::open(&path)?.corpus()?.documents, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod cache;
pub mod expression;
pub mod filter;
pub mod lock;
mod moment;
mod pending;
mod reader;
mod scoped;
pub mod sqlite;
mod tokens;
mod vector_index;
pub mod vectors;
mod writer;

pub use cache::EmbeddingCache;
pub use expression::{Column, Expression, Phrase};
pub use filter::{Filter, Scope};
pub use lock::{WriteLock, wait_for_lock};
pub use moment::{Moment, Stretch};
pub use pending::{Pending, PendingSize, Place};
pub use reader::{Reader, Revision, Snapshot};
pub use scoped::{ScopedReader, Tallies};
pub use sqlite::{
    EmbeddingStatus, EntryRow, EntryState, Finding, KnownDocument, SqliteIndex, SqliteStore,
    SqliteWriter,
};
pub use vector_index::{ModelNumber, VectorIndex};
pub use writer::{ChunkText, EraseStep, Store, Unchunked, VectorsByHash, Writer};

use std::borrow::Cow;
use std::ops::Range;

use kodiak_models::embed::Identity;
use kodiak_text::document::{Markup, Thread, Timestamp, Version};

/// The number of characters of a text that are shown as its title.
const SHOWN_TITLE_LENGTH: usize = 60;

/// The number of a document in one index. Other indexes number differently.
pub use kodiak_rank::Row;

/// The number, source, key and title of a document: enough to name it.
pub type Name = (Row, String, String, String);

/// What tells one content of a document from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number of the document.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The source it is from.
    pub source: String,
    /// The BLAKE3 hash of what was indexed of it.
    pub hash: [u8; 32],
}

/// A word of the vocabulary that is similar to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarWord {
    /// The word, folded, not stemmed.
    pub word: String,
    /// The edit distance: the number of insertions, deletions, replacements and
    /// swaps.
    pub distance: u8,
    /// The number of documents that have the word.
    pub documents: u64,
}

/// The best documents for an expression.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// The number of documents that match.
    pub total: usize,
    /// The best of them, best first.
    pub best: Vec<Match>,
}

/// A document that matches an expression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    /// The document.
    pub row: Row,
    /// Its score.
    pub score: f64,
    /// The share of the query that its best passage has, from 0 to 1; 0 where words
    /// were not ranked.
    pub coverage: f64,
}

/// A phrase in the texts of the links to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkMatch {
    /// The document.
    pub row: Row,
    /// The place of the phrase among those that were looked for.
    pub phrase: usize,
    /// The number of other documents that link to it with a text that has the phrase.
    pub documents: u32,
}

/// The model whose vectors are used for searching.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Serving {
    /// Its name and revision.
    pub key: String,
    /// Its name.
    pub name: String,
    /// The number of components of its vectors.
    pub dimensions: usize,
}

impl Serving {
    /// Returns the identity of the model, read from its key.
    pub fn identity(&self) -> Option<Identity> {
        let (name, revision) = self.key.rsplit_once('@')?;
        Some(Identity {
            name: name.to_owned(),
            revision: revision.to_owned(),
            dimensions: self.dimensions,
        })
    }
}

/// How much of an index is embedded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// The number of chunks.
    pub chunks: u64,
    /// The number of chunks that have a vector.
    pub embedded: u64,
}

impl Coverage {
    /// Returns the embedded share, from 0 to 1. An index without chunks counts
    /// as fully embedded.
    pub fn share(self) -> f64 {
        if self.chunks == 0 {
            return 1.0;
        }
        self.embedded as f64 / self.chunks as f64
    }
}

/// The position of a chunk in its document. A search compares hundreds of
/// chunks but looks up the spans of only those that it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChunkSpan {
    /// The bytes of the body that it covers.
    pub range: Range<usize>,
    /// Its first and last line, counted from one in the body.
    pub lines: (usize, usize),
    /// The headings above it.
    pub heading: String,
}

/// What the index knows of an entry. Its name is borrowed: thousands of these are
/// read while somebody waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownEntry<'a> {
    /// Its name inside the source.
    pub key: &'a str,
    /// The version that was indexed.
    pub version: Version,
    /// Whether it was skipped or could not be listed.
    pub skipped: bool,
}

/// A document as the index holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument {
    /// Its number in this index.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The shortest beginning of its id that no other document shares, without `#`.
    pub short_id: String,
    /// The source it is from.
    pub source: String,
    /// Its name in the source.
    pub key: String,
    /// Its kind, such as `note`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Option<String>,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How its text is marked up.
    pub markup: Markup,
    /// The conversation or session it is part of.
    pub thread: Option<Thread>,
    /// Who wrote or said it, where known.
    pub author: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The BLAKE3 hash of what was indexed of it.
    pub hash: [u8; 32],
    /// Its frontmatter block.
    pub front: String,
    /// Its text.
    pub body: String,
}

impl StoredDocument {
    /// Returns the title to show: its own or, if it has none, the beginning of its
    /// text.
    pub fn shown_title(&self) -> Cow<'_, str> {
        shown_title(&self.title, &self.body)
    }
}

/// Returns a title, or the beginning of the text if there is none.
pub fn shown_title<'a>(title: &'a str, body: &str) -> Cow<'a, str> {
    if !title.is_empty() {
        return Cow::Borrowed(title);
    }
    Cow::Owned(beginning(body, SHOWN_TITLE_LENGTH))
}

/// Returns the beginning of a text on one line, with at most so many characters and
/// a sign for what was cut. It ends with a whole word, unless that is too long.
pub fn beginning(text: &str, length: usize) -> String {
    let mut found = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if count + letters > length {
            if found.is_empty() {
                found.extend(word.chars().take(length));
            }
            found.push('…');
            break;
        }
        if !found.is_empty() {
            found.push(' ');
        }
        found.push_str(word);
        count += letters + 1;
    }
    found
}

/// Deletes the files beside `path` whose names `meant` accepts, so that they stay
/// deleted after a power cut.
pub fn remove_beside(
    path: &std::path::Path,
    meant: impl Fn(&str) -> bool,
) -> kodiak_base::error::Result<()> {
    use kodiak_base::error::Error;
    let folder = kodiak_base::files::folder_of(path);
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::io("read the folder", folder)(error)),
    };
    for entry in entries.flatten() {
        if meant(&entry.file_name().to_string_lossy()) {
            let path = entry.path();
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("delete", &path)(error));
                }
                _ => {}
            }
        }
    }
    kodiak_base::files::sync_folder(folder);
    Ok(())
}

/// The state of a source in the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceStatus {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub location: String,
    /// When it was last synced completely.
    pub synced_at: Option<Timestamp>,
    /// The number of its documents in the index.
    pub documents: u64,
    /// The files that were skipped, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The documents that were indexed in spite of a problem, each with the
    /// problem.
    pub problems: Vec<(String, String)>,
}
