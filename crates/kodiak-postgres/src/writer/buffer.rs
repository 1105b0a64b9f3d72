//! The changes that a transaction collects until they are sent.

use std::collections::{HashMap, HashSet};

use crate::segment::Builder;
use crate::value::Query;
use kodiak_store::{EntryRow, FrequencyChanges, Row};
use kodiak_text::chunk::Chunk;
use kodiak_text::document::Document;
use kodiak_text::links::OutgoingLink;
use kodiak_text::terms::DocumentTerms;

/// The number of names of a source that are looked up one by one, before all are read.
const LOOKED_UP: usize = 8;

/// The number of documents, and of bytes of their texts, that are collected at most.
const MOST_DOCUMENTS: usize = 512;
const MOST_BYTES: usize = 16 << 20;

/// The number of documents that are taken out together at most.
pub(super) const MOST_REMOVED: usize = 1_024;

/// An open transaction.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    /// Whether anything has changed.
    pub(super) dirty: bool,
    /// Whether an earlier version has made the terms of the index.
    pub(super) is_outdated: bool,
    /// The number of segments before the transaction, and of those that it has written.
    pub(super) segments: usize,
    pub(super) new_segments: usize,
    /// The revision before the transaction, and how much it has grown since.
    pub(super) revision: i64,
    pub(super) written: i64,
    pub(super) last_document: Row,
    pub(super) last_entry: EntryRow,
    pub(super) last_chunk: i64,
    /// The numbers for segments that are left.
    pub(super) segment_ids: Vec<i64>,
    pub(super) documents: Lookups,
    pub(super) entries: Lookups,
    pub(super) buffer: Buffer,
}

impl Transaction {
    pub(super) fn new(
        last_document: Row,
        last_entry: EntryRow,
        last_chunk: i64,
        revision: i64,
    ) -> Self {
        Self {
            revision,
            last_document,
            last_entry,
            last_chunk,
            ..Self::default()
        }
    }
}

/// The numbers of documents or entries by their ids, as far as they were looked up.
#[derive(Debug, Default)]
pub(super) struct Lookups {
    known: HashMap<String, Option<i64>>,
    /// The sources of which all are known.
    complete: HashSet<String>,
    /// How many were looked up of each source.
    asked: HashMap<String, usize>,
}

/// What is known of an id.
pub(super) enum Looked {
    Known(Option<i64>),
    /// It must be looked up.
    AskForIt,
    /// All of its source are worth looking up.
    AskForAll,
}

impl Lookups {
    pub(super) fn look(&mut self, source: &str, uid: &str) -> Looked {
        if let Some(known) = self.known.get(uid) {
            return Looked::Known(*known);
        }
        if self.complete.contains(source) {
            return Looked::Known(None);
        }
        let asked = self.asked.entry(source.to_owned()).or_default();
        *asked += 1;
        if *asked > LOOKED_UP {
            return Looked::AskForAll;
        }
        Looked::AskForIt
    }

    pub(super) fn set(&mut self, uid: String, number: Option<i64>) {
        self.known.insert(uid, number);
    }

    /// Notes all of a source. What is known already is newer.
    pub(super) fn set_all(&mut self, source: &str, all: Vec<(String, i64)>) {
        for (uid, number) in all {
            self.known.entry(uid).or_insert(Some(number));
        }
        self.complete.insert(source.to_owned());
    }

    /// Notes that some are gone.
    pub(super) fn forget(&mut self, gone: &HashSet<i64>) {
        for number in self.known.values_mut() {
            if number.is_some_and(|number| gone.contains(&number)) {
                *number = None;
            }
        }
    }
}

/// Changes that were not sent yet.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    /// Documents to take out.
    pub(super) removed: Vec<Row>,
    pub(super) documents: Vec<NewDocument>,
    pub(super) touched: Vec<(EntryRow, Document)>,
    pub(super) entries: HashMap<String, NewEntry>,
    /// The postings of new documents, by source and project.
    pub(super) segments: HashMap<(String, Option<String>), Builder>,
    pub(super) counts: FrequencyChanges,
    /// Statements that follow all of these.
    pub(super) last: Vec<Query>,
    bytes: usize,
}

/// A document to store.
#[derive(Debug)]
pub(super) struct NewDocument {
    pub(super) row: Row,
    pub(super) entry: EntryRow,
    pub(super) document: Document,
    pub(super) uid: String,
    pub(super) titles: String,
    pub(super) tags: String,
    pub(super) chunks: Vec<(i64, Chunk, [u8; 16])>,
    pub(super) links: Vec<OutgoingLink>,
}

/// An entry to record.
#[derive(Debug)]
pub(super) struct NewEntry {
    pub(super) row: EntryRow,
    pub(super) source: String,
    pub(super) key: String,
    pub(super) version: [u8; 16],
    pub(super) size: u64,
    pub(super) skipped: Option<String>,
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.removed.is_empty()
            && self.documents.is_empty()
            && self.touched.is_empty()
            && self.entries.is_empty()
            && self.last.is_empty()
    }

    /// Reports whether so much was collected that it should be sent.
    pub(super) fn is_full(&self) -> bool {
        self.documents.len() >= MOST_DOCUMENTS
            || self.touched.len() >= 8 * MOST_DOCUMENTS
            || self.removed.len() >= MOST_REMOVED
            || self.entries.len() >= 8 * MOST_DOCUMENTS
            || self.bytes >= MOST_BYTES
    }

    /// Adds a document with its terms.
    pub(super) fn add(&mut self, document: NewDocument, terms: &DocumentTerms) {
        let of = &document.document;
        let segment = (of.source.clone(), of.project.clone());
        let builder = self.segments.entry(segment).or_default();
        builder.add(document.row, terms);
        self.counts.add(terms, 1);
        self.bytes += of.body.len() + of.front.len();
        self.documents.push(document);
    }

    /// Reports whether a document was collected.
    pub(super) fn holds(&self, row: Row) -> bool {
        self.documents.iter().any(|one| one.row == row)
    }
}
