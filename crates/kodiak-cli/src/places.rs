//! Where hits are: their files, how to name them from the current folder, and
//! the addresses that open them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use kodiak::search::{Duplicate, Hit};
use kodiak_notes::markdown::path_in;

use crate::assemble;
use crate::config::{Config, Kind};

/// The places of the sources, and the current folder.
#[derive(Debug, Default)]
pub(crate) struct Places {
    roots: HashMap<String, (Kind, PathBuf)>,
    here: Option<PathBuf>,
}

impl Places {
    /// Takes the folders from the config and asks for the current one.
    pub(crate) fn new(config: &Config) -> Self {
        let roots = config.sources.iter();
        Self {
            roots: roots
                .map(|source| (source.name.clone(), (source.kind, source.path.clone())))
                .collect(),
            here: std::env::current_dir().ok(),
        }
    }

    /// Reports whether the source of a hit is registered.
    pub(crate) fn knows(&self, hit: &Hit) -> bool {
        self.roots.contains_key(&hit.source)
    }

    /// Returns the absolute path of a hit's file, if it is a file and its source is
    /// registered.
    pub(crate) fn file(&self, hit: &Hit) -> Option<PathBuf> {
        self.file_at(&hit.source, &hit.entry)
    }

    /// Returns the absolute path of the file at a path of a source, if it is a file
    /// and the source is registered.
    pub(crate) fn file_at(&self, source: &str, path: &str) -> Option<PathBuf> {
        match self.roots.get(source)? {
            (Kind::Markdown | Kind::Memory | Kind::Article, root) => Some(path_in(root, path)),
            // The file of a session is not named by the keys in it.
            (Kind::Bear | Kind::Sessions | Kind::Transcripts, _) => None,
        }
    }

    /// Returns the absolute path of a file inside a source, if it is registered.
    pub(crate) fn inside(&self, source: &str, path: &str) -> Option<PathBuf> {
        let (_, root) = self.roots.get(source)?;
        Some(path_in(root, path))
    }

    /// Returns the address that opens a hit in the application it is from.
    pub(crate) fn url(&self, hit: &Hit) -> Option<String> {
        let (kind, _) = self.roots.get(&hit.source)?;
        assemble::url(*kind, &hit.path)
    }

    /// Returns the address that a terminal opens for a hit.
    pub(crate) fn address(&self, hit: &Hit) -> Option<String> {
        let file = || self.file(hit).map(|file| file_address(&file));
        self.url(hit).or_else(file)
    }

    /// Returns the name that its application has for a hit, or else its id.
    pub(crate) fn identifier<'a>(&self, hit: &'a Hit) -> &'a str {
        match self.roots.get(&hit.source) {
            Some((Kind::Bear | Kind::Sessions, _)) => &hit.path,
            _ => &hit.id,
        }
    }

    /// Returns the path to show for a hit: its source and path, or the path from the
    /// current folder if that is no longer.
    pub(crate) fn shown(&self, hit: &Hit) -> String {
        self.shown_at(&hit.source, &hit.path)
    }

    /// Returns the path to show for a copy of a hit, like that of a hit.
    pub(crate) fn shown_copy(&self, copy: &Duplicate) -> String {
        self.shown_at(&copy.source, &copy.path)
    }

    /// Returns the path to show for a document of a source.
    pub(crate) fn shown_at(&self, source: &str, path: &str) -> String {
        let named = format!("{source}/{path}");
        // A memory has a name of its own, which its file need not have.
        if let Some((Kind::Memory | Kind::Article, _)) = self.roots.get(source) {
            return named;
        }
        match self.relative(source, path) {
            Some(relative) if relative.len() <= named.len() => relative,
            _ => named,
        }
    }

    /// Returns a path of a hit's file that other programs can open from the current
    /// folder: the relative one unless the absolute one is shorter. A note that is not
    /// a file has its identifier, which `kodiak open` and `kodiak get` take.
    pub(crate) fn usable(&self, hit: &Hit) -> Option<String> {
        let record = |kind: &Kind| matches!(kind, Kind::Sessions | Kind::Transcripts);
        let root = self.roots.get(&hit.source);
        let is_record = root.is_some_and(|(kind, _)| record(kind));
        if is_record || self.url(hit).is_some() {
            return Some(self.identifier(hit).to_owned());
        }
        let file = self.file(hit)?.to_string_lossy().into_owned();
        match self.relative(&hit.source, &hit.entry) {
            Some(relative) if relative.len() < file.len() => Some(relative),
            _ => Some(file),
        }
    }

    fn relative(&self, source: &str, path: &str) -> Option<String> {
        let file = self.file_at(source, path)?;
        let path = relative_to(&file, self.here.as_deref()?)?;
        let path = path.to_string_lossy().into_owned();
        // A name that begins with a dash would be taken for an option.
        Some(if path.starts_with('-') {
            format!("./{path}")
        } else {
            path
        })
    }
}

/// Returns the path of `file` as seen from the folder `here`. Both are absolute.
fn relative_to(file: &Path, here: &Path) -> Option<PathBuf> {
    let mut wanted = file.components().peekable();
    let mut from = here.components().peekable();
    let mut shared = 0;
    while let (Some(one), Some(other)) = (wanted.peek(), from.peek())
        && one == other
    {
        wanted.next();
        from.next();
        shared += 1;
    }
    // Paths that share nothing but the root are clearer as they are.
    if shared < 2 {
        return None;
    }
    let up = from.map(|_| Component::ParentDir);
    Some(up.chain(wanted).collect())
}

/// Returns the `file://` address of a path.
fn file_address(path: &Path) -> String {
    let mut address = "file://".to_owned();
    for &byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(byte));
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_seen_from_a_folder() {
        for (file, here, expected) in [
            ("/home/me/notes/a.md", "/home/me/notes", Some("a.md")),
            ("/home/me/notes/a/b.md", "/home/me", Some("notes/a/b.md")),
            (
                "/home/me/notes/a.md",
                "/home/me/work",
                Some("../notes/a.md"),
            ),
            ("/mnt/a.md", "/home/me", None),
        ] {
            let found = relative_to(Path::new(file), Path::new(here));
            assert_eq!(found, expected.map(PathBuf::from), "{file} {here}");
        }
    }

    #[test]
    fn addresses_have_no_sign_with_a_meaning() {
        let address = file_address(Path::new("/a b/ü#?%\u{1b}\\.md"));
        assert_eq!(address, "file:///a%20b/%C3%BC%23%3F%25%1B%5C.md");
    }
}
