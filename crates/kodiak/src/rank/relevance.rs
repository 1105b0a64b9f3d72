//! Relevance: how likely it is that a person would call a hit relevant.
//!
//! Owns two logistic models and their coefficients, one pair for each embedding
//! model and one for lexical answers. The first judges from the hit with the best
//! evidence whether the collection answers the query at all: similarity and words
//! count together only if one document has both. The second judges from the
//! score, which orders the hits of one answer, whether a hit is relevant if it
//! does. Their product can be compared between answers. `kodiak eval --relevance`
//! fits and checks both.

/// The evidence that a hit answers its query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HitEvidence {
    /// The cosine between the query and the hit; absent without vectors.
    pub similarity: Option<f64>,
    /// The share of the query's informative terms that the hit contains, weighted
    /// by idf.
    pub coverage: f64,
    /// The BM25 score.
    pub lexical_score: f64,
}

impl HitEvidence {
    /// Tells whether the hit contains every informative term of the query.
    pub fn contains_query(&self) -> bool {
        self.coverage >= 1.0 - 1e-4
    }

    /// Returns the numbers that the model of semantic answers uses, or nothing
    /// without vectors.
    pub fn semantic(&self) -> Option<[f64; 2]> {
        Some([self.similarity?, self.coverage])
    }

    /// Returns the numbers that the model of lexical answers uses. The score is
    /// on a logarithmic scale, since longer queries have higher ones.
    pub fn lexical(&self) -> [f64; 2] {
        [self.coverage, self.lexical_score.max(0.0).ln_1p()]
    }
}

/// A fitted logistic model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Logistic<const FEATURES: usize> {
    /// The log odds where all features are 0.
    pub intercept: f64,
    /// The change of the log odds with each feature.
    pub coefficients: [f64; FEATURES],
}

impl<const FEATURES: usize> Logistic<FEATURES> {
    /// Returns the probability for these features.
    pub fn probability(&self, features: [f64; FEATURES]) -> f64 {
        let terms = self.coefficients.iter().zip(features);
        let log_odds = self.intercept + terms.map(|(one, other)| one * other).sum::<f64>();
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// The coefficients for one embedding model, or for lexical answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelevanceModel {
    /// The name of the embedding model; empty for lexical answers.
    pub name: &'static str,
    /// Whether the collection answers the query.
    pub answered: Logistic<2>,
    /// The probability of being answered from which an answer has relevant hits.
    pub answered_from: f64,
    /// Whether a hit with this score is relevant if it does.
    pub relevant: Logistic<1>,
}

impl RelevanceModel {
    /// Returns the probability that a hit with this evidence answers the query. That
    /// of an answer is the highest of its hits.
    pub fn answered(&self, evidence: &HitEvidence) -> f64 {
        let features = if self.name.is_empty() {
            evidence.lexical()
        } else {
            // Without a vector nothing is similar.
            evidence.semantic().unwrap_or([0.0, evidence.coverage])
        };
        self.answered.probability(features)
    }

    /// Returns the relevance of a hit with this score in an answer that is
    /// answered with this probability.
    pub fn relevance(&self, answered: f64, score: f64) -> f64 {
        answered * self.relevant.probability([score])
    }
}

/// The coefficients of each embedding model that was fitted.
pub const RELEVANCE_MODELS: [RelevanceModel; 2] = [
    RelevanceModel {
        name: "all-minilm-l6-v2",
        answered: Logistic {
            intercept: -10.5,
            coefficients: [21.0, 6.3],
        },
        answered_from: 0.35,
        relevant: Logistic {
            intercept: -7.4,
            coefficients: [7.8],
        },
    },
    RelevanceModel {
        name: "granite-embedding-30m-english",
        answered: Logistic {
            intercept: -24.9,
            coefficients: [33.1, 6.8],
        },
        answered_from: 0.35,
        relevant: Logistic {
            intercept: -7.1,
            coefficients: [7.5],
        },
    },
];

/// The coefficients for answers without vectors.
pub const LEXICAL_RELEVANCE: RelevanceModel = RelevanceModel {
    name: "",
    answered: Logistic {
        intercept: -7.7,
        coefficients: [7.8, 1.4],
    },
    // Words say less: a question may be answered in others.
    answered_from: 0.2,
    relevant: Logistic {
        intercept: -6.3,
        coefficients: [6.6],
    },
};

/// The relevance from which a hit of such an answer counts as relevant. It is low:
/// one in a hundred may still be what is sought.
pub const RELEVANT: f64 = 0.01;

/// Returns the coefficients for an embedding model, if it was fitted.
pub fn relevance_model(name: &str) -> Option<&'static RelevanceModel> {
    RELEVANCE_MODELS.iter().find(|model| model.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_means_more_relevance() {
        let weak = HitEvidence {
            similarity: Some(0.2),
            coverage: 0.2,
            lexical_score: 1.0,
        };
        let similar = HitEvidence {
            similarity: Some(0.7),
            ..weak
        };
        let covering = HitEvidence {
            coverage: 1.0,
            ..weak
        };
        let scoring = HitEvidence {
            lexical_score: 20.0,
            ..weak
        };
        let model = RELEVANCE_MODELS[0];
        assert!(
            model.answered(&weak) < model.answered_from
                && model.answered(&similar) > model.answered_from
        );
        assert!(model.answered(&covering) > model.answered(&weak));
        let lexical = LEXICAL_RELEVANCE;
        assert!(
            lexical.answered(&weak) < lexical.answered_from
                && lexical.answered(&covering) > lexical.answered_from
        );
        assert!(lexical.answered(&scoring) > lexical.answered(&weak));
        for model in [model, lexical] {
            assert!(model.relevance(0.9, 1.0) > model.relevance(0.9, 0.5));
            assert!(model.relevance(0.9, 1.0) > model.relevance(0.1, 1.0));
        }
        assert_eq!(relevance_model("nobody's"), None);
        assert_eq!(relevance_model(""), None);
    }

    #[test]
    fn a_probability_is_between_zero_and_one() {
        let model = Logistic {
            intercept: 0.0,
            coefficients: [1.0],
        };
        assert!((model.probability([0.0]) - 0.5).abs() < 1e-12);
        for odds in [-1e9, -50.0, 50.0, 1e9] {
            assert!((0.0..=1.0).contains(&model.probability([odds])));
        }
    }
}
