//! An expression, made ready to be looked for in segments.

use std::ops::ControlFlow;

use kodiak_rank::evidence::QueryWord;
use kodiak_store::expression::MAX_LINKABLE;
use kodiak_store::{Column, Expression, Phrase};
use kodiak_text::text::{Purpose, Stemming, Tokenizer};

/// An expression whose phrases are split into terms.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) phrases: Vec<PlannedPhrase>,
    pub(crate) root: Node,
    /// The phrases that count in the texts of links, with their numbers.
    pub(crate) linkable: Vec<(usize, Phrase)>,
}

/// A phrase of a plan. Its number is its place among those of the plan.
#[derive(Clone, Debug)]
pub(crate) struct PlannedPhrase {
    pub(crate) terms: Vec<String>,
    /// Whether the last term is a prefix.
    pub(crate) prefix: bool,
    /// The number of the field in which it must occur; any field if `None`.
    pub(crate) field: Option<usize>,
    pub(crate) weight: f64,
    pub(crate) word: Option<QueryWord>,
}

/// A part of an expression. Phrases are given by their numbers.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Phrase(usize),
    Near(Vec<usize>, usize),
    All(Vec<Node>),
    Any(Vec<Node>),
    Except(Box<Node>, Box<Node>),
}

impl Plan {
    pub(crate) fn new(expression: &Expression, stemming: Stemming) -> Self {
        let mut planner = Planner {
            tokenizer: Tokenizer::new(stemming),
            phrases: Vec::new(),
            linkable: Vec::new(),
        };
        let root = planner.node(expression);
        Self {
            phrases: planner.phrases,
            root,
            linkable: planner.linkable,
        }
    }

    /// Returns a plan that looks for one index term as it is.
    pub(crate) fn of_term(term: &str) -> Self {
        Self {
            phrases: vec![PlannedPhrase {
                terms: vec![term.to_owned()],
                prefix: false,
                field: None,
                weight: 0.0,
                word: None,
            }],
            root: Node::Phrase(0),
            linkable: Vec::new(),
        }
    }

    /// Returns the terms that are looked for as they are.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &String> {
        self.phrases.iter().flat_map(|phrase| {
            let whole = phrase.terms.len() - usize::from(phrase.prefix && !phrase.terms.is_empty());
            &phrase.terms[..whole]
        })
    }

    /// Returns the beginnings of terms that are looked for.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = &String> {
        let prefixes = self.phrases.iter().filter(|phrase| phrase.prefix);
        prefixes.filter_map(|phrase| phrase.terms.last())
    }
}

struct Planner {
    tokenizer: Tokenizer,
    phrases: Vec<PlannedPhrase>,
    linkable: Vec<(usize, Phrase)>,
}

impl Planner {
    fn node(&mut self, expression: &Expression) -> Node {
        match expression {
            Expression::Phrase(phrase) => {
                if phrase.counts_in_links() && self.linkable.len() < MAX_LINKABLE {
                    self.linkable.push((self.phrases.len(), phrase.clone()));
                }
                let terms = pattern(&mut self.tokenizer, phrase);
                Node::Phrase(self.phrase(phrase, phrase.column, terms))
            }
            Expression::Near(phrases, distance) => {
                let column = phrases.first().and_then(|phrase| phrase.column);
                let mut numbers = Vec::new();
                for phrase in phrases {
                    let terms = pattern(&mut self.tokenizer, phrase);
                    if !terms.is_empty() {
                        numbers.push(self.phrase(phrase, column, terms));
                    }
                }
                Node::Near(numbers, *distance)
            }
            Expression::All(parts) => Node::All(self.nodes(parts)),
            Expression::Any(parts) => Node::Any(self.nodes(parts)),
            Expression::Except(wanted, unwanted) => {
                let wanted = self.node(wanted);
                let (phrases, linkable) = (self.phrases.len(), self.linkable.len());
                let unwanted = self.node(unwanted);
                self.linkable.truncate(linkable);
                for phrase in &mut self.phrases[phrases..] {
                    (phrase.weight, phrase.word) = (0.0, None);
                }
                Node::Except(Box::new(wanted), Box::new(unwanted))
            }
        }
    }

    fn nodes(&mut self, parts: &[Expression]) -> Vec<Node> {
        parts.iter().map(|part| self.node(part)).collect()
    }

    fn phrase(&mut self, phrase: &Phrase, column: Option<Column>, terms: Vec<String>) -> usize {
        self.phrases.push(PlannedPhrase {
            terms,
            prefix: phrase.prefix,
            field: column.map(|column| match column {
                Column::Title => 0,
                Column::Tags => 2,
            }),
            weight: phrase.weight,
            word: phrase.word,
        });
        self.phrases.len() - 1
    }
}

/// Returns the terms of a phrase.
pub(crate) fn pattern(tokenizer: &mut Tokenizer, phrase: &Phrase) -> Vec<String> {
    let purpose = if phrase.prefix {
        Purpose::Prefix
    } else {
        Purpose::Query
    };
    let mut terms = Vec::new();
    let _ = tokenizer.each_term(&phrase.text, purpose, |term| {
        terms.push(term.text.to_owned());
        ControlFlow::<()>::Continue(())
    });
    terms
}
