//! `kodiak tag`: lists tags, and changes them in notes that can be written to.

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::store::Filter;
use kodiak_notes::Notes;
use serde::Serialize;

use super::Outcome;
use crate::arguments::{ListTagsArguments, RenameTagArguments, TagNoteArguments, TagVerb};
use crate::context::Context;
use crate::output::escape::escaped;
use crate::output::table::{Step, Table};
use crate::pages::{self, Desk, report_renaming, work};
use crate::registry;

pub(super) fn run(verb: &TagVerb, context: &Context<'_>) -> anyhow::Result<Outcome> {
    match verb {
        TagVerb::List(arguments) => list(arguments, context),
        TagVerb::Add(arguments) => change(arguments, context, true),
        TagVerb::Remove(arguments) => change(arguments, context, false),
        TagVerb::Rename(arguments) => rename(arguments, context),
    }
}

/// A tag as `--json` prints it.
#[derive(Debug, Serialize)]
struct Listed {
    tag: String,
    documents: u64,
}

fn list(arguments: &ListTagsArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let desk = Desk::for_reading(context, "tag list")?;
    registry::named(&desk.config, &arguments.sources)?;
    let filter = Filter {
        sources: arguments.sources.clone(),
        ..Filter::default()
    };
    let tags = match Notes::new(&desk.engine).tags(&Guard::local(), &filter) {
        Err(Error::NoIndex { .. }) => Vec::new(),
        tags => tags?,
    };
    if arguments.json {
        let listed = tags.into_iter().map(|one| Listed {
            tag: one.tag,
            documents: one.documents,
        });
        let listed: Vec<_> = listed.collect();
        context.output.json(&listed)?;
        return Ok(Outcome::Done);
    }
    if tags.is_empty() {
        context.output.notice("no note has a tag");
        return Ok(Outcome::Done);
    }
    let mut table = Table::new(["tag", "notes"], &[Step::Cut("tag", 12)]);
    for one in &tags {
        table.push(vec![
            format!("#{}", escaped(&one.tag)),
            one.documents.to_string(),
        ]);
    }
    context.output.table(&table)?;
    Ok(Outcome::Done)
}

fn change(
    arguments: &TagNoteArguments,
    context: &Context<'_>,
    adds: bool,
) -> anyhow::Result<Outcome> {
    let verb = if adds { "tag add" } else { "tag remove" };
    let desk = Desk::for_writing(context, verb)?;
    let found = desk.find(context.output, &arguments.note)?;
    let (source, key, tags) = (&found.source, &found.key, &arguments.tags);
    let changed = work(context.output, |job| {
        let (engine, guard) = (&desk.engine, desk.writer_of(source));
        let change: (&[String], &[String]) = if adds { (tags, &[]) } else { (&[], tags) };
        Ok(Notes::new(engine).change_tags(&guard, source, key, change, job)?)
    })?;
    let named = if adds { &changed.added } else { tags };
    let tags: Vec<String> = named
        .iter()
        .map(|tag| format!("#{}", tag.trim().trim_matches('#')))
        .collect();
    let what = if adds { "has" } else { "no longer has" };
    let tags = tags.join(", ");
    context
        .output
        .notice(&format!("{source}/{key} {what} {tags}"));
    Desk::report_index(context.output, &changed.saved);
    Ok(Outcome::Done)
}

fn rename(arguments: &RenameTagArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    // Not resumed beforehand: if this is what was interrupted, it is finished and
    // not done twice.
    let desk = Desk::for_reading(context, "tag rename")?;
    pages::finish_erasing(context.output, &desk.engine)?;
    let done = work(context.output, |job| {
        let (from, to) = (&arguments.from, &arguments.to);
        Ok(Notes::new(&desk.engine).rename_tag(&Guard::local(), from, to, job)?)
    })?;
    let complete = report_renaming(context.output, &desk.config, &done);
    Ok(match (complete, done.files) {
        (false, _) => Outcome::Incomplete,
        (true, 0) => Outcome::Nothing,
        (true, _) => Outcome::Done,
    })
}
