//! Making a segment of new documents.

use rustc_hash::FxHashMap;

use super::{FIELDS, Members, Place, Postings, Segment};
use kodiak_store::Row;
use kodiak_text::terms::DocumentTerms;

/// Collects documents for a segment.
#[derive(Debug, Default)]
pub(crate) struct Builder {
    documents: Vec<(Row, [u32; FIELDS])>,
    /// The places of each term, by the number of the document among those collected.
    terms: FxHashMap<Box<str>, Vec<(u32, Vec<Place>)>>,
}

impl Builder {
    /// Returns the number of documents.
    pub(crate) fn len(&self) -> usize {
        self.documents.len()
    }

    /// Adds a document that is not in the segment yet.
    pub(crate) fn add(&mut self, row: Row, terms: &DocumentTerms) {
        let number = self.documents.len() as u32;
        let mut lengths = [0; FIELDS];
        for (field, length) in lengths.iter_mut().enumerate() {
            let mut position = 0;
            for (term, is_edge_gram) in terms.column(field) {
                // An edge gram has the position of its neighbour.
                if !is_edge_gram || *length == 0 {
                    position = *length;
                    *length += 1;
                }
                self.put(number, term, Place::new(field, position));
            }
        }
        self.documents.push((row, lengths));
    }

    fn put(&mut self, number: u32, term: &str, place: Place) {
        let documents = match self.terms.get_mut(term) {
            Some(documents) => documents,
            None => self.terms.entry(Box::from(term)).or_default(),
        };
        match documents.last_mut() {
            Some((last, places)) if *last == number => {
                if places.last() != Some(&place) {
                    places.push(place);
                }
            }
            _ => documents.push((number, vec![place])),
        }
    }

    /// Returns the segment.
    pub(crate) fn finish(self) -> Segment {
        let mut order: Vec<u32> = (0..self.documents.len() as u32).collect();
        order.sort_unstable_by_key(|&number| self.documents[number as usize].0);
        let mut members = Members::default();
        let mut ordinals = vec![0; order.len()];
        for (ordinal, &number) in order.iter().enumerate() {
            let (row, lengths) = self.documents[number as usize];
            members.push(row, lengths);
            ordinals[number as usize] = ordinal as u32;
        }
        let terms = self.terms.into_iter().map(|(term, mut documents)| {
            documents.sort_unstable_by_key(|(number, _)| ordinals[*number as usize]);
            let mut postings = Postings::default();
            for (number, mut places) in documents {
                places.sort_unstable();
                places.dedup();
                postings.push(ordinals[number as usize], &places);
            }
            (String::from(term), postings)
        });
        let mut postings: Vec<(String, Postings)> = terms.collect();
        postings.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        Segment { members, postings }
    }
}
