//! Documents by their numbers.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ChunkSpan, Revision};
use crate::{Filter, Row};
use kodiak_base::error::Result;
use kodiak_text::document::{Markup, SHORTEST_ID, Thread, Timestamp, Version};
use kodiak_text::markup::heading;

/// The number of characters of a text that are shown as its title.
const SHOWN_TITLE_LENGTH: usize = 60;

/// A document as the index holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredDocument {
    /// Its number in this index.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The shortest beginning of its id that no other document shares, without `#`.
    pub short_id: String,
    /// The source it is from.
    pub source: String,
    /// Its name in the source.
    pub key: String,
    /// Its kind, such as `note`.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// Its category.
    pub category: Option<String>,
    /// Its tags, without `#`.
    pub tags: Vec<String>,
    /// When it was written, where known.
    pub created_at: Option<Timestamp>,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// How its text is marked up.
    pub markup: Markup,
    /// The conversation or session it is part of.
    pub thread: Option<Thread>,
    /// Who wrote or said it, where known.
    pub author: Option<String>,
    /// The project it belongs to.
    pub project: Option<String>,
    /// The BLAKE3 hash of its indexed content.
    pub hash: [u8; 32],
    /// Its frontmatter block.
    pub front: String,
    /// Its text.
    pub body: String,
}

impl StoredDocument {
    /// Returns the title to show: its own or, if it has none, the beginning of its
    /// text.
    pub fn shown_title(&self) -> Cow<'_, str> {
        shown_title(&self.title, &self.body)
    }
}

/// Returns a title, or the beginning of the text if there is none.
pub fn shown_title<'a>(title: &'a str, body: &str) -> Cow<'a, str> {
    if !title.is_empty() {
        return Cow::Borrowed(title);
    }
    // The signs of emphasis and code are part of a text and not of a title.
    let plain = heading::title(body);
    let text = plain.as_deref().unwrap_or(body);
    Cow::Owned(beginning(text, SHOWN_TITLE_LENGTH))
}

/// Returns the beginning of a text on one line, with at most `length` characters, and an
/// ellipsis if it was cut. It ends with a whole word, unless that is too long.
pub fn beginning(text: &str, length: usize) -> String {
    let mut found = String::new();
    let mut count = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if count + letters > length {
            if found.is_empty() {
                found.extend(word.chars().take(length));
            }
            found.push('…');
            break;
        }
        if !found.is_empty() {
            found.push(' ');
        }
        found.push_str(word);
        count += letters + 1;
    }
    found
}

/// Returns the shortest unique beginning of an id: one digit more than it
/// shares with its neighbours in the order of ids.
pub fn shortest_id(uid: &str, neighbours: &[Option<String>; 2]) -> String {
    let shared = |other: &String| {
        let pairs = uid.bytes().zip(other.bytes());
        pairs.take_while(|(ours, theirs)| ours == theirs).count()
    };
    let most = neighbours.iter().flatten().map(shared).max().unwrap_or(0);
    uid.chars().take(SHORTEST_ID.max(most + 1)).collect()
}

/// The parts of documents and chunks to read. Empty lists ask for nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// The documents themselves.
    pub documents: Vec<Row>,
    /// Documents whose texts are read, except texts of more than `longest` bytes.
    pub bodies: Vec<Row>,
    /// The length of the longest text that is read, in bytes.
    pub longest: usize,
    /// Documents whose further fields are read.
    pub fields: Vec<Row>,
    /// Documents whose entries are read.
    pub entries: Vec<Row>,
    /// Documents whose authors are read.
    pub authors: Vec<Row>,
    /// Documents whose threads are read.
    pub threads: Vec<Row>,
    /// The distance in a thread from these documents up to which authors are read, and
    /// the texts of these documents with them; `None` for neither.
    pub around: Option<usize>,
    /// Documents whose successors are read, and theirs.
    pub successors: Vec<Row>,
    /// The filter that successors match.
    pub succeeding: Filter,
    /// Another filter. The successors that match it as well are named.
    pub admitting: Option<Filter>,
    /// Chunks whose spans are read.
    pub spans: Vec<i64>,
    /// Chunks whose vectors are read, by the model in use.
    pub chunks: Vec<i64>,
    /// Documents whose vectors are read, by the model in use.
    pub vectors: Vec<Row>,
    /// Documents the hashes of whose chunks are read.
    pub hashes: Vec<Row>,
    /// Whether to return the state of the index that was read.
    pub revision: bool,
}

/// The parts that were read, without those that the index lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The documents, in the order in which they were asked for.
    pub documents: Vec<StoredDocument>,
    /// The texts of documents.
    pub bodies: Vec<(Row, String)>,
    /// The further fields of documents, in the order written. A list gives one pair for
    /// each element; names inside a mapping are joined with a dot.
    pub fields: HashMap<Row, Vec<(String, String)>>,
    /// The key of the entry that yielded each document, and the version in which it was
    /// indexed.
    pub entries: HashMap<Row, (String, Version)>,
    /// The threads, each with all of its documents in order.
    pub threads: Vec<Vec<Row>>,
    /// The author or speaker of documents, where known.
    pub authors: HashMap<Row, String>,
    /// Pairs of an older document and a newer one that supersedes it. A document
    /// supersedes those of its source whose keys its field `supersedes` names.
    pub successors: Vec<(Row, Row)>,
    /// The newer ones of them that meet the further filter, if there was one.
    pub admitted: HashSet<Row>,
    /// The spans of chunks in their documents.
    pub spans: HashMap<i64, ChunkSpan>,
    /// The vectors of chunks.
    pub chunks: HashMap<i64, Vec<f32>>,
    /// The vectors of documents, each with its chunk, in the order of the chunks.
    pub vectors: HashMap<Row, Vec<(i64, Vec<f32>)>>,
    /// The hashes of the embedded texts of documents' chunks, in order.
    pub hashes: HashMap<Row, Vec<[u8; 16]>>,
    /// The state of the index.
    pub revision: Option<Revision>,
}

/// Returns the documents of threads that are at most `reach` places away from one of
/// `rows`, in order.
pub fn around(rows: &[Row], threads: &[Vec<Row>], reach: usize) -> Vec<Row> {
    let asked: HashSet<Row> = rows.iter().copied().collect();
    let mut near: BTreeSet<Row> = BTreeSet::new();
    for thread in threads {
        for (place, row) in thread.iter().enumerate() {
            if asked.contains(row) {
                let last = thread.len().min(place + reach + 1);
                near.extend(&thread[place.saturating_sub(reach)..last]);
            }
        }
    }
    near.into_iter().collect()
}

/// The longest chain of successors that is followed.
const MAX_CHAIN_LENGTH: usize = 32;

/// Returns the successors of documents, directly or over others. `next` finds the direct
/// ones.
pub fn follow(
    rows: &[Row],
    mut direct: impl FnMut(&[Row]) -> Result<Vec<(Row, Row)>>,
) -> Result<Vec<(Row, Row)>> {
    let mut pairs: Vec<(Row, Row)> = Vec::new();
    let mut followed: HashSet<Row> = HashSet::new();
    let mut next = rows.to_vec();
    for _ in 0..MAX_CHAIN_LENGTH {
        if next.is_empty() {
            break;
        }
        let found = direct(&next)?;
        followed.extend(next);
        let newer: BTreeSet<Row> = found.iter().map(|&(_, newer)| newer).collect();
        next = newer
            .into_iter()
            .filter(|row| !followed.contains(row))
            .collect();
        pairs.extend(found);
    }
    Ok(pairs)
}

/// Returns the contents of documents, and data that belongs to them.
pub trait Documents {
    /// Reads everything that is wanted in one call.
    fn read(&self, wanted: &Wanted) -> Result<Contents>;

    /// Returns the documents with these numbers, in this order. Missing ones
    /// are left out.
    fn documents(&self, rows: &[Row]) -> Result<Vec<StoredDocument>> {
        let contents = self.read(&Wanted {
            documents: rows.to_vec(),
            ..Wanted::default()
        })?;
        Ok(contents.documents)
    }

    /// Returns the texts of the documents with these numbers. Missing texts and texts of
    /// more than `longest` bytes are left out.
    fn bodies(&self, rows: &[Row], longest: usize) -> Result<Vec<(Row, String)>> {
        let contents = self.read(&Wanted {
            bodies: rows.to_vec(),
            longest,
            ..Wanted::default()
        })?;
        Ok(contents.bodies)
    }

    /// Returns the further fields of a document, in the order written.
    fn fields(&self, row: Row) -> Result<Vec<(String, String)>> {
        let mut contents = self.read(&Wanted {
            fields: vec![row],
            ..Wanted::default()
        })?;
        Ok(contents.fields.remove(&row).unwrap_or_default())
    }

    /// Returns the key of the entry that yielded a document and the version in
    /// which it was indexed, or nothing if there is no such document.
    fn entry_of(&self, row: Row) -> Result<Option<(String, Version)>> {
        let mut contents = self.read(&Wanted {
            entries: vec![row],
            ..Wanted::default()
        })?;
        Ok(contents.entries.remove(&row))
    }

    /// Returns the threads that contain any of these documents, each with all
    /// of its documents in order.
    fn threads_of(&self, rows: &[Row]) -> Result<Vec<Vec<Row>>> {
        let contents = self.read(&Wanted {
            threads: rows.to_vec(),
            ..Wanted::default()
        })?;
        Ok(contents.threads)
    }

    /// Returns which of these documents are superseded by documents that match
    /// `filter`: pairs of the older and the newer one.
    fn successors(&self, rows: &[Row], filter: &Filter) -> Result<Vec<(Row, Row)>> {
        let contents = self.read(&Wanted {
            successors: rows.to_vec(),
            succeeding: filter.clone(),
            ..Wanted::default()
        })?;
        let asked: HashSet<Row> = rows.iter().copied().collect();
        let pairs = contents.successors.into_iter();
        Ok(pairs.filter(|(older, _)| asked.contains(older)).collect())
    }

    /// Returns the vectors of a document's chunks by the model in use, in order.
    fn vectors_of(&self, row: Row) -> Result<Vec<Vec<f32>>> {
        let mut contents = self.read(&Wanted {
            vectors: vec![row],
            ..Wanted::default()
        })?;
        let vectors = contents.vectors.remove(&row).unwrap_or_default();
        Ok(vectors.into_iter().map(|(_, vector)| vector).collect())
    }

    /// Returns the hashes of the embedded texts of a document's chunks, in
    /// order.
    fn chunk_hashes_of(&self, row: Row) -> Result<Vec<[u8; 16]>> {
        let mut contents = self.read(&Wanted {
            hashes: vec![row],
            ..Wanted::default()
        })?;
        Ok(contents.hashes.remove(&row).unwrap_or_default())
    }
}
