//! BM25 with term proximity and title coverage, over term positions.
//!
//! Owns the lexical score of a document for a query, given the positions of the
//! query's phrases in it. Finding those positions is up to the store. Scoring
//! them happens here, so that every store ranks alike.

use super::evidence::QueryWord;
use super::passage::Passages;

/// The size of the searched collection, as BM25 needs it.
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
    /// The field weight of the texts of links to a document, relative to 1 for the
    /// body: it counts once, and again with the logarithm of the number of documents
    /// that link so. With 0, links are not looked at.
    pub links_weight: f64,
    /// The constant bonus for a phrase in the title, as a factor of its idf. It
    /// depends neither on term frequency nor on document length. Field weights
    /// alone saturate: without the bonus, a short note with a word as its tag
    /// outranks the note with that word as its title.
    pub title_boost: f64,
    /// The weight of term proximity in the body, as a factor of the idf within the best
    /// passage. A long document that contains every word somewhere need not be about all of
    /// them together.
    pub proximity_weight: f64,
    /// The length of a passage, in terms.
    pub passage_length: f64,
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
            links_weight: 5.0,
            title_boost: 0.2,
            proximity_weight: 0.75,
            passage_length: 20.0,
            title_coverage: 1.0,
        }
    }
}

impl Bm25 {
    /// Returns all parameters, always in the same order.
    pub fn numbers(&mut self) -> [&mut f64; 10] {
        let Self {
            k1,
            b,
            min_document_length,
            title_weight,
            tags_weight,
            links_weight,
            title_boost,
            proximity_weight,
            passage_length,
            title_coverage,
        } = self;
        [
            k1,
            b,
            min_document_length,
            title_weight,
            tags_weight,
            links_weight,
            title_boost,
            proximity_weight,
            passage_length,
            title_coverage,
        ]
    }
}

/// The positions of a query's phrases in one document. Reused from document to
/// document to save allocations.
#[derive(Debug, Default)]
pub struct TermMatches {
    phrases: Vec<PhraseMatch>,
    /// Positions in the title, of any phrase.
    title: Vec<u32>,
    passages: Passages,
}

/// A lexical score with the share of the query that the document's best passage
/// has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LexicalScore {
    /// The score; higher is better.
    pub score: f64,
    /// The passage coverage, from 0 to 1.
    pub coverage: f64,
}

/// A phrase in the current document.
#[derive(Debug, Default)]
struct PhraseMatch {
    idf: f64,
    /// The word it stands for, if that counts in passages.
    word: Option<QueryWord>,
    /// The term frequency, summed over fields with their weights.
    frequency: f64,
    in_title: bool,
}

impl TermMatches {
    /// Starts a query with phrases of these weights, each with the word it stands for,
    /// if that counts towards passage coverage.
    pub fn begin(&mut self, phrases: &[(f64, Option<QueryWord>)]) {
        let words = phrases.iter();
        let words = words.filter_map(|&(weight, word)| Some((word?, weight)));
        self.passages.begin(words);
    }

    /// Forgets the previous document.
    pub fn clear(&mut self) {
        self.phrases.clear();
        self.title.clear();
        self.passages.clear();
    }

    /// Adds a phrase with this idf that stands for this word. The occurrences
    /// recorded next belong to it.
    pub fn phrase(&mut self, idf: f64, word: Option<QueryWord>) {
        self.phrases.push(PhraseMatch {
            idf,
            word,
            ..PhraseMatch::default()
        });
    }

    /// Records an occurrence of the last phrase at this position of a field.
    pub fn occurrence(&mut self, field: Field, position: u32, bm25: &Bm25) {
        let Some(phrase) = self.phrases.last_mut() else {
            return;
        };
        if let Some(word) = phrase.word {
            self.passages.occurrence(word.number, field, position);
        }
        match field {
            Field::Title => {
                phrase.frequency += bm25.title_weight;
                phrase.in_title = true;
                self.title.push(position);
            }
            Field::Body => phrase.frequency += 1.0,
            Field::Tags => phrase.frequency += bm25.tags_weight,
        }
    }

    /// Records that this many documents link to the document with a text that has the
    /// last phrase.
    pub fn linked(&mut self, documents: u32, bm25: &Bm25) {
        let Some(phrase) = self.phrases.last_mut().filter(|_| documents > 0) else {
            return;
        };
        if let Some(word) = phrase.word {
            self.passages.everywhere(word.number);
        }
        phrase.frequency += bm25.links_weight * (1.0 + f64::from(documents).ln());
    }

    /// Returns the lexical score of the document, BM25, title coverage and term
    /// proximity added up, and its passage coverage.
    ///
    /// Looking up a document's length may take longer than all the rest, so
    /// `length` is only called if the document could still reach `minimum`. A
    /// document that cannot reach it gets an upper bound of its score, which is
    /// below `minimum`, and no coverage. `length` returns the number of terms in a
    /// field, or in all fields for `None`. If it returns `None`, so does this
    /// function.
    pub fn score(
        &mut self,
        bm25: &Bm25,
        average_length: f64,
        minimum: f64,
        mut length: impl FnMut(Option<Field>) -> Option<f64>,
    ) -> Option<LexicalScore> {
        let bound = |score| {
            Some(LexicalScore {
                score,
                coverage: 0.0,
            })
        };
        // Upper bounds of the score, each tighter and dearer than the last.
        let coverage = bm25.title_coverage * self.idf_in_title();
        let apart = self.bm25(bm25, average_length, 0.0) + coverage;
        let highest = apart + bm25.proximity_weight * self.passages.most_proximity();
        if highest < minimum {
            return bound(highest);
        }
        let passage = self.passages.best(bm25.passage_length);
        let proximity = bm25.proximity_weight * passage.proximity;
        if apart + proximity < minimum {
            return bound(apart + proximity);
        }
        let all = length(None)?;
        let coverage = if coverage > 0.0 {
            bm25.title_coverage * self.title_coverage(length(Some(Field::Title))?)
        } else {
            0.0
        };
        Some(LexicalScore {
            score: self.bm25(bm25, average_length, all) + coverage + proximity,
            coverage: passage.coverage,
        })
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

    /// Returns the upper bound of [`TermMatches::title_coverage`]: the sum of the
    /// idf of all phrases in the title.
    fn idf_in_title(&self) -> f64 {
        self.idf_where(|phrase| phrase.in_title)
    }

    fn idf_where(&self, counts: impl Fn(&PhraseMatch) -> bool) -> f64 {
        let counted = self.phrases.iter().filter(|phrase| counts(phrase));
        counted.map(|phrase| phrase.idf).sum()
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
    use super::*;
    use crate::Tuning;

    /// Returns the matches of phrases, each given as its idf, its positions in the
    /// title and its positions in the body.
    fn matches(phrases: &[(f64, &[u32], &[u32])]) -> TermMatches {
        let bm25 = Bm25::default();
        let mut matches = TermMatches::default();
        let numbered = (0..).zip(phrases);
        let words: Vec<_> = numbered
            .map(|(number, &(idf, ..))| {
                let surprise = idf;
                (idf, Some(QueryWord { number, surprise }))
            })
            .collect();
        matches.begin(&words);
        for (&(idf, title, body), (_, word)) in phrases.iter().zip(words) {
            matches.phrase(idf, word);
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

    /// The cap on a stop word's idf and the idf from which positions count are
    /// one number: a stop word never adds to proximity, a rarer term does.
    #[test]
    fn a_stop_word_at_its_cap_adds_nothing_to_proximity() {
        let cap = Tuning::default().stop_word_idf;
        let rarer = cap + 1e-9;
        let mut stop_word = matches(&[(4.0, &[], &[5]), (cap, &[], &[6])]);
        assert_near(stop_word.passages.best(10.0).proximity, 4.0);
        let mut other = matches(&[(4.0, &[], &[5]), (rarer, &[], &[6])]);
        assert_near(other.passages.best(10.0).proximity, 4.0 + rarer);
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
}
