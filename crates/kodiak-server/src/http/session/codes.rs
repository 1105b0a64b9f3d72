//! The codes that open a session: each once, and for a short time.

use std::collections::VecDeque;
use std::time::Instant;

use blake3::Hash;

/// The most codes that are valid at once. The oldest makes room.
const MOST: usize = 16;

/// The hashes of codes, each with the moment at which it expires.
#[derive(Debug, Default)]
pub(super) struct Codes(VecDeque<(Hash, Instant)>);

impl Codes {
    /// Adds a code that is valid until `end`.
    pub(super) fn add(&mut self, code: Hash, end: Instant, now: Instant) {
        self.forget_expired(now);
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((code, end));
    }

    /// Removes a code. Returns whether it was there and valid. All are compared, each in
    /// constant time.
    pub(super) fn take(&mut self, code: &Hash, now: Instant) -> bool {
        self.forget_expired(now);
        let mut found = None;
        for (at, (known, _)) in self.0.iter().enumerate() {
            if known == code {
                found = Some(at);
            }
        }
        found.is_some_and(|at| self.0.remove(at).is_some())
    }

    fn forget_expired(&mut self, now: Instant) {
        self.0.retain(|(_, end)| now < *end);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn hash(number: usize) -> Hash {
        blake3::hash(&number.to_le_bytes())
    }

    #[test]
    fn a_code_is_valid_once_and_for_a_time() {
        let mut codes = Codes::default();
        let now = Instant::now();
        let minute = Duration::from_mins(1);
        codes.add(hash(1), now + minute, now);
        codes.add(hash(2), now + minute, now);
        assert!(!codes.take(&hash(3), now));
        assert!(codes.take(&hash(1), now) && !codes.take(&hash(1), now));
        assert!(!codes.take(&hash(2), now + minute));
        assert!(codes.0.is_empty());
    }

    #[test]
    fn codes_are_bounded() {
        let mut codes = Codes::default();
        let now = Instant::now();
        for number in 0..=MOST {
            codes.add(hash(number), now + Duration::from_mins(1), now);
        }
        assert_eq!(codes.0.len(), MOST);
        assert!(!codes.take(&hash(0), now) && codes.take(&hash(MOST), now));
    }
}
