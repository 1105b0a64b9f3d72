//! Runs of the program on a pseudo-terminal, and what a person sees of them: a window
//! of so many rows and columns after the program has ended.

use std::fmt;
use std::io::Read;
use std::process::{Command, Stdio};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::desk::{Desk, redacted, replaced_between};

/// The two windows that outputs are reviewed in.
pub(crate) const SMALL: Window = Window {
    rows: 24,
    columns: 80,
};
pub(crate) const LARGE: Window = Window {
    rows: 40,
    columns: 120,
};

/// The size of a terminal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) rows: u16,
    pub(crate) columns: u16,
}

/// What one run left on a terminal.
pub(crate) struct Shown {
    pub(crate) code: Option<i32>,
    /// What was written to it.
    pub(crate) raw: String,
    /// The lines of the screen, with those that have scrolled away. One that is wider
    /// than the window takes several rows there.
    pub(crate) lines: Vec<String>,
    window: Window,
    root: std::path::PathBuf,
}

impl Desk {
    /// Runs the program on a terminal of this size.
    pub(crate) fn on_terminal(&self, window: Window, arguments: &[&str]) -> Shown {
        self.show(window, &mut self.command(arguments))
    }

    /// Runs a command on a terminal of this size, which knows colours.
    pub(crate) fn show(&self, window: Window, command: &mut Command) -> Shown {
        self.settle();
        let (mut controller, terminal) = tiny_terminal::open(window.columns, window.rows);
        let stream = || Stdio::from(terminal.try_clone().unwrap());
        command
            .env("TERM", "xterm-256color")
            .stdin(stream())
            .stdout(stream())
            .stderr(stream());
        let mut child = command.spawn().unwrap();
        // The command has its own copies, which must not outlive the child.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        drop(terminal);
        let mut written = Vec::new();
        let mut piece = [0; 4096];
        // Linux reports an error once the last writer has closed the terminal.
        while let Ok(count @ 1..) = controller.read(&mut piece) {
            written.extend_from_slice(&piece[..count]);
        }
        let code = child.wait().unwrap().code();
        let raw = String::from_utf8(written).unwrap();
        Shown {
            code,
            lines: Screen::of(&raw),
            raw,
            window,
            root: self.path(""),
        }
    }
}

impl Shown {
    /// Returns the number of rows that have scrolled away, the prompt below the output
    /// included.
    pub(crate) fn scrolled(&self) -> usize {
        let columns = usize::from(self.window.columns);
        let rows = self.lines.iter();
        let rows: usize = rows.map(|line| line.width().div_ceil(columns).max(1)).sum();
        (rows + 1).saturating_sub(usize::from(self.window.rows))
    }

    /// Returns all lines as one text.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n")
    }
}

impl fmt::Display for Shown {
    /// The screen, without what differs from run to run.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.root.to_str().unwrap().trim_end_matches('/').to_owned();
        let text = redacted(&self.text(), root.as_ref());
        let text = replaced_between(&text, "index.db (", ")", "[SIZE]");
        if self.code != Some(0) {
            writeln!(formatter, "exit: {:?}", self.code)?;
        }
        if self.scrolled() > 0 {
            writeln!(formatter, "({} rows have scrolled away)", self.scrolled())?;
        }
        write!(formatter, "{text}")
    }
}

/// As much of a terminal as the program uses.
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
}

impl Screen {
    /// Returns the lines that a terminal shows after this was written to it.
    fn of(written: &str) -> Vec<String> {
        let mut screen = Self {
            lines: vec![Vec::new()],
            row: 0,
            column: 0,
        };
        let mut characters = written.chars();
        while let Some(character) = characters.next() {
            match character {
                '\r' => screen.column = 0,
                '\n' => screen.feed(),
                '\u{1b}' => match characters.next() {
                    Some('[') => {
                        let mut parameters = String::new();
                        for sign in characters.by_ref() {
                            if sign.is_ascii_alphabetic() {
                                screen.control(sign, &parameters);
                                break;
                            }
                            parameters.push(sign);
                        }
                    }
                    // A link, which ends with ESC and a backslash.
                    Some(']') => {
                        let is_end = |sign: &char| *sign == '\u{1b}';
                        assert!(characters.by_ref().any(|sign| is_end(&sign)));
                        assert_eq!(characters.next(), Some('\\'));
                    }
                    other => panic!("the screen does not know ESC {other:?}"),
                },
                _ => screen.write(character),
            }
        }
        let text = |line: &Vec<char>| line.iter().collect::<String>().trim_end().to_owned();
        let mut lines: Vec<String> = screen.lines.iter().map(text).collect();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        lines
    }

    fn feed(&mut self) {
        self.row += 1;
        self.column = 0;
        if self.row == self.lines.len() {
            self.lines.push(Vec::new());
        }
    }

    fn write(&mut self, character: char) {
        let width = character.width().unwrap_or(0);
        let line = &mut self.lines[self.row];
        // Columns are counted as characters: only what is written again must match,
        // and nothing wide is.
        if width > 0 && self.column < line.len() {
            line[self.column] = character;
        } else {
            line.push(character);
        }
        self.column += width;
    }

    fn control(&mut self, sign: char, parameters: &str) {
        let count = parameters.parse().unwrap_or(1);
        match sign {
            'm' | 'h' | 'l' => {}
            'A' => self.row = self.row.saturating_sub(count),
            'K' if parameters == "2" => self.lines[self.row].clear(),
            'K' => self.lines[self.row].truncate(self.column),
            'G' => self.column = count - 1,
            _ => panic!("the screen does not know CSI {parameters}{sign}"),
        }
    }
}
