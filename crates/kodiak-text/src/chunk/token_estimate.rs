//! Estimates how many tokens a text becomes, from its characters.
//!
//! No model's tokenizer is asked: chunk boundaries must not depend on which model is
//! installed, and must be known at the speed of reading. The tables were fitted to a
//! `WordPiece` vocabulary of English, the most common kind, on prose, manuals, abstracts
//! and other languages, so that chunks sized with them nearly always fit. Weights are in
//! hundredths of a token.

/// The weight of one token.
pub(super) const TOKEN: u32 = 100;

/// How many letters or digits are looked at in one go; each one after so many
/// adds as much as the last.
const MAX_WORD_LETTERS: usize = 16;

/// The weight of a word that the vocabulary is likely to have, by its number of letters:
/// short words are one token.
const KNOWN_WORD: [u32; MAX_WORD_LETTERS + 1] =
    totals([102, 0, 2, 2, 2, 6, 8, 10, 14, 18, 22, 26, 32, 38, 42, 44]);

/// The estimate for words of other languages, names and code, which fall apart.
const UNKNOWN_WORD: [u32; MAX_WORD_LETTERS + 1] = totals([
    104, 4, 24, 46, 32, 34, 36, 36, 36, 38, 38, 40, 40, 42, 42, 44,
]);

/// The estimate for numbers, by their digits.
const NUMBER: [u32; MAX_WORD_LETTERS + 1] = totals([
    104, 4, 26, 10, 80, 75, 75, 75, 75, 75, 75, 75, 75, 75, 75, 75,
]);

/// The weight added for a capital after another letter: abbreviations fall apart.
const CAPITAL: u32 = 24;

/// The weight added for a letter with an accent. The accent is dropped, but vocabularies of
/// English know few of the words.
const ACCENT: u32 = 40;

/// How strange at least a word is that follows a sign instead of a space, as in
/// addresses and code.
const ATTACHED: u32 = 144;

/// How strange text is that nothing is known of, how strange it can be, and by
/// how much a common English word and any other word change that. Text in which
/// fewer than one word in a dozen is common ends up as strange as can be.
const UNKNOWN: u32 = 128;
const STRANGEST: u32 = 256;
const COMMON_WORD: u32 = 24;
const OTHER_WORD: u32 = 2;

/// Returns the sums of the weights that places add.
const fn totals(added: [u32; MAX_WORD_LETTERS]) -> [u32; MAX_WORD_LETTERS + 1] {
    let mut totals = [0; MAX_WORD_LETTERS + 1];
    let mut at = 0;
    while at < MAX_WORD_LETTERS {
        totals[at + 1] = totals[at] + added[at];
        at += 1;
    }
    totals
}

/// Returns the weight that the characters from one place of a run to another add.
fn between(totals: &[u32; MAX_WORD_LETTERS + 1], from: usize, to: usize) -> u32 {
    let last = totals[MAX_WORD_LETTERS] - totals[MAX_WORD_LETTERS - 1];
    let beyond = to.saturating_sub(from.max(MAX_WORD_LETTERS)) as u32;
    totals[to.min(MAX_WORD_LETTERS)] - totals[from.min(MAX_WORD_LETTERS)] + beyond * last
}

/// Weighs a text piece by piece.
pub(super) struct TokenEstimator {
    /// How little the text so far resembles English, up to [`STRANGEST`].
    strangeness: u32,
    /// The least that it is, whatever the words were.
    least_strangeness: u32,
    /// How strange the present word is.
    word_strangeness: u32,
    run: Run,
    /// How many characters of the run were seen.
    length: usize,
}

/// A piece that is not divided further: part of a word or number, a sign, space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// How many bytes it has.
    pub length: usize,
    /// Its weight. Only white space weighs nothing.
    pub weight: u32,
}

/// The class of the last characters.
#[derive(Clone, Copy, PartialEq)]
enum Run {
    Letters,
    Digits,
    Space,
    Signs,
}

impl Default for TokenEstimator {
    fn default() -> Self {
        Self {
            strangeness: UNKNOWN,
            least_strangeness: 0,
            word_strangeness: UNKNOWN,
            run: Run::Space,
            length: 0,
        }
    }
}

impl TokenEstimator {
    /// Weighs the piece that starts at this offset, which must be one of a
    /// character.
    pub(super) fn next(&mut self, text: &str, at: usize) -> Piece {
        let rest = &text.as_bytes()[at..];
        match rest.first() {
            None => Piece {
                length: 0,
                weight: 0,
            },
            Some(b'a'..=b'z' | b'A'..=b'Z') => self.letters(rest),
            Some(b' ' | b'\t'..=b'\r') => {
                self.enter(Run::Space);
                Piece {
                    length: length_of(rest, usize::MAX, |byte| {
                        matches!(byte, b' ' | b'\t'..=b'\r')
                    }),
                    weight: 0,
                }
            }
            Some(b'0'..=b'9') => {
                self.enter(Run::Digits);
                let length = length_of(rest, MAX_WORD_LETTERS, u8::is_ascii_digit);
                let weight = between(&NUMBER, self.length, self.length + length);
                self.length += length;
                Piece { length, weight }
            }
            Some(0..=0x7F) => {
                self.enter(Run::Signs);
                Piece {
                    length: 1,
                    weight: alone(rest[0] as char),
                }
            }
            Some(_) => self.other(text[at..].chars().next().unwrap_or_default()),
        }
    }

    /// Weighs a whole text that continues the one weighed before.
    pub(super) fn weigh(&mut self, text: &str) -> u32 {
        let mut weight = 0_u32;
        let mut at = 0;
        while at < text.len() {
            let piece = self.next(text, at);
            weight = weight.saturating_add(piece.weight);
            at += piece.length;
        }
        weight
    }

    /// Sets whether the following text counts as unknown, however familiar the text before
    /// it was.
    pub(super) fn assume_unknown(&mut self, unknown: bool) {
        self.least_strangeness = if unknown { UNKNOWN } else { 0 };
        self.strangeness = self.strangeness.max(self.least_strangeness);
    }

    /// Ends the present word, as the end of a line does.
    pub(super) fn space(&mut self) {
        self.enter(Run::Space);
    }

    fn letters(&mut self, rest: &[u8]) -> Piece {
        self.enter(Run::Letters);
        // A capital after small letters starts another word, as names in
        // code do.
        let upper = length_of(rest, MAX_WORD_LETTERS, u8::is_ascii_uppercase);
        let lower = length_of(
            &rest[upper..],
            MAX_WORD_LETTERS - upper,
            u8::is_ascii_lowercase,
        );
        let length = upper + lower;
        let capitals = upper - usize::from(upper > 0 && self.length == 0);
        let from = self.length;
        self.length += length;
        let strangeness = self.word_strangeness;
        let familiar = between(&KNOWN_WORD, from, self.length) * (STRANGEST - strangeness);
        let strange = between(&UNKNOWN_WORD, from, self.length) * strangeness;
        // What is not of ASCII may be a letter, and a long word continues.
        let goes_on = |next: &u8| match next {
            b'A'..=b'Z' => lower == 0,
            b'a'..=b'z' | 0x80.. => true,
            _ => false,
        };
        if !rest.get(length).is_some_and(goes_on) {
            self.leave(from == 0 && is_stop_word(&rest[..length]));
            self.run = Run::Signs;
        }
        Piece {
            length,
            weight: (familiar + strange) / STRANGEST + capitals as u32 * CAPITAL,
        }
    }

    fn other(&mut self, character: char) -> Piece {
        let length = character.len_utf8();
        let weight = if matches!(character, '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}') {
            self.enter(Run::Letters);
            self.length += 1;
            between(&UNKNOWN_WORD, self.length - 1, self.length) + ACCENT
        } else if character.is_whitespace() {
            self.enter(Run::Space);
            0
        } else {
            self.enter(Run::Signs);
            alone(character)
        };
        Piece { length, weight }
    }

    fn enter(&mut self, run: Run) {
        if self.run == run {
            return;
        }
        if self.run == Run::Letters {
            self.leave(false);
        }
        self.word_strangeness = if self.run == Run::Space {
            self.strangeness
        } else {
            self.strangeness.max(ATTACHED)
        };
        self.run = run;
        self.length = 0;
    }

    /// Learns from a word that ended.
    fn leave(&mut self, common: bool) {
        self.strangeness = if common {
            let less = self.strangeness.saturating_sub(COMMON_WORD);
            less.max(self.least_strangeness)
        } else {
            (self.strangeness + OTHER_WORD).min(STRANGEST)
        };
    }
}

/// How many bytes from the first on belong together, up to `most`.
fn length_of(rest: &[u8], most: usize, belongs: impl Fn(&u8) -> bool) -> usize {
    let rest = &rest[..rest.len().min(most)];
    rest.iter()
        .position(|byte| !belongs(byte))
        .unwrap_or(rest.len())
}

/// Whether a word is frequent in English and rare in other languages.
fn is_stop_word(word: &[u8]) -> bool {
    /// Up to four letters as one number, in lower case.
    const fn packed(word: &[u8]) -> u32 {
        let mut letters = 0;
        let mut at = 0;
        while at < word.len() {
            letters = letters << 8 | (word[at] | 0x20) as u32;
            at += 1;
        }
        letters
    }
    const COMMON: [u32; 14] = [
        packed(b"the"),
        packed(b"of"),
        packed(b"and"),
        packed(b"to"),
        packed(b"for"),
        packed(b"with"),
        packed(b"that"),
        packed(b"this"),
        packed(b"are"),
        packed(b"it"),
        packed(b"you"),
        packed(b"by"),
        packed(b"be"),
        packed(b"from"),
    ];
    (2..=4).contains(&word.len()) && COMMON.contains(&packed(word))
}

/// The weight of a character that is a whole token, or most of one.
fn alone(character: char) -> u32 {
    match character {
        '!'..='~' => TOKEN,
        // Control characters and accents are dropped, but are not a reason for a
        // chunk without end.
        '\0'..='\u{9F}' | '\u{300}'..='\u{36F}' | '\u{200B}'..='\u{200F}' => TOKEN / 10,
        // A syllable falls apart into its two or three letters, most often.
        '\u{AC00}'..='\u{D7A3}' => {
            let closed = !(character as u32 - 0xAC00).is_multiple_of(28);
            TOKEN * if closed { 24 } else { 17 } / 10
        }
        // Some of the vowel signs are dropped like accents.
        '\u{900}'..='\u{DFF}' => TOKEN * 77 / 100,
        _ => TOKEN,
    }
}

/// Returns the weight of a whole text.
pub(super) fn of(text: &str) -> u32 {
    TokenEstimator::default().weigh(text)
}

/// The beginning of a text that weighs no more than this, cut between words
/// where there are any.
pub(super) fn beginning(text: &str, most: u32) -> &str {
    let mut estimator = TokenEstimator::default();
    let mut weight = 0;
    let mut gap = 0;
    let mut at = 0;
    while at < text.len() {
        let piece = estimator.next(text, at);
        weight += piece.weight;
        if weight > most {
            return text[..if gap > 0 { gap } else { at }].trim_end();
        }
        if piece.weight == 0 {
            gap = at;
        }
        at += piece.length;
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokens(text: &str) -> u32 {
        of(text).div_ceil(TOKEN)
    }

    #[test]
    fn scripts_weigh_what_their_tokens_do() {
        for (text, least, most) in [
            ("", 0, 0),
            (" \t\r\n\u{3000}", 0, 0),
            ("a", 1, 2),
            ("word", 1, 2),
            ("The cat sat on the mat and looked at the moon.", 11, 16),
            ("Donaudampfschifffahrtsgesellschaft", 8, 16),
            ("{[(<>)]};", 9, 9),
            ("2024", 1, 2),
            ("31415926535897932384", 12, 20),
            ("漢字仮名", 4, 4),
            ("한국어", 5, 8),
            ("привет", 5, 6),
            ("สวัสดี", 4, 6),
            ("नमस्ते", 3, 6),
            ("🦀🦀", 2, 2),
        ] {
            let found = tokens(text);
            assert!((least..=most).contains(&found), "{text}: {found}");
        }
    }

    #[test]
    fn english_is_lighter_than_what_resembles_none() {
        let english = "the making of bread and the baking of cakes for the village ".repeat(5);
        let other = "das backen von brot und das machen von kuchen vor den dorfern ".repeat(5);
        let by_letter = |text: &str| f64::from(of(text)) / text.len() as f64;
        assert!(by_letter(&english) * 1.2 < by_letter(&other));
    }

    #[test]
    fn beginnings_are_cut_between_words() {
        assert_eq!(beginning("one two three", 250), "one two");
        assert_eq!(beginning("one two", 1000), "one two");
        assert_eq!(beginning("漢字仮名", 250), "漢字");
        assert_eq!(beginning("one", 0), "");
    }

    proptest! {
        #[test]
        fn only_white_space_is_weightless(character: char) {
            prop_assert_eq!(of(&character.to_string()) == 0, character.is_whitespace());
        }

        #[test]
        fn beginnings_fit(text in "\\PC*", most in 0_u32..2000) {
            let cut = beginning(&text, most);
            prop_assert!(text.starts_with(cut) && of(cut) <= most);
        }
    }
}
