//! Renders sessions, lessons and quirks for people.

use std::fmt::Write;

use kodiak::Timestamp;
use kodiak_sessions::{BrainHit, Group, Statement};
use unicode_width::UnicodeWidthStr;

use super::escape::escaped;
use super::fit::{self, Entry, Line, Room, line};
use super::link::Linked;
use super::phrases::{counted, relative};
use super::style::{BOLD, DIM, Painter};
use super::wrap::{Marked, wrap};
use crate::places::Places;

/// The indentation of all lines of a session but its first.
const INDENT: &str = "   ";
/// The maximum number of columns of text.
const MAX_COLUMNS: usize = 100;
/// The fewest columns of a title on a line with a place.
const MIN_TITLE: usize = 20;
/// The maximum number of lines of one statement.
const MAX_LINES: usize = 4;
/// The maximum number of decisions and of lessons shown for a session.
const MAX_STATEMENTS: usize = 6;
/// The maximum number of sessions named for a lesson.
const MAX_SESSIONS: usize = 3;

/// How sessions are laid out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout<'a> {
    pub(crate) painter: Painter,
    pub(crate) room: Room,
    /// Whether names are links to the files of records.
    pub(crate) links: bool,
    pub(crate) places: &'a Places,
    /// The time now, if moments are shown by how long ago they were.
    pub(crate) now: Option<Timestamp>,
}

impl Layout<'_> {
    /// Renders a name dimmed, as a link to the file of a record if that is known.
    fn name(&self, text: &str, source: &str, record: Option<&str>) -> String {
        let name = Linked {
            text: text.to_owned(),
            address: record.and_then(|record| self.places.address_inside(source, record)),
        };
        name.dimmed(self.painter, self.links)
    }

    /// Renders a moment.
    fn when(&self, moment: &str) -> String {
        match (kodiak::date::parse(moment), self.now) {
            (Some(at), Some(now)) => relative(at, now),
            _ => moment.get(..10).unwrap_or(moment).to_owned(),
        }
    }
}

/// Renders sessions with what they decided and learned below the heading, with a
/// blank line between those in full.
pub(crate) fn sessions(hits: &[BrainHit], heading: Option<&str>, layout: Layout<'_>) -> String {
    let Layout {
        painter, mut room, ..
    } = layout;
    let mut text = String::new();
    if let Some(heading) = heading {
        let heading = escaped(heading);
        let _ = writeln!(text, "{}\n", painter.paint(DIM, &heading));
        let taken = 1 + heading.width().div_ceil(room.columns.max(1));
        room.rows = room.rows.map(|rows| rows.saturating_sub(taken));
    }
    let entries: Vec<Entry> = (1..)
        .zip(hits)
        .map(|(number, found)| session(number, found, layout))
        .collect();
    text + &fit::render(&entries, room, |hidden| more(hidden, painter))
}

/// Renders a session in full and on one line.
fn session(number: usize, found: &BrainHit, layout: Layout<'_>) -> Entry {
    let (painter, width) = (layout.painter, layout.room.columns);
    let hit = &found.hit;
    let mut full = titled(number, &hit.title, painter, width);
    let place = format!("{}/{}", hit.source, found.session);
    let place = escaped(&place).into_owned();
    let link = |text: &str| layout.name(text, &hit.source, found.record.as_deref());
    let facts = [
        hit.category.clone(),
        found.outcome.clone(),
        hit.created_at.as_deref().map(|at| layout.when(at)),
        found
            .distance
            .map(|distance| format!("distance {distance:.2}")),
    ];
    let facts: Vec<String> = facts.into_iter().flatten().collect();
    let rest = format!("  {}  {}", hit.id, facts.join(", "));
    let rest = escaped(rest.trim_end()).into_owned();
    full.push(Line {
        columns: INDENT.len() + place.width() + rest.width(),
        text: format!("{INDENT}{}{}", link(&place), painter.paint(DIM, &rest)),
    });
    let decisions: Vec<String> = found
        .decisions
        .iter()
        .map(|decision| match decision.why.as_str() {
            "" => decision.what.clone(),
            why => format!("{} (why: {why})", decision.what),
        })
        .collect();
    full.extend(listed("Decisions:", &decisions, painter, width));
    let lessons = found.lessons.iter().map(|lesson| lesson.summary.clone());
    let lessons: Vec<String> = lessons.collect();
    full.extend(listed("Lessons:", &lessons, painter, width));
    Entry {
        heading: None,
        full,
        brief: brief(number, &hit.title, &place, layout, link),
    }
}

/// Renders groups of statements: each with the sessions that have it.
pub(crate) fn groups(groups: &[Group], layout: Layout<'_>) -> String {
    let Layout { painter, room, .. } = layout;
    let entries: Vec<Entry> = (1..)
        .zip(groups)
        .map(|(number, group)| statement(number, group, layout))
        .collect();
    fit::render(&entries, room, |hidden| more(hidden, painter))
}

/// Renders a group of statements in full and on one line.
fn statement(number: usize, group: &Group, layout: Layout<'_>) -> Entry {
    let (painter, width) = (layout.painter, layout.room.columns);
    let mut full = titled(number, &group.text, painter, width);
    let mut said: Vec<&Statement> = Vec::new();
    for one in &group.said {
        let is_known = |other: &&Statement| other.session == one.session;
        if !said.iter().any(is_known) {
            said.push(one);
        }
    }
    let others = said.len().saturating_sub(MAX_SESSIONS);
    said.truncate(MAX_SESSIONS);
    let sessions = counted(group.sessions as u64, "session");
    let mut facts = sessions.clone();
    if !group.about.is_empty() {
        let _ = write!(facts, "  [{}]", group.about.join(", "));
    }
    facts.push_str("  ");
    let facts = line(INDENT, &escaped(&facts), |text| painter.paint(DIM, text));
    let Line {
        mut text,
        mut columns,
    } = facts;
    let mut add = |shown: &str, painted: &str| {
        columns += shown.width();
        text.push_str(painted);
    };
    for (at, one) in said.iter().enumerate() {
        if at > 0 {
            add(", ", &painter.paint(DIM, ", "));
        }
        let id = escaped(&one.session);
        add(&id, &layout.name(&id, &one.source, one.record.as_deref()));
    }
    if others > 0 {
        let more = format!(" and {others} more");
        add(&more, &painter.paint(DIM, &more));
    }
    full.push(Line { text, columns });
    Entry {
        heading: None,
        full,
        brief: brief(number, &group.text, &sessions, layout, |text| {
            painter.paint(DIM, text)
        }),
    }
}

/// Renders a title and a place on one line: the title is cut to leave room for the place,
/// which `paint` renders.
fn brief(
    number: usize,
    title: &str,
    place: &str,
    layout: Layout<'_>,
    paint: impl FnOnce(&str) -> String,
) -> String {
    let (painter, width) = (layout.painter, layout.room.columns);
    let start = format!("{number}. ");
    let left = width.saturating_sub(start.len() + 2 + place.width());
    let title = wrap(&marked(title), left.max(MIN_TITLE), 1);
    let title: String = title.into_iter().flatten().map(|(it, _)| it).collect();
    let left = width.saturating_sub(start.len() + title.width() + 2);
    let place = wrap(&marked(place), left.max(2), 1);
    let place: String = place.into_iter().flatten().map(|(it, _)| it).collect();
    format!(
        "{}  {}",
        painter.paint(BOLD, &(start + &title)),
        paint(&place)
    )
}

/// Words how many have no room.
fn more(hidden: usize, painter: Painter) -> String {
    painter.paint(DIM, &format!("{hidden} more: --pager shows all"))
}

fn titled(number: usize, title: &str, painter: Painter, width: usize) -> Vec<Line> {
    let number = format!("{number}. ");
    let lines = wrapped(title, width).into_iter().enumerate();
    let lines = lines.map(|(at, text)| {
        let (indent, text) = if at == 0 {
            ("", format!("{number}{text}"))
        } else {
            (INDENT, text)
        };
        line(indent, &text, |text| painter.paint(BOLD, text))
    });
    lines.collect()
}

fn listed(heading: &str, items: &[String], painter: Painter, width: usize) -> Vec<Line> {
    if items.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![line(INDENT, heading, |text| painter.paint(DIM, text))];
    for item in items.iter().take(MAX_STATEMENTS) {
        let wrapped = wrapped(item, width.saturating_sub(2)).into_iter();
        for (at, text) in wrapped.enumerate() {
            let dash = if at == 0 { "- " } else { "  " };
            lines.push(line(INDENT, &format!("{dash}{text}"), str::to_owned));
        }
    }
    let more = items.len().saturating_sub(MAX_STATEMENTS);
    if more > 0 {
        let more = format!("{more} more: `kodiak get` prints all");
        lines.push(line(INDENT, &more, |text| painter.paint(DIM, text)));
    }
    lines
}

/// Wraps a text behind the indentation.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let columns = width.saturating_sub(INDENT.len()).clamp(20, MAX_COLUMNS);
    let lines = wrap(&marked(text), columns, MAX_LINES).into_iter();
    lines
        .map(|line| line.into_iter().map(|(character, _)| character).collect())
        .collect()
}

/// Returns a text on one line, without matches.
fn marked(text: &str) -> Vec<Marked> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = escaped(&words.join(" ")).into_owned();
    text.chars().map(|character| (character, false)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lessons_fit_the_window() {
        let lesson = |number: usize| Group {
            text: format!("Lesson {number}: broth needs time and salt comes late"),
            sessions: number,
            about: vec!["task".to_owned()],
            said: Vec::new(),
        };
        let lessons: Vec<Group> = (1..=6).map(lesson).collect();
        let shown = |rows| {
            let room = Room {
                rows: Some(rows),
                columns: 40,
            };
            let painter = Painter::new(false);
            let layout = Layout {
                painter,
                room,
                links: false,
                places: &Places::default(),
                now: None,
            };
            groups(&lessons, layout)
        };
        let text = shown(12);
        assert_eq!(text.lines().count(), 12, "{text}");
        assert!(
            text.starts_with("1. Lesson 1: broth needs time and salt\n"),
            "{text}"
        );
        assert!(
            text.ends_with("\n6. Lesson 6: broth needs…  6 sessions\n"),
            "{text}"
        );
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        let text = shown(3);
        assert!(text.ends_with("\n4 more: --pager shows all\n"), "{text}");
    }
}
