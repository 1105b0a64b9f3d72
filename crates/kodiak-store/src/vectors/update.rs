//! What a file becomes when a few of its vectors have changed.
//!
//! The rows that stay are copied as they are, so that the file is the one that would be
//! written from all vectors, and only those that changed are needed.

use std::cmp::Ordering;
use std::iter::Peekable;

use super::{Slot, VectorFile};

/// What becomes a row of a file.
#[derive(Debug)]
pub enum Content<'a> {
    /// A vector of length one.
    Vector(Vec<f32>),
    /// A row of another file.
    Row(&'a VectorFile, usize),
}

impl From<Vec<f32>> for Content<'_> {
    fn from(vector: Vec<f32>) -> Self {
        Self::Vector(vector)
    }
}

impl Content<'_> {
    /// Returns the number of dimensions.
    pub(super) fn dimensions(&self) -> usize {
        match self {
            Self::Vector(vector) => vector.len(),
            Self::Row(file, _) => file.dimensions,
        }
    }
}

impl VectorFile {
    /// Returns the content of the file with other vectors added, in the order in which
    /// [`VectorFile::write`] takes them. A vector takes the place of a row of the same chunk,
    /// and rows that `stays` does not admit are left out. The vectors must come sorted by
    /// document and chunk.
    pub fn updated<'a>(
        &'a self,
        vectors: impl IntoIterator<Item = (Slot, Vec<f32>)> + 'a,
        stays: impl Fn(Slot) -> bool + 'a,
    ) -> impl Iterator<Item = (Slot, Content<'a>)> + 'a {
        let rows = (0..self.len()).map(|at| (self.slot(at), Content::Row(self, at)));
        let mut rows = rows.filter(move |(slot, _)| stays(*slot)).peekable();
        let vectors = vectors.into_iter();
        let vectors = vectors.map(|(slot, vector)| (slot, Content::Vector(vector)));
        let mut vectors = vectors.peekable();
        std::iter::from_fn(move || match order(&mut rows, &mut vectors)? {
            Ordering::Less => rows.next(),
            Ordering::Equal => {
                rows.next();
                vectors.next()
            }
            Ordering::Greater => vectors.next(),
        })
    }
}

/// Compares the next slots of two lists. The end of one is after everything. Returns `None` at
/// the end of both.
fn order<T>(
    one: &mut Peekable<impl Iterator<Item = (Slot, T)>>,
    other: &mut Peekable<impl Iterator<Item = (Slot, T)>>,
) -> Option<Ordering> {
    let key = |(slot, _): &(Slot, T)| (slot.document, slot.chunk);
    match (one.peek().map(key), other.peek().map(key)) {
        (None, None) => None,
        (Some(_), None) => Some(Ordering::Less),
        (None, Some(_)) => Some(Ordering::Greater),
        (Some(one), Some(other)) => Some(one.cmp(&other)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::super::{Origin, VectorFile};
    use super::*;
    use kodiak_base::error::Error;

    type Vectors = BTreeMap<(i64, i64), Vec<f32>>;

    fn vectors(most: usize) -> impl Strategy<Value = Vectors> {
        let vector = prop::collection::vec(-1.0_f32..1.0, 5);
        prop::collection::btree_map((0_i64..30, 0_i64..4), vector, 0..most)
    }

    fn listed(vectors: &Vectors) -> Vec<(Slot, Vec<f32>)> {
        let listed = vectors.iter();
        listed
            .map(|(&(document, chunk), vector)| (Slot { chunk, document }, vector.clone()))
            .collect()
    }

    fn file<'a, V: Into<Content<'a>>>(rows: impl Iterator<Item = (Slot, V)>) -> VectorFile {
        let origin = Origin {
            model: "bear".to_owned(),
            dimensions: 5,
            generation: [7; 16],
        };
        VectorFile::in_memory(&origin, 9, rows.map(Ok::<_, Error>)).unwrap()
    }

    proptest! {
        #[test]
        fn an_updated_file_is_the_one_that_is_written_from_all_vectors(
            before in vectors(60),
            changed in vectors(20),
            gone in prop::collection::btree_set(0_i64..30, 0..6),
        ) {
            let gone: BTreeSet<i64> = gone;
            let old = file(listed(&before).into_iter());
            let stays = |slot: Slot| !gone.contains(&slot.document);
            let new = file(old.updated(listed(&changed), stays));
            let mut after = before.clone();
            after.retain(|(document, _), _| !gone.contains(document));
            after.extend(changed);
            let expected = file(listed(&after).into_iter());
            prop_assert_eq!(&*new.bytes, &*expected.bytes);
        }
    }
}
