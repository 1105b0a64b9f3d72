//! Memories in the trash: they are not indexed, so their files say which they are.

use super::MemoryFolder;
use crate::document::{Document, DocumentId, uri};
use crate::error::Result;
use crate::source::fields::list_in;
use crate::source::{FileCopy, Source, Trashed};
use crate::store::Filter;

/// A memory in the trash of its folder.
#[derive(Clone, Debug)]
pub(crate) struct TrashedMemory {
    /// Its file.
    pub(crate) file: Trashed,
    /// What the file says.
    pub(crate) document: Document,
}

impl TrashedMemory {
    /// Reports whether this is its id, its path or its address.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let Document { source, key, .. } = &self.document;
        [key, &self.file.key, &self.file.name]
            .into_iter()
            .any(|own| name == own || name == uri(source, own) || name == format!("{source}/{own}"))
    }

    /// Reports whether it is of a project or has a field, such as a session, that
    /// `filter` names.
    pub(crate) fn is_of(&self, filter: &Filter) -> bool {
        let has = |(name, value): &(String, String)| {
            let values = list_in(&self.document.fields, &[name.as_str()]);
            values.iter().any(|own| own.eq_ignore_ascii_case(value))
        };
        let project = self.document.project.as_ref();
        filter.fields.iter().any(has)
            || project.is_some_and(|project| filter.projects.contains(project))
    }

    /// Returns the id of the document that it was.
    pub(crate) fn id(&self) -> DocumentId {
        self.document.id()
    }
}

impl MemoryFolder {
    /// Returns the memories in the trash, the last deleted first.
    pub(crate) fn trashed_memories(&self) -> Result<Vec<TrashedMemory>> {
        let mut found = Vec::new();
        self.folder.read_trash(&mut |file, text| {
            let document = self.interpret(self.name(), &file.key, text, 0);
            found.push(TrashedMemory { file, document });
        })?;
        found.sort_by_key(|one| std::cmp::Reverse(one.file.deleted_at));
        Ok(found)
    }

    /// Returns the file of a memory in the trash as a copy that can be erased.
    pub(crate) fn copy_of_trashed(&self, memory: &TrashedMemory) -> Result<Option<FileCopy>> {
        self.folder.copy_in_trash(&memory.file.name)
    }
}
