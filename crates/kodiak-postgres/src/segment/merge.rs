//! Making one segment of several, term by term.

use super::{Deleted, Members, Place, Postings};

/// A merge of segments. Documents that are gone are left out; a document that is in several
/// of the segments must be gone in all but one.
#[derive(Debug)]
pub(crate) struct Merge {
    /// The documents of the new segment.
    pub(crate) members: Members,
    /// The new ordinal of each document of each segment.
    renamed: Vec<Vec<Option<u32>>>,
}

impl Merge {
    /// Merges the documents of segments.
    pub(crate) fn new(parts: &[(&Members, &Deleted)]) -> Self {
        let mut all = Vec::new();
        for (part, (members, deleted)) in parts.iter().enumerate() {
            let present = (0..members.len() as u32).filter(|one| !deleted.contains(*one));
            all.extend(present.map(|ordinal| (members.row(ordinal), part, ordinal)));
        }
        all.sort_unstable();
        let mut merged = Members::default();
        let sizes = parts.iter().map(|(members, _)| members.len());
        let mut renamed: Vec<Vec<Option<u32>>> = sizes.map(|size| vec![None; size]).collect();
        for (ordinal, &(row, part, old)) in all.iter().enumerate() {
            merged.push(row, parts[part].0.lengths(old));
            renamed[part][old as usize] = Some(ordinal as u32);
        }
        Self {
            members: merged,
            renamed,
        }
    }

    /// Merges the postings of one term, each with the place of its segment among those
    /// that are merged. Returns `None` if no document that stays has the term.
    pub(crate) fn term(&self, parts: &[(usize, Postings)]) -> Option<Postings> {
        let mut documents: Vec<(u32, &[Place])> = Vec::new();
        for (part, postings) in parts {
            let renamed = &self.renamed[*part];
            let kept = postings.iter();
            documents
                .extend(kept.filter_map(|(old, places)| Some((renamed[old as usize]?, places))));
        }
        documents.sort_unstable_by_key(|(ordinal, _)| *ordinal);
        let mut postings = Postings::default();
        for (ordinal, places) in documents {
            postings.push(ordinal, places);
        }
        (!postings.ordinals().is_empty()).then_some(postings)
    }
}
