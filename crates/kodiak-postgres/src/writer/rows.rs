//! The rows of documents, as statements that write many at once.

use std::collections::{HashMap, HashSet};

use super::buffer::{Buffer, NewDocument};
use crate::value::{Query, Value};
use kodiak_store::{Row, name_hash};
use kodiak_text::chunk;
use kodiak_text::document::Document;

/// Deletes documents from all tables but the segments.
pub(super) fn delete_documents(rows: &[Row], queries: &mut Vec<Query>) {
    if rows.is_empty() {
        return;
    }
    let chunks = "(SELECT id FROM chunks WHERE document = ANY($1))";
    let links = "(SELECT id FROM links WHERE document = ANY($1))";
    for condition in [
        format!("embeddings WHERE chunk IN {chunks}"),
        format!("embedding_failures WHERE chunk IN {chunks}"),
        format!("link_terms WHERE link IN {links}"),
        "chunks WHERE document = ANY($1)".to_owned(),
        "links WHERE document = ANY($1)".to_owned(),
        "names WHERE document = ANY($1)".to_owned(),
        "fields WHERE document = ANY($1)".to_owned(),
        "document_tags WHERE document = ANY($1)".to_owned(),
        "bodies WHERE document = ANY($1)".to_owned(),
        "documents WHERE id = ANY($1)".to_owned(),
    ] {
        queries.push(Query::new(format!("DELETE FROM {condition}")).with(rows));
    }
}

pub(super) fn insert_entries(buffer: &Buffer, queries: &mut Vec<Query>) {
    if buffer.entries.is_empty() {
        return;
    }
    let entries = || buffer.entries.values();
    queries.push(
        Query::new(
            "INSERT INTO entries (id, uid, source, key, version, size, skipped)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7)
             ON CONFLICT (uid) DO UPDATE SET version = excluded.version, size = excluded.size,
                skipped = excluded.skipped",
        )
        .with(entries().map(|one| one.row).collect::<Value>())
        .with(buffer.entries.keys().map(String::as_str).collect::<Value>())
        .with(entries().map(|one| one.source.as_str()).collect::<Value>())
        .with(entries().map(|one| one.key.as_str()).collect::<Value>())
        .with(entries().map(|one| one.version.to_vec()).collect::<Value>())
        .with(entries().map(|one| one.size as i64).collect::<Value>())
        .with(
            entries()
                .map(|one| one.skipped.as_deref())
                .collect::<Value>(),
        ),
    );
}

pub(super) fn insert_documents(new: &[NewDocument], queries: &mut Vec<Query>) {
    if new.is_empty() {
        return;
    }
    let all = || new.iter().map(|one| &one.document);
    let rows = || new.iter().map(|one| one.row).collect::<Value>();
    let thread = |one: &Document| one.thread.as_ref().and_then(|thread| thread.position);
    queries.push(
        Query::new(
            "INSERT INTO documents (id, uid, source, key, kind, title, category, created_at,
                updated_at, hash, problem, chunked, entry, markup, thread, position, author,
                project)
             SELECT u.id, u.uid, u.source, u.key, u.kind, u.title, u.category, u.created_at,
                u.updated_at, u.hash, u.problem, $12, u.entry, u.markup, u.thread, u.position,
                u.author, u.project
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $13, $14, $15, $16, $17,
                $18) AS u(id, uid, source, key, kind, title, category, created_at, updated_at,
                hash, problem, entry, markup, thread, position, author, project)",
        )
        .with(rows())
        .with(new.iter().map(|one| one.uid.as_str()).collect::<Value>())
        .with(all().map(|one| one.source.as_str()).collect::<Value>())
        .with(all().map(|one| one.key.as_str()).collect::<Value>())
        .with(all().map(|one| one.kind.as_str()).collect::<Value>())
        .with(all().map(|one| one.title.as_str()).collect::<Value>())
        .with(all().map(|one| one.category.as_deref()).collect::<Value>())
        .with(all().map(|one| one.created_at).collect::<Value>())
        .with(all().map(|one| one.updated_at).collect::<Value>())
        .with(all().map(|one| one.hash.to_vec()).collect::<Value>())
        .with(all().map(|one| one.problem.as_deref()).collect::<Value>())
        .with(i64::from(chunk::FORMAT))
        .with(new.iter().map(|one| one.entry).collect::<Value>())
        .with(all().map(|one| one.markup.name()).collect::<Value>())
        .with(
            all()
                .map(|one| one.thread.as_ref().map(|thread| thread.name.as_str()))
                .collect::<Value>(),
        )
        .with(all().map(thread).collect::<Value>())
        .with(all().map(|one| one.author.as_deref()).collect::<Value>())
        .with(all().map(|one| one.project.as_deref()).collect::<Value>()),
    );
    queries.push(
        Query::new(
            "INSERT INTO bodies (document, front, body, titles, tags)
             SELECT * FROM unnest($1, $2, $3, $4, $5)",
        )
        .with(rows())
        .with(all().map(|one| one.front.as_str()).collect::<Value>())
        .with(all().map(|one| one.body.as_str()).collect::<Value>())
        .with(new.iter().map(|one| one.titles.as_str()).collect::<Value>())
        .with(new.iter().map(|one| one.tags.as_str()).collect::<Value>()),
    );
    insert_tags_and_fields(new, queries);
    insert_chunks(
        new.iter()
            .flat_map(|one| one.chunks.iter().zip(0_i64..).map(|it| (one.row, it))),
        queries,
    );
}

fn insert_tags_and_fields(new: &[NewDocument], queries: &mut Vec<Query>) {
    // The spelling that was written last counts, so that a tag can be renamed from `Work`
    // to `work`.
    let mut spelt: HashMap<i64, &str> = HashMap::new();
    let (mut tagged, mut tags, mut places) = (Vec::new(), Vec::new(), Vec::new());
    let mut fields = Vec::new();
    for one in new {
        let mut seen = HashSet::new();
        for (place, tag) in (0_i64..).zip(&one.document.tags) {
            let number = tag_number(tag);
            spelt.insert(number, tag);
            if seen.insert(number) {
                tagged.push(one.row);
                tags.push(number);
                places.push(place);
            }
        }
        let flat = (0_i64..).zip(one.document.flat_fields());
        fields.extend(flat.map(|(place, (name, value))| (one.row, place, name, value)));
    }
    if !tags.is_empty() {
        queries.push(
            Query::new(
                "INSERT INTO tags (id, name) SELECT * FROM unnest($1, $2)
                 ON CONFLICT (id) DO UPDATE SET name = excluded.name
                 WHERE tags.name <> excluded.name",
            )
            .with(spelt.keys().copied().collect::<Value>())
            .with(spelt.values().copied().collect::<Value>()),
        );
        queries.push(
            Query::new(
                "INSERT INTO document_tags (document, tag, ordinal)
                 SELECT * FROM unnest($1, $2, $3)",
            )
            .with(&tagged[..])
            .with(&tags[..])
            .with(&places[..]),
        );
    }
    if !fields.is_empty() {
        queries.push(
            Query::new(
                "INSERT INTO fields (document, ordinal, name, value)
                 SELECT * FROM unnest($1, $2, $3, $4)",
            )
            .with(fields.iter().map(|one| one.0).collect::<Value>())
            .with(fields.iter().map(|one| one.1).collect::<Value>())
            .with(fields.iter().map(|one| one.2.as_str()).collect::<Value>())
            .with(fields.iter().map(|one| one.3.as_str()).collect::<Value>()),
        );
    }
}

/// Returns the number of a tag, the same however it is spelt.
pub(super) fn tag_number(tag: &str) -> i64 {
    name_hash("tag", &tag.to_ascii_lowercase())
}

/// Inserts chunks: each of a document, with its number, its hash and its ordinal.
pub(super) fn insert_chunks<'a>(
    chunks: impl Iterator<Item = (Row, (&'a (i64, chunk::Chunk, [u8; 16]), i64))>,
    queries: &mut Vec<Query>,
) {
    let all: Vec<_> = chunks.collect();
    if all.is_empty() {
        return;
    }
    let number = |of: &dyn Fn(&chunk::Chunk) -> usize| {
        let numbers = all.iter().map(|(_, ((_, chunk, _), _))| of(chunk) as i64);
        numbers.collect::<Value>()
    };
    queries.push(
        Query::new(
            "INSERT INTO chunks (id, document, ordinal, start_byte, end_byte, start_line,
                end_line, heading, text_hash)
             SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        )
        .with(all.iter().map(|(_, ((id, ..), _))| *id).collect::<Value>())
        .with(all.iter().map(|(row, _)| *row).collect::<Value>())
        .with(all.iter().map(|(_, (_, at))| *at).collect::<Value>())
        .with(number(&|chunk| chunk.range.start))
        .with(number(&|chunk| chunk.range.end))
        .with(number(&|chunk| chunk.start_line))
        .with(number(&|chunk| chunk.end_line))
        .with(
            all.iter()
                .map(|(_, ((_, chunk, _), _))| chunk.heading.as_str())
                .collect::<Value>(),
        )
        .with(
            all.iter()
                .map(|(_, ((.., hash), _))| hash.to_vec())
                .collect::<Value>(),
        ),
    );
}

pub(super) fn touch_documents(touched: &[(i64, Document)], queries: &mut Vec<Query>) {
    if touched.is_empty() {
        return;
    }
    let all = || touched.iter().map(|(_, document)| document);
    let uids: Vec<String> = all().map(|one| one.id().hex()).collect();
    queries.push(
        Query::new(
            "WITH changed AS (UPDATE documents AS d SET entry = t.entry, created_at = t.created_at,
                updated_at = t.updated_at, markup = t.markup, thread = t.thread,
                position = t.position, author = t.author, project = t.project
             FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9)
               AS t(uid, entry, created_at, updated_at, markup, thread, position, author, project)
             WHERE d.uid = t.uid AND (d.entry, d.created_at, d.updated_at, d.markup, d.thread,
                d.position, d.author, d.project) IS DISTINCT FROM (t.entry, t.created_at,
                t.updated_at, t.markup, t.thread, t.position, t.author, t.project) RETURNING 1)
             UPDATE state SET touched = touched + 1 WHERE EXISTS (SELECT 1 FROM changed)",
        )
        .with(&uids[..])
        .with(touched.iter().map(|(entry, _)| *entry).collect::<Value>())
        .with(all().map(|one| one.created_at).collect::<Value>())
        .with(all().map(|one| one.updated_at).collect::<Value>())
        .with(all().map(|one| one.markup.name()).collect::<Value>())
        .with(
            all()
                .map(|one| one.thread.as_ref().map(|thread| thread.name.as_str()))
                .collect::<Value>(),
        )
        .with(
            all()
                .map(|one| one.thread.as_ref().and_then(|thread| thread.position))
                .collect::<Value>(),
        )
        .with(all().map(|one| one.author.as_deref()).collect::<Value>())
        .with(all().map(|one| one.project.as_deref()).collect::<Value>()),
    );
}
