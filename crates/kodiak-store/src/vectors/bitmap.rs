//! A set of documents that a scan queries once per document.

use std::collections::BTreeSet;

use crate::Row;

/// Rows below this number have a bit; 32 MiB hold them all. An index numbers
/// its rows from one, so higher rows are not expected.
const DENSE: usize = 1 << 28;

/// A set of documents by row number. It is made for positive numbers that lie
/// close together; any other number works too, but is slower.
#[derive(Clone, Debug, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    strays: BTreeSet<Row>,
    len: usize,
}

impl Bitmap {
    /// Returns an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a document. Returns whether it is new.
    pub fn insert(&mut self, row: Row) -> bool {
        let new = match dense(row) {
            Some((word, bit)) => {
                if word >= self.words.len() {
                    self.words.resize(word + 1, 0);
                }
                let new = self.words[word] & bit == 0;
                self.words[word] |= bit;
                new
            }
            None => self.strays.insert(row),
        };
        self.len += usize::from(new);
        new
    }

    /// Reports whether the set contains a document.
    pub fn contains(&self, row: Row) -> bool {
        match dense(row) {
            Some((word, bit)) => self.words.get(word).is_some_and(|bits| bits & bit != 0),
            None => self.strays.contains(&row),
        }
    }

    /// Returns the number of documents.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns the documents, those in range first and in order.
    pub fn iter(&self) -> impl Iterator<Item = Row> {
        let bits = self.words.iter().enumerate().flat_map(|(word, &bits)| {
            let set = (0..64).filter(move |bit| bits & (1 << bit) != 0);
            set.map(move |bit| (word * 64 + bit) as Row)
        });
        bits.chain(self.strays.iter().copied())
    }

    /// Reports whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<Row> for Bitmap {
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut bitmap = Self::new();
        bitmap.extend(rows);
        bitmap
    }
}

impl Extend<Row> for Bitmap {
    fn extend<I: IntoIterator<Item = Row>>(&mut self, rows: I) {
        for row in rows {
            self.insert(row);
        }
    }
}

/// Returns the word of a row and its bit in that word, or `None` if the row is
/// out of range.
fn dense(row: Row) -> Option<(usize, u64)> {
    let row = usize::try_from(row).ok().filter(|&row| row < DENSE)?;
    Some((row / 64, 1 << (row % 64)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_row_counts_once() {
        let mut bitmap = Bitmap::new();
        assert!(bitmap.is_empty());
        assert!(bitmap.insert(64));
        assert!(!bitmap.insert(64));
        assert_eq!(bitmap.len(), 1);
        assert!(bitmap.contains(64));
        assert!(!bitmap.contains(63) && !bitmap.contains(65) && !bitmap.contains(0));
    }

    #[test]
    fn no_row_is_too_odd() {
        let odd = [i64::MIN, -1, 0, DENSE as i64 - 1, DENSE as i64, i64::MAX];
        let bitmap: Bitmap = odd.into_iter().collect();
        assert_eq!(bitmap.len(), odd.len());
        assert!(odd.iter().all(|&row| bitmap.contains(row)));
        assert!(!bitmap.contains(1) && !bitmap.contains(-2));
    }

    proptest! {
        #[test]
        fn it_is_the_set_of_what_was_put_in(rows in prop::collection::vec(-3_i64..300, 0..200)) {
            let bitmap: Bitmap = rows.iter().copied().collect();
            let set: BTreeSet<i64> = rows.into_iter().collect();
            prop_assert_eq!(bitmap.len(), set.len());
            prop_assert_eq!(bitmap.iter().collect::<BTreeSet<i64>>(), set.clone());
            for row in -5..310 {
                prop_assert_eq!(bitmap.contains(row), set.contains(&row));
            }
        }
    }
}
