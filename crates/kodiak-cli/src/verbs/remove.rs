//! `kodiak remove`: removes a source from the config and the index. Its files
//! stay.

use kodiak::Error;
use kodiak::access::Guard;
use kodiak::engine::{Event, Job};

use super::Outcome;
use crate::arguments::RemoveArguments;
use crate::assemble::Purpose;
use crate::config::{Kind, edit};
use crate::context::Context;
use crate::failure::refusal;
use crate::listener::{Listener, Summaries};
use crate::output::phrases::{counted, size};
use crate::pages;
use crate::sessions;
use crate::visits;

pub(super) fn run(arguments: &RemoveArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let Some(name) = &arguments.name else {
        return remove_visits(context);
    };
    let config = context.config()?;
    let engine = context.engine(&config, Purpose::of("remove"))?;
    let mut known = config.names();
    // A source that a person deleted from the config may still be in the index.
    let indexed = match engine.view(&Guard::local()).indexed_sources() {
        Ok(indexed) => indexed,
        Err(Error::NoIndex { .. }) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    known.extend(indexed.iter().map(|source| source.name.clone()));
    // So may be one that only an unfinished erasing knows.
    let waiting = engine.eraser(&Guard::local()).waiting()?;
    known.extend(waiting.iter().map(|waiting| waiting.source.clone()));
    if !known.contains(name) {
        known.sort();
        known.dedup();
        let name = name.clone();
        return Err(Error::UnknownSource { name, known }.into());
    }
    if let Some(server) = config
        .source(name)
        .and_then(|source| source.server.as_ref())
    {
        return Err(refusal(
            format!(
                "'{name}' is kept in the index itself: {}",
                server.shown().display()
            ),
            "move what is in it to the trash with `kodiak forget` or `kodiak page delete`",
        ));
    }
    // Afterwards its files are out of reach.
    pages::finish_erasing(context.output, &engine)?;
    let _lock = edit::lock(&context.config_path, "remove")?;
    edit::remove_source(&context.config_path, name)?;
    // Does not create an index just to remove a source from it.
    let is_waited_for = waiting.iter().any(|waiting| waiting.source == *name);
    if is_waited_for || indexed.iter().any(|source| source.name == *name) {
        let listener = Listener::new(context.output, Summaries::Changes);
        let event = |event: Event<'_>| listener.event(event);
        let forgotten = engine.forget_source(&Guard::local(), name, &Job::new(&event));
        listener.end();
        forgotten?;
    }
    context
        .output
        .notice(&format!("removed '{name}'; its files were not touched"));
    if let Some(source) = config.source(name)
        && source.kind == Kind::Transcripts
        && let Ok((sessions @ 1.., bytes)) = sessions::kept(&config, source)
    {
        context.output.notice(&format!(
            "the copies of {} ({}) stay in {}; `kodiak add --transcripts` finds them again",
            counted(sessions as u64, "session"),
            size(bytes),
            config.kept_transcripts().join(name).display()
        ));
    }
    Ok(Outcome::Done)
}

/// Removes the indexes of visited folders.
fn remove_visits(context: &Context<'_>) -> anyhow::Result<Outcome> {
    context.output.notice(&match visits::remove_all()? {
        Some(usage) => format!(
            "removed the indexes of {} ({}); their files were not touched",
            counted(usage.folders as u64, "visited folder"),
            size(usage.bytes)
        ),
        None => "there are no visits".to_owned(),
    });
    Ok(Outcome::Done)
}
