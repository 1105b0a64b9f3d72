//! A source of pages over files of notes that are not in a folder.

use std::path::PathBuf;
use std::time::Instant;

use super::NoteFiles;
use crate::PAGES_SOURCE;
use crate::note::document_from_text;
use kodiak::source::{
    Draft, Entry, FileCopy, Known, Listing, Located, Look, Presence, Reading, Source, Traits,
    Trashed, WritableSource,
};
use kodiak_base::Result;
use kodiak_text::document::Document;

/// Files of notes as a source that pages are saved into.
#[derive(Debug)]
pub struct NoteSource {
    files: Box<dyn NoteFiles>,
}

impl NoteSource {
    /// Creates a source of these files.
    pub fn over(files: impl NoteFiles + 'static) -> Self {
        Self {
            files: Box::new(files),
        }
    }
}

impl Source for NoteSource {
    fn name(&self) -> &str {
        self.files.name()
    }

    fn kind(&self) -> &'static str {
        "markdown"
    }

    fn location(&self) -> String {
        self.files.location()
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        self.files.watch_paths()
    }

    fn list(&self) -> Result<Listing> {
        self.files.list()
    }

    fn read(&self, entry: &Entry, emit: &mut dyn FnMut(Document)) -> Result<Reading> {
        self.files.read(entry, &document_from_text, emit)
    }

    fn presence(&self, entry_key: &str) -> Presence {
        self.files.presence(entry_key)
    }

    fn presences(&self, entry_keys: &[&str]) -> Vec<Presence> {
        self.files.presences(entry_keys)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.files.changes_since(known, deadline)
    }

    fn snapshot(&self) -> Result<Option<Box<dyn Source + '_>>> {
        let snapshot = self.files.snapshot()?;
        Ok(snapshot.map(|files| Box::new(NoteSource { files }) as Box<dyn Source + '_>))
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        self.files.locate(files)
    }

    fn traits(&self) -> Traits {
        Traits {
            certain: self.files.is_certain(),
            ..Traits::default()
        }
    }

    fn writable(&self) -> Option<&dyn WritableSource> {
        Some(self)
    }
}

impl WritableSource for NoteSource {
    fn file(&self, key: &str) -> PathBuf {
        self.files.file(key)
    }

    fn create(&self, draft: &Draft) -> Result<String> {
        super::create(&*self.files, draft)
    }

    fn text(&self, key: &str) -> Result<String> {
        self.files.text(key)
    }

    fn update(&self, key: &str, draft: &Draft, seen: [u8; 32]) -> Result<()> {
        super::update(&*self.files, key, draft, seen)
    }

    fn replace(&self, key: &str, text: &str, seen: [u8; 32]) -> Result<()> {
        self.files.rewrite(key, seen, &mut |_| Ok(text.to_owned()))
    }

    fn rename(&self, key: &str, title: &str, mark: Option<&str>) -> Result<String> {
        super::rename(&*self.files, key, title, mark)
    }

    fn delete(&self, key: &str) -> Result<()> {
        self.files.delete(key)
    }

    fn trash(&self) -> Result<Vec<Trashed>> {
        super::trash(&*self.files)
    }

    fn restore(&self, name: &str) -> Result<String> {
        self.files.restore(name)
    }

    fn copies(&self, key: &str) -> Result<Vec<FileCopy>> {
        self.files.copies(key)
    }

    fn takes_new_projects(&self) -> bool {
        self.files.name() == PAGES_SOURCE
    }

    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf> {
        self.files.erase_copy(copy)
    }
}
