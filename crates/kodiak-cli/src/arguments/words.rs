//! Separates the words of a query from options: `kodiak search sqlite -wal` excludes a
//! word, although it looks like an option.
//!
//! A word with one dash is an option only if it is exactly one, alone or with its
//! value (`-n5`). Everything with two dashes is left to the parser, so that a
//! misspelt option is an error.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command, CommandFactory};

use super::Arguments;

/// The verb whose words may begin with a dash.
const VERB: &str = "search";

/// Returns the arguments with the words of a query moved behind `--`, if one of them
/// begins with a dash. Other arguments are returned as they are.
pub(crate) fn words_apart(arguments: Vec<OsString>) -> Vec<OsString> {
    let has_dash = |argument: &OsString| {
        let bytes = argument.as_encoded_bytes();
        bytes.len() > 1 && bytes[0] == b'-' && bytes[1] != b'-'
    };
    if !arguments.iter().any(has_dash) {
        return arguments;
    }
    rewritten(&arguments, &Arguments::command()).unwrap_or(arguments)
}

fn rewritten(arguments: &[OsString], command: &Command) -> Option<Vec<OsString>> {
    let search = command.find_subcommand(VERB)?;
    let options: Vec<&Arg> = command
        .get_arguments()
        .chain(search.get_arguments())
        .filter(|option| !option.is_positional())
        .collect();
    let mut kept: Vec<OsString> = arguments.iter().take(1).cloned().collect();
    let mut words = Vec::new();
    let mut verb = false;
    let mut dashed = false;
    let mut rest = arguments.iter().skip(1);
    while let Some(argument) = rest.next() {
        match kind(argument, &options) {
            Kind::Separator => {
                words.extend(rest.cloned());
                break;
            }
            Kind::Option { value_follows } => {
                kept.push(argument.clone());
                if value_follows {
                    kept.extend(rest.next().cloned());
                }
            }
            Kind::Word if !verb => {
                if argument != VERB {
                    return None;
                }
                verb = true;
                kept.push(argument.clone());
            }
            Kind::Word => words.push(argument.clone()),
            Kind::Dashed if !verb => return None,
            Kind::Dashed => {
                dashed = true;
                words.push(argument.clone());
            }
        }
    }
    if !(verb && dashed) {
        return None;
    }
    kept.push("--".into());
    kept.extend(words);
    Some(kept)
}

enum Kind {
    Separator,
    Option {
        /// Whether the next argument is its value.
        value_follows: bool,
    },
    Word,
    /// A word that begins with a dash.
    Dashed,
}

fn kind(argument: &OsStr, options: &[&Arg]) -> Kind {
    let Some(text) = argument.to_str() else {
        return Kind::Word;
    };
    if text == "--" {
        return Kind::Separator;
    }
    let takes_value = |option: &&Arg| option.get_action().takes_values();
    if let Some(long) = text.strip_prefix("--") {
        let named = |option: &&&Arg| option.get_long() == Some(long);
        let known = options.iter().find(named);
        return Kind::Option {
            value_follows: known.is_some_and(takes_value),
        };
    }
    let mut letters = match text.strip_prefix('-') {
        Some(letters) if !letters.is_empty() => letters.chars(),
        _ => return Kind::Word,
    };
    // Help and version are options of every command, added only when it is built.
    if matches!(text, "-h" | "-V") {
        return Kind::Option {
            value_follows: false,
        };
    }
    let short = letters.next();
    let value = letters.as_str();
    match options.iter().find(|option| option.get_short() == short) {
        Some(option) if value.is_empty() => Kind::Option {
            value_follows: takes_value(option),
        },
        Some(option) if takes_value(option) && is_number(value) => Kind::Option {
            value_follows: false,
        },
        _ => Kind::Dashed,
    }
}

/// Reports whether a value that follows its option without a space is a number. The
/// only such option, `-n`, takes one.
fn is_number(value: &str) -> bool {
    let digits = value.strip_prefix('=').unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(line: &str) -> String {
        let arguments = line.split(' ').map(OsString::from).collect();
        let apart = words_apart(arguments);
        let apart: Vec<&str> = apart.iter().map(|one| one.to_str().unwrap()).collect();
        apart.join(" ")
    }

    #[test]
    fn words_with_a_dash_belong_to_the_query() {
        for (line, expected) in [
            ("kodiak search sqlite -wal", "kodiak search -- sqlite -wal"),
            (
                "kodiak search -wal sqlite --json -n 3 -x",
                "kodiak search --json -n 3 -- -wal sqlite -x",
            ),
            ("kodiak search a -n5 -b", "kodiak search -n5 -- a -b"),
            ("kodiak search a -n=5 -b", "kodiak search -n=5 -- a -b"),
            ("kodiak search a -nope", "kodiak search -- a -nope"),
            (
                "kodiak search a -q -0 -quiet",
                "kodiak search -q -0 -- a -quiet",
            ),
            (
                "kodiak --index x -v search --tag y a -b -- --json -n",
                "kodiak --index x -v search --tag y -- a -b --json -n",
            ),
            ("kodiak search --tag=y -5", "kodiak search --tag=y -- -5"),
        ] {
            assert_eq!(apart(line), expected);
        }
    }

    #[test]
    fn everything_else_is_left_to_the_parser() {
        for line in [
            "kodiak",
            "kodiak search",
            "kodiak search sqlite wal -n 3",
            "kodiak search sqlite -- -wal",
            "kodiak search a --jsn",
            "kodiak search a -h",
            "kodiak search a -",
            "kodiak search --tag -x",
            "kodiak get -x",
            "kodiak -x search a",
            "kodiak --index search -x",
        ] {
            assert_eq!(apart(line), line);
        }
    }
}
