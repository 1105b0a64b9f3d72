//! BM25 with term proximity and title coverage, over term positions.
//!
//! Owns the lexical score of a document for a query, given the positions of the
//! query's phrases in it. Finding those positions is up to the store. Scoring
//! them happens here, so that every store ranks alike.

/// The size of what is searched, as BM25 needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corpus {
    /// The number of documents.
    pub documents: u64,
    /// The average number of terms in a document.
    pub average_length: f64,
}

/// Returns the BM25 idf (inverse document frequency) of a term that `documents`
/// documents of the corpus contain. A term in half the documents or more gets
/// next to nothing, but not zero: a query of that term alone still ranks.
pub fn idf(documents: u64, corpus: Corpus) -> f64 {
    let (having, all) = (documents as f64, corpus.documents as f64);
    let odds = (all - having + 0.5).max(0.5) / (having + 0.5);
    odds.ln().max(1e-6)
}

/// The highest idf a stop word can have, and the idf a phrase must exceed for its
/// positions to count towards proximity. Stop words, and terms that about every
/// fourth document contains, occur everywhere; handling their positions would
/// take most of the time.
pub(crate) const STOP_WORD_IDF: f64 = 1.0;

/// A field of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The title.
    Title,
    /// The text.
    Body,
    /// The tags.
    Tags,
}

/// The parameters of the lexical score: BM25 with field weights, title boost,
/// term proximity and title coverage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// Term frequency saturation: the lower, the sooner repetition stops
    /// counting.
    pub k1: f64,
    /// Length normalisation, from 0 (none) to 1 (full).
    pub b: f64,
    /// The document length below which shorter is not better, in terms. Of two
    /// messages the longer one has more to say. Only from a paragraph on does
    /// length mean that a word may be there by chance.
    pub min_document_length: f64,
    /// The field weight of the title, relative to 1 for the body: the title says
    /// most about a note.
    pub title_weight: f64,
    /// The field weight of the tags, relative to 1 for the body.
    pub tags_weight: f64,
    /// The constant bonus for a phrase in the title, as a factor of its idf. It
    /// depends neither on term frequency nor on document length. Field weights
    /// alone saturate: without the bonus, a short note with a word as its tag
    /// outranks the note with that word as its title.
    pub title_boost: f64,
    /// The weight of term proximity in the body, as a factor of the idf within
    /// the best window. A long document that contains every word somewhere is
    /// not about what they mean together.
    pub proximity_weight: f64,
    /// The size of the proximity window, in terms.
    pub proximity_window: f64,
    /// The weight of title coverage, as a factor of the idf of the phrases in the
    /// title times the share of the title they cover. Phrases that cover the
    /// whole title are the name of the document.
    pub title_coverage: f64,
}

impl Default for Bm25 {
    fn default() -> Self {
        Self {
            k1: 1.2,
            b: 0.75,
            min_document_length: 60.0,
            title_weight: 10.0,
            tags_weight: 5.0,
            title_boost: 0.2,
            proximity_weight: 0.75,
            proximity_window: 20.0,
            title_coverage: 1.0,
        }
    }
}

impl Bm25 {
    /// Returns all parameters, always in the same order.
    pub(crate) fn numbers(&mut self) -> [&mut f64; 9] {
        let Self {
            k1,
            b,
            min_document_length,
            title_weight,
            tags_weight,
            title_boost,
            proximity_weight,
            proximity_window,
            title_coverage,
        } = self;
        [
            k1,
            b,
            min_document_length,
            title_weight,
            tags_weight,
            title_boost,
            proximity_weight,
            proximity_window,
            title_coverage,
        ]
    }
}

/// The positions of a query's phrases in one document. Reused from document to
/// document to save allocations.
#[derive(Debug, Default)]
pub struct TermMatches {
    phrases: Vec<PhraseMatch>,
    /// Positions in the body, each with the index of its phrase in `phrases`.
    body: Vec<(u32, usize)>,
    /// Positions in the title, of any phrase.
    title: Vec<u32>,
}

/// A phrase in the current document.
#[derive(Debug, Default)]
struct PhraseMatch {
    idf: f64,
    /// The term frequency, summed over fields with their weights.
    frequency: f64,
    in_title: bool,
    /// Whether it occurs in the body and its positions count towards proximity.
    in_body: bool,
    /// The number of its occurrences in the current proximity window.
    in_window: usize,
}

impl TermMatches {
    /// Forgets the previous document.
    pub fn clear(&mut self) {
        self.phrases.clear();
        self.body.clear();
        self.title.clear();
    }

    /// Adds a phrase with this idf. The occurrences recorded next belong to it.
    pub fn phrase(&mut self, idf: f64) {
        self.phrases.push(PhraseMatch {
            idf,
            ..PhraseMatch::default()
        });
    }

    /// Records an occurrence of the last phrase at this position of a field.
    pub fn occurrence(&mut self, field: Field, position: u32, bm25: &Bm25) {
        let number = self.phrases.len().saturating_sub(1);
        let Some(phrase) = self.phrases.last_mut() else {
            return;
        };
        match field {
            Field::Title => {
                phrase.frequency += bm25.title_weight;
                phrase.in_title = true;
                self.title.push(position);
            }
            Field::Body => {
                phrase.frequency += 1.0;
                if bm25.proximity_weight > 0.0 && phrase.idf > STOP_WORD_IDF {
                    phrase.in_body = true;
                    self.body.push((position, number));
                }
            }
            Field::Tags => phrase.frequency += bm25.tags_weight,
        }
    }

    /// Returns the lexical score of the document: BM25, title coverage and term
    /// proximity added up. Higher is better.
    ///
    /// Looking up a document's length may take longer than all the rest, so
    /// `length` is only called if the document could still reach `minimum`. A
    /// document that cannot reach it gets an upper bound of its score, which is
    /// below `minimum`. `length` returns the number of terms in a field, or in
    /// all fields for `None`. If it returns `None`, so does this function.
    pub fn score(
        &mut self,
        bm25: &Bm25,
        average_length: f64,
        minimum: f64,
        mut length: impl FnMut(Option<Field>) -> Option<f64>,
    ) -> Option<f64> {
        // Upper bounds of the score, each tighter and dearer than the last.
        let coverage = bm25.title_coverage * self.idf_in_title();
        let apart = self.bm25(bm25, average_length, 0.0) + coverage;
        let highest = apart + bm25.proximity_weight * self.idf_in_body();
        if highest < minimum {
            return Some(highest);
        }
        let proximity = bm25.proximity_weight * self.proximity(bm25.proximity_window);
        if apart + proximity < minimum {
            return Some(apart + proximity);
        }
        let all = length(None)?;
        let coverage = if coverage > 0.0 {
            bm25.title_coverage * self.title_coverage(length(Some(Field::Title))?)
        } else {
            0.0
        };
        Some(self.bm25(bm25, average_length, all) + coverage + proximity)
    }

    /// Returns the BM25 score, with the title boost, of a document of `length`
    /// terms. The shorter the document, the higher the score.
    fn bm25(&self, bm25: &Bm25, average_length: f64, length: f64) -> f64 {
        let Bm25 {
            k1,
            b,
            min_document_length,
            title_boost,
            ..
        } = *bm25;
        let average = average_length.max(min_document_length);
        let damping = k1 * (1.0 - b + b * length.max(min_document_length) / average);
        let each = self.phrases.iter().map(|phrase| {
            // With k1 = 0 the damping is 0 too, and this would be 0 / 0.
            let saturated = if phrase.frequency > 0.0 {
                phrase.frequency * (k1 + 1.0) / (phrase.frequency + damping)
            } else {
                0.0
            };
            let boost = if phrase.in_title { title_boost } else { 0.0 };
            phrase.idf * (saturated + boost)
        });
        each.sum()
    }

    /// Returns the upper bound of [`TermMatches::proximity`]: the sum of the idf
    /// of all phrases in the body.
    fn idf_in_body(&self) -> f64 {
        self.idf_where(|phrase| phrase.in_body)
    }

    /// Returns the upper bound of [`TermMatches::title_coverage`]: the sum of the
    /// idf of all phrases in the title.
    fn idf_in_title(&self) -> f64 {
        self.idf_where(|phrase| phrase.in_title)
    }

    fn idf_where(&self, counts: impl Fn(&PhraseMatch) -> bool) -> f64 {
        let counted = self.phrases.iter().filter(|phrase| counts(phrase));
        counted.map(|phrase| phrase.idf).sum()
    }

    /// Returns the term proximity in the body: the highest sum of the idf of
    /// distinct phrases within any `window` consecutive positions. A phrase at
    /// the very beginning, such as the name of a speaker, counts as near the
    /// whole text.
    fn proximity(&mut self, window: f64) -> f64 {
        let most = self.idf_in_body();
        let others = self.phrases.iter().filter(|phrase| phrase.in_body);
        if others.count() < 2 {
            return most;
        }
        for phrase in &mut self.phrases {
            phrase.in_window = 0;
        }
        self.body.sort_unstable();
        let (mut weight, mut best): (f64, f64) = (0.0, 0.0);
        // Occurrences at position 0 never leave the window.
        let mut first = self.body.partition_point(|&(position, _)| position == 0);
        for last in 0..self.body.len() {
            let (position, number) = self.body[last];
            let phrase = &mut self.phrases[number];
            phrase.in_window += 1;
            if phrase.in_window == 1 {
                weight += phrase.idf;
            }
            while first < last && f64::from(position - self.body[first].0) >= window {
                let leaving = &mut self.phrases[self.body[first].1];
                leaving.in_window -= 1;
                if leaving.in_window == 0 {
                    weight -= leaving.idf;
                }
                first += 1;
            }
            best = best.max(weight);
        }
        best.min(most)
    }

    /// Returns the title coverage: the sum of the idf of the phrases in the title,
    /// times the share of the title's `title_length` terms that they cover.
    fn title_coverage(&mut self, title_length: f64) -> f64 {
        if self.title.is_empty() {
            return 0.0;
        }
        self.title.sort_unstable();
        self.title.dedup();
        let share = self.title.len() as f64 / title_length.max(1.0);
        self.idf_in_title() * share.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rank::Tuning;

    /// Returns the matches of phrases, each given as its idf, its positions in the
    /// title and its positions in the body.
    fn matches(phrases: &[(f64, &[u32], &[u32])]) -> TermMatches {
        let bm25 = Bm25::default();
        let mut matches = TermMatches::default();
        for &(idf, title, body) in phrases {
            matches.phrase(idf);
            for (field, positions) in [(Field::Title, title), (Field::Body, body)] {
                for &position in positions {
                    matches.occurrence(field, position, &bm25);
                }
            }
        }
        matches
    }

    #[track_caller]
    fn assert_near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }

    #[test]
    fn proximity_is_the_highest_sum_of_idf_in_any_window() {
        let mut apart = matches(&[
            (4.0, &[], &[5, 60]),
            (2.0, &[], &[40]),
            (1.5, &[], &[65]),
            // Too low an idf to count.
            (1.0, &[], &[59, 61]),
        ]);
        assert_near(apart.proximity(10.0), 5.5);
        assert_near(apart.proximity(6.0), 5.5);
        assert_near(apart.proximity(5.0), 4.0);
        assert_near(apart.proximity(100.0), 7.5);
        // However small the window, it contains one phrase.
        assert_near(apart.proximity(0.0), 4.0);
        assert_near(matches(&[]).proximity(10.0), 0.0);
        assert_near(matches(&[(2.0, &[0], &[])]).proximity(10.0), 0.0);
    }

    /// The cap on a stop word's idf and the idf from which positions count are
    /// one number: a stop word never adds to proximity, a rarer term does.
    #[test]
    fn a_stop_word_at_its_cap_adds_nothing_to_proximity() {
        let cap = Tuning::default().stop_word_idf;
        let rarer = cap + 1e-9;
        let mut stop_word = matches(&[(4.0, &[], &[5]), (cap, &[], &[6])]);
        assert_near(stop_word.proximity(10.0), 4.0);
        let mut other = matches(&[(4.0, &[], &[5]), (rarer, &[], &[6])]);
        assert_near(other.proximity(10.0), 4.0 + rarer);
    }

    #[test]
    fn a_phrase_at_the_beginning_is_near_the_whole_text() {
        let mut speaker = matches(&[(4.0, &[], &[0, 9]), (2.0, &[], &[40]), (1.5, &[], &[90])]);
        assert_near(speaker.proximity(10.0), 6.0);
    }

    #[test]
    fn a_fully_covered_title_counts_in_full() {
        let mut named = matches(&[(2.0, &[0], &[]), (1.0, &[1], &[3])]);
        assert_near(named.title_coverage(2.0), 3.0);
        assert_near(named.title_coverage(4.0), 1.5);
        // Two forms of a word share a position.
        assert_near(
            matches(&[(2.0, &[0], &[]), (2.0, &[0], &[])]).title_coverage(2.0),
            2.0,
        );
        assert_near(matches(&[(2.0, &[], &[0])]).title_coverage(0.0), 0.0);
    }

    proptest! {
        #[test]
        fn proximity_equals_the_best_of_all_windows(
            places in prop::collection::vec((1_u32..60, 0_usize..4), 1..20),
            begins in prop::option::of(0_usize..4),
            window in 1_u32..30,
        ) {
            let idfs = [1.25, 2.0, 4.0, 8.0];
            let mut all = places.clone();
            all.extend(begins.map(|number| (0, number)));
            let bm25 = Bm25::default();
            let mut matches = TermMatches::default();
            for (number, idf) in idfs.into_iter().enumerate() {
                matches.phrase(idf);
                for &(place, _) in all.iter().filter(|(_, of)| *of == number) {
                    matches.occurrence(Field::Body, place, &bm25);
                }
            }
            let within = |start: u32| {
                let there = |number: usize| {
                    let inside = |&(place, of): &(u32, usize)| {
                        of == number && (place == 0 || (start..start + window).contains(&place))
                    };
                    all.iter().any(inside)
                };
                let present = (0..4).filter(|&number| there(number));
                present.map(|number| idfs[number]).sum::<f64>()
            };
            let expected = (0..60).map(within).fold(0.0, f64::max);
            prop_assert!((matches.proximity(f64::from(window)) - expected).abs() < 1e-9);
        }
    }
}
