//! The notes of an engine: reading, writing, tagging and deleting them.

pub(crate) mod naming;
mod pages;
mod renaming;
mod tags;

pub use pages::{PAGES_SOURCE, PageText, Saved};
pub use tags::{Left, TagCount, TagRenaming};

use crate::engine::Engine;

/// The notes of the writable sources of an engine: reading, writing, renaming, tagging
/// and deleting them. What is written is indexed at once.
#[derive(Clone, Copy, Debug)]
pub struct Notes<'a> {
    engine: &'a Engine,
}

impl<'a> Notes<'a> {
    /// Creates a view of the notes of an engine.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }
}
