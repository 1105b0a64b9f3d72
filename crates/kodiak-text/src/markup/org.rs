//! The title of an Org file and the tags of its headlines.
//!
//! Owns the little of Org that a search needs; everything else is text.

use super::heading;
use super::tags::Tags;

/// The candidates for the title of an Org file.
#[derive(Default)]
pub(super) struct Titles {
    keyword: Option<String>,
    headline: Option<String>,
}

impl Titles {
    /// Takes the title and the tags from a line, if it has any.
    pub(super) fn take(&mut self, tags: &mut Tags, line: &str) {
        if let Some(keyword) = line.trim_start().strip_prefix("#+") {
            if self.keyword.is_none() {
                self.keyword = value_of(keyword, "title").and_then(heading::plain_title);
            }
            if let Some(listed) = value_of(keyword, "filetags") {
                listed.split([':', ' ']).for_each(|tag| tags.add(tag));
            }
        } else if let Some((level, text)) = starred(line) {
            let (text, listed) = divide_headline(text);
            listed.split(':').for_each(|tag| tags.add(tag));
            if self.headline.is_none() && level == 1 {
                self.headline = heading::plain_title(text);
            }
        }
    }

    /// Returns the title: the first `#+TITLE:`, wherever it stands, else the first
    /// headline of level 1.
    pub(super) fn best(self) -> Option<String> {
        self.keyword.or(self.headline)
    }
}

/// Returns the value of a `name: value` keyword with this name.
fn value_of<'line>(keyword: &'line str, name: &str) -> Option<&'line str> {
    let (found, value) = keyword.split_once(':')?;
    found.eq_ignore_ascii_case(name).then(|| value.trim())
}

/// Returns the length of the keywords, comments and properties that a file begins with,
/// up to its first text.
pub fn head(body: &str) -> usize {
    let mut length = 0;
    let mut in_drawer = false;
    let mut end = 0;
    for line in body.split_inclusive('\n') {
        length += line.len();
        let line = line.trim();
        if in_drawer {
            in_drawer = !line.eq_ignore_ascii_case(":end:");
        } else if line.eq_ignore_ascii_case(":properties:") {
            in_drawer = true;
        } else if !line.is_empty() && !is_keyword(line) {
            return end;
        }
        if !in_drawer {
            end = length;
        }
    }
    // A drawer that is never closed is text.
    end
}

/// Reports whether a line is a `#+name: value` keyword or a comment.
fn is_keyword(line: &str) -> bool {
    let keyword = |text: &str| text.split_once(':').map(|(name, _)| name.to_owned());
    match line.strip_prefix("#+") {
        Some(text) => keyword(text).is_some_and(|name| !name.contains(char::is_whitespace)),
        None => line == "#" || line.starts_with("# "),
    }
}

/// Returns the level and the text of a headline, its tags included; `None` if the
/// line is not a headline.
pub fn starred(line: &str) -> Option<(usize, &str)> {
    let text = line.trim_start_matches('*');
    let level = line.len() - text.len();
    (level > 0 && text.starts_with(' ')).then(|| (level, text.trim()))
}

/// Splits the text of a headline from the `:tags:` at its end.
pub fn divide_headline(headline: &str) -> (&str, &str) {
    let start = headline.rfind([' ', '\t']).map_or(0, |space| space + 1);
    let (text, last) = headline.split_at(start);
    let tag = |tag: &str| {
        let legal = |character: char| character.is_alphanumeric() || "_@#%".contains(character);
        !tag.is_empty() && tag.chars().all(legal)
    };
    let listed = last
        .strip_prefix(':')
        .and_then(|rest| rest.strip_suffix(':'));
    match listed {
        Some(listed) if listed.split(':').all(tag) => (text.trim_end(), listed),
        _ => (headline, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Markup;

    #[test]
    fn titles_and_tags() {
        for (body, title, tags) in [
            ("#+title: One\n* Two :a:b:", Some("One"), "a|b"),
            ("* Two\n#+TITLE: One", Some("One"), ""),
            (
                "** Lower :low:\n* First :x:low:\n* Second :@home:",
                Some("First"),
                "low|x|@home",
            ),
            ("*bold* text\n#+FILETAGS: :a:b: c", None, "a|b|c"),
            ("* Ratio 1:2:3", Some("Ratio 1:2:3"), ""),
            ("* Ends so: ::", Some("Ends so: ::"), ""),
            ("* :only:tags:", None, "only|tags"),
            ("#+TITLE:\n text #hash", None, ""),
            ("*", None, ""),
        ] {
            let mut found = Tags::default();
            let (best, _) = super::super::read(Markup::Org, body, &mut found);
            assert_eq!(best.as_deref(), title, "{body}");
            assert_eq!(found.into_list().join("|"), tags, "{body}");
        }
    }

    #[test]
    fn what_a_file_begins_with_is_not_its_text() {
        for (first, text) in [
            ("#+title: One\n#+filetags: :a:\n\n", "* Two\n#+title: x\n"),
            (":PROPERTIES:\n:ID: 12\n:END:\n#+title: One\n", "Text"),
            ("# a comment\n#\n", "#hash"),
            ("", "#+begin_src\n#+title: x\n#+end_src\n"),
            ("#+a: b\n", ":PROPERTIES:\nnever closed\n"),
            ("#+a: b", ""),
            ("", ""),
        ] {
            assert_eq!(
                head(&format!("{first}{text}")),
                first.len(),
                "{first}{text}"
            );
        }
    }
}
