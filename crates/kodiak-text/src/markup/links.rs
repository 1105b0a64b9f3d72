//! Finds the links of a body, each with its target and its text.
//!
//! Owns the signs that make a link: `[text](target)`, `[text][name]` with its definition,
//! `[[target]]` and `[[target|text]]`, and Org's `[[target][text]]`. Resolving a target is
//! left to [`links`](crate::links). A note that is embedded with `![[target]]` is linked;
//! an image is not. Code has no links.

use std::collections::HashMap;

use super::brackets::{bracketed, near};
use super::lines::Lines;
use super::markdown::{Begins, Line};
use crate::document::{EXTENSIONS, Markup};

/// A link as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written<'a> {
    /// Its target.
    pub target: &'a str,
    /// Its text; for a wiki link without one, its target.
    pub text: &'a str,
    /// Whether it is a wiki link, which may name its target by a title.
    pub wiki: bool,
}

/// Calls `found` with each link of a body, in order.
pub fn each(markup: Markup, lines: &Lines, body: &str, mut found: impl FnMut(Written<'_>)) {
    if matches!(markup, Markup::Plain | Markup::Verbatim) || !body.contains('[') {
        return;
    }
    let definitions = definitions(lines, body);
    // A link may go on in the next line of its paragraph. Only paragraphs with a
    // bracket are copied.
    let mut paragraph = String::new();
    let mut flush = |paragraph: &mut String| {
        if !paragraph.is_empty() {
            scan(paragraph, &definitions, &mut found);
            paragraph.clear();
        }
    };
    for (_, _, line) in lines.iter(body) {
        let (content, continues) = match line {
            Line::Heading { text, .. } => (text, false),
            Line::Text { content, begins } => (content, begins == Begins::Nothing),
            Line::Blank | Line::Underline { .. } | Line::Rule | Line::Code { .. } => ("", false),
        };
        if !continues {
            flush(&mut paragraph);
        }
        if !paragraph.is_empty() {
            paragraph.push('\n');
            paragraph.push_str(content);
        } else if content.contains('[') {
            paragraph.push_str(content);
        }
    }
    flush(&mut paragraph);
}

/// Returns the targets that lines define as `[name]: target`, by name in lower case.
fn definitions<'a>(lines: &'a Lines, body: &'a str) -> HashMap<String, &'a str> {
    let mut definitions = HashMap::new();
    for (_, _, line) in lines.iter(body) {
        let Line::Text { content, .. } = line else {
            continue;
        };
        if let Some((name, target)) = definition(content) {
            definitions.entry(name.to_lowercase()).or_insert(target);
        }
    }
    definitions
}

fn definition(line: &str) -> Option<(&str, &str)> {
    let (name, target) = line.strip_prefix('[')?.split_once("]:")?;
    let is_name = !name.is_empty() && !name.starts_with('^') && !name.contains(['[', ']']);
    is_name.then(|| (name, target.trim()))
}

/// Calls `found` with each link of a paragraph.
fn scan(text: &str, definitions: &HashMap<String, &str>, found: &mut impl FnMut(Written<'_>)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += match byte {
            b'\\' => 2,
            b'`' => code(&text[at..]),
            // An image, whose text describes a picture, or an embedded note.
            b'!' if bytes.get(at + 1) == Some(&b'[') => {
                let near = near(&text[at + 1..]);
                match read(near, definitions) {
                    Some((length, link)) => {
                        if let Some(link) = link.filter(embeds_note) {
                            found(link);
                        }
                        1 + length
                    }
                    None => 2,
                }
            }
            b'[' => match read(near(&text[at..]), definitions) {
                Some((length, link)) => {
                    if let Some(link) = link {
                        found(link);
                    }
                    length
                }
                None => 1,
            },
            _ => 1,
        };
    }
}

/// Reports whether the link after an exclamation mark embeds a note or a part of one, and
/// not a picture or another file.
fn embeds_note(link: &Written<'_>) -> bool {
    let file = link.target.split('#').next().unwrap_or_default();
    link.wiki && !has_other_extension(file.trim())
}

/// Reports whether a path names a file that is not a note, such as a picture.
pub(crate) fn has_other_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let is_extension = (1..=5).contains(&extension.len())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let lower = extension.to_ascii_lowercase();
    is_extension && !EXTENSIONS.contains(&lower.as_str())
}

/// Returns the length of a code span, or of the backticks that open none.
fn code(text: &str) -> usize {
    let run = text.len() - text.trim_start_matches('`').len();
    let inner = &text[run..];
    let mut from = 0;
    while let Some(next) = inner[from..].find('`') {
        let close = from + next;
        let closing = inner.len() - close - inner[close..].trim_start_matches('`').len();
        if closing == run {
            return run + close + run;
        }
        from = close + closing;
    }
    run
}

/// Reads the link that a text begins with. Returns its length, and the link if it
/// points somewhere; `None` if there is no link.
fn read<'a>(
    text: &'a str,
    definitions: &HashMap<String, &'a str>,
) -> Option<(usize, Option<Written<'a>>)> {
    if let Some(inner) = text.strip_prefix("[[") {
        let inner = &inner[..inner.find("]]")?];
        if inner.contains("[[") {
            return None;
        }
        let org = inner.split_once("][");
        let (target, text) = org
            .or_else(|| inner.split_once('|'))
            .unwrap_or((inner, inner));
        let link = Written {
            target,
            text,
            wiki: true,
        };
        return Some((inner.len() + 4, Some(link)));
    }
    let shown = bracketed(text, b'[', b']')?;
    let length = shown.len() + 2;
    let after = &text[length..];
    let link = |target| {
        // The text of an image inside a link describes a picture.
        let link = Written {
            target,
            text: shown,
            wiki: false,
        };
        Some(link).filter(|_| !shown.contains("]("))
    };
    if let Some(target) = bracketed(after, b'(', b')') {
        return Some((length + target.len() + 2, link(target)));
    }
    let label = bracketed(after, b'[', b']').filter(|label| !label.starts_with('['));
    let name = label.filter(|name| !name.is_empty()).unwrap_or(shown);
    let target = definitions.get(&name.to_lowercase())?;
    // The definition itself.
    if label.is_none() && after.starts_with(':') {
        return Some((length, None));
    }
    let end = length + label.map_or(0, |label| label.len() + 2);
    Some((end, link(target)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(markup: Markup, body: &str) -> Vec<String> {
        let mut links = Vec::new();
        each(markup, &Lines::of(markup, body), body, |link| {
            let sign = if link.wiki { "~" } else { "" };
            links.push(format!("{sign}{}: {}", link.target, link.text));
        });
        links
    }

    #[test]
    fn links_of_markdown() {
        for (body, expected) in [
            (
                "See [the review](review.md).",
                &["review.md: the review"][..],
            ),
            (
                "[a](<my note.md> \"title\")",
                &["<my note.md> \"title\": a"],
            ),
            ("[[GTD]] and [[GTD|my way]]", &["~GTD: GTD", "~GTD: my way"]),
            ("# About [[Home]]\n", &["~Home: Home"]),
            ("- [ ] ask [Bob](bob.md)", &["bob.md: Bob"]),
            ("> [quoted](q.md)", &["q.md: quoted"]),
            (
                "a [text\nin two lines](x.md)",
                &["x.md: text\nin two lines"],
            ),
            ("[a **b** `c`](x.md)", &["x.md: a **b** `c`"]),
            ("[x](a(1).md)", &["a(1).md: x"]),
            // References.
            (
                "[one][ref], [ref], [Ref][]\n\n[ref]: a.md",
                &["a.md: one", "a.md: ref", "a.md: Ref"],
            ),
            ("[one][nowhere] [two]", &[]),
            // No links.
            ("![image](a.png) ![[a.png]] ![[b.pdf#page=2]]", &[]),
            ("![[a.png|200]] ![note](note.md) ![x][ref]", &[]),
            // An embedded note is linked.
            (
                "![[Plan]]\n\n![[Plan#Goals]] and ![[b/plan.md|ours]]",
                &["~Plan: Plan", "~Plan#Goals: Plan#Goals", "~b/plan.md: ours"],
            ),
            ("`![[Plan]]` \\![[Goals]]", &["~Goals: Goals"]),
            ("[![alt](a.png)](page.md)", &[]),
            ("`[code](a.md)` \\[no](b.md)", &[]),
            ("```\n[code](a.md)\n```", &[]),
            ("one [text\n\nin two paragraphs](x.md)", &[]),
            ("[[never closed", &[]),
            ("array[0](x) [^1]", &["x: 0"]),
        ] {
            assert_eq!(found(Markup::Markdown, body), expected, "{body}");
        }
    }

    #[test]
    fn links_of_org_and_of_text_without_markup() {
        let body = "* See [[file:a.org][the note]] and [[Plain]]\n#+begin_src\n[[x][y]]\n#+end_src";
        let expected = ["~file:a.org: the note", "~Plain: Plain"];
        assert_eq!(found(Markup::Org, body), expected);
        for markup in [Markup::Plain, Markup::Verbatim] {
            assert_eq!(found(markup, "[a](b.md)"), [] as [String; 0]);
        }
    }

    proptest! {
        #[test]
        fn no_text_is_an_error(body in "(\\[|\\]|\\(|\\)|!|`|\\\\|\\||ü|a| |\n|: ){0,40}") {
            found(Markup::Markdown, &body);
        }

        #[test]
        fn a_link_is_found_among_other_text(
            before in "[a-zü .,]{0,30}", text in "[a-zü]{1,10}", after in "[a-zü .,]{0,30}"
        ) {
            let body = format!("x {before} [{text}](note.md) {after}");
            prop_assert_eq!(found(Markup::Markdown, &body), [format!("note.md: {text}")]);
        }
    }
}
