//! Writes cells to a terminal: the backend that ratatui draws on.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::{Attribute, Color as Ink, Print, SetAttribute, SetForegroundColor};
use crossterm::terminal::{self, Clear};
use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};

/// The terminal as a screen of cells. It uses the few styles that the view does.
#[derive(Debug)]
pub(crate) struct Screen {
    out: BufWriter<File>,
    cursor: Position,
}

impl Screen {
    pub(crate) fn new(terminal: File) -> Self {
        Self {
            out: BufWriter::with_capacity(1 << 16, terminal),
            cursor: Position::default(),
        }
    }

    /// Sets the style of the next cells.
    fn set_style(&mut self, color: Color, modifier: Modifier) -> io::Result<()> {
        queue!(self.out, SetAttribute(Attribute::Reset))?;
        for (modifier_of, attribute) in [
            (Modifier::BOLD, Attribute::Bold),
            (Modifier::DIM, Attribute::Dim),
        ] {
            if modifier.contains(modifier_of) {
                queue!(self.out, SetAttribute(attribute))?;
            }
        }
        let ink = match color {
            Color::Red => Ink::DarkRed,
            Color::Yellow => Ink::DarkYellow,
            Color::Cyan => Ink::DarkCyan,
            _ => return Ok(()),
        };
        queue!(self.out, SetForegroundColor(ink))
    }
}

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Backend for Screen {
    type Error = io::Error;

    fn draw<'a, I>(&mut self, content: I) -> io::Result<()>
    where
        I: Iterator<Item = (u16, u16, &'a Cell)>,
    {
        let mut style = (Color::Reset, Modifier::empty());
        let mut next: Option<(u16, u16)> = None;
        for (x, y, cell) in content {
            if next != Some((x, y)) {
                queue!(self.out, MoveTo(x, y))?;
            }
            // After a wide character the next cell is not beside it.
            next = x.checked_add(1).map(|x| (x, y));
            if (cell.fg, cell.modifier) != style {
                style = (cell.fg, cell.modifier);
                self.set_style(style.0, style.1)?;
            }
            queue!(self.out, Print(cell.symbol()))?;
        }
        queue!(self.out, SetAttribute(Attribute::Reset))
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        queue!(self.out, Hide)
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        queue!(self.out, Show)
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        // A terminal that is asked answers among the keys.
        Ok(self.cursor)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.cursor = position.into();
        queue!(self.out, MoveTo(self.cursor.x, self.cursor.y))
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        let region = match region {
            ClearType::All => terminal::ClearType::All,
            ClearType::AfterCursor => terminal::ClearType::FromCursorDown,
            ClearType::BeforeCursor => terminal::ClearType::FromCursorUp,
            ClearType::CurrentLine => terminal::ClearType::CurrentLine,
            ClearType::UntilNewLine => terminal::ClearType::UntilNewLine,
        };
        queue!(self.out, Clear(region))
    }

    fn size(&self) -> io::Result<Size> {
        let (columns, rows) = terminal::size()?;
        Ok(Size::new(columns, rows))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize {
            columns_rows: self.size()?,
            pixels: Size::default(),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
