//! Lookup of documents by name: an id or its beginning, an address, a path, a title,
//! an alias or the name of a file, with or without lines. Every command, tool and route
//! that takes a name reads it here.

use percent_encoding::percent_decode_str;

use super::caveat::Caveat;
use super::freshness::{Freshener, Freshness};
use super::suggest::similar_names;
use crate::document::{ALIASES, LineRange, Reference, id_digits};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::store::{Filter, Name, Reader, Row, StoredDocument};
use crate::text::fold_into;

/// The minimum number of hexadecimal digits that are tried as an id. Fewer would
/// match too many documents.
const SHORTEST_PREFIX: usize = 4;
/// The beginning of every address.
const ADDRESS: &str = "kodiak://";
/// The number of candidates that are listed for an ambiguous name.
const MAX_CANDIDATES: usize = 8;

/// A document that was looked up, with the requested lines.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The document.
    pub document: StoredDocument,
    /// The key of the entry it is from: for a file, its path from the source's root.
    pub entry: String,
    /// The additional fields of its source, as names and values.
    pub fields: Vec<(String, String)>,
    /// The text of the requested lines.
    pub text: String,
    /// The requested lines, limited to the lines there are.
    pub lines: LineRange,
    /// The lines that were asked for; all if `None`. They may be beyond its end.
    pub asked: Option<LineRange>,
    /// The number of lines of the whole document.
    pub line_count: usize,
    /// Whether it has changed since it was indexed.
    pub freshness: Freshness,
}

impl Found {
    /// Returns the caveat that lines were asked for which the document lacks, if it does.
    pub fn lines_beyond_end(&self) -> Option<Caveat> {
        let line = self.asked?.beyond(self.line_count)?;
        Some(Caveat::LinesBeyondEnd {
            line,
            line_count: self.line_count,
        })
    }
}

/// The documents that a typed name means: none, one, or several if it is ambiguous.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Named {
    /// The documents.
    pub rows: Vec<Row>,
    /// The lines wanted of it.
    pub lines: Option<LineRange>,
}

/// Lines of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Excerpt {
    /// Their text.
    pub text: String,
    /// The lines, limited to those there are.
    pub lines: LineRange,
    /// The number of lines of the whole document.
    pub line_count: usize,
}

impl Excerpt {
    /// Returns some lines of a document, or all of them.
    pub fn of(document: &StoredDocument, wanted: Option<LineRange>) -> Self {
        let whole = format!("{}{}", document.front, document.body);
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let line_count = lines.len();
        let wanted = wanted.unwrap_or(LineRange {
            from: 1,
            to: usize::MAX,
        });
        let to = wanted.to.min(line_count);
        Self {
            text: lines.get(wanted.from - 1..to).unwrap_or(&[]).concat(),
            lines: LineRange {
                from: wanted.from.min(line_count.max(1)),
                to,
            },
            line_count,
        }
    }
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

    /// Returns how well this fits a title or the name of a file, the best as 0.
    fn rank(&self, title: &Self, stem: &Self) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        match (self.fits(title), self.fits(stem)) {
            (Fit::Whole, _) => Some(0),
            (_, Fit::Whole) => Some(1),
            (Fit::Beginning, _) => Some(2),
            (_, Fit::Beginning) => Some(3),
            (Fit::No, Fit::No) => None,
        }
    }
}

/// Returns the rows of named documents.
fn rows(found: Vec<Name>) -> Vec<Row> {
    found.into_iter().map(|(row, ..)| row).collect()
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
        let Excerpt {
            text,
            lines,
            line_count,
        } = Excerpt::of(&document, reference.lines);
        let entry = self.store.entry_of(document.row)?;
        Ok(Found {
            fields: self.store.fields(document.row)?,
            text,
            lines,
            asked: reference.lines,
            line_count,
            freshness: Freshener::new(self.sources, self.store).of(&document, entry.as_ref())?,
            entry: entry.map_or_else(|| document.key.clone(), |(entry, _)| entry),
            document,
        })
    }

    /// Returns which documents each of these typed names means, with the lines that
    /// it ends with: a name that means nothing with lines may be a title that ends
    /// like a line range.
    pub(super) fn named(&self, typed: &[String]) -> Result<Vec<Named>> {
        let parsed: Vec<Option<Reference>> = typed.iter().map(|name| name.parse().ok()).collect();
        let targets: Vec<&str> = parsed.iter().flatten().map(|one| &*one.target).collect();
        let mut found = self.find_all(&targets)?.into_iter();
        let mut all: Vec<Named> = Vec::with_capacity(typed.len());
        for reference in parsed {
            let found = reference.as_ref().and_then(|_| found.next());
            all.push(Named {
                rows: rows(found.unwrap_or_default()),
                lines: reference.and_then(|reference| reference.lines),
            });
        }
        let unread = |number: &usize| {
            let name = &typed[*number];
            all[*number].rows.is_empty() && name.parse().ok() != Some(Reference::whole(name))
        };
        let again: Vec<usize> = (0..typed.len()).filter(unread).collect();
        let targets: Vec<&str> = again.iter().map(|number| typed[*number].trim()).collect();
        for (number, found) in again.into_iter().zip(self.find_all(&targets)?) {
            all[number] = Named {
                rows: rows(found),
                lines: None,
            };
        }
        Ok(all)
    }

    /// Returns the only document with this name. None or several are an error.
    fn find_one(&self, target: &str) -> Result<Name> {
        let scope = &self.scope;
        let mut found = self.find_all(&[target])?.pop().unwrap_or_default();
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

    /// Returns the documents with each of these names. An address is taken as such;
    /// anything else is tried as an id, then as a path, then as a title or an alias,
    /// then as something similar to the title or the name of a file.
    fn find_all(&self, targets: &[&str]) -> Result<Vec<Vec<Name>>> {
        let mut found = Vec::with_capacity(targets.len());
        for target in targets {
            found.push(self.find_exactly(target)?);
        }
        let unknown =
            |number: &usize| found[*number].is_empty() && !targets[*number].starts_with(ADDRESS);
        let unknown: Vec<usize> = (0..targets.len()).filter(unknown).collect();
        let names: Vec<&str> = unknown.iter().map(|number| targets[*number]).collect();
        for (number, names) in unknown.into_iter().zip(self.similarly_named(&names)?) {
            found[number] = names;
        }
        Ok(found)
    }

    /// Returns the documents with exactly this name, up to the case of a title.
    fn find_exactly(&self, target: &str) -> Result<Vec<Name>> {
        let (store, scope) = (self.store, &self.scope);
        if let Some(address) = target.strip_prefix(ADDRESS) {
            let (source, key) = address.split_once('/').unwrap_or((address, ""));
            let decoded = |text| percent_decode_str(text).decode_utf8_lossy();
            return store.with_path(Some(&decoded(source)), &decoded(key), scope, MAX_CANDIDATES);
        }
        for source in self.sources {
            if let Some(key) = source.key_in(target) {
                return store.with_path(Some(source.name()), &key, scope, MAX_CANDIDATES);
            }
        }
        if let Some(prefix) = id_digits(target, SHORTEST_PREFIX) {
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
            return self.with_alias(target);
        }
        // Titles that differ only by case are found as themselves.
        let (exact, others): (Vec<Name>, Vec<Name>) =
            found.into_iter().partition(|(.., title)| title == target);
        Ok(if exact.is_empty() { others } else { exact })
    }

    /// Returns the documents with this alias in their frontmatter, ignoring ASCII case.
    fn with_alias(&self, target: &str) -> Result<Vec<Name>> {
        let mut rows: Vec<Row> = Vec::new();
        for field in ALIASES {
            let mut filter = self.scope.clone();
            filter.fields.push((field.to_owned(), target.to_owned()));
            rows.extend(self.store.rows(&filter, None, None)?.iter());
        }
        rows.sort_unstable();
        rows.dedup();
        rows.truncate(MAX_CANDIDATES);
        let documents = self.store.documents(&rows)?.into_iter();
        Ok(documents
            .map(|one| (one.row, one.source, one.key, one.title))
            .collect())
    }

    /// Returns the documents that come closest to each of these names, whatever its
    /// case and accents: those with this title, else with this file name, else those
    /// whose title begins with it, else whose file name does.
    fn similarly_named(&self, targets: &[&str]) -> Result<Vec<Vec<Name>>> {
        let wanted: Vec<Folded> = targets.iter().map(|target| Folded::new(target)).collect();
        let mut found: Vec<[Vec<Name>; 4]> = vec![Default::default(); targets.len()];
        if wanted.iter().any(|wanted| !wanted.0.is_empty()) {
            self.store.each_name(&self.scope, &mut |name| {
                let title = Folded::new(&name.3);
                let stem = Folded::new(stem(&name.2));
                for (wanted, found) in wanted.iter().zip(&mut found) {
                    if let Some(rank) = wanted.rank(&title, &stem)
                        && found[rank].len() < MAX_CANDIDATES
                    {
                        found[rank].push(name.clone());
                    }
                }
            })?;
        }
        let best = |ranks: [Vec<Name>; 4]| ranks.into_iter().find(|names| !names.is_empty());
        Ok(found
            .into_iter()
            .map(|ranks| best(ranks).unwrap_or_default())
            .collect())
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
        let described = documents
            .into_iter()
            .map(|document| format!("{} {}/{}", document.short_id, document.source, document.key));
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
