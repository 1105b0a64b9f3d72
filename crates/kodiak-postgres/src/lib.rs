//! An index in PostgreSQL, for teams: any number of Kodiak servers over one database, with
//! the same answers as the index in SQLite.
//!
//! Documents, entries and vectors are rows of ordinary tables. Postings are immutable
//! segments, also in an ordinary table, and are scored by [`kodiak_rank`] on this side, as
//! everywhere else: no extension is needed, and nothing that a managed server refuses.
//!
//! Each segment has documents of one source and one project. A commit writes one for its
//! new documents and marks the old versions of documents as deleted; a thread beside it merges
//! eight segments of about one size into one. A search fetches the postings of its terms, which
//! a process keeps by segment and term, because they never change. Every call of a search is one
//! round trip, or two where the first answer says what to read.
//!
//! | module | job |
//! |---|---|
//! | `address`, `password`, `connection`, `pool`, `wait`, `value`, `batch`, `error` | speaking to a server |
//! | `schema`, `lock` | creating and migrating an index, and the right to write |
//! | `segment` | posting segments as bytes, without a server |
//! | `plan`, `evaluate` | looking for an expression in a segment |
//! | `live`, `cache`, `lookup` | which segments there are, and what a process keeps of them |
//! | `replica` | which snapshots begin on a replica, and how far it is behind |
//! | `reader` and the traits of a reader | answers, each in one or two round trips |
//! | `writer` | documents, vectors and erasing |
//! | `merging` | one segment instead of many, beside those who write |
//! | `claims` | which process embeds which chunks |
//! | `records` | journals and tombstones |
//! | `rewriting` | taking deleted rows out of the files of the server |
//! | `files` | what a team keeps beside the index: files of notes as rows |
//! | `tokens` | who may use servers over the index |

mod address;
mod batch;
mod cache;
mod claims;
mod connection;
mod documents;
mod error;
mod evaluate;
mod examine;
mod files;
mod filter;
mod index;
mod lexical;
mod links;
mod live;
mod lock;
mod lookup;
mod merging;
mod password;
mod plan;
mod pool;
mod progress;
mod reader;
mod records;
mod replica;
mod rewriting;
mod schema;
mod segment;
mod selection;
#[cfg(test)]
mod server_tests;
mod sources;
mod state;
mod tokens;
mod turn;
mod value;
mod vectors;
mod vocabulary;
mod wait;
mod writer;

pub use address::{Address, is_address};
pub use files::{ChangedFiles, Files, KeptFile, ListedFile, Outcome, TrashedFile};
pub use index::PostgresIndex;
pub use reader::PostgresReader;
pub use tokens::TokenRow;
