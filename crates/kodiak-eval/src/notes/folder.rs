//! Holds the notes of a folder in memory, and finds those that targets name.

use std::fs;
use std::path::Path;

use anyhow::Result;
use kodiak::Document;

use crate::corpus;
use crate::error::refusal;

/// The notes of a folder, by path.
#[derive(Debug)]
pub(super) struct NotesFolder {
    /// The name of the folder, which targets may begin with.
    pub(super) name: String,
    pub(super) documents: Vec<Document>,
}

impl NotesFolder {
    /// Reads all notes of a folder.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let documents = corpus::notes_in(path)?.collect::<Result<Vec<_>>>()?;
        if documents.is_empty() {
            return Err(refusal(
                format!("there are no notes in {}", path.display()),
                "with --queries, the folder is a folder of notes",
            ));
        }
        // The folder may have been given as `.`, which has no name.
        let resolved = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let name = resolved.file_name().unwrap_or_default();
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            documents,
        })
    }

    /// Returns the places of the notes that one of the targets names.
    pub(super) fn matching(&self, targets: &[String]) -> Vec<usize> {
        let documents = self.documents.iter().enumerate();
        documents
            .filter(|(_, document)| self.is_target(&document.key, targets))
            .map(|(place, _)| place)
            .collect()
    }

    /// Reports whether a path begins with one of the targets, with or without the
    /// name of the folder before it.
    pub(super) fn is_target(&self, path: &str, targets: &[String]) -> bool {
        targets.iter().any(|target| {
            let inside = || target.strip_prefix(&self.name)?.strip_prefix('/');
            path.starts_with(target.as_str())
                || inside().is_some_and(|target| path.starts_with(target))
        })
    }
}
