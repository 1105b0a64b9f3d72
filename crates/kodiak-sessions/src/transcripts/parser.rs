//! The common part of the parsers of JSON lines.

use super::claude::Claude;
use super::codex::Codex;
use super::cursor::CursorLines;
use super::json::Text;
use super::pi::Pi;
use super::turns::{Seen, Turns};
use kodiak_text::date;
use kodiak_text::document::Timestamp;

/// Reads the records of one agent, line by line.
pub(super) trait Parser {
    /// Reads a record and passes on its content.
    fn line(&mut self, line: &[u8], turns: &mut Turns<'_>) -> Seen;

    /// Tells that there are no more records.
    fn end(&mut self, turns: &mut Turns<'_>) {
        let _ = turns;
    }
}

/// The agents whose transcripts are JSON lines, each record for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFormat {
    Claude,
    Codex,
    Pi,
    Cursor,
}

impl LineFormat {
    /// Returns a parser for one file.
    pub(super) fn parser(self, subagent: bool) -> Box<dyn Parser> {
        match self {
            Self::Claude => Box::new(Claude::new(subagent)),
            Self::Codex => Box::new(Codex::default()),
            Self::Pi => Box::new(Pi::default()),
            Self::Cursor => Box::new(CursorLines),
        }
    }

    /// Reports whether a file that has grown can be read from where it ended. The
    /// records of a tree depend on all records before them.
    pub(super) fn reads_on(self) -> bool {
        self != Self::Pi
    }
}

/// Sets a value, unless there is no new one.
pub(super) fn set(value: &mut Option<String>, new: &Text) {
    if let Some(new) = new.filled()
        && value.as_deref() != Some(new)
    {
        *value = Some(new.to_owned());
    }
}

/// Reads a moment: `2026-08-22T14:03:11.123Z`, in most cases.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    date::parse(text).filter(|_| !text.is_empty())
}

/// Returns a moment that is given in milliseconds or in seconds.
pub(super) fn moment_of(number: Option<i64>) -> Option<Timestamp> {
    let number = number.filter(|number| *number > 0)?;
    // Seconds reach this number in the year 5138.
    Some(if number > 100_000_000_000 {
        number.div_euclid(1000)
    } else {
        number
    })
}
