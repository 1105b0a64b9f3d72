//! How likely a word is what was meant by another: a noisy channel over a
//! weighted Damerau–Levenshtein distance.
//!
//! Owns what edits cost and how cost and document frequency are weighed, all of
//! it measured on lists of real misspellings. Which words come into question is
//! the vocabulary's to say, and when to correct at all the search's.

/// The least letters a word has that is corrected: shorter ones have too many
/// neighbours to guess from.
pub(crate) const SHORTEST_CORRECTED: usize = 4;

/// Words up to this many letters may be one edit off, longer ones two.
const LONGEST_ONE_EDIT: usize = 5;

/// How much of a word edits may make up, per letter, and what is taken off.
const COST_PER_LETTER: f64 = 0.4;
const COST_OFFSET: f64 = 0.65;

/// What an edit of cost one weighs against the logarithm of the document
/// frequency: as much as being three thousand times rarer.
const COST_WEIGHT: f64 = 8.0;

/// What doubling a letter costs, or leaving one of a double out. Other edits
/// cost 1.
const DOUBLED: f64 = 0.6;
/// What swapping two neighbours costs.
const SWAPPED: f64 = 0.7;
/// What an edit of the first letter costs more.
const FIRST: f64 = 0.5;
/// What an edit of the last letter costs more.
const LAST: f64 = 0.3;

/// Returns how many edits a word of so many letters may be off.
pub(crate) fn most_edits(letters: usize) -> u8 {
    if letters <= LONGEST_ONE_EDIT { 1 } else { 2 }
}

/// Returns what the edits of a word of so many letters may cost. More leaves
/// another word, not a misspelt one: four letters with one replaced are as good
/// as any four.
pub(crate) fn most_cost(letters: usize) -> f64 {
    COST_PER_LETTER * letters as f64 - COST_OFFSET
}

/// Returns how likely a word is meant that so many documents have and that is
/// this edit cost away: above all near, then common.
pub(crate) fn likelihood(documents: u64, cost: f64) -> f64 {
    (documents as f64).ln() - COST_WEIGHT * cost
}

/// Returns what the edits between two words cost, in letters: the edit distance
/// with transpositions, where doubling a letter or swapping two is what hands do
/// most, and first and last letters are what they get wrong least.
pub(crate) fn edit_cost(typed: &str, meant: &str) -> f64 {
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
    fn edits_cost_what_hands_seldom_do() {
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
    fn a_nearer_word_is_likelier_than_a_common_one() {
        assert!(likelihood(1, 0.7) > likelihood(2_000, 1.7));
        assert!(likelihood(1, 0.7) < likelihood(4_000, 1.7));
        assert!(likelihood(2, 1.0) > likelihood(1, 1.0));
    }

    #[test]
    fn four_letters_with_one_replaced_are_another_word() {
        assert!(edit_cost("nite", "note") > most_cost(4));
        assert!(edit_cost("ntoe", "note") <= most_cost(4));
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
