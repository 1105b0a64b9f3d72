//! The condition of a search as a tree of phrases, which no user input can
//! break.

use std::collections::{HashMap, HashSet};

use crate::{LinkMatch, Row};
use kodiak_rank::evidence::QueryWord;

/// The number of phrases that are looked for in the texts of links. Only the beginning of
/// a word has more forms.
pub const MAX_LINKABLE: usize = 32;

/// A column of the full text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Column {
    /// The document's title.
    Title,
    /// The document's tags.
    Tags,
}

/// A sequence of consecutive words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phrase {
    /// The words as written. The store splits them into terms.
    pub text: String,
    /// Whether the last word is a prefix.
    pub prefix: bool,
    /// The column in which it must occur; any column if `None`.
    pub column: Option<Column>,
    /// The weight of a match: the inverse document frequency, or 0 if it does
    /// not count.
    pub weight: f64,
    /// The query's word that it stands for, if that counts towards passage coverage.
    pub word: Option<QueryWord>,
}

impl Phrase {
    /// Reports whether it counts for the documents that links with it point to: if it
    /// stands for a word of the query, wherever that occurs.
    pub fn counts_in_links(&self) -> bool {
        self.weight > 0.0 && self.word.is_some() && self.column.is_none()
    }
}

impl Expression {
    /// Reports whether the expression is met if only those phrases occur that `occurs`
    /// says. One that excludes something, or asks for words near each other, is not.
    pub fn is_met_where(&self, occurs: &dyn Fn(&Phrase) -> bool) -> bool {
        match self {
            Self::Phrase(phrase) => occurs(phrase),
            Self::All(parts) => {
                !parts.is_empty() && parts.iter().all(|part| part.is_met_where(occurs))
            }
            Self::Any(parts) => parts.iter().any(|part| part.is_met_where(occurs)),
            Self::Near(..) | Self::Except(..) => false,
        }
    }

    /// Returns the documents that meet the expression by the texts of links to them, given
    /// the phrases that count there with their numbers, and where links have them.
    pub fn found_by_links(
        &self,
        linkable: &[(usize, Phrase)],
        linked: &[LinkMatch],
    ) -> HashSet<Row> {
        let mut phrases: HashMap<Row, Vec<&Phrase>> = HashMap::new();
        for one in linked {
            let phrase = linkable.iter().find(|(number, _)| *number == one.phrase);
            let row = phrases.entry(one.row).or_default();
            row.extend(phrase.map(|(_, phrase)| phrase));
        }
        let is_met = |having: &[&Phrase]| {
            self.is_met_where(&|wanted| {
                let same = |it: &&Phrase| it.text == wanted.text && it.prefix == wanted.prefix;
                wanted.column.is_none() && having.iter().any(same)
            })
        };
        phrases.retain(|_, having| is_met(having));
        phrases.into_keys().collect()
    }
}

/// A condition on documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// The phrase occurs.
    Phrase(Phrase),
    /// The phrases occur in one field, with at most this many words between the
    /// end of each and the beginning of the last one. The first phrase
    /// determines the column. Phrases without any word are ignored.
    Near(Vec<Phrase>, usize),
    /// All of these hold; never true if the list is empty.
    All(Vec<Expression>),
    /// Any of these holds.
    Any(Vec<Expression>),
    /// The first holds and the second does not.
    Except(Box<Expression>, Box<Expression>),
}
