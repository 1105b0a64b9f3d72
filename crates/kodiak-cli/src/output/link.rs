//! Names that a terminal opens: text with an address (OSC 8).

use unicode_width::UnicodeWidthStr;

use super::style::{DIM, Painter};

/// The name of something that can be opened, ready to be printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Linked {
    /// The text to show, with control characters escaped.
    pub(crate) text: String,
    /// The address that it opens, if it can be opened.
    pub(crate) address: Option<String>,
}

impl Linked {
    /// Returns the number of columns that the name takes.
    pub(crate) fn width(&self) -> usize {
        self.text.width()
    }

    /// Returns the name with another text, such as a part of it.
    pub(crate) fn shown_as(self, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ..self
        }
    }

    /// Renders the name as a link if links are shown.
    pub(crate) fn render(&self, links: bool) -> String {
        linked(&self.text, self.address.as_deref(), links)
    }

    /// Renders the name dimmed, as a link if links are shown.
    pub(crate) fn dimmed(&self, painter: Painter, links: bool) -> String {
        let text = painter.paint(DIM, &self.text);
        linked(&text, self.address.as_deref(), links)
    }
}

/// Makes text a link if there is an address and links are shown.
pub(crate) fn linked(text: &str, address: Option<&str>, links: bool) -> String {
    match address {
        Some(address) if links && !text.is_empty() => {
            format!("\u{1b}]8;;{address}\u{1b}\\{text}\u{1b}]8;;\u{1b}\\")
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_encloses_what_is_shown() {
        let name = Linked {
            text: "a b".to_owned(),
            address: Some("file:///a%20b".to_owned()),
        };
        assert_eq!(
            name.render(true),
            "\u{1b}]8;;file:///a%20b\u{1b}\\a b\u{1b}]8;;\u{1b}\\"
        );
        assert_eq!(name.render(false), "a b");
        assert_eq!(name.clone().shown_as("…b").render(false), "…b");
        assert_eq!(linked("a", None, true), "a");
    }
}
