//! Relevance: how likely it is that a person would call a hit relevant.
//!
//! Owns two logistic models and their coefficients, one pair for each embedding
//! model and one for lexical answers. The first judges from the best evidence
//! whether the collection answers the query at all. The second judges from the
//! score, which orders the hits of one answer, whether a hit is relevant if it
//! does. Their product can be compared between answers. `kodiak eval --relevance`
//! fits and checks both.

/// The evidence that an answer has for its query.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AnswerEvidence {
    /// The highest cosine between the query and a hit; absent without vectors.
    pub similarity: Option<f64>,
    /// The highest share of the query's informative terms that one hit contains,
    /// weighted by idf.
    pub coverage: f64,
    /// The highest BM25 score.
    pub lexical_score: f64,
}

impl AnswerEvidence {
    /// Returns the best of both, piece by piece.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let similarities = [self.similarity, other.similarity];
        Self {
            similarity: similarities.into_iter().flatten().reduce(f64::max),
            coverage: self.coverage.max(other.coverage),
            lexical_score: self.lexical_score.max(other.lexical_score),
        }
    }

    /// Tells whether one hit contains every informative term of the query.
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
    /// Returns the probability that the collection answers the query.
    pub fn answered(&self, evidence: &AnswerEvidence) -> f64 {
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
            intercept: -10.7,
            coefficients: [20.6, 6.0],
        },
        answered_from: 0.4,
        relevant: Logistic {
            intercept: -7.6,
            coefficients: [8.0],
        },
    },
    RelevanceModel {
        name: "granite-embedding-30m-english",
        answered: Logistic {
            intercept: -21.8,
            coefficients: [27.9, 5.9],
        },
        answered_from: 0.4,
        relevant: Logistic {
            intercept: -6.7,
            coefficients: [7.3],
        },
    },
];

/// The coefficients for answers without vectors.
pub const LEXICAL_RELEVANCE: RelevanceModel = RelevanceModel {
    name: "",
    answered: Logistic {
        intercept: -7.5,
        coefficients: [8.8, 1.3],
    },
    // Words say less: a question may be answered in others.
    answered_from: 0.2,
    relevant: Logistic {
        intercept: -6.6,
        coefficients: [6.8],
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
        let weak = AnswerEvidence {
            similarity: Some(0.2),
            coverage: 0.2,
            lexical_score: 1.0,
        };
        let similar = AnswerEvidence {
            similarity: Some(0.7),
            ..weak
        };
        let covering = AnswerEvidence {
            coverage: 1.0,
            ..weak
        };
        let scoring = AnswerEvidence {
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
