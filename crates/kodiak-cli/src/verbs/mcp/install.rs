//! `kodiak mcp install`: enters Kodiak into the list of servers of a client, or
//! prints what to enter.

use std::path::{Path, PathBuf};

use super::super::Outcome;
use crate::arguments::{Arguments, InstallClientArguments};
use crate::clients::{self, Entry, Saved, Surroundings};
use crate::context::Context;
use crate::failure::refusal;
use crate::paths;

/// The name of this program.
const PROGRAM: &str = "kodiak";

pub(super) fn run(
    arguments: &InstallClientArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let client = arguments.client;
    let entry = entry(arguments, context)?;
    let path = file(arguments)?;
    let output = context.output;
    if !arguments.write {
        let text = client.merged("", &entry).map_err(anyhow::Error::msg)?;
        output.answer(&text)?;
        output.notice(&format!(
            "For {}, in {}. With --write, this command enters it there.",
            client.name(),
            path.display()
        ));
        return Ok(Outcome::Done);
    }
    let shown = path.display();
    output.notice(&match clients::save(client, &path, &entry)? {
        Saved::Same => format!("{shown} has it already"),
        Saved::Created => format!("wrote {shown}"),
        Saved::Replaced(copy) => {
            format!("wrote {shown}; the file before is {}", copy.display())
        }
    });
    output.notice(&format!("Restart {} to use it.", client.name()));
    Ok(Outcome::Done)
}

/// Returns the file to enter the server into.
fn file(arguments: &InstallClientArguments) -> anyhow::Result<PathBuf> {
    if let Some(path) = &arguments.file {
        return Ok(std::path::absolute(path).unwrap_or_else(|_| path.clone()));
    }
    let unknown = || {
        refusal(
            "the home folder is not known",
            "set HOME, or name the file with --file PATH",
        )
    };
    let home = paths::home().ok_or_else(unknown)?;
    let around = Surroundings {
        system: std::env::consts::OS,
        home: &home,
        variable: |name| std::env::var_os(name),
    };
    Ok(clients::file(arguments.client, &around))
}

/// Returns how the client has to start this program.
fn entry(arguments: &InstallClientArguments, context: &Context<'_>) -> anyhow::Result<Entry> {
    let mut line = vec!["mcp".to_owned()];
    line.extend(context.repeated()?);
    line.extend(arguments.options.iter().cloned());
    check(&line)?;
    let name = arguments.name.trim();
    if name.is_empty() {
        return Err(refusal("the server needs a name", "leave out --name"));
    }
    Ok(Entry {
        name: name.to_owned(),
        command: utf8(&program()?)?,
        arguments: line,
        variables: paths::variables_for_others(),
    })
}

/// Fails if the server would not start with these arguments, which would show
/// only in the client.
fn check(line: &[String]) -> anyhow::Result<()> {
    let whole = [PROGRAM].into_iter().chain(line.iter().map(String::as_str));
    match Arguments::parse_line(whole.map(Into::into).collect()) {
        Ok(_) => Ok(()),
        Err(error) => {
            let message = error.render().to_string();
            let message = message.lines().next().unwrap_or_default();
            Err(refusal(
                message.trim_start_matches("error: ").to_owned(),
                "`kodiak mcp --help` lists the options",
            ))
        }
    }
}

/// Returns the path of this program. The one that a shell finds is preferred if
/// it leads here: it stays when another version is installed.
fn program() -> anyhow::Result<PathBuf> {
    let this = std::env::current_exe().map_err(|error| {
        refusal(
            format!("the path of this program is not known: {error}"),
            "enter the server by hand",
        )
    })?;
    let same = |one: &Path| one.canonicalize().ok() == this.canonicalize().ok();
    let found = paths::program_on_path(PROGRAM).filter(|found| same(found));
    Ok(found.unwrap_or(this))
}

fn utf8(path: &Path) -> anyhow::Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        refusal(
            format!("the path {} is not valid UTF-8", path.display()),
            "enter the server by hand",
        )
    })
}
