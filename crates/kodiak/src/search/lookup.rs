//! Lookup of one document by id, address, path, title or file name.

use percent_encoding::percent_decode_str;

use super::freshness::{Freshener, Freshness};
use super::suggest::similar_names;
use crate::document::{LineRange, Reference};
use crate::error::{Error, Result};
use crate::source::{Source, bear};
use crate::store::{Filter, Name, Reader, StoredDocument};
use crate::text::fold_into;

/// The minimum number of hexadecimal digits that are tried as an id. Fewer would
/// match too many documents.
const SHORTEST_PREFIX: usize = 4;
/// The number of candidates that are listed for an ambiguous name.
const MAX_CANDIDATES: usize = 8;

/// A document that was looked up, with the requested lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The document.
    pub document: StoredDocument,
    /// The key of the entry it is from: for a file, its path from the source's root.
    pub entry: String,
    /// The fields of its source beyond those of every document, as names and
    /// values.
    pub fields: Vec<(String, String)>,
    /// The text of the requested lines.
    pub text: String,
    /// The requested lines, limited to the lines there are.
    pub lines: LineRange,
    /// The number of lines of the whole document.
    pub line_count: usize,
    /// Whether it has changed since it was indexed.
    pub freshness: Freshness,
}

/// A name as it is compared: without case, accents and the signs that stand for
/// spaces in file names.
struct Folded(String);

/// How a name fits another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    No,
    /// It is the beginning, up to the end of a word.
    Beginning,
    Whole,
}

impl Folded {
    fn new(name: &str) -> Self {
        let mut folded = String::new();
        fold_into(name, &mut folded);
        let words: Vec<&str> = folded
            .split(|sign: char| sign.is_whitespace() || matches!(sign, '-' | '_'))
            .filter(|word| !word.is_empty())
            .collect();
        Self(words.join(" "))
    }

    fn fits(&self, name: &Self) -> Fit {
        let Some(rest) = name.0.strip_prefix(&self.0) else {
            return Fit::No;
        };
        let mut rest = rest.chars();
        match (rest.next(), rest.next()) {
            (None, _) => Fit::Whole,
            // What comes before a time of day is not a name.
            (Some(':'), Some(digit)) if digit.is_numeric() => Fit::No,
            (Some(sign), _) if sign.is_alphanumeric() => Fit::No,
            _ => Fit::Beginning,
        }
    }
}

/// Returns the name of a file without its folder and its extension.
fn stem(key: &str) -> &str {
    let name = key.rsplit('/').next().unwrap_or(key);
    match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Finds documents by name, inside a scope.
pub(super) struct Lookup<'a> {
    pub(super) store: &'a dyn Reader,
    pub(super) sources: &'a [Box<dyn Source>],
    pub(super) scope: Filter,
}

impl Lookup<'_> {
    /// Returns the document that `reference` names, regardless of its lines.
    pub(super) fn document(&self, reference: &Reference) -> Result<StoredDocument> {
        let (row, ..) = self.find_one(&reference.target)?;
        let document = self.store.documents(&[row])?.pop();
        document.ok_or_else(|| Error::NoDocument {
            reference: reference.target.clone(),
            suggestions: Vec::new(),
        })
    }

    /// Returns the document that `reference` names, with the text of the lines it
    /// names.
    pub(super) fn get(&self, reference: &Reference) -> Result<Found> {
        let document = self.document(reference)?;
        let whole = format!("{}{}", document.front, document.body);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let line_count = lines.len();
        let wanted = reference.lines.unwrap_or(LineRange {
            from: 1,
            to: usize::MAX,
        });
        let to = wanted.to.min(line_count);
        let text = lines.get(wanted.from - 1..to).unwrap_or(&[]).concat();
        let entry = self.store.entry_of(document.row)?;
        Ok(Found {
            fields: self.store.fields(document.row)?,
            text,
            lines: LineRange {
                from: wanted.from.min(line_count.max(1)),
                to,
            },
            line_count,
            freshness: Freshener::new(self.sources, self.store).of(&document, entry.as_ref())?,
            entry: entry.map_or_else(|| document.key.clone(), |(entry, _)| entry),
            document,
        })
    }

    /// Returns the only document with this name. None or several are an error.
    fn find_one(&self, target: &str) -> Result<Name> {
        let scope = &self.scope;
        let mut found = self.find(target)?;
        match found.len() {
            1 => Ok(found.remove(0)),
            0 => Err(Error::NoDocument {
                reference: target.to_owned(),
                suggestions: self.described(&similar_names(self.store, target, scope, 3)?)?,
            }),
            _ => {
                let rows: Vec<_> = found.iter().map(|(row, ..)| *row).collect();
                Err(Error::Ambiguous {
                    reference: target.to_owned(),
                    candidates: self.described(&rows)?,
                })
            }
        }
    }

    /// Returns the documents with this name. An address is taken as such; anything
    /// else is tried as an id, then as a path, then as a title or a file name.
    fn find(&self, target: &str) -> Result<Vec<Name>> {
        let (store, scope) = (self.store, &self.scope);
        if let Some(address) = target.strip_prefix("kodiak://") {
            let decoded = percent_decode_str(address).decode_utf8_lossy();
            let (source, key) = decoded.split_once('/').unwrap_or((&decoded, ""));
            return store.with_path(Some(source), key, scope, MAX_CANDIDATES);
        }
        if let Some(identifier) = bear::identifier_in(target) {
            return store.with_path(None, &identifier, scope, MAX_CANDIDATES);
        }
        let digits = target.strip_prefix('#').unwrap_or(target);
        if digits.len() >= SHORTEST_PREFIX && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let prefix = digits.to_ascii_lowercase();
            let found = store.with_id_prefix(&prefix, scope, MAX_CANDIDATES)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        for (source, key) in self.as_paths(target)? {
            let found = store.with_path(source.as_deref(), &key, scope, MAX_CANDIDATES)?;
            if !found.is_empty() {
                return Ok(found);
            }
            // The name of its file may not be its own.
            if let Some(source) = source
                && let Some(entry) = store.entry_state(&source, &key)?
                && let Some(row) = entry.row
            {
                let mut found = Vec::new();
                for document in store.documents_of_entry(row)?.iter().take(MAX_CANDIDATES) {
                    found.extend(store.with_path(Some(&source), &document.key, scope, 1)?);
                }
                if !found.is_empty() {
                    return Ok(found);
                }
            }
        }
        let found = store.with_title(target, scope, MAX_CANDIDATES)?;
        if found.is_empty() {
            return self.similarly_named(target);
        }
        // Titles that differ only by case are found as themselves.
        let (exact, others): (Vec<Name>, Vec<Name>) =
            found.into_iter().partition(|(.., title)| title == target);
        Ok(if exact.is_empty() { others } else { exact })
    }

    /// Returns the documents that come closest to a name, whatever its case and
    /// accents: those with this title, else with this file name, else those whose
    /// title begins with it, else whose file name does.
    fn similarly_named(&self, target: &str) -> Result<Vec<Name>> {
        let wanted = Folded::new(target);
        if wanted.0.is_empty() {
            return Ok(Vec::new());
        }
        let mut found: [Vec<Name>; 4] = Default::default();
        self.store.each_name(&self.scope, &mut |name| {
            let (_, _, key, title) = &name;
            let title = wanted.fits(&Folded::new(title));
            let stem = wanted.fits(&Folded::new(stem(key)));
            let rank = match (title, stem) {
                (Fit::Whole, _) => 0,
                (_, Fit::Whole) => 1,
                (Fit::Beginning, _) => 2,
                (_, Fit::Beginning) => 3,
                (Fit::No, Fit::No) => return,
            };
            if found[rank].len() < MAX_CANDIDATES {
                found[rank].push(name);
            }
        })?;
        let best = found.into_iter().find(|names| !names.is_empty());
        Ok(best.unwrap_or_default())
    }

    /// Returns the ways to read a text as a path, each with its source if known:
    /// under a source's folder, after a source's name, or as it is.
    fn as_paths(&self, target: &str) -> Result<Vec<(Option<String>, String)>> {
        let mut paths = Vec::new();
        for (name, location) in self.store.locations(&self.scope)? {
            let inside = |beginning: &str| {
                let rest = target.strip_prefix(beginning.trim_end_matches('/'))?;
                rest.strip_prefix('/').map(str::to_owned)
            };
            for beginning in [&location, &name] {
                paths.extend(inside(beginning).map(|key| (Some(name.clone()), key)));
            }
        }
        let plain = target.strip_prefix("./").unwrap_or(target);
        paths.push((None, plain.to_owned()));
        Ok(paths)
    }

    /// Returns the id, source and path of each document, for error messages.
    fn described(&self, rows: &[i64]) -> Result<Vec<String>> {
        let documents = self.store.documents(rows)?;
        let described = documents.into_iter().map(|document| {
            format!(
                "#{} {}/{}",
                document.short_id, document.source, document.key
            )
        });
        Ok(described.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_whole_or_up_to_the_end_of_a_word() {
        let fit = |wanted: &str, name: &str| match Folded::new(wanted).fits(&Folded::new(name)) {
            Fit::No => "no",
            Fit::Beginning => "beginning",
            Fit::Whole => "whole",
        };
        for (wanted, name, expected) in [
            ("ramen broth", "Ramen-Broth", "whole"),
            ("RAMEN", "ramen_broth", "beginning"),
            ("ramen", "Ramen: a soup", "beginning"),
            ("ram", "ramen", "no"),
            ("café", "Cafe Müller", "beginning"),
            ("Standup 9", "Standup 9:30", "no"),
            ("broth", "ramen broth", "no"),
        ] {
            assert_eq!(fit(wanted, name), expected, "{wanted} {name}");
        }
        assert_eq!(stem("a/b.c/d.e.md"), "d.e");
        assert_eq!(stem(".hidden"), ".hidden");
        assert_eq!(stem("plain"), "plain");
    }
}
