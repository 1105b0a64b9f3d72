//! The places of one term in the documents of a segment.

use std::sync::Arc;

use super::frame::{Reader, Writer};
use super::{Damage, FIELDS};
use kodiak_rank::Field;

/// A field and a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place(u32);

/// The fields in the order in which places are sorted.
const ORDER: [Field; FIELDS] = [Field::Title, Field::Body, Field::Tags];
/// The bits of a place for the position.
const POSITION: u32 = 30;

impl Place {
    /// Returns the place of a position in a field, given by its number. Positions that
    /// no document reaches are all the last one.
    pub(crate) fn new(field: usize, position: u32) -> Self {
        Self((field as u32) << POSITION | position.min((1 << POSITION) - 1))
    }

    pub(crate) fn field(self) -> Field {
        ORDER[self.field_number()]
    }

    pub(crate) fn field_number(self) -> usize {
        (self.0 >> POSITION) as usize
    }

    pub(crate) fn position(self) -> u32 {
        self.0 & ((1 << POSITION) - 1)
    }

    /// Returns the place so many positions earlier in the same field, if there is one.
    pub(crate) fn back(self, positions: u32) -> Option<Self> {
        (self.position() >= positions).then(|| Self(self.0 - positions))
    }
}

/// The places of a term, document by document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Postings {
    /// The documents that have the term, by their ordinals, sorted.
    ordinals: Vec<u32>,
    /// Where the places of each document end.
    ends: Vec<u32>,
    /// The places of all documents, those of each sorted.
    places: Vec<Place>,
}

/// The two columns of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EncodedPostings {
    /// The documents, with the number of places in each field.
    pub(crate) block: Vec<u8>,
    /// The places.
    pub(crate) positions: Vec<u8>,
}

impl Postings {
    /// Returns the documents that have the term.
    pub(crate) fn ordinals(&self) -> &[u32] {
        &self.ordinals
    }

    /// Returns the places in the document at a position among the ordinals.
    pub(crate) fn places_at(&self, at: usize) -> &[Place] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.places[start as usize..self.ends[at] as usize]
    }

    /// Returns the documents, each with its places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[Place])> {
        let ordinals = self.ordinals.iter().enumerate();
        ordinals.map(|(at, &ordinal)| (ordinal, self.places_at(at)))
    }

    /// Returns the number of bytes in memory.
    pub(crate) fn size(&self) -> usize {
        4 * (self.ordinals.len() + self.ends.len() + self.places.len()) + size_of::<Self>()
    }

    /// Adds a document after all others.
    pub(crate) fn push(&mut self, ordinal: u32, places: &[Place]) {
        debug_assert!(self.ordinals.last().is_none_or(|last| *last < ordinal));
        debug_assert!(places.is_sorted());
        self.ordinals.push(ordinal);
        self.places.extend_from_slice(places);
        self.ends.push(self.places.len() as u32);
    }

    /// Returns the places of several terms as if they were one.
    pub(crate) fn union(all: &[Arc<Self>]) -> Self {
        if let [only] = all {
            return Self::clone(only);
        }
        let mut each: Vec<(u32, Place)> = Vec::new();
        for postings in all {
            for (ordinal, places) in postings.iter() {
                each.extend(places.iter().map(|&place| (ordinal, place)));
            }
        }
        each.sort_unstable();
        each.dedup();
        let mut union = Self::default();
        for same in each.chunk_by(|one, next| one.0 == next.0) {
            let places: Vec<Place> = same.iter().map(|(_, place)| *place).collect();
            union.push(same[0].0, &places);
        }
        union
    }

    pub(crate) fn encode(&self) -> EncodedPostings {
        let (mut block, mut positions) = (Writer::new(), Writer::new());
        block.number(self.ordinals.len() as u64);
        let mut last = 0;
        for (ordinal, places) in self.iter() {
            block.number(u64::from(ordinal - last));
            last = ordinal;
            let mut counts = [0_u64; FIELDS];
            let mut previous = (FIELDS, 0);
            for place in places {
                let (field, position) = (place.field_number(), place.position());
                counts[field] += 1;
                let from = if previous.0 == field { previous.1 } else { 0 };
                positions.number(u64::from(position - from));
                previous = (field, position);
            }
            // Most terms are in the body alone.
            let [title, body, tags] = counts;
            block.number(body << 2 | u64::from(tags > 0) << 1 | u64::from(title > 0));
            for count in [title, tags].into_iter().filter(|count| *count > 0) {
                block.number(count);
            }
        }
        EncodedPostings {
            block: block.finish(),
            positions: positions.finish(),
        }
    }

    /// Reads the places of a term in a segment with so many documents.
    pub(crate) fn decode(block: &[u8], positions: &[u8], documents: usize) -> Result<Self, Damage> {
        let (mut block, mut positions) = (Reader::open(block)?, Reader::open(positions)?);
        let count = block.count()?;
        let mut postings = Self {
            ordinals: Vec::with_capacity(count),
            ends: Vec::with_capacity(count),
            places: Vec::with_capacity(positions.rest().len()),
        };
        let mut last = 0_u32;
        for number in 0..count {
            let gap = block.small()?;
            if gap == 0 && number > 0 {
                return Err(Damage("a document is in it twice"));
            }
            last = last
                .checked_add(gap)
                .filter(|ordinal| (*ordinal as usize) < documents)
                .ok_or(Damage("it names a document that its segment lacks"))?;
            let counted = block.number()?;
            let title = if counted & 1 == 0 { 0 } else { block.number()? };
            let tags = if counted & 2 == 0 { 0 } else { block.number()? };
            for (field, count) in [title, counted >> 2, tags].into_iter().enumerate() {
                let mut position = 0_u32;
                for number in 0..count {
                    let gap = positions.small()?;
                    if gap == 0 && number > 0 {
                        return Err(Damage("a place is in it twice"));
                    }
                    position = position
                        .checked_add(gap)
                        .filter(|position| position >> POSITION == 0)
                        .ok_or(Damage("a number in it is too large"))?;
                    postings.places.push(Place::new(field, position));
                }
            }
            postings.ordinals.push(last);
            postings.ends.push(postings.places.len() as u32);
        }
        block.end()?;
        positions.end()?;
        Ok(postings)
    }
}
