//! Names that resemble what was asked for, when nothing fits.

use std::collections::HashSet;

use crate::error::Result;
use crate::store::{Row, SqliteStore};
use crate::text::fold_into;

/// Names less alike than this are no help.
const LEAST_ALIKE: f64 = 0.25;

/// The documents whose title or path is most like `text`, best first.
pub(super) fn similar_names(store: &SqliteStore, text: &str, limit: usize) -> Result<Vec<Row>> {
    let wanted = pairs_of(text);
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let mut alike: Vec<(f64, Row)> = Vec::new();
    store.each_name(|(row, _, key, title)| {
        let name = key.rsplit('/').next().unwrap_or(&key);
        let likeness = [title.as_str(), name]
            .map(|name| likeness(&wanted, &pairs_of(name)))
            .into_iter()
            .fold(0.0, f64::max);
        if likeness >= LEAST_ALIKE {
            alike.push((likeness, row));
        }
    })?;
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    Ok(alike.into_iter().take(limit).map(|(_, row)| row).collect())
}

/// Pairs of neighbouring letters, words kept apart.
fn pairs_of(text: &str) -> HashSet<(char, char)> {
    let mut folded = String::new();
    // A pasted page is like nothing; its beginning will do.
    for character in text.chars().take(200) {
        fold_into(character.encode_utf8(&mut [0; 4]), &mut folded);
    }
    let letters: Vec<char> = std::iter::once(' ')
        .chain(
            folded
                .chars()
                .map(|c| if c.is_alphanumeric() { c } else { ' ' }),
        )
        .collect();
    let pairs = letters.windows(2).map(|pair| (pair[0], pair[1]));
    pairs.filter(|&(_, second)| second != ' ').collect()
}

/// Dice's coefficient: shared pairs against all pairs.
fn likeness(one: &HashSet<(char, char)>, other: &HashSet<(char, char)>) -> f64 {
    let shared = one.intersection(other).count();
    2.0 * shared as f64 / (one.len() + other.len()).max(1) as f64
}
