//! The pictures that notes show: files of the same folder, and nothing else.
//!
//! A file is opened relative to the open folder, without following a link, so that it lies
//! in the folder whatever its path leads to. It counts as a picture if its name and its
//! content say so. Hidden files do not exist here, and neither do the files of a folder
//! that is a separate source which the caller may not see. A caller that is restricted to a
//! project sees no pictures, because no file that is not a note has a project, and one that
//! is restricted to sources sees only those that the note itself names.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use kodiak::Engine;
use kodiak::access::{Capability, Guard};
use kodiak::store::StoredDocument;
use kodiak_base::{Error, Result};
use percent_encoding::percent_decode_str;

use crate::MarkdownFolder;

/// The largest picture that is read, in bytes.
pub const MAX_PICTURE_BYTES: u64 = 20 << 20;

/// The most files and folders that are looked through for a picture by its name.
const MAX_ENTRIES: usize = 20_000;

/// How much of an SVG is searched for its first element.
const SVG_BEGINNING: usize = 4_096;

/// The kinds of pictures: each with the extensions of its files and its media type.
const KINDS: [(&[&str], &str); 6] = [
    (&["png"], "image/png"),
    (&["jpg", "jpeg"], "image/jpeg"),
    (&["gif"], "image/gif"),
    (&["webp"], "image/webp"),
    (&["avif"], "image/avif"),
    (&["svg"], "image/svg+xml"),
];

/// Finds and reads the pictures of notes.
#[derive(Clone, Debug)]
pub struct Pictures<'a> {
    engine: &'a Engine,
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Its media type.
    pub media_type: &'static str,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl<'a> Pictures<'a> {
    /// Creates a view of the pictures of an engine's folders.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }

    /// Returns the paths from the root of the pictures that paths in a note lead to, each
    /// in its place: from the folder of the note, or else from the root. A mere name in a
    /// wiki link, for which `wiki` is true, may name a picture in any folder, if it is the
    /// only one. Whether a file is a picture shows only when it is read.
    pub fn near(
        &self,
        guard: &Guard,
        note: &StoredDocument,
        paths: &[(&str, bool)],
    ) -> Vec<Option<String>> {
        let Some(folder) = self.folder(guard, note) else {
            return vec![None; paths.len()];
        };
        let above = note.key.rsplit_once('/').map_or("", |(above, _)| above);
        let is_there = |path: &String| {
            let opened = || folder.folder_at(path)?.ok();
            let there = || opened().is_some_and(|(folder, name)| folder.is_file(Path::new(name)));
            self.may_exist(guard, folder, path) && there()
        };
        let mut found: Vec<Option<String>> = paths
            .iter()
            .map(|(path, _)| {
                let near = (!path.starts_with('/')).then(|| joined(above, path));
                let candidates = [near.flatten(), joined("", path)];
                candidates.into_iter().flatten().find(is_there)
            })
            .collect();
        let is_name =
            |path: &str, wiki: bool| wiki && !path.contains('/') && kind_of(path).is_some();
        let lost = |at: &usize| found[*at].is_none() && is_name(paths[*at].0, paths[*at].1);
        let lost: Vec<usize> = (0..paths.len()).filter(lost).collect();
        if !lost.is_empty() {
            let names: HashSet<&str> = lost.iter().map(|&at| paths[at].0).collect();
            let enters = |path: &str| !self.is_outside(guard, folder, path);
            let elsewhere = anywhere(folder.root(), &names, MAX_ENTRIES, enters);
            for at in lost {
                let found_at = elsewhere.get(paths[at].0).map(Vec::as_slice);
                if let Some([path]) = found_at
                    && is_there(path)
                {
                    found[at] = Some(path.clone());
                }
            }
        }
        found
    }

    /// Returns how large the file of a picture of a note is, at a path from the root.
    /// Returns `None` if there is none for the caller, or if it is too large.
    pub fn size(&self, guard: &Guard, note: &StoredDocument, path: &str) -> Result<Option<usize>> {
        let length = |file: File| Ok(file.metadata()?.len());
        let size = self.opened(guard, note, path, length)?;
        let size = size.filter(|size| *size <= MAX_PICTURE_BYTES);
        Ok(size.and_then(|size| usize::try_from(size).ok()))
    }

    /// Reads the picture of a note at a path from the root. Returns `None` if there is
    /// none for the caller.
    pub fn read(
        &self,
        guard: &Guard,
        note: &StoredDocument,
        path: &str,
    ) -> Result<Option<Picture>> {
        let bytes = self.opened(guard, note, path, content)?;
        Ok(bytes.and_then(|bytes| {
            media_type(path, &bytes).map(|media_type| Picture { media_type, bytes })
        }))
    }

    /// Opens a file that may be a picture, and returns the result of `then` for it. Returns
    /// `None` if there is none for the caller.
    fn opened<T>(
        &self,
        guard: &Guard,
        note: &StoredDocument,
        path: &str,
        then: impl FnOnce(File) -> io::Result<T>,
    ) -> Result<Option<T>> {
        guard.require(Capability::Read)?;
        let Some(folder) = self.folder(guard, note) else {
            return Ok(None);
        };
        let named = guard.sees_everything() || names(&note.body, path);
        if !named || !self.may_exist(guard, folder, path) {
            return Ok(None);
        }
        let Some(opened) = folder.folder_at(path) else {
            return Ok(None);
        };
        match opened.and_then(|(folder, name)| then(folder.open_file(Path::new(name))?)) {
            Ok(done) => Ok(Some(done)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(Error::io("read", folder.path_of(path))(error)),
        }
    }

    /// Returns the folder that a note is in, if its files exist for the caller.
    fn folder(&self, guard: &Guard, note: &StoredDocument) -> Option<&MarkdownFolder> {
        if guard.project().is_some() || !guard.admits(&note.source) {
            return None;
        }
        self.folders()
            .find(|(name, _)| *name == note.source)
            .map(|(_, folder)| folder)
    }

    fn folders(&self) -> impl Iterator<Item = (&str, &MarkdownFolder)> {
        let sources = self.engine.sources().iter();
        sources.filter_map(|source| Some((source.name(), source.as_any()?.downcast_ref()?)))
    }

    /// Reports whether a file at this path may be a picture that exists for the caller.
    fn may_exist(&self, guard: &Guard, folder: &MarkdownFolder, path: &str) -> bool {
        let is_hidden = path.split('/').any(|part| part.starts_with('.'));
        if is_hidden || kind_of(path).is_none() {
            return false;
        }
        !self.is_outside(guard, folder, path)
    }

    /// Reports whether a file or folder belongs to a source in the folder of this one that
    /// the caller may not see.
    fn is_outside(&self, guard: &Guard, folder: &MarkdownFolder, path: &str) -> bool {
        let file = folder.path_of(path);
        let mut others = self.engine.sources().iter();
        others.any(|other| {
            let roots = other.watch_paths();
            let inside = |root: &Path| root.starts_with(folder.root()) && root != folder.root();
            let mut roots = roots.iter().filter(|root| inside(root));
            !guard.admits(other.name()) && roots.any(|root| file.starts_with(root))
        })
    }
}

/// Returns the paths of the files with these names in a folder and those below it that are
/// entered, as far as a bounded number of entries shows. Hidden folders and links are left
/// out, and nothing depends on what is in a folder that is not entered.
fn anywhere(
    root: &Path,
    names: &HashSet<&str>,
    most: usize,
    enters: impl Fn(&str) -> bool,
) -> HashMap<String, Vec<String>> {
    let mut found: HashMap<String, Vec<String>> = HashMap::new();
    let (mut folders, mut seen) = (VecDeque::from([String::new()]), 0);
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = std::fs::read_dir(root.join(&folder)) else {
            continue;
        };
        for entry in entries.filter_map(io::Result::ok) {
            let kind = entry.file_type();
            let name = entry.file_name();
            let path = name.to_str().map(|name| match folder.as_str() {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            });
            let is_folder = kind.as_ref().is_ok_and(std::fs::FileType::is_dir);
            let is_named = name.to_str().is_some_and(|name| names.contains(name));
            // What is outside does not even count.
            let matters = is_folder || is_named;
            if matters && path.as_deref().is_some_and(|path| !enters(path)) {
                continue;
            }
            seen += 1;
            if seen > most {
                return found;
            }
            let (Ok(kind), Some(path), Some(name)) = (kind, path, name.to_str()) else {
                continue;
            };
            if name.starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                folders.push_back(path);
            } else if kind.is_file() && is_named {
                found.entry(name.to_owned()).or_default().push(path);
            }
        }
    }
    found
}

/// Returns a path from a folder as one from the root; `None` if it leads out of it.
fn joined(above: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = above.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

/// Reports whether a text has the name at the end of a path, written in any way.
fn names(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    text.contains(name) || percent_decode_str(text).decode_utf8_lossy().contains(name)
}

fn is_absent(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, IsADirectory, NotADirectory, NotFound};
    let absent = [
        InvalidData,
        InvalidInput,
        IsADirectory,
        NotADirectory,
        NotFound,
    ];
    absent.contains(&error.kind()) || kodiak_base::files::folder::is_link(error)
}

/// Reads a file that is not too large.
fn content(file: File) -> io::Result<Vec<u8>> {
    // No more than it needs: what is not read by a client is held for a while.
    let length = file.metadata()?.len().min(MAX_PICTURE_BYTES);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
    file.take(MAX_PICTURE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PICTURE_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    Ok(bytes)
}

/// Returns the media type that the name of a file stands for.
fn kind_of(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let is = |known: &&str| known.eq_ignore_ascii_case(extension);
    let kind = KINDS
        .iter()
        .find(|(extensions, _)| extensions.iter().any(&is));
    kind.map(|(_, media_type)| *media_type)
}

/// Returns the media type of a picture, if its name and its content agree.
fn media_type(path: &str, bytes: &[u8]) -> Option<&'static str> {
    let named = kind_of(path)?;
    let is = match named {
        "image/png" => bytes.starts_with(b"\x89PNG\r\n\x1a\n"),
        "image/jpeg" => bytes.starts_with(b"\xff\xd8\xff"),
        "image/gif" => bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a"),
        "image/webp" => bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP"),
        "image/avif" => {
            let brand = bytes.get(8..12).unwrap_or_default();
            bytes.get(4..8) == Some(b"ftyp")
                && [b"avif", b"avis", b"mif1"].iter().any(|one| brand == *one)
        }
        _ => is_svg(bytes),
    };
    is.then_some(named)
}

/// Reports whether a file is an SVG: text whose first element is one.
fn is_svg(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let beginning = &text[..text.floor_char_boundary(SVG_BEGINNING)];
    let mut rest = beginning.trim_start_matches('\u{feff}').trim_start();
    // What may stand before it: a declaration, comments, a document type.
    while let Some(end) = match rest {
        _ if rest.starts_with("<?") => rest.find("?>").map(|at| at + 2),
        _ if rest.starts_with("<!--") => rest.find("-->").map(|at| at + 3),
        _ if rest.starts_with("<!") => rest.find('>').map(|at| at + 1),
        _ => None,
    } {
        rest = rest[end..].trim_start();
    }
    rest.strip_prefix("<svg")
        .is_some_and(|rest| rest.starts_with([' ', '>', '\n', '\t', '\r', '/']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        for (above, path, expected) in [
            ("a/b", "c.png", Some("a/b/c.png")),
            ("a/b", "../c.png", Some("a/c.png")),
            ("a", "../../c.png", None),
            ("a", "./d//c.png", Some("a/d/c.png")),
            ("", "/c.png", Some("c.png")),
            ("", "", None),
        ] {
            assert_eq!(joined(above, path).as_deref(), expected, "{above} {path}");
        }
    }

    #[test]
    fn folders_that_are_not_entered_do_not_count() {
        let place = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = place.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        };
        for number in 0..50 {
            write(&format!("private/{number}.md"));
        }
        write("private/a.png");
        write("sub/deep/a.png");
        let found = |most, enters: &dyn Fn(&str) -> bool| {
            let names = HashSet::from(["a.png"]);
            let mut found = anywhere(place.path(), &names, most, enters);
            let mut found = found.remove("a.png").unwrap_or_default();
            found.sort();
            found
        };
        let inside = |path: &str| !path.starts_with("private");
        assert_eq!(found(100, &|_| true), ["private/a.png", "sub/deep/a.png"]);
        // Three entries lead there.
        assert_eq!(found(3, &inside), ["sub/deep/a.png"]);
        assert!(found(2, &inside).is_empty());
        std::fs::remove_dir_all(place.path().join("private")).unwrap();
        assert_eq!(found(3, &inside), ["sub/deep/a.png"]);
        assert!(found(2, &inside).is_empty());
    }

    #[test]
    fn a_picture_is_one_by_name_and_content() {
        let png = b"\x89PNG\r\n\x1a\nrest";
        assert_eq!(media_type("a/b.PNG", png), Some("image/png"));
        assert_eq!(media_type("a/b.gif", png), None);
        assert_eq!(media_type("a/b.html", png), None);
        assert_eq!(media_type("png", png), None);
        assert_eq!(media_type("a.png", b"<html>"), None);
        for svg in [
            "<svg/>",
            "\u{feff} <?xml version='1'?>\n<!-- x --><!DOCTYPE svg>\n<svg a='b'>",
        ] {
            assert_eq!(
                media_type("a.svg", svg.as_bytes()),
                Some("image/svg+xml"),
                "{svg}"
            );
        }
        for other in ["<html><svg/>", "<svgx>", "", "<!-- <svg>", "<?xml"] {
            assert_eq!(media_type("a.svg", other.as_bytes()), None, "{other}");
        }
        assert_eq!(media_type("a.svg", b"<svg>\xff"), None);
    }

    #[test]
    fn a_note_names_its_pictures_in_any_way() {
        assert!(names("![](a%20b.png)", "x/a b.png"));
        assert!(names("![[a b.png|300]]", "a b.png"));
        assert!(!names("![](c.png)", "a b.png"));
    }
}
