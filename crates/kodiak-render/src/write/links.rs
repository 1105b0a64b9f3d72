//! Writes links and images.

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::{Image, Open, Writer};
use crate::address::{self, Address, slug};
use crate::note::near;
use crate::{Meaning, autolink, escape};

impl Writer<'_> {
    pub(super) fn is_in_link(&self) -> bool {
        let is_link = |open: &Open| matches!(open, Open::Own("a") | Open::Raw("a"));
        self.open.iter().any(is_link)
    }

    pub(super) fn start_link(&mut self, kind: LinkType, target: &str) {
        if self.is_in_link() {
            self.open.push(Open::Flat);
            return;
        }
        let wiki = matches!(kind, LinkType::WikiLink { .. });
        let mail = (kind == LinkType::Email).then(|| format!("mailto:{target}"));
        let written = mail.as_deref().unwrap_or(target);
        let address = if wiki {
            address::of_wiki(written)
        } else {
            address::of(written)
        };
        let opened = match address {
            Address::Elsewhere(address) => {
                autolink::open(&address, &mut self.html);
                Open::Own("a")
            }
            Address::Within(place) => {
                if let (Some(id), Some(line)) = (self.id, self.places.get(&slug(place))) {
                    let id = harmless_id(id);
                    self.html.push_str(&format!(
                        "<a href=\"#/note/{id}?line={line}\" data-id=\"{id}\">"
                    ));
                    Open::Own("a")
                } else {
                    self.html.push_str("<span class=\"broken\">");
                    Open::Own("span")
                }
            }
            Address::Near(_) => {
                let link = near(kind, written, false);
                let meaning = link.as_ref().and_then(|link| self.meanings.get(link));
                match meaning {
                    Some(Meaning::Note(id)) => {
                        let id = harmless_id(id);
                        self.html
                            .push_str(&format!("<a href=\"#/note/{id}\" data-id=\"{id}\">"));
                        Open::Own("a")
                    }
                    Some(Meaning::Nothing) => {
                        self.html.push_str("<span class=\"broken\">");
                        Open::Own("span")
                    }
                    // What it means was not looked for.
                    Some(Meaning::Image(_)) | None => Open::Flat,
                }
            }
            Address::Refused => Open::Flat,
        };
        self.open.push(opened);
    }

    /// Reads the text of an image. Returns whether the event belonged to it.
    pub(super) fn take_text_of_image(&mut self, event: &Event<'_>) -> bool {
        let Some(image) = &mut self.image else {
            return false;
        };
        match event {
            Event::Start(Tag::Image { .. }) => image.inner += 1,
            Event::End(TagEnd::Image) if image.inner > 0 => image.inner -= 1,
            Event::End(TagEnd::Image) => self.write_image(),
            Event::Text(text) | Event::Code(text) => image.text.push_str(text),
            Event::SoftBreak | Event::HardBreak => image.text.push(' '),
            _ => {}
        }
        true
    }

    pub(super) fn write_image(&mut self) {
        let Some(Image {
            kind, target, text, ..
        }) = self.image.take()
        else {
            return;
        };
        let wiki = matches!(kind, LinkType::WikiLink { .. });
        // What is after the bar may be a width.
        let is_size = wiki
            && text
                .chars()
                .all(|sign| sign.is_ascii_digit() || sign == 'x');
        let name = target.rsplit('/').next().unwrap_or_default();
        let text = if is_size || text.is_empty() {
            name
        } else {
            &text
        };
        self.heading_text(text);
        let link = near(kind, &target, true);
        let meaning = link.as_ref().and_then(|link| self.meanings.get(link));
        match meaning {
            Some(Meaning::Image(path)) => {
                self.html.push_str("<img data-file=\"");
                escape::push(path, &mut self.html);
                self.html.push_str("\" alt=\"");
                escape::push(text, &mut self.html);
                self.html.push_str("\">");
                return;
            }
            Some(Meaning::Note(id)) if !self.is_in_link() => {
                let id = harmless_id(id);
                self.html.push_str(&format!(
                    "<a class=\"embed\" href=\"#/note/{id}\" data-id=\"{id}\">"
                ));
                escape::push(text, &mut self.html);
                self.html.push_str("</a>");
                return;
            }
            _ => {}
        }
        if let (Address::Elsewhere(address), false) = (address::of(&target), self.is_in_link()) {
            autolink::open(&address, &mut self.html);
            escape::push(text, &mut self.html);
            self.html.push_str("</a>");
        } else {
            escape::push(text, &mut self.html);
        }
    }
}

/// Returns an id as addresses have it: hexadecimal digits.
fn harmless_id(id: &str) -> String {
    id.chars().filter(char::is_ascii_alphanumeric).collect()
}
