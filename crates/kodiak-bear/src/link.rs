//! The addresses that Bear opens.

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use kodiak_text::document::RESERVED;

const OPEN: &str = "bear://x-callback-url/open-note";
const CREATE: &str = "bear://x-callback-url/create";

/// Returns the address that opens a note in Bear.
pub fn link_to(identifier: &str) -> String {
    format!("{OPEN}?id={}", utf8_percent_encode(identifier, RESERVED))
}

/// Returns the identifier in an address that opens a note in Bear.
pub fn identifier_in(address: &str) -> Option<String> {
    let parameters = address.strip_prefix(OPEN)?.strip_prefix('?')?;
    let mut parameters = parameters.split('&');
    let identifier = parameters.find_map(|one| one.strip_prefix("id="))?;
    let decoded = percent_decode_str(identifier).decode_utf8_lossy();
    (!decoded.is_empty()).then(|| decoded.into_owned())
}

/// Returns the address that creates a note in Bear, without bringing Bear to the
/// front. The note begins with its title as a heading and a line with its tags,
/// which are given without `#`.
pub fn link_to_create(title: &str, tags: &[String], content: &str) -> String {
    let mut text = format!("# {}\n", title.trim());
    let tags: Vec<String> = tags.iter().filter_map(|tag| written_tag(tag)).collect();
    if !tags.is_empty() {
        text.push_str(&tags.join(" "));
        text.push('\n');
    }
    if !content.is_empty() {
        text.push('\n');
        text.push_str(content);
    }
    let text = utf8_percent_encode(&text, RESERVED);
    format!("{CREATE}?text={text}&open_note=no&show_window=no")
}

/// Returns a tag as it is written in a note: `#one`, `#more words#`.
fn written_tag(tag: &str) -> Option<String> {
    let tag = tag.trim().trim_matches('#').trim();
    if tag.is_empty() {
        return None;
    }
    Some(if tag.contains(char::is_whitespace) {
        format!("#{tag}#")
    } else {
        format!("#{tag}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_leads_back_to_its_note() {
        let link = link_to("7C3F9B0E-12-000");
        assert_eq!(link, "bear://x-callback-url/open-note?id=7C3F9B0E-12-000");
        for identifier in ["7C3F9B0E-12-000", "a b&id=c", "ü/?#"] {
            assert_eq!(
                identifier_in(&link_to(identifier)).as_deref(),
                Some(identifier)
            );
        }
        for (address, expected) in [
            (
                "bear://x-callback-url/open-note?show_window=no&id=A%2DB",
                Some("A-B"),
            ),
            ("bear://x-callback-url/open-note?id=", None),
            ("bear://x-callback-url/open-note", None),
            ("bear://x-callback-url/create?id=A", None),
            ("kodiak://bear/A", None),
        ] {
            assert_eq!(identifier_in(address).as_deref(), expected, "{address}");
        }
    }

    #[test]
    fn a_new_note_has_its_title_its_tags_and_its_text() {
        let text = |link: &str| {
            let text = link
                .strip_prefix("bear://x-callback-url/create?text=")
                .unwrap();
            let text = text.strip_suffix("&open_note=no&show_window=no").unwrap();
            assert!(!text.contains(['&', '#', ' ', '\n']), "{text}");
            percent_decode_str(text).decode_utf8().unwrap().into_owned()
        };
        let tags = [
            "work".to_owned(),
            "more words".into(),
            " #x# ".into(),
            "#".into(),
        ];
        assert_eq!(
            text(&link_to_create("A & B", &tags, "100% ü\n")),
            "# A & B\n#work #more words# #x\n\n100% ü\n"
        );
        assert_eq!(text(&link_to_create("Only", &[], "")), "# Only\n");
    }
}
