//! The links between documents: their rows, and which documents their texts lead to.
//!
//! A link belongs to the document that has it, and goes with it. Its target is resolved at
//! every search, because adding, renaming or removing a note changes the targets of other
//! notes' links. [`links`](kodiak_text::links) has the rules.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::filter::conditions;
use super::lexical::rendered;
use super::selection::list;
use super::{SqliteStore, SqliteWriter};
use crate::{Expression, Filter, LinkMatch, Links, MAX_LINKS, Meant, Phrase, Row, name_hash};
use kodiak_base::error::Result;
use kodiak_text::document::{ALIASES, Markup};
use kodiak_text::links::{self, LinkTarget, MAX_TARGETS, Named, OutgoingLink, Resolved};
use kodiak_text::markup::Lines;

/// The first format with links.
pub(super) const LINKS: u32 = 5;

/// The bits of a link's number for its place in the document.
const PLACES: u32 = MAX_TARGETS.trailing_zeros();

/// A link whose texts have a phrase.
struct Found {
    name: i64,
    target: LinkTarget,
    from: Row,
    key: String,
    source: String,
}

/// A document that has a name.
struct Candidate {
    row: Row,
    key: String,
    title: String,
}

impl Links for SqliteStore {
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>> {
        if phrases.is_empty() || self.version()? < LINKS {
            return Ok(Vec::new());
        }
        let scope = conditions(&filter.scope_only());
        self.with(|connection| {
            let any = "SELECT EXISTS (SELECT 1 FROM links)";
            let any: bool = connection
                .prepare_cached(any)?
                .query_row([], |row| row.get(0))?;
            let mut matches = Vec::new();
            let mut resolver = Resolver::new(connection, &scope);
            for (phrase, wanted) in phrases.iter().enumerate().filter(|_| any) {
                let found = containing(connection, wanted, &scope)?;
                let mut pairs = HashSet::new();
                let mut counts: BTreeMap<Row, u32> = BTreeMap::new();
                for link in found {
                    if let Meant::Document(row) = resolver.resolve_or_alias(&link)?
                        && row != link.from
                        && pairs.insert((link.from, row))
                    {
                        *counts.entry(row).or_default() += 1;
                    }
                }
                matches.extend(counts.into_iter().map(|(row, documents)| LinkMatch {
                    row,
                    phrase,
                    documents,
                }));
            }
            Ok(matches)
        })
    }

    fn meant(&self, from: Row, targets: &[LinkTarget], filter: &Filter) -> Result<Vec<Meant>> {
        if self.version()? < LINKS {
            return Ok(vec![Meant::Nothing; targets.len()]);
        }
        let scope = conditions(&filter.scope_only());
        self.with(|connection| {
            let (source, key): (String, String) = connection
                .prepare_cached("SELECT source, key FROM documents WHERE id = ?1")?
                .query_row([from], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let mut resolver = Resolver::new(connection, &scope);
            let meant = targets.iter().map(|target| {
                let link = Found {
                    name: name_hash(&source, target.name()),
                    target: target.clone(),
                    from,
                    key: key.clone(),
                    source: source.clone(),
                };
                resolver.resolve_or_alias(&link)
            });
            meant.collect()
        })
    }

    fn linking(&self, to: Row, filter: &Filter) -> Result<Vec<Row>> {
        if self.version()? < LINKS {
            return Ok(Vec::new());
        }
        let (scope, values) = conditions(&filter.scope_only());
        self.with(|connection| {
            let [source, key, title]: [String; 3] = connection
                .prepare_cached("SELECT source, key, title FROM documents WHERE id = ?1")?
                .query_row([to], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]))?;
            let mut names = links::names(&key, &title);
            for alias in aliases_of(connection, to)? {
                names.push(links::alias_name(&alias));
            }
            let names: Vec<i64> = names.iter().map(|name| name_hash(&source, name)).collect();
            let sql = format!(
                "SELECT l.name, l.target, l.titled, d.id, d.key, d.source FROM links AS l
                 CROSS JOIN documents AS d ON d.id = l.id >> {PLACES}
                 WHERE l.name IN (SELECT value FROM json_each(?)) AND d.source = ? AND d.id <> ?
                   AND {scope}"
            );
            let wanted = [list(&names).into(), source.clone().into(), to.into()];
            let values: Vec<Value> = wanted.into_iter().chain(values.iter().cloned()).collect();
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_map(params_from_iter(values), found)?;
            let found: Vec<Found> = found.collect::<rusqlite::Result<_>>()?;
            let scope = conditions(&filter.scope_only());
            let mut resolver = Resolver::new(connection, &scope);
            let mut rows = BTreeSet::new();
            for link in found {
                if resolver.resolve_or_alias(&link)? == Meant::Document(to) {
                    rows.insert(link.from);
                }
            }
            Ok(rows.into_iter().collect())
        })
    }
}

/// Returns the aliases of a document.
fn aliases_of(connection: &Connection, row: Row) -> rusqlite::Result<Vec<String>> {
    let [one, other] = ALIASES;
    connection
        .prepare_cached("SELECT value FROM fields WHERE document = ?1 AND name IN (?2, ?3)")?
        .query_map(params![row, one, other], |row| row.get(0))?
        .collect()
}

/// Reads a link and the document that has it.
fn found(row: &rusqlite::Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        name: row.get(0)?,
        target: LinkTarget::new(row.get(1)?, row.get(2)?),
        from: row.get(3)?,
        key: row.get(4)?,
        source: row.get(5)?,
    })
}

impl SqliteStore {
    /// Returns the documents among these that match `filter`.
    pub(super) fn admitted(&self, rows: &[Row], filter: &Filter) -> Result<Vec<Row>> {
        let (condition, values) = conditions(filter);
        let sql = format!(
            "SELECT d.id FROM json_each(?) AS wanted
             JOIN documents AS d ON d.id = wanted.value WHERE {condition}"
        );
        let values = std::iter::once(Value::from(list(rows))).chain(values);
        self.with(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get(0))?;
            rows.collect()
        })
    }
}

/// Returns the links whose texts have a phrase, or none if there are too many.
fn containing(
    connection: &Connection,
    phrase: &Phrase,
    (scope, values): &(String, Vec<Value>),
) -> rusqlite::Result<Vec<Found>> {
    let sql = format!(
        "SELECT l.name, l.target, l.titled, d.id, d.key, d.source FROM links_fts AS f
         CROSS JOIN links AS l ON l.id = f.rowid
         CROSS JOIN documents AS d ON d.id = l.id >> {PLACES}
         WHERE f.links_fts MATCH ? AND {scope} LIMIT {}",
        MAX_LINKS + 1
    );
    let phrase = rendered(&Expression::Phrase(phrase.clone()));
    let values = std::iter::once(Value::from(phrase)).chain(values.iter().cloned());
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), found)?;
    let found: Vec<Found> = rows.collect::<rusqlite::Result<_>>()?;
    Ok(if found.len() > MAX_LINKS {
        Vec::new()
    } else {
        found
    })
}

/// Finds the documents that links mean, each name and each target of a folder once.
struct Resolver<'a> {
    connection: &'a Connection,
    sql: String,
    values: &'a [Value],
    scope: &'a str,
    named: HashMap<i64, Vec<Candidate>>,
    known: HashMap<(i64, LinkTarget, String), Meant>,
    /// The documents by source and alias, if any were asked for.
    aliases: Option<Aliases>,
}

/// Documents by source and the path of a link that calls them by an alias.
type Aliases = HashMap<(String, String), BTreeSet<Row>>;

impl<'a> Resolver<'a> {
    fn new(connection: &'a Connection, (scope, values): &'a (String, Vec<Value>)) -> Self {
        Self {
            connection,
            sql: format!(
                "SELECT d.id, d.key, d.title FROM names AS n
                 CROSS JOIN documents AS d ON d.id = n.document WHERE n.name = ? AND {scope}"
            ),
            values,
            scope,
            named: HashMap::new(),
            known: HashMap::new(),
            aliases: None,
        }
    }

    /// Returns the target of a link that gives a path, a title or an alias.
    fn resolve_or_alias(&mut self, link: &Found) -> rusqlite::Result<Meant> {
        match self.resolve(link)? {
            Meant::Nothing if link.target.is_titled() => {}
            meant => return Ok(meant),
        }
        if self.aliases.is_none() {
            self.aliases = Some(self.all_aliases()?);
        }
        let called = (link.source.clone(), link.target.path().to_owned());
        let rows = self.aliases.as_ref().and_then(|known| known.get(&called));
        let mut rows = rows.into_iter().flatten();
        Ok(match (rows.next(), rows.next()) {
            (Some(&row), None) => Meant::Document(row),
            (None, _) => Meant::Nothing,
            (Some(_), Some(_)) => Meant::Several,
        })
    }

    fn all_aliases(&self) -> rusqlite::Result<Aliases> {
        let sql = format!(
            "SELECT d.source, f.value, d.id FROM fields AS f
             CROSS JOIN documents AS d ON d.id = f.document
             WHERE f.name IN (?, ?) AND {}",
            self.scope
        );
        let names = ALIASES.map(|name| Value::from(name.to_owned()));
        let values = names.into_iter().chain(self.values.iter().cloned());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(values))?;
        let mut aliases = Aliases::new();
        while let Some(row) = rows.next()? {
            let alias: String = row.get(1)?;
            let called = (row.get(0)?, links::alias_path(&alias));
            aliases.entry(called).or_default().insert(row.get(2)?);
        }
        Ok(aliases)
    }

    fn resolve(&mut self, link: &Found) -> rusqlite::Result<Meant> {
        let folder = link.key.rsplit_once('/').map_or("", |(folder, _)| folder);
        let asked = (link.name, link.target.clone(), folder.to_owned());
        if let Some(&known) = self.known.get(&asked) {
            return Ok(known);
        }
        if !self.named.contains_key(&link.name) {
            let candidates = self.candidates(link)?;
            self.named.insert(link.name, candidates);
        }
        let candidates = &self.named[&link.name];
        let named = candidates.iter().map(|one| Named {
            key: &one.key,
            title: &one.title,
        });
        let named: Vec<Named<'_>> = named.collect();
        let meant = match link.target.resolved(&link.key, &named) {
            Resolved::Nothing => Meant::Nothing,
            Resolved::One(at) => Meant::Document(candidates[at].row),
            Resolved::Several => Meant::Several,
        };
        self.known.insert(asked, meant);
        Ok(meant)
    }

    fn candidates(&self, link: &Found) -> rusqlite::Result<Vec<Candidate>> {
        let values = std::iter::once(Value::from(link.name)).chain(self.values.iter().cloned());
        let mut statement = self.connection.prepare_cached(&self.sql)?;
        let rows = statement.query_map(params_from_iter(values), |row| {
            Ok(Candidate {
                row: row.get(0)?,
                key: row.get(1)?,
                title: row.get(2)?,
            })
        })?;
        let mut candidates: Vec<Candidate> = rows.collect::<rusqlite::Result<_>>()?;
        let name = link.target.name();
        candidates.retain(|one| {
            links::names(&one.key, &one.title)
                .iter()
                .any(|it| it == name)
        });
        Ok(candidates)
    }
}

impl SqliteWriter {
    /// Inserts the names and the links of a document.
    pub(super) fn insert_links(
        &mut self,
        row: Row,
        [source, key, title]: [&str; 3],
        links: &[OutgoingLink],
    ) -> Result<()> {
        self.with(|connection| {
            insert_names(connection, row, [source, key, title])?;
            for (link, place) in links.iter().take(MAX_TARGETS).zip(0..) {
                let (id, target) = ((row << PLACES) + place, &link.target);
                connection
                    .prepare_cached(
                        "INSERT INTO links (id, name, target, titled) VALUES (?1, ?2, ?3, ?4)",
                    )?
                    .execute(params![
                        id,
                        name_hash(source, target.name()),
                        target.path(),
                        target.is_titled()
                    ])?;
                connection
                    .prepare_cached("INSERT INTO links_fts (rowid, texts) VALUES (?1, ?2)")?
                    .execute(params![id, link.texts])?;
            }
            Ok(())
        })
    }

    /// Deletes the names and the links of a document that is still there.
    pub(super) fn remove_links(&mut self, row: Row) -> Result<()> {
        self.with(|connection| {
            let names = connection
                .prepare_cached("SELECT source, key, title FROM documents WHERE id = ?1")?
                .query_row([row], |row| {
                    let [source, key, title]: [String; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
                    let names = links::names(&key, &title).into_iter();
                    Ok(names
                        .map(|name| name_hash(&source, &name))
                        .collect::<Vec<i64>>())
                })?;
            for name in names {
                connection
                    .prepare_cached("DELETE FROM names WHERE name = ?1 AND document = ?2")?
                    .execute(params![name, row])?;
            }
            let range = [row << PLACES, (row + 1) << PLACES];
            let ids: Vec<i64> = connection
                .prepare_cached("SELECT id FROM links WHERE id >= ?1 AND id < ?2")?
                .query_map(range, |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for id in ids {
                for sql in [
                    "DELETE FROM links_fts WHERE rowid = ?1",
                    "DELETE FROM links WHERE id = ?1",
                ] {
                    connection.prepare_cached(sql)?.execute([id])?;
                }
            }
            Ok(())
        })
    }

    /// Finds the names and the links of all documents again.
    pub(super) fn refill_links(&mut self) -> Result<()> {
        let documents: Vec<(Row, [String; 3])> = self.with(|connection| {
            connection.execute_batch(
                "DELETE FROM names;
                 DELETE FROM links;
                 INSERT INTO links_fts (links_fts) VALUES ('delete-all');",
            )?;
            let sql = "SELECT id, source, key, title FROM documents WHERE deleted_at IS NULL";
            let mut statement = connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?]))
            })?;
            rows.collect()
        })?;
        for (row, names) in documents {
            let (markup, body): (String, String) = self.with(|connection| {
                connection
                    .prepare_cached(
                        "SELECT d.markup, b.body FROM documents AS d
                         JOIN bodies AS b ON b.document = d.id WHERE d.id = ?1",
                    )?
                    .query_row([row], |row| Ok((row.get(0)?, row.get(1)?)))
            })?;
            let markup = Markup::named(&markup);
            let links = links::outgoing(markup, &Lines::of(markup, &body), &body);
            self.insert_links(row, names.each_ref().map(String::as_str), &links)?;
        }
        Ok(())
    }
}

/// Inserts the names of a document with this source, key and title.
fn insert_names(
    connection: &Connection,
    row: Row,
    [source, key, title]: [&str; 3],
) -> rusqlite::Result<()> {
    for name in links::names(key, title) {
        connection
            .prepare_cached("INSERT OR IGNORE INTO names (name, document) VALUES (?1, ?2)")?
            .execute(params![name_hash(source, &name), row])?;
    }
    Ok(())
}

/// Inserts the names of all documents of an index that had none, so that the links of
/// those that change lead to those that stay.
pub(super) fn fill_names(connection: &Connection) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT id, source, key, title FROM documents")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let names: [String; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
        insert_names(
            connection,
            row.get(0)?,
            names.each_ref().map(String::as_str),
        )?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "links_tests.rs"]
mod tests;
