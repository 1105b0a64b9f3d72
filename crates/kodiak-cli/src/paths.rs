//! Finds the config file, the index, the models, the home folder, and the
//! package clients that can download models.
//!
//! The library never reads the environment; the program does it here.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use kodiak::DocumentId;

use crate::failure::refusal;

/// The name of Kodiak's folder inside the folders for config, data and caches.
const FOLDER: &str = "kodiak";
const CONFIG_FILE: &str = "config.toml";
const INDEX_FILE: &str = "index.db";
const MODELS_FOLDER: &str = "models";
const VISITS_FOLDER: &str = "visits";
const PAGES_FOLDER: &str = "pages";
const SESSIONS_FOLDER: &str = "sessions";
const QUERIES_FILE: &str = "brain-queries.txt";
const SERVERS_FOLDER: &str = "servers";
#[cfg(feature = "team")]
const MACHINE_FILE: &str = "machine";
const TOKENS_FILE: &str = "tokens.json";
/// The environment variable that names the folder for pages.
pub(crate) const PAGES_VARIABLE: &str = "KODIAK_PAGES";
/// The environment variable that names the folder for new session records.
pub(crate) const SESSIONS_VARIABLE: &str = "KODIAK_SESSIONS";
const HOOK_FOLDER: &str = "hook";
const MEMORY_FOLDER: &str = "memory";
/// The environment variable that names the folder of memories.
pub(crate) const MEMORY_VARIABLE: &str = "KODIAK_MEMORY";
/// The environment variable that names Bear's database.
pub(crate) const BEAR_VARIABLE: &str = "KODIAK_BEAR_DB";
/// The environment variable that names the folder of models.
pub(crate) const MODELS_VARIABLE: &str = "KODIAK_MODELS";

/// The environment variable that names the file with passwords of databases.
pub(crate) const PASSWORDS_VARIABLE: &str = "PGPASSFILE";

/// The environment variable that names the file of tokens.
pub(crate) const TOKENS_VARIABLE: &str = "KODIAK_TOKENS";

/// Returns the config file that was asked for, or the default one.
pub(crate) fn config_file(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) => Ok(absolute(path)),
        None => Ok(base("--config")?
            .config_dir()
            .join(FOLDER)
            .join(CONFIG_FILE)),
    }
}

/// Returns the index file that was asked for, or the default one.
pub(crate) fn index_file(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) if path.is_dir() => Ok(absolute(path).join(INDEX_FILE)),
        Some(path) => Ok(absolute(path)),
        None => Ok(base("--index")?.data_dir().join(FOLDER).join(INDEX_FILE)),
    }
}

/// Returns this machine's folders for the index at an address: for data that must be kept,
/// and for data that can be derived again.
pub(crate) fn server_folders(address: &str) -> anyhow::Result<(PathBuf, PathBuf)> {
    let base = base("XDG_DATA_HOME")?;
    let hash = DocumentId::new("index", address).hex();
    let inside = |folder: PathBuf| folder.join(FOLDER).join(SERVERS_FOLDER).join(&hash);
    Ok((inside(base.data_dir()), inside(base.cache_dir())))
}

/// Returns the file with the name of this machine, if there is a home folder.
#[cfg(feature = "team")]
pub(crate) fn machine_file() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.data_dir().join(FOLDER).join(MACHINE_FILE))
}

/// Returns the file with passwords of databases: the one that the environment names, else
/// the one that clients of PostgreSQL read.
#[cfg(feature = "team")]
pub(crate) fn password_file() -> Option<PathBuf> {
    let told = std::env::var_os(PASSWORDS_VARIABLE);
    match given(told.as_ref()) {
        Some(path) => Some(absolute(path)),
        None => Some(home()?.join(".pgpass")),
    }
}

/// Returns the folder of models that was asked for, or the default one. Models
/// can be downloaded again, so the default is a cache folder.
pub(crate) fn models_folder(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) => Ok(absolute(path)),
        None => Ok(base(MODELS_VARIABLE)?
            .cache_dir()
            .join(FOLDER)
            .join(MODELS_FOLDER)),
    }
}

/// Returns the folder with the indexes of visited folders. They can be built again, so it
/// is a cache folder.
pub(crate) fn visits_folder() -> anyhow::Result<PathBuf> {
    let cache = base("XDG_CACHE_HOME")?.cache_dir();
    Ok(cache.join(FOLDER).join(VISITS_FOLDER))
}

/// Returns the folder where other programs usually keep their downloads from a model hub.
pub(crate) fn hub_cache() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join("huggingface/hub"))
}

/// Returns the folder for pages: the one that the environment names, else the
/// configured one, else one in the data folder.
pub(crate) fn pages_folder(configured: Option<&Path>) -> anyhow::Result<PathBuf> {
    let told = std::env::var_os(PAGES_VARIABLE);
    match given(told.as_ref()).or(configured) {
        Some(path) => Ok(absolute(&path.to_str().map_or(path.to_owned(), expanded))),
        None => Ok(base(PAGES_VARIABLE)?
            .data_dir()
            .join(FOLDER)
            .join(PAGES_FOLDER)),
    }
}

/// Returns the folder for new session records: the one that the environment names,
/// else the configured one, else one in the data folder.
pub(crate) fn sessions_folder(configured: Option<&Path>) -> anyhow::Result<PathBuf> {
    let told = std::env::var_os(SESSIONS_VARIABLE);
    match given(told.as_ref()).or(configured) {
        Some(path) => Ok(absolute(&path.to_str().map_or(path.to_owned(), expanded))),
        None => Ok(base(SESSIONS_VARIABLE)?
            .data_dir()
            .join(FOLDER)
            .join(SESSIONS_FOLDER)),
    }
}

/// Returns the file for questions that were answered: beside the index.
pub(crate) fn queries_file(index: &Path) -> PathBuf {
    index.with_file_name(QUERIES_FILE)
}

/// Returns where an agent usually keeps its sessions, each with a name for the
/// source: the agent's own variables count, as they do for the agent.
pub(crate) fn transcripts_of(agent: &str) -> Vec<(&'static str, PathBuf)> {
    let told = |variable: &str| {
        let told = std::env::var_os(variable);
        given(told.as_ref()).map(absolute)
    };
    let home = home();
    let at_home = |path: &str| home.as_ref().map(|home| home.join(path));
    let either = |variable: &str, path: &str| told(variable).or_else(|| at_home(path));
    let places = match agent {
        "claude-code" => vec![("claude-code", either("CLAUDE_CONFIG_DIR", ".claude"))],
        "codex" => vec![("codex", either("CODEX_HOME", ".codex"))],
        "pi" => vec![("pi", at_home(".pi/agent"))],
        "gemini" => {
            let folder = told("GEMINI_CLI_HOME").or_else(|| home.clone());
            vec![("gemini", folder.map(|folder| folder.join(".gemini")))]
        }
        "opencode" => {
            let data = either("XDG_DATA_HOME", ".local/share");
            let folder = || data.map(|data| data.join("opencode"));
            vec![("opencode", told("OPENCODE_DB").or_else(folder))]
        }
        "cursor" => {
            let editor = if cfg!(target_os = "macos") {
                at_home("Library/Application Support/Cursor/User")
            } else if cfg!(windows) {
                told("APPDATA").map(|data| data.join("Cursor/User"))
            } else {
                either("XDG_CONFIG_HOME", ".config").map(|config| config.join("Cursor/User"))
            };
            let line = either("CURSOR_CONFIG_DIR", ".cursor");
            vec![("cursor", editor), ("cursor-cli", line)]
        }
        _ => Vec::new(),
    };
    let known = places.into_iter();
    known
        .filter_map(|(name, path)| Some((name, path?)))
        .collect()
}

/// Returns the home folder, if it is known.
pub(crate) fn home() -> Option<PathBuf> {
    etcetera::home_dir().ok()
}

/// Returns the folders that the program makes for itself: for its config, its data and
/// its caches.
pub(crate) fn own_folders() -> Vec<PathBuf> {
    let Ok(base) = etcetera::choose_base_strategy() else {
        return Vec::new();
    };
    let folders = [base.config_dir(), base.data_dir(), base.cache_dir()];
    folders.map(|folder| folder.join(FOLDER)).into()
}

/// Returns the folder for the data of hooks, which can be lost: one in the cache folder.
pub(crate) fn hook_folder() -> Option<PathBuf> {
    let base = etcetera::choose_base_strategy().ok()?;
    Some(base.cache_dir().join(FOLDER).join(HOOK_FOLDER))
}

/// Returns the folder of memories that the environment or else the config names.
pub(crate) fn named_memory_folder(configured: Option<&Path>) -> Option<PathBuf> {
    let told = std::env::var_os(MEMORY_VARIABLE);
    let path = given(told.as_ref()).or(configured)?;
    Some(absolute(&path.to_str().map_or(path.to_owned(), expanded)))
}

/// Returns the folder of memories where none is named: one in the data folder.
pub(crate) fn usual_memory_folder() -> anyhow::Result<PathBuf> {
    let data = base(MEMORY_VARIABLE)?.data_dir();
    Ok(data.join(FOLDER).join(MEMORY_FOLDER))
}

/// Returns the file of tokens that was asked for, or the default one.
pub(crate) fn tokens_file(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) => Ok(absolute(path)),
        None => Ok(base(TOKENS_VARIABLE)?
            .data_dir()
            .join(FOLDER)
            .join(TOKENS_FILE)),
    }
}

/// Returns the environment variables that name folders and files, with absolute
/// paths, for programs that start this one from another folder.
pub(crate) fn variables_for_others() -> Vec<(String, String)> {
    let named = [
        MODELS_VARIABLE,
        PAGES_VARIABLE,
        SESSIONS_VARIABLE,
        MEMORY_VARIABLE,
        BEAR_VARIABLE,
        TOKENS_VARIABLE,
        PASSWORDS_VARIABLE,
    ];
    let set = named.into_iter().filter_map(|name| {
        let value = std::env::var_os(name);
        let path = absolute(given(value.as_ref())?);
        Some((name.to_owned(), path.to_str()?.to_owned()))
    });
    set.collect()
}

/// Returns Bear's database that was asked for, by an argument or by the
/// environment. Otherwise it is where Bear keeps it: in `folder`, from the home
/// folder.
pub(crate) fn bear_database(asked: Option<&Path>, folder: &Path) -> anyhow::Result<PathBuf> {
    let told = std::env::var_os(BEAR_VARIABLE);
    let asked = asked.or_else(|| given(told.as_ref()));
    if let Some(path) = asked {
        let path = match path.to_str() {
            // The shell does not expand a tilde in quotes.
            Some(text) if !path.exists() => expanded(text),
            _ => path.to_owned(),
        };
        return Ok(absolute(&path));
    }
    Ok(base(BEAR_VARIABLE)?.home_dir().join(folder))
}

/// Returns the program of this name that a shell would find.
pub(crate) fn program_on_path(name: &str) -> Option<PathBuf> {
    program(&std::env::var_os("PATH").unwrap_or_default(), name)
}

/// The package clients on this machine.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Clients {
    pub(crate) npm: Option<PathBuf>,
    /// A program and its first arguments.
    pub(crate) pip: Option<Vec<OsString>>,
}

impl Clients {
    /// Finds the clients that a shell would find.
    pub(crate) fn on_path() -> Self {
        Self::among(&std::env::var_os("PATH").unwrap_or_default())
    }

    fn among(path: &OsStr) -> Self {
        let program = |name: &str| program(path, name);
        let alone = |path: PathBuf| vec![path.into_os_string()];
        let module = |path: PathBuf| vec![path.into_os_string(), "-m".into(), "pip".into()];
        Self {
            npm: program("npm"),
            pip: program("pip3")
                .or_else(|| program("pip"))
                .map(alone)
                .or_else(|| program("python3").or_else(|| program("python")).map(module)),
        }
    }
}

/// Returns the program of this name from the first folder that contains it. Relative
/// folders are ignored: their meaning depends on the working folder.
fn program(path: &OsStr, name: &str) -> Option<PathBuf> {
    let endings: &[&str] = if cfg!(windows) {
        &[".exe", ".cmd"]
    } else {
        &[""]
    };
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| {
            let named = |ending: &&str| folder.join(format!("{name}{ending}"));
            endings.iter().map(named).collect::<Vec<_>>()
        })
        .find(|file| can_be_run(file))
}

fn can_be_run(file: &Path) -> bool {
    let Ok(metadata) = std::fs::metadata(file) else {
        return false;
    };
    #[cfg(unix)]
    let allowed = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let allowed = true;
    metadata.is_file() && allowed
}

/// Replaces a leading `~` by the home folder.
pub(crate) fn expanded(path: &str) -> PathBuf {
    kodiak::project::expanded(path, home().as_deref())
}

fn given(asked: Option<&OsString>) -> Option<&Path> {
    asked.filter(|path| !path.is_empty()).map(Path::new)
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn base(option: &str) -> anyhow::Result<impl BaseStrategy> {
    etcetera::choose_base_strategy().map_err(|_| {
        refusal(
            "the home folder is not known",
            format!("set HOME, or name the path with {option}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_variable_is_none() {
        assert_eq!(given(Some(&OsString::new())), None);
        assert_eq!(given(Some(&OsString::from("x"))), Some(Path::new("x")));
    }

    #[test]
    fn an_index_may_be_named_by_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let asked = OsString::from(folder.path());
        assert_eq!(
            index_file(Some(&asked)).unwrap(),
            folder.path().join("index.db")
        );
        let file = OsString::from(folder.path().join("other.db"));
        assert_eq!(
            index_file(Some(&file)).unwrap(),
            folder.path().join("other.db")
        );
    }

    #[cfg(unix)]
    #[test]
    fn clients_are_found_as_a_shell_would() {
        use std::os::unix::fs::PermissionsExt;

        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, mode: u32| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let path = std::env::join_paths([
            "relative".into(),
            root.path().join("missing"),
            root.path().join("one"),
            root.path().join("two"),
        ])
        .unwrap();
        assert_eq!(Clients::among(&path), Clients::default());
        assert_eq!(Clients::among(OsStr::new("")), Clients::default());
        write("one/npm", 0o644);
        std::fs::create_dir_all(root.path().join("one/pip3")).unwrap();
        let npm = write("two/npm", 0o755);
        let python = write("one/python3", 0o755);
        let found = Clients::among(&path);
        assert_eq!(found.npm, Some(npm));
        let module = [python.as_os_str(), "-m".as_ref(), "pip".as_ref()];
        assert_eq!(found.pip.unwrap(), module);
        let pip = write("two/pip", 0o755);
        assert_eq!(Clients::among(&path).pip.unwrap(), [pip.as_os_str()]);
        let pip = write("two/pip3", 0o755);
        assert_eq!(Clients::among(&path).pip.unwrap(), [pip.as_os_str()]);
    }

    #[test]
    fn only_ones_own_home_is_expanded() {
        assert_eq!(expanded("~other/notes"), PathBuf::from("~other/notes"));
        assert_eq!(expanded("/a/~/b"), PathBuf::from("/a/~/b"));
        assert!(!expanded("~/notes").starts_with("~"));
    }
}
