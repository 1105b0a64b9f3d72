//! The text that is embedded for a chunk.
//!
//! Owns how title, headings and text are joined: nothing is repeated, noise is left out,
//! and title and headings never crowd out the text.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::markup::noise::{noise, without_noise};
use crate::markup::{heading, markdown};

use super::token_estimate;
use super::{ChunkOptions, SEPARATOR, TextHasher};

/// A repeated line of a chunk is boilerplate if it has at least this many bytes.
const BOILERPLATE: usize = 12;

impl ChunkOptions {
    /// Returns the text to embed for a chunk: the title, the headings above it and
    /// its text, each on its own line. Leaves out empty parts and repetitions, and
    /// shortens long titles and headings. Without the path it is the text alone,
    /// or the title where there is no text.
    pub fn embedded_text(self, title: &str, heading: &str, text: &str) -> String {
        let (title, path, text) = self.embedded_parts(title, heading, text);
        let mut embedded = String::with_capacity(title.len() + path.len() + text.len() + 2);
        for part in [title, path, &text] {
            if !embedded.is_empty() && !part.is_empty() {
                embedded.push('\n');
            }
            embedded.push_str(part);
        }
        embedded
    }

    /// Returns the [`text_hash`](super::text_hash) of the embedded text without
    /// building that text, or nothing if it is empty.
    pub(super) fn embedded_hash(self, title: &str, heading: &str, text: &str) -> Option<[u8; 16]> {
        let mut hasher = TextHasher::new();
        let mut empty = true;
        let (title, path, text) = self.embedded_parts(title, heading, text);
        for part in [title, path, &text] {
            if !empty && !part.is_empty() {
                hasher.update("\n");
            }
            hasher.update(part);
            empty &= part.is_empty();
        }
        (!empty).then(|| hasher.finish())
    }

    /// Returns the embedded part of title, headings and text; each may be empty.
    fn embedded_parts<'a>(
        self,
        title: &'a str,
        heading: &'a str,
        text: &'a str,
    ) -> (&'a str, &'a str, Cow<'a, str>) {
        let title = title.trim();
        let heading = heading.trim();
        if !self.path {
            let text = self.said(text.trim());
            let title = if text.is_empty() { title } else { "" };
            return (token_estimate::beginning(title, self.capacity()), "", text);
        }
        let most = self.most_for_path();
        let path = without_title(heading, title);
        let room = most.saturating_sub(token_estimate::of(path));
        let shown_title = token_estimate::beginning(title, room.max(most / 2));
        let room = most.saturating_sub(token_estimate::of(shown_title));
        let text = self.said(without_said(text, title, heading).trim());
        (shown_title, innermost(path, room), text)
    }

    /// Returns the part of a text that is embedded.
    fn said(self, text: &str) -> Cow<'_, str> {
        if self.noise {
            Cow::Borrowed(text)
        } else {
            said(text)
        }
    }
}

/// Returns the meaningful part of a text: its lines without link targets and the like,
/// without empty ones, and without repetitions of long ones.
fn said(text: &str) -> Cow<'_, str> {
    let mut ranges = Vec::new();
    let mut seen = HashSet::new();
    // The text so far, once it differs.
    let mut changed: Option<String> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let words = line.trim_end();
        noise(words, &mut ranges);
        let key = words.trim_start();
        let repeated = key.len() >= BOILERPLATE && !seen.insert(key);
        if repeated || !ranges.is_empty() {
            let said = changed.get_or_insert_with(|| text[..at].to_owned());
            if !repeated {
                let before = said.len();
                without_noise(words, &ranges, said);
                if said[before..].trim().is_empty() {
                    said.truncate(before);
                } else {
                    said.push('\n');
                }
            }
        } else if let Some(said) = &mut changed {
            said.push_str(line);
        }
        at += line.len();
    }
    match changed {
        Some(said) => Cow::Owned(said.trim().to_owned()),
        None => Cow::Borrowed(text),
    }
}

fn without_title<'path>(path: &'path str, title: &str) -> &'path str {
    match path.strip_prefix(title) {
        Some("") => "",
        Some(rest) => rest.strip_prefix(SEPARATOR).unwrap_or(path),
        None => path,
    }
}

/// Returns the innermost headings of a path that fit.
fn innermost(path: &str, room: u32) -> &str {
    let mut shown = path;
    while token_estimate::of(shown) > room {
        let Some((_, inner)) = shown.split_once(SEPARATOR) else {
            return token_estimate::beginning(shown, room);
        };
        shown = inner;
    }
    shown
}

/// Returns the text without the leading headings that title and path repeat. A
/// text of nothing but headings keeps them.
fn without_said<'text>(text: &'text str, title: &str, path: &str) -> &'text str {
    let mut rest = text.trim_start();
    while let Some((line, after)) = rest.split_once('\n') {
        let after = after.trim_start_matches(['\n', '\r']);
        let said = markdown::numbered_heading(line.trim_end())
            .and_then(|(_, words)| heading::title(heading::without_closing(words)))
            .is_some_and(|words| words == title || path.split(SEPARATOR).any(|part| part == words));
        if !said || after.trim_start().is_empty() {
            return rest;
        }
        rest = after;
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::token_estimate::{TOKEN, of};
    use super::*;

    fn embedded_text(title: &str, heading: &str, text: &str) -> String {
        ChunkOptions::default().embedded_text(title, heading, text)
    }

    #[test]
    fn without_the_path_the_text_is_alone_and_whole() {
        let bare = ChunkOptions {
            path: false,
            ..ChunkOptions::default()
        };
        for (title, text, expected) in [
            ("Bread", " An hour.\n", "An hour."),
            ("Bread", "# Bread\n\nAn hour.", "# Bread\n\nAn hour."),
            (" Bread ", " \n", "Bread"),
            ("", "", ""),
        ] {
            assert_eq!(bare.embedded_text(title, "Bread › Dough", text), expected);
        }
        let endless = bare.embedded_text(&"title ".repeat(1000), "", "");
        assert!(of(&endless) <= bare.capacity());
    }

    #[test]
    fn each_part_has_its_line_and_nothing_is_said_twice() {
        for (title, heading, text, expected) in [
            (
                "Bread",
                "Dough › Rest",
                "An hour.",
                "Bread\nDough › Rest\nAn hour.",
            ),
            ("Bread", "", "An hour.", "Bread\nAn hour."),
            ("", "Dough", "An hour.", "Dough\nAn hour."),
            ("", "", "An hour.", "An hour."),
            ("Bread", "", "", "Bread"),
            (" ", "", " \n", ""),
            ("Bread", "Bread", "An hour.", "Bread\nAn hour."),
            (
                "Bread",
                "Bread › Dough",
                "An hour.",
                "Bread\nDough\nAn hour.",
            ),
            ("Bread", "Breadcrumbs", "Dry.", "Bread\nBreadcrumbs\nDry."),
            (
                "Bread",
                "Breadth › Dough",
                "Dry.",
                "Bread\nBreadth › Dough\nDry.",
            ),
            (
                "Bread",
                "Bread › Dough",
                "# Bread\n\n## *Dough* ##\r\n\r\nAn hour.\n## Dough",
                "Bread\nDough\nAn hour.\n## Dough",
            ),
            ("Bread", "Bread", "# Bread\n\n", "Bread\n# Bread"),
            ("Bread", "", "# Cake\nSweet.", "Bread\n# Cake\nSweet."),
        ] {
            assert_eq!(
                embedded_text(title, heading, text),
                expected,
                "{heading} {text}"
            );
        }
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let text = "- [Oven](https://a.example/x)\n- [Dough](y.md)\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\
                    ![](z.png)\n[Back to the top](#top)\n\nEnd.\n[Back to the top](#top)\n";
        assert_eq!(
            embedded_text("Bread", "", text),
            "Bread\n- Oven\n- Dough\n\n a  b \n 1  2 \nBack to the top\n\nEnd."
        );
        // Nothing but noise leaves the title.
        assert_eq!(embedded_text("Bread", "", "![](z.png)\n---\n"), "Bread");
        assert_eq!(embedded_text("", "", "![](z.png)"), "");
    }

    #[test]
    fn endless_titles_and_paths_leave_room_for_text() {
        let title = "title ".repeat(1000);
        let path = vec!["heading words"; 1000].join(SEPARATOR) + " › innermost";
        let text = "text ".repeat(100);
        let shown = embedded_text(&title, &path, &text);
        let lines: Vec<&str> = shown.lines().collect();
        assert!(lines[0].starts_with("title title") && lines[1].ends_with(" › innermost"));
        assert!(of(lines[0]) + of(lines[1]) <= ChunkOptions::default().most_for_path());
        assert_eq!(lines[2], text.trim());
        let one = embedded_text("", &"ü".repeat(100_000), "x");
        assert!(of(&one) <= ChunkOptions::default().most_for_path() + 2 * TOKEN);
    }

    proptest! {
        #[test]
        fn the_hash_is_that_of_the_text(
            title in "[a-z ]{0,9}", heading in "[a-z› ]{0,9}", text in "[#a-z \n]{0,30}", path: bool
        ) {
            let chunking = ChunkOptions { path, ..ChunkOptions::default() };
            let hash = chunking.embedded_hash(&title, &heading, &text);
            let embedded = chunking.embedded_text(&title, &heading, &text);
            let expected = super::super::text_hash(&embedded);
            prop_assert_eq!(hash, (!embedded.is_empty()).then_some(expected));
        }

        #[test]
        fn any_parts_make_a_text(title in "\\PC*", heading in "\\PC*", text in "(?s).*") {
            let shown = embedded_text(&title, &heading, &text);
            prop_assert!(of(&shown) <= of(&text) + ChunkOptions::default().most_for_path() + 4 * TOKEN);
        }
    }
}
