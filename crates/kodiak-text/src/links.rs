//! What links point to: the names of a document, and which document a link means.
//!
//! A link keeps its target as written. Which document that is can change with every
//! document that comes, goes or gets another name, so it is resolved when a search
//! needs it. A store finds the documents that have the link's [`name`](LinkTarget::name),
//! and [`LinkTarget::resolve`] chooses among them.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::markup::Lines;
use super::markup::links::{self, Written};
use super::text::fold_into;
use crate::document::{EXTENSIONS, Markup};

/// The number of targets of a document that are kept.
pub const MAX_TARGETS: usize = 4_096;

/// The number of bytes that are kept of a link's text, and of all texts that link from
/// one document to another.
const MAX_TEXT: usize = 200;
const MAX_TEXTS: usize = 1_000;

/// The number of bytes of a target. Names of files are shorter.
const MAX_TARGET: usize = 500;

/// The texts with which a document links to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutgoingLink {
    /// The other document.
    pub target: LinkTarget,
    /// Each distinct text, one per line.
    pub texts: String,
}

/// What a link points to, as written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkTarget {
    /// The path or the name: folded, without heading and `.` components. It begins with
    /// `/` if it is relative to the root.
    path: String,
    /// Whether it may be a title.
    titled: bool,
}

/// A document that a link may mean.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its key.
    pub key: &'a str,
    /// Its title.
    pub title: &'a str,
}

impl LinkTarget {
    /// Reads a link's target. Returns `None` if it cannot be another document of the
    /// same source.
    fn read(link: &Written<'_>) -> Option<Self> {
        let written = link.target.trim();
        if written.is_empty() || written.len() > MAX_TARGET {
            return None;
        }
        let target = if link.wiki {
            let target = written.strip_prefix("file:").unwrap_or(written);
            let target = target.split_once("::").map_or(target, |(file, _)| file);
            if target.contains("://") {
                return None;
            }
            target.to_owned()
        } else {
            let target = match written.strip_prefix('<') {
                Some(angled) => angled.split_once('>')?.0,
                // A title may follow.
                None => written.split(char::is_whitespace).next()?,
            };
            if has_scheme(target) {
                return None;
            }
            percent_decode_str(target).decode_utf8().ok()?.into_owned()
        };
        // Behind these there is a place in the document.
        let signs: &[char] = if link.wiki { &['#'] } else { &['#', '?'] };
        // In a table, the bar of a wiki link is escaped.
        let target = target.split(signs).next()?.trim_end_matches('\\');
        if !link.wiki && has_other_extension(target) {
            return None;
        }
        let path = normalised(target)?;
        let titled = link.wiki && !path.contains('/');
        Some(Self { path, titled })
    }

    /// Creates a target that a store has kept.
    pub fn new(path: String, titled: bool) -> Self {
        Self { path, titled }
    }

    /// Returns the path or the name, for a store to keep.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Reports whether it may be a title.
    pub fn is_titled(&self) -> bool {
        self.titled
    }

    /// Returns the name that the document has: one of its [`names`].
    pub fn name(&self) -> &str {
        stem(self.path.rsplit('/').next().unwrap_or_default())
    }

    /// Returns the place of the document that a link in the document with the key
    /// `from` means, or `None` if there is none or it cannot be told.
    ///
    /// It is the one at the path from the folder of the link, or from the root, or
    /// otherwise the only one whose path ends so or whose title it is. Links are written
    /// by several programs, which do not agree where a path begins.
    pub fn resolve(&self, from: &str, candidates: &[Named<'_>]) -> Option<usize> {
        let folded: Vec<String> = candidates.iter().map(|one| fold(one.key)).collect();
        let only = |fits: &dyn Fn(usize) -> bool| {
            let mut fitting = (0..candidates.len()).filter(|&at| fits(at));
            let first = fitting.next()?;
            fitting.next().is_none().then_some(first)
        };
        let at = |path: &str| only(&|at| is_at(&folded[at], path));
        let from = fold(from);
        let near = self.joined(&from);
        let rooted = self.path.trim_start_matches('/');
        let written = rooted.trim_start_matches("../");
        let is_named = |at: usize| ends_at(&folded[at], written);
        near.as_deref()
            .and_then(at)
            .or_else(|| at(rooted))
            .or_else(|| only(&is_named))
            .or_else(|| {
                let has_title = |at: usize| fold(candidates[at].title.trim()) == self.path;
                // Notes of the same name in several folders are told apart above, or
                // not at all.
                let named = (0..candidates.len()).any(is_named);
                (self.titled && !named).then(|| only(&has_title)).flatten()
            })
    }

    /// Returns the path from the root of a target that is relative to the document with
    /// the key `from`; `None` if it is outside.
    fn joined(&self, from: &str) -> Option<String> {
        let mut parts: Vec<&str> = from.split('/').collect();
        parts.pop();
        if self.path.starts_with('/') {
            parts.clear();
        }
        for part in self.path.split('/').filter(|part| !part.is_empty()) {
            if part == ".." {
                parts.pop()?;
            } else {
                parts.push(part);
            }
        }
        Some(parts.join("/"))
    }
}

/// Returns the names that links may call a document by: the end of its key, without the
/// extension, and its title. Both are folded.
pub fn names(key: &str, title: &str) -> Vec<String> {
    let key = fold(key);
    let mut names = vec![stem(key.rsplit('/').next().unwrap_or_default()).to_owned()];
    // A target with a slash is a path.
    let title = fold(title.trim());
    let title = stem(&title);
    if names[0] != title && !title.contains('/') {
        names.push(title.to_owned());
    }
    names.retain(|name| !name.is_empty() && name.len() <= MAX_TARGET);
    names
}

/// Returns the links of a body: for each target, in the order of their paths, the
/// distinct texts.
pub fn outgoing(markup: Markup, lines: &Lines, body: &str) -> Vec<OutgoingLink> {
    let mut targets: BTreeMap<LinkTarget, Vec<String>> = BTreeMap::new();
    links::each(markup, lines, body, |link| {
        let Some(target) = LinkTarget::read(&link) else {
            return;
        };
        let text = link.text.trim();
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() || (targets.len() >= MAX_TARGETS && !targets.contains_key(&target)) {
            return;
        }
        let texts = targets.entry(target).or_default();
        let length: usize = texts.iter().map(String::len).sum();
        let is_same = |known: &String| known.len() == text.len() && fold(known) == fold(&text);
        let is_known = texts.iter().any(is_same);
        if length + text.len() <= MAX_TEXTS && !is_known {
            texts.push(text);
        }
    });
    let targets = targets.into_iter().map(|(target, texts)| OutgoingLink {
        target,
        texts: texts.join("\n"),
    });
    targets.collect()
}

fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded
}

/// Returns a path, folded and without `.` components; `None` if nothing is left.
fn normalised(path: &str) -> Option<String> {
    let mut folded = String::new();
    let rooted = path.starts_with('/');
    for part in path.split('/').map(str::trim) {
        if part.is_empty() || part == "." {
            continue;
        }
        if rooted || !folded.is_empty() {
            folded.push('/');
        }
        fold_into(part, &mut folded);
    }
    let is_name = !folded.is_empty() && !folded.ends_with("..");
    is_name.then_some(folded)
}

/// Returns a name without the extension of a note.
fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && EXTENSIONS.contains(&extension) => stem,
        _ => name,
    }
}

/// Reports whether a path names a key, with or without the extension.
fn is_at(key: &str, path: &str) -> bool {
    key == path || stem(key) == path
}

/// Reports whether a key ends with a path, with or without the extension.
fn ends_at(key: &str, path: &str) -> bool {
    let ends = |key: &str| {
        let before = key.strip_suffix(path);
        before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    ends(key) || ends(stem(key))
}

/// Reports whether an address begins with a scheme, such as `https:`.
fn has_scheme(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else {
        return false;
    };
    scheme.len() > 1
        && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Reports whether a path names a file that is not a note, such as a picture.
fn has_other_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let lower = extension.to_ascii_lowercase();
    is_extension && !EXTENSIONS.contains(&lower.as_str())
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
