//! Statements that say the same.
//!
//! Two statements say the same if their words are equal, if they differ in little
//! more than spelling, or if their vectors are very close. A statement with other
//! numbers, or with a negation that the other lacks, never says the same. Each is
//! compared with the first of a group and not with all, so that a group does not
//! drift.

use std::collections::{HashMap, HashSet};

use rapidfuzz::distance::indel;

use crate::text::{is_stop_word, words};
use crate::vector::dot;

/// The share of equal characters from which on two statements are alike.
const ALIKE: f64 = 0.86;
/// The share of informative words that two statements must have in common to be
/// compared by their characters.
const SHARED: f64 = 0.5;
/// The part of the range between unrelated and equal within which two vectors say
/// the same: .85 for a model whose unrelated texts have .15.
const CLOSE: f32 = 0.18;
/// The number of statements up to which all pairs of vectors are compared.
const MOST_COMPARED: usize = 4_000;

/// Words that turn a statement into its opposite.
const NEGATIONS: [&str; 14] = [
    "not", "no", "never", "don", "dont", "doesn", "cannot", "can't", "without", "avoid", "nicht",
    "kein", "keine", "nie",
];

/// The vectors of statements, and the cosine below which texts are unrelated.
pub(crate) struct Vectors {
    pub(crate) vectors: Vec<Option<Vec<f32>>>,
    pub(crate) minimum: f32,
}

/// A statement as it is compared.
struct Statement {
    normalised: String,
    informative: HashSet<String>,
    decisive: Vec<String>,
}

impl Statement {
    fn of(text: &str) -> Self {
        let mut list = Vec::new();
        let mut informative = HashSet::new();
        let mut decisive = Vec::new();
        for word in words(text) {
            let word = text[word.range].to_lowercase();
            let is_number = word.chars().any(|c| c.is_ascii_digit());
            if is_number || NEGATIONS.contains(&word.as_str()) {
                decisive.push(word.clone());
            }
            if !is_stop_word(&word) {
                informative.insert(word.clone());
            }
            list.push(word);
        }
        decisive.sort_unstable();
        decisive.dedup();
        Self {
            normalised: list.join(" "),
            informative,
            decisive,
        }
    }

    /// Tells whether two statements are alike by their characters.
    fn is_like(&self, other: &Self) -> bool {
        let (short, long) = if self.informative.len() < other.informative.len() {
            (self, other)
        } else {
            (other, self)
        };
        let shared = short.informative.intersection(&long.informative).count();
        if (shared as f64) < SHARED * long.informative.len() as f64 {
            return false;
        }
        let (one, other) = (self.normalised.chars(), other.normalised.chars());
        indel::normalized_similarity(one, other) >= ALIKE
    }
}

/// Groups statements that say the same. Returns the indexes of each group in order,
/// the groups in the order of their first statements.
pub(crate) fn groups(texts: &[&str], vectors: Option<&Vectors>) -> Vec<Vec<usize>> {
    let statements: Vec<Statement> = texts.iter().map(|text| Statement::of(text)).collect();
    let vectors = vectors.filter(|_| texts.len() <= MOST_COMPARED);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut exact: HashMap<&str, usize> = HashMap::new();
    // The groups whose first statement has a word.
    let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, statement) in statements.iter().enumerate() {
        let known = exact.get(statement.normalised.as_str()).copied();
        let found = known.or_else(|| {
            let mut candidates: Vec<usize> = statement
                .informative
                .iter()
                .filter_map(|word| with_word.get(word.as_str()))
                .flatten()
                .copied()
                .collect();
            candidates.sort_unstable();
            candidates.dedup();
            let is_same = |&group: &usize| {
                let first = &statements[groups[group][0]];
                first.decisive == statement.decisive && first.is_like(statement)
            };
            candidates.into_iter().find(is_same)
        });
        let found = found.or_else(|| nearest(index, &groups, &statements, vectors?));
        if let Some(group) = found {
            groups[group].push(index);
            exact.entry(&statement.normalised).or_insert(group);
            continue;
        }
        exact.insert(&statement.normalised, groups.len());
        for word in &statement.informative {
            with_word.entry(word).or_default().push(groups.len());
        }
        groups.push(vec![index]);
    }
    groups
}

/// Returns the group whose first statement has the nearest vector, if it is close.
fn nearest(
    index: usize,
    groups: &[Vec<usize>],
    statements: &[Statement],
    vectors: &Vectors,
) -> Option<usize> {
    let vector = vectors.vectors.get(index)?.as_ref()?;
    let least = 1.0 - (1.0 - vectors.minimum) * CLOSE;
    let close = groups.iter().enumerate().filter_map(|(group, members)| {
        let first = members[0];
        let similarity = dot(vector, vectors.vectors.get(first)?.as_ref()?);
        let same = similarity >= least && statements[first].decisive == statements[index].decisive;
        same.then_some((group, similarity))
    });
    close
        .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
        .map(|(group, _)| group)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn wordings_of_one_lesson_are_one_group() {
        let texts = [
            "Redis MULTI/EXEC is essential for atomic increment + expire operations",
            "Load testing should simulate burst patterns",
            "redis multi/exec is essential for atomic increment and expire operations.",
            "Redis MULTI/EXEC is not essential for atomic increment + expire operations",
            "Load tests should simulate burst patterns",
            "Set a limit of 100 requests per minute",
            "Set a limit of 200 requests per minute",
        ];
        let expected = [vec![0, 2], vec![1, 4], vec![3], vec![5], vec![6]];
        assert_eq!(groups(&texts, None), expected);
    }

    #[test]
    fn vectors_group_what_words_do_not() {
        let texts = [
            "Cache invalidation needs an owner",
            "Somebody has to be responsible for expiring entries",
            "Nobody should be responsible, not even for expiring entries",
            "Write tests first",
        ];
        let near = vec![0.99, 0.141_067_36];
        let vectors = Vectors {
            vectors: vec![
                Some(vec![1.0, 0.0]),
                Some(near.clone()),
                Some(near),
                Some(vec![0.0, 1.0]),
            ],
            minimum: 0.15,
        };
        let expected = [vec![0, 1], vec![2], vec![3]];
        assert_eq!(groups(&texts, Some(&vectors)), expected);
        assert_eq!(groups(&texts, None).len(), 4);
    }

    proptest! {
        #[test]
        fn every_statement_is_in_one_group(texts in proptest::collection::vec("[a-c ]{0,12}", 0..20)) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let mut all: Vec<usize> = groups(&texts, None).concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..texts.len()).collect::<Vec<_>>());
        }
    }
}
