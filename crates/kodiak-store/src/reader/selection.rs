//! Documents by filter.

use std::collections::BTreeMap;

use super::{Documents, Matches, Names};
use crate::moment::{Moment, Stretch};
use crate::vectors::Bitmap;
use crate::{Expression, Filter, Row};
use kodiak_base::error::Result;

/// The number of documents that are held in memory at once where many are read.
const DOCUMENTS_AT_ONCE: usize = 256;

/// Identifies one content of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The number of the document.
    pub row: Row,
    /// All 32 digits of its id.
    pub uid: String,
    /// The source it is from.
    pub source: String,
    /// The BLAKE3 hash of its indexed content.
    pub hash: [u8; 32],
}

/// Counts of the properties that documents have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facets {
    /// The number of documents by source.
    pub sources: BTreeMap<String, u64>,
    /// The number of documents by kind.
    pub kinds: BTreeMap<String, u64>,
    /// The number of documents by project, without those that have none.
    pub projects: BTreeMap<String, u64>,
    /// The number of documents by tag.
    pub tags: BTreeMap<String, u64>,
    /// The number of documents by the day on which they were written.
    pub days: Days,
}

/// Numbers of documents by the day on which they were written, which is counted from
/// 1970-01-01 in UTC.
pub type Days = BTreeMap<i64, u64>;

/// The number of seconds in a day.
const DAY: i64 = 24 * 60 * 60;

/// Finds and counts the documents that meet a filter, without ranking them.
pub trait Selection: Documents + Names {
    /// Returns the most recently changed documents that match `filter` but not
    /// `excluded`, scored by the time of the change.
    fn newest(
        &self,
        filter: &Filter,
        excluded: Option<&Expression>,
        limit: usize,
    ) -> Result<Matches>;

    /// Returns the most recently changed documents that match `filter`, the last changed
    /// first, without counting the others. The order of those that changed at the same
    /// moment is not defined.
    fn latest(&self, filter: &Filter, limit: usize) -> Result<Vec<Row>> {
        let best = self.newest(filter, None, limit)?.best;
        Ok(best.into_iter().map(|found| found.row).collect())
    }

    /// Returns documents that match `filter` in the order in which they were written.
    fn by_time(&self, filter: &Filter, stretch: &Stretch) -> Result<Vec<Row>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut moments = Vec::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            moments.extend(self.documents(rows)?.iter().map(Moment::of));
        }
        Ok(stretch.of(moments))
    }

    /// Returns the documents that match `filter` and `required`, but not
    /// `excluded`.
    fn rows(
        &self,
        filter: &Filter,
        required: Option<&Expression>,
        excluded: Option<&Expression>,
    ) -> Result<Bitmap>;

    /// Returns the fingerprint of every document that meets `filter`.
    fn fingerprints(&self, filter: &Filter) -> Result<Vec<Fingerprint>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut fingerprints = Vec::with_capacity(rows.len());
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            let documents = self.documents(rows)?.into_iter();
            fingerprints.extend(documents.map(|document| Fingerprint {
                row: document.row,
                uid: document.uid,
                source: document.source,
                hash: document.hash,
            }));
        }
        Ok(fingerprints)
    }

    /// Returns the tags of the documents that meet `filter`, each with the number
    /// of those documents, sorted by name.
    fn tags(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut counts: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            for tag in self.documents(rows)?.into_iter().flat_map(|one| one.tags) {
                let known = counts.entry(tag.to_ascii_lowercase());
                known.or_insert((tag, 0)).1 += 1;
            }
        }
        Ok(counts.into_values().collect())
    }

    /// Returns the projects of the documents that meet `filter`, each with the
    /// number of those documents, sorted by name.
    fn projects(&self, filter: &Filter) -> Result<Vec<(String, u64)>> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut counts: BTreeMap<String, u64> = BTreeMap::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            let documents = self.documents(rows)?.into_iter();
            for project in documents.filter_map(|document| document.project) {
                *counts.entry(project).or_default() += 1;
            }
        }
        Ok(counts.into_iter().collect())
    }

    /// Returns the number of documents that meet `filter`, by source.
    fn document_counts(&self, filter: &Filter) -> Result<BTreeMap<String, u64>> {
        let mut counts = BTreeMap::new();
        self.each_name(filter, &mut |(_, source, ..)| {
            *counts.entry(source).or_default() += 1;
        })?;
        Ok(counts)
    }

    /// Counts the properties that these documents have in common.
    fn facets(&self, rows: &[Row]) -> Result<Facets> {
        let mut facets = Facets::default();
        let mut tags: BTreeMap<String, (String, u64)> = BTreeMap::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            for one in self.documents(rows)? {
                let day = Moment::of(&one).at.div_euclid(DAY);
                *facets.days.entry(day).or_default() += 1;
                *facets.sources.entry(one.source).or_default() += 1;
                *facets.kinds.entry(one.kind).or_default() += 1;
                if let Some(project) = one.project {
                    *facets.projects.entry(project).or_default() += 1;
                }
                for tag in one.tags {
                    // The spelling that was written last counts.
                    let known = tags.entry(tag.to_ascii_lowercase()).or_default();
                    *known = (tag, known.1 + 1);
                }
            }
        }
        facets.tags = tags.into_values().collect();
        Ok(facets)
    }

    /// Returns the number of documents that meet `filter`, by the day on which they were
    /// written.
    fn days(&self, filter: &Filter) -> Result<Days> {
        let rows = self.newest(filter, None, usize::MAX)?.best;
        let rows: Vec<Row> = rows.into_iter().map(|found| found.row).collect();
        let mut days = Days::new();
        for rows in rows.chunks(DOCUMENTS_AT_ONCE) {
            for one in self.documents(rows)? {
                *days.entry(Moment::of(&one).at.div_euclid(DAY)).or_default() += 1;
            }
        }
        Ok(days)
    }
}
