//! Changing the title in the text of a note.
//!
//! A title is written where the note has it: in the frontmatter, or in its first
//! heading. A note that is named by its file alone needs no other text.

use serde_json::Value;

use super::frontmatter;
use super::note::{divide_name, document_from_text};
use kodiak_text::document::Markup;
use kodiak_text::markup::Lines;
use kodiak_text::markup::markdown::Line;

/// Returns the text of a note that will be called `title` and stored as `key`,
/// or why it cannot be.
pub(crate) fn retitle(key: &str, text: &str, title: &str) -> Result<String, String> {
    let reads = |text: &str| document_from_text("", key, text, 0).title == title;
    if reads(text) {
        return Ok(text.to_owned());
    }
    if Markup::of_extension(divide_name(key).1) != Markup::Markdown {
        return Err("its title is in its text; only markdown files are changed".to_owned());
    }
    let divided = frontmatter::divide(text);
    let named = divided
        .fields
        .keys()
        .find(|name| name.eq_ignore_ascii_case("title"));
    if named.is_none()
        && let Some(body) = with_heading(divided.body, title)
    {
        let text = format!("{}{body}", divided.front);
        if reads(&text) {
            return Ok(text);
        }
    }
    let value = Value::from(title);
    let front = match named {
        Some(name) => frontmatter::edit_in_place(divided.front, name, Some(&value), &|_| None)?,
        None => frontmatter::add_field(divided.front, divided.body, "title", &value)?,
    };
    let text = format!("{front}{}", divided.body);
    if reads(&text) {
        return Ok(text);
    }
    Err("its title would be read as another".to_owned())
}

/// Returns the body with the text of its first heading of level 1 replaced.
fn with_heading(body: &str, title: &str) -> Option<String> {
    let lines = Lines::of(Markup::Markdown, body);
    let text = lines.iter(body).find_map(|(_, _, line)| match line {
        Line::Heading {
            level: 1,
            text,
            nested: false,
        } => Some(text),
        _ => None,
    })?;
    let text = text.trim();
    if text.is_empty() {
        return None;
    }
    let start = text.as_ptr() as usize - body.as_ptr() as usize;
    Some(format!(
        "{}{title}{}",
        &body[..start],
        &body[start + text.len()..]
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_changed_where_it_is_written() {
        for (text, expected) in [
            ("plain\n", "plain\n"),
            ("# Old\n\ntext\n", "# New name\n\ntext\n"),
            (
                "\u{feff}# Old\r\n\r\ntext",
                "\u{feff}# New name\r\n\r\ntext",
            ),
            (
                "---\r\ntitle: 'Old' # why\r\nx:   1\r\n---\r\n# Other\r\n",
                "---\r\ntitle: New name\r\nx:   1\r\n---\r\n# Other\r\n",
            ),
            ("---\nx: 1\n---\n# Old #\n", "---\nx: 1\n---\n# New name\n"),
            ("Old\n===\n", "---\ntitle: New name\n---\nOld\n===\n"),
        ] {
            let new = retitle("New name.md", text, "New name").unwrap();
            assert_eq!(new, expected, "{text:?}");
        }
        let elsewhere = retitle("New name 2.md", "plain", "New name").unwrap();
        assert_eq!(elsewhere, "---\ntitle: New name\n---\nplain");
        assert!(retitle("a.org", "* Old\n", "New").is_err());
        assert_eq!(retitle("New.txt", "text", "New").unwrap(), "text");
    }
}
