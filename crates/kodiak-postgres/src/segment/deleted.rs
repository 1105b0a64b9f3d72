//! The documents of a segment that are gone.

use super::Damage;
use super::frame::{Reader, Writer};

/// A set of documents of a segment, by their ordinals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deleted {
    /// A bit for each document, the lowest first. Zeros at the end may be missing.
    bits: Vec<u8>,
    len: usize,
}

impl PartialEq for Deleted {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Deleted {
    /// Adds a document. Returns whether it is new.
    pub(crate) fn insert(&mut self, ordinal: u32) -> bool {
        let (byte, bit) = (ordinal as usize / 8, 1 << (ordinal % 8));
        if byte >= self.bits.len() {
            self.bits.resize(byte + 1, 0);
        }
        let new = self.bits[byte] & bit == 0;
        self.bits[byte] |= bit;
        self.len += usize::from(new);
        new
    }

    pub(crate) fn contains(&self, ordinal: u32) -> bool {
        let byte = self.bits.get(ordinal as usize / 8);
        byte.is_some_and(|byte| byte & 1 << (ordinal % 8) != 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.bits.len() as u32 * 8).filter(|&ordinal| self.contains(ordinal))
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut frame = Writer::new();
        frame.bytes(&self.bits);
        frame.finish()
    }

    /// Reads the documents that are gone of a segment with so many.
    pub(crate) fn decode(bytes: &[u8], documents: usize) -> Result<Self, Damage> {
        let bits = Reader::open(bytes)?.rest().to_vec();
        let len = bits.iter().map(|byte| byte.count_ones() as usize).sum();
        let deleted = Self { bits, len };
        match deleted.iter().last() {
            Some(last) if last as usize >= documents => {
                Err(Damage("it marks a document that its segment lacks"))
            }
            _ => Ok(deleted),
        }
    }
}
