//! Observations of a word in documents: where it occurs, which words it begins, and whether
//! they have it as typed.
//!
//! A search reads such documents before it retrieves, as few as decide. Owns which
//! documents are read, and when enough of them are.

use std::collections::BTreeMap;

use super::address::Occurrence;
use super::complete::words_of;
use super::surface::Typed;
use crate::store::{Column, Expression, Look, Looked, Next, Row, StoredDocument};

/// The number of documents that are read for a correction or a completion.
const MAX_READ: usize = 32;
/// The number of documents after which it is decided whether a word occurs only inside
/// addresses.
const BATCH: usize = 4;
/// The number of documents with a word only inside addresses from which the others
/// are taken to be like them.
const MAX_INSIDE: u64 = 8;
/// The number of documents that are read to divide them. If more match, they are not
/// divided.
const MAX_DIVIDED: usize = 500;

/// A question that only documents answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Watch {
    /// Where a folded word occurs that this many documents have and that the typed word may
    /// stand for.
    Occurrence {
        word: String,
        documents: u64,
        typed: String,
    },
    /// The words that begin with a folded one.
    Completions {
        typed: String,
        column: Option<Column>,
    },
    /// Which documents have a word as typed and which only have its stem.
    Division {
        typed: Typed,
        column: Option<Column>,
    },
}

/// The answer to a [`Watch`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Seen {
    Occurrence(Occurrence),
    /// The words with their numbers of documents, the most common first.
    Completions(Vec<(String, u64)>),
    /// The documents with the word and those with its stem only; `None` if they are too
    /// many to read.
    Division(Option<(Vec<Row>, Vec<Row>)>),
}

impl Watch {
    /// Returns the assumption before any document was read.
    pub(super) fn guess(&self) -> Seen {
        match self {
            Self::Occurrence { .. } => Seen::Occurrence(Occurrence::None),
            Self::Completions { .. } => Seen::Completions(Vec::new()),
            Self::Division { .. } => Seen::Division(None),
        }
    }

    /// Returns the documents to read.
    pub(super) fn look(&self, expression: &Expression) -> Look {
        let most = match self {
            Self::Division { .. } => MAX_DIVIDED,
            _ => MAX_READ,
        };
        Look {
            expression: expression.clone(),
            most,
        }
    }

    /// Returns the word that this decides about. Once one of several questions about a
    /// word has decided, the others need no answer.
    fn typed(&self) -> Option<&str> {
        match self {
            Self::Occurrence { typed, .. } | Self::Completions { typed, .. } => Some(typed),
            Self::Division { .. } => None,
        }
    }
}

/// A question while documents are read.
#[derive(Debug)]
pub(super) struct Watching {
    watch: Watch,
    /// The number of documents that match, once it is known.
    matching: Option<usize>,
    read: usize,
    inside: u64,
    outside: bool,
    words: BTreeMap<String, u64>,
    as_typed: Vec<Row>,
    by_stem: Vec<Row>,
}

impl Watching {
    /// Creates a question to which no document was read.
    pub(super) fn new(watch: Watch) -> Self {
        Self {
            watch,
            matching: None,
            read: 0,
            inside: 0,
            outside: false,
            words: BTreeMap::new(),
            as_typed: Vec::new(),
            by_stem: Vec::new(),
        }
    }

    /// Reports whether this is the question.
    pub(super) fn is_about(&self, watch: &Watch) -> bool {
        self.watch == *watch
    }

    /// Takes a step of one of several questions.
    pub(super) fn see(all: &mut [Self], number: usize, step: Looked<'_>) -> Next {
        match step {
            Looked::Begins => {
                let typed = all[number].watch.typed();
                let decides = |one: &Self| one.watch.typed() == typed && one.has_decided();
                if typed.is_some() && all[..number].iter().any(decides) {
                    Next::Enough
                } else {
                    Next::More
                }
            }
            Looked::Matching(rows) => {
                all[number].matching = Some(rows.len());
                match all[number].watch {
                    Watch::Division { .. } if rows.len() > MAX_DIVIDED => Next::Enough,
                    _ => Next::More,
                }
            }
            Looked::Document(document) => all[number].read(document),
        }
    }

    fn read(&mut self, document: &StoredDocument) -> Next {
        self.read += 1;
        match &self.watch {
            Watch::Occurrence {
                word, documents, ..
            } => {
                let tags = document.tags.iter().map(String::as_str);
                let texts = tags.chain([document.title.as_str(), &document.body]);
                match texts.map(|text| Occurrence::of(word, text)).max() {
                    Some(Occurrence::Outside) => self.outside = true,
                    Some(Occurrence::Inside) => self.inside += 1,
                    _ => {}
                }
                let is_only_inside =
                    self.read.is_multiple_of(BATCH) && self.inside >= (*documents).min(MAX_INSIDE);
                if self.outside || is_only_inside {
                    return Next::Enough;
                }
            }
            Watch::Completions { typed, column } => {
                for word in words_of(document, *column, typed) {
                    *self.words.entry(word).or_default() += 1;
                }
            }
            Watch::Division { typed, column } => {
                let rows = if typed.occurs_in(document, *column) {
                    &mut self.as_typed
                } else {
                    &mut self.by_stem
                };
                rows.push(document.row);
            }
        }
        Next::More
    }

    /// Reports whether other questions about the same word need no answer.
    fn has_decided(&self) -> bool {
        self.outside || !self.words.is_empty() || self.is_assumed_outside()
    }

    /// Reports whether a word occurs outside addresses although no document that was
    /// read says so.
    fn is_assumed_outside(&self) -> bool {
        match (&self.watch, self.matching) {
            (Watch::Occurrence { documents, .. }, Some(1..)) => {
                self.inside < (*documents).min(MAX_INSIDE)
            }
            _ => false,
        }
    }

    /// Returns the answer, if documents were read for it.
    pub(super) fn seen(self) -> Option<(Watch, Seen)> {
        let matching = self.matching?;
        let seen = match &self.watch {
            Watch::Occurrence { .. } => {
                let outside = self.outside || self.is_assumed_outside();
                Seen::Occurrence(match matching {
                    _ if outside => Occurrence::Outside,
                    0 => Occurrence::None,
                    _ => Occurrence::Inside,
                })
            }
            Watch::Completions { .. } => {
                let mut completions: Vec<(String, u64)> = self.words.into_iter().collect();
                completions.sort_by_key(|(_, documents)| std::cmp::Reverse(*documents));
                Seen::Completions(completions)
            }
            Watch::Division { .. } if matching > MAX_DIVIDED => Seen::Division(None),
            Watch::Division { .. } => Seen::Division(Some((self.as_typed, self.by_stem))),
        };
        Some((self.watch, seen))
    }
}
