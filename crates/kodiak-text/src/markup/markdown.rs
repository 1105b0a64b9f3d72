//! The scanner for markdown: decides the kind of each line of a body, and takes
//! title and tags from it.
//!
//! Owns telling headings, text and code apart, in one pass over the lines and
//! without a syntax tree, so that a folder of notes is read at the speed of its
//! disk. It follows `CommonMark` as far as notes do; the rest is text.

use super::heading;
use super::tags::Tags;

/// Takes the title and the tags from a line, if it has any. The title is the first
/// heading of level 1 outside lists and quotes.
pub(super) fn take(
    title: &mut Option<String>,
    tags: &mut Tags,
    body: &str,
    start: usize,
    line: Line<&str>,
) {
    match line {
        Line::Heading {
            level,
            text,
            nested,
        } => {
            if level == 1 && !nested && title.is_none() {
                *title = heading::title(heading::without_closing(text));
            }
            tags.collect(text, true);
        }
        Line::Underline { level: 1, from } if title.is_none() => {
            *title = heading::title(&body[from..start]);
        }
        Line::Text { content, .. } => tags.collect(content, false),
        Line::Blank | Line::Code { .. } | Line::Underline { .. } | Line::Rule => {}
    }
}

/// The kind of a line of a body, with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<Text> {
    /// A blank line.
    Blank,
    /// An ATX heading, which opens with `#`s, or an Org headline.
    Heading {
        /// The level, from 1.
        level: usize,
        /// The text after the opening signs.
        text: Text,
        /// Whether it is inside a list or a quote, where it starts no section.
        nested: bool,
    },
    /// The underline of a setext heading: `=` or `-` that make the paragraph above
    /// a heading.
    Underline {
        /// The level: 1 for `=`, 2 for `-`.
        level: usize,
        /// The offset of the heading's text in the body.
        from: usize,
    },
    /// A thematic break.
    Rule,
    /// Code, or HTML whose content is not text.
    Code {
        /// Whether a block opens here.
        opens: bool,
    },
    /// Text.
    Text {
        /// The text without quote and list markers.
        content: Text,
        /// The block that the line begins, if it does not continue the line before.
        begins: Begins,
    },
}

impl<Text> Line<Text> {
    /// Returns the line with its text changed by `change`.
    pub(super) fn map<Other>(self, change: impl FnOnce(Text) -> Other) -> Line<Other> {
        match self {
            Self::Blank => Line::Blank,
            Self::Heading {
                level,
                text,
                nested,
            } => Line::Heading {
                level,
                text: change(text),
                nested,
            },
            Self::Underline { level, from } => Line::Underline { level, from },
            Self::Rule => Line::Rule,
            Self::Code { opens } => Line::Code { opens },
            Self::Text { content, begins } => Line::Text {
                content: change(content),
                begins,
            },
        }
    }
}

/// The block that a line of text begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begins {
    /// A paragraph.
    Paragraph,
    /// A list item, whose marker is indented by this many columns.
    Item(usize),
    /// Nothing: it continues the line before.
    Nothing,
}

/// A block of lines that are not text, and its end.
#[derive(Clone, Copy)]
enum Skipping {
    /// A fenced code block inside this many levels of quotes.
    Fence {
        mark: u8,
        length: usize,
        quotes: usize,
    },
    /// HTML up to this text.
    Html(&'static str),
}

/// The paragraph that the line before belongs to.
#[derive(Clone, Copy, Default, PartialEq)]
enum Paragraph {
    /// None: an indented line is code.
    #[default]
    None,
    /// A paragraph that begins at this offset, which an underline makes a heading.
    Plain(usize),
    /// A paragraph that cannot become a heading: in a list, a quote or a table, or
    /// one that begins with HTML.
    Nested,
}

/// Decides the kind of each line, from the line and the lines before it.
#[derive(Default)]
pub struct Scanner {
    skipping: Option<Skipping>,
    paragraph: Paragraph,
    /// The number of quote markers of the line before.
    quotes: usize,
    /// The column where the text of the current list item starts; 0 outside of
    /// lists.
    list_indent: usize,
}

impl Scanner {
    /// Returns the kind of the next line, which starts at offset `start` of the
    /// body.
    pub fn line<'line>(&mut self, start: usize, line: &'line str) -> Line<&'line str> {
        if self.skips(line) {
            return Line::Code { opens: false };
        }
        let (text, quotes) = without_quotes(line, usize::MAX, self.list_indent + 3);
        if quotes != self.quotes {
            self.quotes = quotes;
            self.list_indent = 0;
            self.paragraph = Paragraph::None;
        }
        let (mut content, mut indent) = without_indent(text);
        if content.is_empty() {
            self.paragraph = Paragraph::None;
            return Line::Blank;
        }
        if self.paragraph == Paragraph::None {
            self.list_indent = self.list_indent.min(indent);
        }
        if indent >= self.list_indent + 4 {
            // Code, unless it continues a paragraph, in which only HTML can open.
            if self.paragraph == Paragraph::None {
                return Line::Code { opens: false };
            }
            if let Some(html @ Skipping::Html(_)) = opening(content, quotes) {
                self.skip(html, content);
                return Line::Code { opens: true };
            }
            return Line::Text {
                content,
                begins: Begins::Nothing,
            };
        }
        let mut begins = Begins::Nothing;
        let mut nested = quotes > 0 || (self.list_indent > 0 && indent >= self.list_indent);
        while let Some(marker) = list_marker(content) {
            if begins == Begins::Nothing {
                begins = Begins::Item(indent);
            }
            let (item, space) = without_indent(&content[marker..]);
            indent += marker + space.clamp(1, 4);
            content = item;
            self.list_indent = indent;
            self.paragraph = Paragraph::Nested;
            nested = true;
        }
        if let Some(skipping) = opening(content, quotes) {
            self.paragraph = Paragraph::None;
            self.skip(skipping, content);
            return Line::Code { opens: true };
        }
        if let Some((level, text)) = numbered_heading(content) {
            self.paragraph = Paragraph::None;
            return Line::Heading {
                level,
                text,
                nested,
            };
        }
        if let Paragraph::Plain(from) = self.paragraph {
            let under = |mark| consists_of(content, mark);
            if let Some(level) = [b'=', b'-'].into_iter().position(under) {
                self.paragraph = Paragraph::None;
                let level = level + 1;
                return Line::Underline { level, from };
            }
        }
        if [b'-', b'*', b'_']
            .iter()
            .any(|&mark| consists_of(content, mark))
        {
            self.paragraph = Paragraph::None;
            return Line::Rule;
        }
        if self.paragraph == Paragraph::None {
            begins = Begins::Paragraph;
            let plain = !nested && !content.starts_with(['|', '<']);
            self.paragraph = if plain {
                Paragraph::Plain(start)
            } else {
                Paragraph::Nested
            };
        }
        Line::Text { content, begins }
    }

    /// Reports whether the line belongs to the block that is being skipped.
    fn skips(&mut self, line: &str) -> bool {
        match self.skipping {
            None => false,
            Some(Skipping::Html(end)) => {
                if contains_ignoring_case(line, end) {
                    self.skipping = None;
                }
                true
            }
            Some(Skipping::Fence {
                mark,
                length,
                quotes,
            }) => {
                let (text, found) = without_quotes(line, quotes, usize::MAX);
                let content = text.trim();
                if found < quotes {
                    // The quote has ended, and with it the fenced block.
                    self.skipping = None;
                    return false;
                }
                if content.len() >= length && consists_of(content, mark) {
                    self.skipping = None;
                }
                true
            }
        }
    }

    /// Skips the block that opens here, or this line only if the block ends in it.
    fn skip(&mut self, skipping: Skipping, content: &str) {
        let ends = matches!(skipping, Skipping::Html(end) if contains_ignoring_case(content, end));
        self.skipping = (!ends).then_some(skipping);
    }
}

/// Returns the block that is not text and that a line opens, if it opens one.
fn opening(content: &str, quotes: usize) -> Option<Skipping> {
    let first = content.as_bytes().first()?;
    match first {
        b'`' | b'~' => {
            let length = content.bytes().take_while(|byte| byte == first).count();
            // With another backtick in the line, it is a code span.
            let fence = length >= 3 && (*first == b'~' || !content[length..].contains('`'));
            fence.then_some(Skipping::Fence {
                mark: *first,
                length,
                quotes,
            })
        }
        b'<' => {
            const BLOCKS: [(&str, &str); 5] = [
                ("<!--", "-->"),
                ("<pre", "</pre"),
                ("<script", "</script"),
                ("<style", "</style"),
                ("<textarea", "</textarea"),
            ];
            let (opening, end) = BLOCKS.into_iter().find(|(opening, _)| {
                let head = content.as_bytes().get(..opening.len());
                head.is_some_and(|head| head.eq_ignore_ascii_case(opening.as_bytes()))
            })?;
            let rest = &content[opening.len()..];
            let whole_name = opening == "<!--" || !rest.starts_with(char::is_alphanumeric);
            whole_name.then_some(Skipping::Html(end))
        }
        _ => None,
    }
}

/// Strips at most `most` quote markers, each indented no further than `indent`.
/// Returns the rest and the number of markers.
fn without_quotes(line: &str, most: usize, indent: usize) -> (&str, usize) {
    let mut text = line;
    let mut quotes = 0;
    while quotes < most {
        let content = text.trim_start_matches([' ', '\t']);
        let Some(inner) = content.strip_prefix('>') else {
            break;
        };
        if text.len() - content.len() > indent {
            break;
        }
        text = inner.strip_prefix(' ').unwrap_or(inner);
        quotes += 1;
    }
    (text, quotes)
}

/// Strips the indentation. Returns the rest and the number of columns.
fn without_indent(text: &str) -> (&str, usize) {
    let mut columns = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b' ' => columns += 1,
            b'\t' => columns += 4 - columns % 4,
            _ => return (&text[at..], columns),
        }
    }
    ("", columns)
}

/// Returns the length of the list marker `-`, `*`, `+`, `1.` or `1)` at the start
/// of a line, if a space or nothing follows it.
pub fn list_marker(content: &str) -> Option<usize> {
    let bytes = content.as_bytes();
    let length = match bytes.first()? {
        b'-' | b'*' | b'+' => 1,
        b'0'..=b'9' => {
            let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit());
            let digits = digits.take(10).count();
            if digits > 9 || !matches!(bytes.get(digits), Some(b'.' | b')')) {
                return None;
            }
            digits + 1
        }
        _ => return None,
    };
    matches!(bytes.get(length), None | Some(b' ' | b'\t')).then_some(length)
}

/// Returns the level and the text of an ATX heading, which opens with `#`s.
pub fn numbered_heading(content: &str) -> Option<(usize, &str)> {
    let level = content.bytes().take_while(|&byte| byte == b'#').count();
    let text = &content[level..];
    let heading = (1..=6).contains(&level) && (text.is_empty() || text.starts_with([' ', '\t']));
    heading.then_some((level, text))
}

/// Reports whether a line consists of this mark only.
fn consists_of(content: &str, mark: u8) -> bool {
    let content = content.trim_end();
    !content.is_empty() && content.bytes().all(|byte| byte == mark)
}

fn contains_ignoring_case(line: &str, end: &str) -> bool {
    let bytes = line.as_bytes();
    bytes
        .windows(end.len())
        .any(|window| window.eq_ignore_ascii_case(end.as_bytes()))
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
