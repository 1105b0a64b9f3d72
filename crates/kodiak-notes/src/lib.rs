//! Folders of notes: reading, writing, tagging, linking and trashing them.
//!
//! A [`MarkdownFolder`] is a source of Markdown, plain text and Org files. [`Notes`]
//! writes to the folders of an engine, and keeps the index up to date:
//!
//! ```
//! use kodiak::access::Guard;
//! use kodiak::search::Request;
//! use kodiak::source::Draft;
//! use kodiak::{Engine, Job};
//! use kodiak_notes::{FolderOptions, MarkdownFolder, Notes};
//!
//! # let temporary = tempfile::tempdir()?;
//! # let (folder, index) = (temporary.path(), temporary.path().join("index.db"));
//! let options = FolderOptions { writable: true, ..FolderOptions::default() };
//! let engine = Engine::builder(index)
//!     .source(MarkdownFolder::new("notes", folder, options)?)
//!     .open()?;
//! let (me, job) = (Guard::local(), Job::default());
//! let draft = Draft { title: "Bread".into(), body: "Knead for ten minutes.".into(), ..Draft::default() };
//! let saved = Notes::new(&engine).create(&me, "notes", &draft, &job)?;
//! assert_eq!(saved.key, "Bread.md");
//! assert_eq!(engine.search(&me, &Request::new("knead"))?.hits.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * `markdown` finds, reads and writes the files of a folder;
//! * `files` is the interface of any place for files of notes, and makes a source of pages
//!   from one;
//! * `compose` turns a draft into the text of a file;
//! * `note` turns a text into a document, with `frontmatter` and `decode`;
//! * `retag` and `retitle` change a text in place;
//! * `signing` records who wrote a note;
//! * `links` finds the links of a note and the links to it;
//! * `pictures` finds and reads the pictures that a note shows;
//! * `pages` and `tags` have the methods of [`Notes`], `naming` the names that callers get.

mod compose;
mod decode;
pub mod files;
pub mod frontmatter;
mod links;
pub mod markdown;
pub mod naming;
pub mod note;
mod pages;
mod pictures;
mod renaming;
mod retag;
mod retitle;
pub mod signing;
mod speaker;
mod tags;

pub use files::{NoteFiles, NoteSource};
pub use links::{BrokenLink, LeftOut, LinkedNote, Links, Mention, NoteLinks};
pub use markdown::{FolderOptions, MarkdownFolder, path_in};
pub use note::document_from_text;
pub use pages::{PAGES_SOURCE, PageText, Saved};
pub use pictures::{MAX_PICTURE_BYTES, Picture, Pictures};
pub use speaker::speaker;
pub use tags::{Left, Retagged, TagCount, TagRenaming};

use kodiak::Engine;

/// The notes of the writable sources of an engine: reading, writing, renaming, tagging and
/// deleting them. Changes are indexed at once.
#[derive(Clone, Debug)]
pub struct Notes<'a> {
    engine: &'a Engine,
}

impl<'a> Notes<'a> {
    /// Creates a view of the notes of an engine.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }
}
