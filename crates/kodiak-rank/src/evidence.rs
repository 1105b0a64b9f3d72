//! Lexical evidence: whether a passage has the words of a query by intent or by
//! chance.
//!
//! Of many documents, one has some of any query's words in one place. How many that
//! are grows with the number of documents: words with a summed surprise of `ln(n)` are
//! expected to meet once in `n` documents, and no word alone has a higher one. So a
//! passage is evidence if its words are rarer than that together, or if it has about
//! all that was asked for.
//!
//! The surprise of a word is the negative logarithm of the chance that a text has it.
//! BM25's idf is the logarithm of the odds against it, which is the same for a rare word
//! in many documents. In a few documents it is far less: a word in two of five notes
//! has next to no idf, and still two such words seldom meet.

use super::tuning::Tuning;

/// Returns the surprise of a word that this many of all documents contain. The query
/// is counted as one more text that has it, so that every word has occurred. A word in
/// all documents has next to none, but not zero: a query of that word alone can still be
/// covered.
pub fn surprise(documents: u64, all: u64) -> f64 {
    let surprise = (all as f64).ln_1p() - (documents as f64).ln_1p();
    surprise.max(1e-6)
}

/// A word of a query that counts towards passage coverage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueryWord {
    /// Its number. Other forms of the word have the same one.
    pub number: u32,
    /// Its surprise, less for a form that was not typed.
    pub surprise: f64,
}

/// The distribution of a query's words in the documents that were searched.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QueryWords {
    /// The summed surprise of all words that count.
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

    /// Returns the summed surprise of a passage's words, relative to that of chance
    /// passages in as many documents.
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

    /// Five notes, of which two have each of three words: BM25's idf says next to
    /// nothing of them.
    #[test]
    fn words_that_meet_in_a_few_documents_are_evidence() {
        let tuning = Tuning::default();
        let (few, unknown) = (surprise(2, 5), surprise(0, 5));
        let words = QueryWords {
            whole: 3.0 * few + unknown,
            documents: 5,
        };
        assert!(words.evidence(3.0 * few / words.whole, &tuning) > 0.9);
        assert!(words.evidence(2.0 * few / words.whole, &tuning) < 0.1);
        // One word is none, however rare.
        let rare = surprise(1, 5);
        let words = QueryWords {
            whole: rare + unknown,
            documents: 5,
        };
        assert!(words.evidence(rare / words.whole, &tuning) < 0.1);
    }

    #[test]
    fn surprise_falls_from_the_logarithm_of_all_documents_to_nearly_nothing() {
        assert!((surprise(0, 999) - 1_000_f64.ln()).abs() < 1e-9);
        assert!(surprise(1, 999) < surprise(0, 999));
        for all in [0, 1, 5, 999] {
            let common = surprise(all, all);
            assert!(common > 0.0 && common < 1e-3, "{all}: {common}");
        }
        // More documents than there are in a scope do not turn it around.
        assert!(surprise(9, 5) > 0.0);
    }
}
