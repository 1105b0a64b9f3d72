//! Words within an edit distance of a misspelt one.

use std::fmt;
use std::sync::OnceLock;

use fst::{IntoStreamer, Set, SetBuilder, Streamer};
use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder};

/// An automaton that accepts words similar to a given one.
pub struct Similar(DFA);

impl Similar {
    /// Creates an automaton for words within an edit distance of 1 or 2.
    pub fn to(word: &str, distance: u8) -> Self {
        Self(automaton_builder(distance).build_dfa(word))
    }

    /// Returns the distance of another word, or `None` if it is not similar.
    pub fn distance_of(&self, word: &str) -> Option<u8> {
        match self.0.eval(word) {
            Distance::Exact(distance) => Some(distance),
            Distance::AtLeast(_) => None,
        }
    }

    /// Returns the similar words of an automaton made by [`automaton`], or `None` if it is
    /// not one.
    pub fn among(&self, automaton: &[u8]) -> Option<Vec<String>> {
        let set = Set::new(automaton).ok()?;
        let mut near = Vec::new();
        let mut stream = set.search(&self.0).into_stream();
        while let Some(found) = stream.next() {
            near.extend(std::str::from_utf8(found).ok().map(str::to_owned));
        }
        Some(near)
    }
}

impl fmt::Debug for Similar {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Similar")
    }
}

/// Returns the automaton over words that come sorted by their bytes. It has the words of
/// many documents in little space, and similar ones are found without reading all.
pub fn automaton<W: AsRef<[u8]>>(words: impl IntoIterator<Item = W>) -> Vec<u8> {
    let mut builder = SetBuilder::memory();
    for word in words {
        // Only words that are out of order are refused.
        let _ = builder.insert(word);
    }
    builder.into_inner().unwrap_or_default()
}

/// Returns the builder for an edit distance. Building one takes a moment, so
/// each is kept and used for all words.
fn automaton_builder(distance: u8) -> &'static LevenshteinAutomatonBuilder {
    static BUILDERS: [OnceLock<LevenshteinAutomatonBuilder>; 2] = [const { OnceLock::new() }; 2];
    let distance = distance.clamp(1, 2);
    BUILDERS[usize::from(distance) - 1]
        .get_or_init(|| LevenshteinAutomatonBuilder::new(distance, true))
}
