//! What a team keeps in the database of its index: memories, articles, pages and tokens.
//!
//! The rows are the truth, as files are elsewhere, and any number of servers work on them.
//! [`TeamFiles`] offers the rows of a source as files of notes, and [`sources`] makes of them
//! what an engine is built with:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use kodiak::access::Guard;
//! use kodiak::{Engine, Job};
//! use kodiak_memory::{Memories, Memory};
//! use kodiak_postgres::{Address, PostgresIndex};
//!
//! let index = PostgresIndex::new(Address::parse("postgres://kodiak@localhost/team")?);
//! let engine = Engine::builder_over(Arc::new(index.clone()))
//!     .sources(kodiak_team::sources(&index))
//!     .open()?;
//! let memory = Memory {
//!     source: kodiak_memory::MEMORY_SOURCE.into(),
//!     text: "The staging database is reset every Monday.".into(),
//!     ..Memory::default()
//! };
//! Memories::new(&engine).remember(&Guard::local(), &memory, &Job::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod export;
pub mod files;
pub mod migrate;
mod paths;
mod tokens;

pub use export::{Exported, export};
pub use files::TeamFiles;
pub use tokens::TeamTokens;

use kodiak::source::Source;
use kodiak_memory::{ARTICLE_SOURCE, Holding, MEMORY_SOURCE, MemoryFolder};
use kodiak_notes::{NoteSource, PAGES_SOURCE};
use kodiak_postgres::PostgresIndex;

/// Returns the sources of a team: memories, articles and pages.
pub fn sources(index: &PostgresIndex) -> Vec<Box<dyn Source>> {
    vec![
        Box::new(memories(index)),
        Box::new(articles(index)),
        Box::new(pages(index)),
    ]
}

/// Returns the source of memories of a team.
pub fn memories(index: &PostgresIndex) -> MemoryFolder {
    MemoryFolder::over(TeamFiles::new(index, MEMORY_SOURCE), Holding::Memories)
}

/// Returns the source of articles of a team.
pub fn articles(index: &PostgresIndex) -> MemoryFolder {
    MemoryFolder::over(TeamFiles::new(index, ARTICLE_SOURCE), Holding::Articles)
}

/// Returns the source of pages of a team.
pub fn pages(index: &PostgresIndex) -> NoteSource {
    NoteSource::over(TeamFiles::new(index, PAGES_SOURCE))
}
