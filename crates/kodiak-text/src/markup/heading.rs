//! Headings as titles: reduces inline markup to the words a reader sees.
//!
//! Owns the reduction only. `markdown` and `org` find the heading.

use super::brackets::bracketed;

/// The number of bytes of a heading that become the title. A "heading" of a
/// megabyte is an accident, and the reduction may look at each character many
/// times.
const MAX_HEADING_BYTES: usize = 400;

/// Reduces a heading's text to a title. Returns `None` if nothing is left.
pub fn title(heading: &str) -> Option<String> {
    let (heading, cut) = shorten(heading.trim());
    let mut plain = String::with_capacity(heading.len());
    reduce(heading, &mut plain);
    let mut title = one_line(&plain);
    if cut && !title.is_empty() {
        title.push('…');
    }
    (!title.is_empty()).then_some(title)
}

/// Returns a title without markup on one line, cut to length; `None` if it is
/// empty.
pub fn plain_title(text: &str) -> Option<String> {
    let (text, cut) = shorten(text.trim());
    let mut title = one_line(text);
    if cut && !title.is_empty() {
        title.push('…');
    }
    (!title.is_empty()).then_some(title)
}

/// Returns the text of an ATX heading without its closing `#`s and `{#anchor}`.
pub fn without_closing(heading: &str) -> &str {
    let mut text = heading.trim();
    if text.ends_with('}')
        && let Some(at) = text.rfind("{#")
    {
        text = text[..at].trim_end();
    }
    let open = text.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) {
        text = open.trim_end();
    }
    text
}

/// Returns the beginning of a text, and whether it had to be cut.
fn shorten(text: &str) -> (&str, bool) {
    if text.len() <= MAX_HEADING_BYTES {
        return (text, false);
    }
    let cut = (0..=MAX_HEADING_BYTES)
        .rev()
        .find(|&at| text.is_char_boundary(at));
    (&text[..cut.unwrap_or(0)], true)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Appends the words that a reader sees of `text` to `plain`.
fn reduce(text: &str, plain: &mut String) {
    let mut rest = text;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\\' => reduce_escape(rest, plain),
            '`' => Some(reduce_code(rest, plain)),
            '[' => reduce_link(rest, plain),
            '!' if rest.starts_with("![") => {
                reduce_link(&rest[1..], plain).map(|length| length + 1)
            }
            '<' => reduce_markup(rest, plain),
            '*' | '_' | '~' | '=' => Some(reduce_emphasis(rest, first, before, plain)),
            _ => None,
        };
        let length = length.unwrap_or_else(|| {
            plain.push(first);
            first.len_utf8()
        });
        before = rest[..length].chars().next_back().unwrap_or(' ');
        rest = &rest[length..];
    }
}

/// Reduces a backslash escape to the escaped character. Returns its length.
fn reduce_escape(text: &str, plain: &mut String) -> Option<usize> {
    let escaped = text[1..].chars().next()?;
    escaped.is_ascii_punctuation().then(|| {
        plain.push(escaped);
        2
    })
}

/// Reduces a code span to its code. Returns its length. Backticks go even if
/// nothing closes them.
fn reduce_code(text: &str, plain: &mut String) -> usize {
    let run = run_of(text, '`');
    let fence = &text[..run];
    let inner = &text[run..];
    let close = inner
        .match_indices(fence)
        .map(|(at, _)| at)
        .find(|&at| !inner[..at].ends_with('`') && run_of(&inner[at..], '`') == run);
    let Some(close) = close else {
        return run;
    };
    plain.push_str(&inner[..close]);
    run + close + run
}

/// Reduces a link to its text: `[[a|b]]` to b, `[text](address)` and
/// `[text][name]` to text. Returns its length; `None` if it is not a link.
fn reduce_link(text: &str, plain: &mut String) -> Option<usize> {
    if let Some(inner) = text.strip_prefix("[[")
        && let Some(end) = inner.find("]]")
    {
        let shown = inner[..end].rsplit('|').next().unwrap_or_default();
        plain.push_str(shown);
        return Some(end + 4);
    }
    let shown = bracketed(text, b'[', b']')?;
    let after = &text[shown.len() + 2..];
    let address = bracketed(after, b'(', b')').or_else(|| bracketed(after, b'[', b']'))?;
    reduce(shown, plain);
    Some(shown.len() + 2 + address.len() + 2)
}

/// Removes an HTML tag, but keeps the address of `<https://address>`. Returns its
/// length; `None` if it is neither.
fn reduce_markup(text: &str, plain: &mut String) -> Option<usize> {
    let inner = &text[1..text.find('>')?];
    if !inner.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/' || first == '!')
    {
        return None;
    }
    if inner.contains("://") {
        plain.push_str(inner);
    }
    Some(inner.len() + 2)
}

/// Removes emphasis. Returns its length. A run of marks is emphasis if a run of
/// the same mark and length closes it, neither with a space on its inner side; `_`
/// only around whole words.
fn reduce_emphasis(text: &str, mark: char, before: char, plain: &mut String) -> usize {
    let run = run_of(text, mark);
    let inner = &text[run..];
    let opens = match mark {
        '*' => true,
        '_' => !before.is_alphanumeric(),
        _ => run == 2,
    };
    let mut at = if opens && !inner.starts_with(char::is_whitespace) {
        0
    } else {
        inner.len()
    };
    while let Some(found) = inner[at..].find(mark) {
        let close = at + found;
        let closing = run_of(&inner[close..], mark);
        let after = inner[close + closing..].chars().next();
        let apart = mark != '_' || !after.is_some_and(char::is_alphanumeric);
        let touches = !inner[..close].ends_with(|last: char| last.is_whitespace() || last == '\\');
        if closing == run && apart && touches {
            reduce(&inner[..close], plain);
            return run + close + closing;
        }
        at = close + closing;
    }
    plain.push_str(&text[..run]);
    run
}

/// Returns the number of bytes of the run of `mark` at the start of a text.
fn run_of(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_reduced_to_words() {
        for (heading, expected) in [
            ("Plain words", "Plain words"),
            ("**Bold** and *slanted*", "Bold and slanted"),
            ("__Bold__ and _slanted_", "Bold and slanted"),
            ("snake_case_name and __init__", "snake_case_name and init"),
            ("ends_here_ and _starts_here", "ends_here_ and _starts_here"),
            ("2 * 3 * 4", "2 * 3 * 4"),
            ("a ** b", "a ** b"),
            ("***all***", "all"),
            ("~~gone~~ ==marked== ~x~ a=b=c", "gone marked ~x~ a=b=c"),
            ("The `code` ``with ` tick``", "The code with ` tick"),
            ("`*not emphasis*`", "*not emphasis*"),
            ("an open ` tick", "an open tick"),
            ("[text](https://example.org/a_(b)) end", "text end"),
            ("[**bold**][name]", "bold"),
            ("[just brackets] [ ]", "[just brackets] [ ]"),
            ("![logo](logo.png) Kodiak", "logo Kodiak"),
            ("[[page|shown]] and [[page]]", "shown and page"),
            (
                "a <b>c</b> <https://example.org> 1 < 2 > 1",
                "a c https://example.org 1 < 2 > 1",
            ),
            (r"\*stars\* and \[x]", "*stars* and [x]"),
            ("  many   spaces\there ", "many spaces here"),
            ("日本**語**", "日本語"),
        ] {
            assert_eq!(title(heading).as_deref(), Some(expected), "{heading}");
        }
        for nothing in ["", "  ", "![](logo.png)", "<br>"] {
            assert_eq!(title(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn closing_signs_and_anchors_are_removed() {
        for (heading, expected) in [
            ("One ##", "One"),
            ("One \t#  ", "One"),
            ("C#", "C#"),
            ("###", ""),
            ("One {#first}", "One"),
            ("One ## {#first}", "One"),
            ("Set {1, 2}", "Set {1, 2}"),
        ] {
            assert_eq!(without_closing(heading), expected, "{heading}");
        }
    }

    #[test]
    fn endless_headings_are_cut_between_characters() {
        for endless in [
            "ü".repeat(100_000),
            "*a ".repeat(100_000),
            "[".repeat(100_000),
        ] {
            let title = title(&endless).unwrap();
            assert!(
                title.ends_with('…') && title.len() <= MAX_HEADING_BYTES + 3,
                "{title}"
            );
        }
        assert!(plain_title(&"é ".repeat(1000)).unwrap().len() <= MAX_HEADING_BYTES + 3);
    }
}
