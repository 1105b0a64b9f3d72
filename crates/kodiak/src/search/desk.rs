//! The documents that a search has read: each is read once, together with everything that
//! presenting it needs.
//!
//! Over a network, each call to a store is a round trip. So a stage announces its reads
//! ([`Desk::fetch`]); anything else is read when it is needed.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::document::Version;
use crate::error::Result;
use crate::store::{ChunkSpan, Contents, Filter, Reader, Row, StoredDocument, Wanted};

/// The documents of one state of the index that were read.
pub(super) struct Desk<'a> {
    store: &'a dyn Reader,
    /// The filter that successors match.
    visible: Filter,
    /// The filter that successors match which may be found.
    filter: Filter,
    read: RefCell<Read>,
}

/// Documents that were read; `None` for those that the index lacks.
#[derive(Default)]
struct Read {
    documents: HashMap<Row, Option<Rc<StoredDocument>>>,
    fields: HashMap<Row, Vec<(String, String)>>,
    entries: HashMap<Row, Option<(String, Version)>>,
    spans: HashMap<i64, Option<ChunkSpan>>,
    /// The documents whose successors were read.
    followed: HashSet<Row>,
    successors: Vec<(Row, Row)>,
    /// Those of the newer ones that may be found.
    admitted: HashSet<Row>,
}

impl<'a> Desk<'a> {
    /// Creates an empty desk for a search with this filter.
    pub(super) fn new(store: &'a dyn Reader, filter: &Filter) -> Self {
        Self {
            store,
            visible: Filter {
                as_of: filter.as_of,
                ..filter.scope_only()
            },
            filter: filter.clone(),
            read: RefCell::default(),
        }
    }

    /// Reads everything wanted that was not read yet, in one call. Returns the contents
    /// that the desk does not keep.
    pub(super) fn fetch(&self, mut wanted: Wanted) -> Result<Contents> {
        {
            let read = self.read.borrow();
            wanted
                .documents
                .retain(|row| !read.documents.contains_key(row));
            wanted.fields.retain(|row| !read.fields.contains_key(row));
            wanted.entries.retain(|row| !read.entries.contains_key(row));
            wanted.spans.retain(|chunk| !read.spans.contains_key(chunk));
            wanted.successors.retain(|row| !read.followed.contains(row));
        }
        if !wanted.successors.is_empty() {
            wanted.succeeding = self.visible.clone();
            wanted.admitting = Some(self.filter.clone());
        }
        if wanted == Wanted::default() {
            return Ok(Contents::default());
        }
        let mut contents = self.store.read(&wanted)?;
        self.keep(&wanted, &mut contents);
        Ok(contents)
    }

    /// Keeps the contents that were read.
    pub(super) fn keep(&self, wanted: &Wanted, contents: &mut Contents) {
        let mut read = self.read.borrow_mut();
        for row in &wanted.documents {
            read.documents.entry(*row).or_insert(None);
        }
        for document in std::mem::take(&mut contents.documents) {
            read.documents.insert(document.row, Some(Rc::new(document)));
        }
        for row in &wanted.fields {
            let fields = contents.fields.remove(row).unwrap_or_default();
            read.fields.insert(*row, fields);
        }
        for row in &wanted.entries {
            let entry = contents.entries.remove(row);
            read.entries.insert(*row, entry);
        }
        for chunk in &wanted.spans {
            let span = contents.spans.remove(chunk);
            read.spans.insert(*chunk, span);
        }
        read.followed.extend(&wanted.successors);
        let pairs = std::mem::take(&mut contents.successors);
        read.successors.extend(pairs);
        read.admitted.extend(&contents.admitted);
    }

    /// Reports whether all of these documents were read.
    pub(super) fn has_all(&self, rows: &[Row]) -> bool {
        let read = self.read.borrow();
        rows.iter().all(|row| read.documents.contains_key(row))
    }

    /// Returns documents in this order. Missing ones are left out.
    pub(super) fn documents(&self, rows: &[Row]) -> Result<Vec<Rc<StoredDocument>>> {
        self.fetch(Wanted {
            documents: rows.to_vec(),
            ..Wanted::default()
        })?;
        let read = self.read.borrow();
        let document = |row: &Row| read.documents.get(row)?.clone();
        Ok(rows.iter().filter_map(document).collect())
    }

    /// Returns the further fields of a document.
    pub(super) fn fields(&self, row: Row) -> Result<Vec<(String, String)>> {
        self.fetch(Wanted {
            fields: vec![row],
            ..Wanted::default()
        })?;
        let read = self.read.borrow();
        Ok(read.fields.get(&row).cloned().unwrap_or_default())
    }

    /// Returns the key of the entry that yielded a document, and the version in which it
    /// was indexed.
    pub(super) fn entry(&self, row: Row) -> Result<Option<(String, Version)>> {
        self.fetch(Wanted {
            entries: vec![row],
            ..Wanted::default()
        })?;
        let read = self.read.borrow();
        Ok(read.entries.get(&row).cloned().flatten())
    }

    /// Returns the span of a chunk in its document.
    pub(super) fn span(&self, chunk: i64) -> Result<Option<ChunkSpan>> {
        self.fetch(Wanted {
            spans: vec![chunk],
            ..Wanted::default()
        })?;
        let read = self.read.borrow();
        Ok(read.spans.get(&chunk).cloned().flatten())
    }

    /// Reports whether a successor may be found.
    pub(super) fn admits(&self, row: Row) -> bool {
        self.read.borrow().admitted.contains(&row)
    }

    /// Returns the documents that supersede these, directly or over others, as far as the
    /// caller may see them.
    pub(super) fn successors(&self, rows: &[Row]) -> Result<HashMap<Row, Vec<Row>>> {
        self.fetch(Wanted {
            successors: rows.to_vec(),
            ..Wanted::default()
        })?;
        let read = self.read.borrow();
        let mut chains: HashMap<Row, Vec<Row>> = HashMap::new();
        if read.successors.is_empty() {
            return Ok(chains);
        }
        let mut next: Vec<Row> = rows.to_vec();
        while let Some(row) = next.pop() {
            if chains.contains_key(&row) {
                continue;
            }
            let mut newer: Vec<Row> = Vec::new();
            for (_, new) in read.successors.iter().filter(|(old, _)| *old == row) {
                if !newer.contains(new) {
                    newer.push(*new);
                }
            }
            next.extend(&newer);
            if !newer.is_empty() {
                chains.insert(row, newer);
            }
        }
        Ok(chains)
    }
}
