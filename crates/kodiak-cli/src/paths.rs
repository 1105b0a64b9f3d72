//! Where things are: the config file, the index, the home folder.
//!
//! The library never looks at the environment; this is where the program does.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::failure::refusal;

/// The folder of ours inside the places for config and data.
const FOLDER: &str = "kodiak";
const CONFIG_FILE: &str = "config.toml";
const INDEX_FILE: &str = "index.db";

/// The config file: the one asked for, else the usual one.
pub(crate) fn config_file(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) => Ok(absolute(path)),
        None => Ok(base("--config")?
            .config_dir()
            .join(FOLDER)
            .join(CONFIG_FILE)),
    }
}

/// The index file: the one asked for, else the usual one.
pub(crate) fn index_file(asked: Option<&OsString>) -> anyhow::Result<PathBuf> {
    match given(asked) {
        Some(path) if path.is_dir() => Ok(absolute(path).join(INDEX_FILE)),
        Some(path) => Ok(absolute(path)),
        None => Ok(base("--index")?.data_dir().join(FOLDER).join(INDEX_FILE)),
    }
}

/// The path with a leading `~` replaced by the home folder.
pub(crate) fn expanded(path: &str) -> PathBuf {
    let rest = path
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, etcetera::home_dir()) {
        (Some(rest), Ok(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
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
            format!("set HOME, or say where with {option}"),
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

    #[test]
    fn only_ones_own_home_is_expanded() {
        assert_eq!(expanded("~other/notes"), PathBuf::from("~other/notes"));
        assert_eq!(expanded("/a/~/b"), PathBuf::from("/a/~/b"));
        assert!(!expanded("~/notes").starts_with("~"));
    }
}
