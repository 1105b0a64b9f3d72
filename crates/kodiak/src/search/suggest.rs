//! Names that resemble what was asked for, when nothing fits.

use rustc_hash::FxHashMap;

use crate::error::Result;
use crate::store::{Filter, Reader, Row};
use crate::text::fold_into;

/// Names less alike than this are no help.
const LEAST_ALIKE: f64 = 0.25;
/// How many characters of a text are compared.
const MAX_NAME_CHARACTERS: usize = 200;

/// The documents whose title or file name is most like `text`, best first.
pub(super) fn similar_names(
    store: &dyn Reader,
    text: &str,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Row>> {
    let mut wanted = Wanted::new(text);
    let mut alike: Vec<(f64, Row)> = Vec::new();
    if wanted.pairs.is_empty() {
        return Ok(Vec::new());
    }
    store.each_name(filter, &mut |(row, _, key, title)| {
        let name = key.rsplit('/').next().unwrap_or(&key);
        let likeness = wanted.likeness(&title).max(wanted.likeness(name));
        if likeness >= LEAST_ALIKE {
            alike.push((likeness, row));
        }
    })?;
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    Ok(alike.into_iter().take(limit).map(|(_, row)| row).collect())
}

/// Two neighbouring letters.
type Pair = (char, char);

/// What names are compared with: pairs of letters, each with the number of the
/// last comparison that had it, so that one map serves them all.
struct Wanted {
    pairs: FxHashMap<Pair, usize>,
    comparison: usize,
    folded: String,
}

impl Wanted {
    fn new(text: &str) -> Self {
        let mut folded = String::new();
        let mut pairs = FxHashMap::default();
        each_pair(text, &mut folded, |pair| {
            pairs.insert(pair, 0);
        });
        Self {
            pairs,
            comparison: 0,
            folded,
        }
    }

    /// Dice's coefficient: shared pairs against all pairs.
    fn likeness(&mut self, name: &str) -> f64 {
        self.comparison += 1;
        let (mut shared, mut all) = (0, 0);
        let Self {
            pairs,
            comparison,
            folded,
        } = self;
        each_pair(name, folded, |pair| {
            all += 1;
            if let Some(last) = pairs.get_mut(&pair)
                && *last != *comparison
            {
                *last = *comparison;
                shared += 1;
            }
        });
        2.0 * f64::from(shared) / (pairs.len() + all).max(1) as f64
    }
}

/// The pairs of letters in a text, words kept apart.
fn each_pair(text: &str, folded: &mut String, mut visit: impl FnMut(Pair)) {
    folded.clear();
    // A pasted page is like nothing; its beginning will do.
    let end = text
        .char_indices()
        .nth(MAX_NAME_CHARACTERS)
        .map_or(text.len(), |(at, _)| at);
    fold_into(&text[..end], folded);
    let mut last = ' ';
    for character in folded.chars() {
        let letter = if character.is_alphanumeric() {
            character
        } else {
            ' '
        };
        if letter != ' ' {
            visit((last, letter));
        }
        last = letter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likeness_counts_shared_pairs_once() {
        let mut wanted = Wanted::new("Sourdough");
        assert!(wanted.likeness("sourdough") > 0.9);
        assert!(wanted.likeness("sourdouhg") > 0.6);
        assert!(wanted.likeness("meeting notes") < LEAST_ALIKE);
        assert!(wanted.likeness("so so so so so so so") < 0.4);
        assert!(Wanted::new("?!").pairs.is_empty());
    }
}
