//! Completion of values in real shells. A shell that is not installed is skipped, except
//! where `CI` is set.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::desk::Desk;

fn desk() -> Desk {
    let desk = Desk::indexed();
    desk.write(
        "work log/a.md",
        "---\ntags: [weekly, two words]\n---\n# A\n",
    );
    desk.ok(&["add", "work log"]);
    for shell in ["bash", "zsh", "fish"] {
        let script = desk.ok(&["completions", shell]).stdout;
        desk.write(&format!("kodiak.{shell}"), &script);
    }
    desk
}

/// Reports whether a shell is installed, as every shell is where changes are tested.
pub(crate) fn is_installed(shell: &str) -> bool {
    let version = Command::new(shell)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let is_installed = version.is_ok();
    let is_required = std::env::var_os("CI").is_some();
    assert!(is_installed || !is_required, "{shell} is not installed");
    is_installed
}

/// Runs a script in a shell, and returns what it prints; `None` if the shell is missing.
fn run(desk: &Desk, shell: &str, arguments: &[&str]) -> Option<String> {
    is_installed(shell).then_some(())?;
    let mut command = desk.beside(shell);
    command.args(arguments).env("LC_ALL", "C.UTF-8");
    Some(desk.finish(&mut command).stdout)
}

/// Completes the last of these words in bash.
fn bash(desk: &Desk, words: &str) -> Option<String> {
    let ask = format!(
        "source ./kodiak.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}}-1)); \
         $(complete -p kodiak | sed 's/.*-F \\([^ ]*\\).*/\\1/') kodiak \
         \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD-1]}}\"; \
         printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    run(desk, "bash", &["-c", &ask])
}

#[test]
fn values_are_listed_without_a_model() {
    let desk = desk();
    let values = |arguments: &[&str]| {
        let mut command = desk.command(&["complete-values"]);
        let run = desk.finish(
            command
                .args(arguments)
                .env("KODIAK_MODEL", "all-minilm-l6-v2"),
        );
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{run}");
        run.stdout
    };
    assert_eq!(values(&["sources"]), "notes\nwork-log\n");
    assert_eq!(values(&["sources", "w"]), "work-log\n");
    assert_eq!(values(&["tags", "two"]), "two words\n");
    assert!(values(&["tags"]).contains("gtd\n"));
    assert!(values(&["models", "all-"]).contains("all-minilm-l6-v2\n"));
    assert_eq!(
        values(&["keys", "search.l"]),
        "search.limit\nsearch.lexical_weight\n"
    );
    // A config that cannot be read is a matter of other commands.
    desk.write("config/kodiak/config.toml", "limit = [");
    assert_eq!(values(&["sources"]), "");
    assert_eq!(values(&["tags"]), "");
    let empty = Desk::new();
    assert_eq!(empty.ok(&["complete-values", "projects"]).stdout, "");
}

#[test]
fn bash_completes_values() {
    let desk = desk();
    for (words, expected) in [
        ("kodiak search x --source ''", "notes\nwork-log\n"),
        ("kodiak similar x --source n", "notes\n"),
        ("kodiak index w", "work-log\n"),
        ("kodiak index notes w", "work-log\n"),
        ("kodiak remove ''", "notes\nwork-log\n"),
        ("kodiak search --tag weekl", "weekly\n"),
        ("kodiak search --tag = weekl", "weekly\n"),
        ("kodiak search --tag two", "two\\ words\n"),
        ("kodiak recall x --tag zebra", "\n"),
        ("kodiak tag rename weekl", "weekly\n"),
        ("kodiak tag add note weekl", "weekly\n"),
        ("kodiak --model none search --tag weekl", "weekly\n"),
        ("kodiak config get search.lim", "search.limit\n"),
        ("kodiak --config x config set search.lim", "search.limit\n"),
        ("kodiak model use all-mini", "all-minilm-l6-v2\n"),
        ("kodiak search --model all-mini", "all-minilm-l6-v2\n"),
    ] {
        let Some(found) = bash(&desk, words) else {
            return;
        };
        assert_eq!(found, expected, "{words}");
    }
    assert!(
        bash(&desk, "kodiak index --re")
            .unwrap()
            .contains("--rebuild")
    );
    let verbs = bash(&desk, "kodiak se").unwrap();
    assert!(
        verbs.contains("search") && verbs.contains("serve"),
        "{verbs}"
    );
    assert!(!bash(&desk, "kodiak in").unwrap().contains("ingest"));
}

#[test]
fn zsh_completes_values() {
    let desk = desk();
    let checked = run(&desk, "zsh", &["-f", "-n", "./kodiak.zsh"]);
    assert!(checked.is_none_or(|said| said.is_empty()));
    let values = |function: &str, prefix: &str| {
        let ask = format!(
            "compdef() {{ }}; compadd() {{ print -l -- ${{(P)@[-1]}} }}; source ./kodiak.zsh; \
             PREFIX='{prefix}'; {function}"
        );
        run(&desk, "zsh", &["-f", "-c", &ask])
    };
    for (function, prefix, expected) in [
        ("_kodiak_tags", "two", "two words\n"),
        ("_kodiak_sources", "", "notes\nwork-log\n"),
        ("_kodiak_keys", "search.lim", "search.limit\n"),
        ("_kodiak_tags", "zebra", ""),
    ] {
        if let Some(found) = values(function, prefix) {
            assert_eq!(found, expected, "{function}");
        }
    }
}

#[test]
fn fish_completes_values() {
    let desk = desk();
    for (line, expected) in [
        ("kodiak search --tag weekl", "weekly"),
        ("kodiak search --tag=weekl", "--tag=weekly"),
        ("kodiak index w", "work-log"),
        ("kodiak config get search.lim", "search.limit"),
        ("kodiak tag rename weekl", "weekly"),
        ("kodiak search --tag zebra", ""),
    ] {
        let ask = format!("source ./kodiak.fish; complete -C '{line}'");
        let Some(found) = run(&desk, "fish", &["--no-config", "-c", &ask]) else {
            return;
        };
        let found: Vec<&str> = found
            .lines()
            .filter_map(|line| line.split('\t').next())
            .collect();
        assert_eq!(found.join(" "), expected, "{line}");
    }
}
