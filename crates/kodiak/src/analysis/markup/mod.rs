//! What the lines of a body are: headings, paragraphs, items, code.
//!
//! Owns what markup means to a search, for markdown and Org. What becomes of
//! the text between the marks is left to `text` and `chunk`.

pub(crate) mod heading;
pub(crate) mod lines;
pub(crate) mod markdown;
pub(crate) mod org;
pub(crate) mod reader;
pub(crate) mod tags;

pub use lines::Lines;
use tags::Tags;

use crate::document::Markup;

/// Reads a body once: collects its tags, and returns its title and what its lines
/// are.
pub(crate) fn read(markup: Markup, body: &str, tags: &mut Tags) -> (Option<String>, Lines) {
    match markup {
        Markup::Markdown | Markup::Plain => {
            let mut title = None;
            let lines = Lines::read(markup, body, |start, _, line| {
                markdown::take(&mut title, tags, body, start, line);
            });
            (title, lines)
        }
        Markup::Org => {
            let mut titles = org::Titles::default();
            let lines = Lines::read(markup, body, |_, text, _| titles.take(tags, text));
            (titles.best(), lines)
        }
    }
}
