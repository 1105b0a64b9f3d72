//! Folding: maps spellings that a reader takes for the same word to one form.
//!
//! Folds to lower case, removes accents from Latin, Greek and Cyrillic letters,
//! and replaces ligatures and full-width forms by plain letters. Vowel signs and
//! other marks that carry sound stay.

use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// Appends the folded form of `word` to `folded`.
pub fn fold_into(word: &str, folded: &mut String) {
    if word.is_ascii() {
        let start = folded.len();
        folded.push_str(word);
        folded[start..].make_ascii_lowercase();
        return;
    }
    for character in word.chars() {
        if character.is_ascii() {
            folded.push(character.to_ascii_lowercase());
            continue;
        }
        let mut push = |part: char| push_lower_without_accent(part, folded);
        if matches!(character as u32, 0xFB00..=0xFB06 | 0xFF00..=0xFFEF) {
            decompose_compatible(character, &mut push);
        } else {
            decompose_canonical(character, &mut push);
        }
    }
}

fn push_lower_without_accent(part: char, folded: &mut String) {
    const COMBINING_ACCENTS: std::ops::RangeInclusive<char> = '\u{300}'..='\u{36F}';
    if COMBINING_ACCENTS.contains(&part) {
        return;
    }
    for lower in part.to_lowercase() {
        match lower {
            // The same people write these both ways, but Unicode has no rule for
            // it.
            'ß' => folded.push_str("ss"),
            'ſ' => folded.push('s'),
            accent if COMBINING_ACCENTS.contains(&accent) => {}
            other => folded.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_and_their_folded_forms() {
        for (written, expected) in [
            ("CAFÉ", "cafe"),
            ("Straße", "strasse"),
            ("Ёлка", "елка"),
            ("ΆΛΦΑ", "αλφα"),
            ("ＡＢＣ１", "abc1"),
            ("ﬁne", "fine"),
            ("İstanbul", "istanbul"),
            ("हिन्दी", "हिन्दी"),
        ] {
            let mut folded = String::new();
            fold_into(written, &mut folded);
            assert_eq!(folded, expected);
        }
    }
}
