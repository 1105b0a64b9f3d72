//! The tokens that an answer may spend.
//!
//! Models count text in tokens, each in its own way. The estimate here is made to
//! be at least what the common ones count.

/// The tokens of an answer by default.
pub const DEFAULT_TOKENS: usize = 2_000;
/// The most tokens of any answer. Clients refuse answers of more than 25,000, and
/// what comes beside the text counts too.
pub const MOST_TOKENS: usize = 20_000;
/// The fewest tokens that can be asked for: an answer has to say something.
pub const FEWEST_TOKENS: usize = 100;

/// Estimates the number of tokens of a text.
pub fn tokens(text: &str) -> usize {
    const LETTERS: usize = 4;
    const DIGITS: usize = 3;
    let mut halves = 0;
    let mut letters = 0_usize;
    let mut digits = 0_usize;
    let mut spaces = 0_usize;
    for character in text.chars() {
        if !character.is_ascii_alphabetic() {
            halves += 2 * letters.div_ceil(LETTERS);
            letters = 0;
        }
        if !character.is_ascii_digit() {
            halves += 2 * digits.div_ceil(DIGITS);
            digits = 0;
        }
        if character != ' ' {
            // A single space belongs to the word after it.
            halves += usize::from(spaces > 1) * 2;
            spaces = 0;
        }
        match character {
            ' ' => spaces += 1,
            'a'..='z' | 'A'..='Z' => letters += 1,
            '0'..='9' => digits += 1,
            _ if character.is_ascii() => halves += 2,
            _ => halves += character.len_utf8(),
        }
    }
    halves += 2 * (letters.div_ceil(LETTERS) + digits.div_ceil(DIGITS));
    halves.div_ceil(2)
}

/// Tokens that can be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    left: usize,
}

impl Budget {
    /// Returns a budget of this many tokens, within the limits of every answer.
    pub fn new(tokens: usize) -> Self {
        Self {
            left: tokens.clamp(FEWEST_TOKENS, MOST_TOKENS),
        }
    }

    /// Returns the tokens that are left.
    pub fn left(self) -> usize {
        self.left
    }

    /// Spends tokens whether or not there are as many.
    pub fn spend(&mut self, tokens: usize) {
        self.left = self.left.saturating_sub(tokens);
    }

    /// Spends tokens if there are as many, and returns whether there were.
    pub fn afford(&mut self, tokens: usize) -> bool {
        let enough = tokens <= self.left;
        if enough {
            self.left -= tokens;
        }
        enough
    }
}

/// Returns a text of at most so many characters, which says if it was longer.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the longest beginning of a text in whole lines that costs no more than
/// `most` tokens, and the number of its lines. A first line that is too long is
/// cut.
pub fn beginning(text: &str, most: usize) -> (&str, usize) {
    let mut end = 0;
    let mut spent = 0;
    let mut lines = 0;
    for line in text.split_inclusive('\n') {
        spent += tokens(line);
        if spent > most {
            break;
        }
        end += line.len();
        lines += 1;
    }
    if lines == 0 && !text.is_empty() {
        let line = text.split('\n').next().unwrap_or_default();
        return (cut(line, most), 1);
    }
    (&text[..end], lines)
}

/// Returns a beginning of a line that costs no more than `most` tokens.
fn cut(line: &str, most: usize) -> &str {
    // Every token of the estimate has at least a third of a byte.
    let mut end = line.len().min(most.saturating_mul(LONGEST_TOKEN));
    loop {
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        if tokens(&line[..end]) <= most {
            return &line[..end];
        }
        end = end * 3 / 4;
    }
}

/// The most bytes that the estimate takes for one token, apart from spaces.
const LONGEST_TOKEN: usize = 5;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_cost_about_what_models_count() {
        for (text, least, most) in [
            ("", 0, 0),
            ("a", 1, 1),
            ("The weekly review takes an hour.", 7, 14),
            ("2026-01-31", 5, 6),
            ("日本語のテキスト", 8, 16),
        ] {
            let tokens = tokens(text);
            assert!((least..=most).contains(&tokens), "{text}: {tokens}");
        }
    }

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(150);
        assert!(budget.afford(100) && !budget.afford(100) && budget.afford(50));
        budget.spend(10);
        assert_eq!(budget.left(), 0);
        assert_eq!(Budget::new(0).left(), FEWEST_TOKENS);
        assert_eq!(Budget::new(usize::MAX).left(), MOST_TOKENS);
    }

    proptest! {
        #[test]
        fn a_beginning_fits_and_is_one(text: String, most in 1_usize..200) {
            let (beginning, lines) = beginning(&text, most);
            prop_assert!(text.starts_with(beginning));
            prop_assert!(tokens(beginning) <= most);
            prop_assert!(lines > 0 || text.is_empty());
        }
    }
}
