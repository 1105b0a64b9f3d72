//! The likelihood that a word is the correction of a misspelt one: a noisy-channel model
//! over a weighted Damerau–Levenshtein distance.
//!
//! Owns the costs of edits and how cost is weighed against document frequency,
//! all measured on lists of real misspellings. The vocabulary supplies the
//! candidates, and the search says how well known the typed word is.

/// The minimum number of letters of a word that is corrected: shorter words have
/// too many similar words to guess from.
pub const SHORTEST_CORRECTED: usize = 4;

/// The number of letters up to which a word may be one edit off; longer words may
/// be two edits off.
const MAX_LENGTH_FOR_ONE_EDIT: usize = 5;

/// The slope of the highest edit cost over the number of letters.
const COST_PER_LETTER: f64 = 0.4;
/// The offset subtracted from that line.
const COST_OFFSET: f64 = 0.65;

/// The weight of the edit cost against the logarithm of the document frequency:
/// an edit of cost 1 counts as much as being three thousand times rarer.
const COST_WEIGHT: f64 = 8.0;

/// The weight of a corrected term relative to a typed one: of two words that say as much,
/// the one as typed counts more. A lower weight makes a passage with the correction look
/// like weak evidence, where the model reads the misspelt query badly as well.
pub const CORRECTED_WEIGHT: f64 = 0.95;

/// The minimum number of letters of a word that is read as the beginning of another
/// because the index lacks it: fewer letters begin too many words to guess from, and
/// are more likely an abbreviation.
pub const SHORTEST_COMPLETED: usize = 3;

/// The weight of the completions of a word that is itself looked for. A completion
/// that is all of a title weighs less than the word once in a long text.
pub const COMPLETED_WEIGHT: f64 = 0.1;

/// The likelihood from which a word of the language is corrected although it may
/// be spelt right: a doubled letter and three documents, or swapped letters and
/// seven. Without a model nothing tells a common word from a rare one.
const LISTED_LIKELIHOOD: f64 = -3.75;
/// The same for a word that is known to be rare: also another letter and eight
/// documents.
const RARE_LIKELIHOOD: f64 = -6.0;

/// The difference of edit costs from which a word inside an address is preferred
/// to one that people read: a whole edit.
pub const MUCH_CLOSER: f64 = 1.0;

/// How well known a word is that the index lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// In no list of words: a misspelling or a name.
    Unlisted,
    /// A word of the language, common or rare.
    Listed,
    /// A word of the language that is not in the model's vocabulary.
    Rare,
    /// A whole token of the model's vocabulary.
    Common,
}

impl Standing {
    /// Returns the likelihood that a correction must reach to replace such a word;
    /// `None` if nothing may replace it.
    pub fn least_likelihood(self) -> Option<f64> {
        match self {
            Self::Unlisted => Some(f64::NEG_INFINITY),
            Self::Listed => Some(LISTED_LIKELIHOOD),
            Self::Rare => Some(RARE_LIKELIHOOD),
            Self::Common => None,
        }
    }
}

/// The cost of doubling a letter or of dropping one of a double. Other edits
/// cost 1.
const DOUBLED: f64 = 0.6;
/// The cost of swapping two neighbouring letters.
const SWAPPED: f64 = 0.7;
/// The extra cost of an edit of the first letter.
const FIRST: f64 = 0.5;
/// The extra cost of an edit of the last letter.
const LAST: f64 = 0.3;

/// Returns the highest number of edits between a misspelt word of this many
/// letters and its correction.
pub fn most_edits(letters: usize) -> u8 {
    if letters <= MAX_LENGTH_FOR_ONE_EDIT {
        1
    } else {
        2
    }
}

/// Returns the highest edit cost between a misspelt word and its correction, of
/// which the longer has this many letters, or the typed one if it may be right.
/// Beyond it, they are two different words: four letters with one replaced could be
/// any word of four letters.
pub fn most_cost(letters: usize) -> f64 {
    COST_PER_LETTER * letters as f64 - COST_OFFSET
}

/// Returns the log-likelihood, up to a constant, that a word is the intended one.
/// It has this document frequency and is this edit cost away. A low cost counts
/// most, then a high frequency.
pub fn likelihood(documents: u64, cost: f64) -> f64 {
    (documents as f64).ln() - COST_WEIGHT * cost
}

/// Returns the cost of the edits between two words: a weighted
/// Damerau–Levenshtein distance. Doubled and swapped letters are the most common
/// slips and cost less; the first and last letters are mistyped least and cost
/// more.
pub fn edit_cost(typed: &str, meant: &str) -> f64 {
    let typed: Vec<char> = typed.chars().collect();
    let meant: Vec<char> = meant.chars().collect();
    let (rows, columns) = (typed.len() + 1, meant.len() + 1);
    let doubled = |word: &[char], at: usize| at > 1 && word[at - 1] == word[at - 2];
    let mut cost = vec![0.0_f64; rows * columns];
    for cell in 1..rows * columns {
        let (row, column) = (cell / columns, cell % columns);
        let mut place = 0.0;
        if row <= 1 && column <= 1 {
            place += FIRST;
        }
        if row + 1 == rows && column + 1 == columns {
            place += LAST;
        }
        let edit = |doubled: bool| place + if doubled { DOUBLED } else { 1.0 };
        let mut least = f64::MAX;
        if row > 0 {
            least = least.min(cost[cell - columns] + edit(doubled(&typed, row)));
        }
        if column > 0 {
            least = least.min(cost[cell - 1] + edit(doubled(&meant, column)));
        }
        if row > 0 && column > 0 {
            let same = typed[row - 1] == meant[column - 1];
            let change = if same { 0.0 } else { edit(false) };
            least = least.min(cost[cell - columns - 1] + change);
        }
        if row > 1
            && column > 1
            && typed[row - 1] == meant[column - 2]
            && typed[row - 2] == meant[column - 1]
        {
            least = least.min(cost[cell - 2 * columns - 2] + SWAPPED);
        }
        cost[cell] = least;
    }
    cost[rows * columns - 1]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rare_slips_cost_more() {
        for (typed, meant, expected) in [
            ("review", "review", 0.0),
            ("reveiw", "review", SWAPPED),
            ("reviiew", "review", DOUBLED),
            ("comitee", "committee", 2.0 * DOUBLED),
            ("revaew", "review", 1.0),
            ("teview", "review", 1.0 + FIRST),
            ("reviex", "review", 1.0 + LAST),
        ] {
            let cost = edit_cost(typed, meant);
            assert!((cost - expected).abs() < 1e-9, "{typed}: {cost}");
        }
    }

    #[test]
    fn a_cheaper_edit_is_likelier_than_a_higher_frequency() {
        assert!(likelihood(1, 0.7) > likelihood(2_000, 1.7));
        assert!(likelihood(1, 0.7) < likelihood(4_000, 1.7));
        assert!(likelihood(2, 1.0) > likelihood(1, 1.0));
    }

    #[test]
    fn the_better_known_a_word_is_the_more_its_correction_must_be_likely() {
        let corrected = |standing: Standing, documents, cost| {
            let least = standing.least_likelihood();
            least.is_some_and(|least| likelihood(documents, cost) >= least)
        };
        assert!(corrected(Standing::Unlisted, 1, 2.5));
        // "stoping" and "stopping", "entires" and "entries".
        assert!(corrected(Standing::Listed, 3, DOUBLED) && corrected(Standing::Listed, 7, SWAPPED));
        // "collet" and "collect", "ankle" and "angle".
        assert!(corrected(Standing::Rare, 8, 1.0) && !corrected(Standing::Listed, 50, 1.0));
        assert!(!corrected(Standing::Common, 1_000_000, DOUBLED));
    }

    #[test]
    fn four_letters_with_one_replaced_are_another_word() {
        assert!(edit_cost("nite", "note") > most_cost(4));
        assert!(edit_cost("ntoe", "note") <= most_cost(4));
        assert!(edit_cost("emty", "empty") <= most_cost(5));
        assert_eq!([4, 5, 6].map(most_edits), [1, 1, 2]);
    }

    proptest! {
        #[test]
        fn the_cost_is_a_distance(one in "[abc]{0,8}", other in "[abc]{0,8}") {
            let cost = edit_cost(&one, &other);
            prop_assert_eq!(cost == 0.0, one == other);
            prop_assert!((cost - edit_cost(&other, &one)).abs() < 1e-9);
            let lengths = one.len().abs_diff(other.len()) as f64;
            prop_assert!(cost >= DOUBLED * lengths - 1e-9, "{}", cost);
        }
    }
}
