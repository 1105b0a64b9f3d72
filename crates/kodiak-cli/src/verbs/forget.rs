//! `kodiak forget`: moves memories to the trash, or erases them.
//!
//! [`query`] finds the memories that words other than a name mean.

mod query;

use kodiak::DocumentId;
use kodiak::access::Guard;
use kodiak_memory::Memories;

use super::{Outcome, get};
use crate::arguments::ForgetArguments;
use crate::context::Context;
use crate::output::escape::escaped;
use crate::output::phrases::counted;
use crate::pages::{Desk, finish_renaming, require_whole_names, work};
use crate::projects;
use crate::visits;

pub(super) fn run(arguments: &ForgetArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    if arguments.purge {
        // It finishes an interrupted erasing itself, and takes part in the result.
        let desk = Desk::for_reading(context, "forget")?;
        return purge(arguments, &desk, context);
    }
    let desk = Desk::for_writing(context, "forget")?;
    let output = context.output;
    let forget = |names: &[String]| {
        work(output, |job| {
            let guard = Guard::local();
            Ok(Memories::new(&desk.engine).forget(&guard, names, job)?)
        })
    };
    let names: Vec<String> = arguments.ids.iter().map(|name| get::name(name)).collect();
    require_whole_names(&desk.engine, &desk.config, &arguments.ids)?;
    let forgotten = match forget(&names) {
        Err(error) => match query::chosen(arguments, &names, &desk.engine, error, output)? {
            chosen if chosen.is_empty() => return Ok(Outcome::Nothing),
            chosen => forget(&chosen)?,
        },
        forgotten => forgotten?,
    };
    for one in &forgotten {
        let name = format!("{}/{}", one.source, one.key);
        let title = escaped(&one.title);
        output.notice(&if one.moved {
            format!("moved {name} to the trash: {title}")
        } else {
            format!("{name} is already in the trash: {title}")
        });
    }
    if let Some(history) = desk.engine.history() {
        let ids = forgotten.iter();
        let ids: Vec<String> = ids
            .map(|one| DocumentId::new(&one.source, &one.key).hex())
            .collect();
        history.retain(|id| Ok(!ids.iter().any(|forgotten| forgotten == id)))?;
    }
    if forgotten.iter().any(|one| !one.indexed) {
        output.warning("the index is not up to date yet; run `kodiak index` to update it");
    }
    Ok(Outcome::Done)
}

fn purge(
    arguments: &ForgetArguments,
    desk: &Desk,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let engine = &desk.engine;
    let memories = Memories::new(engine);
    let guard = memories.only_memories_and_sessions(&Guard::local());
    let project = arguments.project.as_deref();
    let project = project.map(|typed| projects::resolve_all(typed, engine));
    let project = project.transpose()?.unwrap_or_default();
    let output = context.output;
    finish_renaming(output, &desk.config, engine)?;
    require_whole_names(engine, &desk.config, &arguments.ids)?;
    let purge =
        |names: &[String]| work(output, |job| Ok(memories.purge_named(&guard, names, job)?));
    let named = match purge(&arguments.ids) {
        Ok(erased) => erased,
        Err(error) => match query::chosen(arguments, &arguments.ids, engine, error, output)? {
            chosen if chosen.is_empty() => return Ok(Outcome::Nothing),
            chosen => purge(&chosen)?,
        },
    };
    let erased = work(output, |job| {
        let mut erased = named;
        if let Some(session) = &arguments.session {
            erased += memories.purge_session(&guard, session, job)?;
        }
        for project in &project {
            erased += memories.purge_project(&guard, project, job)?;
        }
        Ok(erased)
    })?;
    if erased == 0 && !arguments.ids.is_empty() {
        // A folder may have been visited since that had the same text.
        visits::remove_all()?;
        // A name that leads nowhere is an error.
        output.notice("it has already been erased");
        return Ok(Outcome::Done);
    }
    if erased == 0 {
        output.notice("there was nothing to erase");
        return Ok(Outcome::Nothing);
    }
    output.notice(&format!("erased {}", counted(erased as u64, "document")));
    Ok(Outcome::Done)
}
