//! Lookup of one document by id, address, path or title.

use percent_encoding::percent_decode_str;

use super::freshness::{Freshness, freshness};
use super::suggest::similar_names;
use crate::document::{LineRange, Reference};
use crate::error::{Error, Result};
use crate::source::Source;
use crate::store::{Filter, Name, Reader, StoredDocument};

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
        Ok(Found {
            fields: self.store.fields(document.row)?,
            text,
            lines: LineRange {
                from: wanted.from.min(line_count.max(1)),
                to,
            },
            line_count,
            freshness: freshness(self.store, self.sources, &document)?,
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
    /// else is tried as an id, then as a path, then as a title.
    fn find(&self, target: &str) -> Result<Vec<Name>> {
        let (store, scope) = (self.store, &self.scope);
        if let Some(address) = target.strip_prefix("kodiak://") {
            let decoded = percent_decode_str(address).decode_utf8_lossy();
            let (source, key) = decoded.split_once('/').unwrap_or((&decoded, ""));
            return store.with_path(Some(source), key, scope, MAX_CANDIDATES);
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
        }
        store.with_title(target, scope, MAX_CANDIDATES)
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
