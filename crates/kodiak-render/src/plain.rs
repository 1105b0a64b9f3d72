//! Texts that are not Markdown: paragraphs whose line breaks stay.

use crate::autolink::linked;
use crate::write::MOST_BLOCKS;

/// Writes a text whose first line has this number. Returns the number of the last line
/// that was written.
pub(crate) fn write(text: &str, first: usize, html: &mut String) -> usize {
    let mut paragraph: Option<usize> = None;
    let (mut last, mut blocks) = (first, 0);
    for (number, line) in text.lines().enumerate() {
        let at = first + number;
        if line.trim().is_empty() {
            if paragraph.take().is_some() {
                html.push_str("</p>\n");
            }
        } else if paragraph.is_some() {
            html.push('\n');
            linked(line, html);
        } else {
            if blocks == MOST_BLOCKS {
                break;
            }
            blocks += 1;
            paragraph = Some(at);
            html.push_str(&format!("<p class=\"plain\" data-line=\"{at}\">"));
            linked(line, html);
        }
        last = at;
    }
    if paragraph.is_some() {
        html.push_str("</p>\n");
    }
    last
}
