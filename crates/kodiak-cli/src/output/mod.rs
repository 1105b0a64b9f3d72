//! The only place that prints.
//!
//! Standard output carries the answer and nothing else; everything said beside
//! it goes to standard error. A reader that goes away early is no failure: the
//! error it causes is passed up and `main` turns it into success.

pub(crate) mod escape;
pub(crate) mod hits;
pub(crate) mod phrases;
pub(crate) mod progress;
pub(crate) mod style;

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::arguments::Color;
use crate::failure;
use escape::escaped;
use style::{BOLD, ERROR, HINT, Painter, WARNING};

/// Where and how this run prints.
#[derive(Debug)]
pub(crate) struct Output {
    answer: Painter,
    beside: Painter,
    /// Whether a person reads the answer on a terminal.
    pub(crate) on_terminal: bool,
    /// Whether standard error is a terminal, on which a bar can move.
    beside_on_terminal: bool,
    loudness: Loudness,
}

/// How much is said beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loudness {
    Quiet,
    Normal,
    Verbose,
}

impl Output {
    /// Looks at the terminal and the environment once.
    pub(crate) fn new(color: Color, verbose: bool, quiet: bool) -> Self {
        let on_terminal = io::stdout().is_terminal();
        let beside_on_terminal = io::stderr().is_terminal();
        let variable = |name: &str| std::env::var(name).ok();
        Self {
            answer: Painter::new(style::wanted(color, on_terminal, variable)),
            beside: Painter::new(style::wanted(color, beside_on_terminal, variable)),
            on_terminal,
            beside_on_terminal,
            loudness: match (quiet, verbose) {
                (true, _) => Loudness::Quiet,
                (false, false) => Loudness::Normal,
                (false, true) => Loudness::Verbose,
            },
        }
    }

    /// Whether more is wanted than what everyone is told.
    pub(crate) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// Whether nothing is wanted but the answer.
    pub(crate) fn is_quiet(&self) -> bool {
        self.loudness == Loudness::Quiet
    }

    /// The painter for what goes to standard output.
    pub(crate) fn painter(&self) -> Painter {
        self.answer
    }

    /// Prints the answer, or a part of it.
    #[expect(clippy::unused_self, reason = "printing needs an output in hand")]
    pub(crate) fn answer(&self, text: &str) -> anyhow::Result<()> {
        let mut stdout = io::stdout().lock();
        let written = stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush());
        written.map_err(|error| match error.kind() {
            io::ErrorKind::BrokenPipe => anyhow::Error::new(Closed),
            _ => anyhow::anyhow!("could not write the answer: {error}"),
        })
    }

    /// Prints rows as columns, the first as their headings.
    pub(crate) fn table(&self, rows: &[Vec<String>]) -> anyhow::Result<()> {
        let text = phrases::table(rows);
        let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
        self.answer(&format!("{}\n{rest}", heading(self.answer, first)))
    }

    /// Prints the answer as JSON: on one line for programs, spread out for people.
    pub(crate) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        let mut text = if self.on_terminal {
            serde_json::to_string_pretty(value)?
        } else {
            serde_json::to_string(value)?
        };
        text.push('\n');
        self.answer(&text)
    }

    /// Says something worth knowing beside the answer.
    pub(crate) fn notice(&self, text: &str) {
        if !self.is_quiet() {
            say(&escaped(text));
        }
    }

    /// Says something only those who asked for more want to know.
    pub(crate) fn detail(&self, text: &str) {
        if self.is_verbose() {
            say(&escaped(text));
        }
    }

    /// Says what to do next.
    pub(crate) fn hint(&self, text: &str) {
        if !self.is_quiet() {
            self.labelled(HINT, "hint", text);
        }
    }

    /// Says that something went wrong though the work goes on.
    pub(crate) fn warning(&self, text: &str) {
        self.labelled(WARNING, "warning", text);
    }

    /// Says what went wrong, and what can be done about it.
    pub(crate) fn failure(&self, error: &anyhow::Error) {
        self.labelled(ERROR, "error", &failure::message(error));
        for hint in failure::hints(error) {
            self.labelled(HINT, "hint", &hint);
        }
    }

    /// Says what went wrong with a part of the work, and what can be done.
    pub(crate) fn partial_failure(&self, error: &anyhow::Error) {
        self.warning(&failure::message(error));
        for hint in failure::hints(error) {
            self.hint(&hint);
        }
    }

    fn labelled(&self, style: anstyle::Style, label: &str, text: &str) {
        let label = self.beside.paint(style, &format!("{label}:"));
        say(&format!("{label} {}", escaped(text)));
    }
}

/// Standard output was closed by its reader.
#[derive(Debug)]
pub(crate) struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("nobody reads the answer")
    }
}

impl std::error::Error for Closed {}

/// Prints what the argument parser has to say: help, version, or a mistake.
pub(crate) fn usage(error: &clap::Error) {
    // If it cannot be printed there is nobody to tell.
    let _ = error.print();
}

/// A heading in the style of the answer.
pub(crate) fn heading(painter: Painter, text: &str) -> String {
    painter.paint(BOLD, &escaped(text))
}

fn say(line: &str) {
    // A closed standard error must not end the work.
    let _ = writeln!(io::stderr().lock(), "{line}");
}
