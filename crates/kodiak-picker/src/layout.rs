//! The layout of the screen: the query, the list and the note.

use ratatui_core::layout::Rect;

/// The width from which the note is beside the list instead of below it.
const BESIDE_FROM: u16 = 110;
/// The size from which there is room for a note.
const NOTE_COLUMNS: u16 = 30;
const NOTE_ROWS: u16 = 12;

/// The parts of the screen. Parts without room are empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// The query and the summary of its answer.
    pub query: Rect,
    /// The line between the query and the rest.
    pub rule: Rect,
    /// The list.
    pub list: Rect,
    /// The line between the list and the note: a column or a row.
    pub border: Rect,
    /// The note.
    pub note: Rect,
    /// The last line: keys, or a message.
    pub foot: Rect,
}

impl Layout {
    /// Divides a screen. The note has no room on a small one.
    pub fn of(screen: Rect, with_note: bool) -> Self {
        let Rect {
            x,
            y,
            width,
            height,
        } = screen;
        let row = |at: u16| Rect::new(x, y + at, width, 1);
        let mut layout = Self::default();
        if width == 0 || height == 0 {
            return layout;
        }
        layout.query = row(0);
        if height < 3 {
            layout.list = Rect::new(x, y + 1, width, height - 1);
            return layout;
        }
        layout.rule = row(1);
        layout.foot = row(height - 1);
        let (top, rows) = (y + 2, height - 3);
        let has_room = width >= NOTE_COLUMNS && height >= NOTE_ROWS;
        if !with_note || !has_room {
            layout.list = Rect::new(x, top, width, rows);
        } else if width >= BESIDE_FROM {
            let list = width * 9 / 20;
            layout.list = Rect::new(x, top, list, rows);
            layout.border = Rect::new(x + list, top, 1, rows);
            layout.note = Rect::new(x + list + 1, top, width - list - 1, rows);
        } else {
            let list = (rows - 1) * 2 / 5;
            layout.list = Rect::new(x, top, width, list);
            layout.border = Rect::new(x, top + list, width, 1);
            layout.note = Rect::new(x, top + list + 1, width, rows - list - 1);
        }
        layout
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_note_is_beside_or_below_or_nowhere() {
        let note = |width, height| Layout::of(Rect::new(0, 0, width, height), true).note;
        assert_eq!(note(200, 50), Rect::new(91, 2, 109, 47));
        assert_eq!(note(80, 24), Rect::new(0, 11, 80, 12));
        assert!(note(80, 10).is_empty() && note(20, 40).is_empty());
        let hidden = Layout::of(Rect::new(0, 0, 200, 50), false);
        assert!(hidden.note.is_empty() && hidden.list.width == 200);
    }

    proptest! {
        #[test]
        fn parts_are_on_the_screen_and_apart(width in 0..300u16, height in 0..100u16, with_note: bool) {
            let screen = Rect::new(0, 0, width, height);
            let Layout { query, rule, list, border, note, foot } = Layout::of(screen, with_note);
            let parts = [query, rule, list, border, note, foot];
            for (number, part) in parts.iter().enumerate() {
                prop_assert_eq!(part.intersection(screen), *part);
                for other in &parts[number + 1..] {
                    prop_assert!(part.is_empty() || other.is_empty() || !part.intersects(*other));
                }
            }
            let area: u32 = parts.iter().map(|part| part.area()).sum();
            prop_assert_eq!(area, screen.area());
        }
    }
}
