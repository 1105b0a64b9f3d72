//! Checksums that do not depend on an order: how many items there are, and the sum of their
//! hashes.

use kodiak_text::document::hex;

/// A number of items and the sum of their hashes, as four numbers that wrap around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum {
    pub(super) count: u64,
    lanes: [u64; 4],
}

impl Sum {
    /// Adds the hash of an item.
    pub(super) fn add(&mut self, hash: &[u8; 32]) {
        let (numbers, _) = hash.as_chunks::<8>();
        for (lane, number) in self.lanes.iter_mut().zip(numbers) {
            *lane = lane.wrapping_add(u64::from_le_bytes(*number));
        }
        self.count += 1;
    }

    /// Returns the sum as digits; empty if there are no items.
    pub(super) fn digits(&self) -> String {
        if self.count == 0 {
            return String::new();
        }
        self.lanes
            .iter()
            .map(|lane| hex(&lane.to_be_bytes()))
            .collect()
    }
}

/// An item whose parts are hashed one after the other.
pub(super) struct Item(blake3::Hasher);

impl Item {
    /// Begins an item with its first part.
    pub(super) fn new(part: impl AsRef<[u8]>) -> Self {
        Self(blake3::Hasher::new()).with(part)
    }

    /// Adds a part. Its length comes first, so that no two lists of parts are the same.
    pub(super) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        let part = part.as_ref();
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
        self
    }

    /// Adds a number.
    pub(super) fn number(self, number: i64) -> Self {
        self.with(number.to_le_bytes())
    }

    /// Adds a part that may be missing.
    pub(super) fn option(self, part: Option<impl AsRef<[u8]>>) -> Self {
        match part {
            Some(part) => self.number(1).with(part),
            None => self.number(0),
        }
    }

    /// Returns the hash of the item.
    pub(super) fn hash(self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(items: &[&[&str]]) -> Sum {
        let mut sum = Sum::default();
        for item in items {
            let item = item[1..].iter().fold(Item::new(item[0]), Item::with);
            sum.add(&item.hash());
        }
        sum
    }

    #[test]
    fn the_order_does_not_matter_and_everything_else_does() {
        let both = sum(&[&["a", "b"], &["c"]]);
        assert_eq!(both, sum(&[&["c"], &["a", "b"]]));
        for other in [
            sum(&[&["a", "b"], &["c"], &["c"]]),
            sum(&[&["ab"], &["c"]]),
            sum(&[&["a", "b", ""], &["c"]]),
            sum(&[&["a", "b"], &["d"]]),
        ] {
            assert_ne!(both.digits(), other.digits());
        }
        // Items that are there twice do not cancel each other out.
        assert_ne!(
            sum(&[&["a"], &["a"]]).digits(),
            sum(&[&["b"], &["b"]]).digits()
        );
        assert_eq!(both.digits().len(), 64);
        assert_eq!(Sum::default().digits(), "");
    }
}
