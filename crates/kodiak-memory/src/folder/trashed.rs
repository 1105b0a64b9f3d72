//! Memories in the trash.

use super::MemoryFolder;
use kodiak::source::{FileCopy, Source, TrashedDocument};
use kodiak_base::Result;

impl MemoryFolder {
    /// Returns the memories in the trash, the last deleted first.
    pub(super) fn memories_in_trash(&self) -> Result<Vec<TrashedDocument>> {
        let mut found = Vec::new();
        self.files.read_trash(&mut |file, text| {
            let document = self.interpret(self.name(), &file.key, text, 0);
            found.push(TrashedDocument { file, document });
        })?;
        found.sort_by_key(|one| std::cmp::Reverse(one.file.deleted_at));
        Ok(found)
    }

    /// Returns the file of a memory in the trash as a copy that can be erased.
    pub(super) fn copy_in_trash(&self, memory: &TrashedDocument) -> Result<Option<FileCopy>> {
        self.files.copy_in_trash(&memory.file.name)
    }
}
