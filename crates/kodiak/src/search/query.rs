//! The query language: parses a query into words, phrases, operators and fields.
//!
//! Every string is a query. An operator without operands is dropped, a field name
//! without a value is a word, and whatever contains no word is left out.

use super::token::{Token, Unit, tokens};
use crate::rank::rules::QUESTION_WORDS;
use crate::store::Column;
use crate::text::{fold_into, word_count, words};

/// The highest number of required conditions, and of optional clauses. A pasted
/// page is truncated rather than refused.
const MAX_WORDS: usize = 128;
/// The number of words and operators of a query that are parsed.
const MAX_TOKENS: usize = 1024;
/// The highest number of words in one NEAR.
const MAX_NEAR: usize = 16;
/// The nesting depth from which parentheses are taken as spaces.
const DEEPEST: usize = 16;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    /// The conditions a document must meet, all of them.
    pub(super) required: Vec<Condition>,
    /// The clauses that only rank documents. If nothing is required, at least one
    /// must match.
    pub(super) optional: Vec<Clause>,
    /// The conditions a document must not meet, none of them.
    pub(super) excluded: Vec<Condition>,
    /// The texts of the quoted phrases among the required conditions. An operator's
    /// operands are not among them.
    pub(super) phrases: Vec<String>,
    /// The number of words after which the query was truncated, if it was too long.
    pub(super) cut_after: Option<usize>,
}

/// A condition on a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Condition {
    /// The clause matches.
    Clause(Clause),
    /// All conditions are met.
    All(Vec<Condition>),
    /// At least one condition is met.
    Any(Vec<Condition>),
    /// The first condition is met and the second is not.
    Except(Box<Condition>, Box<Condition>),
    /// The words occur within this distance of each other.
    Near(Vec<String>, usize),
}

impl Condition {
    /// Returns the ways to meet the condition, each as the texts that a document
    /// must contain. Exceptions are ignored.
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

/// A single text to match.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Clause {
    /// The column it must occur in; `None` for any.
    pub(super) column: Option<Column>,
    /// The text that must occur.
    pub(super) text: String,
    /// Whether the text is one word, a phrase, or possibly the beginning of a word.
    pub(super) form: Form,
    /// Whether the text is a correction of the typed one.
    pub(super) corrected: bool,
    /// Whether the query ends with the text, so that more letters may follow.
    pub(super) open: bool,
    /// The only completions of a beginning that are looked for; `None` for all.
    pub(super) among: Option<Vec<Completion>>,
}

/// An index term that begins as a word of the query does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Completion {
    /// The term.
    pub(super) term: String,
    /// Its document frequency.
    pub(super) documents: u64,
}

/// How the text of a clause is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// As one index term: a word, or an n-gram of a run without spaces.
    Word,
    /// As words in a row.
    Phrase,
    /// As the beginning of a word.
    Prefix,
    /// As a word that counts in full, or as the beginning of one that counts less.
    Unfinished,
}

impl Query {
    /// Parses `text`. With `all`, plain words are required.
    pub(super) fn parse(text: &str, all: bool) -> Self {
        let mut tokens = tokens(text);
        let mut query = Self {
            cut_after: (tokens.len() > MAX_TOKENS).then_some(MAX_TOKENS),
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

    /// Adds a token of a query without operators. In a sentence, a quoted phrase
    /// is not required, and its words are looked for as well.
    fn add_plain(&mut self, token: &Token, sentence: bool) {
        let Token::Unit(unit) = token else { return };
        let clauses = unit.clauses();
        let conditions = || clauses.iter().cloned().map(Condition::Clause);
        if unit.negated {
            self.excluded.extend(one_condition(conditions().collect()));
        } else if unit.prefix && unit.column.is_none() {
            // The compound as a whole ends in the middle of a word.
            let parts = clauses.into_iter().filter(|part| part.form != Form::Phrase);
            self.required.extend(parts.map(Condition::Clause));
        } else if unit.column.is_some() || (unit.quoted && !sentence) {
            let quoted = clauses.iter().filter(|_| unit.column.is_none());
            let phrases = quoted.filter(|clause| clause.form == Form::Phrase);
            self.phrases
                .extend(phrases.map(|clause| clause.text.clone()));
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

    /// Replaces a quoted phrase by its words: all are required if `all` says so.
    pub(super) fn loosen(&mut self, phrase: &str, all: bool) {
        let is_phrase = |condition: &Condition| {
            matches!(condition, Condition::Clause(clause)
                if clause.form == Form::Phrase && clause.column.is_none() && clause.text == phrase)
        };
        self.required.retain(|condition| !is_phrase(condition));
        let unit = Unit {
            text: phrase.to_owned(),
            ..Unit::default()
        };
        let words = unit.clauses().into_iter();
        let words = words.filter(|clause| clause.form != Form::Phrase);
        if all {
            self.required.extend(words.map(Condition::Clause));
        } else {
            self.optional.extend(words);
        }
        self.shorten();
    }

    /// Drops repeated clauses and those past the limit.
    fn shorten(&mut self) {
        let mut seen = std::collections::HashSet::new();
        self.optional.retain(|clause| {
            let mut folded = String::new();
            fold_into(&clause.text, &mut folded);
            seen.insert((folded, clause.form))
        });
        if self.optional.len() > MAX_WORDS || self.required.len() > MAX_WORDS {
            self.cut_after = Some(MAX_WORDS);
        }
        self.optional.truncate(MAX_WORDS);
        self.required.truncate(MAX_WORDS);
    }

    /// Returns the query's text without operators and excluded words: all of
    /// `text` if nothing is required or excluded, else the texts of its clauses.
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

    /// Returns the excluded texts: a document that contains all texts of any of
    /// these lists is excluded. An exception inside an exclusion is ignored.
    pub(super) fn excluded(&self) -> Vec<Vec<String>> {
        let alternatives = self.excluded.iter().flat_map(Condition::alternatives);
        alternatives.take(MAX_WORDS).collect()
    }

    /// Reports whether the query looks for nothing; it may still exclude something.
    pub(super) fn is_empty(&self) -> bool {
        self.required.is_empty() && self.optional.is_empty()
    }
}

/// Reports whether any operator has operands. An operator without them is dropped.
/// In lower case "and", "or", "not" and "near" are always words.
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

/// Reports whether the tokens are a sentence: three words or more outside quotes.
/// In a sentence, quotation marks emphasise rather than require.
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

/// A recursive descent parser for `any := all (OR all)*`,
/// `all := unit ((AND|NOT)? unit)*`.
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

    /// Parses the rest of `NEAR(a b, 5)` or of `a NEAR b`. The latter takes its
    /// first operand from the end of `parts`.
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

/// A condition that must or must not be met, before both kinds are combined.
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

/// Splits conditions into the wanted and the unwanted.
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

/// Combines parts into one condition: all wanted ones and none of the unwanted.
/// Returns `None` if there are only unwanted parts: inside an alternative there is
/// nothing to subtract them from.
fn all_of(parts: Vec<Signed>) -> Option<Condition> {
    let (wanted, unwanted) = split_exclusions(parts);
    let wanted = all_condition(wanted)?;
    Some(match one_condition(unwanted) {
        None => wanted,
        Some(unwanted) => Condition::Except(Box::new(wanted), Box::new(unwanted)),
    })
}

/// Returns a condition that is met if all parts are; `None` without parts.
fn all_condition(mut parts: Vec<Condition>) -> Option<Condition> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Condition::All(parts)),
    }
}

/// Returns a condition that is met if any part is; `None` without parts.
fn one_condition(mut parts: Vec<Condition>) -> Option<Condition> {
    match parts.len() {
        0 | 1 => parts.pop(),
        _ => Some(Condition::Any(parts)),
    }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
