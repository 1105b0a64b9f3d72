//! The help: the list of commands in groups, and the help of verbs without the options
//! that every verb accepts.
//!
//! The list is generated from the command, so it always matches the help of each verb.
//! The options for every verb would fill most of each page: `kodiak --help` has
//! them, and they work everywhere.

use std::fmt::Write;

use clap::error::ErrorKind;
use clap::{Arg, Command, CommandFactory};

use super::{Arguments, mcp};

/// The line of a verb's help in place of the options for every verb.
const ELSEWHERE: &str = "`kodiak --help` lists the options for every command.";

/// A group of commands.
struct Group {
    heading: &'static str,
    /// The commands that `kodiak --help` lists.
    first: &'static [&'static str],
    /// The commands that only `kodiak help --all` lists.
    more: &'static [&'static str],
}

/// The groups. A person needs those of the first one.
const GROUPS: [Group; 6] = [
    Group {
        heading: "Commands",
        first: &[
            "search", "get", "open", "similar", "add", "index", "status", "remember", "recall",
        ],
        more: &["pick", "links", "help"],
    },
    Group {
        heading: "Write",
        first: &["page", "tag"],
        more: &[],
    },
    Group {
        heading: "Memory",
        first: &["memory", "forget"],
        more: &["timeline"],
    },
    Group {
        heading: "Sessions",
        first: &["sessions"],
        more: &[],
    },
    Group {
        heading: "Agents",
        first: &["mcp", "serve"],
        more: &["hook", "token", "team"],
    },
    Group {
        heading: "Upkeep",
        first: &["remove", "model"],
        more: &["config", "doctor", "migrate", "completions", "eval"],
    },
];

/// Returns the command line of the program.
pub(crate) fn command() -> Command {
    let command = Arguments::command().mut_subcommand("mcp", mcp::with_http_hidden);
    let list = list(&command, false);
    with_list(with_short_help(command), &list)
}

/// Returns the help that lists every command.
pub(crate) fn all_commands() -> clap::builder::StyledStr {
    let command = Arguments::command();
    let list = list(&command, true);
    with_list(command, &list).render_help()
}

/// Returns the help of a command, such as `page new`; `None` if there is no such command.
pub(crate) fn described(path: &[String]) -> Option<clap::builder::StyledStr> {
    let line = path.iter().map(String::as_str);
    let line = ["kodiak"].into_iter().chain(line).chain(["--help"]);
    let shown = command().try_get_matches_from(line).err()?;
    (shown.kind() == ErrorKind::DisplayHelp).then(|| shown.render())
}

/// Returns the command with a list in place of the one that clap makes, which has no
/// groups.
fn with_list(command: Command, list: &str) -> Command {
    let usage = "kodiak [OPTIONS] <COMMAND>";
    command
        .mut_subcommands(|verb| verb.hide(true))
        .override_usage(usage)
        .help_template(format!(
            "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n\
             {{all-args}}{{after-help}}"
        ))
}

/// Renders the commands with their descriptions, in groups.
fn list(command: &Command, all: bool) -> String {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let named = |names: &[&'static str]| -> Vec<&Command> {
        let verbs = names.iter();
        verbs
            .filter_map(|name| command.find_subcommand(name))
            .collect()
    };
    let groups = GROUPS.map(|group| {
        let mut verbs = named(group.first);
        if all {
            verbs.extend(named(group.more));
        }
        (group.heading, verbs)
    });
    let verbs = groups.iter().flat_map(|(_, verbs)| verbs);
    let width = verbs.map(|verb| verb.get_name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for (heading, verbs) in groups.iter().filter(|(_, verbs)| !verbs.is_empty()) {
        let _ = writeln!(text, "{header}{heading}:{header:#}");
        for verb in verbs {
            let about = verb.get_about().map(ToString::to_string);
            let name = verb.get_name();
            let gap = width - name.len() + 2;
            let _ = writeln!(
                text,
                "  {literal}{name}{literal:#}{:gap$}{}",
                "",
                about.unwrap_or_default()
            );
        }
        text.push('\n');
    }
    if all {
        text.pop();
    } else {
        text.push_str("`kodiak help --all` lists every command.\n");
    }
    text
}

/// Returns the command with the global options hidden in the help of its verbs.
fn with_short_help(mut command: Command) -> Command {
    let global: Vec<Arg> = command
        .get_arguments()
        .filter(|option| option.is_global_set())
        .map(|option| option.clone().hide(true))
        .collect();
    let verbs: Vec<String> = command
        .get_subcommands()
        .map(|verb| verb.get_name().to_owned())
        .collect();
    for verb in verbs {
        command = command.mut_subcommand(verb, |verb| shortened(verb, &global));
    }
    command
}

fn shortened(verb: Command, global: &[Arg]) -> Command {
    let verb = verb.args(global);
    let verb = verb.mut_subcommands(|inner| shortened(inner, global));
    let end = match verb.get_after_help() {
        Some(after) => format!("{after}\n\n{ELSEWHERE}"),
        None => ELSEWHERE.to_owned(),
    };
    verb.after_help(end)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::FromArgMatches;

    use super::*;

    /// The most commands that fit on a screen with the options.
    const MAX_COMMANDS: usize = 18;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Arguments::command();
        let visible: BTreeSet<&str> = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .map(Command::get_name)
            .collect();
        let mut listed = BTreeSet::new();
        for group in &GROUPS {
            for name in group.first.iter().chain(group.more) {
                // A program without sessions or teams lacks their verbs.
                let is_absent = match *name {
                    "sessions" => !cfg!(feature = "sessions"),
                    "team" | "migrate" => !cfg!(feature = "team"),
                    _ => false,
                };
                assert!(is_absent || visible.contains(name), "{name} does not exist");
                assert!(listed.insert(*name), "{name} is listed twice");
            }
        }
        let unlisted: Vec<_> = visible.difference(&listed).collect();
        assert!(unlisted.is_empty(), "in no group: {unlisted:?}");
        let first = GROUPS.iter().map(|group| group.first.len()).sum::<usize>();
        assert!(
            first <= MAX_COMMANDS,
            "{first} commands are too many for one look"
        );
        assert_eq!(GROUPS[0].first.len(), 9);
    }

    #[test]
    fn options_for_every_verb_are_hidden_but_work() {
        let mut command = command();
        command.build();
        assert!(command.render_help().to_string().contains("--offline"));
        let model = command.find_subcommand_mut("model").unwrap();
        for verb in ["list", "install"] {
            let inner = model.find_subcommand_mut(verb).unwrap();
            assert!(!inner.render_help().to_string().contains("--offline"));
        }
        let search = command.find_subcommand_mut("search").unwrap();
        let help = search.render_long_help().to_string();
        assert!(
            !help.contains("--offline") && help.contains(ELSEWHERE),
            "{help}"
        );
        for line in [
            &["kodiak", "--offline", "-q", "model", "list"][..],
            &["kodiak", "model", "--offline", "list", "-q"],
            &["kodiak", "search", "x", "--offline", "-q"],
        ] {
            let command = super::command();
            let matches = command.try_get_matches_from(line).unwrap();
            let found = Arguments::from_arg_matches(&matches).unwrap().everywhere;
            assert!(found.offline && found.quiet, "{line:?}");
        }
    }
}
