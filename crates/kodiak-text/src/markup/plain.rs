//! Markdown as prose: the text a reader sees, and where each byte of it is from.
//!
//! Owns which lines are shown and how blocks are joined: list items and table rows by semicolons,
//! cells by dots, a heading and the text after it by a colon. Emphasis, links and tags within a
//! block are left to `inline`, blocks of links and nothing else to `links`, single lines to
//! `shape`; choosing the part of a text to show is left to the search.

mod inline;
mod links;
mod shape;

use std::ops::Range;

use super::heading;
use super::markdown::{Begins, Line, Scanner};
use crate::document::Markup;
use inline::Inline;
pub use shape::{Shape, is_tag_line};
use shape::{cells, is_link_definition, is_table_rule, without_callout};

/// The origin of bytes that are not from the body.
const INSERTED: usize = usize::MAX;
/// The separator of the cells of a table row.
const CELLS: &str = " · ";

/// How much prose is needed. To show two lines of a long note, there is no need to render
/// all of it.
#[derive(Clone, Copy, Debug)]
pub struct Enough {
    /// The offset in the body of the first character that counts.
    pub after: usize,
    /// How many are needed.
    pub characters: usize,
}

impl Enough {
    /// Everything.
    pub const ALL: Self = Self {
        after: usize::MAX,
        characters: usize::MAX,
    };
}

/// Prose made from a part of a body.
#[derive(Debug)]
pub struct Prose {
    /// The prose, on one line, without white space at its ends.
    pub text: String,
    /// Where its blocks start, as offsets of `text`.
    pub starts: Vec<usize>,
    /// Where its paragraphs and blocks of code end, as offsets of `text`.
    pub ends: Vec<usize>,
    /// The blocks that say little beside others, as ranges of `text`: rows of tables, and
    /// items of lists that are links and nothing else.
    pub alone: Vec<Range<usize>>,
    /// For each byte of `text` its offset in the body, or [`INSERTED`].
    origins: Vec<usize>,
    /// The separator to write before the next character.
    pending: Option<(&'static str, usize)>,
    /// Whether the next character starts a block.
    starting: bool,
    /// The limits that are not reached yet.
    needed: Enough,
}

impl Prose {
    fn new(needed: Enough) -> Self {
        Self {
            text: String::new(),
            starts: Vec::new(),
            ends: Vec::new(),
            alone: Vec::new(),
            origins: Vec::new(),
            pending: None,
            starting: false,
            needed,
        }
    }

    /// Reports whether there is as much as is needed.
    fn is_enough(&self) -> bool {
        self.needed.characters == 0
    }

    /// Returns where in the body a byte of the text is from. Bytes that were
    /// inserted are from nowhere.
    pub fn origin(&self, at: usize) -> Option<usize> {
        let origin = self.origins.get(at).copied();
        origin.filter(|&origin| origin != INSERTED)
    }

    /// Returns the bytes of the text that are from a range of the body.
    pub fn places_of(&self, range: Range<usize>) -> impl DoubleEndedIterator<Item = usize> + '_ {
        let origins = self.origins.iter().enumerate();
        origins.filter_map(move |(at, origin)| range.contains(origin).then_some(at))
    }

    /// Appends a character of the body. Runs of white space and control characters
    /// become one space.
    fn push(&mut self, character: char, origin: usize) {
        if character.is_whitespace() || character.is_control() {
            self.separate(" ", origin);
            return;
        }
        self.write_pending();
        self.text.push(character);
        if origin == INSERTED {
            self.origins.resize(self.text.len(), INSERTED);
        } else {
            self.origins.extend(origin..origin + character.len_utf8());
            if origin >= self.needed.after {
                self.count(1);
            }
        }
    }

    /// Appends text that neither begins nor ends with white space and has nothing to
    /// squeeze. `origins` has the offset of each of its bytes.
    fn push_run(&mut self, run: &str, origins: &[usize]) {
        self.write_pending();
        self.text.push_str(run);
        self.origins.extend_from_slice(origins);
        let before = match origins.last() {
            Some(&last) if last >= self.needed.after => {
                origins.partition_point(|&origin| origin < self.needed.after)
            }
            _ => return,
        };
        // Of the bytes of a character, all but the first begin with these bits.
        let starts = |byte: &&u8| **byte & 0xc0 != 0x80;
        self.count(run.as_bytes()[before..].iter().filter(starts).count());
    }

    /// Writes the separator before the next character.
    fn write_pending(&mut self) {
        if let Some((separator, from)) = self.pending.take()
            && !self.text.is_empty()
        {
            self.text.push_str(separator);
            self.origins.resize(self.text.len(), from);
        }
        if std::mem::take(&mut self.starting) {
            self.starts.push(self.text.len());
        }
    }

    /// Counts characters from behind the offset that matters. Prose keeps the order
    /// of the body, so all that follow are behind it as well.
    fn count(&mut self, characters: usize) {
        self.needed.characters = self.needed.characters.saturating_sub(characters);
    }

    /// Sets the separator before the next character. A separator of blocks or cells is not
    /// replaced by a space.
    fn separate(&mut self, separator: &'static str, origin: usize) {
        if separator != " " || self.pending.is_none() {
            self.pending = Some((separator, origin));
        }
    }
}

/// Renders a part of a body as prose. Lines before the part are read only for
/// their blocks: code that opens above the part is still code within it. The
/// heading that repeats the title is left out. Markup other than markdown is kept.
pub fn render(markup: Markup, body: &str, part: Range<usize>, title: &str) -> Prose {
    render_enough(markup, body, part, title, Enough::ALL)
}

/// Renders a part of a body as [`render`] does, until there is enough. The result is
/// the beginning of what `render` returns.
pub fn render_enough(
    markup: Markup,
    body: &str,
    part: Range<usize>,
    title: &str,
    needed: Enough,
) -> Prose {
    if markup != Markup::Markdown {
        return as_written(body, part, needed);
    }
    let mut renderer = Renderer {
        part,
        title,
        prose: Prose::new(needed),
        block: Block::default(),
        last: None,
        skipped: Skipped::Nothing,
        in_table: false,
    };
    let mut scanner = Scanner::default();
    let mut start = 0;
    let mut lines = body.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        if start >= renderer.part.end || renderer.prose.is_enough() {
            break;
        }
        let end = start + line.len();
        let content = line.trim_end_matches(['\n', '\r']);
        let kind = scanner.line(start, content);
        let next = lines.peek().copied().unwrap_or_default();
        renderer.line(start, content, kind, next);
        start = end;
    }
    renderer.flush();
    renderer.prose
}

/// Returns a part of a body as it is written, with white space squeezed. A blank
/// line separates blocks.
fn as_written(body: &str, part: Range<usize>, needed: Enough) -> Prose {
    let mut prose = Prose {
        starting: starts_block(body, part.start),
        ..Prose::new(needed)
    };
    for (at, character) in body[part.clone()].char_indices() {
        if prose.is_enough() {
            break;
        }
        let at = part.start + at;
        if character == '\n'
            && body[at + 1..]
                .trim_start_matches(['\r', ' '])
                .starts_with('\n')
        {
            prose.starting = true;
            if prose.ends.last() != Some(&prose.text.len()) {
                prose.ends.push(prose.text.len());
            }
        }
        prose.push(character, at);
    }
    prose
}

/// Reports whether a block may start at an offset: at the start of a line.
fn starts_block(body: &str, at: usize) -> bool {
    at == 0 || body[..at].ends_with('\n')
}

/// The kind of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Paragraph,
    Item,
    Heading,
    Row,
    Code,
}

/// The block that is being read, without the markers of its lines.
#[derive(Default)]
struct Block {
    kind: Kind,
    text: String,
    origins: Vec<usize>,
    /// Whether its first line is cut.
    cut: bool,
}

/// Which lines of code are being read.
#[derive(Clone, Copy)]
enum Skipped {
    /// None.
    Nothing,
    /// A fenced block, which ends at a run of at least so many of these marks.
    Fence(char, usize),
    /// HTML that is not text.
    Html,
}

struct Renderer<'a> {
    part: Range<usize>,
    title: &'a str,
    prose: Prose,
    block: Block,
    /// The kind of the last block that is part of the prose.
    last: Option<Kind>,
    skipped: Skipped,
    in_table: bool,
}

impl Renderer<'_> {
    /// Takes the next line, which starts at offset `start` of the body.
    fn line(&mut self, start: usize, line: &str, kind: Line<&str>, next: &str) {
        let before = start + line.len() < self.part.start;
        if !matches!(kind, Line::Code { .. }) {
            self.skipped = Skipped::Nothing;
        }
        if !matches!(kind, Line::Text { .. }) {
            self.in_table = false;
        }
        match kind {
            Line::Code { opens } => self.code(start, line, opens, before),
            _ if before => {
                self.in_table = is_table_rule(line) || (self.in_table && line.contains('|'));
            }
            Line::Blank | Line::Rule => self.flush(),
            Line::Heading { text, .. } => {
                let start = start + line.len() - text.len();
                self.begin(Kind::Heading);
                self.add(start, heading::without_closing(text), text);
                self.flush();
            }
            Line::Underline { .. } => {
                self.block.kind = Kind::Heading;
                self.flush();
            }
            Line::Text { content, begins } => {
                self.text(start + line.len() - content.len(), content, begins, next);
            }
        }
    }

    fn code(&mut self, start: usize, line: &str, opens: bool, before: bool) {
        if opens {
            if !before {
                self.flush();
            }
            let mark = line.find(['`', '~', '<']).unwrap_or_default();
            let rest = &line[mark..];
            self.skipped = match rest.chars().next() {
                Some(mark @ ('`' | '~')) => {
                    Skipped::Fence(mark, rest.len() - rest.trim_start_matches(mark).len())
                }
                _ => Skipped::Html,
            };
        }
        if matches!(self.skipped, Skipped::Html) {
            if !before && let Some(end) = line.find("-->") {
                self.begin(Kind::Paragraph);
                self.add(start + end + 3, &line[end + 3..], &line[end + 3..]);
            }
            return;
        }
        if opens {
            return;
        }
        if let Skipped::Fence(mark, length) = self.skipped {
            let content = line.trim_start_matches(['>', ' ', '\t']).trim_end();
            if content.len() >= length && content.trim_start_matches(mark).is_empty() {
                self.skipped = Skipped::Nothing;
                if !before {
                    self.flush();
                }
                return;
            }
        }
        if !before {
            if self.block.kind != Kind::Code {
                self.begin(Kind::Code);
            }
            self.add(start, line, line);
        }
    }

    fn text(&mut self, start: usize, content: &str, begins: Begins, next: &str) {
        if is_table_rule(content) {
            self.in_table = true;
            return;
        }
        if is_link_definition(content) || is_tag_line(content) {
            return;
        }
        let row = content.contains('|')
            && (self.in_table || content.starts_with('|') || is_table_rule(next));
        self.in_table &= row;
        match begins {
            _ if row => self.begin(Kind::Row),
            Begins::Item(_) => self.begin(Kind::Item),
            Begins::Paragraph => self.begin(Kind::Paragraph),
            Begins::Nothing if matches!(self.block.kind, Kind::Row | Kind::Code) => {
                self.begin(Kind::Paragraph);
            }
            Begins::Nothing => {}
        }
        let shown = match begins {
            Begins::Paragraph => without_callout(content),
            // An item keeps the box that says whether it is done.
            Begins::Item(_) | Begins::Nothing => content,
        };
        self.add(start + content.len() - shown.len(), shown, shown);
    }

    /// Ends the block that is being read and begins another.
    fn begin(&mut self, kind: Kind) {
        self.flush();
        self.block.kind = kind;
    }

    /// Adds a line to the block, as far as it lies in the part. `text` is the
    /// beginning of `line`, which starts at offset `start` of the body.
    fn add(&mut self, start: usize, text: &str, line: &str) {
        let lead = line.len() - line.trim_start().len();
        let start = start + if text.len() < line.len() { lead } else { 0 };
        let from = self.part.start.clamp(start, start + text.len());
        let to = self.part.end.clamp(from, start + text.len());
        if self.block.text.is_empty() {
            self.block.cut = from > start;
        } else {
            self.block.text.push('\n');
            self.block.origins.push(from.saturating_sub(1));
        }
        self.block.text.push_str(&text[from - start..to - start]);
        self.block.origins.extend(from..to);
    }

    /// Writes the block that is being read.
    fn flush(&mut self) {
        let block = std::mem::take(&mut self.block);
        if block.text.trim().is_empty() {
            return;
        }
        if block.kind == Kind::Heading
            && heading::title(&block.text).is_some_and(|text| text == self.title)
        {
            return;
        }
        let length = self.prose.text.len();
        let separator = separator(&self.prose.text, self.last, block.kind);
        self.prose.separate(separator, INSERTED);
        self.prose.starting = !block.cut;
        let mut inline = Inline {
            text: &block.text,
            origins: &block.origins,
            prose: &mut self.prose,
        };
        match block.kind {
            Kind::Code => inline.as_written(0..block.text.len()),
            Kind::Row => {
                for cell in cells(&block.text) {
                    let separates = inline.prose.text.len() > length;
                    if separates && !block.text[cell.clone()].trim().is_empty() {
                        inline.prose.separate(CELLS, INSERTED);
                    }
                    inline.render(cell, 0);
                }
            }
            _ => inline.render(0..block.text.len(), 0),
        }
        self.prose.starting = false;
        if self.prose.text.len() > length {
            let is_list = || block.kind == Kind::Item && links::are_all(&block.text);
            if block.kind == Kind::Row || is_list() {
                let start = self.prose.starts.last().filter(|_| !block.cut);
                let start = start.map_or(length, |start| *start);
                self.prose.alone.push(start..self.prose.text.len());
            }
            self.last = Some(block.kind);
            if matches!(block.kind, Kind::Paragraph | Kind::Code) && !self.prose.is_enough() {
                self.prose.ends.push(self.prose.text.len());
            }
        }
    }
}

/// Returns the separator between a block and the text before it.
fn separator(text: &str, last: Option<Kind>, next: Kind) -> &'static str {
    let said = |last: char| matches!(last, ':' | ',' | ';') || inline::ends_sentence(last);
    match (last, next) {
        (Some(Kind::Code), _) => CELLS,
        _ if text.ends_with(said) => " ",
        (Some(Kind::Heading), _) | (Some(Kind::Paragraph), Kind::Item | Kind::Code) => ": ",
        (Some(Kind::Item), Kind::Item) | (Some(Kind::Row), Kind::Row) => "; ",
        _ => CELLS,
    }
}

#[cfg(test)]
mod tests;
