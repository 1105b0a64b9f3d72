//! Scripts: which characters form words, and which scripts have no spaces between
//! words.

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

/// How a run of characters of a script is split into terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Scripts with spaces: one term per word.
    Spaced,
    /// Han, Kana, Hangul: overlapping character bigrams.
    Bigrams,
    /// Thai, Lao, Khmer, Burmese: overlapping character trigrams.
    Trigrams,
}

impl Class {
    /// Returns the length of an n-gram in characters, or `None` if words are not
    /// split.
    pub fn n_gram_length(self) -> Option<usize> {
        match self {
            Self::Spaced => None,
            Self::Bigrams => Some(2),
            Self::Trigrams => Some(3),
        }
    }
}

/// Returns the class of a character's script.
pub(super) fn class_of(character: char) -> Class {
    match character as u32 {
        // A shortcut: no script below Thai is written without spaces.
        ..0x0E00 => Class::Spaced,
        0x0E00..=0x0EFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0xAA60..=0xAA7F => Class::Trigrams,
        0x1100..=0x11FF
        | 0x3005
        | 0x3007
        | 0x3040..=0x30FA
        | 0x30FC..=0x318F
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xAC00..=0xD7FF
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9F
        | 0x20000..=0x3134F => Class::Bigrams,
        _ => Class::Spaced,
    }
}

/// Reports whether a character is Katakana, in which Japanese writes foreign words.
pub(super) fn is_katakana(character: char) -> bool {
    matches!(character as u32, 0x30A0..=0x30FF | 0x31F0..=0x31FF | 0xFF66..=0xFF9F)
}

/// Reports whether a character is Hangul, the Korean script, which has spaces
/// between words.
pub(super) fn is_hangul(character: char) -> bool {
    matches!(character as u32, 0x1100..=0x11FF | 0x3130..=0x318F | 0xAC00..=0xD7FF)
}

/// Reports whether a word may start with this character.
pub(super) fn starts_word(character: char) -> bool {
    character.is_alphanumeric() && !is_mark(character)
}

/// Reports whether a character continues a word of this class.
pub(super) fn continues_word(character: char, class: Class) -> bool {
    // A mark belongs to the letter before it, whatever block it is from.
    (character.is_alphanumeric() && class_of(character) == class) || is_mark(character)
}

/// Reports whether a character is a combining mark on the one before it, such as an
/// accent or a vowel sign.
pub fn is_mark(character: char) -> bool {
    character as u32 >= 0x300 && character.general_category_group() == GeneralCategoryGroup::Mark
}
