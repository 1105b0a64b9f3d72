//! Passages: where in a document the words of a query occur together.
//!
//! A long document contains most words of any query somewhere. The text about the query is
//! the passage where the words are close to each other. The title, the tags and the texts
//! of links to the document belong to every passage.

use super::bm25::{Field, STOP_WORD_IDF};
use super::evidence::QueryWord;

/// The words of a query that count, and their places in one document. Reused from
/// document to document to save allocations.
#[derive(Debug, Default)]
pub(super) struct Passages {
    words: Vec<Word>,
    /// The summed surprise of all words of the query.
    whole: f64,
    /// The positions in the body, each with the number of its word.
    places: Vec<(u32, u32)>,
}

/// A word of the query in the current document.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Its idf, which proximity adds up.
    weight: f64,
    /// Its surprise, which coverage adds up.
    surprise: f64,
    /// Whether it belongs to every passage of the document.
    everywhere: bool,
    /// Whether it has places in the body.
    placed: bool,
    /// The number of its occurrences in the current passage.
    in_passage: usize,
}

/// The best passages of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Best {
    /// The highest summed weight of the words in any passage of the body.
    pub(super) proximity: f64,
    /// The highest share of the query's surprise that any passage has, with the title
    /// and the tags.
    pub(super) coverage: f64,
}

impl Passages {
    /// Starts a query whose phrases stand for these words, each with its weight.
    /// Phrases for one word have the same number, and the word has the highest of
    /// their weights.
    pub(super) fn begin(&mut self, phrases: impl Iterator<Item = (QueryWord, f64)>) {
        self.words.clear();
        for (QueryWord { number, surprise }, weight) in phrases {
            let number = number as usize;
            if self.words.len() <= number {
                self.words.resize(number + 1, Word::default());
            }
            let word = &mut self.words[number];
            word.weight = word.weight.max(weight);
            word.surprise = word.surprise.max(surprise);
        }
        self.whole = self.words.iter().map(|word| word.surprise).sum();
        self.clear();
    }

    /// Forgets the previous document.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        for word in &mut self.words {
            *word = Word {
                weight: word.weight,
                surprise: word.surprise,
                ..Word::default()
            };
        }
    }

    /// Records an occurrence of a word.
    pub(super) fn occurrence(&mut self, number: u32, field: Field, position: u32) {
        let Some(word) = self.words.get_mut(number as usize) else {
            return;
        };
        // A frequent word has too many places to compare, and little weight.
        if field != Field::Body || word.weight <= STOP_WORD_IDF {
            word.everywhere = true;
        } else {
            word.placed = true;
            self.places.push((position, number));
        }
    }

    /// Records that a word belongs to every passage of the document.
    pub(super) fn everywhere(&mut self, number: u32) {
        if let Some(word) = self.words.get_mut(number as usize) {
            word.everywhere = true;
        }
    }

    /// Returns an upper bound of [`Best::proximity`]: the summed weight of all words
    /// with places in the body.
    pub(super) fn most_proximity(&self) -> f64 {
        let placed = self.words.iter().filter(|word| word.placed);
        placed.map(|word| word.weight).sum()
    }

    /// Finds the best passages of `length` positions. A word at the very beginning,
    /// such as the name of a speaker, is near the whole text.
    pub(super) fn best(&mut self, length: f64) -> Best {
        let most = self.most_proximity();
        let present = self.surprise_where(|word| word.placed || word.everywhere);
        if self.words.iter().filter(|word| word.placed).count() < 2 {
            return Best {
                proximity: most,
                coverage: self.share(present),
            };
        }
        let titled = self.surprise_where(|word| word.everywhere);
        for word in &mut self.words {
            word.in_passage = 0;
        }
        self.places.sort_unstable();
        let mut passage = Passage::default();
        let (mut proximity, mut coverage): (f64, f64) = (0.0, 0.0);
        // Occurrences at position 0 never leave the passage.
        let mut first = self.places.partition_point(|&(position, _)| position == 0);
        for last in 0..self.places.len() {
            let (position, number) = self.places[last];
            passage.enter(&mut self.words[number as usize]);
            while first < last && f64::from(position - self.places[first].0) >= length {
                passage.leave(&mut self.words[self.places[first].1 as usize]);
                first += 1;
            }
            proximity = proximity.max(passage.all);
            coverage = coverage.max(passage.beside_title);
        }
        Best {
            // Sums of floats may exceed the sum of all by a rounding error.
            proximity: proximity.min(most),
            coverage: self.share((titled + coverage).min(present)),
        }
    }

    fn surprise_where(&self, counts: impl Fn(&Word) -> bool) -> f64 {
        let counted = self.words.iter().filter(|word| counts(word));
        counted.map(|word| word.surprise).sum()
    }

    fn share(&self, surprise: f64) -> f64 {
        if self.whole > 0.0 {
            surprise / self.whole
        } else {
            0.0
        }
    }
}

/// The words in the current passage.
#[derive(Debug, Default)]
struct Passage {
    /// Their summed weight.
    all: f64,
    /// Their summed surprise, without the words that belong to every passage.
    beside_title: f64,
}

impl Passage {
    fn enter(&mut self, word: &mut Word) {
        word.in_passage += 1;
        if word.in_passage == 1 {
            self.add(word, 1.0);
        }
    }

    fn leave(&mut self, word: &mut Word) {
        word.in_passage -= 1;
        if word.in_passage == 0 {
            self.add(word, -1.0);
        }
    }

    fn add(&mut self, word: &Word, times: f64) {
        self.all += times * word.weight;
        if !word.everywhere {
            self.beside_title += times * word.surprise;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a word whose surprise is its weight.
    fn word((number, weight): (u32, f64)) -> (QueryWord, f64) {
        let surprise = weight;
        (QueryWord { number, surprise }, weight)
    }

    /// Returns the passages of a document with words, each given as its weight, its
    /// positions in the title and its positions in the body.
    fn passages(words: &[(f64, &[u32], &[u32])]) -> Passages {
        let mut passages = Passages::default();
        let weights = words.iter().map(|&(weight, ..)| weight);
        passages.begin((0..).zip(weights).map(word));
        for (number, &(_, title, body)) in (0..).zip(words) {
            for (field, positions) in [(Field::Title, title), (Field::Body, body)] {
                for &position in positions {
                    passages.occurrence(number, field, position);
                }
            }
        }
        passages
    }

    #[track_caller]
    fn assert_near(one: f64, other: f64) {
        assert!((one - other).abs() < 1e-9, "{one} {other}");
    }

    #[test]
    fn proximity_is_the_highest_sum_of_weights_in_any_passage() {
        let mut apart = passages(&[
            (4.0, &[], &[5, 60]),
            (2.0, &[], &[40]),
            (1.5, &[], &[65]),
            // Too frequent to count.
            (1.0, &[], &[59, 61]),
        ]);
        assert_near(apart.best(10.0).proximity, 5.5);
        assert_near(apart.best(6.0).proximity, 5.5);
        assert_near(apart.best(5.0).proximity, 4.0);
        assert_near(apart.best(100.0).proximity, 7.5);
        // However short the passage, it contains one word.
        assert_near(apart.best(0.0).proximity, 4.0);
        assert_near(passages(&[]).best(10.0).proximity, 0.0);
        assert_near(passages(&[(2.0, &[0], &[])]).best(10.0).proximity, 0.0);
    }

    #[test]
    fn coverage_is_the_share_of_the_query_in_one_passage_and_the_title() {
        let words: [(f64, &[u32], &[u32]); 3] =
            [(4.0, &[], &[5]), (2.0, &[], &[400]), (2.0, &[], &[7])];
        assert_near(passages(&words).best(60.0).coverage, 0.75);
        assert_near(passages(&words).best(1_000.0).coverage, 1.0);
        // A word of the title is in every passage, also if it is in the body.
        let titled: [(f64, &[u32], &[u32]); 3] =
            [(4.0, &[], &[5]), (2.0, &[0], &[400]), (2.0, &[], &[7])];
        assert_near(passages(&titled).best(60.0).coverage, 1.0);
        // A word that the document lacks is missing, however rare the others are.
        let lacking: [(f64, &[u32], &[u32]); 2] = [(1.5, &[], &[3]), (4.5, &[], &[])];
        assert_near(passages(&lacking).best(60.0).coverage, 0.25);
        assert_near(passages(&[]).best(60.0).coverage, 0.0);
    }

    #[test]
    fn two_forms_of_a_word_are_one_word() {
        let mut forms = Passages::default();
        forms.begin([(0, 3.0), (0, 2.0), (1, 3.0)].into_iter().map(word));
        forms.occurrence(0, Field::Body, 4);
        forms.occurrence(0, Field::Body, 5);
        assert_near(forms.best(60.0).coverage, 0.5);
        assert_near(forms.best(60.0).proximity, 3.0);
    }

    #[test]
    fn a_word_at_the_beginning_is_near_the_whole_text() {
        let mut speaker = passages(&[(4.0, &[], &[0, 9]), (2.0, &[], &[40]), (1.5, &[], &[90])]);
        assert_near(speaker.best(10.0).proximity, 6.0);
    }

    proptest! {
        #[test]
        fn the_best_passage_equals_the_best_of_all_windows(
            places in prop::collection::vec((1_u32..60, 0_usize..4), 1..20),
            begins in prop::option::of(0_usize..4),
            titled in prop::option::of(0_usize..4),
            length in 1_u32..30,
        ) {
            let weights = [1.25, 2.0, 4.0, 8.0];
            let mut all = places.clone();
            all.extend(begins.map(|number| (0, number)));
            let mut passages = Passages::default();
            passages.begin((0..).zip(weights).map(word));
            for &(place, number) in &all {
                passages.occurrence(number as u32, Field::Body, place);
            }
            if let Some(number) = titled {
                passages.occurrence(number as u32, Field::Title, 0);
            }
            let sum = |start: u32, with_title: bool| {
                let there = |number: usize| {
                    let inside = |&(place, of): &(u32, usize)| {
                        of == number && (place == 0 || (start..start + length).contains(&place))
                    };
                    all.iter().any(inside) || with_title && titled == Some(number)
                };
                let present = (0..4).filter(|&number| there(number));
                present.map(|number| weights[number]).sum::<f64>()
            };
            let best = |with_title| (0..60).map(|at| sum(at, with_title)).fold(0.0, f64::max);
            let found = passages.best(f64::from(length));
            prop_assert!((found.proximity - best(false)).abs() < 1e-9);
            prop_assert!((found.coverage - best(true) / 15.25).abs() < 1e-9);
        }
    }
}
