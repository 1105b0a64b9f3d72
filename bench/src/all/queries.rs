//! Builds queries of every kind from the texts, so that there is something to find.

use fastrand::Rng;

/// The length of a prefix that is typed with an asterisk.
const PREFIX: usize = 4;
/// The minimum length of a word to search for, complete or misspell.
const LONG: usize = 6;
/// The maximum length; longer ones are seldom words.
const TOO_LONG: usize = 18;

/// The kind of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    RareWord,
    SixWords,
    Phrase,
    Prefix,
    OneLetter,
    TwoLetters,
    Typo,
    Chinese,
    Hybrid,
}

impl Kind {
    /// The kinds for lexical search.
    pub(crate) const BY_WORD: [Self; 8] = [
        Self::RareWord,
        Self::SixWords,
        Self::Phrase,
        Self::Prefix,
        Self::OneLetter,
        Self::TwoLetters,
        Self::Typo,
        Self::Chinese,
    ];

    /// Returns the name of the kind.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RareWord => "rare word",
            Self::SixWords => "six natural words",
            Self::Phrase => "phrase",
            Self::Prefix => "prefix",
            Self::OneLetter => "one letter as you type",
            Self::TwoLetters => "two letters as you type",
            Self::Typo => "typo",
            Self::Chinese => "Chinese",
            Self::Hybrid => "hybrid",
        }
    }

    /// Returns whether the queries are still being typed.
    pub(crate) fn as_you_type(self) -> bool {
        matches!(self, Self::OneLetter | Self::TwoLetters)
    }

    /// Returns this many queries of this kind, each from another place in the
    /// texts, or fewer if the texts have too few such words.
    pub(crate) fn queries(self, texts: &[String], count: usize) -> Vec<String> {
        let mut random = Rng::with_seed(count as u64);
        let tries = 2 * texts.len().max(count);
        let texts = texts.iter().cycle().take(tries);
        texts
            .filter_map(|text| self.query(text, &mut random))
            .take(count)
            .collect()
    }

    fn query(self, text: &str, random: &mut Rng) -> Option<String> {
        match self {
            Self::RareWord => longest(text),
            Self::SixWords | Self::Hybrid => Some(consecutive(text, 6, random)?.join(" ")),
            Self::Phrase => Some(format!("\"{}\"", consecutive(text, 3, random)?.join(" "))),
            Self::Prefix => Some(format!("{}*", beginning(text, PREFIX, random)?)),
            Self::OneLetter => beginning(text, 1, random),
            Self::TwoLetters => beginning(text, 2, random),
            Self::Typo => misspelt(&longest(text)?),
            Self::Chinese => {
                let characters: Vec<char> = text.chars().collect();
                let pairs: Vec<&[char]> = characters
                    .windows(2)
                    .filter(|pair| pair.iter().all(|&one| is_chinese(one)))
                    .collect();
                let pair = pairs.get(random.usize(..pairs.len().max(1)))?;
                Some(pair.iter().collect())
            }
        }
    }
}

/// Returns the words that consist of letters only, so that none is query syntax.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().filter(|word| is_word(word))
}

fn is_word(word: &str) -> bool {
    word.chars()
        .all(|one| one.is_alphabetic() && !is_chinese(one))
}

fn is_long(word: &str) -> bool {
    (LONG..=TOO_LONG).contains(&word.chars().count())
}

fn is_chinese(character: char) -> bool {
    ('\u{4E00}'..='\u{9FFF}').contains(&character)
}

/// Returns the first letters of a long word somewhere in the text.
fn beginning(text: &str, letters: usize, random: &mut Rng) -> Option<String> {
    let long: Vec<&str> = words(text).filter(|word| is_long(word)).collect();
    let word = long.get(random.usize(..long.len().max(1)))?;
    let letters: String = word.chars().take(letters).collect();
    Some(letters.to_lowercase())
}

/// Returns the longest word, which is seldom common.
fn longest(text: &str) -> Option<String> {
    let long = words(text).filter(|word| is_long(word));
    let longest = long.max_by_key(|word| word.chars().count())?;
    Some(longest.to_lowercase())
}

/// Returns adjacent words of a line somewhere in the text, in lower case because
/// operators are in upper case.
fn consecutive(text: &str, count: usize, random: &mut Rng) -> Option<Vec<String>> {
    let mut places: Vec<Vec<&str>> = Vec::new();
    for line in text.lines() {
        let all: Vec<&str> = line.split_whitespace().collect();
        let whole = |window: &&[&str]| window.iter().all(|word| is_word(word));
        places.extend(all.windows(count).filter(whole).map(<[&str]>::to_vec));
    }
    let found = places.get(random.usize(..places.len().max(1)))?;
    Some(found.iter().map(|word| word.to_lowercase()).collect())
}

/// Returns the word with two letters in its middle swapped.
fn misspelt(word: &str) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    let at = (middle..letters.len().checked_sub(1)?)
        .chain(1..middle)
        .find(|&at| letters[at] != letters[at + 1])?;
    letters.swap(at, at + 1);
    Some(letters.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts() -> Vec<String> {
        vec![
            "# Bread\n\nThe sourdough rises slowly in a cold kitchen overnight.\n".to_owned(),
            "我们在厨房做面包。".to_owned(),
        ]
    }

    #[test]
    fn every_kind_finds_its_words() {
        let first = |kind: Kind| kind.queries(&texts(), 1).pop().unwrap();
        assert_eq!(first(Kind::RareWord), "sourdough");
        assert_eq!(first(Kind::Typo), "sourodugh");
        assert_eq!(first(Kind::SixWords).split(' ').count(), 6);
        let phrase = first(Kind::Phrase);
        let inner = phrase.trim_matches('"');
        assert!(texts()[0].to_lowercase().contains(inner), "{phrase}");
        let prefix = first(Kind::Prefix);
        assert_eq!(prefix.len(), PREFIX + 1);
        assert_eq!(first(Kind::OneLetter).len(), 1);
        assert_eq!(first(Kind::TwoLetters).len(), 2);
        let pair = first(Kind::Chinese);
        assert!(texts()[1].contains(&pair) && pair.chars().count() == 2);
    }

    #[test]
    fn texts_without_such_words_give_no_queries() {
        for kind in Kind::BY_WORD {
            assert!(kind.queries(&[], 5).is_empty());
            assert!(kind.queries(&["1 2 3".to_owned()], 5).is_empty());
        }
    }
}
