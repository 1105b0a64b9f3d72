//! Renders the hits of an answer for people: in full, or on one line each where the
//! window has no more room.

mod brief;
mod explanation;
mod place;
mod sentence;

use kodiak::Timestamp;
use kodiak::search::{Answer, Hit};
use unicode_width::UnicodeWidthStr;

use super::escape::escaped;
use super::fit::{self, Entry, Line, Room, line};
use super::phrases;
use super::style::{BOLD, DIM, Painter};
use super::wrap::{Marked, wrap};
use crate::places::{Places, Reader};
use brief::Columns;

/// The indentation of all lines of a hit but its first.
const INDENT: &str = "   ";
/// The maximum number of columns of text.
const MAX_COLUMNS: usize = 100;
/// The maximum number of lines of a title and of a snippet.
const MAX_TITLE_LINES: usize = 2;
const MAX_SNIPPET_LINES: usize = 3;

/// How hits are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) painter: Painter,
    /// The room for the hits.
    pub(crate) room: Room,
    /// Whether paths are links to their files.
    pub(crate) links: bool,
    /// The reader of the paths.
    pub(crate) reader: Reader,
    /// The time now.
    pub(crate) now: Timestamp,
    pub(crate) places: &'a Places,
}

impl Layout<'_> {
    /// Returns the number of columns for text beside the indentation.
    fn columns(&self) -> usize {
        let width = self.room.columns;
        width.saturating_sub(INDENT.len()).clamp(20, MAX_COLUMNS)
    }

    /// Renders a moment: how long ago it was for a person, its date for a program.
    fn when(&self, moment: &str) -> String {
        match kodiak::date::parse(moment) {
            Some(at) if self.reader == Reader::Person => phrases::relative(at, self.now),
            _ => moment.get(..10).unwrap_or(moment).to_owned(),
        }
    }
}

/// Renders the hits below the heading, with a blank line between those in full. Those
/// that are probably not relevant are set apart if they are all at the end and others
/// are relevant.
pub(crate) fn hits(answer: &Answer, heading: Option<&str>, layout: Layout<'_>) -> String {
    let painter = layout.painter;
    let mut layout = layout;
    let mut text = String::new();
    if let Some(heading) = heading {
        let heading = escaped(heading);
        text = format!("{}\n\n", painter.paint(DIM, &heading));
        let taken = 1 + heading.width().div_ceil(layout.room.columns.max(1));
        layout.room.rows = layout.room.rows.map(|rows| rows.saturating_sub(taken));
    }
    let apart = answer.hits.is_sorted_by_key(|hit| !hit.probable)
        && !answer.hits.iter().any(|hit| hit.elsewhere);
    let columns = Columns::of(&answer.hits, layout);
    let mut before: Option<&Hit> = None;
    let mut entries = Vec::with_capacity(answer.hits.len());
    for (number, hit) in (1..).zip(&answer.hits) {
        let heading = match before {
            _ if hit.elsewhere && before.is_none_or(|before| !before.elsewhere) => {
                Some("from other projects:")
            }
            Some(before) if apart && before.probable && !hit.probable => Some("less likely:"),
            _ => None,
        };
        entries.push(Entry {
            heading: heading.map(|heading| painter.paint(DIM, heading)),
            full: full(number, hit, layout),
            brief: brief::line(number, hit, columns, layout),
        });
        before = Some(hit);
    }
    let more = |hidden: usize| {
        let more = format!("{hidden} more: --pager shows all");
        painter.paint(DIM, &more)
    };
    text + &fit::render(&entries, layout.room, more)
}

/// Renders a hit in full.
fn full(number: usize, hit: &Hit, layout: Layout<'_>) -> Vec<Line> {
    let painter = layout.painter;
    let number = format!("{number}. ");
    let columns = layout.columns() + INDENT.len() - number.len();
    let title = match &hit.alias {
        Some(alias) => format!("{} (alias \"{alias}\")", hit.title),
        None => hit.title.clone(),
    };
    let title = wrap(&sentence::plain(&title), columns, MAX_TITLE_LINES);
    let mut lines = Vec::new();
    if title.is_empty() {
        lines.push(line("", &number, |text| painter.paint(BOLD, text)));
    }
    for (at, words) in title.iter().enumerate() {
        let (indent, start) = if at == 0 {
            ("", number.as_str())
        } else {
            (INDENT, "")
        };
        let words = format!("{start}{}", sentence::text(words));
        lines.push(line(indent, &words, |text| painter.paint(BOLD, text)));
    }
    lines.push(place::line(hit, layout));
    for words in wrap(&sentence::marked(hit), layout.columns(), MAX_SNIPPET_LINES) {
        let plain = sentence::text(&words);
        lines.push(line(INDENT, &plain, |_| sentence::painted(&words, painter)));
    }
    let corrected = hit.corrects.iter();
    let corrected = corrected.map(|one| escaped(&one.to_string()).into_owned());
    let copies = place::copies(&hit.also_in, layout);
    let resume = hit.turn.as_ref().and_then(|turn| turn.resume.as_ref());
    let resume = resume.map(|command| format!("resume: {}", escaped(command)));
    let explained = hit.explanation.iter();
    let explained = explained.flat_map(|found| explanation::lines(hit, found));
    let facts = corrected.chain(copies).chain(resume).chain(explained);
    for fact in facts {
        lines.push(line(INDENT, &fact, |text| painter.paint(DIM, text)));
    }
    lines
}
