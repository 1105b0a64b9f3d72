//! Classifies single lines: rows of tables, lists of links, lines of tags.

use std::ops::Range;

use super::links;

/// The shape of a line of a body, for choosing the part to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The first row of a table, which names its columns.
    TableHead,
    /// Another row of a table.
    TableRow,
    /// Links and nothing else, in a list.
    Links,
    /// Anything else.
    Prose,
}

impl Shape {
    /// Returns the shape of a line, given the line that follows it.
    pub fn of(line: &str, next: &str) -> Self {
        let content = line.trim();
        if content.contains('|') && is_table_rule(next) {
            return Self::TableHead;
        }
        if content.starts_with('|') && !is_table_rule(content) {
            return Self::TableRow;
        }
        let item = content.trim_start_matches(|sign: char| sign.is_ascii_digit());
        let item = item.strip_prefix(['-', '*', '+', '.', ')']);
        match item.and_then(|item| item.strip_prefix(' ')) {
            Some(item) if links::are_all(item) => Self::Links,
            _ => Self::Prose,
        }
    }
}

/// Reports whether a line is the rule below the head of a table, such as `|---|:-:|`.
pub(super) fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.contains('|')
        && line.contains("--")
        && line
            .bytes()
            .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t'))
}

/// Reports whether a line defines the address of a link: `[name]: address`.
pub(super) fn is_link_definition(content: &str) -> bool {
    content.starts_with('[')
        && !content.starts_with("[^")
        && content
            .split_once("]:")
            .is_some_and(|(name, address)| !name.contains(']') && !address.trim().is_empty())
}

/// Reports whether a line has nothing but tags, perhaps after the word "Tags:".
pub fn is_tag_line(content: &str) -> bool {
    let content = content.trim_start();
    let label = content.get(..5);
    let label = label.filter(|label| label.eq_ignore_ascii_case("tags:"));
    let content = &content[label.map_or(0, str::len)..];
    let mut words = content.split_whitespace().peekable();
    words.peek().is_some()
        && words.all(|word| word.len() > 1 && word.starts_with('#') && !word.starts_with("##"))
}

/// Returns the ranges of the cells of a table row: between the bars that are
/// neither escaped nor in code.
pub(super) fn cells(row: &str) -> Vec<Range<usize>> {
    let mut cells = Vec::new();
    let mut start = 0;
    let (mut escaped, mut code) = (false, false);
    for (at, character) in row.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '`' => code = !code,
            '|' if !code => {
                cells.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(start..row.len());
    cells
}

/// Returns the text of a quote without the `[!note]` that makes it a callout.
pub(super) fn without_callout(content: &str) -> &str {
    let rest = content.strip_prefix("[!").and_then(|name| {
        let (name, rest) = name.split_once(']')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_name.then(|| rest.trim_start_matches(['+', '-']))
    });
    rest.unwrap_or(content)
}
