//! Draws the state. It decides about looks and nothing else.

use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::style::{Color, Modifier, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::item::Item;
use crate::list::Stage;
use crate::state::State;

const PLAIN: Style = Style::new();
const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);
const DIM: Style = Style::new().add_modifier(Modifier::DIM);
const MATCH: Style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
const POINTER: Style = Style::new().fg(Color::Cyan).add_modifier(Modifier::BOLD);
const WARNING: Style = Style::new().fg(Color::Yellow);

/// The signs before the query, and before the selected item and matching lines.
const PROMPT: &str = "> ";
const BAR: &str = "▌";
/// The columns of the bar and the space after it.
const MARGIN: u16 = 2;
/// The most columns that a place takes, as a share of the row.
const PLACE_SHARE: usize = 2;

/// The keys, as they are listed.
const KEYS: [(&str, &str); 15] = [
    ("Enter", "open the note at the line"),
    ("Esc", "leave"),
    ("Up, Down", "select another note; also Ctrl-P and Ctrl-N"),
    ("PgUp, PgDn", "go a page up or down"),
    ("Home, End", "go to the first or the last note"),
    (
        "Tab",
        "search only the next source; Shift-Tab for the previous",
    ),
    ("Ctrl-Y", "copy the path"),
    ("Ctrl-O", "open the folder"),
    ("F2", "show or hide the note"),
    (
        "Left, Right",
        "move the cursor; Ctrl-A and Ctrl-E to the ends",
    ),
    ("Ctrl-W", "delete a word"),
    ("Ctrl-U", "delete everything before the cursor"),
    ("-word", "leave out notes with a word"),
    ("\"a phrase\"", "find words in this order"),
    ("?, F1", "list the keys; ? only before anything is typed"),
];
/// The most important first: on a narrow screen the others have no room.
const FOOT: [(&str, &str); 6] = [
    ("Enter", "open"),
    ("Esc", "leave"),
    ("F1", "keys"),
    ("Tab", "source"),
    ("Ctrl-Y", "copy path"),
    ("Ctrl-O", "folder"),
];

/// Draws the state. Returns where the cursor is.
pub fn draw(state: &State, buffer: &mut Buffer) -> Option<Position> {
    let layout = state.layout();
    let cursor = query(state, layout.query, buffer);
    rule(layout.rule, buffer);
    if state.is_help_shown() {
        let below = layout.list.union(layout.note).union(layout.border);
        help(below, buffer);
    } else {
        list(state, layout.list, buffer);
        border(layout.border, buffer);
        note(state, layout.note, buffer);
    }
    foot(state, layout.foot, buffer);
    cursor
}

/// Draws the query and, at the right end, the summary of its answer.
fn query(state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
    if area.is_empty() {
        return None;
    }
    let width = usize::from(area.width);
    let mut about = summary(state);
    if PROMPT.len() + state.line().text().width() + 2 + about.width() > width {
        about.clear();
    }
    let room = width.saturating_sub(about.width() + usize::from(!about.is_empty()) + PROMPT.len());
    text(buffer, area, 0, PROMPT, POINTER);
    let line = state.line();
    // The end of a query that is too long, with the cursor in it.
    let before = kept_end(line.before(), room.saturating_sub(1), "");
    let after = &line.text()[line.before().len()..];
    let start = PROMPT.len() as u16;
    let at = text(buffer, shortened(area, start, room), start, &before, BOLD);
    text(buffer, shortened(area, start, room), at, after, BOLD);
    let from = area.width.saturating_sub(about.width() as u16);
    text(buffer, area, from, &about, DIM);
    Some(Position::new((area.x + at).min(area.right() - 1), area.y))
}

/// Returns the part of a row that begins at a column and has so much room.
fn shortened(area: Rect, start: u16, room: usize) -> Rect {
    let width = start.saturating_add(room as u16).min(area.width);
    Rect { width, ..area }
}

/// Returns the summary of the answer: its source, its size, and how it was found.
fn summary(state: &State) -> String {
    let list = state.list();
    let mut parts = Vec::new();
    if let Some(source) = state.source() {
        parts.push(kodiak::escape::line(source).into_owned());
    }
    if list.stage().is_none() {
        return parts.join(" · ");
    }
    let (shown, total) = (list.items().len(), list.total());
    if state.line().text().trim().is_empty() {
        parts.push("recent notes".to_owned());
        return parts.join(" · ");
    }
    parts.push(match total {
        0 => String::new(),
        _ if shown < total => format!("{shown} of {total}"),
        _ => shown.to_string(),
    });
    let meaning = match (list.stage(), list.by_meaning()) {
        _ if state.is_searching() => "…",
        (Some(Stage::Full), true) => "words and meaning",
        _ => "words",
    };
    parts.push(meaning.to_owned());
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

fn rule(area: Rect, buffer: &mut Buffer) {
    for x in area.left()..area.right() {
        buffer.set_string(x, area.y, "─", DIM);
    }
}

fn border(area: Rect, buffer: &mut Buffer) {
    if area.width == 1 {
        for y in area.top()..area.bottom() {
            buffer.set_string(area.x, y, "│", DIM);
        }
    } else if !area.is_empty() {
        rule(area, buffer);
    }
}

fn list(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = state.list();
    if list.items().is_empty() {
        return nothing(state, area, buffer);
    }
    let visible = list.items().iter().enumerate().skip(list.top());
    for (row, (number, item)) in rows(area).zip(visible) {
        entry(item, number == list.selected(), row, buffer);
    }
}

/// Draws an item: its title and, at the right end, where it is.
fn entry(item: &Item, is_selected: bool, row: Rect, buffer: &mut Buffer) {
    if is_selected {
        text(buffer, row, 0, BAR, POINTER);
    }
    // One column stays free at the right end.
    let row = Rect {
        width: row.width.saturating_sub(1),
        ..row
    };
    let width = usize::from(row.width.saturating_sub(MARGIN));
    let place = kodiak::escape::line(&item.place);
    let place = if item.lines.is_empty() {
        place.into_owned()
    } else {
        format!("{place}:{}", item.line)
    };
    let place = kept_end(&place, width / PLACE_SHARE, "…");
    let room = width.saturating_sub(place.width() + 2);
    let title = kept_start(&kodiak::escape::line(&item.title), room);
    let style = match (is_selected, item.probable) {
        (true, _) => BOLD,
        (false, true) => PLAIN,
        (false, false) => DIM,
    };
    text(buffer, row, MARGIN, &title, style);
    let from = row.width.saturating_sub(place.width() as u16);
    text(buffer, row, from.max(MARGIN), &place, DIM);
}

/// Draws the message in place of an empty list.
fn nothing(state: &State, area: Rect, buffer: &mut Buffer) {
    let list = state.list();
    let mut lines: Vec<(String, Style)> = Vec::new();
    if let Some(problem) = list.problem() {
        lines.push((problem.text.clone(), WARNING));
        let hints = problem
            .hints
            .iter()
            .map(|hint| (format!("hint: {hint}"), DIM));
        lines.extend(hints);
    } else if list.stage().is_some() {
        let query = state.line().text().trim();
        lines.push(match query {
            "" => ("There are no notes yet.".to_owned(), PLAIN),
            query => (format!("Nothing found for \"{query}\"."), PLAIN),
        });
        if let Some(source) = state.source() {
            let told = format!("Only {source} was searched; Tab searches the next source.");
            lines.push((told, DIM));
        } else if query.is_empty() {
            let told = "Run `kodiak add FOLDER` to add some, or `kodiak index`.";
            lines.push((told.to_owned(), DIM));
        }
    }
    let mut area = area;
    for (line, style) in lines {
        let line = kodiak::escape::line(&line).into_owned();
        for row in wrapped(&line, usize::from(area.width.saturating_sub(MARGIN))) {
            if area.is_empty() {
                return;
            }
            text(buffer, area, MARGIN, row, style);
            area.y += 1;
            area.height -= 1;
        }
    }
}

/// Draws the note around its best match.
fn note(state: &State, area: Rect, buffer: &mut Buffer) {
    let (Some(note), Some(item)) = (state.note(), state.list().item()) else {
        return;
    };
    if area.width < MARGIN + 8 {
        return;
    }
    let last = item.line + usize::from(area.height);
    let digits = last.to_string().len().max(3) as u16;
    let start = MARGIN + digits + 1;
    let shown = note.rows(
        item,
        usize::from(area.width - start),
        usize::from(area.height),
    );
    for (place, row) in rows(area).zip(shown) {
        if row.matches {
            text(buffer, place, 0, BAR, MATCH);
        }
        if let Some(number) = row.number {
            let number = format!("{number:>width$}", width = usize::from(digits));
            text(buffer, place, MARGIN - 1, &number, DIM);
        }
        let mut at = start;
        for (part, is_marked) in &row.parts {
            let style = if *is_marked { MATCH } else { PLAIN };
            at = text(buffer, place, at, part, style);
        }
    }
}

/// Draws the last line: a message, a caveat, or the keys.
fn foot(state: &State, area: Rect, buffer: &mut Buffer) {
    if area.is_empty() {
        return;
    }
    let told = state.message().map(|message| (message, PLAIN));
    let notice = || state.list().notice().map(|notice| (notice, WARNING));
    if let Some((words, style)) = told.or_else(notice) {
        let words = kept_start(&kodiak::escape::line(words), usize::from(area.width));
        text(buffer, area, 0, &words, style);
        return;
    }
    let mut at = 0;
    for (key, what) in FOOT {
        let width = (key.len() + what.len() + 1) as u16;
        if at + width > area.width {
            break;
        }
        let end = text(buffer, area, at, key, BOLD.add_modifier(Modifier::DIM));
        at = text(buffer, area, end + 1, what, DIM) + 3;
    }
}

fn help(area: Rect, buffer: &mut Buffer) {
    let column = KEYS.iter().map(|(key, _)| key.len()).max().unwrap_or(0) as u16;
    for (row, (key, what)) in rows(area).zip(KEYS) {
        text(buffer, row, MARGIN, key, BOLD);
        text(buffer, row, MARGIN + column + 2, what, PLAIN);
    }
}

/// Returns the rows of an area.
fn rows(area: Rect) -> impl Iterator<Item = Rect> {
    (area.top()..area.bottom()).map(move |y| Rect {
        y,
        height: 1,
        ..area
    })
}

/// Writes a text at a column of a row, as far as there is room. Returns the column
/// after it.
fn text(buffer: &mut Buffer, row: Rect, column: u16, text: &str, style: Style) -> u16 {
    if column >= row.width || row.height == 0 {
        return column;
    }
    let room = usize::from(row.width - column);
    let (end, _) = buffer.set_stringn(row.x + column, row.y, text, room, style);
    end - row.x
}

/// Returns the beginning of a text that fits, with an ellipsis if it was cut.
fn kept_start(text: &str, room: usize) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut columns = 1;
    for sign in text.graphemes(true) {
        columns += sign.width();
        if columns > room {
            break;
        }
        kept.push_str(sign);
    }
    if room > 0 {
        kept.push('…');
    }
    kept
}

/// Returns the end of a text that fits, with `sign` in place of the rest.
fn kept_end(text: &str, room: usize, sign: &str) -> String {
    if text.width() <= room {
        return text.to_owned();
    }
    let mut columns = sign.width();
    let mut from = text.len();
    for (at, sign) in text.grapheme_indices(true).rev() {
        columns += sign.width();
        if columns > room {
            break;
        }
        from = at;
    }
    let sign = if room > 0 { sign } else { "" };
    format!("{sign}{}", &text[from..])
}

/// Breaks a sentence into rows.
fn wrapped(text: &str, width: usize) -> Vec<&str> {
    crate::note::broken(text, width.max(1))
        .into_iter()
        .map(|range| text[range].trim_end())
        .collect()
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
