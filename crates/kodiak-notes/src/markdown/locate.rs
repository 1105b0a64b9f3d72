//! Finding out about single files without listing the folder.
//!
//! The same rules as in a walk decide whether a file is an entry: only the
//! folders on the way to it are read.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::keys::{key_of, path_of_key};
use super::rules::Rules;
use super::walk::takes;
use super::{MarkdownFolder, require_folder};
use kodiak::source::{Entry, Located};
use kodiak_base::Result;
use kodiak_base::files::folder::Folder;
use kodiak_base::files::state::FileState;

impl MarkdownFolder {
    /// Returns which of these files lie in the folder, each with its entry if it
    /// would be listed now.
    pub(super) fn locate_files(&self, files: &[PathBuf]) -> Result<Vec<Located>> {
        let inside = |file: &PathBuf| Some((file.clone(), self.key_in_folder(file)?));
        let wanted: Vec<(PathBuf, String)> = files.iter().filter_map(inside).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        // A missing folder must not look like one without these files.
        require_folder(&self.root)?;
        let mut way: HashSet<PathBuf> = HashSet::new();
        for (file, _) in &wanted {
            let above = file.ancestors();
            way.extend(
                above
                    .take_while(|path| *path != self.root)
                    .map(Path::to_owned),
            );
        }
        let (globs, root, rules) = (self.globs.clone(), self.root.clone(), Rules::default());
        rules.enter(&root);
        let mut walk = WalkBuilder::new(&self.root);
        walk.follow_links(false)
            .standard_filters(false)
            .hidden(true)
            .filter_entry(move |entry| {
                let path = entry.path();
                if path == root {
                    return true;
                }
                let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
                let admitted =
                    way.contains(path) && takes(&globs, entry) && rules.admit(path, is_folder);
                if admitted && is_folder {
                    rules.enter(path);
                }
                admitted
            });
        let mut entries = std::collections::HashMap::new();
        for found in walk.build().filter_map(std::result::Result::ok) {
            let Ok(metadata) = found.metadata() else {
                continue;
            };
            if metadata.is_file() {
                let state = FileState::of(&metadata);
                let version = self.version_of(&state);
                entries.insert(found.into_path(), (version, state.size));
            }
        }
        let located = wanted.into_iter().map(|(file, key)| Located {
            entry: entries.get(&file).map(|&(version, size_hint)| Entry {
                key: key.clone(),
                version,
                size_hint,
            }),
            key,
        });
        Ok(located.collect())
    }

    /// Reports whether a path in a note leads to a file or a folder inside this one,
    /// from the folder of the note or from the root. Links are not followed.
    pub(crate) fn has_near(&self, from: &str, path: &str) -> bool {
        let above = from.rsplit_once('/').map_or("", |(above, _)| above);
        let near = [above, path].join("/");
        let candidates = [near.as_str(), path];
        candidates.iter().any(|path| self.has(path))
    }

    /// Opens the folder that a path from the root leads to, without following a link, for
    /// the name at its end. Returns `None` if the path leads out of the folder.
    pub(crate) fn folder_at<'p>(
        &self,
        path: &'p str,
    ) -> Option<std::io::Result<(Folder, &'p str)>> {
        let (above, name) = path.rsplit_once('/').unwrap_or(("", path));
        let mut parts = path.split('/');
        let is_plain = parts.all(|part| !matches!(part, "" | "." | ".."));
        is_plain.then(|| Ok((Folder::open(&self.root, &path_of_key(above))?, name)))
    }

    /// Reports whether the folder has something at this path.
    fn has(&self, path: &str) -> bool {
        let mut parts: Vec<&str> = Vec::new();
        for part in path
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
        {
            if part != ".." {
                parts.push(part);
            } else if parts.pop().is_none() {
                return false;
            }
        }
        let Some(name) = parts.pop() else {
            return true;
        };
        let above = parts.join("/");
        let folder = Folder::open(&self.root, &path_of_key(&above));
        folder.is_ok_and(|folder| folder.has(&path_of_key(name)))
    }

    /// Returns the key of a file in this folder, whether it exists or not.
    fn key_in_folder(&self, file: &Path) -> Option<String> {
        file.strip_prefix(&self.root).ok()?;
        let key = key_of(&self.root, file)?;
        (!key.is_empty()).then(|| key.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::markdown::FolderOptions;
    use kodiak::source::Source;

    #[test]
    fn a_file_is_an_entry_exactly_if_it_is_listed() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for (name, text) in [
            ("a.md", "a"),
            ("deep/er/b.md", "b"),
            ("deep/c.png", "c"),
            ("drafts/d.md", "d"),
            ("ignored/e.md", "e"),
            (".trash/f.md", "f"),
            ("deep/.g.md", "g"),
            ("deep/h.md", "h"),
            (".gitignore", "ignored/\n"),
            ("deep/.gitignore", "h.md\n"),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let options = FolderOptions {
            globs: vec!["!drafts/".to_owned()],
            ..FolderOptions::default()
        };
        let source = MarkdownFolder::new("notes", &root, options).unwrap();
        let mut listed = source.list().unwrap().entries;
        listed.sort_by(|one, other| one.key.cmp(&other.key));
        let names = [
            "a.md",
            "deep/er/b.md",
            "deep/c.png",
            "drafts/d.md",
            "ignored/e.md",
            ".trash/f.md",
            "deep/.g.md",
            "deep/h.md",
            "missing/i.md",
        ];
        let mut files: Vec<PathBuf> = names.iter().map(|name| root.join(name)).collect();
        files.push(place.path().parent().unwrap().join("outside.md"));
        let located = source.locate(&files).unwrap();
        assert_eq!(located.len(), names.len());
        let entries: Vec<Entry> = located.into_iter().filter_map(|one| one.entry).collect();
        assert_eq!(entries, listed);
    }
}
