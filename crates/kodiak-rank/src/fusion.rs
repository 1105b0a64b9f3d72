//! Fusion: one score from lexical and semantic evidence.
//!
//! Reciprocal rank fusion uses ranks only. The convex combination also uses the
//! distances between candidates: it normalises the BM25 scores and the exact
//! cosines of all candidates to z-scores, weights them and adds them up.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::tuning::Tuning;
use kodiak_base::error::UnknownName;

/// How lexical and semantic evidence are combined into one score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// A convex combination: z-scores, weighted and added up.
    #[default]
    Convex,
    /// Reciprocal rank fusion: the weighted sum of reciprocal ranks.
    Rrf,
}

impl Fusion {
    /// All ways of fusion.
    pub const ALL: [Self; 2] = [Self::Convex, Self::Rrf];

    /// Returns its name, as in settings, answers and evaluations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Convex => "convex",
            Self::Rrf => "rrf",
        }
    }
}

impl fmt::Display for Fusion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Fusion {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        let mut all = Self::ALL.into_iter();
        all.find(|fusion| fusion.name() == name)
            .ok_or_else(|| UnknownName::new("fusion", name, &Self::ALL.map(Self::name)))
    }
}

/// The weight of each kind of evidence in a fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The weight of the BM25 score or rank.
    pub lexical: f64,
    /// The weight of the cosines or of the rank by them.
    pub semantic: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            lexical: 0.5,
            semantic: 0.5,
        }
    }
}

/// The scores and ranks of a candidate that fusion combines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Its BM25 score; zero if no word matched.
    pub lexical_score: f64,
    /// The share of the query that its best passage has, from 0 to 1.
    pub coverage: f64,
    /// The cosine between the query and its nearest chunk; `None` if it has no
    /// vector yet.
    pub similarity: Option<f64>,
    /// The cosine between the query and the centroid of its chunks.
    pub centroid_similarity: Option<f64>,
    /// Its rank by BM25, from one.
    pub lexical_rank: Option<usize>,
    /// Its rank by similarity, from one.
    pub semantic_rank: Option<usize>,
}

/// Returns the fused score of each candidate. Only the order of the scores and
/// the distances between them have a meaning.
pub fn fuse(
    candidates: &[Evidence],
    fusion: Fusion,
    weights: Weights,
    tuning: &Tuning,
) -> Vec<f64> {
    match fusion {
        Fusion::Rrf => {
            let by_rank = |candidate| reciprocal_rank(candidate, weights, tuning.rrf_k);
            candidates.iter().map(by_rank).collect()
        }
        Fusion::Convex => convex(candidates, weights, tuning.centroid_weight),
    }
}

/// Returns the reciprocal rank fusion of a candidate: the weighted sum of
/// `1 / (constant + rank)`. A ranking without the candidate adds nothing.
fn reciprocal_rank(candidate: &Evidence, weights: Weights, constant: f64) -> f64 {
    let share = |rank: Option<usize>| rank.map_or(0.0, |rank| 1.0 / (constant + rank as f64));
    weights.lexical * share(candidate.lexical_rank)
        + weights.semantic * share(candidate.semantic_rank)
}

/// Returns the convex combination of each candidate: the weighted sum of the
/// z-scores of its BM25 score and its similarity. `whole` is the share of the
/// centroid in the similarity; the rest is the similarity of the nearest chunk.
fn convex(candidates: &[Evidence], weights: Weights, whole: f64) -> Vec<f64> {
    // A candidate without a vector counts as the least similar.
    let known = |of: fn(&Evidence) -> Option<f64>| {
        let least = candidates
            .iter()
            .filter_map(of)
            .fold(f64::INFINITY, f64::min);
        let least = if least.is_finite() { least } else { 0.0 };
        z_scores(candidates.iter().map(move |one| of(one).unwrap_or(least)))
    };
    let lexical = z_scores(candidates.iter().map(|one| one.lexical_score));
    let nearest = known(|one| one.similarity);
    let centroid_similarity = known(|one| one.centroid_similarity);
    let mix = |at: usize| {
        let semantic = (1.0 - whole) * nearest[at] + whole * centroid_similarity[at];
        weights.lexical * lexical[at] + weights.semantic * semantic
    };
    (0..candidates.len()).map(mix).collect()
}

/// Returns the z-score of each number: its distance from the mean in standard
/// deviations. If all numbers are equal, all z-scores are zero.
pub(super) fn z_scores(numbers: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let count = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let variance = numbers.clone().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
    let deviation = variance.sqrt();
    let scale = |one: f64| {
        if deviation > 1e-12 {
            (one - mean) / deviation
        } else {
            0.0
        }
    };
    numbers.map(scale).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fusion_is_read_as_it_is_written() {
        for fusion in Fusion::ALL {
            assert_eq!(fusion.to_string().parse(), Ok(fusion));
            let json = serde_json::to_string(&fusion).unwrap();
            assert_eq!(json, format!("\"{fusion}\""));
        }
        let unknown = "sum".parse::<Fusion>().unwrap_err().to_string();
        assert_eq!(
            unknown,
            "there is no fusion 'sum'; choose one of convex, rrf"
        );
    }

    fn evidence(lexical: Option<(usize, f64)>, semantic: Option<(usize, f64)>) -> Evidence {
        Evidence {
            lexical_score: lexical.map_or(0.0, |(_, score)| score),
            coverage: 1.0,
            similarity: semantic.map(|(_, similarity)| similarity),
            centroid_similarity: semantic.map(|(_, similarity)| similarity),
            lexical_rank: lexical.map(|(rank, _)| rank),
            semantic_rank: semantic.map(|(rank, _)| rank),
        }
    }

    fn alone(candidates: &[Evidence], fusion: Fusion, weights: Weights) -> Vec<f64> {
        fuse(candidates, fusion, weights, &Tuning::default())
    }

    #[test]
    fn reciprocal_ranks_add_up_as_published() {
        let both = evidence(Some((1, 9.0)), Some((2, 0.5)));
        let one = evidence(Some((2, 8.0)), None);
        let weights = Weights {
            lexical: 1.0,
            semantic: 1.0,
        };
        let fused = alone(&[both, one], Fusion::Rrf, weights);
        assert!((fused[0] - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
        assert!((fused[1] - 1.0 / 62.0).abs() < 1e-12);
    }

    #[test]
    fn a_clear_lead_outweighs_a_better_rank() {
        // Lexically first by far, semantically third by a hair.
        let candidates = [
            evidence(Some((1, 30.0)), Some((3, 0.49))),
            evidence(Some((2, 10.0)), Some((1, 0.50))),
            evidence(Some((3, 9.0)), Some((2, 0.495))),
            evidence(None, Some((4, 0.1))),
        ];
        let fused = alone(&candidates, Fusion::Convex, Weights::default());
        assert!(fused[0] > fused[1] && fused[1] > fused[3]);
    }

    #[test]
    fn a_candidate_without_a_vector_counts_as_the_least_similar() {
        let candidates = [
            evidence(Some((1, 5.0)), None),
            evidence(Some((2, 5.0)), Some((2, 0.2))),
            evidence(None, Some((1, 0.9))),
        ];
        let fused = alone(&candidates, Fusion::Convex, Weights::default());
        assert!((fused[0] - fused[1]).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn better_by_both_is_never_worse(
            scores in prop::collection::vec((0.0_f64..40.0, -0.2_f64..1.0), 2..40),
            rrf: bool,
        ) {
            let rank = |of: fn(&(f64, f64)) -> f64, at: usize| {
                1 + scores.iter().filter(|one| of(one) > of(&scores[at])).count()
            };
            let candidates: Vec<Evidence> = (0..scores.len()).map(|at| evidence(
                Some((rank(|one| one.0, at), scores[at].0)),
                Some((rank(|one| one.1, at), scores[at].1)),
            )).collect();
            let fusion = if rrf { Fusion::Rrf } else { Fusion::Convex };
            let fused = alone(&candidates, fusion, Weights::default());
            for one in 0..scores.len() {
                prop_assert!(fused[one].is_finite());
                for other in 0..scores.len() {
                    if scores[one].0 >= scores[other].0 && scores[one].1 >= scores[other].1 {
                        prop_assert!(fused[one] >= fused[other] - 1e-9);
                    }
                }
            }
        }
    }
}
