//! The names of notes that callers write.
//!
//! A caller that is restricted to a project must not learn from a name that it is taken
//! outside the project. So each of its names ends with a mark of the project, which no
//! name outside has: whether a name is free depends on the project alone.

use kodiak::access::Guard;
use kodiak::source::Draft;
use kodiak_base::{Error, Result};
use kodiak_text::document::{hex, is_note_extension};

/// The length of a mark in bytes of the hash.
const LENGTH: usize = 4;

/// Returns the suffix of the names of a caller that is restricted to a project.
pub fn mark_of(guard: &Guard) -> Option<String> {
    let hash = blake3::hash(guard.project()?.as_bytes());
    Some(hex(&hash.as_bytes()[..LENGTH]))
}

/// Returns an id that a caller has chosen, with the mark of the project that it is
/// restricted to.
pub fn marked_id(guard: &Guard, id: &str) -> String {
    match mark_of(guard) {
        // It may be one that the caller was told.
        Some(mark) if !id.ends_with(&format!("-{mark}")) => format!("{id}-{mark}"),
        _ => id.to_owned(),
    }
}

/// Marks the key and the name that a draft asks for. `has_ids` says that keys are ids and
/// not paths.
pub(super) fn mark_draft(guard: &Guard, draft: &mut Draft, has_ids: bool) -> Result<()> {
    draft.mark = mark_of(guard);
    let Some(mark) = &draft.mark else {
        return Ok(());
    };
    let folder = match (&draft.key, &draft.folder) {
        (Some(key), _) => key.rsplit_once('/').map_or("", |(folder, _)| folder),
        (None, folder) => folder.as_deref().unwrap_or_default(),
    };
    if folder.split('/').any(is_like_a_file) {
        return Err(Error::BadKey {
            key: folder.to_owned(),
            detail: "a folder in it has a name like a file".to_owned(),
        });
    }
    if let Some(key) = &draft.key {
        draft.key = Some(if has_ids {
            marked_id(guard, key)
        } else {
            marked_path(key, mark)
        });
    }
    Ok(())
}

fn marked_path(path: &str, mark: &str) -> String {
    match path.rsplit_once('.') {
        Some((stem, _)) if stem.ends_with(&format!(" {mark}")) => path.to_owned(),
        Some((stem, extension)) if !extension.contains('/') => {
            format!("{stem} {mark}.{extension}")
        }
        _ => format!("{path} {mark}"),
    }
}

/// Reports whether a folder has a name that a note may have. Whether it can be made would
/// depend on whether there is such a note.
fn is_like_a_file(folder: &str) -> bool {
    let extension = folder.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(is_note_extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(guard: &Guard, key: &str, has_ids: bool) -> Result<Draft> {
        let mut draft = Draft {
            key: Some(key.to_owned()),
            ..Draft::default()
        };
        mark_draft(guard, &mut draft, has_ids).map(|()| draft)
    }

    #[test]
    fn names_of_a_project_have_its_mark_once() {
        let everywhere = Guard::local();
        let atlas = Guard::local().in_project("/work/atlas");
        let mark = mark_of(&atlas).unwrap();
        assert_eq!(mark.len(), 8);
        assert_ne!(
            mark_of(&Guard::local().in_project("/work/other")),
            Some(mark.clone())
        );
        for (key, expected) in [
            ("a.md", format!("a {mark}.md")),
            ("sub/v1.2/a.b.md", format!("sub/v1.2/a.b {mark}.md")),
            ("v1.2/a", format!("v1.2/a {mark}")),
        ] {
            let draft = marked(&atlas, key, false).unwrap();
            assert_eq!(draft.mark.as_ref(), Some(&mark));
            assert_eq!(draft.key.as_deref(), Some(expected.as_str()));
            let free = marked(&everywhere, key, false).unwrap();
            assert_eq!((free.key.as_deref(), free.mark), (Some(key), None));
        }
        let id = marked(&atlas, "limits", true).unwrap().key.unwrap();
        assert_eq!(id, format!("limits-{mark}"));
        assert_eq!(marked_id(&atlas, &id), id);
        assert_eq!(marked_id(&everywhere, "limits"), "limits");
        marked(&atlas, "sub/a.md/b.md", false).unwrap_err();
        marked(&everywhere, "sub/a.md/b.md", false).unwrap();
    }
}
