//! What the lines of a body are, whichever way it is written.
//!
//! Owns telling Org from markdown by the text alone. What lines mean is
//! `markup`'s to know.

use crate::analysis::markup::markdown::{self, Begins, Line, Scanner};
use crate::analysis::markup::org;

/// Deeper headings of Org than this count as so deep.
const DEEPEST: usize = 9;

/// Tells what lines are in one of the two ways of writing.
pub(super) enum Reader {
    Markdown(Scanner),
    Org {
        /// Whether a block of code is open.
        code: bool,
    },
}

impl Reader {
    /// The reader for a body, by the way it is written.
    pub(super) fn of(body: &str) -> Self {
        if resembles_org(body) {
            Self::Org { code: false }
        } else {
            Self::Markdown(Scanner::default())
        }
    }

    /// What the next line is, which starts at this offset of the body.
    pub(super) fn line<'line>(&mut self, start: usize, line: &'line str) -> Line<'line> {
        let code = match self {
            Self::Markdown(scanner) => return scanner.line(start, line),
            Self::Org { code } => code,
        };
        let content = line.trim();
        if let Some((level, text)) = org::starred(line) {
            *code = false;
            return Line::Heading {
                level: level.min(DEEPEST),
                text: org::divide_headline(text).0,
                nested: false,
            };
        }
        let opens = starts_ignoring_case(content, "#+begin");
        if opens || *code {
            *code = opens || !starts_ignoring_case(content, "#+end");
            return Line::Code { opens };
        }
        if content.is_empty() {
            return Line::Blank;
        }
        let begins = match markdown::list_marker(content) {
            Some(_) => Begins::Item(line.len() - line.trim_start().len()),
            None => Begins::Nothing,
        };
        Line::Text { content, begins }
    }
}

/// Whether the first line that tells is one of Org: a keyword, a drawer or a
/// headline of the second level. One star is an item to markdown.
fn resembles_org(body: &str) -> bool {
    for line in body.lines() {
        let bytes = line.as_bytes();
        match bytes.first() {
            Some(b'#') => {
                if bytes.get(1) == Some(&b'+') && bytes.get(2).is_some_and(u8::is_ascii_alphabetic)
                {
                    return true;
                }
                if markdown::numbered_heading(line).is_some() {
                    return false;
                }
            }
            Some(b'*') if org::starred(line).is_some_and(|(level, _)| level > 1) => return true,
            Some(b':') if line.trim_end().eq_ignore_ascii_case(":properties:") => return true,
            Some(b'`' | b'~') if line.starts_with("```") || line.starts_with("~~~") => {
                return false;
            }
            _ => {}
        }
    }
    false
}

fn starts_ignoring_case(content: &str, opening: &str) -> bool {
    let head = content.as_bytes().get(..opening.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_tells_decides() {
        for (body, org) in [
            ("#+TITLE: One\n# comment", true),
            ("text\n\n* One\n** Two", true),
            ("* One\n:PROPERTIES:\n:ID: 1\n:END:", true),
            ("* One\n* Two", false),
            ("# One\n#+title: two", false),
            ("```\n#+title: one\n```", false),
            ("**bold** text\n#+ 1", false),
            ("#tag\n** One", true),
            ("", false),
        ] {
            assert_eq!(resembles_org(body), org, "{body:?}");
        }
    }

    #[test]
    fn lines_of_org() {
        let body = "#+begin_src\n\n- x\n#+END_SRC\n  - y\n\ntext\n********** deep :tag:";
        let mut reader = Reader::of(body);
        let found: Vec<Line<'_>> = body.lines().map(|line| reader.line(0, line)).collect();
        let code = |opens| Line::Code { opens };
        let text = |content, begins| Line::Text { content, begins };
        let deep = Line::Heading {
            level: DEEPEST,
            text: "deep",
            nested: false,
        };
        let expected = [
            code(true),
            code(false),
            code(false),
            code(false),
            text("- y", Begins::Item(2)),
            Line::Blank,
            text("text", Begins::Nothing),
            deep,
        ];
        assert_eq!(found, expected);
    }
}
