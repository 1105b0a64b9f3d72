//! Documents, page by page, in the order in which they were stored.

use std::collections::HashMap;

use kodiak_base::error::Result;
use kodiak_store::{Contents, Filter, Reader, Row, StoredDocument, Wanted};
use kodiak_text::document::{Document, Version};
use serde_json::{Map, Value};

use super::sums::Item;
use super::{Moving, PAGE, Progress, Step};

/// The documents of a page, with what belongs to them.
pub(super) struct Page {
    pub(super) documents: Vec<StoredDocument>,
    contents: Contents,
}

impl Page {
    /// Reads documents with their fields and their entries.
    pub(super) fn read(reader: &dyn Reader, rows: &[Row]) -> Result<Self> {
        let mut contents = reader.read(&Wanted {
            documents: rows.to_vec(),
            fields: rows.to_vec(),
            entries: rows.to_vec(),
            hashes: rows.to_vec(),
            ..Wanted::default()
        })?;
        Ok(Self {
            documents: std::mem::take(&mut contents.documents),
            contents,
        })
    }

    pub(super) fn fields(&self, row: Row) -> &[(String, String)] {
        self.contents.fields.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Returns the key and the version of the entry of a document.
    pub(super) fn entry(&self, row: Row) -> Option<&(String, Version)> {
        self.contents.entries.get(&row)
    }

    /// Returns the hashes of a document's chunks.
    pub(super) fn hashes(&self, row: Row) -> &[[u8; 16]] {
        self.contents.hashes.get(&row).map_or(&[], Vec::as_slice)
    }

    /// Returns an item for a document with everything that it has.
    pub(super) fn item(&self, one: &StoredDocument) -> Item {
        let mut item = Item::new(&one.uid)
            .with(&one.source)
            .with(&one.key)
            .with(&one.kind)
            .with(&one.title)
            .option(one.category.as_ref())
            .option(one.created_at.map(i64::to_le_bytes))
            .number(one.updated_at)
            .with(one.markup.name())
            .option(one.thread.as_ref().map(|thread| &thread.name))
            .option(thread_position(one).map(i64::to_le_bytes))
            .option(one.author.as_ref())
            .option(one.project.as_ref())
            .with(one.hash)
            .with(&one.front)
            .with(&one.body);
        for tag in &one.tags {
            item = item.number(2).with(tag);
        }
        // Fields of one name stay in order. The names are in another one where a name has
        // others inside.
        let mut fields: Vec<_> = self.fields(one.row).iter().collect();
        fields.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, value) in fields {
            item = item.number(3).with(name).with(value);
        }
        item.option(self.entry(one.row).map(|(key, _)| key))
    }

    /// Returns a document as its source has yielded it, as far as the index knows.
    fn document(&self, one: &StoredDocument, problem: Option<&String>) -> Document {
        Document {
            source: one.source.clone(),
            key: one.key.clone(),
            fallback_key: None,
            kind: one.kind.clone(),
            title: one.title.clone(),
            front: one.front.clone(),
            body: one.body.clone(),
            markup: one.markup,
            lines: None,
            category: one.category.clone(),
            tags: one.tags.clone(),
            created_at: one.created_at,
            updated_at: one.updated_at,
            fields: fields(self.fields(one.row)),
            thread: one.thread.clone(),
            author: one.author.clone(),
            project: one.project.clone(),
            hash: one.hash,
            problem: problem.cloned(),
        }
    }
}

fn thread_position(one: &StoredDocument) -> Option<i64> {
    one.thread.as_ref().and_then(|thread| thread.position)
}

/// Returns fields whose names and values are these: a name that is there several times has a
/// list.
fn fields(flat: &[(String, String)]) -> Map<String, Value> {
    let mut fields: Map<String, Value> = Map::new();
    for (name, value) in flat {
        let value = Value::String(value.clone());
        match fields.get_mut(name) {
            None => {
                fields.insert(name.clone(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => {
                let first_value = first.take();
                *first = Value::Array(vec![first_value, value]);
            }
        }
    }
    fields
}

/// Adds the documents that the destination lacks or has in an earlier state. Returns the
/// rows of all that were to be moved in the origin.
pub(super) fn copy(moving: &mut Moving<'_>, progress: &mut Progress<'_>) -> Result<Vec<Row>> {
    let reader = moving.from.reader();
    let mut rows: Vec<Row> = reader
        .rows(&Filter::default(), None, None)?
        .iter()
        .collect();
    rows.sort_unstable();
    let total = rows.len();
    let mut moved = Vec::with_capacity(total);
    let mut problems: HashMap<(String, String), String> = HashMap::new();
    let mut sizes: HashMap<String, HashMap<String, u64>> = HashMap::new();
    for source in reader.sources()? {
        let found = source.problems.into_iter();
        problems.extend(found.map(|(key, problem)| ((source.name.clone(), key), problem)));
        let states = reader.entry_states(&source.name)?.into_iter();
        let known = states.map(|(key, state)| (key, state.size)).collect();
        sizes.insert(source.name, known);
    }
    for (number, rows) in rows.chunks(PAGE).enumerate() {
        moving.migration.check()?;
        progress(Step::Documents, number * PAGE, total);
        let page = Page::read(moving.from.reader(), rows)?;
        let mut wanted = Vec::with_capacity(page.documents.len());
        for one in &page.documents {
            let thread = one.thread.as_ref().map(|thread| thread.name.as_str());
            let is_forgotten = match moving.migration.forgotten {
                Some(forgotten) => forgotten(&one.source, &one.key, thread)?,
                None => false,
            };
            if !is_forgotten {
                wanted.push(one);
            }
        }
        moved.extend(wanted.iter().map(|one| one.row));
        let lacking = lacking(moving, &page, wanted)?;
        if lacking.is_empty() {
            continue;
        }
        moving.transaction(|writer| {
            let mut analyzer = writer.analyzer();
            for one in &lacking {
                let (key, version) = page
                    .entry(one.row)
                    .cloned()
                    .unwrap_or_else(|| (one.key.clone(), Version::UNKNOWN));
                let of_source = sizes.get(&one.source);
                let size = of_source.and_then(|sizes| sizes.get(&key)).copied();
                let size = size.unwrap_or(one.body.len() as u64);
                let entry = writer.put_entry(&one.source, &key, version, size, None)?;
                let problem = problems.get(&(one.source.clone(), one.key.clone()));
                let document = page.document(one, problem);
                writer.put_from(entry, &analyzer.analyze(document))?;
            }
            Ok(())
        })?;
        moving.changed += lacking.len();
    }
    Ok(moved)
}

/// Returns the documents of a page that the destination lacks or has in an earlier state.
fn lacking<'a>(
    moving: &Moving<'_>,
    page: &Page,
    wanted: Vec<&'a StoredDocument>,
) -> Result<Vec<&'a StoredDocument>> {
    let uids: Vec<String> = wanted.iter().map(|one| one.uid.clone()).collect();
    let there = moving.rows_there(&uids)?;
    let rows: Vec<Row> = there.iter().flatten().copied().collect();
    let known = Page::read(moving.to.reader(), &rows)?;
    let by_row: HashMap<Row, &StoredDocument> =
        known.documents.iter().map(|one| (one.row, one)).collect();
    let lacks = |one: &StoredDocument, row: &Option<Row>| match row.and_then(|row| by_row.get(&row))
    {
        None => true,
        Some(other) => {
            other.updated_at <= one.updated_at && known.item(other).hash() != page.item(one).hash()
        }
    };
    let pairs = wanted.into_iter().zip(&there);
    Ok(pairs
        .filter(|(one, row)| lacks(one, row))
        .map(|(one, _)| one)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_names_and_values() {
        let flat = [
            ("a.b", "1"),
            ("list", "x"),
            ("list", "y"),
            ("list", "z"),
            ("one", ""),
        ];
        let flat = flat.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let document = Document {
            fields: fields(&flat),
            ..Document::default()
        };
        assert_eq!(document.flat_fields(), flat);
    }
}
