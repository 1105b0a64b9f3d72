//! Rescoring over the nearest-neighbour graph of the candidates: hubness penalty
//! and smoothing.
//!
//! A candidate that is similar to all others is probably about nothing in
//! particular: such a hub loses score. A candidate that is similar to *good*
//! candidates is probably good: scores are smoothed over neighbours.

use super::fusion::z_scores;

/// The number of best candidates that are compared with each other: the cost
/// grows with the square.
const MAX_COMPARED: usize = 512;

/// The k-nearest-neighbour graph of the candidates.
#[derive(Debug)]
pub struct Neighbourhood {
    /// The nearest neighbours of each candidate with their cosines; empty for a
    /// candidate without a vector.
    neighbours: Vec<Vec<(usize, f64)>>,
}

impl Neighbourhood {
    /// Joins each candidate with its nearest neighbours. `vectors` holds the vector
    /// of each candidate's chunk nearest to the query. `nearest` returns the
    /// neighbours of each of several vectors, with their cosines. Only the
    /// `MAX_COMPARED` candidates with the best scores are compared.
    pub fn of(
        scores: &[f64],
        vectors: &[Option<&[f32]>],
        nearest: impl FnOnce(&[&[f32]]) -> Vec<Vec<(usize, f64)>>,
    ) -> Self {
        let mut compared: Vec<(usize, &[f32])> = vectors
            .iter()
            .enumerate()
            .filter_map(|(at, vector)| Some((at, (*vector)?)))
            .collect();
        if compared.len() > MAX_COMPARED {
            compared.sort_by(|one, other| scores[other.0].total_cmp(&scores[one.0]));
            compared.truncate(MAX_COMPARED);
            compared.sort_unstable_by_key(|&(at, _)| at);
        }
        let vectors: Vec<&[f32]> = compared.iter().map(|&(_, vector)| vector).collect();
        let mut neighbours = vec![Vec::new(); scores.len()];
        for (&(at, _), nearest) in compared.iter().zip(nearest(&vectors)) {
            let nearest = nearest.into_iter();
            neighbours[at] = nearest
                .map(|(other, cosine)| (compared[other].0, cosine))
                .collect();
        }
        Self { neighbours }
    }

    /// Returns the hubness of each candidate: the mean cosine between it and its
    /// neighbours. `None` for a candidate without neighbours.
    fn hubness(&self) -> Vec<Option<f64>> {
        let mean = |neighbours: &Vec<(usize, f64)>| {
            let sum: f64 = neighbours.iter().map(|&(_, cosine)| cosine).sum();
            (!neighbours.is_empty()).then(|| sum / neighbours.len() as f64)
        };
        self.neighbours.iter().map(mean).collect()
    }

    /// Penalises hubs: subtracts `weight` times the z-score of its hubness from
    /// each score. Candidates below the average gain.
    pub fn penalise_hubs(&self, scores: &mut [f64], weight: f64) {
        let hubness = self.hubness();
        let known: Vec<f64> = hubness.iter().copied().flatten().collect();
        let average = known.iter().sum::<f64>() / known.len().max(1) as f64;
        // A candidate without neighbours counts as average.
        let hubness = z_scores(hubness.iter().map(|one| one.unwrap_or(average)));
        for (score, hubness) in scores.iter_mut().zip(hubness) {
            *score -= weight * hubness;
        }
    }

    /// Smooths scores over neighbours: replaces `share` of each score by the mean
    /// of its neighbours' scores, weighted by cosine. Candidates for which `skip`
    /// returns true keep their scores.
    pub fn smooth(&self, scores: &mut [f64], share: f64, skip: impl Fn(usize) -> bool) {
        let before = scores.to_vec();
        for (at, neighbours) in self.neighbours.iter().enumerate() {
            let weight: f64 = neighbours.iter().map(|&(_, cosine)| cosine).sum();
            if skip(at) || weight <= 0.0 {
                continue;
            }
            let sum = neighbours
                .iter()
                .map(|&(other, cosine)| cosine * before[other]);
            scores[at] = (1.0 - share) * before[at] + share * sum.sum::<f64>() / weight;
        }
    }
}

#[cfg(test)]
#[path = "neighbourhood_tests.rs"]
mod tests;
