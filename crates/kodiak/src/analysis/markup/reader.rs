//! What the lines of a body are, whichever markup it is written in.
//!
//! Owns the choice of scanner and the lines of Org. What lines of markdown are is
//! `markdown`'s to know.

use super::markdown::{self, Begins, Line, Scanner};
use super::org;
use crate::document::Markup;

/// Deeper headings of Org than this count as so deep.
const DEEPEST: usize = 9;

/// Tells what one line after the other is.
pub(crate) enum LineReader {
    Markdown(Scanner),
    Org {
        /// Whether a block of code is open.
        code: bool,
    },
}

impl LineReader {
    /// Returns a reader for a body in this markup. Plain text is read like
    /// markdown, since people put headings and lists into it all the same.
    pub(crate) fn new(markup: Markup) -> Self {
        match markup {
            Markup::Markdown | Markup::Plain => Self::Markdown(Scanner::default()),
            Markup::Org => Self::Org { code: false },
        }
    }

    /// What the next line is, which starts at this offset of the body.
    pub(crate) fn line<'line>(&mut self, start: usize, line: &'line str) -> Line<&'line str> {
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

fn starts_ignoring_case(content: &str, opening: &str) -> bool {
    let head = content.as_bytes().get(..opening.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_org() {
        let body = "#+begin_src\n\n- x\n#+END_SRC\n  - y\n\ntext\n********** deep :tag:";
        let mut reader = LineReader::new(Markup::Org);
        let found: Vec<Line<&str>> = body.lines().map(|line| reader.line(0, line)).collect();
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
