//! Writes tables, within bounds.

use std::ops::Range;

use pulldown_cmark::{Alignment, Tag, TagEnd};

use super::{Open, Writer};

/// The most columns of a table. How many more there are is said in its head.
pub(super) const MOST_COLUMNS: usize = 100;
/// The most rows of a table. The part that is rendered ends with the last one.
pub(super) const MOST_ROWS: usize = 5_000;

impl Writer<'_> {
    pub(super) fn start_in_table(&mut self, tag: &Tag<'_>, place: &Range<usize>) {
        let line = self.line_of(place);
        let Some(table) = &mut self.table else {
            return;
        };
        match tag {
            Tag::TableHead => {
                table.column = 0;
                self.html
                    .push_str(&format!("<thead><tr data-line=\"{line}\">"));
            }
            Tag::TableRow => {
                table.column = 0;
                table.rows += 1;
                if table.rows > MOST_ROWS {
                    self.ended = Some(line.saturating_sub(1));
                    return;
                }
                self.block(place);
                self.html.push_str(&format!("<tr data-line=\"{line}\">"));
            }
            _ => {
                let alignment = table.alignments.get(table.column);
                table.column += 1;
                if table.column > MOST_COLUMNS {
                    self.muted = Some(TagEnd::TableCell);
                    return;
                }
                let name = if table.is_head { "th" } else { "td" };
                self.open.push(Open::Own(name));
                self.html.push_str(&format!("<{name}"));
                self.html.push_str(match alignment {
                    Some(Alignment::Left) => " class=\"left\">",
                    Some(Alignment::Center) => " class=\"center\">",
                    Some(Alignment::Right) => " class=\"right\">",
                    _ => ">",
                });
            }
        }
    }

    /// Ends the head of a table.
    pub(super) fn end_table_head(&mut self) {
        if let Some(table) = &mut self.table {
            table.is_head = false;
            let more = table.column.saturating_sub(MOST_COLUMNS);
            if more > 0 {
                self.html
                    .push_str(&format!("<th>{more} more columns are not shown</th>"));
            }
        }
        self.html.push_str("</tr></thead><tbody>\n");
    }

    pub(super) fn end_table(&mut self) {
        if let Some(table) = self.table.take() {
            self.html.push_str(if table.is_head {
                "</table></div>\n"
            } else {
                "</tbody></table></div>\n"
            });
        }
    }
}
