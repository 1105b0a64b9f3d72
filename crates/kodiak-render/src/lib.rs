//! Turns the text of a note into HTML that is safe to show.
//!
//! ```
//! use kodiak_render::{Format, Meaning, Note};
//!
//! let note = Note::read("# Soup\n\nLike [[Ramen]]. <script>x</script>", Format::Markdown, 1);
//! let meanings: Vec<Meaning> = note.links().iter().map(|_| Meaning::Note("a1b2c3".into())).collect();
//! let rendered = note.render(&meanings);
//! assert_eq!(rendered.headings[0].text, "Soup");
//! assert!(rendered.html.contains(r##"<a href="#/note/a1b2c3" data-id="a1b2c3">Ramen</a>"##));
//! assert!(!rendered.html.contains("<script"));
//! ```
//!
//! A note is read in one pass, which finds its links; the caller finds out what they
//! mean, all at once; a second pass writes.
//!
//! The text is hostile. What keeps it harmless is that nothing of it is copied as
//! markup: every tag and every attribute in the output is a constant of `write` or `raw`,
//! and everything else is escaped. The output has no script, style, frame, form, image
//! address, `id` or foreign element, and so nothing that a browser could read otherwise
//! than it was written.
//!
//! A sanitiser would do this the other way around: let a Markdown parser copy the HTML of
//! a note, parse the whole as a browser does, and take out what may not stay. Whether that
//! is safe depends on the two parsers agreeing about every text, which is where sanitisers
//! have failed, and on a list of what is dangerous in each element that stays. Here the
//! events of the Markdown parser are written, never its HTML, and the tests check each
//! output against the list of all tags and attributes that there are. It also costs less:
//! `ammonia` and its parser take 29 CPU seconds to build, against 4 for `pulldown-cmark`,
//! and a second pass over each note.
//!
//! Of the HTML in a note, what people use stays: formatting such as `<sub>` and `<kbd>`,
//! `<details>`, links, images and tables. An address there means what it means in Markdown,
//! and no other attribute is read.
//!
//! * `window` chooses the part of a long text that is rendered, at the borders of blocks;
//! * `note` reads it into events, with the links among them;
//! * `write` writes the events, `raw` reads what is left of the HTML in a note, `plain`
//!   writes texts that are not Markdown;
//! * `address` decides which addresses a link may have, `autolink` finds those in texts,
//!   and `escape` escapes.

mod address;
mod autolink;
mod escape;
mod note;
mod plain;
mod raw;
#[cfg(test)]
mod tests;
mod window;
mod write;

pub use note::{Link, Note};
pub use window::WINDOW;

/// How a text is marked up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Markdown, with tables, task lists, footnotes and wiki links.
    #[default]
    Markdown,
    /// Plain text, whose line breaks stay.
    Plain,
}

/// What a link means to the caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Meaning {
    /// The note with this id.
    Note(String),
    /// The image at this path inside the source of the note.
    Image(String),
    /// Nothing that the caller can see.
    #[default]
    Nothing,
}

/// A rendered note, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The HTML. Every block has its first line as `data-line`.
    pub html: String,
    /// The first line that is rendered, from 1.
    pub from: usize,
    /// The last line that is rendered.
    pub to: usize,
    /// The headings of this part.
    pub headings: Vec<Heading>,
}

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Its level, from 1 to 6.
    pub level: u8,
    /// Its text.
    pub text: String,
    /// Its line.
    pub line: usize,
}
