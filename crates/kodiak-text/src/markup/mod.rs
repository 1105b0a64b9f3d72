//! Markup: tells the headings, paragraphs, list items and code of a body apart.
//!
//! Owns the meaning of Markdown and Org markup for a search. The text itself is left to
//! `text` and `chunk`.

mod address;
mod brackets;
pub mod heading;
pub mod lines;
pub mod links;
pub mod markdown;
pub mod noise;
mod not_tags;
pub mod org;
pub mod plain;
pub(crate) mod reader;
pub mod tags;

pub use lines::Lines;
use tags::Tags;

use crate::document::Markup;

/// Reads a body in one pass. Adds its tags to `tags` and returns its title and its
/// lines.
pub fn read(markup: Markup, body: &str, tags: &mut Tags) -> (Option<String>, Lines) {
    match markup {
        Markup::Markdown | Markup::Plain | Markup::Verbatim => {
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
