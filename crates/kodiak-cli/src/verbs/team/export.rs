//! `kodiak team export`: writes what a team keeps in its database as files.

use kodiak::Error;
use serde::Serialize;

use super::super::Outcome;
use crate::arguments::ExportArguments;
use crate::context::Context;
use crate::output::escape::escaped;
use crate::output::phrases::counted;

/// What came of a source, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Counts {
    source: String,
    written: usize,
    updated: usize,
    unchanged: usize,
    removed: usize,
    left: Vec<String>,
}

pub(super) fn run(arguments: &ExportArguments, context: &Context<'_>) -> anyhow::Result<Outcome> {
    let server = super::server(context)?;
    let known: Vec<String> = server.sources().into_iter().map(|one| one.name).collect();
    if let Some(name) = arguments.sources.iter().find(|name| !known.contains(name)) {
        let name = name.clone();
        return Err(Error::UnknownSource { name, known }.into());
    }
    let wanted = |name: &&String| arguments.sources.is_empty() || arguments.sources.contains(name);
    let mut all = Vec::new();
    for name in known.iter().filter(wanted) {
        let done = server.export(name, &arguments.folder)?;
        all.push(Counts {
            source: name.clone(),
            written: done.written,
            updated: done.updated,
            unchanged: done.unchanged,
            removed: done.removed,
            left: done.left,
        });
    }
    let output = context.output;
    if arguments.json {
        output.json(&all)?;
    } else {
        for done in &all {
            output.answer(&format!(
                "{}: {}, {} updated, {} unchanged, {} removed\n",
                done.source,
                counted(done.written as u64, "new file"),
                done.updated,
                done.unchanged,
                done.removed
            ))?;
        }
    }
    let left = all
        .iter()
        .flat_map(|done| done.left.iter().map(|path| (&done.source, path)));
    let mut is_complete = true;
    for (source, path) in left {
        output.warning(&format!(
            "{} was left as it is: it was not written by an export, or was changed since",
            escaped(&format!("{source}/{path}"))
        ));
        is_complete = false;
    }
    Ok(if is_complete {
        Outcome::Done
    } else {
        Outcome::Incomplete
    })
}
