//! Lexical evidence: whether a passage has the words of a query by intent or by
//! chance.
//!
//! Of many documents, one has some of any query's words in one place. How many that
//! are grows with the number of documents: words with a summed idf of `ln(n)` are
//! expected to meet once in `n` documents, and no word alone has a higher idf. So a
//! passage is evidence if its words are rarer than that together, or if it has about
//! all that was asked for.

use super::tuning::Tuning;

/// What is known of a query's words in the documents that were searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryWords {
    /// The summed weight of all words that count.
    pub whole: f64,
    /// The number of documents that were searched.
    pub documents: u64,
}

impl QueryWords {
    /// Returns how strong the evidence of a passage with this share of the query is,
    /// from 0 to 1.
    pub fn evidence(&self, coverage: f64, tuning: &Tuning) -> f64 {
        let margin = (coverage - tuning.full_coverage)
            .max(self.beyond_chance(coverage) - tuning.beyond_chance);
        1.0 / (1.0 + (-tuning.evidence_slope * margin).exp())
    }

    /// Returns the summed idf of a passage's words, relative to what chance brings
    /// together in as many documents.
    fn beyond_chance(&self, coverage: f64) -> f64 {
        coverage * self.whole / (self.documents.max(1) as f64).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_chance_brings_together_is_no_evidence() {
        let tuning = Tuning::default();
        let words = QueryWords {
            whole: 14.0,
            documents: 1_000,
        };
        // One rare word of several.
        assert!(words.evidence(6.5 / 14.0, &tuning) < 0.1);
        // Two of them in one passage.
        assert!(words.evidence(11.0 / 14.0, &tuning) > 0.9);
        // The same words are less surprising among more documents.
        let crowd = QueryWords {
            documents: 1_000_000,
            ..words
        };
        assert!(crowd.evidence(11.0 / 14.0, &tuning) < 0.2);
        // All of a short query is what was asked for, however frequent.
        let short = QueryWords {
            whole: 2.0,
            documents: 1_000_000,
        };
        assert!(short.evidence(1.0, &tuning) > 0.8);
        assert!(QueryWords::default().evidence(0.0, &tuning) < 0.01);
    }
}
