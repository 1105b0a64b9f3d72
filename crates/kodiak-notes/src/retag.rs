//! Changing the tags in the text of a note.
//!
//! This module turns a text into one with other tags, in the frontmatter and in
//! the running text, and leaves every other byte as it is. It reads the result
//! again before it returns it. It does not access files.

use serde_json::{Map, Value};
use unicode_normalization::UnicodeNormalization;

use super::frontmatter;
use super::note::{divide_name, document_from_text};
use kodiak_text::document::Markup;
use kodiak_text::markup::Lines;
use kodiak_text::markup::markdown::Line;
use kodiak_text::markup::tags::each_tag;

/// The frontmatter fields that hold tags.
const FIELDS: [&str; 3] = ["tags", "tag", "keywords"];
/// The longest tag in bytes.
const MAX_LENGTH: usize = 200;

/// A change of tags. Tags match regardless of case and composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagChange<'a> {
    /// The tag becomes another, and so do the tags below it: `a` to `b` makes
    /// `b/x` of `a/x`.
    Rename {
        /// The present tag.
        from: &'a str,
        /// The new one.
        to: &'a str,
    },
    /// The note gets the tag, in its frontmatter, unless it has it.
    Add(&'a str),
    /// The note loses the tag, but not the tags below it. In running text only
    /// the `#` goes: the word is part of a sentence.
    Remove(&'a str),
}

/// Returns a tag as it is written, without `#`. The error says why it is refused.
pub(crate) fn tidy_tag(tag: &str) -> Result<String, &'static str> {
    let tidy = tag.trim().trim_matches('#').trim();
    if tidy.is_empty() || !tidy.chars().any(char::is_alphanumeric) {
        return Err("it has no letters or digits");
    }
    if tidy.len() > MAX_LENGTH {
        return Err("it is longer than 200 bytes");
    }
    if tidy
        .chars()
        .any(|c| c.is_control() || matches!(c, ',' | '#'))
    {
        return Err("it has a comma, a # or a control character");
    }
    if tidy.split('/').any(|part| part.trim().is_empty()) {
        return Err("it has an empty part");
    }
    Ok(tidy.to_owned())
}

/// Reports whether a tag is `name`, or below it. Returns the text after `name`: nothing, or
/// the parts below it with a leading `/`.
pub(crate) fn below<'tag>(tag: &'tag str, name: &str) -> Option<&'tag str> {
    let parts = name.split('/').count();
    let end = tag.match_indices('/').nth(parts - 1).map(|(at, _)| at);
    let (head, rest) = tag.split_at(end.unwrap_or(tag.len()));
    (folded(head) == folded(name)).then_some(rest)
}

/// Returns the text of the note `key` with other tags, or why it cannot have
/// them. The text is the same if it already has the tags wanted.
pub(crate) fn retag(key: &str, text: &str, change: TagChange<'_>) -> Result<String, String> {
    let markup = Markup::of_extension(divide_name(key).1);
    let before = tags_of(key, text);
    let wanted = changed(&before, change);
    if before == wanted {
        return Ok(text.to_owned());
    }
    if markup == Markup::Org {
        return Err("the tags of Org files are not rewritten".to_owned());
    }
    let divided = match markup {
        Markup::Markdown => frontmatter::divide(text),
        Markup::Org | Markup::Plain | Markup::Verbatim => frontmatter::divide_mark(text),
    };
    let front = match (change, markup) {
        (TagChange::Add(_), Markup::Plain) => {
            return Err(
                "only a markdown file can hold tags that its text does not have".to_owned(),
            );
        }
        (_, Markup::Plain) => divided.front.to_owned(),
        _ => change_front(divided.front, divided.body, &divided.fields, change)?,
    };
    let body = change_body(markup, divided.body, change);
    let text = format!("{front}{body}");
    let sorted = |mut tags: Vec<String>| {
        tags.sort();
        tags
    };
    if sorted(tags_of(key, &text)) == sorted(wanted) {
        return Ok(text);
    }
    Err("its tags would be read as others".to_owned())
}

fn tags_of(key: &str, text: &str) -> Vec<String> {
    document_from_text("", key, text, 0).tags
}

/// Returns the tags after a change, each once.
fn changed(tags: &[String], change: TagChange<'_>) -> Vec<String> {
    let mut list: Vec<String> = Vec::new();
    let all = tags.iter().filter_map(|tag| one(tag, change));
    let added = match change {
        TagChange::Add(tag) => Some(tag.to_owned()),
        _ => None,
    };
    let added = added.filter(|new| !tags.iter().any(|tag| folded(tag) == folded(new)));
    for tag in all.chain(added) {
        // As in a document: regardless of case, but not of composition.
        if !list
            .iter()
            .any(|known| known.to_lowercase() == tag.to_lowercase())
        {
            list.push(tag);
        }
    }
    list
}

/// Returns one tag after a change.
fn one(tag: &str, change: TagChange<'_>) -> Option<String> {
    match change {
        TagChange::Rename { from, to } => Some(match below(tag, from) {
            Some(rest) => format!("{to}{rest}"),
            None => tag.to_owned(),
        }),
        TagChange::Remove(name) if below(tag, name) == Some("") => None,
        _ => Some(tag.to_owned()),
    }
}

fn folded(tag: &str) -> String {
    tag.nfc().flat_map(char::to_lowercase).collect()
}

/// Returns the frontmatter after a change.
fn change_front(
    front: &str,
    body: &str,
    fields: &Map<String, Value>,
    change: TagChange<'_>,
) -> Result<String, String> {
    let mut front = front.to_owned();
    let holding: Vec<&String> = fields
        .keys()
        .filter(|name| FIELDS.iter().any(|field| field.eq_ignore_ascii_case(name)))
        .collect();
    if let TagChange::Add(tag) = change {
        return match holding.first() {
            None => frontmatter::add_field(&front, body, "tags", &Value::from(vec![tag])),
            Some(name) => {
                let mut tags = items(&fields[*name]).unwrap_or_default();
                tags.push(tag.to_owned());
                let extended = |lines: &str| extended(lines, tag);
                frontmatter::edit_in_place(&front, name, Some(&Value::from(tags)), &extended)
            }
        };
    }
    for name in holding {
        let Some(tags) = items(&fields[name]) else {
            continue;
        };
        let mut new: Vec<String> = Vec::new();
        for tag in tags.iter().filter_map(|tag| {
            let plain = tag.trim_start_matches('#');
            let sign = &tag[..tag.len() - plain.len()];
            Some(format!("{sign}{}", one(plain, change)?))
        }) {
            if !new.iter().any(|known| folded(known) == folded(&tag)) {
                new.push(tag);
            }
        }
        if new == tags {
            continue;
        }
        let value = (!new.is_empty()).then(|| match &fields[name] {
            // A single text stays one if it still is one tag.
            Value::String(text) if new.len() == 1 && *text == tags[0] => Value::from(&*new[0]),
            _ => Value::from(new),
        });
        let replaced = |lines: &str| replaced(lines, &tags, change);
        front = frontmatter::edit_in_place(&front, name, value.as_ref(), &replaced)?;
    }
    Ok(front)
}

/// Returns the tags in a field, as `fields` reads them.
fn items(value: &Value) -> Option<Vec<String>> {
    let mut fields = Map::new();
    fields.insert("tags".to_owned(), value.clone());
    let list = kodiak::source::fields::take_list(&mut fields, &["tags"]);
    fields.is_empty().then_some(list)
}

/// Returns the lines of a field with each tag replaced where it is written.
fn replaced(lines: &str, tags: &[String], change: TagChange<'_>) -> Option<String> {
    let TagChange::Rename { .. } = change else {
        return None;
    };
    // The longest first, so that none is replaced inside another.
    let mut tags: Vec<&str> = tags.iter().map(|tag| tag.trim_start_matches('#')).collect();
    tags.retain(|tag| !tag.is_empty());
    tags.sort_by_key(|tag| std::cmp::Reverse(tag.len()));
    let name = lines.find(':')? + 1;
    let mut new = lines[..name].to_owned();
    let mut at = name;
    while let Some(next) = lines[at..].chars().next() {
        if next == '#' && lines[..at].ends_with(char::is_whitespace) {
            // A comment.
            let end = lines[at..].find('\n').map_or(lines.len(), |end| at + end);
            new.push_str(&lines[at..end]);
            at = end;
            continue;
        }
        let starts = !lines[..at].ends_with(is_inside);
        let found = tags.iter().find(|tag| {
            let rest = lines[at..].strip_prefix(**tag);
            starts && rest.is_some_and(|rest| !rest.starts_with(is_inside))
        });
        let found = found.and_then(|tag| Some((tag.len(), one(tag, change)?)));
        if let Some((length, tag)) = found {
            new.push_str(&tag);
            at += length;
        } else {
            new.push(next);
            at += next.len_utf8();
        }
    }
    Some(new)
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '.')
}

/// Returns the lines of a list with another item, if it is clear where it goes.
fn extended(lines: &str, tag: &str) -> Option<String> {
    let item = frontmatter::item(tag);
    let content = lines.trim_end();
    let end = &lines[content.len()..];
    if let Some(list) = content.strip_suffix(']') {
        let empty = list.trim_end().ends_with('[');
        let separator = if empty { "" } else { ", " };
        return Some(format!("{list}{separator}{item}]{end}"));
    }
    let last = content.lines().last()?;
    let dash = last.find('-').filter(|&at| last[..at].trim().is_empty())?;
    let newline = if lines.contains("\r\n") { "\r\n" } else { "\n" };
    Some(format!("{content}{newline}{}- {item}{end}", &last[..dash]))
}

/// Returns the body with each tag replaced where it is written.
fn change_body(markup: Markup, body: &str, change: TagChange<'_>) -> String {
    if matches!(change, TagChange::Add(_)) {
        return body.to_owned();
    }
    let mut new = String::with_capacity(body.len());
    let mut copied = 0;
    for (_, _, line) in Lines::of(markup, body).iter(body) {
        let (text, heading) = match line {
            Line::Heading { text, .. } => (text, true),
            Line::Text { content, .. } => (content, false),
            _ => continue,
        };
        each_tag(text, heading, |tag, closed| {
            let start = tag.as_ptr() as usize - body.as_ptr() as usize;
            let after = match change {
                TagChange::Remove(name) if below(tag, name) == Some("") => {
                    // Without the `#` before it, and without the one that closes it.
                    new.push_str(&body[copied..start - 1]);
                    new.push_str(tag);
                    copied = start + tag.len() + usize::from(closed);
                    return;
                }
                TagChange::Rename { from, to } => {
                    below(tag, from).map(|rest| format!("{to}{rest}"))
                }
                _ => None,
            };
            if let Some(after) = after {
                new.push_str(&body[copied..start]);
                new.push_str(&after);
                if after.contains(' ') && !closed {
                    new.push('#');
                }
                copied = start + tag.len();
            }
        });
    }
    new.push_str(&body[copied..]);
    new
}

#[cfg(test)]
#[path = "retag_tests.rs"]
mod tests;
