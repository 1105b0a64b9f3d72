//! Adds the completion of values to the scripts that clap generates, which know only verbs
//! and options.
//!
//! Everything is derived from the command line of the program, so that a new option is
//! completed as soon as it is declared.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Arg, Command, CommandFactory, ValueHint};
use clap_complete::Shell;

use super::values;
use crate::arguments::{Arguments, Values};

/// Returns the script for a shell.
pub(super) fn generated(shell: Shell) -> String {
    let mut command = hinted(shown(), &[], &|values| match shell {
        Shell::Zsh => hint(values),
        _ => ValueHint::Other,
    });
    // Generated in memory, because the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "kodiak", &mut script);
    let script = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => format!("{script}{}", bash(&command)),
        Shell::Fish => format!("{script}{}", fish(&command)),
        Shell::Zsh => zsh(&script),
        _ => script.into_owned(),
    }
}

/// Returns the command without the verbs that are hidden: no shell offers earlier names.
fn shown() -> Command {
    let command = Arguments::command();
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    Command::new("kodiak")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(command.get_arguments().cloned())
        .subcommands(verbs.cloned().collect::<Vec<_>>())
}

/// Returns the command with a hint at every argument whose values are completed.
fn hinted(command: Command, path: &[&str], hint: &dyn Fn(Values) -> ValueHint) -> Command {
    let command = command.mut_args(|argument| match values::of(path, &argument) {
        Some(values) => argument.value_hint(hint(values)),
        None => argument,
    });
    command.mut_subcommands(|verb| {
        let name = verb.get_name().to_owned();
        let path = [path, &[&name]].concat();
        hinted(verb, &path, hint)
    })
}

/// An argument whose values are completed.
struct Completed<'a> {
    path: Vec<&'a str>,
    argument: &'a Arg,
    values: Values,
}

impl<'a> Completed<'a> {
    fn all(command: &'a Command) -> Vec<Self> {
        let mut found = Vec::new();
        Self::collect(command, &[], &mut found);
        found
    }

    fn collect(command: &'a Command, path: &[&'a str], found: &mut Vec<Self>) {
        for argument in command.get_arguments() {
            // Options for every verb are those of the program.
            if argument.is_global_set() && !path.is_empty() {
                continue;
            }
            found.extend(values::of(path, argument).map(|values| Self {
                path: path.to_vec(),
                argument,
                values,
            }));
        }
        for verb in command.get_subcommands() {
            Self::collect(verb, &[path, &[verb.get_name()]].concat(), found);
        }
    }

    /// Returns how many words are before the first of its values, for a positional
    /// argument, and whether more may follow.
    fn words_before(&self) -> (usize, bool) {
        let at = self.argument.get_index().unwrap_or(1);
        let many = self
            .argument
            .get_num_args()
            .is_some_and(|n| n.max_values() > 1)
            || matches!(self.argument.get_action(), clap::ArgAction::Append);
        (self.path.len() + at - 1, many)
    }
}

/// Returns the long names of all options that take a value.
fn with_values(command: &Command) -> Vec<String> {
    let mut names: Vec<String> = command
        .get_arguments()
        .filter(|argument| argument.get_action().takes_values() && !argument.is_positional())
        // A value that may be absent comes after `=`.
        .filter(|argument| !argument.is_require_equals_set())
        .flat_map(|argument| {
            let short = argument.get_short().map(|short| format!("-{short}"));
            let long = argument.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(short)
        })
        .collect();
    names.extend(command.get_subcommands().flat_map(with_values));
    names.sort();
    names.dedup();
    names
}

/// Completes values after options and where a verb takes them.
fn bash(command: &Command) -> String {
    let completed = Completed::all(command);
    let mut options = BTreeMap::new();
    let mut places = String::new();
    for one in &completed {
        let kind = one.values.name();
        if let Some(long) = one.argument.get_long() {
            options.insert(long, kind);
            continue;
        }
        let (before, many) = one.words_before();
        let compare = if many { "-ge" } else { "-eq" };
        let _ = writeln!(
            places,
            "        if [[ \"${{words[*]:0:{}}}\" == \"{}\" && ${{#words[@]}} {compare} {before} ]]; then kind={kind}; fi",
            one.path.len(),
            one.path.join(" "),
        );
    }
    let options: String = options
        .iter()
        .map(|(long, kind)| format!("        --{long}) kind={kind} ;;\n"))
        .collect();
    BASH.replace("OPTIONS", options.trim_end())
        .replace("PLACES", places.trim_end())
        .replace("WITH_VALUES", &with_values(command).join(" | "))
}

/// `--tag=x` is three words for bash. If no value fits, bash would offer the names of
/// files, unless it is told not to.
const BASH: &str = r#"
_kodiak_with_values() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" kind="" skip="" at name
    local -a words=()
    if [[ "$cur" == "=" ]]; then
        cur=""
    elif [[ "$prev" == "=" && $COMP_CWORD -gt 1 ]]; then
        prev="${COMP_WORDS[COMP_CWORD-2]}"
    fi
    case "$prev" in
OPTIONS
        WITH_VALUES) ;;
        *) skip=no ;;
    esac
    if [[ -n "$skip" && "$cur" != -* ]]; then
        for ((at = 1; at < COMP_CWORD; at++)); do
            case "${COMP_WORDS[at]}" in
                WITH_VALUES) ((at++)) ;;
                -*) ;;
                *) words+=("${COMP_WORDS[at]}") ;;
            esac
        done
PLACES
    fi
    if [[ -n "$kind" ]]; then
        compopt +o default +o bashdefault 2>/dev/null
        COMPREPLY=()
        while IFS= read -r name; do
            COMPREPLY+=("${name// /\\ }")
        done < <(kodiak complete-values "$kind" "$cur" 2>/dev/null)
        return 0
    fi
    _kodiak "$@"
}
complete -F _kodiak_with_values -o bashdefault -o default kodiak
"#;

fn fish(command: &Command) -> String {
    let mut script = String::from("\n");
    for one in Completed::all(command) {
        let condition = match &one.path[..] {
            [] => String::new(),
            [verb] => format!(" -n \"__fish_kodiak_using_subcommand {verb}\""),
            [verb, inner, ..] => format!(
                " -n \"__fish_kodiak_using_subcommand {verb}; and __fish_seen_subcommand_from {inner}\""
            ),
        };
        let option = match one.argument.get_long() {
            Some(long) => format!(" -l {long} -x"),
            None => " -f".to_owned(),
        };
        let kind = one.values.name();
        let _ = writeln!(
            script,
            "complete -c kodiak{condition}{option} -a '(kodiak complete-values {kind} 2>/dev/null)'"
        );
    }
    script
}

/// Returns the hint by which a kind of values is recognised in a script for zsh. No
/// argument of the program has one of them.
fn hint(values: Values) -> ValueHint {
    match values {
        Values::Tags => ValueHint::EmailAddress,
        Values::Sources => ValueHint::Hostname,
        Values::Projects => ValueHint::Url,
        Values::Models => ValueHint::Username,
        Values::Keys => ValueHint::CommandString,
    }
}

fn zsh(script: &str) -> String {
    let mut script = script.to_owned();
    let mut functions = ZSH.to_owned();
    for values in Values::ALL {
        let made = match values {
            Values::Tags => "_email_addresses",
            Values::Sources => "_hosts",
            Values::Projects => "_urls",
            Values::Models => "_users",
            Values::Keys => "_cmdstring",
        };
        let kind = values.name();
        script = script.replace(&format!(":{made}'"), &format!(":_kodiak_{kind}'"));
        let _ = writeln!(
            functions,
            "_kodiak_{kind}() {{ _kodiak_values {kind} \"$@\" }}"
        );
    }
    // The first line tells zsh what the file completes.
    match script.split_once('\n') {
        Some((first, rest)) => format!("{first}\n{functions}{rest}"),
        None => script,
    }
}

const ZSH: &str = r#"
_kodiak_values() {
    local kind=$1
    local -a names
    shift
    names=(${(f)"$(kodiak complete-values $kind "$PREFIX" 2>/dev/null)"})
    (( $#names )) && compadd "$@" -a names
}
"#;

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails if an argument has one of these hints.
    fn check(command: &Command, hints: &[ValueHint]) {
        for argument in command.get_arguments() {
            let hint = argument.get_value_hint();
            assert!(!hints.contains(&hint), "{}", argument.get_id());
        }
        for verb in command.get_subcommands() {
            check(verb, hints);
        }
    }

    #[test]
    fn every_option_with_known_values_is_completed() {
        let command = shown();
        let completed = Completed::all(&command);
        let of = |path: &[&str], long: &str| {
            let fits =
                |one: &&Completed<'_>| one.path == path && one.argument.get_long() == Some(long);
            completed.iter().find(fits).map(|one| one.values)
        };
        assert_eq!(of(&["search"], "tag"), Some(Values::Tags));
        assert_eq!(of(&["page", "new"], "source"), Some(Values::Sources));
        assert_eq!(of(&["recall"], "project"), Some(Values::Projects));
        assert_eq!(of(&[], "model"), Some(Values::Models));
        assert_eq!(of(&["search"], "where"), None);
        // No other argument has a hint that zsh recognises values by.
        let hints = Values::ALL.map(hint);
        check(&command, &hints);
    }

    #[test]
    fn the_script_for_zsh_asks_for_values() {
        let script = generated(Shell::Zsh);
        assert!(script.starts_with("#compdef kodiak\n"), "{script}");
        for values in Values::ALL {
            let asked = format!(":_kodiak_{}'", values.name());
            assert!(script.contains(&asked), "{asked}");
            let function = format!("_kodiak_{}() {{", values.name());
            assert_eq!(script.matches(&function).count(), 1);
        }
        for left in [
            "_email_addresses",
            "_hosts",
            "_urls",
            "_users",
            "_cmdstring",
        ] {
            assert!(!script.contains(left), "{left}");
        }
    }

    #[test]
    fn earlier_names_are_not_offered() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let script = generated(shell);
            assert!(!script.contains("ingest"), "{script}");
        }
    }
}
