//! `kodiak memory`: lists memories and articles, and restores forgotten ones.

use kodiak::access::Guard;
use kodiak::engine::Ask;
use kodiak::source::TrashedDocument;
use kodiak::store::shown_title;
use kodiak::{Engine, Error};
use kodiak_memory::{Memories, Restored, TimelineEntry, TimelineRequest};
use serde::Serialize;

use super::{Outcome, get};
use crate::arguments::{ListMemoriesArguments, MemoryVerb, RestoreMemoryArguments};
use crate::context::Context;
use crate::failure::refusal;
use crate::output::Output;
use crate::output::escape::escaped;
use crate::output::link::Linked;
use crate::output::phrases::ago;
use crate::output::table::{Step, Table};
use crate::pages::{Desk, work};
use crate::places::{Places, Reader};
use crate::projects;

/// The number of characters of a text without a title that are shown.
const MAX_SHOWN_CHARACTERS: usize = 100;
/// The steps that make the table narrower.
const STEPS: [Step; 4] = [
    Step::Cut("what", 20),
    Step::Drop("kind"),
    Step::Cut("name", 16),
    Step::Cut("what", 12),
];

pub(super) fn run(verb: &MemoryVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        MemoryVerb::List(arguments) if arguments.trash => list_trash(arguments, context),
        MemoryVerb::List(arguments) => list(arguments, context),
        MemoryVerb::Restore(arguments) => restore(arguments, context),
    }
}

fn list(arguments: &ListMemoriesArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_reading(context, "memory list")?;
    let entries = listed(arguments, &desk.engine)?;
    let output = context.output;
    if arguments.json {
        output.json(&entries)?;
        return Ok(Outcome::Done);
    }
    if entries.is_empty() {
        output.notice("no memories match");
        output.hint("run `kodiak remember TEXT` to write one");
        return Ok(Outcome::Done);
    }
    let now = kodiak::date::now();
    let mut table = Table::new(["id", "written", "kind", "what"], &STEPS);
    for entry in &entries {
        let written = kodiak::date::parse(entry.written_at());
        let mut what = escaped(named(&entry.title, &entry.summary)).into_owned();
        for corrected in &entry.corrects {
            what.push_str(&format!("  ({})", escaped(&corrected.to_string())));
        }
        if let Some(newer) = &entry.superseded_by {
            what.push_str(&format!("  (superseded by {newer})"));
        }
        table.push(vec![
            entry.id.clone(),
            written.map_or_else(String::new, |then| ago(then, now)),
            escaped(&entry.kind).into_owned(),
            what,
        ]);
    }
    output.table(&table)?;
    Ok(Outcome::Done)
}

/// Returns the title, or the summary in its place.
fn named<'a>(title: &'a str, summary: &'a str) -> &'a str {
    if title.is_empty() { summary } else { title }
}

/// Returns the memories that were asked for, the latest first.
fn listed(
    arguments: &ListMemoriesArguments,
    engine: &Engine,
) -> anyhow::Result<Vec<TimelineEntry>> {
    let guard = Guard::local();
    let memories = Memories::new(engine);
    let ask = Ask {
        kinds: arguments.kinds.clone(),
        projects: projects::typed(&arguments.projects),
        ..Ask::default()
    };
    let mut filter = ask.filter(engine.view(&guard))?;
    filter.sources = memories.all_memory_sources(&guard);
    if filter.sources.is_empty() {
        return Ok(Vec::new());
    }
    let request = TimelineRequest {
        filter,
        limit: arguments.limit as usize,
        refresh: true,
        ..TimelineRequest::default()
    };
    match memories.timeline(&guard, &request) {
        Err(Error::NoIndex { .. }) => Ok(Vec::new()),
        timeline => {
            let mut entries = timeline?.entries;
            entries.reverse();
            Ok(entries)
        }
    }
}

/// A memory in the trash as `--json` prints it.
#[derive(Debug, Serialize)]
struct ListedTrash {
    id: String,
    source: String,
    /// Its path in the trash.
    name: String,
    /// The name that it had, and has again once it is restored.
    path: String,
    kind: String,
    title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<String>,
}

fn list_trash(arguments: &ListMemoriesArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_reading(context, "memory list")?;
    let mut wanted = Vec::new();
    for typed in &arguments.projects {
        wanted.extend(projects::resolve_all(typed, &desk.engine)?);
    }
    let is_meant = |one: &TrashedDocument| {
        let document = &one.document;
        let mut kinds = arguments.kinds.iter();
        let kind = arguments.kinds.is_empty()
            || kinds.any(|kind| kind.eq_ignore_ascii_case(&document.kind));
        let project = document.project.as_ref();
        let of_project = arguments.projects.is_empty()
            || project.is_some_and(|project| wanted.contains(project));
        kind && of_project
    };
    let mut trash = Memories::new(&desk.engine).trash(&Guard::local())?;
    trash.retain(is_meant);
    trash.truncate(arguments.limit as usize);
    let output = context.output;
    let title = |one: &TrashedDocument| {
        let document = &one.document;
        let title = shown_title(&document.title, &document.body);
        kodiak::store::beginning(&title, MAX_SHOWN_CHARACTERS)
    };
    if arguments.json {
        let listed = trash.iter().map(|one| ListedTrash {
            id: one.id().hex(),
            source: one.document.source.clone(),
            name: one.file.name.clone(),
            path: one.document.key.clone(),
            kind: one.document.kind.clone(),
            title: title(one),
            project: one.document.project.clone(),
            deleted_at: one.file.deleted_at.map(kodiak::date::format),
        });
        let listed: Vec<_> = listed.collect();
        output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if trash.is_empty() {
        output.notice("the trash is empty");
        return Ok(Outcome::Done);
    }
    let now = kodiak::date::now();
    let mut table = Table::new(["name", "deleted", "kind", "what"], &STEPS);
    for one in &trash {
        table.push(vec![
            escaped(&one.document.key).into_owned(),
            one.file.deleted_at.map_or(String::new(), |at| ago(at, now)),
            escaped(&one.document.kind).into_owned(),
            escaped(&title(one)).into_owned(),
        ]);
    }
    output.table(&table)?;
    output.hint("`kodiak memory restore NAME` puts one back");
    Ok(Outcome::Done)
}

fn restore(arguments: &RestoreMemoryArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_writing(context, "memory restore")?;
    let name = arguments.name.trim();
    let restored = work(context.output, |job| {
        Ok(Memories::new(&desk.engine).restore(&Guard::local(), name, job)?)
    });
    let restored = restored.map_err(|error| match error.downcast_ref() {
        Some(Error::NoDocument { .. }) => refusal(
            format!("there is no memory '{name}' in the trash"),
            "run `kodiak memory list --trash` to list the trash",
        ),
        Some(Error::KeyTaken { key }) => refusal(
            format!("a memory '{key}' already exists and was not overwritten"),
            format!("run `kodiak get {key}` to see it"),
        ),
        _ => error,
    })?;
    let name = file_of(&desk, context.output, &restored);
    let after = format!(": {}", restored.title);
    context.output.notice_of("restored ", &name, &after);
    if !restored.indexed {
        let message = "the index is not up to date yet; run `kodiak index` to update it";
        context.output.warning(message);
    }
    Ok(Outcome::Done)
}

/// Returns the name of a restored memory: for a person the name of its file, which may
/// differ from the memory's.
fn file_of(desk: &Desk, output: &Output, restored: &Restored) -> Linked {
    let (source, key) = (&restored.source, &restored.key);
    let places = Places::new(&desk.config);
    let reader = output.reader_beside();
    let name = format!("{source}/{key}");
    let found = match reader {
        Reader::Person => get::find(&desk.engine, &desk.config, &name).ok(),
        Reader::Program => None,
    };
    match found.and_then(|found| places.file_at(source, &found.entry)) {
        Some(file) => places.told_file(&file, reader),
        None => places.told(source, key, reader),
    }
}
