//! What a person typed, understood: words, phrases, operators and fields.
//!
//! Every string is a query. What cannot be an operator where it stands is a
//! word, and what holds no word is left out.

use super::token::{Token, Unit, tokens};
use crate::rank::rules::QUESTION_WORDS;
use crate::store::Column;
use crate::text::{fold_into, word_count, words};

/// Words beyond this many are not looked for: a pasted page is cut short
/// rather than refused.
pub(super) const MAX_WORDS: usize = 128;
/// Nor is anything after this many words and operators.
const MAX_TOKENS: usize = 1024;
/// How many words can be near each other.
const MAX_NEAR: usize = 16;
/// Parentheses nested deeper than this are taken as spaces.
const DEEPEST: usize = 16;

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    /// What must hold; all of it.
    pub(super) required: Vec<Condition>,
    /// What ranks, any of it; where nothing is required, one must match.
    pub(super) optional: Vec<Clause>,
    /// What must not hold; none of it.
    pub(super) excluded: Vec<Condition>,
    /// Whether words were left out because there were too many.
    pub(super) cut_short: bool,
}

/// A condition on a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// The clause matches.
    Clause(Clause),
    /// All hold.
    All(Vec<Condition>),
    /// Any holds.
    Any(Vec<Condition>),
    /// The first holds, the second does not.
    Except(Box<Condition>, Box<Condition>),
    /// The words stand within so many words of each other.
    Near(Vec<String>, usize),
}

impl Condition {
    /// The ways to meet it, each as the texts that must be there.
    fn alternatives(&self) -> Vec<Vec<String>> {
        match self {
            Self::Clause(clause) => vec![vec![clause.text.clone()]],
            Self::Any(parts) => parts.iter().flat_map(Self::alternatives).collect(),
            Self::All(parts) => parts.iter().fold(vec![Vec::new()], |ways, part| {
                let more = part.alternatives();
                let joined = ways
                    .iter()
                    .flat_map(|way| more.iter().map(|texts| [&way[..], texts].concat()));
                joined.take(MAX_WORDS).collect()
            }),
            Self::Except(wanted, _) => wanted.alternatives(),
            Self::Near(words, _) => vec![words.clone()],
        }
    }
}

/// The least thing that can match.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    /// Where it must stand.
    pub(super) column: Option<Column>,
    /// What must stand there.
    pub(super) text: String,
    /// Whether it is one word, a phrase, or the beginning of a word.
    pub(super) form: Form,
}

/// How a clause's text is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// One index term: a word, or a piece of a run without spaces.
    Word,
    /// Words in a row.
    Phrase,
    /// The beginning of a word.
    Prefix,
}

impl Query {
    /// Understands `text`. With `all`, plain words are required.
    pub(super) fn parse(text: &str, all: bool) -> Self {
        let mut tokens = tokens(text);
        let mut query = Self {
            cut_short: tokens.len() > MAX_TOKENS,
            ..Self::default()
        };
        tokens.truncate(MAX_TOKENS);
        if has_operator(&tokens) {
            let mut parser = Parser {
                tokens: &tokens,
                at: 0,
                depth: 0,
            };
            let (condition, excluded) = split_exclusions(parser.any());
            query.required.extend(condition);
            query.excluded.extend(excluded);
        } else {
            let sentence = is_sentence(&tokens);
            for token in &tokens {
                query.add_plain(token, sentence);
            }
        }
        if all {
            let words = std::mem::take(&mut query.optional);
            query
                .required
                .extend(words.into_iter().map(Condition::Clause));
        }
        query.shorten();
        query
    }

    fn add_plain(&mut self, token: &Token, sentence: bool) {
        let Token::Unit(unit) = token else { return };
        let clauses = unit.clauses();
        let conditions = || clauses.iter().cloned().map(Condition::Clause);
        if unit.negated {
            self.excluded.extend(one_condition(conditions().collect()));
        } else if unit.column.is_some() || (unit.quoted && !sentence) {
            self.required.extend(conditions());
        } else if unit.quoted {
            let words = Unit {
                quoted: false,
                ..unit.clone()
            };
            self.optional.extend(clauses);
            self.optional.extend(words.clauses());
        } else {
            self.optional.extend(clauses);
        }
    }

    /// Drops repeated words and those past the limit.
    fn shorten(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.optional.retain(|clause| {
            let mut folded = String::new();
            fold_into(&clause.text, &mut folded);
            seen.insert((folded, clause.form))
        });
        self.cut_short |= self.optional.len() > MAX_WORDS || self.required.len() > MAX_WORDS;
        self.optional.truncate(MAX_WORDS);
        self.required.truncate(MAX_WORDS);
    }

    /// What is wanted, in words: all of `text`, unless some of it is an
    /// operator or not wanted.
    pub(super) fn wanted_text(&self, text: &str) -> String {
        fn collect<'a>(condition: &'a Condition, texts: &mut Vec<&'a str>) {
            match condition {
                Condition::Clause(clause) => texts.push(&clause.text),
                Condition::All(parts) | Condition::Any(parts) => {
                    for part in parts {
                        collect(part, texts);
                    }
                }
                Condition::Except(wanted, _) => collect(wanted, texts),
                Condition::Near(words, _) => texts.extend(words.iter().map(String::as_str)),
            }
        }
        if self.required.is_empty() && self.excluded.is_empty() {
            return text.trim().to_owned();
        }
        let mut texts = Vec::new();
        for condition in &self.required {
            collect(condition, &mut texts);
        }
        texts.extend(self.optional.iter().map(|clause| clause.text.as_str()));
        texts.join(" ")
    }

    /// What is not wanted, as texts: a document with all of any of these is shut
    /// out. What an exception would let in again stays out as well.
    pub(super) fn excluded(&self) -> Vec<Vec<String>> {
        let alternatives = self.excluded.iter().flat_map(Condition::alternatives);
        alternatives.take(MAX_WORDS).collect()
    }

    /// Whether nothing in it can match.
    pub(super) fn is_empty(&self) -> bool {
        self.required.is_empty() && self.optional.is_empty()
    }
}

/// Returns whether an operator has something to work on. One that has not is
/// dropped; in lower case "and", "or", "not" and "near" are always words.
fn has_operator(tokens: &[Token]) -> bool {
    let operand =
        |token: Option<&Token>| matches!(token, Some(Token::Unit(_) | Token::Open | Token::Close));
    tokens.iter().enumerate().any(|(at, token)| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let after = tokens.get(at + 1);
        match token {
            Token::And | Token::Or => {
                operand(before) && (operand(after) || after == Some(&Token::Not))
            }
            Token::Not => operand(after),
            Token::Near(_) => operand(after),
            _ => false,
        }
    })
}

/// Whether three words or more stand outside of quotes: there, quotes point at
/// something rather than demand it.
fn is_sentence(tokens: &[Token]) -> bool {
    let plain = |token: &Token| match token {
        Token::Unit(unit)
            if !unit.quoted
                && !unit.negated
                && unit.column.is_none()
                && words(&unit.text).next().is_some() =>
        {
            word_count(&unit.text)
        }
        _ => 0,
    };
    tokens.iter().map(plain).sum::<usize>() >= QUESTION_WORDS
}

/// Reads tokens as `any := all (OR all)*`, `all := unit ((AND|NOT)? unit)*`.
struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn any(&mut self) -> Vec<Signed> {
        let mut branches = vec![self.all()];
        while self.peek() == Some(&Token::Or) {
            self.at += 1;
            branches.push(self.all());
        }
        branches.retain(|branch| !branch.is_empty());
        if branches.len() == 1 {
            return branches.remove(0);
        }
        let conditions: Vec<Condition> = branches.into_iter().filter_map(all_of).collect();
        one_condition(conditions)
            .map(Signed::Wanted)
            .into_iter()
            .collect()
    }

    fn all(&mut self) -> Vec<Signed> {
        let mut parts = Vec::new();
        let mut negate = false;
        loop {
            match self.peek() {
                None | Some(Token::Or) => break,
                Some(Token::Close) if self.depth > 0 => break,
                Some(Token::Close) => self.at += 1,
                Some(Token::And) => self.at += 1,
                Some(Token::Not) => {
                    self.at += 1;
                    negate = !negate;
                }
                Some(Token::Near(distance)) => {
                    let distance = *distance;
                    self.at += 1;
                    self.near(distance, &mut parts);
                }
                Some(Token::Open) => {
                    self.at += 1;
                    let inner = self.group();
                    push(&mut parts, all_of(inner), negate);
                    negate = false;
                }
                Some(Token::Unit(unit)) => {
                    let conditions = unit.clauses().into_iter().map(Condition::Clause);
                    let condition = all_condition(conditions.collect());
                    push(&mut parts, condition, negate != unit.negated);
                    self.at += 1;
                    negate = false;
                }
            }
        }
        parts
    }

    fn group(&mut self) -> Vec<Signed> {
        if self.depth >= DEEPEST {
            return Vec::new();
        }
        self.depth += 1;
        let inner = self.any();
        self.depth -= 1;
        if self.peek() == Some(&Token::Close) {
            self.at += 1;
        }
        inner
    }

    /// `NEAR(a b, 5)`, or `a NEAR b`, which takes back the part before it.
    fn near(&mut self, mut distance: usize, parts: &mut Vec<Signed>) {
        let mut near = Vec::new();
        if self.peek() == Some(&Token::Open) {
            self.at += 1;
            while let Some(token) = self.peek() {
                match token {
                    Token::Close => break,
                    Token::Unit(unit) => {
                        let number = unit.text.trim_start_matches(',').trim();
                        let told = near.len() > 1 && !unit.quoted;
                        match number.parse() {
                            Ok(number) if told => distance = number,
                            _ => near.extend(near_text(unit)),
                        }
                    }
                    _ => {}
                }
                self.at += 1;
            }
            self.at += usize::from(self.peek() == Some(&Token::Close));
        } else if let Some(Token::Unit(unit)) = self.peek().cloned() {
            self.at += 1;
            if let Some(Signed::Wanted(Condition::Clause(before))) = parts.last() {
                near.push(before.text.clone());
                parts.pop();
            }
            near.extend(near_text(&unit));
        }
        near.truncate(MAX_NEAR);
        if !near.is_empty() {
            parts.push(Signed::Wanted(Condition::Near(near, distance)));
        }
    }
}

fn near_text(unit: &Unit) -> Option<String> {
    words(&unit.text).next()?;
    Some(unit.text.trim_matches([',', '*']).to_owned())
}

/// A condition that is wanted or unwanted, before the two are brought together.
#[derive(Debug)]
enum Signed {
    Wanted(Condition),
    Unwanted(Condition),
}

fn push(parts: &mut Vec<Signed>, condition: Option<Condition>, unwanted: bool) {
    parts.extend(condition.map(|condition| {
        if unwanted {
            Signed::Unwanted(condition)
        } else {
            Signed::Wanted(condition)
        }
    }));
}

fn split_exclusions(parts: Vec<Signed>) -> (Vec<Condition>, Vec<Condition>) {
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Signed::Wanted(condition) => wanted.push(condition),
            Signed::Unwanted(condition) => unwanted.push(condition),
        }
    }
    (wanted, unwanted)
}

/// What is wanted without what is not. Only unwanted parts make no condition:
/// inside an alternative there is nothing to take them from.
fn all_of(parts: Vec<Signed>) -> Option<Condition> {
    let (wanted, unwanted) = split_exclusions(parts);
    let wanted = all_condition(wanted)?;
    Some(match one_condition(unwanted) {
        None => wanted,
        Some(unwanted) => Condition::Except(Box::new(wanted), Box::new(unwanted)),
    })
}

fn all_condition(mut parts: Vec<Condition>) -> Option<Condition> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Condition::All(parts)),
    }
}

fn one_condition(mut parts: Vec<Condition>) -> Option<Condition> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Condition::Any(parts)),
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
