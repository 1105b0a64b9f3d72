//! Chooses the part of a long text that is rendered.
//!
//! The part is about [`WINDOW`] bytes, or 10,000 lines, around a line. It begins and ends where a block
//! does: at a line that is not indented, after an empty one, outside fenced code. In
//! a block that is longer than that, it begins and ends at a line, and a fence that is
//! open there is opened again.

/// The number of bytes that are rendered at once.
pub const WINDOW: usize = 200_000;
/// The number of lines that are rendered at once.
const LINES: usize = 10_000;

/// A part of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window<'a> {
    /// The part.
    pub(crate) text: &'a str,
    /// The line that opens the fence in which the part begins; empty if it is in none.
    pub(crate) fence: &'a str,
    /// The number of lines before the part.
    pub(crate) before: usize,
}

/// A line in a text.
#[derive(Clone, Copy)]
struct Place<'a> {
    at: usize,
    number: usize,
    /// The line that opened the fence that the place is in.
    fence: &'a str,
}

/// Returns the part of a text around a line, which is counted from 1.
pub(crate) fn around(text: &str, line: usize) -> Window<'_> {
    let count = text.lines().count();
    if text.len() <= WINDOW && count <= LINES {
        return Window {
            text,
            ..Window::default()
        };
    }
    let line = line.clamp(1, count);
    let wanted = offset_of(text, line);
    let earliest = wanted.saturating_sub(WINDOW / 2);
    let earliest = earliest.max(offset_of(text, line.saturating_sub(LINES / 2).max(1)));
    let latest = earliest.saturating_add(WINDOW);
    let latest = latest.min(offset_of(text, line.max(LINES / 2) + LINES / 2));
    let near = (latest - earliest) / 4;
    let start = Place {
        at: 0,
        number: 0,
        fence: "",
    };
    // The first border in the part before the line, and the last in the part after it.
    // Where there is none near its ends, a line.
    let (mut border, mut any) = (None, None);
    let (mut end_border, mut end_any) = (None, None);
    let mut after_blank = true;
    let mut fence: Option<&str> = None;
    for (number, at, content) in lines(text) {
        let place = Place {
            at,
            number,
            fence: fence.unwrap_or_default(),
        };
        if at > latest {
            break;
        }
        let begins = fence.is_none()
            && after_blank
            && !content.starts_with([' ', '\t', '\r', '\n'])
            && !content.is_empty();
        if at >= earliest && at <= wanted {
            if begins && at <= earliest + near {
                border.get_or_insert(place);
            }
            any.get_or_insert(place);
        } else if at > wanted {
            if begins && at + near >= latest {
                end_border = Some(at);
            }
            end_any = Some(at);
        }
        match fence {
            Some(open) if closes(content, open) => fence = None,
            None if opens(content) => fence = Some(content),
            _ => {}
        }
        after_blank = content.trim().is_empty();
    }
    let from = if earliest == 0 {
        start
    } else {
        border.or(any).unwrap_or(start)
    };
    let all = latest >= text.len();
    let end = if all {
        text.len()
    } else {
        end_border.or(end_any).unwrap_or(text.len())
    };
    // One line may be longer than everything that is rendered.
    let longest = text.floor_char_boundary(from.at.saturating_add(2 * WINDOW));
    Window {
        text: &text[from.at..end.clamp(from.at, longest)],
        fence: from.fence,
        before: from.number,
    }
}

/// Returns the lines of a text with their numbers from 0 and their places.
fn lines(text: &str) -> impl Iterator<Item = (usize, usize, &str)> {
    let mut at = 0;
    text.split_inclusive('\n')
        .enumerate()
        .map(move |(number, line)| {
            let begin = at;
            at += line.len();
            (number, begin, line)
        })
}

/// Returns where a line begins; the end of the text if there is no such line.
fn offset_of(text: &str, line: usize) -> usize {
    let found = lines(text).nth(line - 1);
    found.map_or(text.len(), |(_, at, _)| at)
}

/// Returns the sign of a fence and how often it is repeated.
fn fence_of(line: &str) -> Option<(u8, usize)> {
    let trimmed = line.trim_start_matches([' ', '>']);
    let sign = *trimmed.as_bytes().first()?;
    let length = trimmed.bytes().take_while(|&byte| byte == sign).count();
    (matches!(sign, b'`' | b'~') && length >= 3).then_some((sign, length))
}

fn opens(line: &str) -> bool {
    let Some((sign, length)) = fence_of(line) else {
        return false;
    };
    let rest = &line.trim_start_matches([' ', '>'])[length..];
    sign == b'~' || !rest.contains('`')
}

fn closes(line: &str, open: &str) -> bool {
    let (Some((sign, length)), Some((opened, least))) = (fence_of(line), fence_of(open)) else {
        return false;
    };
    let rest = &line.trim_start_matches([' ', '>'])[length..];
    sign == opened && length >= least && rest.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraphs(number: usize) -> String {
        (1..=number)
            .map(|at| format!("Paragraph {at} of many words.\n\n"))
            .collect()
    }

    #[test]
    fn a_short_text_is_rendered_whole() {
        let window = around("a\n\nb", 3);
        assert_eq!(
            (window.text, window.before, window.fence),
            ("a\n\nb", 0, "")
        );
    }

    #[test]
    fn a_long_text_is_cut_at_blocks() {
        let text = paragraphs(40_000);
        for line in [1, 2, 39_999, 40_001, 79_999, 80_000, 1_000_000] {
            let window = around(&text, line);
            assert!(window.text.starts_with("Paragraph "), "{line}");
            assert!(
                window.text.len() <= WINDOW + 100 && window.text.len() > WINDOW / 3,
                "{line}"
            );
            assert!(window.text.ends_with("\n\n"));
            let lines = window.text.lines().count();
            let number: usize = window.text["Paragraph ".len()..]
                .split(' ')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            assert_eq!(window.before, (number - 1) * 2);
            let wanted = line.min(80_000);
            assert!(
                (window.before + 1..=window.before + lines).contains(&wanted),
                "{line}"
            );
        }
    }

    #[test]
    fn fenced_code_is_opened_again() {
        let code = "let x = 1;\n\n".repeat(60_000);
        let text = format!("Before\n\n```rust\n{code}```\n\nAfter\n");
        let window = around(&text, 50_000);
        assert_eq!(window.fence, "```rust\n");
        assert!(window.text.len() <= WINDOW);
        let end = around(&text, 120_006);
        assert_eq!(end.fence, "```rust\n");
        assert!(end.text.ends_with("After\n"));
        assert_eq!(around(&text, 1).fence, "");
    }

    #[test]
    fn a_line_without_end_is_bounded() {
        let text = "ä".repeat(1_000_000);
        let window = around(&text, 1);
        assert!(window.text.len() <= 2 * WINDOW && window.before == 0);
        let text = format!("a\n\n{text}\nb\n");
        assert!(around(&text, 4).text.len() <= 2 * WINDOW);
        assert!(around(&text, 3).text.len() <= 2 * WINDOW);
    }
}
