//! The contents of a screen after some bytes were written to it.

use std::fmt;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A screen.
#[derive(Clone, Debug)]
pub struct Screen {
    /// The cells by rows. One that is covered by a wide character is empty.
    cells: Vec<Vec<String>>,
    column: usize,
    row: usize,
    /// Whether it is the alternate screen.
    pub is_alternate: bool,
    /// Whether pasted text is marked.
    pub marks_pastes: bool,
}

impl Screen {
    /// Returns the screen of this size after these bytes.
    pub fn after(bytes: &[u8], columns: u16, rows: u16) -> Self {
        let blank = vec![vec![" ".to_owned(); columns.into()]; rows.into()];
        let mut screen = Self {
            cells: blank,
            column: 0,
            row: 0,
            is_alternate: false,
            marks_pastes: false,
        };
        let text = String::from_utf8_lossy(bytes);
        let mut rest = &*text;
        while !rest.is_empty() {
            rest = if let Some(sequence) = rest.strip_prefix("\u{1b}[") {
                screen.control(sequence)
            } else if let Some(command) = rest.strip_prefix("\u{1b}]") {
                let end = command.find('\u{7}').map(|at| at + 1);
                let other = command.find("\u{1b}\\").map(|at| at + 2);
                &command[end.into_iter().chain(other).min().unwrap_or(command.len())..]
            } else {
                screen.show(rest)
            };
        }
        screen
    }

    /// Carries out a control sequence, and returns what follows it.
    fn control<'a>(&mut self, sequence: &'a str) -> &'a str {
        let is_end = |sign: char| ('\u{40}'..='\u{7e}').contains(&sign);
        let Some(end) = sequence.find(is_end) else {
            return "";
        };
        let (parameters, rest) = sequence.split_at(end);
        let numbers: Vec<usize> = parameters
            .split(';')
            .map(|number| number.parse().unwrap_or(1))
            .collect();
        let number = |at: usize| numbers.get(at).copied().unwrap_or(1).max(1) - 1;
        match (&rest[..1], parameters) {
            ("H", _) => (self.row, self.column) = (number(0), number(1)),
            ("J", _) => {
                for cell in self.cells.iter_mut().flatten() {
                    " ".clone_into(cell);
                }
            }
            ("h" | "l", "?1049") => self.is_alternate = rest.starts_with('h'),
            ("h" | "l", "?2004") => self.marks_pastes = rest.starts_with('h'),
            _ => {}
        }
        &rest[1..]
    }

    /// Shows a character, and returns what follows it.
    fn show<'a>(&mut self, text: &'a str) -> &'a str {
        let sign = text.graphemes(true).next().unwrap_or_default();
        match sign {
            "\n" => self.row += 1,
            "\r" => self.column = 0,
            "\r\n" => (self.row, self.column) = (self.row + 1, 0),
            _ => {
                let wide = sign.width();
                let row = self.cells.get_mut(self.row);
                for (at, cell) in row
                    .into_iter()
                    .flatten()
                    .skip(self.column)
                    .take(wide)
                    .enumerate()
                {
                    if at == 0 { sign } else { "" }.clone_into(cell);
                }
                self.column += wide;
            }
        }
        &text[sign.len()..]
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.cells {
            writeln!(formatter, "{}", row.concat().trim_end())?;
        }
        Ok(())
    }
}
