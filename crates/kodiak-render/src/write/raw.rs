//! Writes what is left of the HTML in a note.
//!
//! Parts of a table are written only where they belong, and what stands between them gets
//! a cell, so that a browser moves nothing.

use pulldown_cmark::{Event, LinkType, Tag};

use super::table::{MOST_COLUMNS, MOST_ROWS};
use super::{Image, Open, Writer};
use crate::escape;
use crate::raw::{Element, Piece, Place, VOID, is_inline, pieces};

/// The number of elements inside of each other above which no more of the note's own HTML
/// are opened, so that what it leaves open does not take the place of the rest.
const DEEPEST: usize = 16;

/// How much was written of tables.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tables {
    /// The rows of all tables, and the cells of the last row.
    rows: usize,
    cells: usize,
}

/// Reports whether an event is something that is shown.
pub(super) fn is_content(event: &Event<'_>) -> bool {
    match event {
        Event::Start(tag) => !matches!(tag, Tag::HtmlBlock),
        Event::End(_) | Event::Html(_) | Event::InlineHtml(_) | Event::SoftBreak => false,
        _ => true,
    }
}

impl Writer<'_> {
    /// Writes what is left of HTML.
    pub(super) fn raw(&mut self, html: &str, is_block: bool) {
        pieces(html, |piece| match piece {
            Piece::Text(text) => {
                if !text.trim().is_empty() {
                    self.begin_raw_cell();
                }
                escape::push_with_references(text, &mut self.html);
            }
            Piece::Open(element) => self.open_raw(element, is_block),
            Piece::Close(element) => self.close_named(element.name),
            Piece::Link(address) => {
                self.begin_raw_cell();
                if self.open.len() < DEEPEST && !self.is_in_link() {
                    self.start_link(LinkType::Inline, &address);
                    // It is closed by the HTML that opened it.
                    match self.open.last_mut() {
                        Some(last @ Open::Own(_)) => {
                            if let Open::Own(name) = *last {
                                *last = Open::Raw(name);
                            }
                        }
                        _ => {
                            self.open.pop();
                        }
                    }
                }
            }
            Piece::EndOfLink => {
                let is_link = |open: &Open| matches!(open, Open::Raw("a" | "span"));
                self.close_to(is_link);
            }
            Piece::Image(address, text) => {
                self.begin_raw_cell();
                self.image = Some(Image {
                    kind: LinkType::Inline,
                    target: address.into_owned(),
                    text: text.into_owned(),
                    inner: 0,
                });
                self.write_image();
            }
        });
    }

    fn open_raw(&mut self, element: Element, in_block: bool) {
        if element.place != Place::Line && !in_block {
            return;
        }
        if element.place == Place::Table {
            self.open_part_of_table(element.name);
            return;
        }
        self.begin_raw_cell();
        if self.open.len() >= DEEPEST {
            return;
        }
        let name = element.name;
        if element.place == Place::Block {
            self.write_raw_block(name);
        } else {
            self.html.push_str(&format!("<{name}>"));
        }
        if !VOID.contains(&name) {
            self.open.push(Open::Raw(name));
        }
    }

    fn write_raw_block(&mut self, name: &str) {
        self.blocks += 1;
        let line = self.line;
        self.html
            .push_str(&format!("<{name} data-line=\"{line}\">"));
    }

    /// Opens a part of a table, if it belongs here, after the parts that it ends.
    fn open_part_of_table(&mut self, name: &'static str) {
        let parents: &[&str] = match name {
            "table" => {
                self.begin_raw_cell();
                if self.open.len() + 3 < DEEPEST {
                    self.write_raw_block(name);
                    self.open.push(Open::Raw(name));
                }
                return;
            }
            "tr" => &["table", "thead", "tbody"],
            "td" | "th" => &["tr"],
            _ => &["table"],
        };
        // No further than to the table that the part is in.
        let raw = self.open.iter().rev().map_while(|open| match open {
            Open::Raw(name) => Some(*name),
            _ => None,
        });
        let mut above = 0;
        for open in raw {
            if parents.contains(&open) {
                break;
            }
            if open == "table" {
                return;
            }
            above += 1;
        }
        let parent = self.open.len().checked_sub(above + 1);
        let parent = parent.and_then(|at| self.open.get(at));
        let fits = matches!(parent, Some(Open::Raw(name)) if parents.contains(name));
        let tables = &mut self.raw_tables;
        let is_full = match name {
            "tr" => tables.rows >= MOST_ROWS,
            "td" | "th" => tables.cells >= MOST_COLUMNS,
            _ => false,
        };
        if !fits || is_full {
            return;
        }
        match name {
            "tr" => {
                tables.rows += 1;
                tables.cells = 0;
            }
            "td" | "th" => tables.cells += 1,
            _ => {}
        }
        for _ in 0..above {
            self.close();
        }
        if name == "tr" {
            self.write_raw_block(name);
        } else {
            self.html.push_str(&format!("<{name}>"));
        }
        self.open.push(Open::Raw(name));
    }

    /// Begins a cell for what stands between the parts of a table.
    pub(super) fn begin_raw_cell(&mut self) {
        let Some(Open::Raw(name @ ("table" | "thead" | "tbody" | "tr"))) = self.open.last() else {
            return;
        };
        if *name != "tr" {
            self.raw_tables.rows += 1;
            self.raw_tables.cells = 0;
            self.write_raw_block("tr");
            self.open.push(Open::Raw("tr"));
        }
        self.raw_tables.cells += 1;
        self.html.push_str("<td>");
        self.open.push(Open::Raw("td"));
    }

    /// Closes the elements of the note's own HTML that were opened last.
    pub(super) fn close_raw(&mut self) {
        while matches!(self.open.last(), Some(Open::Raw(_))) {
            self.close();
        }
    }

    /// Closes those of them that do not go beyond a block.
    pub(super) fn close_raw_in_line(&mut self) {
        while let Some(Open::Raw(name)) = self.open.last()
            && (is_inline(name) || matches!(*name, "a" | "span"))
        {
            self.close();
        }
    }

    /// Closes an element that the note's HTML has opened in the same part of the note.
    fn close_named(&mut self, name: &'static str) {
        self.close_to(|open| *open == Open::Raw(name));
    }

    /// Closes what is open down to what is meant, if the note's HTML has opened that and
    /// everything above, except for cells that are not its own.
    fn close_to(&mut self, is_meant: impl Fn(&Open) -> bool) {
        let own = self.open.iter().rev();
        let mut raw = own.take_while(|open| matches!(open, Open::Raw(_)));
        if let Some(above) = raw.position(is_meant) {
            for _ in 0..=above {
                self.close();
            }
        }
    }
}
