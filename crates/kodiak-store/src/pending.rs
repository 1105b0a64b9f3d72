//! The order in which chunks get their vectors.
//!
//! The first chunk of a document has its title and its opening, and with it the
//! document is found by meaning at all. Each further chunk adds less, and a long list
//! has hundreds. So chunks are ordered by level: the first chunk of every document,
//! then the second, then two more, then four more, and so on. Each level at most
//! doubles the part of a document that is embedded, so short documents are complete
//! long before the depths of long ones. Within a level, the newest documents come first.

/// A chunk that has no vector yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its number.
    pub chunk: i64,
    /// The hash of its embedded text.
    pub hash: [u8; 16],
    /// The length of its text in bytes.
    pub bytes: usize,
    /// Its place in the order.
    pub place: Place,
}

/// The place of a chunk in the order of embedding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// When its document was last changed.
    pub updated_at: i64,
    /// The row of its document. Of documents changed at the same time, the highest
    /// row comes first.
    pub document: i64,
    /// The number of chunks before it in its document.
    pub ordinal: u32,
}

impl Place {
    /// Returns the level of the chunk, from 0.
    pub fn level(self) -> u32 {
        level(self.ordinal)
    }

    /// Returns a key by which places are in the order of embedding.
    pub fn key(self) -> impl Ord {
        let newest_first = std::cmp::Reverse((self.updated_at, self.document));
        (self.level(), newest_first, self.ordinal)
    }
}

/// Returns the level of the chunk with this ordinal: the number of bits of the ordinal.
fn level(ordinal: u32) -> u32 {
    u32::BITS - ordinal.leading_zeros()
}

/// Returns the first and the last ordinal of a level, and `None` after the last
/// level that has ordinals.
pub fn ordinals(level: u32) -> Option<(u32, u32)> {
    match level {
        0 => Some((0, 0)),
        1..=u32::BITS => Some((1 << (level - 1), u32::MAX >> (u32::BITS - level))),
        _ => None,
    }
}

/// How much is pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PendingSize {
    /// The number of chunks.
    pub chunks: usize,
    /// The bytes of their texts.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordinal_is_in_one_level_and_levels_double() {
        let mut next = 0_u64;
        for number in 0..=u32::BITS {
            let (first, last) = ordinals(number).unwrap();
            assert_eq!(u64::from(first), next);
            assert_eq!((level(first), level(last)), (number, number));
            let before = u64::from(first).max(1);
            assert!(u64::from(last) < before * 2, "level {number}");
            next = u64::from(last) + 1;
        }
        assert_eq!(next, u64::from(u32::MAX) + 1);
        assert_eq!(ordinals(u32::BITS + 1), None);
    }

    #[test]
    fn breadth_comes_before_depth_and_new_before_old() {
        let place = |updated_at, document, ordinal| Place {
            updated_at,
            document,
            ordinal,
        };
        let ordered = [
            place(9, 1, 0),
            place(5, 3, 0),
            place(5, 2, 0),
            place(9, 1, 1),
            place(9, 1, 2),
            place(9, 1, 3),
            place(5, 3, 2),
            place(5, 3, 3),
            place(9, 1, 4),
        ];
        assert!(ordered.is_sorted_by(|one, next| one.key() < next.key()));
    }
}
