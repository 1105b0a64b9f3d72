//! What can be typed after `kodiak`: verbs, options, and their help.
//!
//! Only the shape is here. What an option means is its verb's to say; what is
//! not a date or a source is found out there, where a hint can be given.

mod eval;
mod model;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::{FalseyValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use kodiak::rank::Fusion;
use kodiak::search::Mode;

pub(crate) use eval::EvalArguments;
pub(crate) use model::{InstallArguments, ModelVerb, RemoveModelArguments, UseArguments};

/// Find what you wrote, on your own machine.
///
/// Kodiak indexes folders of notes (markdown, plain text, Org) and searches
/// them by word, in any language, forgiving typing errors. It never writes to
/// your notes.
#[derive(Debug, Parser)]
#[command(
    name = "kodiak",
    version,
    arg_required_else_help = true,
    after_help = "Begin with:\n  \
        kodiak add ~/notes\n  \
        kodiak search productivity systems\n\n\
        Exit codes: 0 found, 1 nothing found, 2 error."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) everywhere: Everywhere,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Options that every verb takes, before or after it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Everywhere {
    /// The index to use: a file, or the folder that holds `index.db`
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "KODIAK_INDEX",
        hide_env_values = true
    )]
    // Not a path: an empty variable means that none is set.
    pub(crate) index: Option<OsString>,
    /// The config file to use
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "KODIAK_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<OsString>,
    /// Never fetch anything: no model is installed by itself
    #[arg(
        long,
        global = true,
        env = "KODIAK_OFFLINE",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(crate) offline: bool,
    /// The model to use instead of the configured one; `none` for words only
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "KODIAK_MODEL",
        hide_env_values = true
    )]
    pub(crate) model: Option<String>,
    /// When to use colours
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Say more
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Say nothing but the answer: no notices, no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

/// When output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Find notes
    Search(Box<SearchArguments>),
    /// Print a note, or some lines of it
    Get(GetArguments),
    /// Find the notes most like a note
    Similar(SimilarArguments),
    /// Register a folder of notes and index it
    Add(AddArguments),
    /// Forget a source; its files are not touched
    Remove(RemoveArguments),
    /// List the registered sources
    Sources(JsonArguments),
    /// Bring the index in step with the notes
    Index(IndexArguments),
    /// Show what is indexed, what was left out, and what changed since
    Status(StatusArguments),
    /// Look for damage and, if asked to, repair it
    Doctor(DoctorArguments),
    /// Install, list, choose and remove the models that compare meanings
    #[command(subcommand)]
    Model(ModelVerb),
    /// Show the configuration
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Measure search quality and speed on test sets in BEIR layout
    Eval(EvalArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page
    Man(ManArguments),
}

/// `kodiak search`.
#[derive(Debug, Args)]
#[command(after_help = SEARCH_EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct SearchArguments {
    /// What to look for; several words need no quotes
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// How many hits to show at most [default: 10, or what the config says]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// How to search
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = mode_parser())]
    pub(crate) mode: Mode,
    /// Search by word only
    #[arg(long)]
    pub(crate) no_semantic: bool,
    /// How words and meanings become one ranking [default: convex, or what the config says]
    #[arg(long, value_name = "HOW", value_parser = fusion_parser())]
    pub(crate) fusion: Option<Fusion>,
    /// Every word must occur, not just some
    #[arg(long)]
    pub(crate) all: bool,
    /// Take words as typed: correct nothing
    #[arg(long)]
    pub(crate) exact: bool,

    /// Search this folder: it is registered and brought up to date first
    #[arg(
        long = "in",
        value_name = "FOLDER",
        conflicts_with = "sources",
        help_heading = "Where to look"
    )]
    pub(crate) folder: Option<PathBuf>,
    /// Only notes from this source (any of several)
    #[arg(long = "source", value_name = "NAME", help_heading = "Where to look")]
    pub(crate) sources: Vec<String>,
    /// Only notes whose path in the source begins like this (any of several)
    #[arg(long = "path", value_name = "PREFIX", help_heading = "Where to look")]
    pub(crate) paths: Vec<String>,
    /// Only notes with this tag (all of several); `work` includes `work/atlas`
    #[arg(long = "tag", value_name = "TAG", help_heading = "Where to look")]
    pub(crate) tags: Vec<String>,
    /// Only notes of this kind (any of several)
    #[arg(long = "kind", value_name = "KIND", help_heading = "Where to look")]
    pub(crate) kinds: Vec<String>,
    /// Only notes of this category (any of several)
    #[arg(
        long = "category",
        value_name = "CATEGORY",
        help_heading = "Where to look"
    )]
    pub(crate) categories: Vec<String>,
    /// Only notes written (created) or last changed on this day or later: 2026-01-31, 2026-01, 2026
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) after: Option<String>,
    /// Only notes written (created) or last changed before this day; with --after, in between
    #[arg(long, value_name = "DATE", help_heading = "Where to look")]
    pub(crate) before: Option<String>,
    /// Only notes whose frontmatter has this value (all of several)
    #[arg(long = "where", value_name = "FIELD=VALUE", value_parser = field_and_value, help_heading = "Where to look")]
    pub(crate) fields: Vec<(String, String)>,

    /// Print the whole answer as JSON
    #[arg(long, help_heading = "What to print")]
    pub(crate) json: bool,
    /// Print only the files' paths, one on a line
    #[arg(long, conflicts_with_all = ["json", "explain"], help_heading = "What to print")]
    pub(crate) files: bool,
    /// Show how each hit was ranked
    #[arg(long, help_heading = "What to print")]
    pub(crate) explain: bool,
}

const SEARCH_EXAMPLES: &str = "\
Examples:
  kodiak search productivity systems          notes with any of the words, best first
  kodiak search '\"weekly review\" -travel'     a phrase, and a word that must not occur
  kodiak search 'rust OR go' --tag programming
  kodiak search 'title:ramen broth*'          in the title; words that begin like this
  kodiak search meeting --after 2025-06 --where status=open
  kodiak search productivity --in ~/notes     a folder that was never added
  kodiak search --tag recipe                  no words: the newest notes with the tag
  kodiak search wal --json | jq '.hits[].path'
  kodiak search TODO --files | xargs grep -n TODO

A word that begins with '-' goes inside quotes with others, or after '--':
  kodiak search -- -word";

/// Takes the name of a way to search.
fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    let help = |mode| match mode {
        Mode::Auto => "Whatever suits the query",
        Mode::Lexical => "Words, ranked",
        Mode::Semantic => "Meanings, ranked",
        Mode::Hybrid => "Words and meanings, whatever the query looks like",
        Mode::Like => "Literal text, even inside words",
    };
    let values = Mode::ALL.map(|mode| PossibleValue::new(mode.name()).help(help(mode)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// Takes the name of a way to make one ranking of two.
fn fusion_parser() -> impl TypedValueParser<Value = Fusion> {
    let help = |fusion| match fusion {
        Fusion::Convex => "Scores, normalised and weighed",
        Fusion::Rrf => "Reciprocal ranks",
    };
    let values = Fusion::ALL.map(|fusion| PossibleValue::new(fusion.name()).help(help(fusion)));
    PossibleValuesParser::new(values).try_map(|name| name.parse())
}

/// `kodiak similar`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak similar a1b2c3              by id, as search prints it
  kodiak similar notes/cooking/ramen.md --limit 3")]
pub(crate) struct SimilarArguments {
    /// An id, a path, an address (kodiak://…) or a title
    #[arg(value_name = "NOTE")]
    pub(crate) note: String,
    /// How many notes to show at most [default: 10, or what the config says]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Only notes from this source (any of several)
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    /// Print the whole answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Show how each note was ranked
    #[arg(long)]
    pub(crate) explain: bool,
}

/// `kodiak status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Show what is embedded, source by source, and what failed
    #[arg(long)]
    pub(crate) embeddings: bool,
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak get a1b2c3                  by id, as search prints it, with or without #
  kodiak get a1b2c3:10-20            lines 10 to 20; 10- for the rest
  kodiak get notes/cooking/ramen.md  by source and path
  kodiak get ./ramen.md              by file
  kodiak get 'Ramen broth'           by title")]
pub(crate) struct GetArguments {
    /// An id, a path, an address (kodiak://…) or a title, with `:from-to` for some lines
    #[arg(value_name = "NOTE")]
    pub(crate) reference: String,
    /// Put its number before each line
    #[arg(short, long)]
    pub(crate) line_numbers: bool,
    /// Print text and facts as JSON
    #[arg(long, conflicts_with = "line_numbers")]
    pub(crate) json: bool,
}

/// `kodiak add`.
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The folder that holds the notes
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: PathBuf,
    /// What to call it [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Which files to take instead of notes, such as '*.rst'; '!drafts/' leaves out
    #[arg(long = "glob", value_name = "PATTERN")]
    pub(crate) globs: Vec<String>,
    /// Index words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
}

/// `kodiak remove`.
#[derive(Debug, Args)]
pub(crate) struct RemoveArguments {
    /// The source's name, as `kodiak sources` lists it
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
}

/// A verb that only chooses between text and JSON.
#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print it as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak index`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IndexArguments {
    /// Only these sources
    #[arg(value_name = "SOURCE", conflicts_with = "rebuild")]
    pub(crate) sources: Vec<String>,
    /// Build the index anew; the old one answers until the new one is complete
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// With --rebuild: embed every text anew as well, instead of reusing vectors
    #[arg(long, requires = "rebuild", conflicts_with = "no_semantic")]
    pub(crate) embeddings: bool,
    /// Go on indexing what changes, until stopped with Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Index words only
    #[arg(long)]
    pub(crate) no_semantic: bool,
}

/// `kodiak doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 all is well, 1 something is wrong, 2 it could not be examined."
)]
pub(crate) struct DoctorArguments {
    /// Repair what can be repaired; a damaged index is set aside and built anew
    #[arg(long)]
    pub(crate) fix: bool,
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show where the config and the index are, and the settings in effect
    Show(JsonArguments),
}

/// `kodiak completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell to complete in
    pub(crate) shell: clap_complete::Shell,
}

/// `kodiak man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write all pages into this folder instead
    #[arg(long = "dir", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

fn field_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((field, value)) if !field.trim().is_empty() => {
            Ok((field.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected FIELD=VALUE, such as status=open".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn search(words: &[&str]) -> SearchArguments {
        let line = ["kodiak", "search"].iter().chain(words);
        match Arguments::try_parse_from(line).unwrap().verb {
            Verb::Search(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_and_words_of_a_query_mix() {
        let found = search(&["sqlite", "--json", "wal", "-n", "3", "--", "-shm", "--x"]);
        assert_eq!(found.query, ["sqlite", "wal", "-shm", "--x"]);
        assert_eq!((found.json, found.limit), (true, Some(3)));
        assert_eq!(search(&["sqlite -wal"]).query, ["sqlite -wal"]);
        assert!(search(&["--tag", "work"]).query.is_empty());
    }

    #[test]
    fn options_for_every_verb_stand_before_or_after_it() {
        for line in [["kodiak", "-q", "sources"], ["kodiak", "sources", "-q"]] {
            assert!(Arguments::try_parse_from(line).unwrap().everywhere.quiet);
        }
    }

    #[test]
    fn a_field_needs_a_value() {
        assert_eq!(
            field_and_value("a = b=c").unwrap(),
            ("a".into(), "b=c".into())
        );
        assert!(field_and_value("status").is_err());
        assert!(field_and_value("=open").is_err());
    }
}
