//! Documents in the trash: they are not indexed, so their files say which they are.

use super::Trashed;
use super::fields::list_in;
use crate::document::{Document, DocumentId, uri};
use crate::store::Filter;

/// A document in the trash of its source.
#[derive(Clone, Debug)]
pub struct TrashedDocument {
    /// Its file.
    pub file: Trashed,
    /// The content of the file.
    pub document: Document,
}

impl TrashedDocument {
    /// Reports whether this is its id, its path or its address.
    pub fn is_called(&self, name: &str) -> bool {
        let Document { source, key, .. } = &self.document;
        [key, &self.file.key, &self.file.name]
            .into_iter()
            .any(|own| name == own || name == uri(source, own) || name == format!("{source}/{own}"))
    }

    /// Reports whether it is of a project or has a field, such as a session, that
    /// `filter` names.
    pub fn is_of(&self, filter: &Filter) -> bool {
        let has = |(name, value): &(String, String)| {
            let values = list_in(&self.document.fields, &[name.as_str()]);
            values.iter().any(|own| own.eq_ignore_ascii_case(value))
        };
        let project = self.document.project.as_ref();
        filter.fields.iter().any(has)
            || project.is_some_and(|project| filter.projects.contains(project))
    }

    /// Returns the id of the document that it was.
    pub fn id(&self) -> DocumentId {
        self.document.id()
    }
}
