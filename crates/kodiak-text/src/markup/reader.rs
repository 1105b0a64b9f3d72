//! The line reader: decides the kind of each line, in any markup.
//!
//! Owns the choice of scanner and the scanning of Org. The scanner for markdown is
//! in `markdown`.

use super::markdown::{self, Begins, Line, Scanner};
use super::org;
use crate::document::Markup;

/// The deepest level of Org headings; deeper ones count as this one.
const DEEPEST: usize = 9;

/// Decides the kinds of lines, one after the other.
pub(crate) enum LineReader {
    Markdown(Scanner),
    Org {
        /// Whether a block of code is open.
        code: bool,
    },
}

impl LineReader {
    /// Creates a reader for a body in this markup. Plain text is read as markdown,
    /// since people write headings and lists in it too.
    pub(crate) fn new(markup: Markup) -> Self {
        match markup {
            Markup::Markdown | Markup::Plain | Markup::Verbatim => {
                Self::Markdown(Scanner::default())
            }
            Markup::Org => Self::Org { code: false },
        }
    }

    /// Returns the kind of the next line, which starts at offset `start` of the
    /// body.
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
