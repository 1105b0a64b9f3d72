//! A folder as files of notes.

use std::path::PathBuf;
use std::time::Instant;

use super::MarkdownFolder;
use crate::files::{Added, AddingTurn, Interpret, NoteFiles};
use kodiak::source::{
    Entry, FileCopy, Known, Listing, Located, Look, Presence, Reading, Source, Trashed,
    WritableSource,
};
use kodiak_base::Result;
use kodiak_base::files::turn::Turn;
use kodiak_text::document::Document;

impl NoteFiles for MarkdownFolder {
    fn name(&self) -> &str {
        Source::name(self)
    }

    fn location(&self) -> String {
        Source::location(self)
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        Source::watch_paths(self)
    }

    fn list(&self) -> Result<Listing> {
        Source::list(self)
    }

    fn read(
        &self,
        entry: &Entry,
        interpret: Interpret<'_>,
        emit: &mut dyn FnMut(Document),
    ) -> Result<Reading> {
        self.read_as(entry, interpret, emit)
    }

    fn presence(&self, path: &str) -> Presence {
        Source::presence(self, path)
    }

    fn changes_since(&self, known: &dyn Known, deadline: Instant) -> Result<Look> {
        self.look(known, deadline)
    }

    fn locate(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        self.locate_files(files)
    }

    fn file(&self, path: &str) -> PathBuf {
        self.path_of(path)
    }

    fn text(&self, path: &str) -> Result<String> {
        WritableSource::text(self, path)
    }

    fn create(&self, path: &str, text: &dyn Fn() -> Result<String>) -> Result<bool> {
        self.create_file(path, text)
    }

    fn rewrite(
        &self,
        path: &str,
        seen: [u8; 32],
        change: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<()> {
        Self::rewrite(self, path, seen, change)
    }

    fn rename(&self, path: &str, new: &str) -> Result<bool> {
        self.rename_file(path, new)
    }

    fn delete(&self, path: &str) -> Result<()> {
        self.move_to_trash(path)
    }

    fn read_trash(&self, visit: &mut dyn FnMut(Trashed, &str)) -> Result<()> {
        self.visit_trash(visit)
    }

    fn restore(&self, name: &str) -> Result<String> {
        self.restore_from_trash(name)
    }

    fn copy_in_trash(&self, name: &str) -> Result<Option<FileCopy>> {
        self.copy_of_trashed_file(name)
    }

    fn copies(&self, path: &str) -> Result<Vec<FileCopy>> {
        WritableSource::copies(self, path)
    }

    fn erase_copy(&self, copy: &FileCopy) -> Result<PathBuf> {
        WritableSource::erase_copy(self, copy)
    }

    fn turn(&self) -> Result<Box<dyn AddingTurn + '_>> {
        let turn = Turn::at(&self.root);
        Ok(Box::new(FolderTurn {
            folder: self,
            _turn: turn,
        }))
    }
}

/// The turn at a folder. No other process of this program adds a file before it ends.
#[derive(Debug)]
struct FolderTurn<'a> {
    folder: &'a MarkdownFolder,
    _turn: Turn,
}

impl AddingTurn for FolderTurn<'_> {
    fn waiting(&mut self) -> Result<Vec<String>> {
        Ok(self.folder.waiting())
    }

    fn set_waiting(&mut self, paths: &[String]) -> Result<()> {
        self.folder.set_waiting(paths)
    }

    fn create(
        &mut self,
        path: &str,
        text: &str,
        _: &mut dyn FnMut(&str, &str) -> bool,
    ) -> Result<Added> {
        let created = self.folder.create_file(path, &|| Ok(text.to_owned()))?;
        Ok(if created {
            Added::Created
        } else {
            Added::Taken
        })
    }
}
