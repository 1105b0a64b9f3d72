//! `kodiak completions`: prints a completion script for a shell.
//!
//! The generated script knows verbs and options. For bash, zsh and fish, the names
//! of sources are added, which the script asks the program for.

mod fzf;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Outcome, man};
use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::refusal;
use crate::output::Output;

pub(super) fn run(arguments: &CompletionsArguments, output: &Output) -> anyhow::Result<Outcome> {
    let Some(shell) = arguments.script.shell() else {
        return man::run(arguments.folder.as_deref(), output);
    };
    if arguments.folder.is_some() {
        return Err(refusal(
            "--dir is for the manual",
            "run `kodiak completions man --dir FOLDER`, or leave out --dir",
        ));
    }
    // Generated in memory, because the generator panics if it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "kodiak", &mut script);
    let script = String::from_utf8_lossy(&script);
    let script = with_sources(shell, &script);
    output.answer(&format!("{script}{}", fzf::binding(shell)))?;
    Ok(Outcome::Done)
}

/// Adds the completion of source names to a generated script.
fn with_sources(shell: Shell, script: &str) -> String {
    match shell {
        Shell::Bash => format!("{script}{BASH}"),
        Shell::Fish => format!("{script}{FISH}"),
        Shell::Zsh => {
            let lines = script.lines().map(|line| {
                let argument = line.trim_end_matches(" \\");
                if ZSH_ARGUMENTS
                    .iter()
                    .any(|start| argument.starts_with(start))
                {
                    line.replacen(":_default'", ":_kodiak_sources'", 1)
                } else {
                    line.to_owned()
                }
            });
            let lines: Vec<String> = lines.collect();
            // The first line tells zsh what the file completes.
            match lines.split_first() {
                Some((first, rest)) => format!("{first}\n{ZSH}{}\n", rest.join("\n")),
                None => String::new(),
            }
        }
        _ => script.to_owned(),
    }
}

/// Completes names after `--source`, and where a verb takes a source.
const BASH: &str = r#"
_kodiak_with_sources() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" names=""
    case "$prev" in
        --source) names=1 ;;
        --index | --config | --model | --color) ;;
        *)
            case "${COMP_WORDS[1]}" in
                index | remove) [[ "$cur" != -* && $COMP_CWORD -gt 1 ]] && names=1 ;;
            esac
            ;;
    esac
    if [[ -n "$names" ]]; then
        local IFS=$'\n'
        COMPREPLY=($(compgen -W "$(kodiak sources --names 2>/dev/null)" -- "$cur"))
        return 0
    fi
    _kodiak "$@"
}
complete -F _kodiak_with_sources -o bashdefault -o default kodiak
"#;

const FISH: &str = r#"
complete -c kodiak -n "__fish_kodiak_using_subcommand search; or __fish_kodiak_using_subcommand similar" -l source -x -a '(kodiak sources --names 2>/dev/null)'
complete -c kodiak -n "__fish_kodiak_using_subcommand index; or __fish_kodiak_using_subcommand remove" -f -a '(kodiak sources --names 2>/dev/null)'
"#;

const ZSH: &str = r#"
_kodiak_sources() {
    local -a names
    names=(${(f)"$(kodiak sources --names 2>/dev/null)"})
    compadd -a names
}
"#;

/// How the lines of a zsh script begin that describe arguments which are sources.
const ZSH_ARGUMENTS: [&str; 3] = ["'*--source=[", "'*::sources -- ", "':name -- The source'"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_that_is_a_source_is_completed_in_zsh() {
        let mut script = Vec::new();
        clap_complete::generate(Shell::Zsh, &mut Arguments::command(), "kodiak", &mut script);
        let script = with_sources(Shell::Zsh, &String::from_utf8(script).unwrap());
        assert!(script.starts_with("#compdef kodiak\n"), "{script}");
        let completed = script.matches(":_kodiak_sources'").count();
        assert!(completed >= 4, "{script}");
        let missed = script.lines().filter(|line| {
            ZSH_ARGUMENTS.iter().any(|start| line.starts_with(start))
                && !line.contains(":_kodiak_sources'")
        });
        assert_eq!(missed.collect::<Vec<_>>(), [] as [&str; 0]);
        assert_eq!(script.matches("_kodiak_sources() {").count(), 1);
    }
}
