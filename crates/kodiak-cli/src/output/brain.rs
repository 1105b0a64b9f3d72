//! Renders sessions, lessons and quirks for people.

use std::fmt::Write;

use kodiak_sessions::{BrainHit, Group};

use super::escape::escaped;
use super::phrases::counted;
use super::style::{BOLD, DIM, Painter};
use super::wrap::{Marked, wrap};

/// The indentation of all lines of a session but its first.
const INDENT: &str = "   ";
/// The maximum number of columns of text.
const MAX_COLUMNS: usize = 100;
/// The maximum number of lines of one statement.
const MAX_LINES: usize = 4;
/// The maximum number of decisions and of lessons shown for a session.
const MAX_STATEMENTS: usize = 6;
/// The maximum number of sessions named for a lesson.
const MAX_SESSIONS: usize = 3;

/// Renders sessions with what they decided and learned below the heading, with a
/// blank line between them.
pub(crate) fn sessions(
    hits: &[BrainHit],
    heading: Option<&str>,
    painter: Painter,
    width: usize,
) -> String {
    let mut text = String::new();
    if let Some(heading) = heading {
        let _ = writeln!(text, "{}\n", painter.paint(DIM, &escaped(heading)));
    }
    for (number, found) in hits.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        let hit = &found.hit;
        titled(&mut text, number + 1, &hit.title, painter, width);
        let place = format!("{}/{}  {}", hit.source, found.session, hit.id);
        let facts = [
            hit.category.clone(),
            found.outcome.clone(),
            hit.created_at.as_deref().map(day),
            found
                .distance
                .map(|distance| format!("distance {distance:.2}")),
        ];
        let facts: Vec<String> = facts.into_iter().flatten().collect();
        let line = escaped(&format!("{place}  {}", facts.join(", "))).into_owned();
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, line.trim_end()));
        let decisions: Vec<String> = found
            .decisions
            .iter()
            .map(|decision| match decision.why.as_str() {
                "" => decision.what.clone(),
                why => format!("{} (why: {why})", decision.what),
            })
            .collect();
        listed(&mut text, "Decisions:", &decisions, painter, width);
        let lessons = found.lessons.iter().map(|lesson| lesson.summary.clone());
        let lessons: Vec<String> = lessons.collect();
        listed(&mut text, "Lessons:", &lessons, painter, width);
    }
    text
}

/// Renders groups of statements: each with the sessions that have it.
pub(crate) fn groups(groups: &[Group], painter: Painter, width: usize) -> String {
    let mut text = String::new();
    for (number, group) in groups.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        titled(&mut text, number + 1, &group.text, painter, width);
        let mut ids: Vec<&str> = Vec::new();
        for said in &group.said {
            if !ids.contains(&said.session.as_str()) {
                ids.push(&said.session);
            }
        }
        let more = ids.len().saturating_sub(MAX_SESSIONS);
        ids.truncate(MAX_SESSIONS);
        let mut line = counted(group.sessions as u64, "session");
        if !group.about.is_empty() {
            let _ = write!(line, "  [{}]", group.about.join(", "));
        }
        let _ = write!(line, "  {}", ids.join(", "));
        if more > 0 {
            let _ = write!(line, " and {more} more");
        }
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &escaped(&line)));
    }
    text
}

fn titled(text: &mut String, number: usize, title: &str, painter: Painter, width: usize) {
    let number = format!("{number}. ");
    for (at, line) in wrapped(title, width).into_iter().enumerate() {
        let line = if at == 0 {
            painter.paint(BOLD, &format!("{number}{line}"))
        } else {
            format!("{INDENT}{}", painter.paint(BOLD, &line))
        };
        let _ = writeln!(text, "{line}");
    }
}

fn listed(text: &mut String, heading: &str, items: &[String], painter: Painter, width: usize) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, heading));
    for item in items.iter().take(MAX_STATEMENTS) {
        for (at, line) in wrapped(item, width.saturating_sub(2))
            .into_iter()
            .enumerate()
        {
            let dash = if at == 0 { "- " } else { "  " };
            let _ = writeln!(text, "{INDENT}{dash}{line}");
        }
    }
    let more = items.len().saturating_sub(MAX_STATEMENTS);
    if more > 0 {
        let more = format!("{more} more: `kodiak get` prints all");
        let _ = writeln!(text, "{INDENT}{}", painter.paint(DIM, &more));
    }
}

/// Wraps a text behind the indentation.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let columns = width.saturating_sub(INDENT.len()).clamp(20, MAX_COLUMNS);
    let words: Vec<&str> = text.split_whitespace().collect();
    let marked: Vec<Marked> = escaped(&words.join(" "))
        .chars()
        .map(|character| (character, false))
        .collect();
    let lines = wrap(&marked, columns, MAX_LINES).into_iter();
    lines
        .map(|line| line.into_iter().map(|(character, _)| character).collect())
        .collect()
}

/// Returns the day of a moment.
fn day(moment: &str) -> String {
    moment.split('T').next().unwrap_or(moment).to_owned()
}
