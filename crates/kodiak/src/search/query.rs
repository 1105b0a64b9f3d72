//! What a person typed, understood: words, phrases, operators and fields.
//!
//! Every string is a query. What cannot be an operator where it stands is a
//! word, and what holds no word is left out.

use std::ops::ControlFlow;

use crate::store::Column;
use crate::text::{Class, Cutter, Purpose, Word, fold_into, words};

/// Words beyond this many are not looked for: a pasted page is cut short
/// rather than refused.
pub(super) const MOST_WORDS: usize = 128;
/// Nor is anything after this many words and operators.
const MOST_TOKENS: usize = 1024;
/// How many words can be near each other.
const MOST_NEAR: usize = 16;
/// Parentheses nested deeper than this are taken as spaces.
const DEEPEST: usize = 16;
/// More words than this written as one are no compound but, say, an address.
const LONGEST_COMPOUND: usize = 8;
/// How far apart NEAR lets words be unless told.
const NEAR_DISTANCE: usize = 10;

/// A query.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Query {
    /// What must hold; all of it.
    pub(super) required: Vec<Condition>,
    /// What ranks, any of it; where nothing is required, one must match.
    pub(super) optional: Vec<Clause>,
    /// What must not hold; none of it.
    pub(super) excluded: Vec<Condition>,
    /// Whether it uses AND, OR, NOT or NEAR.
    pub(super) boolean: bool,
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
            cut_short: tokens.len() > MOST_TOKENS,
            ..Self::default()
        };
        tokens.truncate(MOST_TOKENS);
        if has_operator(&tokens) {
            let mut parser = Parser {
                tokens: &tokens,
                at: 0,
                depth: 0,
            };
            query.boolean = true;
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
        self.cut_short |= self.optional.len() > MOST_WORDS || self.required.len() > MOST_WORDS;
        self.optional.truncate(MOST_WORDS);
        self.required.truncate(MOST_WORDS);
    }

    /// Whether nothing in it can match.
    pub(super) fn is_empty(&self) -> bool {
        self.required.is_empty() && self.optional.is_empty()
    }
}

/// A piece of the typed text.
#[derive(Clone, Debug, PartialEq)]
enum Token {
    Unit(Unit),
    And,
    Or,
    Not,
    /// The greatest distance, where given.
    Near(usize),
    Open,
    Close,
}

/// A word or a quoted phrase with what stands before it.
#[derive(Clone, Debug, Default, PartialEq)]
struct Unit {
    negated: bool,
    column: Option<Column>,
    quoted: bool,
    prefix: bool,
    text: String,
}

impl Unit {
    /// What the unit looks for: one clause per term, or one for a phrase.
    fn clauses(&self) -> Vec<Clause> {
        let clause = |text: &str, form| Clause {
            column: self.column,
            text: text.to_owned(),
            form,
        };
        let found: Vec<Word> = words(&self.text).collect();
        let together = self.quoted || self.negated || self.column.is_some();
        if together
            && !self.is_lone_piece(&found)
            && (found.len() > 1 || found.iter().any(|word| word.class != Class::Spaced))
        {
            let (first, last) = (found[0].range.start, found[found.len() - 1].range.end);
            return vec![clause(&self.text[first..last], Form::Phrase)];
        }
        let mut clauses = Vec::new();
        if let Some(compound) = self.compound(&found) {
            clauses.push(clause(compound, Form::Phrase));
        }
        for (at, word) in found.iter().enumerate() {
            let written = &self.text[word.range.clone()];
            let last = at + 1 == found.len();
            if word.class == Class::Spaced {
                let form = if self.prefix && last {
                    Form::Prefix
                } else {
                    Form::Word
                };
                clauses.push(clause(written, form));
                continue;
            }
            let pieces_before = clauses.len();
            let _ = Cutter::default().each_term_of(&self.text, word, Purpose::Query, |term| {
                clauses.push(clause(term.text, Form::Word));
                ControlFlow::<()>::Continue(())
            });
            // Shorter than a piece: every piece that begins with it will do.
            let width = word.class.width().unwrap_or(0);
            if clauses.len() == pieces_before + 1 && written.chars().count() < width {
                clauses[pieces_before].form = Form::Prefix;
            }
        }
        clauses
    }
}

impl Unit {
    /// One run too short for a piece of its own.
    fn is_lone_piece(&self, found: &[Word]) -> bool {
        let [word] = found else { return false };
        let length = self.text[word.range.clone()].chars().count();
        word.class.width().is_some_and(|width| length < width)
    }

    /// Words written as one, such as `tool_use` or `claude-3`: found together
    /// they mean more than apart. Apostrophes join what is no compound.
    fn compound(&self, found: &[Word]) -> Option<&str> {
        let (first, last) = (found.first()?, found.last()?);
        let joined = (2..=LONGEST_COMPOUND).contains(&found.len())
            && found.iter().all(|word| word.class == Class::Spaced)
            && !self.text.contains(['\'', '’']);
        joined.then(|| &self.text[first.range.start..last.range.end])
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(character) = rest.chars().next() {
        match character {
            '(' => {
                tokens.push(Token::Open);
                rest = &rest[1..];
            }
            ')' => {
                tokens.push(Token::Close);
                rest = &rest[1..];
            }
            '-' if rest[1..].starts_with('(') => {
                tokens.push(Token::Not);
                rest = &rest[1..];
            }
            _ => {
                let (token, after) = unit_or_operator(rest);
                tokens.extend(token);
                rest = after;
            }
        }
        rest = rest.trim_start();
    }
    tokens
}

/// Reads up to the next space or parenthesis, or a whole phrase.
fn unit_or_operator(text: &str) -> (Option<Token>, &str) {
    let mut unit = Unit::default();
    let mut rest = text;
    if let Some(after) = rest.strip_prefix('-')
        && after.starts_with(|c: char| c.is_alphanumeric() || c == '"' || c == '\'')
    {
        unit.negated = true;
        rest = after;
    }
    for (name, column) in [
        ("title:", Column::Title),
        ("tag:", Column::Tags),
        ("tags:", Column::Tags),
    ] {
        if rest.len() > name.len()
            && rest.is_char_boundary(name.len())
            && rest[..name.len()].eq_ignore_ascii_case(name)
            && !rest[name.len()..].starts_with(char::is_whitespace)
        {
            unit.column = Some(column);
            rest = &rest[name.len()..];
            break;
        }
    }
    if let Some((phrase, after)) = quoted(rest) {
        unit.quoted = true;
        unit.text = phrase.to_owned();
        return (Some(Token::Unit(unit)), after);
    }
    let end = rest
        .find(|c: char| c.is_whitespace() || c == '(' || c == ')' || c == '"')
        .unwrap_or(rest.len())
        // A quotation mark that opens nothing is skipped, not waited for.
        .max(usize::from(rest.starts_with('"')));
    let (word, after) = rest.split_at(end);
    let operator = match word {
        _ if unit.negated || unit.column.is_some() => None,
        "AND" | "&&" => Some(Token::And),
        "OR" | "||" => Some(Token::Or),
        "NOT" => Some(Token::Not),
        "NEAR" => Some(Token::Near(NEAR_DISTANCE)),
        _ => word
            .strip_prefix("NEAR/")
            .and_then(|distance| distance.parse().ok())
            .map(Token::Near),
    };
    if operator.is_some() {
        return (operator, after);
    }
    unit.prefix = word.len() > 1 && word.ends_with('*');
    unit.text = word.to_owned();
    (Some(Token::Unit(unit)), after)
}

/// A phrase in double or single quotes at the start of `text`. A single quote
/// closes only before a space or the end, so that an apostrophe is none.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inside = &text[1..];
    let close = inside.char_indices().find(|&(at, character)| {
        character == quote
            && (quote == '"'
                || inside[at + 1..]
                    .chars()
                    .next()
                    .is_none_or(|next| next.is_whitespace() || next == ')'))
    })?;
    Some((&inside[..close.0], &inside[close.0 + 1..]))
}

/// An operator counts where it has something to work on; elsewhere the words
/// "and", "or", "not", "near" are words.
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
    let plain = |token: &&Token| {
        matches!(token, Token::Unit(unit)
            if !unit.quoted && !unit.negated && unit.column.is_none() && words(&unit.text).next().is_some())
    };
    tokens.iter().filter(plain).count() >= 3
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
        near.truncate(MOST_NEAR);
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
