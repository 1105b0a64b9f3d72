//! Random numbers and strings that are the same for the same seed.

pub(crate) const DIGITS: &str = "0123456789";
pub(crate) const HEX: &str = "0123456789abcdef";
pub(crate) const LOWER: &str = "abcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
pub(crate) const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const URL: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A generator of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator. The same seed yields the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Returns a number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }

    /// Returns one of several.
    pub(crate) fn one<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// Returns `length` characters of an alphabet.
    pub(crate) fn of(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length)
            .map(|_| char::from(letters[self.below(letters.len())]))
            .collect()
    }

    /// Returns characters of an alphabet, between two lengths.
    pub(crate) fn between(&mut self, alphabet: &str, least: usize, greatest: usize) -> String {
        let length = least + self.below(greatest - least + 1);
        self.of(alphabet, length)
    }

    /// Returns a word.
    pub(crate) fn word(&mut self) -> &'static str {
        self.one(&[
            "harbor", "copper", "lantern", "meadow", "orchid", "pepper", "quartz", "raven",
            "saddle", "timber", "velvet", "walnut", "anchor", "bishop", "candle", "desert",
        ])
    }

    /// Returns a password as people and their managers make them up.
    pub(crate) fn password(&mut self) -> String {
        match self.below(5) {
            0 => format!("{}{}", self.word(), self.of("123456789", 2)),
            1 => {
                let (one, other) = (self.word(), self.word());
                let capital = one[..1].to_uppercase();
                format!("{capital}{}_{other}{}", &one[1..], self.of(DIGITS, 2))
            }
            2 => {
                let word = self.word().replace('a', "4").replace('e', "3");
                format!(
                    "{word}{}{}",
                    self.one(&["!", "#", "%", "*"]),
                    self.of("23456789", 2)
                )
            }
            3 => format!("{}7{}", self.of(LETTERS, 7), self.of(LETTERS, 8)),
            _ => format!(
                "{}{}{}4{}",
                self.of(LETTERS, 5),
                self.one(&["!", "%", "^", "+", "~"]),
                self.of(LETTERS, 4),
                self.of(LETTERS, 3)
            ),
        }
    }
}
