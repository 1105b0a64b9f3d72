//! The verbs of the program, in the order in which its help lists them.
//!
//! The hidden ones at the end are for completion scripts, and earlier names. Scripts that use them keep working.

use clap::Subcommand;

#[cfg(feature = "team")]
use super::MigrateArguments;
use super::{
    AddArguments, ArticleVerb, CompleteArguments, CompletionsArguments, ConfigVerb,
    DoctorArguments, EvalArguments, ForgetArguments, GetArguments, HelpArguments, HookArguments,
    IndexArguments, LinksArguments, ManArguments, McpArguments, MemoryVerb, ModelVerb, NoteVerb,
    OpenArguments, PageVerb, PickArguments, RebuildArguments, RecallArguments, RememberArguments,
    RemoveArguments, SearchArguments, ServeArguments, SimilarArguments, SourcesArguments,
    StatusArguments, TagVerb, TeamVerb, TimelineArguments, TokenVerb,
};
#[cfg(feature = "sessions")]
use super::{BrainArguments, IngestArguments, SessionsVerb};

/// The verb to run.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Find notes
    Search(Box<SearchArguments>),
    /// Search while you type, with the note beside the hits; `kodiak` alone does the same
    Pick(PickArguments),
    /// Print a note, or some lines of it, or several notes
    Get(GetArguments),
    /// Open a note at a line: a file in your editor, a note of Bear in Bear
    Open(OpenArguments),
    /// Find the notes most similar to a note
    Similar(SimilarArguments),
    /// List what a note links to, what links to it, and what mentions it
    Links(LinksArguments),
    /// Register a folder of notes, or Bear, as a source and index it
    Add(AddArguments),
    /// Bring the index up to date with the notes
    Index(IndexArguments),
    /// Show what is indexed, what was skipped, and what has changed since
    #[command(alias = "stats")]
    Status(StatusArguments),
    /// Store something learned, unless it is already known
    Remember(Box<RememberArguments>),
    /// Search memories and sessions, current project first
    Recall(Box<RecallArguments>),

    /// Write, edit, delete and restore pages in writable sources
    #[command(subcommand)]
    Page(PageVerb),
    /// List tags, and change them in notes that Kodiak may write to
    #[command(subcommand)]
    Tag(TagVerb),

    /// List memories, and restore forgotten ones
    #[command(subcommand)]
    Memory(MemoryVerb),
    /// List what was learned by date, one line each
    Timeline(TimelineArguments),
    /// Move memories to the trash, or erase them
    Forget(ForgetArguments),

    /// Search the records of coding sessions, and add records
    #[cfg(feature = "sessions")]
    #[command(subcommand)]
    Sessions(SessionsVerb),

    /// Serve an agent over the Model Context Protocol, and set up clients
    Mcp(Box<McpArguments>),
    /// Add relevant memories to a prompt: the hook for Claude Code and Codex
    Hook(HookArguments),
    /// Serve many agents and programs over HTTP
    Serve(Box<ServeArguments>),
    /// Create, list and revoke the tokens of programs that use the HTTP server
    #[command(subcommand)]
    Token(TokenVerb),
    /// Share an index in a database: create it, invite people, and export what they wrote
    #[command(subcommand)]
    Team(TeamVerb),

    /// Remove a source; its files are not touched
    Remove(RemoveArguments),
    /// Install, list, choose and remove the models for semantic search
    #[command(subcommand)]
    Model(ModelVerb),
    /// Show the configuration, and change settings
    #[command(subcommand)]
    Config(ConfigVerb),
    /// Check the index for damage and, with --fix, repair it
    Doctor(DoctorArguments),
    /// Move the index, memories and tokens to a server for a team, or back
    #[cfg(feature = "team")]
    Migrate(MigrateArguments),
    /// Print a completion script for a shell, or the manual
    Completions(CompletionsArguments),
    /// Measure search quality and speed on test sets in the BEIR layout
    Eval(EvalArguments),
    /// Print this list, or help for a command
    Help(HelpArguments),

    /// List the values that a shell completes
    #[command(hide = true)]
    CompleteValues(CompleteArguments),

    /// Build a new index: `index --rebuild`
    #[command(hide = true)]
    Rebuild(RebuildArguments),
    /// List the registered sources: `status`
    #[command(hide = true)]
    Sources(SourcesArguments),
    /// Write a new note: `page new --source bear`
    #[command(subcommand, hide = true)]
    Note(NoteVerb),
    /// Keep a longer text: `remember --file FILE --source-ref REFERENCE`
    #[command(subcommand, hide = true)]
    Article(ArticleVerb),
    /// Ask the session records: `sessions ask`
    #[cfg(feature = "sessions")]
    #[command(hide = true)]
    Brain(Box<BrainArguments>),
    /// Add session records: `sessions add`
    #[cfg(feature = "sessions")]
    #[command(hide = true)]
    Ingest(IngestArguments),
    /// Print the manual page: `completions man`
    #[command(hide = true)]
    Man(ManArguments),
}
