//! Suggestions: documents with names similar to a text that matched nothing.

use rustc_hash::FxHashMap;
use strsim::osa_distance;

use super::Suggestion;
use super::desk::Desk;
use super::freshness::{Freshener, Freshness};
use crate::error::Result;
use crate::source::Source;
use crate::store::{Filter, Reader, Row};
use crate::text::fold_into;

/// The lowest Dice coefficient at which a name is suggested.
const MIN_SIMILARITY: f64 = 0.25;
/// The number of shared bigrams below which a name must be much more similar: two
/// letters in common are chance.
const MIN_SHARED_BIGRAMS: u32 = 3;
const ALIKE_WITH_FEW: f64 = 0.5;
/// The number of letters from which a name that differs by one slip is meant: of three
/// letters, one slip leaves another name.
const MIN_SLIP_LETTERS: usize = 4;
/// The number of characters of a text that are compared.
const MAX_NAME_CHARACTERS: usize = 200;

/// The number of documents that are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// Returns the documents that meet `filter`, still exist, and have a name similar to
/// `text`.
pub(super) fn suggestions(
    store: &dyn Reader,
    sources: &[Box<dyn Source>],
    text: &str,
    filter: &Filter,
) -> Result<Vec<Suggestion>> {
    // Looks at more than are shown, since some may be gone.
    let rows = similar_names(store, text, filter, 3 * MAX_SUGGESTIONS)?;
    let mut suggestions = Vec::new();
    let freshener = Freshener::new(sources, store);
    let desk = Desk::new(store, filter);
    desk.fetch(crate::store::Wanted {
        documents: rows.clone(),
        entries: rows.clone(),
        ..crate::store::Wanted::default()
    })?;
    let mut found = Vec::with_capacity(rows.len());
    for document in desk.documents(&rows)? {
        let entry = desk.entry(document.row)?;
        found.push((document, entry));
    }
    freshener.ask(found.iter().filter_map(|(document, entry)| {
        let (key, _) = entry.as_ref()?;
        Some((document.source.as_str(), key.as_str()))
    }));
    for (document, entry) in found {
        if suggestions.len() == MAX_SUGGESTIONS {
            break;
        }
        if freshener.of(&document, entry.as_ref())? != Freshness::Gone {
            suggestions.push(Suggestion {
                id: document.short_id.clone(),
                title: document.title.clone(),
                source: document.source.clone(),
                path: document.key.clone(),
            });
        }
    }
    Ok(suggestions)
}

/// Returns the documents whose title or file name is most similar to `text`, best
/// first.
pub(super) fn similar_names(
    store: &dyn Reader,
    text: &str,
    filter: &Filter,
    limit: usize,
) -> Result<Vec<Row>> {
    let mut wanted = Wanted::new(bare_name(text));
    let mut alike: Vec<(f64, Row)> = Vec::new();
    if wanted.pairs.is_empty() {
        return Ok(Vec::new());
    }
    store.each_name(filter, &mut |(row, _, key, title)| {
        let name = bare_name(&key);
        let likeness = wanted.likeness(&title).max(wanted.likeness(name));
        if likeness >= MIN_SIMILARITY {
            alike.push((likeness, row));
        }
    })?;
    alike.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    Ok(alike.into_iter().take(limit).map(|(_, row)| row).collect())
}

/// Returns the name of a file without its folder and its extension, which many names share.
/// A text that is not a path is returned as it is.
fn bare_name(text: &str) -> &str {
    if text.contains(char::is_whitespace) && !text.contains('/') {
        return text;
    }
    let name = text.rsplit('/').find(|part| !part.is_empty());
    let name = name.unwrap_or(text);
    let is_extension = |end: &&str| {
        (1..=8).contains(&end.len()) && end.chars().all(|sign| sign.is_ascii_alphanumeric())
    };
    match name.rsplit_once('.') {
        Some((bare, end)) if !bare.is_empty() && is_extension(&end) => bare,
        _ => name,
    }
}

/// A character bigram.
type Pair = (char, char);

/// The text that names are compared with, as character bigrams. Each has the
/// number of the last comparison it occurred in, so that one map serves all
/// comparisons.
struct Wanted {
    text: String,
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
            text: folded.clone(),
            pairs,
            comparison: 0,
            folded,
        }
    }

    /// Returns the Dice coefficient of the text and a name: twice the number of
    /// shared bigrams, divided by the number of all bigrams. It is 0 for names that
    /// share hardly any, unless one slip of the fingers makes the difference: two letters
    /// that change places in a short name leave few bigrams as they are.
    fn likeness(&mut self, name: &str) -> f64 {
        self.comparison += 1;
        let (mut shared, mut all) = (0_u32, 0);
        let Self {
            text,
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
        let likeness = 2.0 * f64::from(shared) / (pairs.len() + all).max(1) as f64;
        if shared < MIN_SHARED_BIGRAMS && likeness < ALIKE_WITH_FEW {
            return if shared > 0 && is_one_slip(text, folded) {
                ALIKE_WITH_FEW
            } else {
                0.0
            };
        }
        likeness
    }
}

/// Reports whether two folded names differ by one letter, or by two that change places.
fn is_one_slip(one: &str, other: &str) -> bool {
    one.len().abs_diff(other.len()) <= char::MAX.len_utf8()
        && one.chars().count() >= MIN_SLIP_LETTERS
        && osa_distance(one, other) == 1
}

/// Calls `visit` with each character bigram of a text. The first letter of a word
/// makes one with a space.
fn each_pair(text: &str, folded: &mut String, mut visit: impl FnMut(Pair)) {
    folded.clear();
    // A pasted page is similar to no name; its beginning will do.
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
    fn names_are_compared_without_what_many_share() {
        for (text, expected) in [
            ("notes/sub/tea.md", "tea"),
            ("My notes/green tea.markdown", "green tea"),
            ("notes/", "notes"),
            ("tea", "tea"),
            ("tea v1.2", "tea v1.2"),
            (".md", ".md"),
            ("/", "/"),
        ] {
            assert_eq!(bare_name(text), expected, "{text}");
        }
    }

    #[test]
    fn likeness_counts_shared_pairs_once() {
        let mut wanted = Wanted::new("Sourdough");
        assert!(wanted.likeness("sourdough") > 0.9);
        assert!(wanted.likeness("sourdouhg") > 0.6);
        assert!(wanted.likeness("meeting notes") < MIN_SIMILARITY);
        assert!(wanted.likeness("so so so so so so so") < 0.4);
        assert!(Wanted::new("?!").pairs.is_empty());
        let mut wanted = Wanted::new("quokka");
        for name in ["ok", "Quiz", "okay.md", "kayak"] {
            assert!(wanted.likeness(name) < MIN_SIMILARITY, "{name}");
        }
        assert!(wanted.likeness("Quokas") > MIN_SIMILARITY);
        assert!(Wanted::new("okk").likeness("ok") > MIN_SIMILARITY);
    }

    #[test]
    fn a_slip_in_a_short_name_makes_it_no_other_name() {
        for (typed, name) in [("braed", "bread"), ("Gyrdon", "garden"), ("nite", "note")] {
            let alike = Wanted::new(typed).likeness(name) >= MIN_SIMILARITY;
            assert_eq!(alike, typed != "Gyrdon", "{typed}");
        }
        // Of three letters, another one makes another name.
        assert!(!is_one_slip("gtd", "std") && is_one_slip("gtds", "stds"));
        assert!(!is_one_slip("note", "note") && !is_one_slip("note", "mole"));
    }
}
