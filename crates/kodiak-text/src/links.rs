//! Link targets: the names of a document, and the document that a link means.
//!
//! A link keeps its target as written. Which document that is can change with every
//! document that comes, goes or gets another name, so it is resolved when a search
//! needs it. A store finds the documents that have the link's [`name`](LinkTarget::name),
//! and [`LinkTarget::resolve`] chooses among them.

use std::collections::BTreeMap;

use percent_encoding::percent_decode_str;

use super::markup::Lines;
use super::markup::links::{self, Written, has_other_extension};
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

/// A link of a body to something in the same source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BodyLink {
    /// The path or the name as it is written, without a place in the document.
    pub path: String,
    /// The text of the link.
    pub text: String,
    /// The document it may point to; `None` if it names another kind of file.
    pub target: Option<LinkTarget>,
}

/// What a link points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// No document.
    Nothing,
    /// The document at this place among the candidates.
    One(usize),
    /// Any of several documents.
    Several,
}

impl BodyLink {
    /// Reads a link that was found in a body: its target and its text, as written. Returns
    /// `None` if it leads out of the source.
    pub fn read(target: &str, text: &str, wiki: bool) -> Option<Self> {
        let path = path_of(&Written { target, text, wiki })?;
        (!path.trim().is_empty()).then(|| Self {
            target: LinkTarget::at(&path, wiki),
            path,
            text: one_line(text),
        })
    }
}

impl LinkTarget {
    /// Reads a link's target. Returns `None` if it cannot be another document of the
    /// same source.
    fn read(link: &Written<'_>) -> Option<Self> {
        Self::at(&path_of(link)?, link.wiki)
    }

    /// Returns the target of a path or a name, unless it is another kind of file.
    fn at(written: &str, wiki: bool) -> Option<Self> {
        if !wiki && has_other_extension(written) {
            return None;
        }
        let path = normalised(written)?;
        let titled = wiki && !path.contains('/');
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

    /// Reports whether a document with this alias may be meant.
    pub fn is_alias(&self, alias: &str) -> bool {
        self.titled && alias_path(alias) == self.path
    }

    /// Returns the place of the document that a link in the document with the key
    /// `from` means, or `None` if there is none or it cannot be told.
    pub fn resolve(&self, from: &str, candidates: &[Named<'_>]) -> Option<usize> {
        match self.resolved(from, candidates) {
            Resolved::One(at) => Some(at),
            Resolved::Nothing | Resolved::Several => None,
        }
    }

    /// Returns which of these documents a link in the document with the key `from`
    /// means.
    ///
    /// It is the one at the path from the folder of the link, or from the root, or
    /// otherwise the only one whose path ends so or whose title it is. Links are written
    /// by several programs, which do not agree where a path begins.
    pub fn resolved(&self, from: &str, candidates: &[Named<'_>]) -> Resolved {
        let folded: Vec<String> = candidates.iter().map(|one| fold(one.key)).collect();
        let only = |fits: &dyn Fn(usize) -> bool| {
            let mut fitting = (0..candidates.len()).filter(|&at| fits(at));
            match (fitting.next(), fitting.next()) {
                (None, _) => Resolved::Nothing,
                (Some(first), None) => Resolved::One(first),
                (Some(_), Some(_)) => Resolved::Several,
            }
        };
        let at = |path: &str| match only(&|at| is_at(&folded[at], path)) {
            Resolved::One(at) => Some(Resolved::One(at)),
            // Files whose names differ by case or extension.
            Resolved::Nothing | Resolved::Several => None,
        };
        let from = fold(from);
        let near = self.joined(&from);
        let rooted = self.path.trim_start_matches('/');
        let written = rooted.trim_start_matches("../");
        let is_named = |at: usize| ends_at(&folded[at], written);
        near.as_deref()
            .and_then(at)
            .or_else(|| at(rooted))
            .unwrap_or_else(|| match only(&is_named) {
                // Notes of the same name in several folders are told apart above, or
                // not at all.
                Resolved::Nothing if self.titled => {
                    only(&|at| fold(candidates[at].title.trim()) == self.path)
                }
                named => named,
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

/// Returns the name that links may call a document with this alias by.
pub fn alias_name(alias: &str) -> String {
    stem(&alias_path(alias)).to_owned()
}

/// Returns the path of a link that calls a document by this alias.
pub fn alias_path(alias: &str) -> String {
    fold(alias.trim())
}

/// Returns the links of a body to documents and files of the same source, in order. An
/// address elsewhere and a place in the document itself are left out.
pub fn within_source(markup: Markup, lines: &Lines, body: &str) -> Vec<BodyLink> {
    let mut found = Vec::new();
    links::each(markup, lines, body, |link| {
        let is_foreign = link.wiki && is_foreign(markup, link.target.trim());
        if found.len() < MAX_TARGETS
            && !is_foreign
            && let Some(link) = BodyLink::read(link.target, link.text, link.wiki)
        {
            found.push(link);
        }
    });
    found
}

/// Reports whether a target in double brackets leads out of the source: an address of
/// another program or, in Org, a place in the file.
fn is_foreign(markup: Markup, target: &str) -> bool {
    match markup {
        Markup::Org => {
            let is_address = has_scheme(target) && !target.starts_with("file:");
            is_address || target.starts_with(['*', '('])
        }
        _ => target.starts_with("mailto:"),
    }
}

/// Returns the path or the name that a link points to, without a place in the document;
/// `None` if it leads out of the source.
fn path_of(link: &Written<'_>) -> Option<String> {
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
    Some(target.to_owned())
}

/// Returns the text of a link on one line, cut where it is long.
fn one_line(text: &str) -> String {
    let text = text.trim();
    let text = &text[..text.floor_char_boundary(MAX_TEXT)];
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the links of a body: for each target, in the order of their paths, the
/// distinct texts.
pub fn outgoing(markup: Markup, lines: &Lines, body: &str) -> Vec<OutgoingLink> {
    let mut targets: BTreeMap<LinkTarget, Vec<String>> = BTreeMap::new();
    links::each(markup, lines, body, |link| {
        let Some(target) = LinkTarget::read(&link) else {
            return;
        };
        let text = one_line(link.text);
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

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
