//! `kodiak mcp install`: enters Kodiak into the list of servers of a client, and into its
//! hooks, or prints the entries.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::super::Outcome;
use crate::arguments::{Arguments, InstallClientArguments};
use crate::clients::{self, Client, Edit, Entry, Saved, Surroundings};
use crate::context::Context;
use crate::failure::refusal;
use crate::paths;

/// The name of this program.
const PROGRAM: &str = "kodiak";

pub(super) fn run(
    arguments: &InstallClientArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let Some(client) = arguments.client else {
        return every_client(arguments, context);
    };
    if arguments.hooks && !client.has_hooks() {
        return Err(refusal(
            format!("Kodiak has no hook for {}", client.name()),
            "omit --hooks; there are hooks for Claude Code and Codex",
        ));
    }
    one_client(client, arguments.hooks, arguments, context)?;
    Ok(Outcome::Done)
}

/// Configures every client that was used on this machine.
fn every_client(
    arguments: &InstallClientArguments,
    context: &Context<'_>,
) -> anyhow::Result<Outcome> {
    let home = home()?;
    let around = around(&home);
    let clients = Client::value_variants().iter().copied();
    let found: Vec<Client> = clients
        .filter(|client| clients::is_there(*client, &around))
        .collect();
    if found.is_empty() {
        context.output.notice("no client was found");
        return Ok(Outcome::Nothing);
    }
    let mut outcome = Outcome::Done;
    for client in found {
        // The file of one client says nothing about those of the others.
        if let Err(error) = one_client(client, client.has_hooks(), arguments, context) {
            context.output.failure(&error);
            outcome = Outcome::Incomplete;
        }
    }
    Ok(outcome)
}

/// Configures a client, or prints the entries for its files.
fn one_client(
    client: Client,
    hooks: bool,
    arguments: &InstallClientArguments,
    context: &Context<'_>,
) -> anyhow::Result<()> {
    let entry = entry(arguments, context)?;
    let path = file(client, arguments.file.as_deref())?;
    let hook = match hooks_file(client)?.filter(|_| hooks) {
        Some(path) => Some((path, hook_command(context)?)),
        None => None,
    };
    let output = context.output;
    if !arguments.write {
        let text = client.merged("", &entry).map_err(anyhow::Error::msg)?;
        print(client, &path, &text, context)?;
        if let Some((path, command)) = &hook {
            let text = clients::with_hook("", command).map_err(anyhow::Error::msg)?;
            print(client, path, &text, context)?;
        }
        return Ok(());
    }
    enter(client, &path, Edit::Server(&entry), context)?;
    if let Some((path, command)) = &hook {
        enter(client, path, Edit::Hook(command), context)?;
    }
    let review = match client {
        Client::Codex if hook.is_some() => " It asks you to review the hook: see /hooks there.",
        _ => "",
    };
    output.notice(&format!("Restart {} to use it.{review}", client.name()));
    Ok(())
}

fn print(client: Client, path: &Path, text: &str, context: &Context<'_>) -> anyhow::Result<()> {
    context.output.answer(text)?;
    context.output.notice(&format!(
        "Add this to {} for {}, or run this command again with --write.",
        path.display(),
        client.name()
    ));
    Ok(())
}

fn enter(client: Client, path: &Path, edit: Edit<'_>, context: &Context<'_>) -> anyhow::Result<()> {
    let shown = path.display();
    context
        .output
        .notice(&match clients::save(client, path, edit)? {
            Saved::Same => format!("{shown} already has it"),
            Saved::Created => format!("wrote {shown}"),
            Saved::Replaced(copy) => {
                format!("wrote {shown}; the previous version is {}", copy.display())
            }
        });
    Ok(())
}

/// Returns the file to enter the server into.
pub(super) fn file(client: Client, asked: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(path) = asked {
        return Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    }
    Ok(clients::file(client, &around(&home()?)))
}

/// Returns the file to enter the hook into, if the client has one.
pub(super) fn hooks_file(client: Client) -> anyhow::Result<Option<PathBuf>> {
    Ok(clients::hooks_file(client, &around(&home()?)))
}

fn home() -> anyhow::Result<PathBuf> {
    paths::home().ok_or_else(|| {
        refusal(
            "the home folder is not known",
            "set HOME, or name the file with --file PATH",
        )
    })
}

fn around(home: &Path) -> Surroundings<'_> {
    Surroundings {
        system: std::env::consts::OS,
        home,
        variable: |name| std::env::var_os(name),
    }
}

/// Returns the command by which a shell runs the hook as this program was run.
fn hook_command(context: &Context<'_>) -> anyhow::Result<String> {
    let mut words: Vec<String> = Vec::new();
    if cfg!(unix) {
        let variables = paths::variables_for_others().into_iter();
        words.extend(variables.map(|(name, value)| format!("{name}={}", shell_word(&value))));
    }
    words.push(shell_word(&utf8(&program()?)?));
    words.push("hook".to_owned());
    let options = context.repeated()?;
    words.extend(options.iter().map(|option| shell_word(option)));
    Ok(words.join(" "))
}

/// Returns a word as a shell reads it.
fn shell_word(word: &str) -> String {
    let plain = |sign: char| sign.is_alphanumeric() || "-_./:=+@%,\\".contains(sign);
    let plain = |sign: char| plain(sign) && (sign != '\\' || cfg!(windows));
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_words_of_a_command() {
        for (word, expected) in [
            ("/bin/kodiak", "/bin/kodiak"),
            ("/my notes/it's", "'/my notes/it'\\''s'"),
            ("$HOME", "'$HOME'"),
            ("a\\b", "'a\\b'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
        }
    }
}
