//! The documents of a segment with their lengths.

use super::frame::{Reader, Writer};
use super::{Damage, FIELDS};
use kodiak_store::Row;

/// The documents of a segment, sorted by their rows. The place of a document among them is
/// its ordinal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Members {
    rows: Vec<Row>,
    lengths: Vec<[u32; FIELDS]>,
}

impl Members {
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[cfg(test)]
    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns the document with this ordinal.
    pub(crate) fn row(&self, ordinal: u32) -> Row {
        self.rows[ordinal as usize]
    }

    /// Returns the ordinal of a document.
    pub(crate) fn ordinal(&self, row: Row) -> Option<u32> {
        self.rows.binary_search(&row).ok().map(|at| at as u32)
    }

    /// Returns the number of terms in each field of a document.
    pub(crate) fn lengths(&self, ordinal: u32) -> [u32; FIELDS] {
        self.lengths[ordinal as usize]
    }

    /// Returns the number of terms in a document.
    pub(crate) fn length(&self, ordinal: u32) -> u64 {
        self.lengths(ordinal).into_iter().map(u64::from).sum()
    }

    /// Adds a document after all others.
    pub(super) fn push(&mut self, row: Row, lengths: [u32; FIELDS]) {
        debug_assert!(self.rows.last().is_none_or(|last| *last < row));
        self.rows.push(row);
        self.lengths.push(lengths);
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut frame = Writer::new();
        frame.number(self.rows.len() as u64);
        let mut last = 0;
        for (&row, lengths) in self.rows.iter().zip(&self.lengths) {
            frame.number((row - last) as u64);
            last = row;
            for &length in lengths {
                frame.number(u64::from(length));
            }
        }
        frame.finish()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Damage> {
        let mut frame = Reader::open(bytes)?;
        let count = frame.count()?;
        let mut members = Self {
            rows: Vec::with_capacity(count),
            lengths: Vec::with_capacity(count),
        };
        let mut last: Row = 0;
        for number in 0..count {
            let gap = frame.number()?;
            let next = i64::try_from(gap)
                .ok()
                .and_then(|gap| last.checked_add(gap));
            last = next.ok_or(Damage("a number in it is too large"))?;
            if gap == 0 && number > 0 {
                return Err(Damage("a document is in it twice"));
            }
            let mut lengths = [0; FIELDS];
            for length in &mut lengths {
                *length = frame.small()?;
            }
            members.rows.push(last);
            members.lengths.push(lengths);
        }
        frame.end()?;
        Ok(members)
    }
}
