//! Where hits are: their files, paths that can be pasted, and the addresses that open
//! them.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

#[cfg(feature = "server")]
use kodiak::search::{Card, Found};
use kodiak::search::{Duplicate, Hit};
use kodiak_notes::markdown::path_in;
#[cfg(feature = "server")]
use kodiak_server::Location;

use crate::assemble;
use crate::config::{Config, Kind};
use crate::output::escape::escaped;
use crate::output::link::Linked;
use crate::output::shell;
use crate::paths;

/// The places of the sources, the current folder and the home folder.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Each source by its name. One that is not on this machine has no path.
    roots: HashMap<String, (Kind, Option<PathBuf>)>,
    here: Option<PathBuf>,
    home: Option<PathBuf>,
    host: String,
}

/// The reader of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A person, who pastes it into a shell.
    Person,
    /// A program, for which neither `~` nor a backslash has a meaning.
    Program,
}

impl Places {
    /// Takes the folders from the config and asks for the current one.
    pub(crate) fn new(config: &Config) -> Self {
        let roots = config.sources.iter();
        Self {
            roots: roots
                .map(|source| {
                    let path = source.server.is_none().then(|| source.path.clone());
                    (source.name.clone(), (source.kind, path))
                })
                .collect(),
            here: std::env::current_dir().ok(),
            home: paths::home().map(|home| home.canonicalize().unwrap_or(home)),
            host: host(),
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
            (Kind::Markdown | Kind::Memory | Kind::Article, root) => {
                Some(path_in(root.as_ref()?, path))
            }
            // The file of a session is not named by the keys in it.
            (Kind::Bear | Kind::Sessions | Kind::Transcripts, _) => None,
        }
    }

    /// Returns the absolute path of a file inside a source, if it is registered.
    pub(crate) fn inside(&self, source: &str, path: &str) -> Option<PathBuf> {
        let (_, root) = self.roots.get(source)?;
        Some(path_in(root.as_ref()?, path))
    }

    /// Returns the address that opens a hit in the application it is from.
    pub(crate) fn url(&self, hit: &Hit) -> Option<String> {
        let (kind, _) = self.roots.get(&hit.source)?;
        assemble::url(*kind, &hit.path)
    }

    /// Returns where a document is, for the owner of the machine.
    #[cfg(feature = "server")]
    pub(crate) fn location(&self, found: &Found) -> Location {
        let document = &found.document;
        let file = self.file_at(&document.source, &found.entry);
        let kind = self.roots.get(&document.source).map(|(kind, _)| *kind);
        let path = Card::from(document).path;
        Location {
            file: file.map(|file| file.to_string_lossy().into_owned()),
            url: kind.and_then(|kind| assemble::url(kind, &path)),
        }
    }

    /// Returns the address that a terminal opens for a hit.
    pub(crate) fn address(&self, hit: &Hit) -> Option<String> {
        let file = || self.file(hit).map(|file| file_address(&self.host, &file));
        let record = || match self.roots.get(&hit.source)? {
            (Kind::Sessions, _) => self.address_inside(&hit.source, &hit.entry),
            _ => None,
        };
        self.url(hit).or_else(file).or_else(record)
    }

    /// Returns the address that a terminal opens for a file inside a source.
    pub(crate) fn address_inside(&self, source: &str, path: &str) -> Option<String> {
        let file = self.inside(source, path)?;
        Some(file_address(&self.host, &file))
    }

    /// Returns the name that its application has for a hit, or else its id.
    pub(crate) fn identifier<'a>(&self, hit: &'a Hit) -> &'a str {
        match self.roots.get(&hit.source) {
            Some((Kind::Bear | Kind::Sessions, _)) => &hit.path,
            _ => &hit.id,
        }
    }

    /// Returns the name to show for a hit: the path of its file, from the current folder
    /// if it lies in that. A hit without a file has its source and its path there, which
    /// every verb that takes a note takes.
    pub(crate) fn shown(&self, hit: &Hit, reader: Reader) -> String {
        let file = self.file(hit);
        self.named(file.as_deref(), &hit.source, &hit.path, reader)
    }

    /// Returns the name to show for a copy of a hit, like [`Places::shown`].
    pub(crate) fn shown_copy(&self, copy: &Duplicate, reader: Reader) -> String {
        let file = self.file_by_key(&copy.source, &copy.path);
        self.named(file.as_deref(), &copy.source, &copy.path, reader)
    }

    /// Returns the name to show a person for a document, like [`Places::shown`].
    pub(crate) fn shown_at(&self, source: &str, key: &str) -> String {
        let file = self.file_by_key(source, key);
        self.named(file.as_deref(), source, key, Reader::Person)
    }

    /// Returns the name to show a person for a document, with the address that opens it.
    pub(crate) fn linked_at(&self, source: &str, key: &str) -> Linked {
        let file = self.file_by_key(source, key);
        let url = self.roots.get(source);
        let url = url.and_then(|(kind, _)| assemble::url(*kind, key));
        Linked {
            text: escaped(&self.shown_at(source, key)).into_owned(),
            address: url.or_else(|| Some(file_address(&self.host, &file?))),
        }
    }

    /// Returns the name of a document in a message: as a person pastes it, with the
    /// address that opens it, or for a program its source and its path there.
    pub(crate) fn told(&self, source: &str, key: &str, reader: Reader) -> Linked {
        match reader {
            Reader::Person => self.linked_at(source, key),
            Reader::Program => Linked {
                text: escaped(&format!("{source}/{key}")).into_owned(),
                address: None,
            },
        }
    }

    /// Returns the path of a file: as a person pastes it, with the address that opens it,
    /// or for a program in full.
    pub(crate) fn told_file(&self, file: &Path, reader: Reader) -> Linked {
        match reader {
            Reader::Person => {
                let name = self.file_name(file, Reader::Person);
                Linked {
                    text: escaped(&shell::word(&name)).into_owned(),
                    address: Some(file_address(&self.host, file)),
                }
            }
            Reader::Program => Linked {
                text: file.to_string_lossy().into_owned(),
                address: None,
            },
        }
    }

    /// Returns the path of a folder, or of a file that is known by its folder, as a person
    /// types it in any folder, with the address that opens it.
    pub(crate) fn linked_folder(&self, folder: &Path) -> Linked {
        Linked {
            text: escaped(&self.shown_folder(folder)).into_owned(),
            address: folder
                .is_absolute()
                .then(|| file_address(&self.host, folder)),
        }
    }

    /// Returns the file of a document, if its key tells.
    fn file_by_key(&self, source: &str, key: &str) -> Option<PathBuf> {
        match self.roots.get(source) {
            // A memory has a name of its own, which its file need not have.
            Some((Kind::Memory | Kind::Article, _)) => None,
            _ => self.file_at(source, key),
        }
    }

    /// Returns the path of a folder as a person types it in any folder.
    pub(crate) fn shown_folder(&self, folder: &Path) -> String {
        let inside = self.home.as_deref().map(|home| folder.strip_prefix(home));
        let name = match inside {
            Some(Ok(inside)) if inside.as_os_str().is_empty() => "~".to_owned(),
            Some(Ok(inside)) => format!("~/{}", inside.display()),
            _ => folder.display().to_string(),
        };
        shell::word(&name).into_owned()
    }

    fn named(&self, file: Option<&Path>, source: &str, path: &str, reader: Reader) -> String {
        let name = match file {
            Some(file) => self.file_name(file, reader),
            None => format!("{source}/{path}"),
        };
        match reader {
            Reader::Person => shell::word(&name).into_owned(),
            Reader::Program => name,
        }
    }

    /// Returns the path of a file as it is typed in the current folder.
    fn file_name(&self, file: &Path, reader: Reader) -> String {
        let inside = |folder: &Option<PathBuf>| {
            let inside = file.strip_prefix(folder.as_deref()?).ok()?;
            Some(inside.to_string_lossy().into_owned())
        };
        if let Some(relative) = inside(&self.here) {
            // It would be taken for an option or for the home folder of a user.
            return if relative.starts_with(['-', '~']) {
                format!("./{relative}")
            } else {
                relative
            };
        }
        match inside(&self.home) {
            Some(inside) if reader == Reader::Person => format!("~/{inside}"),
            _ => file.to_string_lossy().into_owned(),
        }
    }

    /// Returns a path of a hit's file that other programs can open from the current
    /// folder: the relative one unless the absolute one is shorter. A note that is not
    /// a file has its identifier, which `kodiak open` and `kodiak get` take.
    pub(crate) fn usable(&self, hit: &Hit) -> Option<String> {
        self.usable_at(&hit.source, &hit.path, &hit.entry, &hit.id)
    }

    /// Returns the same for a note with this path, from this entry, with this id.
    pub(crate) fn usable_at(
        &self,
        source: &str,
        path: &str,
        entry: &str,
        id: &str,
    ) -> Option<String> {
        match self.roots.get(source)?.0 {
            Kind::Bear | Kind::Sessions => return Some(path.to_owned()),
            Kind::Transcripts => return Some(id.to_owned()),
            Kind::Markdown | Kind::Memory | Kind::Article => {}
        }
        let file = self.file_at(source, entry)?.to_string_lossy().into_owned();
        match self.relative(source, entry) {
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

/// Returns the name of this machine, by which a terminal tells its own files from the files
/// of a machine that it is connected to.
pub(crate) fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = String::new();
    let is_name = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '.' | '_');
    if name.chars().all(is_name) {
        name
    } else {
        String::new()
    }
}

/// Returns the `file://` address of a path on a machine.
fn file_address(host: &str, path: &Path) -> String {
    let mut address = format!("file://{host}");
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

    #[cfg(unix)]
    #[test]
    fn names_can_be_pasted_in_the_current_folder() {
        let places = Places {
            here: Some("/home/me/notes".into()),
            home: Some("/home/me".into()),
            ..Places::default()
        };
        for (file, person, program) in [
            ("/home/me/notes/a/b.md", "a/b.md", "a/b.md"),
            ("/home/me/notes/a b.md", r"a\ b.md", "a b.md"),
            ("/home/me/notes/-a.md", "./-a.md", "./-a.md"),
            ("/home/me/notes/~a.md", "./~a.md", "./~a.md"),
            ("/home/me/work/a.md", "~/work/a.md", "/home/me/work/a.md"),
            (
                "/home/me/My (old)/a.md",
                r"~/My\ \(old\)/a.md",
                "/home/me/My (old)/a.md",
            ),
            (
                "/home/melissa/a.md",
                "/home/melissa/a.md",
                "/home/melissa/a.md",
            ),
        ] {
            let file = Some(Path::new(file));
            assert_eq!(places.named(file, "notes", "", Reader::Person), person);
            assert_eq!(places.named(file, "notes", "", Reader::Program), program);
        }
        assert_eq!(
            places.named(None, "bear", "A1-B2", Reader::Person),
            "bear/A1-B2"
        );
    }

    #[test]
    fn addresses_have_no_sign_with_a_meaning() {
        let address = file_address("desk", Path::new("/a b/ü#?%\u{1b}\\.md"));
        assert_eq!(address, "file://desk/a%20b/%C3%BC%23%3F%25%1B%5C.md");
    }
}
