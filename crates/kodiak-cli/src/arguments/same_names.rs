//! Checks that options shared by several verbs are written the same way.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Command, CommandFactory};

use super::Arguments;

/// The form of an option: its letter, and the name of its value.
type Form = (Option<char>, Option<String>);

fn collect(command: &Command, found: &mut BTreeMap<String, BTreeSet<Form>>) {
    for option in command.get_arguments().filter(|one| !one.is_positional()) {
        let Some(long) = option.get_long() else {
            continue;
        };
        let value = option.get_action().takes_values().then(|| {
            let names = option.get_value_names().unwrap_or_default();
            names.iter().map(ToString::to_string).collect::<String>()
        });
        let forms = found.entry(long.to_owned()).or_default();
        forms.insert((option.get_short(), value));
    }
    for verb in command.get_subcommands() {
        collect(verb, found);
    }
}

#[test]
fn an_option_is_written_the_same_everywhere() {
    let mut found = BTreeMap::new();
    collect(&Arguments::command(), &mut found);
    assert!(found.len() > 80, "{}", found.len());
    let differ: Vec<_> = found.iter().filter(|(_, forms)| forms.len() > 1).collect();
    assert!(differ.is_empty(), "{differ:#?}");
}

/// Names that mean what another option means are only aliases.
#[test]
fn one_meaning_has_one_name() {
    let mut found = BTreeMap::new();
    collect(&Arguments::command(), &mut found);
    assert!(!found.contains_key("type"), "--type means --category");
    for line in [
        &["kodiak", "token", "create", "x", "--write"][..],
        &["kodiak", "token", "create", "x", "--allow-write"],
        &["kodiak", "timeline", "--around", "x", "-C", "2"],
    ] {
        super::command().try_get_matches_from(line).unwrap();
    }
}
