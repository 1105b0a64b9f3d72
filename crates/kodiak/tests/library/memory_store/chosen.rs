//! The documents of a state that an answer needs.

use std::collections::BTreeSet;

use kodiak::document::SHORTEST_ID;
use kodiak::rank::LexicalScore;
use kodiak::store::{Coverage, Filter, Match, Matches, Name, Row, StoredDocument};

use super::matching::flat_fields;
use super::{Indexed, State};

impl State {
    /// Returns the documents that a filter admits, by row.
    pub(super) fn admitted(&self, filter: &Filter) -> impl Iterator<Item = (Row, &Indexed)> {
        let all = self.documents.iter().map(|(row, indexed)| (*row, indexed));
        all.filter(|(row, indexed)| !filter.without.contains(row) && indexed.is_admitted(filter))
    }

    /// Returns the best of the admitted documents that score at all, of equals
    /// the first.
    pub(super) fn best(
        &self,
        filter: &Filter,
        limit: usize,
        score: impl Fn(Row, &Indexed) -> Option<LexicalScore>,
    ) -> Matches {
        let scored = self.admitted(filter);
        let mut best: Vec<Match> = scored
            .filter_map(|(row, indexed)| {
                let LexicalScore { score, coverage } = score(row, indexed)?;
                Some(Match {
                    row,
                    score,
                    coverage,
                })
            })
            .collect();
        let total = best.len();
        best.sort_by(|one, other| other.score.total_cmp(&one.score));
        best.truncate(limit);
        Matches { total, best }
    }

    /// Returns the threads that contain any of these documents, in order.
    pub(super) fn threads_of(&self, rows: &[Row]) -> Vec<Vec<Row>> {
        let thread_of = |indexed: &Indexed| {
            let thread = indexed.document.thread.as_ref()?;
            let name = thread.name.to_ascii_lowercase();
            Some((indexed.document.source.clone(), name))
        };
        let asked = rows.iter().filter_map(|row| self.documents.get(row));
        let threads: BTreeSet<_> = asked.filter_map(thread_of).collect();
        let members = |thread| {
            let all = self.documents.iter();
            let mut members: Vec<_> = all
                .filter(|(_, indexed)| thread_of(indexed).as_ref() == Some(&thread))
                .collect();
            members.sort_by_key(|(_, indexed)| {
                let document = &indexed.document;
                let position = document.thread.as_ref().and_then(|thread| thread.position);
                (position, document.created_at)
            });
            members.into_iter().map(|(row, _)| *row).collect()
        };
        threads.into_iter().map(members).collect()
    }

    /// Returns pairs of a document and an admitted one that supersedes it.
    pub(super) fn successors(&self, row: Row, filter: &Filter) -> Vec<(Row, Row)> {
        let Some(older) = self.documents.get(&row) else {
            return Vec::new();
        };
        let newer = self.admitted(filter).filter(|(number, newer)| {
            let named = flat_fields(&newer.document.fields).into_iter();
            *number != row
                && newer.document.source == older.document.source
                && named
                    .into_iter()
                    .any(|(name, value)| name == "supersedes" && value == older.document.key)
        });
        let mut newer: Vec<(Row, &Indexed)> = newer.collect();
        newer.sort_by_key(|(_, one)| one.document.created_at.unwrap_or(one.document.updated_at));
        newer.into_iter().map(|(number, _)| (row, number)).collect()
    }

    /// Returns the names of admitted documents, by source and key.
    pub(super) fn names(
        &self,
        filter: &Filter,
        limit: usize,
        is_it: impl Fn(&Indexed) -> bool,
    ) -> Vec<Name> {
        let wanted = self.admitted(filter).filter(|(_, indexed)| is_it(indexed));
        let mut names: Vec<Name> = wanted
            .map(|(row, indexed)| {
                let document = indexed.document.clone();
                (row, document.source, document.key, document.title)
            })
            .collect();
        names.sort_by(|one, other| (&one.1, &one.2).cmp(&(&other.1, &other.2)));
        names.truncate(limit);
        names
    }

    pub(super) fn stored(&self, row: Row) -> Option<StoredDocument> {
        let indexed = self.documents.get(&row)?;
        let document = indexed.document.clone();
        Some(StoredDocument {
            row,
            uid: document.id().hex(),
            short_id: self.short_id(&document.id().hex()),
            source: document.source,
            key: document.key,
            kind: document.kind,
            title: document.title,
            category: document.category,
            tags: document.tags,
            created_at: document.created_at,
            updated_at: document.updated_at,
            markup: document.markup,
            thread: document.thread,
            author: document.author,
            project: document.project,
            hash: document.hash,
            front: document.front,
            body: document.body,
        })
    }

    /// Returns the shortest beginning of an id that no other has.
    pub(super) fn short_id(&self, uid: &str) -> String {
        let all = self.documents.values();
        let ids: Vec<String> = all.map(|one| one.document.id().hex()).collect();
        let is_unique = |length: &usize| {
            let sharing = ids.iter().filter(|id| id.starts_with(&uid[..*length]));
            sharing.count() == 1
        };
        let length = (SHORTEST_ID..uid.len()).find(is_unique);
        uid[..length.unwrap_or(uid.len())].to_owned()
    }

    pub(super) fn coverage(&self, filter: &Filter, model: Option<i64>) -> Coverage {
        let mut coverage = Coverage::default();
        for (chunk, ..) in self.admitted(filter).flat_map(|(_, one)| &one.chunks) {
            let embedded = model.and_then(|model| self.embedding(*chunk, model));
            coverage.chunks += 1;
            coverage.embedded += u64::from(embedded.is_some());
        }
        coverage
    }

    /// Returns the vectors of a document by a model, each with its chunk.
    pub(super) fn vectors(&self, indexed: &Indexed, model: i64) -> Vec<(i64, Vec<f32>)> {
        let chunks = indexed.chunks.iter().map(|(chunk, ..)| *chunk);
        let vector = |chunk| {
            let number = self.embedding(chunk, model)?;
            Some((chunk, self.embeddings[&number].vector.clone()))
        };
        chunks.filter_map(vector).collect()
    }
}
