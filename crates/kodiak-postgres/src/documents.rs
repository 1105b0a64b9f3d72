//! Documents by their numbers, with everything that belongs to them, in one round trip.

use std::collections::{BTreeMap, HashMap, HashSet};

use tokio_postgres::Row as SqlRow;

use crate::batch::{Answered, Asked, Batch};
use crate::filter::{WRITTEN, conditions};
use crate::reader::PostgresReader;
use crate::value::{Query, fixed, get};
use crate::vectors::vector_from;
use kodiak_base::error::Result;
use kodiak_store::{
    ChunkSpan, Contents, Documents, Row, StoredDocument, Wanted, around, follow, shortest_id,
};
use kodiak_text::document::{Markup, Thread, Version};

/// The model in use, as a condition on `embeddings AS e`.
const IN_USE: &str = "e.model = (SELECT id FROM models WHERE serving)";

/// The statements of a reading that were sent.
struct Sent {
    documents: Asked,
    threads: Asked,
    authors: Asked,
    bodies: Asked,
    fields: Asked,
    entries: Asked,
    successors: Asked,
    spans: Asked,
    chunks: Asked,
    vectors: Asked,
    hashes: Asked,
}

impl Documents for PostgresReader {
    fn read(&self, wanted: &Wanted) -> Result<Contents> {
        let _hold = self.hold();
        let mut batch = Batch::default();
        let sent = send(wanted, &mut batch);
        let queries = batch.into_queries();
        let mut contents = Contents::default();
        let answered = if wanted.revision {
            let (live, answers) = self.ask_live(queries)?;
            contents.revision = Some(self.revision_of(&live));
            Answered(answers)
        } else {
            Answered(self.ask(&queries)?)
        };
        let documents = answered.rows(sent.documents).iter().map(stored_document);
        contents.documents = documents.collect::<Result<_>>()?;
        let mut authors: HashMap<Row, String> = HashMap::new();
        contents.threads = threads(answered.rows(sent.threads), &mut authors)?;
        let (mut asked_authors, mut bodies) = (wanted.authors.clone(), wanted.bodies.clone());
        if let (Some(reach), false) = (wanted.around, contents.threads.is_empty()) {
            asked_authors.extend(around(&wanted.threads, &contents.threads, reach));
            bodies.extend(around(&wanted.threads, &contents.threads, 0));
        }
        for row in answered.rows(sent.authors) {
            authors.insert(get(row, 0)?, get(row, 1)?);
        }
        let asked: HashSet<Row> = asked_authors.into_iter().collect();
        authors.retain(|row, _| asked.contains(row));
        contents.authors = authors;
        let mut texts: HashMap<Row, String> = HashMap::new();
        for row in answered.rows(sent.bodies) {
            texts.insert(get(row, 0)?, get(row, 1)?);
        }
        let found = bodies
            .iter()
            .filter_map(|row| Some((*row, texts.get(row)?.clone())));
        contents.bodies = found.collect();
        for &row in &wanted.fields {
            contents.fields.entry(row).or_default();
        }
        for row in answered.rows(sent.fields) {
            let of = contents.fields.entry(get(row, 0)?).or_default();
            of.push((get(row, 1)?, get(row, 2)?));
        }
        for row in answered.rows(sent.entries) {
            let entry = (get(row, 1)?, Version(fixed(row, 2)?));
            contents.entries.insert(get(row, 0)?, entry);
        }
        read_successors(wanted, answered.rows(sent.successors), &mut contents)?;
        read_chunks(wanted, &sent, &answered, &mut contents)?;
        Ok(contents)
    }
}

fn send(wanted: &Wanted, batch: &mut Batch) -> Sent {
    // The texts and authors around a document in its thread are found with the thread.
    let mut bodies = wanted.bodies.clone();
    if wanted.around.is_some() {
        bodies.extend(&wanted.threads);
    }
    let mut of =
        |rows: &[Row], sql: &str| batch.add_if(!rows.is_empty(), || Query::new(sql).with(rows));
    Sent {
        documents: of(
            &wanted.documents,
            "SELECT d.id, d.uid, d.source, d.key, d.kind, d.title, d.category, d.created_at,
                    d.updated_at, d.markup, d.thread, d.position, d.author, d.project, d.hash,
                    b.front, b.body,
                    (SELECT array_agg(t.name ORDER BY dt.ordinal) FROM document_tags AS dt
                     JOIN tags AS t ON t.id = dt.tag WHERE dt.document = d.id),
                    (SELECT n.uid FROM documents AS n WHERE n.uid > d.uid ORDER BY n.uid LIMIT 1),
                    (SELECT n.uid FROM documents AS n WHERE n.uid < d.uid
                     ORDER BY n.uid DESC LIMIT 1)
             FROM unnest($1) WITH ORDINALITY AS w(id, number)
             JOIN documents AS d ON d.id = w.id JOIN bodies AS b ON b.document = d.id
             ORDER BY w.number",
        ),
        threads: of(
            &wanted.threads,
            "SELECT a.source, a.thread, d.id, d.author
             FROM (SELECT DISTINCT source, lower(thread) AS thread FROM documents
                   WHERE id = ANY($1) AND thread IS NOT NULL) AS a
             JOIN documents AS d ON d.source = a.source
               AND left(lower(d.thread), 200) = left(a.thread, 200) AND lower(d.thread) = a.thread
               AND d.thread IS NOT NULL
             ORDER BY a.source, a.thread, d.position NULLS FIRST, d.created_at NULLS FIRST, d.id",
        ),
        authors: of(
            &wanted.authors,
            "SELECT id, author FROM documents WHERE id = ANY($1) AND author IS NOT NULL",
        ),
        fields: of(
            &wanted.fields,
            "SELECT document, name, value FROM fields WHERE document = ANY($1)
             ORDER BY document, ordinal",
        ),
        entries: of(
            &wanted.entries,
            "SELECT d.id, coalesce(e.key, d.key), coalesce(e.version, ''::bytea)
             FROM documents AS d LEFT JOIN entries AS e ON e.id = d.entry WHERE d.id = ANY($1)",
        ),
        spans: of(
            &wanted.spans,
            "SELECT id, start_byte, end_byte, start_line, end_line, heading FROM chunks
             WHERE id = ANY($1)",
        ),
        chunks: of(
            &wanted.chunks,
            &format!(
                "SELECT e.chunk, e.vector FROM embeddings AS e WHERE e.chunk = ANY($1) AND {IN_USE}"
            ),
        ),
        vectors: of(
            &wanted.vectors,
            &format!(
                "SELECT c.document, c.id, e.vector FROM chunks AS c
                 JOIN embeddings AS e ON e.chunk = c.id AND {IN_USE}
                 WHERE c.document = ANY($1) ORDER BY c.document, c.ordinal"
            ),
        ),
        hashes: of(
            &wanted.hashes,
            "SELECT document, text_hash FROM chunks WHERE document = ANY($1)
             ORDER BY document, ordinal",
        ),
        bodies: batch.add_if(!bodies.is_empty(), || {
            Query::new(
                "SELECT document, body FROM bodies
                 WHERE document = ANY($1) AND octet_length(body) <= $2",
            )
            .with(&bodies[..])
            .with(wanted.longest)
        }),
        successors: batch.add_if(!wanted.successors.is_empty(), || successors(wanted)),
    }
}

fn stored_document(row: &SqlRow) -> Result<StoredDocument> {
    let thread: Option<String> = get(row, 10)?;
    let position = get(row, 11)?;
    let uid: String = get(row, 1)?;
    let tags: Option<Vec<String>> = get(row, 17)?;
    Ok(StoredDocument {
        row: get(row, 0)?,
        short_id: shortest_id(&uid, &[get(row, 18)?, get(row, 19)?]),
        uid,
        source: get(row, 2)?,
        key: get(row, 3)?,
        kind: get(row, 4)?,
        title: get(row, 5)?,
        category: get(row, 6)?,
        created_at: get(row, 7)?,
        updated_at: get(row, 8)?,
        markup: Markup::named(get(row, 9)?),
        thread: thread.map(|name| Thread { name, position }),
        author: get(row, 12)?,
        project: get(row, 13)?,
        hash: fixed(row, 14)?,
        front: get(row, 15)?,
        body: get(row, 16)?,
        tags: tags.unwrap_or_default(),
    })
}

/// Returns the documents of each thread, and notes their authors.
fn threads(rows: &[SqlRow], authors: &mut HashMap<Row, String>) -> Result<Vec<Vec<Row>>> {
    let mut threads: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
    for row in rows {
        let document: Row = get(row, 2)?;
        let thread = threads.entry((get(row, 0)?, get(row, 1)?)).or_default();
        thread.push(document);
        let author: Option<String> = get(row, 3)?;
        authors.extend(author.map(|author| (document, author)));
    }
    Ok(threads.into_values().collect())
}

/// Asks for the successors of documents and theirs, each with whether it meets the further
/// filter, and for those of the same documents that meet the further filter alone.
fn successors(wanted: &Wanted) -> Query {
    let mut query = Query::default();
    let succeeding = conditions(&wanted.succeeding, &mut query);
    let admitting = wanted
        .admitting
        .as_ref()
        .map_or("false".to_owned(), |filter| conditions(filter, &mut query));
    let rows = query.bind(&wanted.successors[..]);
    let named = "JOIN fields AS f ON left(lower(f.name), 200) = 'supersedes'
               AND left(lower(f.value), 200) = left(lower(older.key), 200)
               AND lower(f.value) = lower(older.key)
             JOIN documents AS d ON d.id = f.document AND d.source = older.source
               AND d.id <> older.id";
    query.sql = format!(
        "WITH RECURSIVE chain (older, newer, written, follows, admitted) AS (
             SELECT older.id, d.id, {WRITTEN}, {succeeding}, {admitting}
             FROM documents AS older {named} WHERE older.id = ANY({rows})
               AND (({succeeding}) OR ({admitting}))
             UNION
             SELECT older.id, d.id, {WRITTEN}, {succeeding}, {admitting}
             FROM chain JOIN documents AS older ON older.id = chain.newer {named}
             WHERE chain.follows AND (({succeeding}) OR ({admitting})))
         SELECT older, newer, coalesce(follows, false), coalesce(admitted, false) FROM chain
         ORDER BY older, written, newer"
    );
    query
}

fn read_successors(wanted: &Wanted, rows: &[SqlRow], contents: &mut Contents) -> Result<()> {
    let mut pairs: HashMap<Row, Vec<Row>> = HashMap::new();
    let mut admitted: Vec<(Row, Row)> = Vec::new();
    for row in rows {
        let (older, newer): (Row, Row) = (get(row, 0)?, get(row, 1)?);
        if get(row, 2)? {
            pairs.entry(older).or_default().push(newer);
        }
        if get(row, 3)? {
            admitted.push((older, newer));
        }
    }
    contents.successors = follow(&wanted.successors, |rows| {
        let found = rows.iter().flat_map(|older| {
            let newer = pairs.get(older).into_iter().flatten();
            newer.map(|newer| (*older, *newer))
        });
        Ok(found.collect())
    })?;
    let older: HashSet<Row> = contents
        .successors
        .iter()
        .map(|(older, _)| *older)
        .collect();
    let admitted = admitted.into_iter().filter(|(one, _)| older.contains(one));
    contents.admitted = admitted.map(|(_, newer)| newer).collect();
    Ok(())
}

fn read_chunks(
    wanted: &Wanted,
    sent: &Sent,
    answered: &Answered,
    contents: &mut Contents,
) -> Result<()> {
    let size =
        |row: &SqlRow, column| -> Result<usize> { Ok(crate::value::count(row, column)? as usize) };
    for row in answered.rows(sent.spans) {
        let span = ChunkSpan {
            range: size(row, 1)?..size(row, 2)?,
            lines: (size(row, 3)?, size(row, 4)?),
            heading: get(row, 5)?,
        };
        contents.spans.insert(get(row, 0)?, span);
    }
    for row in answered.rows(sent.chunks) {
        contents
            .chunks
            .insert(get(row, 0)?, vector_from(get(row, 1)?));
    }
    for row in answered.rows(sent.vectors) {
        let of = contents.vectors.entry(get(row, 0)?).or_default();
        of.push((get(row, 1)?, vector_from(get(row, 2)?)));
    }
    for &row in &wanted.hashes {
        contents.hashes.entry(row).or_default();
    }
    for row in answered.rows(sent.hashes) {
        let of = contents.hashes.entry(get(row, 0)?).or_default();
        of.push(fixed(row, 1)?);
    }
    Ok(())
}
