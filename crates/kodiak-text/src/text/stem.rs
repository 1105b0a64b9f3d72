//! Porter's stemmer for English, as published in 1980. It has the two departures
//! that every implementation has (`bli` and `logi`). From his later revision, it
//! has short words in -ies and -ied (dies, tied) and a list of exceptions (news is
//! no plural of new).
//!
//! It runs over every word of every note, so it works in place on bytes. Words
//! with anything but ASCII letters stay unchanged.

/// How words are stemmed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stemming {
    /// By Porter's stemmer for English.
    #[default]
    English,
    /// Not at all.
    None,
}

impl Stemming {
    /// Replaces a folded word by its stem.
    pub fn stem(self, word: &mut String) {
        match self {
            Self::English => stem(word),
            Self::None => {}
        }
    }

    /// Replaces a folded word by what its regular inflections have in common:
    /// "products" and "product", but neither "production" nor "productivity".
    pub fn uninflect(self, word: &mut String) {
        match self {
            Self::English => shorten(word, |_| {}),
            Self::None => {}
        }
    }
}

fn stem(word: &mut String) {
    shorten(word, |stemmer| {
        stemmer.replace_first(DOUBLE_SUFFIXES, 0);
        stemmer.replace_first(LONG_SUFFIXES, 0);
        stemmer.drop_suffix();
    });
}

/// Removes the endings of inflections (steps 1 and 5), and between them what `derived`
/// removes.
fn shorten(word: &mut String, derived: impl FnOnce(&mut Stemmer)) {
    // Very long runs are data, and two letters have no ending to remove.
    if !(3..=64).contains(&word.len()) || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return;
    }
    if let Ok(at) = EXCEPTIONS.binary_search_by(|(exception, _)| (*exception).cmp(word)) {
        word.clear();
        word.push_str(EXCEPTIONS[at].1);
        return;
    }
    let mut stemmer = Stemmer {
        word: std::mem::take(word).into_bytes(),
    };
    stemmer.plurals();
    stemmer.past_and_progressive();
    stemmer.final_y();
    derived(&mut stemmer);
    stemmer.tidy();
    // Only ASCII letters went in and only those came out.
    *word = String::from_utf8(stemmer.word).unwrap_or_default();
}

/// Words whose ending is not a suffix, with their stems, sorted.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("andes", "andes"),
    ("atlas", "atlas"),
    ("bias", "bias"),
    ("cosmos", "cosmos"),
    ("dying", "die"),
    ("early", "earli"),
    ("earring", "earring"),
    ("evening", "evening"),
    ("evenings", "evening"),
    ("exceed", "exceed"),
    ("herring", "herring"),
    ("howe", "howe"),
    ("idly", "idl"),
    ("inning", "inning"),
    ("innings", "inning"),
    ("lying", "lie"),
    ("news", "news"),
    ("only", "onli"),
    ("outing", "outing"),
    ("outings", "outing"),
    ("proceed", "proceed"),
    ("skies", "sky"),
    ("skis", "ski"),
    ("succeed", "succeed"),
    ("tying", "tie"),
    ("ugly", "ugli"),
];

/// Step 2 of the algorithm: double suffixes and their replacements.
const DOUBLE_SUFFIXES: &[(&[u8], &[u8])] = &[
    (b"ational", b"ate"),
    (b"tional", b"tion"),
    (b"enci", b"ence"),
    (b"anci", b"ance"),
    (b"izer", b"ize"),
    (b"bli", b"ble"),
    (b"alli", b"al"),
    (b"entli", b"ent"),
    (b"eli", b"e"),
    (b"ousli", b"ous"),
    (b"ization", b"ize"),
    (b"ation", b"ate"),
    (b"ator", b"ate"),
    (b"alism", b"al"),
    (b"iveness", b"ive"),
    (b"fulness", b"ful"),
    (b"ousness", b"ous"),
    (b"aliti", b"al"),
    (b"iviti", b"ive"),
    (b"biliti", b"ble"),
    (b"logi", b"log"),
];

/// Step 3 of the algorithm: long suffixes and their replacements.
const LONG_SUFFIXES: &[(&[u8], &[u8])] = &[
    (b"icate", b"ic"),
    (b"ative", b""),
    (b"alize", b"al"),
    (b"iciti", b"ic"),
    (b"ical", b"ic"),
    (b"ful", b""),
    (b"ness", b""),
];

/// Step 4 of the algorithm: suffixes to remove. The longest come first, since only
/// the longest that fits is tried.
const LAST_SUFFIXES: &[&[u8]] = &[
    b"ement", b"ance", b"ence", b"able", b"ible", b"ment", b"ant", b"ent", b"ism", b"ate", b"iti",
    b"ous", b"ive", b"ize", b"ion", b"al", b"er", b"ic", b"ou",
];

struct Stemmer {
    word: Vec<u8>,
}

impl Stemmer {
    fn ends(&self, suffix: &[u8]) -> bool {
        // Most suffixes are ruled out by one letter, without a call.
        self.word.last() == suffix.last() && self.word.ends_with(suffix)
    }

    fn stem_length(&self, suffix: &[u8]) -> usize {
        self.word.len() - suffix.len()
    }

    fn consonant(&self, at: usize) -> bool {
        match self.word[at] {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => at == 0 || !self.consonant(at - 1),
            _ => true,
        }
    }

    /// Returns Porter's measure m: how often a vowel is followed by a consonant in
    /// the first `length` letters.
    fn measure(&self, length: usize) -> usize {
        let mut measure = 0;
        let mut after_vowel = false;
        for at in 0..length {
            let consonant = self.consonant(at);
            if consonant && after_vowel {
                measure += 1;
            }
            after_vowel = !consonant;
        }
        measure
    }

    fn has_vowel(&self, length: usize) -> bool {
        (0..length).any(|at| !self.consonant(at))
    }

    fn ends_in_double_consonant(&self) -> bool {
        let length = self.word.len();
        length >= 2 && self.word[length - 1] == self.word[length - 2] && self.consonant(length - 1)
    }

    /// Reports whether the first `length` letters end in consonant, vowel, consonant,
    /// the last not w, x or y, as in "hop" and "fil".
    fn ends_short(&self, length: usize) -> bool {
        length >= 3
            && self.consonant(length - 3)
            && !self.consonant(length - 2)
            && self.consonant(length - 1)
            && !matches!(self.word[length - 1], b'w' | b'x' | b'y')
    }

    /// Removes the ending of plurals (step 1a).
    fn plurals(&mut self) {
        if self.ends(b"ies") {
            // In four letters, as in "dies", the e belongs to the word.
            let short = self.word.len() == 4;
            self.word
                .truncate(self.word.len() - if short { 1 } else { 2 });
        } else if self.ends(b"sses") {
            self.word.truncate(self.word.len() - 2);
        } else if self.ends(b"s") && !self.ends(b"ss") {
            self.word.pop();
        }
    }

    /// Removes -eed, -ed and -ing (step 1b).
    fn past_and_progressive(&mut self) {
        if self.ends(b"eed") {
            if self.measure(self.stem_length(b"eed")) > 0 {
                self.word.pop();
            }
            return;
        }
        if self.ends(b"ied") && self.word.len() == 4 {
            self.word.pop();
            return;
        }
        let suffix: &[u8] = if self.ends(b"ed") {
            b"ed"
        } else if self.ends(b"ing") {
            b"ing"
        } else {
            return;
        };
        let length = self.stem_length(suffix);
        if !self.has_vowel(length) {
            return;
        }
        self.word.truncate(length);
        if self.ends(b"at") || self.ends(b"bl") || self.ends(b"iz") {
            self.word.push(b'e');
        } else if self.ends_in_double_consonant() {
            if !matches!(self.word[length - 1], b'l' | b's' | b'z') {
                self.word.pop();
            }
        } else if self.measure(length) == 1 && self.ends_short(length) {
            self.word.push(b'e');
        }
    }

    /// Turns a final y into i (step 1c).
    fn final_y(&mut self) {
        let length = self.word.len();
        if self.ends(b"y") && self.has_vowel(length - 1) {
            self.word[length - 1] = b'i';
        }
    }

    /// Replaces the first suffix of the list that fits (steps 2 and 3), if the
    /// measure of the rest is above `least_measure`.
    fn replace_first(&mut self, suffixes: &[(&[u8], &[u8])], least_measure: usize) {
        let Some((suffix, replacement)) = suffixes.iter().find(|(suffix, _)| self.ends(suffix))
        else {
            return;
        };
        let length = self.stem_length(suffix);
        if self.measure(length) > least_measure {
            self.word.truncate(length);
            self.word.extend_from_slice(replacement);
        }
    }

    /// Removes a suffix if the measure of the rest is above 1 (step 4).
    fn drop_suffix(&mut self) {
        let Some(suffix) = LAST_SUFFIXES.iter().find(|suffix| self.ends(suffix)) else {
            return;
        };
        let length = self.stem_length(suffix);
        let fits =
            *suffix != b"ion" || (length > 0 && matches!(self.word[length - 1], b's' | b't'));
        if fits && self.measure(length) > 1 {
            self.word.truncate(length);
        }
    }

    /// Removes a final e and one l of a final double l (step 5).
    fn tidy(&mut self) {
        let length = self.word.len();
        if self.ends(b"e") {
            let measure = self.measure(length - 1);
            if measure > 1 || (measure == 1 && !self.ends_short(length - 1)) {
                self.word.pop();
            }
        }
        if self.ends(b"ll") && self.measure(self.word.len()) > 1 {
            self.word.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EXCEPTIONS, stem};
    use proptest::prelude::*;

    #[test]
    fn stems_as_published() {
        for (word, expected) in [
            ("caresses", "caress"),
            ("ponies", "poni"),
            ("ties", "tie"),
            ("died", "die"),
            ("dies", "die"),
            ("dying", "die"),
            ("cried", "cri"),
            ("cries", "cri"),
            ("news", "news"),
            ("new", "new"),
            ("cats", "cat"),
            ("feed", "feed"),
            ("agreed", "agre"),
            ("plastered", "plaster"),
            ("bled", "bled"),
            ("motoring", "motor"),
            ("sing", "sing"),
            ("conflated", "conflat"),
            ("troubled", "troubl"),
            ("sized", "size"),
            ("hopping", "hop"),
            ("tanned", "tan"),
            ("falling", "fall"),
            ("hissing", "hiss"),
            ("fizzed", "fizz"),
            ("failing", "fail"),
            ("filing", "file"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("conditional", "condit"),
            ("valenci", "valenc"),
            ("digitizer", "digit"),
            ("radically", "radic"),
            ("vietnamization", "vietnam"),
            ("operator", "oper"),
            ("feudalism", "feudal"),
            ("decisiveness", "decis"),
            ("hopefulness", "hope"),
            ("formality", "formal"),
            ("sensitivity", "sensit"),
            ("triplicate", "triplic"),
            ("formative", "form"),
            ("electricity", "electr"),
            ("goodness", "good"),
            ("revival", "reviv"),
            ("allowance", "allow"),
            ("inference", "infer"),
            ("airliner", "airlin"),
            ("adjustable", "adjust"),
            ("replacement", "replac"),
            ("adoption", "adopt"),
            ("communism", "commun"),
            ("effective", "effect"),
            ("probate", "probat"),
            ("rate", "rate"),
            ("cease", "ceas"),
            ("controlling", "control"),
            ("roll", "roll"),
            ("productivity", "product"),
            ("generalizations", "gener"),
            ("archaeology", "archaeolog"),
            ("possibly", "possibl"),
        ] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expected, "{word}");
        }
    }

    #[test]
    fn other_words_stay_unchanged() {
        for word in ["is", "straße", "x2000s", ""] {
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, word);
        }
    }

    #[test]
    fn exceptions_are_sorted() {
        assert!(EXCEPTIONS.is_sorted());
    }

    proptest! {
        #[test]
        fn no_stem_is_empty(word in "[a-z]{3,64}") {
            let mut stemmed = word.clone();
            stem(&mut stemmed);
            prop_assert!(!stemmed.is_empty() && stemmed.len() <= word.len() + 1);
        }
    }
}
