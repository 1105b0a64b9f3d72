//! Reading one session: from where it ended if it has only grown, and as a whole otherwise.
//! Turns that were read before and have disappeared stay.

use std::collections::HashSet;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::discover::{Found, Origin, with_database};
use super::keep::{Copy, FORMAT, Header};
use super::lines::{Lines, fingerprint, is_compressed};
use super::parser::LineFormat;
use super::turn::{Session, Turn};
use super::turns::{ResumePoint, Seen, Turns, hide_secrets};
use super::waiting::was_taken_up;
use super::{cursor, cursor_tabs, gemini, history, opencode, opencode_files};
use kodiak_base::Error;
use kodiak_base::files::state::FileState;
use kodiak_store::foreign::plain;
use kodiak_text::document::{Version, hex};

/// Why a session was not read.
#[derive(Debug)]
pub(super) enum Failure {
    /// It is not there any more.
    Gone,
    /// It cannot be read for now.
    Unavailable(String),
    /// Something else went wrong, such as writing the copy.
    Fatal(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Unavailable(plain(&error))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::Gone,
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// Reads a session. `kept` is the copy of an earlier reading.
pub(super) fn read(found: &Found, kept: Option<&Copy>, thinking: bool) -> Result<Copy, Failure> {
    let grown = kept.filter(|kept| has_only_grown(kept, found, thinking));
    let from = grown
        .map(|kept| kept.header.point.clone())
        .unwrap_or_default();
    let before = grown.map_or(&[][..], |kept| &kept.turns[..from.turns]);
    let gather = |read: &mut dyn FnMut(&mut Turns<'_>) -> Result<(), Failure>| {
        let mut turns = before.to_vec();
        let mut emit = |turn| turns.push(turn);
        let mut collected = Turns::new(&from, thinking, &mut emit);
        read(&mut collected)?;
        describe(&mut collected.context.session, found);
        let left_over = collected.context.left_over.clone();
        let point = collected.finish();
        Ok((turns, left_over, point))
    };
    let path = found.origin.path();
    let (mut turns, left_over, mut point) = match &found.origin {
        Origin::Lines(_, format) => gather(&mut |turns| lines(path, *format, found, turns))?,
        Origin::Gemini(_) => gather(&mut |turns| Ok(gemini::read(path, turns)?))?,
        Origin::OpenCode(_, id) => database(path, |connection| {
            gather(&mut |turns| Ok(opencode::read(connection, id, turns)?))
        })?,
        Origin::Cursor(_, id) => database(path, |connection| {
            gather(&mut |turns| Ok(cursor::read(connection, id, turns)?))
        })?,
        Origin::CursorTab(_, id) => {
            let folder = cursor_tabs::workspace(path);
            database(path, |connection| {
                gather(&mut |turns| {
                    turns.context.around.cwd.clone_from(&folder);
                    Ok(cursor_tabs::read(connection, id, turns)?)
                })
            })?
        }
        Origin::OpenCodeFiles(storage, file) => {
            gather(&mut |turns| Ok(opencode_files::read(storage, file, turns)?))?
        }
        Origin::History(path, prompts) => {
            gather(&mut |turns| Ok(history::read(path, prompts, turns)?))?
        }
    };
    if grown.is_none()
        && let Some(kept) = kept
        && !matches!(found.origin, Origin::Gemini(_))
    {
        restore_vanished(kept, &mut turns, &mut point);
    }
    let fingerprint = match &found.origin {
        Origin::Lines(_, format) if format.reads_on() && point.end > 0 => {
            fingerprint(path, point.end)
        }
        _ => None,
    };
    Ok(Copy {
        header: Header {
            format: FORMAT,
            agent: String::new(),
            session: point.context.session.clone(),
            untitled: false,
            modified: found.modified,
            thinking,
            left_over,
            fingerprint: fingerprint.map(|hash| hex(&hash)).unwrap_or_default(),
            point,
        },
        turns,
    })
}

/// Completes the description of a session with facts from its path.
fn describe(session: &mut Session, found: &Found) {
    if session.id.is_empty() {
        let name = found.key.rsplit('/').next().unwrap_or(&found.key);
        name.clone_into(&mut session.id);
    }
    if let Some(title) = &found.title {
        session.title = Some(title.clone());
    }
    if session.parent.is_none() {
        session.parent.clone_from(&found.parent);
    }
    // A subagent of Claude Code has the session of its parent, which is the one to
    // resume.
    if let (Origin::Lines(_, LineFormat::Claude), Some(parent)) = (&found.origin, &found.parent) {
        session.id.clone_from(parent);
    }
    hide_secrets(&mut session.id);
    let others = session.title.iter_mut().chain(&mut session.parent);
    others.for_each(hide_secrets);
}

/// Reports whether the original still begins with the part that was read.
fn has_only_grown(kept: &Copy, found: &Found, thinking: bool) -> bool {
    let header = &kept.header;
    let Origin::Lines(path, format) = &found.origin else {
        return false;
    };
    let same_way = header.format == FORMAT && header.thinking == thinking && format.reads_on();
    if !same_way || is_compressed(path) || header.fingerprint.is_empty() {
        return false;
    }
    header.point.turns <= kept.turns.len()
        && fingerprint(path, header.point.end)
            .map(|hash| hex(&hash))
            .as_ref()
            == Some(&header.fingerprint)
}

/// Puts the turns that are no longer in the original before those that are.
fn restore_vanished(kept: &Copy, turns: &mut Vec<Turn>, point: &mut ResumePoint) {
    let now: HashSet<&str> = turns.iter().map(|turn| turn.id.as_str()).collect();
    let vanished = kept
        .turns
        .iter()
        .filter(|turn| !now.contains(turn.id.as_str()) && !was_taken_up(turn, turns));
    let mut all: Vec<Turn> = vanished.cloned().collect();
    if all.is_empty() {
        return;
    }
    // Their positions come before those of the turns that are still there.
    let before = all.iter().map(|turn| turn.position + 1).max().unwrap_or(0);
    for turn in turns.iter_mut() {
        turn.position += before;
    }
    // The file is read as a whole again when it grows: the point knows nothing of
    // the turns that are put before.
    let session = point.context.session.clone();
    *point = ResumePoint::default();
    point.context.session = session;
    all.append(turns);
    *turns = all;
}

fn lines(
    path: &Path,
    format: LineFormat,
    found: &Found,
    turns: &mut Turns<'_>,
) -> Result<(), Failure> {
    let mut parser = format.parser(found.parent.is_some());
    let mut lines = Lines::open(path, turns.offset)?;
    while let Some(line) = lines.next()? {
        turns.offset = line.offset;
        if line.too_long {
            turns.count(Seen::Broken);
            continue;
        }
        if line.bytes.trim_ascii().is_empty() {
            continue;
        }
        match parser.line(line.bytes, turns) {
            // The agent may be writing it at this moment.
            Seen::Broken if !line.complete => turns.context.left_over.torn = true,
            seen => {
                turns.count(seen);
                turns.offset = line.end;
            }
        }
    }
    parser.end(turns);
    Ok(())
}

/// Reads from a database of another program.
fn database<T>(
    path: &Path,
    read: impl Fn(&rusqlite::Connection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if !path.exists() {
        return Err(Failure::Gone);
    }
    let done = with_database(path, |connection| Ok(read(connection)));
    done.map_err(Failure::Unavailable)?
}

/// Returns the version that a session has now, or `None` if it is gone. The version of a
/// session in a database is not known without opening it.
pub(super) fn version_now(found: &Found) -> Option<Version> {
    let metadata = fs::metadata(found.origin.path()).ok()?;
    match &found.origin {
        Origin::Lines(..) | Origin::Gemini(_) => {
            let state = FileState::of(&metadata);
            Some(if state.is_fresh() {
                Version::UNKNOWN
            } else {
                Version::of_file(&state, u64::MAX)
            })
        }
        _ => Some(found.version),
    }
}
