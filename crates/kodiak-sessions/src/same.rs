//! Statements that say the same.
//!
//! Two statements say the same if their words are equal, if they differ in little
//! more than spelling, or if their vectors are very close. A statement with other
//! numbers, or with a negation that the other lacks, never says the same, nor does one
//! in which a word is replaced by another. Each is compared with the first of a group
//! and not with all, so that a group does not drift. The thresholds are set by pairs of
//! statements that were judged (`judged/lessons.tsv`), and a test holds them to that.

use std::collections::HashMap;

use rapidfuzz::distance::indel;

use super::wording::Wording;
use kodiak::engine::Vectors;
use kodiak_rank::vector::dot;
use kodiak_text::same::Decisive;
use kodiak_text::text::words;

/// The lowest share of equal characters of two statements that are alike.
const ALIKE: f64 = 0.75;
/// The share of informative words that two statements must have in common to be
/// compared by their characters.
const SHARED: f64 = 0.5;
/// The part of the range between unrelated and equal within which two vectors say
/// the same: a cosine of .87 for a model whose unrelated texts have .15.
const CLOSE: f32 = 0.15;
/// The number of statements up to which all pairs of vectors are compared.
const MAX_COMPARED: usize = 4_000;

/// A statement as it is compared.
struct Compared {
    normalised: String,
    wording: Wording,
    decisive: Decisive,
}

impl Compared {
    fn of(text: &str) -> Self {
        let mut list = Vec::new();
        let mut wording = Wording::default();
        for word in words(text) {
            let word = text[word.range].to_lowercase();
            wording.add(word.clone());
            list.push(word);
        }
        Self {
            normalised: list.join(" "),
            wording,
            decisive: Decisive::of(text),
        }
    }

    /// Returns the share of equal characters, unless single words rule out that two
    /// statements say the same.
    fn likeness(&self, other: &Self) -> Option<f64> {
        let comparable = self.decisive.agrees_with(&other.decisive)
            && self.shares_most_with(other)
            && !self.replaces_in(other);
        let (one, other) = (self.normalised.chars(), other.normalised.chars());
        comparable.then(|| indel::normalized_similarity(one, other))
    }

    /// Reports whether two statements have most of their words in common.
    fn shares_most_with(&self, other: &Self) -> bool {
        let longest = self.wording.len().max(other.wording.len());
        let shared = self.wording.common_stems(&other.wording);
        shared as f64 >= SHARED * longest as f64
    }

    /// Reports whether a word was replaced by another: both have one that the other lacks.
    /// A word that only one of them has is an addition.
    fn replaces_in(&self, other: &Self) -> bool {
        let shared = self.wording.shared_with(&other.wording);
        shared < self.wording.len() && shared < other.wording.len()
    }
}

/// Groups statements that say the same. Returns the indexes of each group in order,
/// the groups in the order of their first statements.
pub(super) fn groups(texts: &[&str], vectors: Option<&Vectors>) -> Vec<Vec<usize>> {
    let statements: Vec<Compared> = texts.iter().map(|text| Compared::of(text)).collect();
    let vectors = vectors.filter(|_| texts.len() <= MAX_COMPARED);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut exact: HashMap<&str, usize> = HashMap::new();
    // The groups whose first statement has a word with this stem.
    let mut with_word: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, statement) in statements.iter().enumerate() {
        let known = exact.get(statement.normalised.as_str()).copied();
        let found = known.or_else(|| {
            let mut candidates: Vec<usize> = statement
                .wording
                .stems()
                .filter_map(|stem| with_word.get(stem))
                .flatten()
                .copied()
                .collect();
            candidates.sort_unstable();
            candidates.dedup();
            let is_same = |&group: &usize| {
                let first = &statements[groups[group][0]];
                first
                    .likeness(statement)
                    .is_some_and(|alike| alike >= ALIKE)
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
        for stem in statement.wording.stems() {
            with_word.entry(stem).or_default().push(groups.len());
        }
        groups.push(vec![index]);
    }
    groups
}

/// Returns the group whose first statement has the nearest vector, if it is close.
fn nearest(
    index: usize,
    groups: &[Vec<usize>],
    statements: &[Compared],
    vectors: &Vectors,
) -> Option<usize> {
    let vector = vectors.vectors.get(index)?.as_ref()?;
    let least = 1.0 - (1.0 - vectors.minimum) * CLOSE;
    let close = groups.iter().enumerate().filter_map(|(group, members)| {
        let first = members[0];
        let similarity = dot(vector, vectors.vectors.get(first)?.as_ref()?);
        let (one, other) = (&statements[first], &statements[index]);
        // To a model, opposites are close. What shares most words is told apart by the
        // others.
        let same = similarity >= least
            && one.decisive.agrees_with(&other.decisive)
            && !(one.shares_most_with(other) && one.replaces_in(other));
        same.then_some((group, similarity))
    });
    close
        .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)))
        .map(|(group, _)| group)
}

#[cfg(test)]
#[path = "same_tests.rs"]
mod tests;
