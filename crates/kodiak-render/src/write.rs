//! Writes the events of a note.
//!
//! Every tag is opened and closed here, in order, so that the output is well formed
//! whatever the note says. What could keep a browser busy is bounded: how deep elements
//! are, how many blocks there are, and how large tables are.

mod links;
mod raw;
mod table;

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use crate::address::slug;
use crate::autolink::linked;
use crate::note::Link;
use crate::raw::is_inline;
use crate::{Heading, Meaning, Rendered, escape};

/// The most blocks that are written. What follows is left to another part.
pub(crate) const MOST_BLOCKS: usize = 30_000;
/// The number of elements inside each other above which only text is written.
const DEEPEST: usize = 40;
/// The most headings that are listed, and the most letters of one.
const MOST_HEADINGS: usize = 1_000;
const LONGEST_HEADING: usize = 200;
/// The longest name of a language.
const LONGEST_LANGUAGE: usize = 32;

/// Something that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// An element for a part of the note.
    Own(&'static str),
    /// A part of the note that has no element.
    Flat,
    /// An element that the HTML in the note opened.
    Raw(&'static str),
}

/// An image whose text is being read.
struct Image {
    kind: LinkType,
    target: String,
    text: String,
    /// The images inside it.
    inner: usize,
}

/// A table that is being written.
struct Table {
    alignments: Vec<Alignment>,
    column: usize,
    rows: usize,
    /// Whether the cells of its head are being written.
    is_head: bool,
}

/// Writes a note.
pub(crate) struct Writer<'n> {
    text: &'n str,
    /// Where the lines of the text begin.
    lines: Vec<usize>,
    /// The number of the first line of the text, and of the first one that is rendered.
    first: usize,
    from: usize,
    meanings: HashMap<&'n Link, &'n Meaning>,
    id: Option<&'n str>,
    html: String,
    open: Vec<Open>,
    /// The line of the last block.
    line: usize,
    blocks: usize,
    image: Option<Image>,
    table: Option<Table>,
    /// What was written of the tables in the HTML of the note.
    raw_tables: raw::Tables,
    /// The last line that is written, where there are too many to write all.
    ended: Option<usize>,
    /// What is left out until this ends.
    muted: Option<TagEnd>,
    /// The HTML of a block.
    block_html: Option<String>,
    in_code: bool,
    /// The end of a sign that is not written, such as that of a callout.
    skipped: usize,
    footnotes: HashMap<CowStr<'n>, usize>,
    headings: Vec<Heading>,
    in_heading: bool,
    /// The lines of the places in the note.
    places: HashMap<String, usize>,
}

impl<'n> Writer<'n> {
    pub(crate) fn new(
        text: &'n str,
        first: usize,
        from: usize,
        meanings: HashMap<&'n Link, &'n Meaning>,
        id: Option<&'n str>,
    ) -> Self {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0)
            .chain(newlines.map(|(at, _)| at + 1))
            .collect();
        let mut writer = Self {
            text,
            lines,
            first,
            from,
            meanings,
            id,
            html: String::with_capacity(text.len() + text.len() / 2),
            open: Vec::new(),
            line: from,
            blocks: 0,
            image: None,
            table: None,
            raw_tables: raw::Tables::default(),
            ended: None,
            muted: None,
            block_html: None,
            in_code: false,
            skipped: 0,
            footnotes: HashMap::new(),
            headings: Vec::new(),
            in_heading: false,
            places: HashMap::new(),
        };
        writer.places = writer.found_places();
        writer
    }

    /// Writes everything, up to the most blocks.
    pub(crate) fn write(
        mut self,
        events: impl Iterator<Item = (Event<'n>, Range<usize>)>,
    ) -> Rendered {
        let mut last = None;
        for (event, place) in events {
            // A table has bounds of its own, and ends where it is opened.
            if self.blocks >= MOST_BLOCKS && self.table.is_none() {
                last = Some(self.line.saturating_sub(1).max(self.from));
                break;
            }
            self.take(event, &place);
            if self.ended.is_some() {
                last = self.ended.map(|line| line.max(self.from));
                break;
            }
        }
        if self.ended.is_some() {
            // Between two rows.
            self.end_table();
        }
        while !self.open.is_empty() {
            self.close();
        }
        let all = self.first + self.text.lines().count().max(1) - 1;
        Rendered {
            html: self.html,
            from: self.from,
            to: last.unwrap_or(all.max(self.from)),
            headings: self.headings,
        }
    }

    /// Returns the lines of the headings, by their words.
    fn found_places(&self) -> HashMap<String, usize> {
        let mut places = HashMap::new();
        if self.id.is_none() || !self.text.contains('#') {
            return places;
        }
        for (number, line) in self.text.lines().enumerate() {
            let words = line.trim_start_matches([' ', '>']);
            if places.len() < MOST_HEADINGS && words.starts_with('#') {
                let place = slug(words.trim_matches(['#', ' ']));
                places.entry(place).or_insert(self.first + number);
            }
        }
        places
    }

    fn take(&mut self, event: Event<'n>, place: &Range<usize>) {
        if let Some(muted) = self.muted {
            if event == Event::End(muted) {
                self.muted = None;
                if muted == TagEnd::Table {
                    self.end_table();
                }
            }
            return;
        }
        if self.image.is_some() && self.take_text_of_image(&event) {
            return;
        }
        if raw::is_content(&event) {
            self.begin_raw_cell();
        }
        match event {
            Event::Start(tag) => self.start(tag, place),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, place),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.heading_text(&text);
                self.html.push_str("<code>");
                escape::push(&text, &mut self.html);
                self.html.push_str("</code>");
            }
            Event::Html(html) => match &mut self.block_html {
                Some(block) => block.push_str(&html),
                None => self.raw(&html, true),
            },
            Event::InlineHtml(html) => self.raw(&html, false),
            Event::FootnoteReference(label) => {
                let number = self.footnote(label);
                self.html.push_str(&format!(
                    "<sup class=\"footnote-reference\" data-footnote=\"{number}\">{number}</sup>"
                ));
            }
            Event::SoftBreak => {
                self.heading_text(" ");
                self.html.push('\n');
            }
            Event::HardBreak => self.html.push_str("<br>\n"),
            Event::Rule => {
                let line = self.block(place);
                self.html.push_str(&format!("<hr data-line=\"{line}\">\n"));
            }
            Event::TaskListMarker(done) => self.html.push_str(if done {
                "<input type=\"checkbox\" disabled checked aria-label=\"done\"> "
            } else {
                "<input type=\"checkbox\" disabled aria-label=\"to do\"> "
            }),
        }
    }

    fn start(&mut self, tag: Tag<'n>, place: &Range<usize>) {
        let is_deep = self.open.len() >= DEEPEST;
        match tag {
            Tag::TableHead | Tag::TableRow | Tag::TableCell => self.start_in_table(&tag, place),
            Tag::FootnoteDefinition(label) => {
                let number = self.footnote(label);
                self.element(
                    "div",
                    place,
                    &format!(" class=\"footnote\" data-footnote=\"{number}\""),
                );
            }
            Tag::HtmlBlock => {
                self.block_html = Some(String::new());
                self.line = self.line_of(place);
            }
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => {
                self.image = Some(Image {
                    kind: link_type,
                    target: dest_url.into_string(),
                    text: String::new(),
                    inner: 0,
                });
            }
            Tag::CodeBlock(kind) => {
                self.in_code = true;
                let line = self.block(place);
                self.html
                    .push_str(&format!("<pre data-line=\"{line}\"><code"));
                if let CodeBlockKind::Fenced(info) = kind
                    && let Some(language) = language(&info)
                {
                    self.html
                        .push_str(&format!(" class=\"language-{language}\""));
                }
                self.html.push('>');
                self.open.extend([Open::Own("pre"), Open::Own("code")]);
            }
            _ if is_deep => {
                if matches!(tag, Tag::Table(_)) {
                    self.muted = Some(TagEnd::Table);
                } else {
                    // What is not in elements is at least apart.
                    self.html.push('\n');
                    self.open.push(Open::Flat);
                }
            }
            Tag::Paragraph => self.element("p", place, ""),
            Tag::Heading { level, .. } => {
                self.element(HEADINGS[level as usize - 1], place, "");
                if self.headings.len() < MOST_HEADINGS {
                    self.in_heading = true;
                    self.headings.push(Heading {
                        level: level as u8,
                        text: String::new(),
                        line: self.line,
                    });
                }
            }
            Tag::BlockQuote(_) => self.start_quote(place),
            Tag::List(None) => self.element("ul", place, ""),
            Tag::List(Some(1)) => self.element("ol", place, ""),
            Tag::List(Some(start)) => self.element("ol", place, &format!(" start=\"{start}\"")),
            Tag::Item => self.element("li", place, ""),
            Tag::Table(alignments) => {
                let line = self.block(place);
                self.html.push_str(&format!(
                    "<div class=\"table\" data-line=\"{line}\"><table data-line=\"{line}\">"
                ));
                self.table = Some(Table {
                    alignments,
                    column: 0,
                    rows: 0,
                    is_head: true,
                });
            }
            Tag::Emphasis => self.inline("em"),
            Tag::Strong => self.inline("strong"),
            Tag::Strikethrough => self.inline("del"),
            Tag::Superscript => self.inline("sup"),
            Tag::Subscript => self.inline("sub"),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.start_link(link_type, &dest_url),
            // Not asked for.
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.open.push(Open::Flat),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::HtmlBlock => {
                if let Some(html) = self.block_html.take() {
                    self.raw(&html, true);
                    self.close_raw_in_line();
                    self.html.push('\n');
                }
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead => self.end_table_head(),
            TagEnd::TableRow => self.html.push_str("</tr>\n"),
            TagEnd::TableCell => {
                self.close_raw();
                self.close();
            }
            // It has been written.
            TagEnd::Image => {}
            _ => {
                if tag == TagEnd::CodeBlock {
                    self.in_code = false;
                    self.close();
                }
                if matches!(tag, TagEnd::Heading(_)) {
                    self.in_heading = false;
                }
                self.close_raw();
                self.close();
            }
        }
    }

    /// Closes what was opened last.
    fn close(&mut self) {
        if let Some(Open::Own(name) | Open::Raw(name)) = self.open.pop() {
            self.html.push_str(&format!("</{name}>"));
            if !IN_LINE.contains(&name) && !is_inline(name) {
                self.html.push('\n');
            }
        }
    }

    /// Returns the line of a block that begins, which is not before the last one.
    fn block(&mut self, place: &Range<usize>) -> usize {
        self.blocks += 1;
        self.line = self.line_of(place);
        self.line
    }

    fn line_of(&self, place: &Range<usize>) -> usize {
        let number = self.lines.partition_point(|&begin| begin <= place.start);
        (self.first + number).saturating_sub(1).max(self.line)
    }

    fn element(&mut self, name: &'static str, place: &Range<usize>, attributes: &str) {
        let line = self.block(place);
        self.html
            .push_str(&format!("<{name}{attributes} data-line=\"{line}\">"));
        self.open.push(Open::Own(name));
    }

    fn inline(&mut self, name: &'static str) {
        self.html.push_str(&format!("<{name}>"));
        self.open.push(Open::Own(name));
    }

    fn start_quote(&mut self, place: &Range<usize>) {
        let Some((kind, end)) = callout(&self.text[place.clone()]) else {
            return self.element("blockquote", place, "");
        };
        self.skipped = place.start + end;
        let attributes = format!(" class=\"callout\" data-callout=\"{kind}\"");
        self.element("blockquote", place, &attributes);
    }

    fn text(&mut self, text: &str, place: &Range<usize>) {
        let mut text = text;
        if place.start < self.skipped {
            // A text is as long as its place, unless it has signs that stand for others.
            let length = (self.skipped - place.start).min(text.len());
            let cut = text.is_char_boundary(length) && place.len() == text.len();
            text = if cut { &text[length..] } else { text };
            text = text.trim_start_matches([' ', '\t']);
        }
        self.heading_text(text);
        if self.in_code || self.is_in_link() {
            escape::push(text, &mut self.html);
        } else {
            linked(text, &mut self.html);
        }
    }

    fn heading_text(&mut self, text: &str) {
        if self.in_heading
            && let Some(heading) = self.headings.last_mut()
        {
            let left = LONGEST_HEADING.saturating_sub(heading.text.chars().count());
            let shown = text.chars().filter(|sign| !sign.is_control());
            heading.text.extend(shown.take(left));
        }
    }

    fn footnote(&mut self, label: CowStr<'n>) -> usize {
        let next = self.footnotes.len() + 1;
        *self.footnotes.entry(label).or_insert(next)
    }
}

/// The elements after which no line ends.
const IN_LINE: [&str; 10] = [
    "em", "strong", "del", "sup", "sub", "a", "span", "code", "th", "td",
];
const HEADINGS: [&str; 6] = ["h1", "h2", "h3", "h4", "h5", "h6"];

/// Returns the language of a code block, if it can be one.
fn language(info: &str) -> Option<String> {
    let name = info.split([' ', ',', '{', '\t']).next()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"+-#_.".contains(&byte);
    let fits = (1..=LONGEST_LANGUAGE).contains(&name.len()) && name.bytes().all(is_name);
    fits.then(|| name.to_ascii_lowercase())
}

/// Returns the kind of a callout that a quote is, and where the sign for it ends.
fn callout(quote: &str) -> Option<(String, usize)> {
    let begin = quote.find('[')?;
    let before = &quote[..begin];
    let is_first = before
        .bytes()
        .all(|byte| matches!(byte, b'>' | b' ' | b'\t'));
    let rest = quote[begin..].strip_prefix("[!")?;
    let end = rest
        .bytes()
        .take(LONGEST_LANGUAGE)
        .position(|byte| byte == b']')?;
    let kind = &rest[..end];
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if !is_first || kind.is_empty() || !kind.bytes().all(is_name) {
        return None;
    }
    let folds = rest[end + 1..].starts_with(['+', '-']);
    let end = begin + 2 + end + 1 + usize::from(folds);
    Some((kind.to_ascii_lowercase(), end))
}
