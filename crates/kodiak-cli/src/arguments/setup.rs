//! The arguments of `kodiak config`, `kodiak completions` and `kodiak help`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::Shell;

/// A verb whose only option is to print JSON.
#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `kodiak config …`.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigVerb {
    /// Show where the config and the index are, and the settings in effect
    Show(JsonArguments),
    /// Print the value of a setting in effect
    Get(KeyArguments),
    /// Change a setting in the config file, and keep its comments
    Set(SetArguments),
    /// Remove a setting from the config file, restoring its default
    Unset(KeyArguments),
}

/// `kodiak config get` and `kodiak config unset`.
#[derive(Debug, Args)]
pub(crate) struct KeyArguments {
    /// The setting, as `kodiak config show` prints it, with its table: search.limit
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
}

/// `kodiak config set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kodiak config set search.limit 20
  kodiak config set offline true
  kodiak config set model.dimensions 256")]
pub(crate) struct SetArguments {
    /// The setting, as `kodiak config show` prints it, with its table: search.limit
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
    /// Its new value
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) value: String,
}

/// `kodiak completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  source <(kodiak completions bash)        in ~/.bashrc; likewise for zsh
  kodiak completions fish | source         in ~/.config/fish/config.fish
  kodiak completions man | man -l -        read the manual
  kodiak completions man --dir ~/.local/share/man/man1

Alt-K picks a note and inserts its path. With fzf 0.45 or newer, `kodiak-fzf`
searches with fzf.")]
pub(crate) struct CompletionsArguments {
    /// The shell to print the script for; or `man`, the manual page
    #[arg(value_name = "SHELL")]
    pub(crate) script: Script,
    /// With man: write one page per command into this folder instead
    #[arg(long = "dir", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// What `kodiak completions` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Script {
    /// The completion script for bash
    Bash,
    /// The completion script for Elvish
    Elvish,
    /// The completion script for fish
    Fish,
    /// The completion script for PowerShell
    #[value(name = "powershell")]
    PowerShell,
    /// The completion script for zsh
    Zsh,
    /// The manual page
    Man,
}

impl Script {
    /// Returns the shell that it is a script for.
    pub(crate) fn shell(self) -> Option<Shell> {
        Some(match self {
            Self::Bash => Shell::Bash,
            Self::Elvish => Shell::Elvish,
            Self::Fish => Shell::Fish,
            Self::PowerShell => Shell::PowerShell,
            Self::Zsh => Shell::Zsh,
            Self::Man => return None,
        })
    }
}

/// `kodiak man`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write one page per command into this folder instead
    #[arg(long = "dir", value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
}

/// `kodiak complete-values`, which completion scripts run.
#[derive(Debug, Args)]
pub(crate) struct CompleteArguments {
    /// What to list
    #[arg(value_name = "KIND")]
    pub(crate) values: Values,
    /// How the values begin
    #[arg(value_name = "PREFIX", default_value = "", allow_hyphen_values = true)]
    pub(crate) prefix: String,
}

/// What a shell completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Values {
    /// The tags of notes
    Tags,
    /// The names of sources
    Sources,
    /// The projects of notes and sessions
    Projects,
    /// The names of models
    Models,
    /// The settings of the config
    Keys,
}

impl Values {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [
        Self::Tags,
        Self::Sources,
        Self::Projects,
        Self::Models,
        Self::Keys,
    ];

    /// Returns the name that the command line has for it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Tags => "tags",
            Self::Sources => "sources",
            Self::Projects => "projects",
            Self::Models => "models",
            Self::Keys => "keys",
        }
    }
}

/// `kodiak help`.
#[derive(Debug, Args)]
pub(crate) struct HelpArguments {
    /// The command to explain, such as `page new`
    #[arg(value_name = "COMMAND", conflicts_with = "all")]
    pub(crate) command: Vec<String>,
    /// List every command
    #[arg(long)]
    pub(crate) all: bool,
}
