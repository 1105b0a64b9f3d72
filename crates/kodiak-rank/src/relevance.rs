//! Relevance: how likely it is that a hit answers its query.
//!
//! A document answers by its words or by its meaning. The two are alternatives, so their
//! probabilities are combined as alternatives: it answers unless neither does. Words answer
//! as far as they are more than chance (`evidence`). Meaning answers as far as a similarity
//! exceeds the best one among as many unrelated documents, which rises with the logarithm
//! of their number. The numbers are properties of the embedding model; `kodiak eval
//! --queries` and `--relevance` check them.

/// The evidence that a hit answers its query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HitEvidence {
    /// The probability that its words occur together by intent.
    pub words: f64,
    /// The cosine between the query and the hit; absent without vectors.
    pub similarity: Option<f64>,
}

/// How the similarities of an embedding model are distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SemanticRelevance {
    /// The name of the model.
    pub name: &'static str,
    /// The similarity that is as likely right as wrong where one document was
    /// searched.
    pub background: f64,
    /// The increase of that similarity with the logarithm of the number of documents.
    pub spread: f64,
    /// How steeply the probability rises around that similarity.
    pub slope: f64,
}

impl SemanticRelevance {
    /// Returns the similarity that is as likely right as wrong if this many documents
    /// were searched. Below five documents it falls twice as fast, to where it is for one
    /// document: a few notes are mostly short ones, which are less similar to anything.
    pub fn even_odds(&self, documents: u64) -> f64 {
        let logarithm = |number: u64| (number.max(1) as f64).ln();
        let few = (logarithm(MIN_DOCUMENTS) - logarithm(documents)).max(0.0);
        self.background + self.spread * (logarithm(documents) - few).max(0.0)
    }

    /// Returns the lowest similarity that is shown among this many documents by a model
    /// with this minimum similarity. Among a few documents, the nearest is shown even if
    /// the minimum for many would hide it.
    pub fn minimum_among(&self, documents: u64, minimum: f32) -> f32 {
        minimum.min((self.even_odds(documents) - BELOW_EVEN_ODDS) as f32)
    }

    /// Returns the probability that a hit with this similarity, among the best of
    /// this many documents, answers by its meaning.
    pub fn probability(&self, similarity: f64, documents: u64) -> f64 {
        1.0 / (1.0 + (-self.slope * (similarity - self.even_odds(documents))).exp())
    }
}

impl HitEvidence {
    /// Returns the probability that the hit answers its query, by its words or by its
    /// meaning. Without a model, only words count.
    pub fn answered(&self, model: Option<&SemanticRelevance>, documents: u64) -> f64 {
        let meaning = self.meaning(model, documents).unwrap_or(0.0);
        1.0 - (1.0 - self.words) * (1.0 - meaning)
    }

    /// Returns the probability that the hit answers by its meaning alone; `None`
    /// without a model or a vector.
    pub fn meaning(&self, model: Option<&SemanticRelevance>, documents: u64) -> Option<f64> {
        Some(model?.probability(self.similarity?, documents))
    }
}

/// The distribution of each embedding model that was measured.
pub const SEMANTIC_RELEVANCE: [SemanticRelevance; 2] = [
    SemanticRelevance {
        name: "all-minilm-l6-v2",
        background: 0.12,
        spread: 0.034,
        slope: 18.0,
    },
    SemanticRelevance {
        name: "granite-embedding-30m-english",
        background: 0.533,
        spread: 0.02,
        slope: 28.0,
    },
];

/// The number of documents below which a collection is a few notes.
const MIN_DOCUMENTS: u64 = 5;

/// How far below even odds a similarity is still shown among a few documents.
const BELOW_EVEN_ODDS: f64 = 0.1;

/// The number of first hits whose similarity decides whether a query is answered.
pub const JUDGED: usize = 3;

/// The probability from which a query counts as answered.
pub const ANSWERED: f64 = 0.5;

/// The relevance from which a hit of such an answer counts as relevant.
pub const RELEVANT: f64 = 0.1;

/// The log odds that a hit is relevant, at score 0 and their increase to score 1, if
/// its collection answers the query.
const BY_SCORE: [f64; 2] = [-6.7, 6.5];

/// Returns the relevance of a hit that answers its query with this probability, and
/// has this score. The best hit has a score of 1, and its relevance is that
/// probability; the others have less, as hits further down are relevant less often.
pub fn relevance(answered: f64, score: f64) -> f64 {
    let odds = |score: f64| 1.0 / (1.0 + (-BY_SCORE[0] - BY_SCORE[1] * score).exp());
    answered * odds(score.min(1.0)) / odds(1.0)
}

/// Returns the distribution of an embedding model, if it was measured.
pub fn semantic_relevance(name: &str) -> Option<&'static SemanticRelevance> {
    SEMANTIC_RELEVANCE.iter().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_meaning_are_alternatives() {
        let model = Some(&SEMANTIC_RELEVANCE[0]);
        let of = |words, similarity| HitEvidence {
            words,
            similarity: Some(similarity),
        };
        let many = 1_000;
        assert!(of(0.01, 0.5).answered(model, many) > 0.8);
        assert!(of(0.99, 0.1).answered(model, many) > 0.9);
        assert!(of(0.01, 0.2).answered(model, many) < 0.1);
        let (one, both) = (of(0.4, 0.2), of(0.4, 0.36));
        assert!(both.answered(model, many) > one.answered(model, many));
        // Without a model, a similarity says nothing.
        assert!(of(0.01, 0.9).answered(None, many) < 0.1);
        let unembedded = HitEvidence {
            words: 0.3,
            similarity: None,
        };
        assert!((unembedded.answered(model, many) - 0.3).abs() < 1e-9);
    }

    #[test]
    fn the_best_of_more_documents_must_be_nearer() {
        for model in SEMANTIC_RELEVANCE {
            let at = |documents| model.probability(0.4, documents);
            assert!(at(3) > at(100) && at(100) > at(100_000), "{}", model.name);
            assert!((model.probability(model.even_odds(50), 50) - 0.5).abs() < 1e-9);
        }
        let cosines = SEMANTIC_RELEVANCE[0];
        // A note among three, and the best of many.
        assert!(cosines.probability(0.25, 3) > 0.5);
        assert!(cosines.probability(0.25, 1_000) < 0.2);
        assert_eq!(semantic_relevance(""), None);
    }

    #[test]
    fn a_few_documents_are_shown_below_the_minimum_of_many() {
        let model = SEMANTIC_RELEVANCE[0];
        assert!((model.even_odds(3) - 0.14).abs() < 0.002);
        assert!((model.even_odds(1) - model.background).abs() < 1e-9);
        assert!(model.even_odds(2) < model.even_odds(3));
        assert!(model.even_odds(4) < model.even_odds(5));
        assert!((model.even_odds(5) - 0.175).abs() < 0.001);
        assert!(model.minimum_among(3, 0.15) < 0.05);
        assert!((model.minimum_among(50, 0.15) - 0.15).abs() < 1e-6);
        // A model that shows everything still does.
        assert!(model.minimum_among(3, -1.0) < -0.9);
    }

    #[test]
    fn relevance_falls_with_the_score() {
        assert!((relevance(0.9, 1.0) - 0.9).abs() < 1e-9);
        assert!(relevance(0.9, 0.9) < 0.9 && relevance(0.9, 0.9) > relevance(0.9, 0.5));
        assert!(relevance(0.9, 0.0) < RELEVANT);
    }
}
