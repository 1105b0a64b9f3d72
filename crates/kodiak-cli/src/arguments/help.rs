//! The help of verbs, without the options that every verb accepts.
//!
//! They would fill most of each page. `kodiak --help` lists them, and they work
//! everywhere.

use clap::{Arg, Command};

/// What a verb's help says instead.
const ELSEWHERE: &str = "`kodiak --help` lists the options for every command.";

/// Returns the command with the global options hidden in the help of its verbs.
pub(crate) fn with_short_help(mut command: Command) -> Command {
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
    use clap::{CommandFactory, FromArgMatches};

    use super::*;
    use crate::arguments::Arguments;

    #[test]
    fn options_for_every_verb_are_hidden_but_work() {
        let mut command = with_short_help(Arguments::command());
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
            let command = with_short_help(Arguments::command());
            let matches = command.try_get_matches_from(line).unwrap();
            let found = Arguments::from_arg_matches(&matches).unwrap().everywhere;
            assert!(found.offline && found.quiet, "{line:?}");
        }
    }
}
