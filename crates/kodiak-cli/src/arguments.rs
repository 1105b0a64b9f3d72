//! The command line: verbs, options and their help.
//!
//! Only the shape is declared here. The verbs check values such as dates and
//! names of sources, because they can give a hint.

#[cfg(feature = "sessions")]
mod brain;
mod client;
mod eval;
mod help;
mod hook;
mod http;
mod links;
mod mcp;
mod memories;
mod memory;
#[cfg(feature = "team")]
mod migrate;
mod model;
mod note;
mod page;
mod pick;
mod printing;
mod reading;
#[cfg(test)]
mod same_names;
mod search;
mod serve;
mod setup;
mod sources;
mod tag;
mod team;
mod token;
mod transcripts;
mod verb;
mod words;

use std::ffi::OsString;

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{Args, FromArgMatches, Parser, ValueEnum};

#[cfg(feature = "sessions")]
pub(crate) use brain::{BrainArguments, IngestArguments, SessionsVerb};
pub(crate) use client::{InstallClientArguments, UninstallClientArguments};
pub(crate) use eval::EvalArguments;
pub(crate) use help::{all_commands, command, described};
pub(crate) use hook::HookArguments;
pub(crate) use http::HttpArguments;
pub(crate) use links::LinksArguments;
pub(crate) use mcp::McpArguments;
#[cfg(feature = "server")]
pub(crate) use mcp::McpVerb;
pub(crate) use memories::{ListMemoriesArguments, MemoryVerb, RestoreMemoryArguments};
pub(crate) use memory::{
    ArticleVerb, ChooseArguments, DescribeArguments, ForgetArguments, OriginArguments,
    RecallArguments, RememberArguments, TimelineArguments,
};
#[cfg(feature = "team")]
pub(crate) use migrate::MigrateArguments;
pub(crate) use model::{
    InstallArguments, ModelVerb, RemoveModelArguments, TestArguments, UseArguments,
};
pub(crate) use note::{NewNoteArguments, NoteVerb, OpenArguments};
pub(crate) use page::{
    DeleteArguments, EditArguments, ListPagesArguments, NewPageArguments, PageVerb,
    RenamePageArguments, RestoreArguments,
};
pub(crate) use pick::{PickArguments, PickFormat};
pub(crate) use printing::{Format, PrintArguments, Sort};
pub(crate) use reading::{GetArguments, SimilarArguments};
pub(crate) use search::SearchArguments;
use search::mode_parser;
pub(crate) use serve::{OfferArguments, ServeArguments};
pub(crate) use setup::{
    CompleteArguments, CompletionsArguments, ConfigVerb, HelpArguments, JsonArguments,
    KeyArguments, ManArguments, SetArguments, Values,
};
pub(crate) use sources::{
    AddArguments, DoctorArguments, IndexArguments, RebuildArguments, RemoveArguments,
    SourcesArguments, StatusArguments,
};
pub(crate) use tag::{ListTagsArguments, RenameTagArguments, TagNoteArguments, TagVerb};
pub(crate) use team::TeamVerb;
#[cfg(feature = "team")]
pub(crate) use team::{ExportArguments, InitTeamArguments, InviteArguments};
pub(crate) use token::TokenVerb;
#[cfg(feature = "server")]
pub(crate) use token::{CreateTokenArguments, ListTokensArguments, RevokeTokenArguments};
pub(crate) use transcripts::TranscriptArguments;
pub(crate) use verb::Verb;
use words::words_apart;

/// Find what you wrote, on your own machine.
///
/// Kodiak indexes folders of notes (Markdown, plain text, Org) and the notes of
/// Bear, and searches them by words and, with a model, by meaning. It works in any language and
/// tolerates typing errors. It changes notes only in folders where you allow it, and only when
/// you ask for it.
#[derive(Debug, Parser)]
#[command(
    name = "kodiak",
    version,
    // The help with descriptions of every value is longer than two small screens.
    long_about = None,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = "Getting started:\n  \
        kodiak add ~/notes\n  \
        kodiak search productivity systems\n  \
        kodiak                              search while you type\n\n\
        Exit codes: 0 found, 1 nothing found, 2 error."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) everywhere: Everywhere,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Holds the options that every verb accepts, before or after its name.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Everywhere {
    /// The index to use: a file, the folder that holds `index.db`, or the address of a database
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        env = "KODIAK_INDEX",
        hide_env_values = true
    )]
    // Not a `PathBuf`: an empty environment variable counts as unset.
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
    /// Do not use the network: no downloads, no providers
    #[arg(
        long,
        global = true,
        env = "KODIAK_OFFLINE",
        hide_env_values = true,
        value_parser = FalseyValueParser::new()
    )]
    pub(crate) offline: bool,
    /// The model to use instead of the configured one; `none` turns off semantic search
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "KODIAK_MODEL",
        hide_env_values = true
    )]
    pub(crate) model: Option<String>,
    /// When to colour the output; `auto` is on a terminal
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Print details
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print only the answer, warnings and errors: no notices, no progress
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    #[arg(skip)]
    pub(crate) typed: Typed,
}

/// Which options were typed, and not taken from the environment. Typed names have to exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Typed {
    pub(crate) config: bool,
    pub(crate) model: bool,
}

impl Arguments {
    /// Parses the command line.
    pub(crate) fn parse_line(line: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = command();
        let matches = command.try_get_matches_from_mut(words_apart(line))?;
        let mut arguments =
            Self::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
        let mut innermost = &matches;
        while let Some((_, inner)) = innermost.subcommand() {
            innermost = inner;
        }
        let typed = |option: &str| innermost.value_source(option) == Some(ValueSource::CommandLine);
        arguments.everywhere.typed = Typed {
            config: typed("config"),
            model: typed("model"),
        };
        Ok(arguments)
    }
}

/// Whether the program was built without sessions. Options for them are then refused
/// with that reason, and not in the help.
pub(crate) const WITHOUT_SESSIONS: bool = cfg!(not(feature = "sessions"));

/// When the output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[cfg(test)]
mod tests {
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
        command().debug_assert();
    }

    #[test]
    fn the_help_has_options_for_sessions_if_the_program_has_sessions() {
        let mut command = command();
        let add = command.find_subcommand_mut("add").unwrap();
        let help = add.render_long_help().to_string();
        for option in ["--sessions", "--transcripts", "--no-keep", "--thinking"] {
            assert_eq!(help.contains(option), !WITHOUT_SESSIONS, "{option}");
        }
        assert!(help.contains("--memory"));
    }

    #[test]
    fn options_and_words_of_a_query_mix() {
        let found = search(&["sqlite", "--json", "wal", "-n", "3", "--", "-shm", "--x"]);
        assert_eq!(found.query, ["sqlite", "wal", "-shm", "--x"]);
        assert_eq!(
            (found.printing.format(), found.limit),
            (Format::Json, Some(3))
        );
        assert_eq!(search(&["sqlite -wal"]).query, ["sqlite -wal"]);
        assert!(search(&["--tag", "work"]).query.is_empty());
    }

    #[test]
    fn words_may_begin_with_a_dash() {
        let line = [
            "kodiak", "search", "sqlite", "-wal", "-n5", "-shm", "--json",
        ];
        let line = line.map(OsString::from).into();
        let Verb::Search(found) = Arguments::parse_line(line).unwrap().verb else {
            panic!("not a search");
        };
        assert_eq!(found.query, ["sqlite", "-wal", "-shm"]);
        assert_eq!(found.limit, Some(5));
    }

    #[test]
    fn what_was_typed_is_known() {
        for (line, config, model) in [
            (&["kodiak", "sources"][..], false, false),
            (&["kodiak", "--config", "x", "sources"], true, false),
            (&["kodiak", "search", "x", "--model", "y"], false, true),
            (&["kodiak", "model", "list", "--model=y"], false, true),
        ] {
            let line = line.iter().map(OsString::from).collect();
            let typed = Arguments::parse_line(line).unwrap().everywhere.typed;
            assert_eq!((typed.config, typed.model), (config, model));
        }
    }

    #[test]
    fn options_for_every_verb_stand_before_or_after_it() {
        for line in [["kodiak", "-q", "sources"], ["kodiak", "sources", "-q"]] {
            assert!(Arguments::try_parse_from(line).unwrap().everywhere.quiet);
        }
    }
}
