//! The rule for drives that are mounted below the root of a source.
//!
//! A drive that is not mounted leaves an empty folder behind, and the source still shows
//! its other entries. So a source marks each mount point with a separate container. If the
//! mark is missing from a listing, although the folder is there and shows no entry, the
//! drive is away, and the entries below the folder do not count as gone. A folder that was
//! deleted, or that shows other entries, is as deleted as any other.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use super::{Container, LeftOut, Listing, Presence, Source};
use crate::document::Version;
use crate::error::{Error, Result};

/// The ending of a mark, after the key of the folder.
const ENDING: &str = ".";

/// Returns the container that marks a folder, given by its key, as a mount point. Its
/// presence in a source is unknown if the folder is empty and nothing is mounted at it.
pub fn mark(folder: &str) -> Container {
    Container {
        key: format!("{folder}{ENDING}"),
        version: Version::of(b"mount point"),
    }
}

/// Returns the key of the folder that a container marks as a mount point, if it does.
pub fn marked(container: &str) -> Option<&str> {
    let folder = container.strip_suffix(ENDING)?;
    folder.ends_with('/').then_some(folder)
}

/// Returns the folders whose drives are away, of those that are marked among the `known` containers: the
/// folder is listed and its mark is not, and it shows no entry.
pub fn away<'k>(
    known: impl Iterator<Item = &'k String>,
    is_listed: impl Fn(&str) -> bool,
    shows_entries: impl Fn(&str) -> bool,
) -> Vec<&'k str> {
    let marks = known.map(String::as_str);
    let marks = marks.filter_map(|mark| Some((mark, marked(mark)?)));
    let away = marks
        .filter(|(mark, folder)| is_listed(folder) && !is_listed(mark) && !shows_entries(folder));
    away.map(|(_, folder)| folder).collect()
}

/// Returns the note about a folder whose drive is away.
pub fn left_out(folder: &str) -> LeftOut {
    LeftOut {
        key: folder.to_owned(),
        reason: "its drive is not mounted".to_owned(),
    }
}

/// Returns the error for an operation that needs a folder whose drive is away.
pub(crate) fn not_mounted(source: &dyn Source, folder: &str) -> Error {
    let path = Path::new(&source.location()).join(folder.trim_end_matches('/'));
    let reason = "its drive is not mounted; connect it, or delete the empty folder if its \
                  notes are gone for good";
    Error::io("read", path)(io::Error::other(reason))
}

impl Listing {
    /// Notes the folders whose drives are away, given the containers that are indexed,
    /// and keeps those below them, with their marks. Returns the first of the folders.
    pub(crate) fn note_away(&mut self, known: &HashMap<String, Version>) -> Option<String> {
        let is_listed = |key: &str| self.containers.iter().any(|one| one.key == key);
        let shows_entries =
            |folder: &str| self.entries.iter().any(|one| one.key.starts_with(folder));
        let mut away = away(known.keys(), is_listed, shows_entries);
        away.sort_unstable();
        for folder in &away {
            self.left_out.push(left_out(folder));
            let below = known.iter();
            let below = below.filter(|(key, _)| key.starts_with(folder) && key != folder);
            self.containers
                .extend(below.map(|(key, version)| Container {
                    key: key.clone(),
                    version: *version,
                }));
        }
        away.first().map(|&folder| folder.to_owned())
    }
}

/// Reports whether a missing entry lies on a drive that is away. The source knows of a
/// mark that it cannot be sure of, which is that of an empty folder; only then are the
/// containers asked for that are indexed.
pub(crate) fn hides(
    source: &dyn Source,
    entry_key: &str,
    containers: impl FnOnce() -> Result<HashMap<String, Version>>,
) -> Result<bool> {
    let folders = entry_key.match_indices('/');
    let mut marks = folders.map(|(at, _)| mark(&entry_key[..=at]).key);
    let empty = marks.find(|mark| source.presence(mark) == Presence::Unknown);
    empty.map_or(Ok(false), |mark| Ok(containers()?.contains_key(&mark)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Entry;

    /// Returns an index of a drive at `disk/`, beside a folder.
    fn known() -> HashMap<String, Version> {
        let folders = ["", "a/", "disk/", "disk/b/"];
        let folders = folders.map(|key| (key.to_owned(), Version::of(b"folder")));
        let mark = mark("disk/");
        folders
            .into_iter()
            .chain([(mark.key, mark.version)])
            .collect()
    }

    fn listing(folders: &[&str], entries: &[&str]) -> Listing {
        Listing {
            entries: entries
                .iter()
                .map(|key| Entry {
                    key: (*key).to_owned(),
                    version: Version::UNKNOWN,
                    size_hint: 0,
                })
                .collect(),
            containers: folders
                .iter()
                .map(|key| Container {
                    key: (*key).to_owned(),
                    version: Version::UNKNOWN,
                })
                .collect(),
            ..Listing::default()
        }
    }

    #[test]
    fn a_mark_names_its_folder_and_nothing_else_does() {
        assert_eq!(marked(&mark("a/b/").key), Some("a/b/"));
        for key in ["", "a/", "a/.gitignore", "a/b.", "."] {
            assert_eq!(marked(key), None, "{key}");
        }
    }

    #[test]
    fn an_empty_folder_without_its_drive_hides_what_it_held() {
        let mut away = listing(&["", "a/", "disk/"], &["a/1.md"]);
        assert_eq!(away.note_away(&known()).as_deref(), Some("disk/"));
        assert!(away.may_hide("disk/2.md") && away.may_hide("disk/b/3.md"));
        assert!(!away.may_hide("a/4.md"));
        // What is known of it is kept, so that it is the same the next time.
        assert!(away.containers.contains(&mark("disk/")));
        assert!(away.containers.iter().any(|one| one.key == "disk/b/"));
        assert_eq!(away.containers.len(), 5);
    }

    #[test]
    fn everything_else_hides_nothing() {
        for (about, mut listing) in [
            (
                "mounted and empty",
                listing(&["", "a/", "disk/", "disk/."], &["a/1.md"]),
            ),
            ("deleted", listing(&["", "a/"], &["a/1.md"])),
            (
                "other files instead",
                listing(&["", "a/", "disk/"], &["disk/new.md"]),
            ),
        ] {
            assert_eq!(listing.note_away(&known()), None, "{about}");
            assert!(!listing.may_hide("disk/2.md"), "{about}");
        }
        let mut never = listing(&["", "a/"], &[]);
        let known = HashMap::from([("a/".to_owned(), Version::UNKNOWN)]);
        assert_eq!(never.note_away(&known), None);
    }
}
