//! The trash of memories: listing and restoring them.

use super::Memories;
use kodiak::access::{Capability, Guard};
use kodiak::engine::Job;
use kodiak::source::{TrashedDocument, WritableSource};
use kodiak_base::{Error, Result};
use kodiak_store::{Filter, shown_title};

/// A memory that was moved back from the trash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The source it is in.
    pub source: String,
    /// Its own id.
    pub key: String,
    /// Its title, or the beginning of its text.
    pub title: String,
    /// Whether it can already be found. Otherwise the next sync indexes it.
    pub indexed: bool,
}

impl Memories<'_> {
    /// Returns the memories and articles in the trash, the last deleted first. A caller
    /// that is restricted to a project is refused: the project of a document in the trash
    /// is not known for certain.
    pub fn trash(&self, guard: &Guard) -> Result<Vec<TrashedDocument>> {
        guard.require(Capability::Read)?;
        guard.require_all_projects()?;
        let mut found = Vec::new();
        for source in self.all_memory_sources(guard) {
            found.extend(self.memory_folder(guard, &source)?.trashed_documents()?);
        }
        found.sort_by_key(|one| std::cmp::Reverse(one.file.deleted_at));
        Ok(found)
    }

    /// Moves a memory or an article from the trash back to where it was. A name is an
    /// id, a path or a title; of several files that had one path, the one that was
    /// deleted last is meant. It never overwrites: if the path or the id is taken, that is
    /// an error.
    pub fn restore(&self, guard: &Guard, name: &str, job: &Job<'_>) -> Result<Restored> {
        guard.require(Capability::Write)?;
        guard.require_all_projects()?;
        let memories = guard.among(self.all_memory_sources(guard));
        let mut found = self.engine.view(&memories).named_in_trash(name)?;
        found.sort_by_key(|one| std::cmp::Reverse(one.file.deleted_at));
        let Some(first) = found.first() else {
            return Err(Error::NoDocument {
                reference: name.to_owned(),
                suggestions: Vec::new(),
            });
        };
        let (source, file) = (&first.document.source, &first.file);
        let same =
            |one: &&TrashedDocument| one.document.source == *source && one.file.key == file.key;
        if found.iter().filter(same).count() < found.len() {
            let named = found.iter();
            let named = named.map(|one| format!("{}/{}", one.document.source, one.file.name));
            return Err(Error::Ambiguous {
                reference: name.to_owned(),
                candidates: named.collect(),
            });
        }
        let key = &first.document.key;
        let taken =
            self.or_nothing(|reader| reader.with_path(Some(source), key, &Filter::default(), 1))?;
        if !taken.is_empty() {
            return Err(Error::KeyTaken { key: key.clone() });
        }
        let folder = self.memory_folder(guard, source)?;
        let path = folder.restore(&file.name)?;
        Ok(Restored {
            indexed: self
                .engine
                .index_written(source, &[folder.file(&path)], job),
            title: shown_title(&first.document.title, &first.document.body).into_owned(),
            source: source.clone(),
            key: key.clone(),
        })
    }
}
