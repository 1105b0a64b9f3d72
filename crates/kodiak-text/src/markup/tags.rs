//! `#tags` in running text, and the set they are collected in.
//!
//! Owns the syntax of a tag inside one line. `markdown` decides which lines are
//! text and which are code.

use std::collections::HashSet;

use unicode_properties::{GeneralCategoryGroup, UnicodeGeneralCategory};

use super::not_tags::is_code;

/// The maximum number of words in a tag like `#several words#`. More are a
/// sentence with two `#`.
const MAX_WORDS: usize = 4;

/// The maximum number of backticks that open a code span. An unclosed run is the last one
/// of its length, so this also bounds the number of failed searches in a line.
const MAX_BACKTICKS: usize = 32;

/// Tags in the order they appear, each once regardless of case.
#[derive(Debug, Default)]
pub struct Tags {
    list: Vec<String>,
    seen: HashSet<String>,
}

impl Tags {
    /// Adds a tag as written, with or without `#`.
    pub fn add(&mut self, tag: &str) {
        let tag = tag.trim().trim_start_matches('#').trim();
        if !tag.is_empty() && self.seen.insert(tag.to_lowercase()) {
            self.list.push(tag.to_owned());
        }
    }

    /// Returns the collected tags.
    pub fn into_list(self) -> Vec<String> {
        self.list
    }

    /// Collects the tags of one line of text. `heading` says whether the line is
    /// a heading, in which `{#…}` is an anchor.
    pub fn collect(&mut self, line: &str, heading: bool) {
        each_tag(line, heading, |tag, _| self.add(tag));
    }
}

/// Calls `visit` with every tag of one line of text, without its `#`, and with
/// whether another `#` closes it. `heading` says whether the line is a heading,
/// in which `{#…}` is an anchor.
pub fn each_tag<'line>(line: &'line str, heading: bool, mut visit: impl FnMut(&'line str, bool)) {
    // Most lines have no `#`, and finding that out is quicker than the scan.
    if !line.as_bytes().contains(&b'#') {
        return;
    }
    let bytes = line.as_bytes();
    let mut inside_address = false;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            // An escaped character has no special meaning.
            b'\\' if bytes.get(at + 1).is_some_and(u8::is_ascii) => at += 1,
            b' ' | b'\t' => inside_address = false,
            b':' if bytes[at..].starts_with(b"://") => inside_address = true,
            b'`' => {
                at = after_code(bytes, at);
                continue;
            }
            b'<' => {
                at = after_markup(bytes, at);
                continue;
            }
            b'=' => {
                at = after_attribute(bytes, at);
                continue;
            }
            b'#' if may_start(&line[..at], inside_address, heading) => {
                let line_start = line[..at].trim().is_empty();
                if let Some((tag, length)) = read_tag(&line[at + 1..], line_start) {
                    visit(tag, bytes[at + length] == b'#');
                    at += length;
                }
            }
            _ => {}
        }
        at += 1;
    }
}

/// Returns the end of the code span that opens at `at`, or of its backticks if
/// nothing closes them.
fn after_code(bytes: &[u8], at: usize) -> usize {
    let run = run_length(bytes, at);
    let open = at + run;
    if run > MAX_BACKTICKS {
        return open;
    }
    let mut close = open;
    while close < bytes.len() {
        if bytes[close] == b'`' {
            let closing = run_length(bytes, close);
            close += closing;
            if closing == run {
                return close;
            }
        } else {
            close += 1;
        }
    }
    open
}

fn run_length(bytes: &[u8], at: usize) -> usize {
    let rest = bytes[at..].iter();
    rest.take_while(|&&byte| byte == bytes[at]).count()
}

/// Returns the end of the HTML tag or `<address>` that opens at `at`, or the next
/// offset if it is a mere "less than".
fn after_markup(bytes: &[u8], at: usize) -> usize {
    let opens = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'/' | b'!');
    if bytes.get(at + 1).is_some_and(opens) {
        // Stopping at the next `<` keeps the search linear in the line.
        let rest = bytes[at + 1..].iter();
        let end = rest.clone().position(|byte| matches!(byte, b'<' | b'>'));
        if let Some(end) = end.filter(|&end| bytes[at + 1 + end] == b'>') {
            return at + end + 2;
        }
    }
    at + 1
}

/// Returns the end of the `="attribute"` that starts at `at`, or the next offset
/// if there is none. An HTML tag may span several lines, so it is not always seen
/// as a whole.
fn after_attribute(bytes: &[u8], at: usize) -> usize {
    let quote = bytes.get(at + 1).copied();
    if let Some(quote @ (b'"' | b'\'')) = quote
        && let Some(end) = bytes[at + 2..].iter().position(|&byte| byte == quote)
    {
        return at + end + 3;
    }
    at + 1
}

/// Reports whether a `#` after this text can start a tag. An anchor in a link, the
/// value of an attribute and a part of an address are not tags.
fn may_start(before: &str, inside_address: bool, heading: bool) -> bool {
    let mut characters = before.chars();
    let Some(last) = characters.next_back() else {
        return true;
    };
    if last.is_whitespace() {
        // `[name]: #anchor` defines a link.
        return !before.trim_end().ends_with("]:");
    }
    let earlier = characters.next_back();
    let opens = match last {
        '(' => earlier != Some(']'),
        '[' => earlier != Some('['),
        '{' => !heading && !matches!(earlier, Some(']' | ')' | '{')),
        '"' | '\'' => earlier != Some('='),
        ',' => true,
        _ => false,
    };
    opens && !inside_address
}

/// Reads the tag that follows a `#`. Returns it with the number of bytes it takes;
/// `None` if there is no tag.
fn read_tag(text: &str, line_start: bool) -> Option<(&str, usize)> {
    if !text.starts_with(is_word) {
        return None;
    }
    let end = text.find(|character| !is_tag(character));
    let word = &text[..end.unwrap_or(text.len())];
    let several = several_words(text, word.len());
    let (tag, length) = several.map_or((word, word.len()), |words| (words, words.len() + 1));
    let tag = tag.trim_end_matches(['/', '-']);
    let meaningful = tag.chars().any(char::is_alphanumeric);
    let number = tag.chars().all(char::is_numeric);
    let is_code = several.is_none() && is_code(tag, line_start, &text[length..]);
    (meaningful && !number && !is_code).then_some((tag, length))
}

/// Returns the words up to a closing `#`, if there are few enough and only single
/// spaces between them. `first` is the length of the first word.
fn several_words(text: &str, first: usize) -> Option<&str> {
    let mut words = 1;
    let mut last = text[..first].chars().next_back()?;
    for (at, character) in text[first..].char_indices() {
        match character {
            '#' => {
                let rest = &text[first + at + 1..];
                let closes = is_word(last) && !rest.starts_with(|next| next == '#' || is_tag(next));
                return closes.then(|| &text[..first + at]);
            }
            ' ' if last != ' ' && words < MAX_WORDS => words += 1,
            _ if is_tag(character) => {}
            _ => return None,
        }
        last = character;
    }
    None
}

/// Reports whether a character may be inside a tag.
fn is_tag(character: char) -> bool {
    is_word(character) || matches!(character, '-' | '/')
}

/// Reports whether a character may be inside a word of a tag: letters, digits and
/// marks of any script, the underscore, and the two joiners without which Persian
/// and Indic words fall apart.
fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    character.is_alphanumeric()
        || matches!(character, '\u{200c}' | '\u{200d}')
        || character.general_category_group() == GeneralCategoryGroup::Mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(line: &str) -> Vec<String> {
        let mut tags = Tags::default();
        tags.collect(line, false);
        tags.into_list()
    }

    #[test]
    fn what_is_a_tag() {
        for (line, expected) in [
            ("#one", "one"),
            ("a #one, b #two.", "one|two"),
            (
                "(#one) [#two] {#three} \"#four\" '#five' x,#six",
                "one|two|three|four|five|six",
            ),
            ("#projects/kodiak #a_b-c", "projects/kodiak|a_b-c"),
            ("#trailing/ #dash- #both-/-", "trailing|dash|both"),
            ("#One #one #ONE #two", "One|two"),
            (
                "#straße #日本語 #हिन्दी #עברית #می\u{200c}خواهم",
                "straße|日本語|हिन्दी|עברית|می\u{200c}خواهم",
            ),
            ("#e\u{301}te\u{301}", "e\u{301}te\u{301}"),
            ("#2024 #2024-plan #v2 #١٢٣", "2024-plan|v2"),
            ("\u{3000}#wide", "wide"),
            ("#a#b", "a"),
            ("#_ #__ #- #/ # ## #!x", ""),
            ("#_draft", "_draft"),
        ] {
            assert_eq!(tags(line).join("|"), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_tag() {
        for line in [
            "word#tag",
            "&#39; &#x27; &#amp",
            "\\#escaped",
            "C# F#",
            "https://example.org/page#part",
            "https://example.org/#/route,#more",
            "see https://example.org/(#part)",
            "[link](#anchor)",
            "[[#heading]]",
            "[name]: #anchor",
            "[span]{#id} ![x](y.png){#figure} {{#if x}}",
            "<a href=\"#top\">",
            "<p style=\"color: #ff0000; background: #fff\">",
            "href=\"#top\" data='#x' open=\"#x",
            "style=\"border: 2px solid #d4dde4\"",
            "<https://example.org/ #x>",
            "`#code` and ``#more ` #code``",
            "-#x *#x /#x .#x",
            "#FFFFFF",
            "the colour #fff, or #d4dde4.",
            "#include <stdio.h>",
            "  #ifdef DEBUG",
            "without #endif",
        ] {
            assert_eq!(tags(line), Vec::<String>::new(), "{line}");
        }
    }

    #[test]
    fn tags_are_found_after_skipped_markup() {
        for (line, expected) in [
            ("`#code` #tag", "tag"),
            ("a ```#code``` #tag", "tag"),
            ("an open ` tick #tag", "tag"),
            ("``open `#code` #tag", "tag"),
            ("\\` #tag `", "tag"),
            ("<b>#no</b> #tag", "tag"),
            ("1 < 2 #tag > 1", "tag"),
            ("a <b #tag", "tag"),
            ("a=\"#no\" #tag", "tag"),
            ("a=\"it #tag", "tag"),
            ("https://example.org #tag", "tag"),
            ("https://example.org (#tag)", "tag"),
            ("[link](#anchor) (#tag)", "tag"),
            ("\\ü #tag", "tag"),
        ] {
            assert_eq!(tags(line).join("|"), expected, "{line}");
        }
    }

    #[test]
    fn tags_of_several_words() {
        for (line, expected) in [
            ("#two words# and more", "two words"),
            ("(#two words#)", "two words"),
            ("#one#", "one"),
            ("#one# #two#", "one|two"),
            ("#a/b c d# #next", "a/b c d|next"),
            ("#one two three four#", "one two three four"),
            ("#one two three four five#", "one"),
            ("#one #two", "one|two"),
            ("#one two #three", "one|three"),
            ("#one two ## x", "one"),
            ("#one, two#", "one"),
            ("#one  two#", "one"),
            ("#one PR#12", "one"),
            ("#one two##", "one"),
            ("#one two # x", "one"),
            ("#one two-# x", "one"),
            ("#2024 plan#", "2024 plan"),
        ] {
            assert_eq!(tags(line).join("|"), expected, "{line}");
        }
    }

    #[test]
    fn anchors_of_headings_are_no_tags() {
        let mut tags = Tags::default();
        tags.collect("Title {#anchor} #tag", true);
        assert_eq!(tags.into_list(), ["tag"]);
    }

    #[test]
    fn hostile_lines_take_linear_time() {
        let started = std::time::Instant::now();
        let runs: String = (1..1500).map(|length| "`".repeat(length) + " ").collect();
        for line in [
            "<a".repeat(500_000),
            ",#a".repeat(300_000),
            "#a ".repeat(300_000),
            runs,
        ] {
            tags(&(line + "#"));
        }
        // Quadratic would be minutes; the bound leaves room for a slow machine.
        assert!(started.elapsed().as_secs() < 20);
    }
}
