//! Stores for an index: traits over plain types, and SQLite, the vector file, the
//! embedding cache and the write lock behind them.
//!
//! A store keeps documents and everything derived from them, and answers typed
//! queries. It knows nothing of sources or of how results are presented.
//!
//! An engine opens a [`Store`], and reads and writes through trait objects:
//!
//! | [`Reader`] | returns |
//! |---|---|
//! | [`State`] | the state that is read, and snapshots of it |
//! | [`Documents`], [`Names`] | documents by number, with all that belongs to them, and by name |
//! | [`Selection`] | documents that meet a filter |
//! | [`Lexical`], [`Links`] | documents that match words |
//! | [`Terms`], [`Vocabulary`] | the size of the collection, its terms and words |
//! | [`Vectors`], [`EmbeddingProgress`] | an index over vectors, and which chunks have one |
//! | [`Sources`], [`Entries`] | what is indexed, in which version |
//! | [`Maintenance`] | whether the index is in order |
//!
//! | [`Writer`] | changes |
//! |---|---|
//! | [`Transactions`] | what others see, and who writes |
//! | [`WriteSources`], [`WriteEntries`], [`WriteDocuments`] | what is indexed |
//! | [`EmbeddingQueue`], [`WriteVectors`], [`Rechunking`] | chunks and their vectors |
//! | [`Erasing`] | what must not be left in the store |
//! | [`Upkeep`] | what is derived from the documents |
//!
//! All are object safe and use plain types, so that a store can be a file, a pool of
//! connections or a client of a server. SQLite is one:
//!
//! ```
//! use kodiak_store::prelude::*;
//! use kodiak_store::{SqliteStore, SqliteWriter};
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
//!
//! # How to add a store
//!
//! Implement [`Store`], the traits of [`Reader`] and the traits of [`Writer`]. Methods with
//! a default call others, and a store overrides them only to be faster. The contract tests
//! of the library run on any store.
//!
//! *Calls.* A search makes at most eight calls, because over a network each is a round
//! trip; a test counts them. Three methods carry most of it, and each takes everything
//! that a stage needs at once:
//!
//! | call | returns |
//! |---|---|
//! | [`Vocabulary::consult`] | facts about the index, words, completions, corrections, term frequencies, and documents to look at until the caller has seen enough |
//! | [`Lexical::ranked`] | the best documents for an expression, or for another one if too few match |
//! | [`Documents::read`] | documents, fields, entries, threads, successors, spans and exact vectors |
//!
//! A plain lexical search is one of each. One by meaning adds [`Vectors::vectors`] and
//! another [`Documents::read`] with the vectors of its candidates. A misspelt word adds a
//! second [`Vocabulary::consult`]. A store that is close at hand can answer questions one
//! by one ([`answer_one_by_one`]); a store over a network sends all parts of a request
//! together.
//!
//! *Snapshots.* [`State::begin_snapshot`] and [`State::end_snapshot`] return nothing from
//! the index: the first can be sent with the first read, the second without waiting. A
//! search ends its snapshot while a model works, begins another one, and retrieves again
//! if the [`Revision`] differs.
//!
//! *Connections.* A reader is used by one thread at a time and may be any connection of a
//! pool; nothing outlives a snapshot except what [`Vectors::vectors`] returns, which does
//! not use the connection. [`Store::file`] is for stores that are a file, and
//! [`Store::place`] only for messages.
//!
//! *Vectors.* A store keeps vectors as it likes. [`VectorIndex`] is an index on this
//! machine, derived from them; newer vectors are in [`VectorIndex::late`]. Its similarities
//! choose candidates, and [`Documents::read`] returns their exact vectors.
//!
//! *Scores.* A store finds terms and positions; [`kodiak_rank`] scores them.
//!
//! *Scopes.* [`ScopedReader`] restricts any reader to a scope, and does its own counting
//! there. A store that counts by scope returns its own reader with [`State::scope`].

mod best;
pub mod cache;
pub mod expression;
pub mod filter;
pub mod foreign;
mod frequency_changes;
pub mod lock;
mod moment;
mod pending;
pub mod prelude;
mod reader;
mod record;
mod scoped;
pub mod similar;
pub mod sqlite;
mod store;
mod tokens;
mod vector_index;
pub mod vectors;
mod writer;

pub use best::Best;
pub use cache::EmbeddingCache;
pub use expression::{Column, Expression, Phrase};
pub use filter::{Filter, Scope};
pub use frequency_changes::FrequencyChanges;
pub use lock::{WriteLock, wait_for_lock};
pub use moment::{Moment, Stretch};
pub use pending::{Pending, PendingSize, Place, ordinals};
pub use reader::*;
pub use record::{FileRecord, Record, Tombstones};
pub use scoped::{ScopedReader, Tallies};
pub use sqlite::{SqliteIndex, SqliteStore, SqliteWriter};
pub use store::{Lock, Store};
pub use vector_index::{FileVectors, LateVector, ModelNumber, VectorIndex};
pub use writer::*;

/// The number of a document in one index. Other indexes number differently.
pub use kodiak_rank::Row;

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
