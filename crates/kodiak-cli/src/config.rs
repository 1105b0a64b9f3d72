//! Reads the config file: the sources and a few settings.
//!
//! [`edit`] changes the file and preserves everything that a person wrote in it. The config
//! decides which sources exist; the index follows it.

mod age;
mod brain;
pub(crate) mod edit;
mod hook;
pub(crate) mod keys;
mod memory;
mod model;
mod search;
mod size;
mod team;
mod transcripts;

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kodiak::source::DEFAULT_MAX_BYTES;
use serde::{Deserialize, Serialize};

use crate::failure::refusal;
use crate::index_place::{is_address, without_password};
use crate::paths;
use crate::team::Server;
pub(crate) use brain::BrainSettings;
pub(crate) use hook::HookSettings;
pub(crate) use memory::MemorySettings;
use memory::WrittenMemory;
pub(crate) use model::{Key, ModelSettings, RemoteSettings};
pub(crate) use search::SearchSettings;
use search::WrittenSearch;
pub(crate) use size::Size;
pub(crate) use team::TeamSettings;
use team::WrittenTeam;
pub(crate) use transcripts::{CopySettings, TranscriptSettings};

/// The value of `model` that turns off semantic search.
pub(crate) const NO_MODEL: &str = "none";

/// The settings in effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Config {
    pub(crate) max_file_size: Size,
    /// The model that embeds notes.
    pub(crate) model: ModelSettings,
    /// Whether use of the network is forbidden.
    pub(crate) offline: bool,
    /// Where the index is, if not in the usual place: a path, or an address without a
    /// password.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<String>,
    pub(crate) search: SearchSettings,
    pub(crate) brain: BrainSettings,
    #[serde(skip_serializing_if = "HookSettings::is_default")]
    pub(crate) hook: HookSettings,
    /// The folder for new session records, where no source takes them in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sessions: Option<PathBuf>,
    /// The folder for new pages, where no source can be written to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pages: Option<PathBuf>,
    #[serde(skip_serializing_if = "MemorySettings::is_default")]
    pub(crate) memory: MemorySettings,
    #[serde(skip_serializing_if = "CopySettings::is_default")]
    pub(crate) transcripts: CopySettings,
    #[serde(skip_serializing_if = "TeamSettings::is_default")]
    pub(crate) team: TeamSettings,
    /// The folder of the index, which has the data of the program as well.
    #[serde(skip)]
    pub(crate) data: PathBuf,
    #[serde(rename = "source", skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<RegisteredSource>,
    /// The registered sources that share their names with sources in the index. They are
    /// left out.
    #[serde(skip)]
    pub(crate) left_out: Vec<RegisteredSource>,
}

/// A registered source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct RegisteredSource {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    /// The absolute path of the folder or file, which may be missing.
    pub(crate) path: PathBuf,
    #[serde(rename = "glob", skip_serializing_if = "Vec::is_empty")]
    pub(crate) globs: Vec<String>,
    /// Whether notes may be written to it.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) writable: bool,
    /// How transcripts are read, if it has some.
    #[serde(flatten)]
    pub(crate) transcripts: Option<TranscriptSettings>,
    /// The server whose index keeps it, if it is not on this machine.
    #[serde(skip)]
    pub(crate) server: Option<Arc<Server>>,
}

impl RegisteredSource {
    /// Reports whether notes or memories may be written to it.
    pub(crate) fn is_writable(&self) -> bool {
        self.writable || self.kind.is_memory()
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The kind of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// A folder of notes.
    #[default]
    Markdown,
    /// Bear's database.
    Bear,
    /// A tree of session records.
    Sessions,
    /// A folder of memories.
    Memory,
    /// A folder of articles.
    Article,
    /// Transcripts of a coding agent.
    Transcripts,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Markdown => "markdown",
            Self::Bear => "bear",
            Self::Sessions => "sessions",
            Self::Memory => "memory",
            Self::Article => "article",
            Self::Transcripts => "transcripts",
        }
    }

    /// Reports whether its sources hold memories or articles, which can always be
    /// written to.
    pub(crate) fn is_memory(self) -> bool {
        matches!(self, Self::Memory | Self::Article)
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_file_size: Size(DEFAULT_MAX_BYTES),
            model: ModelSettings::usual(default_model()),
            offline: false,
            search: SearchSettings::default(),
            brain: BrainSettings::default(),
            hook: HookSettings::default(),
            sessions: None,
            pages: None,
            memory: MemorySettings::default(),
            transcripts: CopySettings::default(),
            index: None,
            team: TeamSettings::default(),
            data: PathBuf::new(),
            sources: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

impl Config {
    /// Reads the config at `path`. A missing file means the default settings.
    pub(crate) fn load(path: &Path) -> anyhow::Result<Self> {
        match kodiak::files::read_text(path, kodiak::files::SMALL) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(refusal(
                format!("could not read the config {}: {error}", path.display()),
                "check the file, or use another with --config PATH",
            )),
        }
    }

    /// Parses the text of the config at `path`.
    pub(crate) fn parse(text: &str, path: &Path) -> anyhow::Result<Self> {
        let written: Written = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(String::new(), |span| {
                let before = text.get(..span.start).unwrap_or_default();
                format!(":{}", before.matches('\n').count() + 1)
            });
            let message = error.message().trim().replace('\n', " ");
            invalid(path, &line, &keys::explained(&message))
        })?;
        let default = Self::default();
        let mut config = Self {
            max_file_size: written.max_file_size.unwrap_or(default.max_file_size),
            model: written.model.unwrap_or(default.model),
            offline: written.offline.unwrap_or(default.offline),
            search: written.search.over(&default.search),
            brain: written.brain,
            hook: written.hook,
            sessions: None,
            pages: None,
            memory: MemorySettings::default(),
            transcripts: written.transcripts,
            index: None,
            team: TeamSettings::default(),
            data: PathBuf::new(),
            sources: Vec::new(),
            left_out: Vec::new(),
        };
        // Relative to the config file; joining keeps an absolute path as it is.
        let folder = path.parent().unwrap_or(Path::new(""));
        let pages = written.pages.filter(|pages| !pages.trim().is_empty());
        config.pages = pages.map(|pages| folder.join(paths::expanded(&pages)));
        let sessions = written.sessions.filter(|it| !it.trim().is_empty());
        config.sessions = sessions.map(|it| folder.join(paths::expanded(&it)));
        config.index = match written.index.filter(|index| !index.trim().is_empty()) {
            Some(address) if is_address(&address) => {
                if without_password(&address) != address {
                    let message = "index must be an address without a password: put it into the \
                                   file that team.password_file names, or in PGPASSWORD";
                    return Err(invalid(path, "", message));
                }
                Some(address)
            }
            Some(index) => {
                let index = folder.join(paths::expanded(&index));
                Some(index.to_string_lossy().into_owned())
            }
            None => None,
        };
        config.team = written.team.within(folder);
        if let Some(message) = config.team.mistake() {
            return Err(invalid(path, "", &message));
        }
        if let Some(message) = config.brain.mistake() {
            return Err(invalid(path, "", message));
        }
        config.memory = written.memory.within(folder);
        if let Some(message) = config.memory.mistake() {
            return Err(invalid(path, "", &message));
        }
        if let Some(message) = config.transcripts.mistake() {
            return Err(invalid(path, "", &message));
        }
        if let Some(message) = config.search.mistake() {
            return Err(invalid(path, "", message));
        }
        if let Some(message) = config.model.mistake() {
            return Err(invalid(path, "", &message));
        }
        for source in written.source {
            if source.name != tidy_name(&source.name) {
                let message = format!(
                    "the source name '{}' must consist of letters, digits, '-', '_' and '.'",
                    source.name
                );
                return Err(invalid(path, "", &message));
            }
            if is_reserved(&source.name) {
                let message = format!(
                    "no source can be named '{}': the name is reserved for search addresses; choose another name",
                    source.name
                );
                return Err(invalid(path, "", &message));
            }
            if config.source(&source.name).is_some() {
                let message = format!("two sources are named '{}'", source.name);
                return Err(invalid(path, "", &message));
            }
            if source.writable && matches!(source.kind, Kind::Bear | Kind::Transcripts) {
                let message = format!("the source '{}' cannot be writable", source.name);
                return Err(invalid(path, "", &message));
            }
            let transcripts = source.transcripts().map_err(|problem| {
                invalid(path, "", &format!("the source '{}' {problem}", source.name))
            })?;
            config.sources.push(RegisteredSource {
                transcripts,
                name: source.name,
                kind: source.kind,
                path: folder.join(paths::expanded(&source.path)),
                globs: source.glob,
                writable: source.writable,
                server: None,
            });
        }
        Ok(config)
    }

    /// Returns the folder of the copies of transcripts.
    pub(crate) fn kept_transcripts(&self) -> PathBuf {
        self.data.join("transcripts")
    }

    /// Returns the file with the tombstones of forgotten documents.
    pub(crate) fn forgotten(&self) -> PathBuf {
        self.data.join("forgotten")
    }

    /// Returns the name of the model in use, unless it is [`NO_MODEL`].
    pub(crate) fn model(&self) -> Option<&str> {
        Some(self.model.name.as_str()).filter(|&name| name != NO_MODEL)
    }

    /// Returns the source of this name.
    pub(crate) fn source(&self, name: &str) -> Option<&RegisteredSource> {
        self.sources.iter().find(|source| source.name == name)
    }

    /// Returns a name for a new source: this one, with a number appended if another
    /// source has it or none may.
    pub(crate) fn free_name(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.to_owned())
            .chain(numbered)
            .find(|name| self.source(name).is_none() && !is_reserved(name))
            .unwrap_or_else(|| name.to_owned())
    }

    /// Adds the sources that the index on a server keeps. Those with the same names that
    /// are registered for this machine are left out.
    pub(crate) fn add_kept_by(&mut self, server: &Arc<Server>) {
        let kept = server.sources();
        let is_kept = |source: &RegisteredSource| kept.iter().any(|it| it.name == source.name);
        let registered = std::mem::take(&mut self.sources);
        let (left_out, own) = registered.into_iter().partition(is_kept);
        self.left_out = left_out;
        self.sources = own;
        self.sources.extend(kept);
    }

    /// Returns the names of all sources, in the order of the file.
    pub(crate) fn names(&self) -> Vec<String> {
        self.sources
            .iter()
            .map(|source| source.name.clone())
            .collect()
    }
}

/// Returns the name of the model to use where the config names none.
pub(crate) fn default_model() -> &'static str {
    let first = kodiak::model::catalogue().first();
    first.map_or(NO_MODEL, |model| model.name.as_str())
}

/// Reports whether a name has another meaning in addresses: `kodiak://search/…` is a
/// search.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == kodiak::document::SEARCH_SOURCE
}

/// Replaces the characters that would be awkward to type in a source's name or
/// ambiguous in `source/path`. Letters of all scripts stay.
pub(crate) fn tidy_name(text: &str) -> String {
    let tidy: String = text
        .trim()
        .chars()
        .map(|character| match character {
            '-' | '_' | '.' => character,
            _ if character.is_ascii_alphanumeric() => character,
            _ if character.is_ascii() || character.is_whitespace() || character.is_control() => '-',
            _ => character,
        })
        .collect();
    // A leading dash would look like an option.
    match tidy.trim_start_matches(['-', '.']).trim_end_matches('-') {
        "" => "notes".to_owned(),
        tidy => tidy.to_owned(),
    }
}

/// The text between the place of a mistake and the mistake.
const NOT_VALID: &str = " is not valid: ";

fn invalid(path: &Path, line: &str, message: &str) -> anyhow::Error {
    refusal(
        format!("the config {}{line}{NOT_VALID}{message}", path.display()),
        "correct the file, or use another with --config PATH",
    )
}

/// The contents of the file, before defaults are filled in.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    source: Vec<WrittenSource>,
    max_file_size: Option<Size>,
    model: Option<ModelSettings>,
    offline: Option<bool>,
    index: Option<String>,
    pages: Option<String>,
    sessions: Option<String>,
    #[serde(default)]
    memory: WrittenMemory,
    #[serde(default)]
    transcripts: CopySettings,
    #[serde(default)]
    team: WrittenTeam,
    #[serde(default)]
    search: WrittenSearch,
    #[serde(default)]
    brain: BrainSettings,
    #[serde(default)]
    hook: HookSettings,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenSource {
    name: String,
    #[serde(default)]
    kind: Kind,
    path: String,
    #[serde(default)]
    glob: Vec<String>,
    #[serde(default)]
    writable: bool,
    agent: Option<String>,
    keep: Option<bool>,
    thinking: Option<bool>,
}

impl WrittenSource {
    /// Returns how transcripts are read, if the source has some.
    fn transcripts(&self) -> Result<Option<TranscriptSettings>, String> {
        if self.kind == Kind::Transcripts {
            return TranscriptSettings::of(self.agent.as_deref(), self.keep, self.thinking)
                .map(Some);
        }
        let other = self.agent.is_some() || self.keep.is_some() || self.thinking.is_some();
        if other {
            return Err("has no transcripts, so agent, keep and thinking mean nothing".to_owned());
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::message;

    const PATH: &str = "/config/kodiak/config.toml";

    fn parse(text: &str) -> anyhow::Result<Config> {
        Config::parse(text, Path::new(PATH))
    }

    #[test]
    fn an_empty_file_holds_the_defaults() {
        assert_eq!(parse("").unwrap(), Config::default());
        assert_eq!(parse("# nothing\n[search]\n").unwrap(), Config::default());
    }

    #[test]
    fn everything_that_can_be_set() {
        let config = parse(
            "pages = \"my/pages\"\nmax_file_size = \"2 MiB\"\nmodel = \"mine\"\noffline = true\n\
             [search]\nlimit = 5\nfusion = \"rrf\"\nkeyword = \"lexical-first\"\n\
             semantic_weight = 0.7\nminimum_similarity = 0.3\ndeadline_ms = 500\nrefresh_ms = 0\n\
             [[source]]\nname = \"notes\"\nkind = \"markdown\"\npath = \"/notes\"\nglob = [\"*.md\"]\n\
             [[source]]\nname = \"near\"\npath = \"near/by\"\nwritable = true\n",
        )
        .unwrap();
        assert_eq!(config.max_file_size.0, 2 << 20);
        assert_eq!((config.model(), config.offline), (Some("mine"), true));
        assert_eq!(config.names(), ["notes", "near"]);
        assert_eq!(config.search.limit, 5);
        assert_eq!(config.search.fusion, kodiak::rank::Fusion::Rrf);
        assert_eq!(
            config.search.keyword,
            kodiak::rank::KeywordRoute::LexicalFirst
        );
        assert_eq!(config.search.minimum_similarity, Some(0.3));
        assert_eq!(config.search.deadline_ms, 500);
        assert_eq!(config.search.refresh_ms, 0);
        assert_eq!(config.sources[0].globs, ["*.md"]);
        assert!(!config.sources[0].writable && config.sources[1].writable);
        assert_eq!(config.pages.unwrap(), Path::new("/config/kodiak/my/pages"));
        assert_eq!(config.sources[1].path, Path::new("/config/kodiak/near/by"));
    }

    #[test]
    fn a_model_is_in_use_unless_the_config_says_none() {
        assert_eq!(parse("").unwrap().model(), Some("all-minilm-l6-v2"));
        assert_eq!(parse("model = \"none\"").unwrap().model(), None);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (text, expected) in [
            ("limt = 3", ":1 is not valid: unknown key `limt`"),
            (
                "[search]\n\nlimt = 3",
                ":3 is not valid: unknown key `limt`",
            ),
            ("[[source]]\nname = \"a\"", "missing field `path`"),
            (
                "[[source]]\nname = \"a\"\npath = \"/\"\nkind = \"wolf\"",
                "unknown variant `wolf`",
            ),
            (
                "[[source]]\nname = \"a/b\"\npath = \"/\"",
                "'a/b' must consist of",
            ),
            (
                "[[source]]\nname = \"search\"\npath = \"/\"",
                "no source can be named 'search'",
            ),
            (
                "[[source]]\nname = \"a\"\npath = \"/\"\nkind = \"bear\"\nwritable = true",
                "the source 'a' cannot be writable",
            ),
            ("max_file_size = \"many\"", "'many' is not a size"),
            (
                "[search]\nlimit = 0",
                "search.limit must be a whole number from 1 to 100000",
            ),
            (
                "[search]\nlexical_weight = 0\nsemantic_weight = 0.0",
                "not both 0",
            ),
            ("[search]\nsemantic_weight = -1", "must be 0 or more"),
            ("[search]\nminimum_similarity = 3", "between -1 and 1"),
            ("[search]\nfusion = \"sum\"", "unknown variant `sum`"),
            ("model = \" \"", "model must be a name, or \"none\""),
            ("offline = 1", ":1 is not valid"),
            ("x = [", ":1 is not valid"),
        ] {
            let message = message(&parse(text).unwrap_err());
            assert!(message.contains(expected), "{text}: {message}");
            assert!(message.contains(PATH), "{message}");
            assert!(!message.contains('\n'), "{message}");
        }
        let twice = "[[source]]\nname = \"a\"\npath = \"/\"\n".repeat(2);
        assert!(message(&parse(&twice).unwrap_err()).contains("two sources are named 'a'"));
    }

    #[test]
    fn names_are_made_easy_to_type() {
        for (given, expected) in [
            ("My Notes!", "My-Notes"),
            ("notes_2.0", "notes_2.0"),
            (".hidden", "hidden"),
            ("--x", "x"),
            ("a/b", "a-b"),
            ("Tagebücher", "Tagebücher"),
            ("笔记", "笔记"),
            ("///", "notes"),
            ("a\u{1b}[31m", "a--31m"),
        ] {
            assert_eq!(tidy_name(given), expected);
        }
    }
}
