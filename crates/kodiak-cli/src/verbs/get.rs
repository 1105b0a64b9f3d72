//! `kodiak get`: prints a note, or some of its lines, as it is indexed. If the file
//! has changed, the engine brings the index up to date first.

use std::fmt::Write;

use kodiak::access::Guard;
use kodiak::search::{Card, Corrected, Found, Freshness};
use kodiak::{Engine, Error, Reference};
use kodiak_memory::{Memories, Observation, Observations};
use serde::Serialize;

use super::Outcome;
use super::turns::Around;
use crate::arguments::GetArguments;
use crate::assemble::Purpose;
use crate::config::Config;
use crate::context::{Context, explain_missing_index};
use crate::failure::refusal;
use crate::opened;
use crate::output::Output;
use crate::output::escape::{escaped, escaped_lines};
use crate::output::link::Linked;
use crate::output::phrases::counted;
use crate::output::style::DIM;
use crate::paths;
use crate::places::{Places, Reader};
use crate::visits::{self, Knowing};

/// A note as `--json` prints it.
#[derive(Debug, Serialize)]
struct Note<'a> {
    #[serde(flatten)]
    card: Card,
    lines: [usize; 2],
    line_count: usize,
    text: &'a str,
    #[serde(flatten)]
    around: Around,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    corrects: Vec<Corrected>,
}

pub(super) fn run(arguments: &GetArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    if !arguments.more.is_empty() {
        return several(arguments, context);
    }
    let (config, engine) = visits::knowing(context, Purpose::of("get"), &arguments.reference)?;
    let found = find(&engine, &config, &arguments.reference)?;
    let output = context.output;
    if output.on_terminal && !arguments.json {
        opened::record(
            &engine,
            &config,
            &found.document.source,
            &found.document.key,
        );
    }
    tell_of_lines(&found, output);
    let around = Around::read(&engine, &found, arguments.context)?;
    let corrects = Memories::new(&engine).corrected(&Guard::local(), &found.document)?;
    if arguments.json {
        let note = note(&found, &Places::new(&config), around, corrects);
        output.json(&note)?;
        return Ok(Outcome::Done);
    }
    for corrected in &corrects {
        output.notice(&corrected.to_string());
    }
    match found.freshness {
        Freshness::Gone => output.notice("the file is gone: this is the indexed text"),
        Freshness::Changed => {
            output.notice("the file has changed since: this is the indexed text");
        }
        Freshness::Unknown => {
            output.notice("the file cannot be read right now: this is the indexed text");
        }
        Freshness::Same => {}
    }
    around.tell(output);
    let text = printed(&found, arguments.line_numbers, output);
    output.answer(&around.surround(&found, &text, output))?;
    Ok(Outcome::Done)
}

/// The results of looking up several names.
#[derive(Default)]
struct Several {
    /// The notes, by the places of their names on the command line, with the names that are
    /// shown for them.
    found: Vec<(usize, Observation, Linked)>,
    /// The errors for names that lead nowhere or to several notes, by their places.
    errors: Vec<(usize, anyhow::Error)>,
    rest: Observations,
}

impl Several {
    /// Looks the names up that one engine knows.
    fn look_up(
        &mut self,
        knowing: &Knowing,
        typed: &[&String],
        output: &Output,
    ) -> anyhow::Result<()> {
        let Knowing { config, engine, .. } = knowing;
        let mut uids: Vec<String> = Vec::new();
        let mut places: Vec<usize> = Vec::new();
        for &place in &knowing.names {
            let typed = typed[place];
            let found = match locate(&Guard::local(), engine, typed) {
                Ok(found) => found,
                Err(error @ Error::Ambiguous { .. }) => {
                    self.rest.ambiguous.push(typed.clone());
                    self.errors.push((place, error.into()));
                    continue;
                }
                Err(error @ (Error::NoDocument { .. } | Error::BadRange { .. })) => {
                    self.rest.missing.push(typed.clone());
                    self.errors.push((place, error.into()));
                    continue;
                }
                Err(error) => return Err(explain_missing_index(error, config)),
            };
            match within(found) {
                Ok(found) => {
                    tell_of_lines(&found, output);
                    uids.push(unique_name(&found));
                    places.push(place);
                }
                Err(error) => {
                    self.rest.missing.push(typed.clone());
                    self.errors.push((place, error));
                }
            }
        }
        if uids.is_empty() {
            return Ok(());
        }
        let read = Memories::new(engine).observations(&Guard::local(), &uids)?;
        let names = Places::new(config);
        // A note that was typed twice is read once.
        let mut first: Vec<(&String, usize)> = Vec::new();
        for (uid, place) in uids.iter().zip(places) {
            if !first.iter().any(|(known, _)| *known == uid) {
                first.push((uid, place));
            }
        }
        for (one, (_, place)) in read.observations.into_iter().zip(first) {
            let name = names.linked_at(&one.source, &one.path);
            self.found.push((place, one, name));
        }
        self.rest.tokens += read.tokens;
        self.rest.missing.extend(read.missing);
        self.rest.ambiguous.extend(read.ambiguous);
        self.rest.beyond_end.extend(read.beyond_end);
        if self.rest.completeness.is_complete() {
            self.rest.completeness = read.completeness;
        }
        Ok(())
    }
}

/// Prints several notes in the order of their names. Each is named as a single one is, so
/// that notes of visited folders stand beside others.
fn several(arguments: &GetArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let output = context.output;
    let first = std::iter::once(&arguments.reference);
    let typed: Vec<&String> = first.chain(&arguments.more).collect();
    let mut several = Several::default();
    for knowing in visits::knowing_all(context, Purpose::of("get"), &typed)? {
        several.look_up(&knowing, &typed, output)?;
    }
    several.found.sort_by_key(|(place, ..)| *place);
    if arguments.json {
        let notes = several.found.iter().map(|(_, one, _)| one.clone());
        let all = Observations {
            observations: notes.collect(),
            ..several.rest.clone()
        };
        output.json(&all)?;
    } else {
        let mut text = String::new();
        for (number, (_, one, name)) in several.found.iter().enumerate() {
            let gap = if number == 0 { "" } else { "\n" };
            let lines = one.lines.map(|[from, to]| format!(":{from}-{to}"));
            let lines = lines.unwrap_or_default();
            let mut rest = String::new();
            for corrected in &one.corrects {
                let _ = write!(rest, " ({corrected})");
            }
            let head = match output.reader() {
                Reader::Person => {
                    let shown = format!("{}{lines}", name.text);
                    let name = name.clone().shown_as(shown);
                    let rest = escaped(&format!("  {}{rest}", one.id)).into_owned();
                    let painter = output.painter();
                    name.dimmed(painter, output.links()) + &painter.paint(DIM, &rest)
                }
                Reader::Program => {
                    let head = format!("{} {}/{}{lines}{rest}", one.id, one.source, one.path);
                    output.painter().paint(DIM, &escaped(&head))
                }
            };
            let _ = writeln!(text, "{gap}{head}\n{}", escaped_lines(one.text.trim_end()));
        }
        output.answer(&text)?;
        if output.says_everything() {
            let tokens = counted(several.rest.tokens as u64, "token");
            output.notice(&format!("about {tokens}"));
        }
    }
    several.errors.sort_by_key(|(place, _)| *place);
    for (_, error) in &several.errors {
        output.partial_failure(error);
    }
    // A name that leads nowhere is an error, like that of a single note.
    let rest = &several.rest;
    let is_whole = rest.missing.is_empty() && rest.ambiguous.is_empty();
    Ok(if is_whole {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}

/// Returns the id of a note that was found, with the lines that were asked for.
fn unique_name(found: &Found) -> String {
    let uid = &found.document.uid;
    match found.asked {
        Some(_) => format!("{uid}:{}-{}", found.lines.from, found.lines.to),
        None => uid.clone(),
    }
}

/// Finds the note that was typed: an existing file, or a name as the engine reads it.
pub(super) fn find(engine: &Engine, config: &Config, typed: &str) -> anyhow::Result<Found> {
    find_within(&Guard::local(), engine, config, typed)
}

/// Finds the note among those that the guard admits.
pub(crate) fn find_within(
    guard: &Guard,
    engine: &Engine,
    config: &Config,
    typed: &str,
) -> anyhow::Result<Found> {
    let found = locate(guard, engine, typed);
    within(found.map_err(|error| explain_missing_index(error, config))?)
}

/// Finds the note among those that the guard admits, also if its lines are beyond its
/// end.
fn locate(guard: &Guard, engine: &Engine, typed: &str) -> kodiak::Result<Found> {
    let parsed: kodiak::Result<Reference> = typed.parse();
    let whole = Reference::whole(typed);
    for reference in parsed.iter().chain([&whole]).filter_map(as_file) {
        match engine.get(guard, &reference) {
            Err(Error::NoDocument { .. }) => {}
            found => return found,
        }
    }
    engine.view(guard).find(typed)
}

/// Returns a reference by unique id to the note that was typed, found by any of
/// its readings, with the lines that were typed.
pub(super) fn reference(
    engine: &Engine,
    config: &Config,
    typed: &str,
) -> anyhow::Result<Reference> {
    let found = find(engine, config, typed)?;
    Ok(Reference {
        target: found.document.uid,
        lines: found.asked,
    })
}

/// Returns a name as the engine reads it: an existing file by its absolute path, anything else
/// as it was typed.
pub(super) fn name(typed: &str) -> String {
    let file = as_file(&Reference::whole(typed));
    file.map_or_else(|| typed.to_owned(), |file| file.target)
}

/// Returns the reference with an absolute path, if it names an existing file, or one in
/// the home folder that need not exist.
fn as_file(reference: &Reference) -> Option<Reference> {
    let typed = &reference.target;
    // The shell does not expand a tilde in quotes.
    let path = paths::expanded(typed);
    let file = match path.canonicalize() {
        Ok(file) if file.is_file() => file,
        // It may be gone and indexed.
        Err(_) if typed.starts_with("~/") => path,
        _ => return None,
    };
    Some(Reference {
        target: file.to_str()?.to_owned(),
        lines: reference.lines,
    })
}

/// Says that some of the lines that were asked for are beyond the end.
fn tell_of_lines(found: &Found, output: &Output) {
    if let Some(notice) = found.lines_beyond_end() {
        let document = &found.document;
        let name = escaped(&format!("{}/{}", document.source, document.key)).into_owned();
        output.notice(&format!("{name}: {notice}"));
    }
}

/// Returns the found lines. Fails if they lie beyond the end of the note.
fn within(found: Found) -> anyhow::Result<Found> {
    match found.asked {
        Some(lines) if lines.from > found.line_count => Err(beyond(&found, lines.from)),
        _ => Ok(found),
    }
}

fn beyond(found: &Found, from: usize) -> anyhow::Error {
    let document = &found.document;
    let lines = counted(found.line_count as u64, "line");
    refusal(
        format!(
            "line {from} is beyond the end of {}/{}, which has {lines}",
            document.source, document.key
        ),
        match found.line_count {
            0 => String::new(),
            last => format!("choose lines from 1 to {last}"),
        },
    )
}

fn note<'a>(
    found: &'a Found,
    places: &Places,
    around: Around,
    corrects: Vec<Corrected>,
) -> Note<'a> {
    let document = &found.document;
    let file = places.file_at(&document.source, &found.entry);
    Note {
        card: Card {
            file: file.map(|file| file.to_string_lossy().into_owned()),
            ..Card::from(document)
        },
        lines: [found.lines.from, found.lines.to],
        line_count: found.line_count,
        text: &found.text,
        around,
        corrects,
    }
}

/// Renders the text, byte for byte if it goes to a program. On a terminal,
/// control characters are escaped and the text ends with a line break.
fn printed(found: &Found, line_numbers: bool, output: &Output) -> String {
    let text = if output.on_terminal {
        escaped_lines(&found.text)
    } else {
        found.text.as_str().into()
    };
    let mut printed = String::with_capacity(text.len());
    if line_numbers {
        let width = found.lines.to.to_string().len();
        for (line, number) in text.split_inclusive('\n').zip(found.lines.from..) {
            let number = output.painter().paint(DIM, &format!("{number:>width$}"));
            let gap = if line.trim_end().is_empty() { "" } else { "  " };
            let _ = write!(printed, "{number}{gap}{line}");
        }
    } else {
        printed.push_str(&text);
    }
    if output.on_terminal && !printed.is_empty() && !printed.ends_with('\n') {
        printed.push('\n');
    }
    printed
}
