//! BM25 with term proximity and title coverage, over term positions.
//!
//! Owns what a document scores for a query, given where the query's phrases
//! stand in it. How a store finds those positions is its own business; what they
//! are worth is decided here, so that every store ranks alike.

/// How much there is to search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Corpus {
    /// Documents that can be found.
    pub documents: u64,
    /// Terms in a document, on average.
    pub average_length: f64,
}

/// Returns the inverse document frequency of a term as BM25 has it. A term in
/// half the documents or more tells them apart by next to nothing, yet by
/// something: alone in a query it still ranks.
pub fn idf(documents: u64, corpus: Corpus) -> f64 {
    let (having, all) = (documents as f64, corpus.documents as f64);
    let odds = (all - having + 0.5).max(0.5) / (having + 0.5);
    odds.ln().max(1e-6)
}

/// The idf that a stop word has at most, and that a phrase must exceed for its
/// positions to count: stop words, and what every fourth document has, stand
/// everywhere, and most of the time would go into finding out where.
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

/// How much words in a document count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bm25 {
    /// How quickly repetition stops counting.
    pub k1: f64,
    /// How much long documents are held back, 0 to 1.
    pub b: f64,
    /// Shorter documents count as having so many words. Of two messages the
    /// longer one has more to say; only from a paragraph on does length mean
    /// that a word may have come by the way.
    pub min_document_length: f64,
    /// What a word in the title counts, one in the body being 1: it says most
    /// about a note.
    pub title_weight: f64,
    /// What a word among the tags counts.
    pub tags_weight: f64,
    /// What a word in the title adds, in parts of its idf, however often it
    /// occurs and however long the document is. Weighted or not, repetition
    /// saturates: without this a short note that has a word as its tag stands
    /// above the note it is the title of.
    pub title_boost: f64,
    /// What term proximity in the body adds, in parts of the idf of the
    /// terms. A long document that has every word somewhere is not about
    /// what they say together.
    pub proximity_weight: f64,
    /// Within how many words of each other terms are near.
    pub proximity_window: f64,
    /// What words in the title add, in parts of their idf and of how much
    /// of the title they are: all of it is named by them.
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
    /// All its numbers in a row, always the same one.
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

/// Where the phrases of a query stand in one document. Kept from document to
/// document for its memory.
#[derive(Debug, Default)]
pub struct TermMatches {
    phrases: Vec<PhraseMatch>,
    /// Positions in the body, each with the number of the phrase that stands there.
    body: Vec<(u32, usize)>,
    /// Positions in the title.
    title: Vec<u32>,
}

/// A phrase in the document at hand.
#[derive(Debug, Default)]
struct PhraseMatch {
    idf: f64,
    /// How often it occurs, weighted by field.
    frequency: f64,
    in_title: bool,
    /// Whether its positions in the body count.
    in_body: bool,
    /// How often it stands in the window at hand.
    in_window: usize,
}

impl TermMatches {
    /// Forgets the document before.
    pub fn clear(&mut self) {
        self.phrases.clear();
        self.body.clear();
        self.title.clear();
    }

    /// Begins another phrase, to which the next occurrences belong.
    pub fn phrase(&mut self, idf: f64) {
        self.phrases.push(PhraseMatch {
            idf,
            ..PhraseMatch::default()
        });
    }

    /// Records that the phrase stands at this position of a field.
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

    /// Returns what the document scores; higher is better.
    ///
    /// Looking up a document's length may take longer than all the rest, so
    /// `length` is only asked where the document could still reach `minimum`.
    /// One that cannot gets a score that is too high, but below `minimum`.
    /// `length` returns the number of terms in a field, or in all of them;
    /// `None` from it is passed on.
    pub fn score(
        &mut self,
        bm25: &Bm25,
        average_length: f64,
        minimum: f64,
        mut length: impl FnMut(Option<Field>) -> Option<f64>,
    ) -> Option<f64> {
        // What it could be at most, less and less roughly.
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

    /// Returns BM25 for a document of so many terms; the fewer, the higher.
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
            // With no damping either, nothing would be divided by nothing.
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

    /// Returns the most that [`TermMatches::proximity`] can be.
    fn idf_in_body(&self) -> f64 {
        self.idf_where(|phrase| phrase.in_body)
    }

    /// Returns the most that [`TermMatches::title_coverage`] can be.
    fn idf_in_title(&self) -> f64 {
        self.idf_where(|phrase| phrase.in_title)
    }

    fn idf_where(&self, counts: impl Fn(&PhraseMatch) -> bool) -> f64 {
        let counted = self.phrases.iter().filter(|phrase| counts(phrase));
        counted.map(|phrase| phrase.idf).sum()
    }

    /// Returns the highest sum of idf that different phrases reach within so
    /// many words of the body. What a text begins with, such as who is speaking,
    /// is near all of it.
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
        // What stands at the beginning never leaves the window.
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

    /// Returns the idf of the phrases in the title, in parts of how much of a
    /// title of so many terms they are.
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

    /// Phrases with an idf each, at positions of the title and of the body.
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
    fn the_window_with_the_rarest_phrases_counts() {
        let mut apart = matches(&[
            (4.0, &[], &[5, 60]),
            (2.0, &[], &[40]),
            (1.5, &[], &[65]),
            // Too common to count.
            (1.0, &[], &[59, 61]),
        ]);
        assert_near(apart.proximity(10.0), 5.5);
        assert_near(apart.proximity(6.0), 5.5);
        assert_near(apart.proximity(5.0), 4.0);
        assert_near(apart.proximity(100.0), 7.5);
        // However small the window, a word is with itself.
        assert_near(apart.proximity(0.0), 4.0);
        assert_near(matches(&[]).proximity(10.0), 0.0);
        assert_near(matches(&[(2.0, &[0], &[])]).proximity(10.0), 0.0);
    }

    /// The cap on a stop word's idf and the idf from which positions count are
    /// one number: a stop word never adds to proximity, anything rarer does.
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
    fn what_a_text_begins_with_is_with_all_of_it() {
        let mut speaker = matches(&[(4.0, &[], &[0, 9]), (2.0, &[], &[40]), (1.5, &[], &[90])]);
        assert_near(speaker.proximity(10.0), 6.0);
    }

    #[test]
    fn a_title_of_nothing_else_counts_in_full() {
        let mut named = matches(&[(2.0, &[0], &[]), (1.0, &[1], &[3])]);
        assert_near(named.title_coverage(2.0), 3.0);
        assert_near(named.title_coverage(4.0), 1.5);
        // Two forms of a word stand in one place.
        assert_near(
            matches(&[(2.0, &[0], &[]), (2.0, &[0], &[])]).title_coverage(2.0),
            2.0,
        );
        assert_near(matches(&[(2.0, &[], &[0])]).title_coverage(0.0), 0.0);
    }

    proptest! {
        #[test]
        fn no_window_is_missed(
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
