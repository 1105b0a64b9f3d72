//! Prints. No other module does.
//!
//! Standard output carries the answer and nothing else; messages and progress
//! go to standard error. A reader that closes standard output early is not a
//! failure: the error travels up as [`Closed`] and `main` turns it into success.

#[cfg(feature = "sessions")]
pub(crate) mod brain;
pub(crate) mod cut;
pub(crate) mod escape;
mod estimate;
pub(crate) mod fit;
pub(crate) mod hits;
mod json;
pub(crate) mod link;
mod pager;
pub(crate) mod phrases;
pub(crate) mod plot;
pub(crate) mod progress;
pub(crate) mod question;
pub(crate) mod removal;
pub(crate) mod shell;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod wrap;
pub(crate) mod xml;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use kodiak::Timestamp;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::arguments::Color;
use crate::failure;
use crate::places::Reader;
use escape::escaped;
use link::Linked;
use style::{BOLD, ERROR, HINT, Painter, WARNING};
use table::Table;

/// Where and how this run prints.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    answer: Painter,
    beside: Painter,
    /// Whether standard output is a terminal.
    pub(crate) on_terminal: bool,
    /// Whether standard error is a terminal, which can show progress bars.
    beside_on_terminal: bool,
    /// Whether a terminal is given links.
    may_link: bool,
    loudness: Loudness,
    /// The number of rows that messages have taken on the terminal.
    rows_beside: Arc<AtomicUsize>,
}

/// The rows that are kept free below an answer: for the next prompt, which often has
/// two lines.
const PROMPT: usize = 2;

/// How a moment is written in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// With its time.
    Moment,
    /// Its date alone.
    Day,
}

/// How much to print beside the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loudness {
    Quiet,
    Normal,
    Verbose,
}

impl Output {
    /// Examines the terminal and the environment.
    pub(crate) fn new(color: Color, verbose: bool, quiet: bool) -> Self {
        let on_terminal = io::stdout().is_terminal();
        let beside_on_terminal = io::stderr().is_terminal();
        let variable = |name: &str| std::env::var(name).ok();
        Self {
            answer: Painter::new(style::wanted(color, on_terminal, variable)),
            beside: Painter::new(style::wanted(color, beside_on_terminal, variable)),
            on_terminal,
            beside_on_terminal,
            may_link: style::links(color, variable),
            rows_beside: Arc::default(),
            loudness: match (quiet, verbose) {
                (true, _) => Loudness::Quiet,
                (false, false) => Loudness::Normal,
                (false, true) => Loudness::Verbose,
            },
        }
    }

    /// Reports whether `--verbose` was given.
    pub(crate) fn is_verbose(&self) -> bool {
        self.loudness == Loudness::Verbose
    }

    /// Reports whether `--quiet` was given.
    pub(crate) fn is_quiet(&self) -> bool {
        self.loudness == Loudness::Quiet
    }

    /// Returns the painter for standard output.
    pub(crate) fn painter(&self) -> Painter {
        self.answer
    }

    /// Returns the width of the terminal in columns: the value of `COLUMNS`, else the
    /// terminal's answer, else 80.
    pub(crate) fn width(&self) -> usize {
        width_of(|| {
            let size = terminal_size::terminal_size_of(io::stdout());
            size.filter(|_| self.on_terminal)
        })
    }

    /// Returns the width of the terminal that messages are printed to, like
    /// [`Output::width`].
    fn width_beside(&self) -> usize {
        width_of(|| {
            let size = terminal_size::terminal_size_of(io::stderr());
            size.filter(|_| self.beside_on_terminal)
        })
    }

    /// Returns the room for an answer that `below` lines of messages follow. If it is not
    /// read in a window, as many rows as it needs.
    pub(crate) fn room(&self, below: &[String]) -> fit::Room {
        let columns = self.width();
        let height = || {
            let (_, height) = terminal_size::terminal_size_of(io::stdout())?;
            Some(usize::from(height.0)).filter(|&rows| rows > 0)
        };
        let height = if self.on_terminal { height() } else { None };
        let beside = if self.beside_on_terminal {
            let rows = below.iter().map(|line| rows_of(line, columns));
            self.rows_beside.load(Ordering::Relaxed) + rows.sum::<usize>()
        } else {
            0
        };
        fit::Room {
            rows: height.map(|rows| rows.saturating_sub(PROMPT + beside)),
            columns,
        }
    }

    /// Reports whether bars show the progress of long work.
    pub(crate) fn shows_progress(&self) -> bool {
        self.beside_on_terminal && !self.is_quiet()
    }

    /// Returns the reader of the paths of an answer.
    pub(crate) fn reader(&self) -> Reader {
        if self.on_terminal {
            Reader::Person
        } else {
            Reader::Program
        }
    }

    /// Reports whether paths of an answer are printed as links.
    pub(crate) fn links(&self) -> bool {
        self.on_terminal && self.may_link
    }

    /// Returns the reader of the paths of messages.
    pub(crate) fn reader_beside(&self) -> Reader {
        if self.beside_on_terminal {
            Reader::Person
        } else {
            Reader::Program
        }
    }

    /// Wraps an answer to the width of the terminal, unless a program reads it.
    pub(crate) fn wrapped(&self, text: String) -> String {
        if self.on_terminal {
            cut::wrapped(&text, self.width())
        } else {
            text
        }
    }

    /// Renders a moment: on a terminal by how long ago it was, or in full in the zone of
    /// this machine; for programs in full and in UTC.
    pub(crate) fn when(&self, at: Timestamp, now: Timestamp, otherwise: When) -> String {
        let whole = || match self.reader() {
            Reader::Person => kodiak::date::format_local(at),
            Reader::Program => kodiak::date::format(at),
        };
        match otherwise {
            _ if !self.says_everything() => phrases::relative(at, now),
            When::Moment => whole(),
            When::Day => whole().chars().take(10).collect(),
        }
    }

    /// Reports whether to print facts that do not influence the next step of a person: they
    /// are for programs, and for users who ask for them.
    pub(crate) fn says_everything(&self) -> bool {
        !self.on_terminal || self.is_verbose()
    }

    /// Prints the answer in a pager. Without a terminal or a pager it is printed as usual.
    pub(crate) fn paged(&self, text: &str) -> anyhow::Result<()> {
        let shown = self.on_terminal
            && pager::show(text)
                .map_err(|error| anyhow::anyhow!("could not show the answer: {error}"))?;
        if shown { Ok(()) } else { self.answer(text) }
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

    /// Prints a table. On a terminal it is as wide as that at most, unless `--verbose`
    /// asks for everything.
    pub(crate) fn table(&self, table: &Table) -> anyhow::Result<()> {
        let limit = (!self.says_everything()).then(|| self.width());
        let (heading, rows) = table.render(limit, self.links());
        let heading = self.answer.paint(BOLD, heading.trim_end());
        self.answer(&format!("{heading}\n{rows}"))
    }

    /// Prints the answer as JSON: on a terminal indented and with everything escaped
    /// that a terminal would obey, otherwise on one line.
    pub(crate) fn json(&self, value: &impl Serialize) -> anyhow::Result<()> {
        // One way to serialise, because every type of answer is compiled for each.
        let mut text = serde_json::to_string(value)?;
        if self.on_terminal {
            text = kodiak::escape::json(&json::indented(&text)).into_owned();
        }
        text.push('\n');
        self.answer(&text)
    }

    /// Prints a notice to standard error, unless `--quiet` was given.
    pub(crate) fn notice(&self, text: &str) {
        if !self.is_quiet() {
            self.message(&escaped(text), text);
        }
    }

    /// Prints a notice about something that can be opened, between these words.
    pub(crate) fn notice_of(&self, before: &str, name: &Linked, after: &str) {
        if !self.is_quiet() {
            let (before, after) = (escaped(before), escaped(after));
            let line = format!(
                "{before}{}{after}",
                name.render(self.beside_on_terminal && self.may_link)
            );
            self.message(&line, &format!("{before}{}{after}", name.text));
        }
    }

    /// Prints a detail to standard error, if `--verbose` was given.
    pub(crate) fn detail(&self, text: &str) {
        if self.is_verbose() {
            self.message(&escaped(text), text);
        }
    }

    /// Prints a hint at the next step, unless `--quiet` was given.
    pub(crate) fn hint(&self, text: &str) {
        if !self.is_quiet() {
            self.labelled(HINT, "hint", text);
        }
    }

    /// Prints a warning while the work continues.
    pub(crate) fn warning(&self, text: &str) {
        self.labelled(WARNING, "warning", text);
    }

    /// Prints the error that ended the run, and its hints.
    pub(crate) fn failure(&self, error: &anyhow::Error) {
        self.labelled(ERROR, "error", &failure::message(error));
        for hint in failure::hints(error) {
            self.labelled(HINT, "hint", &hint);
        }
    }

    /// Prints the error of a part of the work as a warning, and its hints.
    pub(crate) fn partial_failure(&self, error: &anyhow::Error) {
        self.warning(&failure::message(error));
        for hint in failure::hints(error) {
            self.hint(&hint);
        }
    }

    fn labelled(&self, style: anstyle::Style, label: &str, text: &str) {
        let plain = format!("{label}: {}", escaped(text));
        let label = self.beside.paint(style, &format!("{label}:"));
        self.message(&format!("{label} {}", escaped(text)), &plain);
    }

    /// Prints a message, wrapped between words on a terminal; `plain` is its visible text.
    fn message(&self, line: &str, plain: &str) {
        if !self.beside_on_terminal {
            print_message(line);
            return;
        }
        let columns = self.width_beside();
        self.rows_beside
            .fetch_add(rows_of(plain, columns), Ordering::Relaxed);
        print_message(cut::wrapped(line, columns).trim_end_matches('\n'));
    }
}

/// The error that the reader has closed standard output.
#[derive(Debug)]
pub(crate) struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("standard output is closed")
    }
}

impl std::error::Error for Closed {}

/// Reports whether a person types and reads: standard input and output are a terminal.
pub(crate) fn is_for_people() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Reports whether the terminal can be drawn on, as far as the environment says.
pub(crate) fn can_draw() -> bool {
    let named = std::env::var("TERM").is_ok_and(|name| !name.is_empty() && name != "dumb");
    named || cfg!(windows)
}

/// Prints the argument parser's message: help, version, or an error.
pub(crate) fn usage(error: &clap::Error) {
    // If it cannot be printed, there is no other place to report it.
    let _ = error.print();
}

/// Renders a heading of the answer.
pub(crate) fn heading(painter: Painter, text: &str) -> String {
    painter.paint(BOLD, &escaped(text))
}

/// Returns the value of `COLUMNS`, else the width of a terminal, else 80.
fn width_of(size: impl FnOnce() -> Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    const UNKNOWN: usize = 80;
    let told = std::env::var("COLUMNS").ok();
    let told = told.and_then(|columns| columns.trim().parse().ok());
    let known = told.or_else(|| size().map(|(width, _)| usize::from(width.0)));
    known.filter(|&columns| columns > 0).unwrap_or(UNKNOWN)
}

/// Returns the number of rows that a wrapped message takes.
fn rows_of(text: &str, columns: usize) -> usize {
    let wrapped = cut::wrapped(text, columns);
    let rows = wrapped
        .lines()
        .map(|line| line.width().div_ceil(columns.max(1)).max(1));
    rows.sum::<usize>().max(1)
}

fn print_message(line: &str) {
    // A closed standard error must not end the work.
    let _ = writeln!(io::stderr().lock(), "{line}");
}
