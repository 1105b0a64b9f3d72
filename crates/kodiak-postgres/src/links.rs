//! The links between documents: which documents their texts lead to, and which are meant.
//!
//! A link whose texts have a phrase is found by the phrase's terms; whether these stand
//! next to each other is seen in the texts. What a link means is resolved here, from the
//! documents that its name may call.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::ControlFlow;

use tokio_postgres::Row as SqlRow;

use crate::filter::conditions;
use crate::lookup::after_all;
use crate::plan::pattern;
use crate::reader::PostgresReader;
use crate::value::{Query, Value, count, get};
use kodiak_base::error::{Error, Result};
use kodiak_store::{Filter, LinkMatch, Links, MAX_LINKS, Meant, Phrase, Row, name_hash};
use kodiak_text::document::ALIASES;
use kodiak_text::links::{self, LinkTarget, Named, Resolved};
use kodiak_text::text::{Purpose, Stemming, Tokenizer};

/// The number of links with the terms of a phrase that are read. The phrase may be in few
/// of them, and few phrases have terms that so many links have.
const MAX_READ: usize = 16 * MAX_LINKS;

/// A link.
struct Found {
    name: i64,
    target: LinkTarget,
    from: Row,
    key: String,
    source: String,
}

/// Documents by source and the path of a link that calls them by an alias.
type Aliases = HashMap<(String, String), BTreeSet<Row>>;

/// A document that has a name.
struct Candidate {
    row: Row,
    key: String,
    title: String,
}

/// The documents that names may call.
#[derive(Default)]
struct Candidates(HashMap<i64, Vec<Candidate>>);

impl Candidates {
    /// Adds documents: a name, a document, its key and its title.
    fn add(&mut self, rows: &[SqlRow]) -> Result<()> {
        for row in rows {
            let (name, candidate) = (
                get(row, 0)?,
                Candidate {
                    row: get(row, 1)?,
                    key: get(row, 2)?,
                    title: get(row, 3)?,
                },
            );
            let known = self.0.entry(name).or_default();
            if known.iter().all(|one| one.row != candidate.row) {
                known.push(candidate);
            }
        }
        Ok(())
    }

    /// Returns what a link means by a path or a title.
    fn resolve(&self, link: &Found) -> Meant {
        let candidates = self.0.get(&link.name).map_or(&[][..], Vec::as_slice);
        let candidates: Vec<&Candidate> = candidates
            .iter()
            .filter(|one| {
                let names = links::names(&one.key, &one.title);
                names.iter().any(|it| it == link.target.name())
            })
            .collect();
        let named = candidates.iter().map(|one| Named {
            key: &one.key,
            title: &one.title,
        });
        let named: Vec<Named<'_>> = named.collect();
        match link.target.resolved(&link.key, &named) {
            Resolved::Nothing => Meant::Nothing,
            Resolved::One(at) => Meant::Document(candidates[at].row),
            Resolved::Several => Meant::Several,
        }
    }

    /// Returns what a link means by a path, a title or an alias, given all aliases.
    fn resolve_or_alias(&self, link: &Found, aliases: &Aliases) -> Meant {
        match self.resolve(link) {
            Meant::Nothing if link.target.is_titled() => {}
            meant => return meant,
        }
        let called = (link.source.clone(), link.target.path().to_owned());
        let mut rows = aliases.get(&called).into_iter().flatten();
        match (rows.next(), rows.next()) {
            (Some(&row), None) => Meant::Document(row),
            (None, _) => Meant::Nothing,
            (Some(_), Some(_)) => Meant::Several,
        }
    }
}

impl Links for PostgresReader {
    fn linked(&self, phrases: &[Phrase], filter: &Filter) -> Result<Vec<LinkMatch>> {
        let _hold = self.hold();
        let answers = self.ask(&self.link_queries(phrases, filter))?;
        self.linked_in(phrases, &answers)
    }

    fn meant(&self, from: Row, targets: &[LinkTarget], filter: &Filter) -> Result<Vec<Meant>> {
        let _hold = self.hold();
        let document = Query::new("SELECT source, key FROM documents WHERE id = $1").with(from);
        let answers = self.ask(&[document])?;
        let Some(row) = answers[0].first() else {
            return Err(Error::NoDocument {
                reference: from.to_string(),
                suggestions: Vec::new(),
            });
        };
        let (source, key): (String, String) = (get(row, 0)?, get(row, 1)?);
        let found: Vec<Found> = targets
            .iter()
            .map(|target| Found {
                name: name_hash(&source, target.name()),
                target: target.clone(),
                from,
                key: key.clone(),
                source: source.clone(),
            })
            .collect();
        let names: Vec<i64> = found.iter().map(|link| link.name).collect();
        let answers = self.ask(&[named_query(&names, filter), aliases_query(filter)])?;
        let mut candidates = Candidates::default();
        candidates.add(&answers[0])?;
        let aliases = aliases_in(&answers[1])?;
        let meant = found
            .iter()
            .map(|link| candidates.resolve_or_alias(link, &aliases));
        Ok(meant.collect())
    }

    fn linking(&self, to: Row, filter: &Filter) -> Result<Vec<Row>> {
        let _hold = self.hold();
        let answers = self.ask(&[
            Query::new("SELECT source, key, title FROM documents WHERE id = $1").with(to),
            Query::new("SELECT value FROM fields WHERE document = $1 AND lower(name) = ANY($2)")
                .with(to)
                .with(ALIASES.into_iter().collect::<Value>()),
        ])?;
        let Some(row) = answers[0].first() else {
            return Err(Error::NoDocument {
                reference: to.to_string(),
                suggestions: Vec::new(),
            });
        };
        let (source, key, title): (String, String, String) =
            (get(row, 0)?, get(row, 1)?, get(row, 2)?);
        let mut names = links::names(&key, &title);
        for row in &answers[1] {
            names.push(links::alias_name(get(row, 0)?));
        }
        let names: Vec<i64> = names.iter().map(|name| name_hash(&source, name)).collect();
        let mut query = Query::default();
        let scope = conditions(&filter.scope_only(), &mut query);
        let (all, own, source_name) = (query.bind(&names[..]), query.bind(to), query.bind(&source));
        query.sql = format!(
            "SELECT l.name, l.target, l.titled, d.id, d.key, d.source FROM links AS l
             JOIN documents AS d ON d.id = l.document
             WHERE l.name = ANY({all}) AND d.source = {source_name} AND d.id <> {own} AND {scope}"
        );
        let answers = self.ask(&[query, named_query(&names, filter), aliases_query(filter)])?;
        let mut candidates = Candidates::default();
        candidates.add(&answers[1])?;
        let aliases = aliases_in(&answers[2])?;
        let mut rows = BTreeSet::new();
        for row in &answers[0] {
            let link = found(row)?;
            if candidates.resolve_or_alias(&link, &aliases) == Meant::Document(to) {
                rows.insert(link.from);
            }
        }
        Ok(rows.into_iter().collect())
    }
}

/// Reads a link and the document that has it.
fn found(row: &SqlRow) -> Result<Found> {
    Ok(Found {
        name: get(row, 0)?,
        target: LinkTarget::new(get(row, 1)?, get(row, 2)?),
        from: get(row, 3)?,
        key: get(row, 4)?,
        source: get(row, 5)?,
    })
}

/// Asks for the documents in the scope that any of these names may call.
fn named_query(names: &[i64], filter: &Filter) -> Query {
    let mut query = Query::default();
    let scope = conditions(&filter.scope_only(), &mut query);
    let names = query.bind(names);
    query.sql = format!(
        "SELECT n.name, d.id, d.key, d.title FROM names AS n
         JOIN documents AS d ON d.id = n.document WHERE n.name = ANY({names}) AND {scope}"
    );
    query
}

/// Asks for the aliases of all documents in the scope.
fn aliases_query(filter: &Filter) -> Query {
    let mut query = Query::default();
    let scope = conditions(&filter.scope_only(), &mut query);
    let names = query.bind(ALIASES.into_iter().collect::<Value>());
    query.sql = format!(
        "SELECT d.source, f.value, d.id FROM fields AS f JOIN documents AS d ON d.id = f.document
         WHERE left(lower(f.name), 200) = ANY({names}) AND {scope}"
    );
    query
}

fn aliases_in(rows: &[SqlRow]) -> Result<Aliases> {
    let mut aliases = Aliases::new();
    for row in rows {
        let called = (get(row, 0)?, links::alias_path(get(row, 1)?));
        aliases.entry(called).or_default().insert(get(row, 2)?);
    }
    Ok(aliases)
}

impl PostgresReader {
    /// Returns the statements that find links with phrases: two for all phrases of a single
    /// whole term, if there are any, and two for each other phrase that has terms; of two,
    /// one is for the links and one for the documents that their names may call. A last one
    /// is for aliases, if there are any others.
    ///
    /// The server plans each statement again, which takes longer than finding a few links.
    pub(crate) fn link_queries(&self, phrases: &[Phrase], filter: &Filter) -> Vec<Query> {
        let patterns = self.patterns(phrases);
        let mut queries = Vec::new();
        let single: Vec<&str> = patterns.iter().filter_map(Pattern::single).collect();
        if !single.is_empty() {
            let mut query = Query::default();
            let scope = conditions(&filter.scope_only(), &mut query);
            let terms = query.bind(single.into_iter().collect::<Value>());
            let found = format!(
                "SELECT f.name, f.target, f.titled, f.id, f.key, f.source, f.texts, p.number
                 FROM unnest({terms}) WITH ORDINALITY AS p(term, number)
                 CROSS JOIN LATERAL ({}) AS f",
                found_sql("t.term = p.term", &scope, MAX_LINKS + 1)
            );
            push_pair(query, &found, &scope, &mut queries);
        }
        for pattern in patterns.iter().filter(|one| one.single().is_none()) {
            let Some((last, whole)) = pattern.terms.split_last() else {
                continue;
            };
            let mut query = Query::default();
            let scope = conditions(&filter.scope_only(), &mut query);
            let last = if pattern.prefix {
                let (from, to) = (query.bind(last), query.bind(after_all(last)));
                format!("t.term >= {from} AND t.term < {to}")
            } else {
                format!("t.term = {}", query.bind(last))
            };
            let mut wanted = scope.clone();
            for term in whole {
                let term = query.bind(term);
                wanted.push_str(&format!(
                    " AND EXISTS (SELECT 1 FROM link_terms AS o
                       WHERE o.link = l.id AND o.term = {term})"
                ));
            }
            // Of a single term, more are no evidence. Others are looked at first.
            let most = if whole.is_empty() {
                MAX_LINKS + 1
            } else {
                MAX_READ
            };
            let found = found_sql(&last, &wanted, most);
            push_pair(query, &found, &scope, &mut queries);
        }
        if !queries.is_empty() {
            queries.push(aliases_query(filter));
        }
        queries
    }

    /// Returns the terms of phrases.
    fn patterns(&self, phrases: &[Phrase]) -> Vec<Pattern> {
        let mut tokenizer = Tokenizer::new(self.stemming);
        let patterns = phrases.iter().map(|phrase| Pattern {
            terms: pattern(&mut tokenizer, phrase),
            prefix: phrase.prefix,
        });
        patterns.collect()
    }

    /// Reads the answers to [`PostgresReader::link_queries`].
    pub(crate) fn linked_in(
        &self,
        phrases: &[Phrase],
        answers: &[Vec<SqlRow>],
    ) -> Result<Vec<LinkMatch>> {
        let Some((aliases, answers)) = answers.split_last() else {
            return Ok(Vec::new());
        };
        let aliases = aliases_in(aliases)?;
        let patterns = self.patterns(phrases);
        let mut answers = answers.chunks_exact(2);
        // The links of phrases of a single term, by the place of the phrase among these.
        let mut single: HashMap<u64, Vec<&SqlRow>> = HashMap::new();
        let mut of_single = Candidates::default();
        if patterns.iter().any(|one| one.single().is_some())
            && let Some([links, called]) = answers.next()
        {
            of_single.add(called)?;
            for row in links {
                single.entry(count(row, 7)?).or_default().push(row);
            }
        }
        let mut matches = Vec::new();
        let mut place = 0;
        for (number, pattern) in patterns.iter().enumerate() {
            let mut own = Candidates::default();
            let (links, candidates) = if pattern.single().is_some() {
                place += 1;
                (single.remove(&place).unwrap_or_default(), &of_single)
            } else if pattern.terms.is_empty() {
                continue;
            } else {
                let Some([links, called]) = answers.next() else {
                    break;
                };
                own.add(called)?;
                (links.iter().collect(), &own)
            };
            let mut having = Vec::new();
            for row in links {
                let texts: &str = get(row, 6)?;
                if pattern.terms.len() == 1
                    || has_phrase(texts, &pattern.terms, pattern.prefix, self.stemming)
                {
                    having.push(found(row)?);
                }
            }
            if having.len() > MAX_LINKS {
                continue;
            }
            let mut pairs = HashSet::new();
            let mut counts: BTreeMap<Row, u32> = BTreeMap::new();
            for link in having {
                if let Meant::Document(row) = candidates.resolve_or_alias(&link, &aliases)
                    && row != link.from
                    && pairs.insert((link.from, row))
                {
                    *counts.entry(row).or_default() += 1;
                }
            }
            matches.extend(counts.into_iter().map(|(row, documents)| LinkMatch {
                row,
                phrase: number,
                documents,
            }));
        }
        Ok(matches)
    }
}

/// The terms of a phrase.
struct Pattern {
    terms: Vec<String>,
    prefix: bool,
}

impl Pattern {
    /// Returns the term of a phrase that is a single whole one.
    fn single(&self) -> Option<&str> {
        match &self.terms[..] {
            [term] if !self.prefix => Some(term),
            _ => None,
        }
    }
}

/// Returns a statement that finds links by their terms.
fn found_sql(terms: &str, wanted: &str, most: usize) -> String {
    format!(
        "SELECT l.name, l.target, l.titled, d.id, d.key, d.source, l.texts
         FROM (SELECT DISTINCT t.link FROM link_terms AS t WHERE {terms}) AS t
         JOIN links AS l ON l.id = t.link JOIN documents AS d ON d.id = l.document
         WHERE {wanted} LIMIT {most}"
    )
}

/// Adds the statement that finds links, and the one that finds what their names may call.
fn push_pair(mut query: Query, found: &str, scope: &str, queries: &mut Vec<Query>) {
    let mut links = query.clone();
    found.clone_into(&mut links.sql);
    queries.push(links);
    query.sql = format!(
        "SELECT n.name, d.id, d.key, d.title FROM names AS n
         JOIN documents AS d ON d.id = n.document
         WHERE n.name IN (SELECT found.name FROM ({found}) AS found) AND {scope}"
    );
    queries.push(query);
}

/// Returns the terms of the texts of a link, by position.
pub(crate) fn terms_by_position(texts: &str, stemming: Stemming) -> Vec<Vec<String>> {
    let mut positions: Vec<Vec<String>> = Vec::new();
    let _ = Tokenizer::new(stemming).each_term(texts, Purpose::Document, |term| {
        if !term.edge_gram || positions.is_empty() {
            positions.push(Vec::new());
        }
        if let Some(last) = positions.last_mut() {
            last.push(term.text.to_owned());
        }
        ControlFlow::<()>::Continue(())
    });
    positions
}

fn has_phrase(texts: &str, terms: &[String], prefix: bool, stemming: Stemming) -> bool {
    let positions = terms_by_position(texts, stemming);
    positions.windows(terms.len()).any(|window| {
        let mut pairs = window.iter().zip(terms).enumerate();
        pairs.all(|(number, (here, wanted))| {
            let open = prefix && number + 1 == terms.len();
            here.iter()
                .any(|term| term == wanted || (open && term.starts_with(wanted.as_str())))
        })
    })
}
