//! Decides whether two texts that read alike say the same.
//!
//! Every comparison of statements asks here: a search that collapses copies, a memory
//! that is known already, lessons that several sessions teach. Each decides
//! itself how alike two texts must be, by their words or their letters. A number, an
//! ordinal or a negation that only one of them has makes another statement of either.

use super::text::{fold_into, words};

/// Words that turn a sentence into its opposite, or into a matter of time. The `t` is the
/// one in "don't".
const NEGATIONS: [&str; 20] = [
    "avoid", "cannot", "dont", "geen", "jamais", "kein", "keine", "mai", "never", "nicht", "nie",
    "niet", "no", "non", "nor", "not", "nunca", "pas", "stopped", "t",
];
/// Words that state an absence. They negate the words that follow, not the sentence: one
/// who can eat nuts without getting ill can eat nuts.
const LACKING: [&str; 5] = ["ohne", "sans", "sin", "without", "zonder"];

/// Common words that make another fact of a text, like another number.
const DECISIVE: [&str; 53] = [
    "above",
    "after",
    "all",
    "always",
    "any",
    "before",
    "behind",
    "below",
    "beside",
    "best",
    "both",
    "down",
    "eight",
    "either",
    "fifth",
    "first",
    "five",
    "former",
    "four",
    "fourth",
    "half",
    "high",
    "highest",
    "inside",
    "instead",
    "last",
    "latter",
    "least",
    "less",
    "low",
    "more",
    "most",
    "new",
    "next",
    "nine",
    "none",
    "off",
    "old",
    "one",
    "only",
    "outside",
    "previous",
    "second",
    "seven",
    "six",
    "sometimes",
    "ten",
    "third",
    "three",
    "two",
    "up",
    "usually",
    "worst",
];

/// The words of a text that decide its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decisive {
    /// Words with digits and words like numbers, sorted.
    numbers: Vec<String>,
    /// The number of negations, whichever they are: of sentences, and of absences.
    negations: [usize; 2],
    /// Words with digits and negations, as written and in order.
    in_order: Vec<String>,
}

impl Decisive {
    /// Returns the decisive words of a text.
    pub fn of(text: &str) -> Self {
        let mut decisive = Self::default();
        let mut folded = String::new();
        for word in words(text) {
            folded.clear();
            fold_into(&text[word.range], &mut folded);
            decisive.add(&folded);
        }
        decisive.numbers.sort_unstable();
        decisive
    }

    fn add(&mut self, folded: &str) {
        let kinds = [&NEGATIONS[..], &LACKING[..]];
        if let Some(kind) = kinds.iter().position(|kind| kind.contains(&folded)) {
            self.negations[kind] += 1;
            self.in_order.push(folded.to_owned());
        } else if folded.contains(char::is_numeric) {
            self.numbers.push(folded.to_owned());
            self.in_order.push(folded.to_owned());
        } else if DECISIVE.contains(&folded) {
            self.numbers.push(folded.to_owned());
        }
    }

    /// Reports whether two texts have as many negations.
    pub fn negates_like(&self, other: &Self) -> bool {
        self.negations == other.negations
    }

    /// Reports whether two texts have the same numbers and as many negations, in any
    /// order.
    pub fn agrees_with(&self, other: &Self) -> bool {
        self.negates_like(other) && self.numbers == other.numbers
    }

    /// Reports whether two texts have the same numbers and the same negations, in the
    /// same order: "3 of 5" is not "5 of 3".
    pub fn agrees_in_order_with(&self, other: &Self) -> bool {
        self.in_order == other.in_order
    }
}

/// The terms that two sorted lists have in common, and the terms that only one of them has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison<T> {
    /// The number of terms that both have.
    pub common: usize,
    /// The terms that only the first has.
    pub own: Vec<T>,
    /// The terms that only the second has.
    pub others: Vec<T>,
}

impl<T: Clone + Ord> Comparison<T> {
    /// Compares two sorted lists.
    pub fn of(one: &[T], other: &[T]) -> Self {
        let (mut common, mut own, mut others) = (0, Vec::new(), Vec::new());
        let mut right = other.iter().peekable();
        for term in one {
            while let Some(less) = right.next_if(|next| *next < term) {
                others.push(less.clone());
            }
            match right.next_if_eq(&term) {
                Some(_) => common += 1,
                None => own.push(term.clone()),
            }
        }
        others.extend(right.cloned());
        Self {
            common,
            own,
            others,
        }
    }

    /// Returns the number of terms that only one of the lists has.
    pub fn changed(&self) -> usize {
        self.own.len() + self.others.len()
    }

    /// Returns the number of all terms, each pair of equal ones counted once.
    pub fn all(&self) -> usize {
        self.common + self.changed()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_negations_decide() {
        for (agree, one, other) in [
            (true, "The limit is 100", "limit: 100!"),
            (false, "The limit is 100", "The limit is 200"),
            (false, "The first server", "The second server"),
            (false, "Retries are safe", "Retries are not safe"),
            (true, "Do not retry", "Never retry"),
            (true, "Don't retry", "Do not retry"),
            (true, "We can't and won't", "We cannot, and we dont"),
            (false, "Mit Zucker", "Ohne Zucker"),
            (false, "He can eat nuts without harm", "He cannot eat nuts"),
            (true, "3 of 5", "5 of 3"),
        ] {
            let (one_is, other_is) = (Decisive::of(one), Decisive::of(other));
            assert_eq!(one_is.agrees_with(&other_is), agree, "{one} {other}");
            assert_eq!(other_is.agrees_with(&one_is), agree, "{other} {one}");
        }
        for (agree, one, other) in [
            (false, "3 of 5", "5 of 3"),
            (false, "Do not retry", "Never retry"),
            (true, "Do NOT retry 3 times", "do not retry, 3 times"),
        ] {
            let (one_is, other_is) = (Decisive::of(one), Decisive::of(other));
            assert_eq!(
                one_is.agrees_in_order_with(&other_is),
                agree,
                "{one} {other}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_term_is_common_or_not(mut one: Vec<i8>, mut other: Vec<i8>) {
            one.sort_unstable();
            other.sort_unstable();
            let compared = Comparison::of(&one, &other);
            prop_assert_eq!(compared.common + compared.own.len(), one.len());
            prop_assert_eq!(compared.common + compared.others.len(), other.len());
            for term in &compared.own {
                let count = |list: &[i8]| list.iter().filter(|it| *it == term).count();
                prop_assert!(count(&one) > count(&other));
            }
        }
    }
}
