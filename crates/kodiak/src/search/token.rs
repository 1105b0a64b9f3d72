//! The lexer of the query language: splits a query into words, phrases, operators
//! and parentheses, before their order means anything.

use std::ops::ControlFlow;

use super::query::{Clause, Form};
use crate::store::Column;
use crate::text::{Class, Purpose, Tokenizer, Word, words};

/// The highest number of words in a compound. More words written as one are, say,
/// an address.
const MAX_COMPOUND_LENGTH: usize = 8;
/// The distance of a NEAR without a number.
const NEAR_DISTANCE: usize = 10;

/// A token of the query language.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Unit(Unit),
    And,
    Or,
    Not,
    /// NEAR with its greatest distance.
    Near(usize),
    Open,
    Close,
}

/// A word or a quoted phrase, with the minus sign and the field before it.
#[expect(clippy::struct_excessive_bools, reason = "each is a sign of its own")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Unit {
    pub(super) negated: bool,
    pub(super) column: Option<Column>,
    pub(super) quoted: bool,
    pub(super) prefix: bool,
    /// Whether it is the last of the query, so that more letters may follow.
    pub(super) open: bool,
    pub(super) text: String,
}

impl Unit {
    /// Returns the clauses the unit stands for: one per term, or one for a phrase.
    pub(super) fn clauses(&self) -> Vec<Clause> {
        let clause = |text: &str, form| Clause {
            column: self.column,
            text: text.to_owned(),
            form,
            corrected: false,
            open: false,
            among: None,
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
            clauses.push(Clause {
                open: self.open,
                ..clause(compound, Form::Phrase)
            });
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
                clauses.push(Clause {
                    open: self.open && last,
                    ..clause(written, form)
                });
                continue;
            }
            let pieces_before = clauses.len();
            let _ = Tokenizer::default().each_term_of(&self.text, word, Purpose::Query, |term| {
                clauses.push(clause(term.text, Form::Word));
                ControlFlow::<()>::Continue(())
            });
            // Shorter than an n-gram: any n-gram that begins with it matches.
            let width = word.class.n_gram_length().unwrap_or(0);
            if clauses.len() == pieces_before + 1 && written.chars().count() < width {
                clauses[pieces_before].form = Form::Prefix;
            }
        }
        clauses
    }
}

impl Unit {
    /// Returns whether more letters could follow the last word of the unit.
    fn may_go_on(&self) -> bool {
        !self.quoted && !self.prefix && self.text.ends_with(char::is_alphanumeric)
    }

    /// Reports whether the words are a single run that is shorter than an n-gram.
    fn is_lone_piece(&self, found: &[Word]) -> bool {
        let [word] = found else { return false };
        let length = self.text[word.range.clone()].chars().count();
        word.class
            .n_gram_length()
            .is_some_and(|width| length < width)
    }

    /// Returns the compound that the words are written as, such as `tool_use` or
    /// `claude-3`: together they mean more than apart. Words joined by an
    /// apostrophe are not a compound.
    fn compound(&self, found: &[Word]) -> Option<&str> {
        let (first, last) = (found.first()?, found.last()?);
        let joined = (2..=MAX_COMPOUND_LENGTH).contains(&found.len())
            && found.iter().all(|word| word.class == Class::Spaced)
            && !self.text.contains(['\'', '’']);
        joined.then(|| &self.text[first.range.start..last.range.end])
    }
}

/// Splits a query into words, phrases, operators and parentheses.
pub(super) fn tokens(text: &str) -> Vec<Token> {
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
                let (mut token, after) = unit_or_operator(rest);
                if let Some(Token::Unit(unit)) = &mut token {
                    unit.open = after.is_empty() && unit.may_go_on();
                }
                tokens.extend(token);
                rest = after;
            }
        }
        rest = rest.trim_start();
    }
    tokens
}

/// Reads the token at the start of `text`: up to the next space or parenthesis, or
/// a whole phrase. Returns it with the rest of the text.
pub(super) fn unit_or_operator(text: &str) -> (Option<Token>, &str) {
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
        // A quotation mark that is never closed is skipped.
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
    unit.prefix = is_prefix(word);
    unit.text = word.to_owned();
    (Some(Token::Unit(unit)), after)
}

/// Reports whether a word is written as a prefix: with one asterisk at its end. An
/// asterisk before it, or a second one, is markup.
fn is_prefix(word: &str) -> bool {
    let beginning = word.strip_suffix('*');
    beginning.is_some_and(|text| !text.starts_with('*') && text.ends_with(char::is_alphanumeric))
}

/// Returns the phrase in double or single quotes at the start of `text`, and the
/// rest of the text. A single quote closes only before a space, a closing
/// parenthesis or the end, so that an apostrophe does not.
pub(super) fn quoted(text: &str) -> Option<(&str, &str)> {
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
