//! Sending what a transaction has collected.

use std::collections::{HashMap, HashSet};

use tokio_postgres::Row as SqlRow;

use super::PostgresWriter;
use super::buffer::Buffer;
use super::rows::{delete_documents, insert_documents, insert_entries, touch_documents};
use crate::links::terms_by_position;
use crate::reader::PostgresReader;
use crate::segment::{Builder, Deleted, Members, Postings};
use crate::value::{Query, Value, count, get};
use kodiak_base::error::Result;
use kodiak_store::{Row, name_hash};
use kodiak_text::document::Document;
use kodiak_text::links::{MAX_TARGETS, OutgoingLink, names as names_of};
use kodiak_text::terms::{DocumentTerms, TermIndexer};

/// The number of bytes of postings that one statement sends.
const MOST_SENT: usize = 8 << 20;

/// How many revisions back the states of an index are known.
pub(crate) const STATES: i64 = 100_000;

/// How many documents are few enough to read without asking how long they are.
const FEW: usize = 16;

/// What a write changes in the state of the index.
#[derive(Debug, Default)]
struct Change {
    documents: i64,
    length: i64,
    segments: bool,
}

impl Change {
    /// Returns the statement that makes the change.
    fn query(&self, revision: i64) -> Query {
        Query::new(
            "UPDATE state SET revision = $1, documents = documents + $2,
                    length = length + $3,
                    changed = CASE WHEN $4 THEN $1 ELSE changed END",
        )
        .with(revision)
        .with(self.documents)
        .with(self.length)
        .with(self.segments)
    }
}

impl PostgresWriter {
    /// Sends what was collected, if anything was.
    pub(super) fn write_out(&self) -> Result<()> {
        let buffer = {
            let mut transaction = self.transaction.borrow_mut();
            match transaction.as_mut() {
                Some(open) if !open.buffer.is_empty() => std::mem::take(&mut open.buffer),
                _ => return Ok(()),
            }
        };
        let revision = self.with(|open| {
            open.written += 1;
            open.dirty = true;
            open.revision + open.written
        })?;
        self.write_buffer(buffer, revision)?;
        self.reader.forget_live();
        Ok(())
    }

    fn write_buffer(&self, mut buffer: Buffer, revision: i64) -> Result<()> {
        let mut change = Change::default();
        let mut gone: HashMap<i64, Deleted> = HashMap::new();
        self.take_out_postings(&mut buffer, &mut gone, &mut change)?;
        self.move_touched(&mut buffer, &mut gone, &mut change)?;
        let mut queries = Vec::new();
        delete_documents(&buffer.removed, &mut queries);
        insert_entries(&buffer, &mut queries);
        insert_documents(&buffer.documents, &mut queries);
        let of_links = buffer.documents.iter().map(|new| {
            let Document {
                source, key, title, ..
            } = &new.document;
            (new.row, [&**source, key, title], &new.links[..])
        });
        self.insert_links(of_links, &mut queries);
        touch_documents(&buffer.touched, &mut queries);
        change.documents += buffer.documents.len() as i64;
        if !gone.is_empty() {
            change.segments = true;
            let ids: Vec<i64> = gone.keys().copied().collect();
            queries.push(
                Query::new(
                    "UPDATE segments AS s SET deleted = g.deleted, changed = $3
                     FROM unnest($1, $2) AS g(id, deleted) WHERE s.id = g.id",
                )
                .with(&ids[..])
                .with(gone.values().map(Deleted::encode).collect::<Value>())
                .with(revision),
            );
        }
        self.insert_derived(&mut buffer, &mut change, revision, &mut queries)?;
        queries.append(&mut buffer.last);
        queries.push(change.query(revision));
        self.reader.ask(&queries).map(drop)
    }

    /// Inserts the segments and the counts of new documents.
    fn insert_derived(
        &self,
        buffer: &mut Buffer,
        change: &mut Change,
        revision: i64,
        queries: &mut Vec<Query>,
    ) -> Result<()> {
        for ((source, project), builder) in std::mem::take(&mut buffer.segments) {
            if builder.len() > 0 {
                change.segments = true;
                self.with(|open| open.new_segments += 1)?;
                let id = self.next_segment()?;
                let length = insert_segment(
                    (id, &source, project.as_deref(), revision),
                    builder,
                    queries,
                );
                change.length += length;
            }
        }
        for (table, column, changes) in [
            ("terms", "term", buffer.counts.terms()),
            ("words", "word", buffer.counts.words()),
        ] {
            for changes in changes.chunks(50_000) {
                queries.push(
                    Query::new(format!(
                        "INSERT INTO {table} AS t ({column}, documents) SELECT * FROM unnest($1, $2)
                         ON CONFLICT ({column}) DO UPDATE
                         SET documents = t.documents + excluded.documents"
                    ))
                    .with(changes.iter().map(|(name, _)| *name).collect::<Value>())
                    .with(changes.iter().map(|(_, change)| *change).collect::<Value>()),
                );
            }
        }
        Ok(())
    }

    /// Inserts what is derived from documents that are stored: segments, counts and links.
    pub(super) fn write_derived(
        &self,
        mut buffer: Buffer,
        links: &[(Row, [String; 3], Vec<OutgoingLink>)],
    ) -> Result<()> {
        let revision = self.with(|open| {
            open.written += 1;
            open.revision + open.written
        })?;
        let mut change = Change {
            documents: links.len() as i64,
            ..Change::default()
        };
        let mut queries = Vec::new();
        let of_links = links
            .iter()
            .map(|(row, names, links)| (*row, names.each_ref().map(String::as_str), &links[..]));
        self.insert_links(of_links, &mut queries);
        self.insert_derived(&mut buffer, &mut change, revision, &mut queries)?;
        queries.push(change.query(revision));
        self.reader.ask(&queries)?;
        self.reader.forget_live();
        Ok(())
    }

    /// Records the numbers that were given out, and that the index has changed.
    pub(super) fn write_state(&self) -> Result<()> {
        let state = self.with(|open| {
            let revision = open.revision + open.written + 1;
            let state = Query::new(
                "UPDATE state SET revision = $1, last_document = $2, last_entry = $3,
                    last_chunk = $4",
            )
            .with(revision)
            .with(open.last_document)
            .with(open.last_entry)
            .with(open.last_chunk);
            let new = Query::new("INSERT INTO states (revision) VALUES ($1)").with(revision);
            let old = Query::new("DELETE FROM states WHERE revision < $1");
            open.dirty
                .then(|| [state, new, old.with(revision - STATES)])
        })?;
        match state {
            Some(state) => self.reader.ask(&state).map(drop),
            None => Ok(()),
        }
    }

    /// Returns the number for a new segment.
    pub(super) fn next_segment(&self) -> Result<i64> {
        if let Some(id) = self.with(|open| open.segment_ids.pop())? {
            return Ok(id);
        }
        let mut ids = self.reader.segment_numbers(16)?;
        // Later segments have higher numbers.
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let next = ids.pop();
        self.with(|open| open.segment_ids = ids)?;
        next.ok_or_else(|| self.reader.refused("it has no numbers for segments"))
    }

    /// Subtracts documents that are removed from the counts, and marks them in their
    /// segments.
    fn take_out_postings(
        &self,
        buffer: &mut Buffer,
        gone: &mut HashMap<i64, Deleted>,
        change: &mut Change,
    ) -> Result<()> {
        if buffer.removed.is_empty() {
            return Ok(());
        }
        let live = if buffer.removed.len() <= FEW {
            let (live, mut answers) = self.reader.ask_live(vec![texts_of(&buffer.removed)])?;
            self.take_out_counts(buffer, &answers.pop().unwrap_or_default(), change)?;
            live
        } else {
            let sizes = Query::new(
                "SELECT document, (octet_length(titles) + octet_length(body) + octet_length(tags))
                     ::bigint
                 FROM bodies WHERE document = ANY($1)",
            );
            let sizes = sizes.with(&buffer.removed[..]);
            let (live, answers) = self.reader.ask_live(vec![sizes])?;
            let (mut page, mut size) = (Vec::new(), 0);
            let mut pages: Vec<Vec<Row>> = Vec::new();
            for row in &answers[0] {
                page.push(get(row, 0)?);
                size += count(row, 1)?;
                if size >= MOST_SENT as u64 {
                    pages.push(std::mem::take(&mut page));
                    size = 0;
                }
            }
            pages.push(page);
            for page in pages.iter().filter(|page| !page.is_empty()) {
                let rows = self.reader.rows_of(texts_of(page))?;
                self.take_out_counts(buffer, &rows, change)?;
            }
            live
        };
        for &row in &buffer.removed {
            if let Some((segment, ordinal)) = live.place_of(row) {
                let marked = gone
                    .entry(segment.id)
                    .or_insert_with(|| Deleted::clone(&segment.deleted));
                if marked.insert(ordinal) {
                    change.length -= segment.members.length(ordinal) as i64;
                }
            }
        }
        Ok(())
    }

    /// Subtracts documents, given with their texts, from the counts.
    fn take_out_counts(
        &self,
        buffer: &mut Buffer,
        rows: &[SqlRow],
        change: &mut Change,
    ) -> Result<()> {
        change.documents -= rows.len() as i64;
        for row in rows {
            let terms = self.terms_of(row)?;
            buffer.counts.add(&terms, -1);
        }
        Ok(())
    }

    /// Moves documents that are of another project by now into a segment of that project.
    fn move_touched(
        &self,
        buffer: &mut Buffer,
        gone: &mut HashMap<i64, Deleted>,
        change: &mut Change,
    ) -> Result<()> {
        if buffer.touched.is_empty() {
            return Ok(());
        }
        let uids = buffer.touched.iter().map(|(_, it)| it.id().hex());
        let uids: Vec<String> = uids.collect();
        let projects = buffer.touched.iter().map(|(_, it)| it.project.as_deref());
        let moved = Query::new(
            "SELECT b.document, b.titles, b.body, b.tags, d.source, t.project
             FROM unnest($1, $2) AS t(uid, project) JOIN documents AS d ON d.uid = t.uid
             JOIN bodies AS b ON b.document = d.id
             WHERE d.project IS DISTINCT FROM t.project",
        )
        .with(&uids[..])
        .with(projects.collect::<Value>());
        let (live, answers) = self.reader.ask_live(vec![moved])?;
        for row in &answers[0] {
            let document: Row = get(row, 0)?;
            if let Some((segment, ordinal)) = live.place_of(document) {
                let marked = gone
                    .entry(segment.id)
                    .or_insert_with(|| Deleted::clone(&segment.deleted));
                if marked.insert(ordinal) {
                    change.length -= segment.members.length(ordinal) as i64;
                }
            }
            let builder = buffer.segments.entry((get(row, 4)?, get(row, 5)?));
            builder.or_default().add(document, &self.terms_of(row)?);
        }
        Ok(())
    }

    /// Returns the terms of a document from the columns `document, titles, body, tags`.
    pub(super) fn terms_of(&self, row: &SqlRow) -> Result<DocumentTerms> {
        let mut indexer = self.indexer.borrow_mut();
        let indexer = indexer.get_or_insert_with(|| TermIndexer::new(self.reader.stemming));
        Ok(indexer.index([get(row, 1)?, get(row, 2)?, get(row, 3)?]))
    }

    /// Inserts the names and the links of documents, each with its source, key and title.
    fn insert_links<'d>(
        &self,
        documents: impl Iterator<Item = (Row, [&'d str; 3], &'d [OutgoingLink])>,
        queries: &mut Vec<Query>,
    ) {
        let mut names: HashSet<(i64, Row)> = HashSet::new();
        let (mut ids, mut of, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
        let (mut targets, mut titled, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        let mut terms: HashSet<(String, i64)> = HashSet::new();
        for (row, [source, key, title], links) in documents {
            for name in names_of(key, title) {
                names.insert((name_hash(source, &name), row));
            }
            for (place, link) in (0_i64..).zip(links.iter().take(MAX_TARGETS)) {
                let id = row * MAX_TARGETS as i64 + place;
                ids.push(id);
                of.push(row);
                hashes.push(name_hash(source, link.target.name()));
                targets.push(link.target.path());
                titled.push(link.target.is_titled());
                texts.push(link.texts.as_str());
                for term in terms_by_position(&link.texts, self.reader.stemming).concat() {
                    terms.insert((term, id));
                }
            }
        }
        if !names.is_empty() {
            queries.push(
                Query::new("INSERT INTO names (name, document) SELECT * FROM unnest($1, $2)")
                    .with(names.iter().map(|(name, _)| *name).collect::<Value>())
                    .with(names.iter().map(|(_, row)| *row).collect::<Value>()),
            );
        }
        if !ids.is_empty() {
            queries.push(
                Query::new(
                    "INSERT INTO links (id, document, name, target, titled, texts)
                     SELECT * FROM unnest($1, $2, $3, $4, $5, $6)",
                )
                .with(&ids[..])
                .with(&of[..])
                .with(&hashes[..])
                .with(targets.into_iter().collect::<Value>())
                .with(titled.into_iter().collect::<Value>())
                .with(texts.into_iter().collect::<Value>()),
            );
            queries.push(
                Query::new("INSERT INTO link_terms (term, link) SELECT * FROM unnest($1, $2)")
                    .with(
                        terms
                            .iter()
                            .map(|(term, _)| term.as_str())
                            .collect::<Value>(),
                    )
                    .with(terms.iter().map(|(_, link)| *link).collect::<Value>()),
            );
        }
    }
}

impl PostgresReader {
    /// Returns numbers for new segments.
    pub(crate) fn segment_numbers(&self, count: usize) -> Result<Vec<i64>> {
        // Those of a transaction that was lost with its server may come again, and with them
        // the number; half of it is random.
        let query = Query::new(
            "SELECT nextval('segment_ids') << 32
                | ('x' || right(gen_random_uuid()::text, 8))::bit(32)::bigint
             FROM generate_series(1, $1)",
        );
        let rows = self.rows_of(query.with(count))?;
        rows.iter().map(|row| get(row, 0)).collect()
    }
}

/// Asks for what was indexed of documents.
fn texts_of(rows: &[Row]) -> Query {
    Query::new("SELECT document, titles, body, tags FROM bodies WHERE document = ANY($1)")
        .with(rows)
}

/// Inserts a segment of new documents. Returns the number of terms in them.
fn insert_segment(
    (id, source, project, revision): (i64, &str, Option<&str>, i64),
    builder: Builder,
    queries: &mut Vec<Query>,
) -> i64 {
    let segment = builder.finish();
    queries.push(segment_query(
        (id, source, project, revision),
        &segment.members,
    ));
    for postings in by_size(&segment.postings) {
        queries.push(postings_query(id, postings));
    }
    let ordinals = 0..segment.members.len() as u32;
    ordinals
        .map(|ordinal| segment.members.length(ordinal) as i64)
        .sum()
}

pub(crate) fn segment_query(
    (id, source, project, revision): (i64, &str, Option<&str>, i64),
    members: &Members,
) -> Query {
    Query::new(
        "INSERT INTO segments (id, source, project, documents, members, deleted, changed)
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
    )
    .with(id)
    .with(source)
    .with(project)
    .with(members.len())
    .with(members.encode())
    .with(Deleted::default().encode())
    .with(revision)
}

/// Cuts postings into parts that one statement each sends.
fn by_size(postings: &[(String, Postings)]) -> Vec<&[(String, Postings)]> {
    let mut parts = Vec::new();
    let (mut start, mut size) = (0, 0);
    for (at, (term, one)) in postings.iter().enumerate() {
        size += term.len() + one.size();
        if size >= MOST_SENT {
            parts.push(&postings[start..=at]);
            (start, size) = (at + 1, 0);
        }
    }
    parts.push(&postings[start..]);
    parts.retain(|part| !part.is_empty());
    parts
}

pub(crate) fn postings_query(segment: i64, postings: &[(String, Postings)]) -> Query {
    let encoded: Vec<_> = postings.iter().map(|(_, one)| one.encode()).collect();
    Query::new(
        "INSERT INTO postings (term, segment, documents, block, positions)
         SELECT u.term, $1, u.documents, u.block, u.positions
         FROM unnest($2, $3, $4, $5) AS u(term, documents, block, positions)",
    )
    .with(segment)
    .with(
        postings
            .iter()
            .map(|(term, _)| term.as_str())
            .collect::<Value>(),
    )
    .with(
        postings
            .iter()
            .map(|(_, one)| one.ordinals().len() as i64)
            .collect::<Value>(),
    )
    .with(
        encoded
            .iter()
            .map(|one| one.block.clone())
            .collect::<Value>(),
    )
    .with(
        encoded
            .iter()
            .map(|one| one.positions.clone())
            .collect::<Value>(),
    )
}
