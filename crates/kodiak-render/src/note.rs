//! Reads a note into events, with the links among them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeWithOffset};

use crate::address::{self, Address};
use crate::raw::{Piece, pieces};
use crate::window::{self, Window};
use crate::write::Writer;
use crate::{Format, Meaning, Rendered, plain};

/// The most different links of a part that are followed. The others are text.
const MOST_LINKS: usize = 2_000;

/// A link of a note to something in its source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Link {
    /// What it points to, as written.
    pub target: String,
    /// Whether it is a wiki link, which may name a note by its title.
    pub wiki: bool,
    /// Whether what it points to is shown in its place, as an image is.
    pub shown: bool,
}

/// A note, or the part of it that is rendered.
#[derive(Clone, Debug)]
pub struct Note<'a> {
    format: Format,
    /// The part, after the line that opens its fence, if it begins in one.
    text: Cow<'a, str>,
    /// The number of the first line of `text`.
    first: usize,
    /// The number of the first line of the part.
    from: usize,
    links: Vec<Link>,
    /// The id of the note, for links to places in it.
    id: Option<String>,
}

impl<'a> Note<'a> {
    /// Reads a text, or the part of a long one around a line, counted from 1.
    pub fn read(text: &'a str, format: Format, line: usize) -> Self {
        let Window {
            text,
            fence,
            before,
        } = window::around(text, line);
        let from = before + 1;
        let is_opened = !fence.is_empty() && format == Format::Markdown;
        let mut note = Self {
            format,
            first: from - usize::from(is_opened && fence.ends_with('\n')),
            text: if is_opened {
                Cow::Owned(format!("{fence}{text}"))
            } else {
                Cow::Borrowed(text)
            },
            from,
            links: Vec::new(),
            id: None,
        };
        if format == Format::Markdown {
            note.links = note.found_links();
        }
        note
    }

    /// Sets the id of the note. Links to places in it lead there.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self {
            id: Some(id.into()),
            ..self
        }
    }

    /// Counts lines from after so many that are before the text, such as those of
    /// frontmatter.
    #[must_use]
    pub fn after_lines(mut self, lines: usize) -> Self {
        self.first += lines;
        self.from += lines;
        self
    }

    /// Returns the different links to something in the same source, in order.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// Writes the note. Each link means what is at its place in `meanings`, and nothing
    /// without one.
    pub fn render(&self, meanings: &[Meaning]) -> Rendered {
        if self.format == Format::Plain {
            let mut html = String::with_capacity(self.text.len() * 2);
            let to = plain::write(&self.text, self.from, &mut html);
            return Rendered {
                html,
                from: self.from,
                to,
                headings: Vec::new(),
            };
        }
        let meanings: HashMap<&Link, &Meaning> = self.links.iter().zip(meanings).collect();
        let writer = Writer::new(
            &self.text,
            self.first,
            self.from,
            meanings,
            self.id.as_deref(),
        );
        writer.write(events(&self.text))
    }

    fn found_links(&self) -> Vec<Link> {
        let mut links: Vec<Link> = Vec::new();
        let mut known = std::collections::HashSet::new();
        let mut add = |link: Link| {
            if links.len() < MOST_LINKS && known.insert(link.clone()) {
                links.push(link);
            }
        };
        // The lines of a block of HTML are read together.
        let mut block: Option<String> = None;
        for (event, _) in events(&self.text) {
            match (&event, &mut block) {
                (Event::Start(Tag::HtmlBlock), _) => block = Some(String::new()),
                (Event::Html(html), Some(block)) => block.push_str(html),
                (Event::End(TagEnd::HtmlBlock), _) => {
                    links_of_html(&block.take().unwrap_or_default(), &mut add);
                }
                (Event::Html(html) | Event::InlineHtml(html), _) => links_of_html(html, &mut add),
                _ => {
                    link_of(&event).into_iter().for_each(&mut add);
                }
            }
        }
        links
    }
}

/// Calls `add` with each link of a piece of HTML to something in the same source.
fn links_of_html(html: &str, mut add: impl FnMut(Link)) {
    pieces(html, |piece| {
        let link = match &piece {
            Piece::Link(address) => near(LinkType::Inline, address, false),
            Piece::Image(address, _) => near(LinkType::Inline, address, true),
            _ => None,
        };
        link.into_iter().for_each(&mut add);
    });
}

/// Returns the events of a text, each with its place.
pub(crate) fn events(text: &str) -> impl Iterator<Item = (Event<'_>, Range<usize>)> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_WIKILINKS;
    TextMergeWithOffset::new(Parser::new_ext(text, options).into_offset_iter())
}

/// Returns the link to something in the same source that begins with an event.
fn link_of(event: &Event<'_>) -> Option<Link> {
    let (kind, target, shown) = match event {
        Event::Start(Tag::Link {
            link_type,
            dest_url,
            ..
        }) => (link_type, dest_url, false),
        Event::Start(Tag::Image {
            link_type,
            dest_url,
            ..
        }) => (link_type, dest_url, true),
        _ => return None,
    };
    near(*kind, target, shown)
}

/// Returns the link to something in the same source that is written so.
pub(crate) fn near(kind: LinkType, target: &str, shown: bool) -> Option<Link> {
    let wiki = matches!(kind, LinkType::WikiLink { .. });
    let address = if wiki {
        address::of_wiki(target)
    } else {
        address::of(target)
    };
    match address {
        Address::Near(target) => Some(Link {
            target: target.to_owned(),
            wiki,
            shown,
        }),
        _ => None,
    }
}
