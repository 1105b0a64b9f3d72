//! `kodiak mcp uninstall`: takes Kodiak out of the files of a client.

use std::path::Path;

use super::super::Outcome;
use super::install::{file, hooks_file};
use crate::arguments::UninstallClientArguments;
use crate::clients::{self, Client, Part, Removed};
use crate::context::Context;

pub(super) fn run(
    arguments: &UninstallClientArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let client = arguments.client;
    let server = Part::Server(client, arguments.name.trim());
    let path = file(client, arguments.file.as_deref())?;
    let mut found = take_out(client, &path, server, context)?;
    // A file that was named has one server; the hooks are those of the user.
    if arguments.file.is_none()
        && let Some(path) = hooks_file(client)?
    {
        found |= take_out(client, &path, Part::Hook, context)?;
    }
    if !found {
        let name = client.name();
        context
            .output
            .notice(&format!("Kodiak is not set up in {name}"));
    }
    Ok(Outcome::of_finding(found))
}

/// Takes something out of a file. Returns whether it was there.
fn take_out(
    client: Client,
    path: &Path,
    part: Part<'_>,
    context: &Context<'_>,
) -> anyhow::Result<bool> {
    let shown = path.display();
    let said = match clients::remove(client, path, part)? {
        Removed::Absent => return Ok(false),
        Removed::Changed => format!("removed Kodiak from {shown}"),
        Removed::Deleted => format!("removed {shown}, which had nothing else"),
    };
    context.output.notice(&said);
    Ok(true)
}
