//! The command line: verbs, options and their help.
//!
//! Only the shape is declared here. The verbs check values such as dates and
//! names of sources, because they can give a hint.

#[cfg(feature = "sessions")]
mod brain;
mod client;
mod eval;
mod help;
mod http;
mod mcp;
mod memory;
mod model;
mod note;
mod page;
mod printing;
mod search;
mod tag;
mod token;
mod transcripts;
mod words;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::parser::ValueSource;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

#[cfg(feature = "sessions")]
pub(crate) use brain::{BrainArguments, IngestArguments};
pub(crate) use client::InstallClientArguments;
pub(crate) use eval::EvalArguments;
use help::with_short_help;
pub(crate) use http::HttpArguments;
pub(crate) use mcp::{McpArguments, McpVerb};
pub(crate) use memory::{
    ArticleVerb, ChooseArguments, DescribeArguments, ForgetArguments, RecallArguments,
    RememberArguments, SaveArticleArguments, TimelineArguments,
};
pub(crate) use model::{
    InstallArguments, ModelVerb, RemoveModelArguments, SetArguments, TestArguments, UseArguments,
};
pub(crate) use note::{NewNoteArguments, NoteVerb, OpenArguments};
pub(crate) use page::{
    DeleteArguments, EditArguments, ListPagesArguments, NewPageArguments, PageVerb,
    RenamePageArguments, RestoreArguments,
};
pub(crate) use printing::{Format, PrintArguments, Sort};
pub(crate) use search::SearchArguments;
use search::mode_parser;
pub(crate) use tag::{ListTagsArguments, RenameTagArguments, TagNoteArguments, TagVerb};
pub(crate) use token::{
    CreateTokenArguments, ListTokensArguments, RevokeTokenArguments, TokenVerb,
};
pub(crate) use transcripts::TranscriptArguments;
use words::words_apart;

/// Find what you wrote, on your own machine.
///
/// Kodiak indexes folders of notes (Markdown, plain text, Org) and the notes of
/// Bear, and searches them by words and, with a model, by meaning. It works in any language and
/// forgives typing errors. It changes notes only in folders where you allow it, and only when
/// you ask for it.
#[derive(Debug, Parser)]
#[command(
    name = "kodiak",
    version,
    arg_required_else_help = true,
    after_help = "Getting started:\n  \
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

/// Holds the options that every verb accepts, before or after its name.
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
    /// Use no network: download no model, ask no provider
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
    /// When to colour the output
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

/// Which options were typed, and not taken from the environment. What somebody types
/// has to exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Typed {
    pub(crate) config: bool,
    pub(crate) model: bool,
}

impl Arguments {
    /// Parses the command line.
    pub(crate) fn parse_line(line: Vec<OsString>) -> Result<Self, clap::Error> {
        let mut command = with_short_help(Self::command());
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

/// When the output is coloured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// Only on a terminal
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The verb to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Find notes
    Search(Box<SearchArguments>),
    /// Print a note, or some lines of it, or several notes
    Get(GetArguments),
    /// Find the notes that are most similar to a note
    Similar(SimilarArguments),
    /// Ask the session records: what was done, decided and learned
    #[cfg(feature = "sessions")]
    Brain(Box<BrainArguments>),
    /// Take in session records from standard input or files
    #[cfg(feature = "sessions")]
    Ingest(IngestArguments),
    /// Open a note at a line: a file in your editor, a note of Bear in Bear
    Open(OpenArguments),
    /// Write a new note
    #[command(subcommand)]
    Note(NoteVerb),
    /// Write, change, delete and restore pages, where Kodiak may write
    #[command(subcommand)]
    Page(PageVerb),
    /// List tags, and change them in notes that Kodiak may write to
    #[command(subcommand)]
    Tag(TagVerb),
    /// Keep something that was learned, unless it is known already
    Remember(Box<RememberArguments>),
    /// Find what was learned, that of the present project first
    Recall(Box<RecallArguments>),
    /// List what was learned when, in few words
    Timeline(TimelineArguments),
    /// Move memories to the trash, or erase them
    Forget(ForgetArguments),
    /// Keep a longer text with a reference to where it is from
    #[command(subcommand)]
    Article(ArticleVerb),
    /// Register a folder of notes, or Bear, as a source and index it
    Add(AddArguments),
    /// Remove a source; its files are not touched
    Remove(RemoveArguments),
    /// List the registered sources
    Sources(SourcesArguments),
    /// Bring the index up to date with the notes
    Index(IndexArguments),
    /// Show what is indexed, what was skipped, and what has changed since
    Status(StatusArguments),
    /// Check the index for damage and, with --fix, repair it
    Doctor(DoctorArguments),
    /// Install, list, choose and remove the models for semantic search
    #[command(subcommand)]
    Model(ModelVerb),
    /// Show the configuration, and change a setting
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Measure search quality and speed on test sets in the BEIR layout
    Eval(EvalArguments),
    /// Serve agents: search, read and write through the Model Context Protocol
    Mcp(Box<McpArguments>),
    /// Make, list and revoke the tokens that let programs in over HTTP
    #[command(subcommand)]
    Token(TokenVerb),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
    /// Print the manual page
    Man(ManArguments),
}

/// `kodiak similar`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak similar a1b2c3              by id, as search prints it
  kodiak similar notes/cooking/ramen.md --limit 3")]
pub(crate) struct SimilarArguments {
    /// The note: its id, path, address (kodiak://…), title or file name
    #[arg(value_name = "NOTE")]
    pub(crate) note: String,
    /// The maximum number of notes [default: the config's `search.limit`, otherwise 10]
    #[arg(short = 'n', long = "limit", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Only notes from this source; repeat to include several
    #[arg(long = "source", value_name = "NAME")]
    pub(crate) sources: Vec<String>,
    #[command(flatten)]
    pub(crate) printing: PrintArguments,
}

/// `kodiak status`.
#[derive(Debug, Args)]
pub(crate) struct StatusArguments {
    /// Show how much of each source is embedded, and what failed
    #[arg(long)]
    pub(crate) embeddings: bool,
    /// Print the status as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak get`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak get a1b2c3                  by id, as search prints it, with or without #
  kodiak get a1b2c3:10-20            lines 10 to 20; 10- from line 10 to the end
  kodiak get notes/cooking/ramen.md  by source and path
  kodiak get ./ramen.md              by file
  kodiak get 'Ramen broth'           by title, or how it begins
  kodiak get ramen                   by the name of its file
  kodiak get a1b2c3 d4e5f6 --json    several at once, by id, path or address")]
pub(crate) struct GetArguments {
    /// The note: its id, path, address (kodiak://…), title or file name; `:FROM-TO` selects lines
    #[arg(value_name = "NOTE")]
    pub(crate) reference: String,
    /// More notes, by id, path or address
    #[arg(value_name = "MORE", conflicts_with = "line_numbers")]
    pub(crate) more: Vec<String>,
    /// Also print this many turns before and after it, if it is part of a conversation
    #[arg(
        short = 'C',
        long,
        value_name = "N",
        default_value_t = 0,
        conflicts_with = "line_numbers"
    )]
    pub(crate) context: usize,
    /// Print the number of each line before it
    #[arg(short, long)]
    pub(crate) line_numbers: bool,
    /// Print the text and what is known about the note as JSON
    #[arg(long, conflicts_with = "line_numbers")]
    pub(crate) json: bool,
}

/// Whether the program was built without sessions. Options for them are then refused
/// with that reason, and not in the help.
pub(crate) const WITHOUT_SESSIONS: bool = cfg!(not(feature = "sessions"));

/// `kodiak add`.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
pub(crate) struct AddArguments {
    /// The folder that holds the notes or records; with --bear, Bear's database
    #[arg(value_name = "PATH", required_unless_present_any = ["bear", "transcripts"])]
    pub(crate) path: Option<PathBuf>,
    /// Add the notes of Bear [default path: `KODIAK_BEAR_DB`, otherwise where Bear keeps them]
    #[arg(long, conflicts_with = "globs")]
    pub(crate) bear: bool,
    /// Add session records: a folder of node files such as 9f2c4e1ab0d37756-v1.json, at any depth
    #[arg(long, conflicts_with_all = ["bear", "globs"], hide = WITHOUT_SESSIONS)]
    pub(crate) sessions: bool,
    /// Add another folder of memories, such as one that a team shares; `remember --source NAME` writes to it
    #[arg(long, conflicts_with_all = ["bear", "sessions", "transcripts", "globs", "writable"])]
    pub(crate) memory: bool,
    #[command(flatten)]
    pub(crate) transcripts: TranscriptArguments,
    /// The name of the source [default: the folder's name, bear, sessions, memory or the agent's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Index the files that match this pattern, such as '*.rst', instead of the usual ones; '!drafts/' excludes files
    #[arg(long = "glob", value_name = "PATTERN")]
    pub(crate) globs: Vec<String>,
    /// Allow Kodiak to write notes to the folder when you ask it to; also for a source that is registered already
    #[arg(long, conflicts_with_all = ["bear", "transcripts"])]
    pub(crate) writable: bool,
    /// Index for lexical search only: do not embed; for the first source, this is remembered
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

/// A verb whose only option is to print JSON.
#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak sources`.
#[derive(Debug, Args)]
pub(crate) struct SourcesArguments {
    /// Print the sources as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only the names, one per line
    #[arg(long, conflicts_with = "json")]
    pub(crate) names: bool,
}

/// `kodiak index`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct IndexArguments {
    /// The sources to index [default: all]
    #[arg(value_name = "SOURCE", conflicts_with = "rebuild")]
    pub(crate) sources: Vec<String>,
    /// Build a new index from the notes; searches use the old one until the new one is complete
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// With --rebuild: also embed every text again instead of reusing embeddings
    #[arg(long, requires = "rebuild", conflicts_with = "no_semantic")]
    pub(crate) embeddings: bool,
    /// Remove the notes of a source that has none any more, instead of keeping them in case its drive is missing
    #[arg(long)]
    pub(crate) allow_empty: bool,
    /// Keep running and index notes as they change, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Index for lexical search only: do not embed
    #[arg(long)]
    pub(crate) no_semantic: bool,
}

/// `kodiak doctor`.
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 no problem found, 1 problems found, 2 the index could not be checked."
)]
pub(crate) struct DoctorArguments {
    /// Repair what can be repaired; a damaged index is set aside and rebuilt
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
    /// Change a setting in the config file, and keep its comments
    Set(SetArguments),
}

/// `kodiak completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(kodiak completions bash)        in ~/.bashrc; likewise for zsh
  kodiak completions fish | source         in ~/.config/fish/config.fish

With fzf 0.45 or newer, Alt-K or `kodiak-fzf` searches as you type.")]
pub(crate) struct CompletionsArguments {
    /// The shell to print the script for
    pub(crate) shell: clap_complete::Shell,
}

/// `kodiak man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write one page per command into this folder instead
    #[arg(long = "dir", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
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
        Arguments::command().debug_assert();
        with_short_help(Arguments::command()).debug_assert();
    }

    #[test]
    fn the_help_has_options_for_sessions_if_the_program_has_sessions() {
        let mut command = Arguments::command();
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
