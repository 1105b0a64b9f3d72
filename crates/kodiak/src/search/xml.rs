//! Notes and hits as XML elements, as the tools of the notes set return them and
//! the command line prints them.

use kodiak_base::escape::is_harmful;
use kodiak_text::Timestamp;

use super::Hit;

/// The output if there is no hit.
pub const NOTHING: &str = "No matches found.\n";
/// The maximum number of characters of a snippet.
const MAX_SNIPPET: usize = 200;
/// The maximum number of lines listed for a hit. `total-hits` counts all.
const MAX_LINES: usize = 20;

/// Renders a hit under the identifier that a reader knows it by.
pub fn hit(hit: &Hit, identifier: &str) -> String {
    // A hit that was found by meaning may contain no word of the query.
    let first = [hit.line];
    let lines = if hit.lines.is_empty() {
        &first
    } else {
        &hit.lines[..]
    };
    let listed: Vec<String> = lines.iter().take(MAX_LINES).map(usize::to_string).collect();
    let archived = if hit.archived {
        " archived=\"true\""
    } else {
        ""
    };
    format!(
        "<match note-id=\"{}\" title=\"{}\" tags=\"{}\" updated-at=\"{}\" total-hits=\"{}\"{archived}>\n  \
           <snippet line=\"{}\">{}</snippet>\n  \
           <hits>{}</hits>\n\
         </match>\n",
        escaped(identifier),
        escaped(&hit.title),
        escaped(&hit.tags.join(" ")),
        escaped(&moment(&hit.updated_at)),
        lines.len(),
        hit.line,
        escaped(&shortened(&hit.snippet)),
        listed.join(", "),
    )
}

/// Renders a note with this content, which may be a part of its text.
pub fn note(identifier: &str, tags: &[String], updated_at: Timestamp, content: &str) -> String {
    let content = content.strip_suffix('\n').unwrap_or(content);
    format!(
        "<note id=\"{}\" tags=\"{}\" updated-at=\"{}\">\n{}\n</note>\n",
        escaped(identifier),
        escaped(&tags.join(" ")),
        escaped(&moment(&kodiak_text::date::format(updated_at))),
        escaped_text(content),
    )
}

/// Renders a remark beside the elements.
pub fn comment(remark: &str) -> String {
    let mut remark = kodiak_base::escape::line(remark).into_owned();
    // A comment ends at the first of them.
    while remark.contains("--") {
        remark = remark.replace("--", "- -");
    }
    format!("<!-- {remark} -->\n")
}

/// Writes `2026-01-31T09:00:00Z` as `2026-01-31 09:00:00`.
fn moment(updated_at: &str) -> String {
    updated_at.trim_end_matches('Z').replace('T', " ")
}

fn shortened(snippet: &str) -> String {
    match snippet.char_indices().nth(MAX_SNIPPET) {
        Some(_) => snippet.chars().take(MAX_SNIPPET - 1).chain(['…']).collect(),
        None => snippet.to_owned(),
    }
}

/// Escapes a text for attributes and elements. Control characters, which XML
/// cannot hold, become spaces; marks of direction become references.
fn escaped(text: &str) -> String {
    escape(text, |_| false)
}

/// Escapes a text of several lines. A carriage return that does not end a line
/// becomes a reference.
fn escaped_text(text: &str) -> String {
    let keep = |character| matches!(character, '\n' | '\r' | '\t');
    let lines = text.split("\r\n");
    let lines: Vec<String> = lines
        .map(|line| escape(line, keep).replace('\r', "&#xd;"))
        .collect();
    lines.join("\r\n")
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            _ if keep(character) => escaped.push(character),
            _ if character.is_control() => escaped.push(' '),
            _ if is_harmful(character) => {
                escaped.push_str(&format!("&#x{:x};", u32::from(character)));
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_escaped_and_shortened() {
        assert_eq!(
            escaped("<a b=\"c\">&\u{1b}\n"),
            "&lt;a b=&quot;c&quot;&gt;&amp;  "
        );
        assert_eq!(moment("2026-01-31T09:00:00Z"), "2026-01-31 09:00:00");
        assert_eq!(shortened(&"ü".repeat(200)), "ü".repeat(200));
        let long = shortened(&"ü".repeat(201));
        assert_eq!((long.chars().count(), long.ends_with('…')), (200, true));
    }

    #[test]
    fn a_note_keeps_its_lines() {
        assert_eq!(
            note("A1", &["a".into(), "b c".into()], 0, "one <b>\n\ttwo\n"),
            "<note id=\"A1\" tags=\"a b c\" updated-at=\"1970-01-01 00:00:00\">\n\
             one &lt;b&gt;\n\ttwo\n</note>\n"
        );
    }

    #[test]
    fn what_is_not_seen_becomes_a_reference() {
        let note = note("A1", &[], 0, "a\rb\r\nc\u{202e}\u{9b}\n");
        assert!(note.contains("\na&#xd;b\r\nc&#x202e; \n"), "{note:?}");
        for remark in ["--> a", "a --- b", "-", "a\n-->"] {
            let comment = comment(remark);
            assert_eq!(comment.find("-->"), Some(comment.len() - 4), "{comment}");
        }
    }

    proptest! {
        #[test]
        fn nothing_in_a_text_is_markup(text: String) {
            let escaped = escaped(&text);
            prop_assert!(!escaped.contains(['<', '>', '"']));
            prop_assert!(!escaped.contains(is_harmful));
            let entities = escaped.matches('&').count();
            let known = ["&amp;", "&lt;", "&gt;", "&quot;", "&#x"];
            let known: usize = known.iter().map(|one| escaped.matches(one).count()).sum();
            prop_assert_eq!(entities, known);
        }
    }
}
