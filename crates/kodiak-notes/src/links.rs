//! The links of a note: its targets, the notes that link to it, broken links, and mentions
//! without a link.
//!
//! [`kodiak_text::links`] and the store decide which document a link means. This module
//! asks for one note, and only about what exists for the caller: a link to a note outside
//! of the caller's scope leads nowhere, and a link from there does not exist.

use std::collections::{BTreeMap, HashMap, HashSet};

use kodiak::Engine;
use kodiak::access::{Capability, Guard};
use kodiak::engine::View;
use kodiak::search::{Card, Caveat, Mode, Request};
use kodiak::store::{Filter, Meant, Reader, Row, StoredDocument};
use kodiak_base::{Error, Result};
use kodiak_text::document::ALIASES;
use kodiak_text::links::{BodyLink, LinkTarget, within_source};
use kodiak_text::markup::Lines;
use kodiak_text::text::fold_into;
use serde::Serialize;

use crate::MarkdownFolder;

/// The number of names of a note that are looked for in other notes.
const MAX_NAMES: usize = 8;

/// The number of notes that are looked at for each name.
const MAX_MENTIONS: usize = 200;

/// The number of documents that are held at once where only their ids are wanted.
const IDS_AT_ONCE: usize = 100;

/// The number of letters and digits that a name has at least to be looked for.
const SHORTEST_NAME: usize = 2;

/// Finds the links between the documents of an engine.
#[derive(Clone, Debug)]
pub struct Links<'a> {
    engine: &'a Engine,
}

/// The links of a note. Each list has at most as many items as were asked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoteLinks {
    /// The note.
    pub note: Card,
    /// The notes it links to, in the order of their first links.
    pub links: Vec<LinkedNote>,
    /// The notes that link to it, sorted by path.
    pub backlinks: Vec<LinkedNote>,
    /// Its links that lead to no note, in order.
    pub broken: Vec<BrokenLink>,
    /// The notes that have its title or an alias in their text and do not link to it,
    /// the best match first.
    pub mentions: Vec<Mention>,
    /// The number of items that the lists lack.
    #[serde(skip_serializing_if = "LeftOut::is_none")]
    pub left_out: LeftOut,
    /// The parts that may be missing.
    #[serde(skip)]
    pub notices: Vec<Caveat>,
}

/// How many items were left out of the lists of [`NoteLinks`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Of the notes it links to.
    pub links: usize,
    /// Of the notes that link to it.
    pub backlinks: usize,
    /// Of the links that lead to no note.
    pub broken: usize,
    /// Of the notes that mention it.
    pub mentions: usize,
}

impl LeftOut {
    /// Reports whether the lists are complete.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// A note at the other end of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkedNote {
    /// The note.
    #[serde(flatten)]
    pub card: Card,
    /// The distinct texts of the links, in order.
    pub texts: Vec<String>,
}

/// A link that leads to no note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenLink {
    /// Its target, as written.
    pub target: String,
    /// Its text.
    pub text: String,
    /// Whether several notes have this name, so that it cannot be told which is meant.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ambiguous: bool,
}

/// A note that mentions another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mention {
    /// The note.
    #[serde(flatten)]
    pub card: Card,
    /// The title or the alias that it has.
    pub name: String,
    /// The line.
    pub line: usize,
    /// The text around it.
    pub snippet: String,
}

impl<'a> Links<'a> {
    /// Creates a view of the links between the documents of an engine.
    pub fn new(engine: &'a Engine) -> Self {
        Self { engine }
    }

    /// Returns the links of the note that a typed name means. Each list has at most
    /// `limit` items. Changes are looked for as in a search.
    pub fn of(&self, guard: &Guard, typed: &str, limit: usize) -> Result<NoteLinks> {
        let found = self.engine.view(guard).find(typed)?;
        self.of_note(guard, &found.document, limit)
    }

    /// Returns the links of a note that was found.
    pub fn of_note(&self, guard: &Guard, note: &StoredDocument, limit: usize) -> Result<NoteLinks> {
        guard.require(Capability::Search)?;
        guard.require(Capability::Read)?;
        let view = self.engine.view(guard);
        let scope = guard.narrow(&Filter::default());
        let searched = Filter {
            sources: vec![note.source.clone()],
            ..scope.clone()
        };
        view.read(|reader| {
            let (mut links, notices) = view.beside_look(reader, &searched, || {
                let finder = Finder {
                    engine: self.engine,
                    guard,
                    view,
                    reader,
                    scope: &scope,
                    limit,
                };
                // A look may have indexed the note anew, or removed it.
                let now = reader.with_id_prefix(&note.uid, &scope, 1)?;
                let rows: Vec<Row> = now.iter().map(|(row, ..)| *row).collect();
                match reader.documents(&rows)?.first() {
                    Some(now) => finder.links(now),
                    None => Err(Error::NoDocument {
                        reference: note.short_id.clone(),
                        suggestions: Vec::new(),
                    }),
                }
            })?;
            links.notices = notices;
            Ok(links)
        })
    }

    /// Returns the ids of the documents that links of a note mean, each in its place, as
    /// far as they exist for the caller. All are looked up at once.
    pub fn meant(
        &self,
        guard: &Guard,
        note: &StoredDocument,
        targets: &[LinkTarget],
    ) -> Result<Vec<Option<String>>> {
        guard.require(Capability::Search)?;
        guard.require(Capability::Read)?;
        if targets.is_empty() {
            return Ok(Vec::new());
        }
        let scope = guard.narrow(&Filter::default());
        self.engine.view(guard).read(|reader| {
            let meant = reader.meant(note.row, targets, &scope)?;
            let row_of = |meant: &Meant| match meant {
                Meant::Document(row) => Some(*row),
                Meant::Nothing | Meant::Several => None,
            };
            let mut rows: Vec<Row> = meant.iter().filter_map(row_of).collect();
            rows.sort_unstable();
            rows.dedup();
            let mut ids: HashMap<Row, String> = HashMap::with_capacity(rows.len());
            for part in rows.chunks(IDS_AT_ONCE) {
                let documents = reader.documents(part)?.into_iter();
                ids.extend(documents.map(|one| (one.row, one.short_id)));
            }
            let ids = meant.iter().map(|meant| ids.get(&row_of(meant)?).cloned());
            Ok(ids.collect())
        })
    }
}

/// Finds the links of notes in one state of the index.
struct Finder<'a> {
    engine: &'a Engine,
    guard: &'a Guard,
    view: View<'a, 'a>,
    reader: &'a dyn Reader,
    /// Everything that exists for the caller.
    scope: &'a Filter,
    limit: usize,
}

/// A link, and its target.
type Followed = (BodyLink, Meant);

impl Finder<'_> {
    fn links(&self, note: &StoredDocument) -> Result<NoteLinks> {
        let mut left_out = LeftOut::default();
        let followed = self.followed(note)?;
        let links = self.linked(note, &followed, &mut left_out.links)?;
        let broken = self.broken(note, followed);
        let linking = self.reader.linking(note.row, self.scope)?;
        let backlinks = self.backlinks(note, &linking, &mut left_out.backlinks)?;
        let mentions = self.mentions(note, &linking)?;
        Ok(NoteLinks {
            note: Card::from(note),
            links,
            backlinks,
            broken: self.bounded(broken, &mut left_out.broken),
            mentions: self.bounded(mentions, &mut left_out.mentions),
            left_out,
            notices: Vec::new(),
        })
    }

    /// Returns the first items, and counts the others.
    fn bounded<T>(&self, mut items: Vec<T>, left_out: &mut usize) -> Vec<T> {
        *left_out = items.len().saturating_sub(self.limit);
        items.truncate(self.limit);
        items
    }

    /// Returns the links of a note, each with its target.
    fn followed(&self, note: &StoredDocument) -> Result<Vec<Followed>> {
        let read = Lines::of(note.markup, &note.body);
        let links = within_source(note.markup, &read, &note.body);
        let targets: Vec<LinkTarget> = links.iter().filter_map(|one| one.target.clone()).collect();
        let mut meant = self
            .reader
            .meant(note.row, &targets, self.scope)?
            .into_iter();
        let follow = |link: BodyLink| {
            let meant = link.target.as_ref().and_then(|_| meant.next());
            (link, meant.unwrap_or(Meant::Nothing))
        };
        Ok(links.into_iter().map(follow).collect())
    }

    /// Returns the notes that links lead to.
    fn linked(
        &self,
        note: &StoredDocument,
        followed: &[Followed],
        left_out: &mut usize,
    ) -> Result<Vec<LinkedNote>> {
        let mut rows: Vec<Row> = Vec::new();
        let mut texts: HashMap<Row, Vec<String>> = HashMap::new();
        for (link, meant) in followed {
            if let Meant::Document(row) = meant
                && *row != note.row
            {
                if !texts.contains_key(row) {
                    rows.push(*row);
                }
                add(texts.entry(*row).or_default(), &link.text);
            }
        }
        let rows = self.bounded(rows, left_out);
        let documents = self.reader.documents(&rows)?;
        let mut by_row: HashMap<Row, &StoredDocument> =
            documents.iter().map(|one| (one.row, one)).collect();
        let notes = rows.iter().filter_map(|row| {
            Some(LinkedNote {
                card: Card::from(by_row.remove(row)?),
                texts: texts.remove(row).unwrap_or_default(),
            })
        });
        Ok(notes.collect())
    }

    /// Returns the links that lead to no note, each target once.
    fn broken(&self, note: &StoredDocument, followed: Vec<Followed>) -> Vec<BrokenLink> {
        let folder = self.folder(note);
        let mut seen = HashSet::new();
        let mut broken = Vec::new();
        for (link, meant) in followed {
            let is_note = link.target.is_some();
            let exists = || folder.is_some_and(|folder| folder.has_near(&note.key, &link.path));
            let leads_nowhere = match meant {
                Meant::Document(_) => false,
                Meant::Several => true,
                // Whether another kind of file exists can be known only in a folder.
                Meant::Nothing => (is_note || folder.is_some()) && !exists(),
            };
            if leads_nowhere && seen.insert(link.path.clone()) {
                broken.push(BrokenLink {
                    target: link.path,
                    text: link.text,
                    ambiguous: meant == Meant::Several,
                });
            }
        }
        broken
    }

    /// Returns the folder of a note, if the caller may know which files it has.
    fn folder(&self, note: &StoredDocument) -> Option<&MarkdownFolder> {
        if !self.guard.sees_everything() {
            return None;
        }
        let mut sources = self.engine.sources().iter();
        let source = sources.find(|source| source.name() == note.source)?;
        source.as_any()?.downcast_ref()
    }

    /// Returns the notes with these numbers, with the texts of their links to a note.
    fn backlinks(
        &self,
        note: &StoredDocument,
        linking: &[Row],
        left_out: &mut usize,
    ) -> Result<Vec<LinkedNote>> {
        let mut named = BTreeMap::new();
        for document in self.reader.documents(linking)? {
            named.insert(document.key.clone(), document);
        }
        let documents = self.bounded(named.into_values().collect(), left_out);
        let mut notes = Vec::with_capacity(documents.len());
        for document in documents {
            let mut texts = Vec::new();
            for (link, meant) in self.followed(&document)? {
                if meant == Meant::Document(note.row) {
                    add(&mut texts, &link.text);
                }
            }
            notes.push(LinkedNote {
                card: Card::from(&document),
                texts,
            });
        }
        Ok(notes)
    }

    /// Returns the notes that have a name of this one in their text, without those that
    /// link to it.
    fn mentions(&self, note: &StoredDocument, linking: &[Row]) -> Result<Vec<Mention>> {
        let mut without: HashSet<Row> = linking.iter().copied().collect();
        without.insert(note.row);
        let mut found = Vec::new();
        for name in self.names(note)? {
            let request = Request {
                query: format!("\"{name}\""),
                limit: MAX_MENTIONS + linking.len().min(MAX_MENTIONS),
                mode: Mode::Lexical,
                exact: true,
                all_copies: true,
                refresh: false,
                ..Request::default()
            };
            let mut hits = self.view.search_as_is(self.reader, &request)?.hits;
            hits.retain(|hit| !without.contains(&hit.row));
            let rows: Vec<Row> = hits.iter().map(|hit| hit.row).collect();
            let bodies = self.reader.documents(&rows)?;
            let bodies: HashMap<Row, &str> =
                bodies.iter().map(|one| (one.row, &*one.body)).collect();
            for hit in hits {
                // A search takes other forms of a word for the word.
                if bodies
                    .get(&hit.row)
                    .is_some_and(|body| has_name(body, &name))
                {
                    without.insert(hit.row);
                    found.push(Mention {
                        card: hit.card,
                        name: name.clone(),
                        line: hit.line,
                        snippet: hit.snippet,
                    });
                }
            }
        }
        Ok(found)
    }

    /// Returns the title and the aliases of a note, as far as a search can look for them.
    fn names(&self, note: &StoredDocument) -> Result<Vec<String>> {
        let mut names = vec![note.title.clone()];
        for (name, value) in self.reader.fields(note.row)? {
            if ALIASES.contains(&name.to_ascii_lowercase().as_str()) {
                names.push(value);
            }
        }
        let mut seen = HashSet::new();
        let long = |name: &String| {
            name.chars().filter(|sign| sign.is_alphanumeric()).count() >= SHORTEST_NAME
        };
        let names = names.into_iter().map(|name| name.replace('"', " "));
        let names = names.filter(|name| long(name) && seen.insert(folded(name)));
        Ok(names.take(MAX_NAMES).collect())
    }
}

/// Adds a text that a list lacks.
fn add(texts: &mut Vec<String>, text: &str) {
    if !text.is_empty() && !texts.iter().any(|known| known == text) {
        texts.push(text.to_owned());
    }
}

/// Returns a text as names are compared: without case, accents and line breaks.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    fold_into(text, &mut folded);
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reports whether a text has a name as whole words.
fn has_name(text: &str, name: &str) -> bool {
    let (text, name) = (folded(text), folded(name));
    let mut places = text.match_indices(&*name);
    places.any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let ends = |sign: Option<char>, inner: Option<char>| {
            // Scripts without spaces between words have no such ends.
            let joins = |sign: char| sign.is_alphanumeric() && sign.is_ascii();
            !(sign.is_some_and(joins) && inner.is_some_and(joins))
        };
        ends(before, name.chars().next()) && ends(after, name.chars().next_back())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_whole_words() {
        for (text, name, expected) in [
            ("My ramen\n broth, again", "Ramen broth", true),
            ("ramens", "ramen", false),
            ("a gramen", "ramen", false),
            ("Gramen, ramen", "ramen", true),
            ("über Café-Kultur", "cafe", true),
            ("東京の日記", "日記", true),
            ("", "ramen", false),
        ] {
            assert_eq!(has_name(text, name), expected, "{text}");
        }
    }
}
