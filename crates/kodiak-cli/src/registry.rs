//! Looks up registered sources by name and path, and describes problems with
//! them.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use kodiak::{Error, ForeignProblem};

use crate::assemble;
use crate::config::{Config, RegisteredSource};
use crate::failure::{self, refusal};
use crate::paths;

/// The hint about a source that has no notes any more.
pub(crate) const EMPTY: &str =
    "connect its drive; if the notes were deleted on purpose, run `kodiak index --allow-empty`";

/// Returns the sources of these names, or all sources if `names` is empty.
pub(crate) fn named<'a>(
    config: &'a Config,
    names: &[String],
) -> kodiak::Result<Vec<&'a RegisteredSource>> {
    if names.is_empty() {
        return Ok(config.sources.iter().collect());
    }
    let find = |name: &String| {
        config.source(name).ok_or_else(|| Error::UnknownSource {
            name: name.clone(),
            known: config.names(),
        })
    };
    names.iter().map(find).collect()
}

/// Returns the folder at a path that a person typed, with all links resolved.
pub(crate) fn existing_folder(typed: &Path) -> kodiak::Result<PathBuf> {
    let mut path = typed.to_owned();
    if !path.exists()
        && let Some(text) = typed.to_str()
    {
        // The shell does not expand a tilde in quotes.
        path = paths::expanded(text);
    }
    // Absolute, so that an error shows which path was tried.
    let path = std::path::absolute(&path).unwrap_or(path);
    let folder = path.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::FolderMissing { path: path.clone() },
        ErrorKind::NotADirectory => Error::NotAFolder {
            path: file_above(&path),
        },
        _ => Error::io("read", &path)(error),
    })?;
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(Error::NotAFolder { path })
    }
}

/// Returns Bear's database at the path that a person typed, or else where it
/// usually is.
pub(crate) fn existing_bear(typed: Option<&Path>) -> anyhow::Result<PathBuf> {
    let path = paths::bear_database(typed, assemble::bear_folder())?;
    Ok(assemble::bear_database(&path)?)
}

/// Returns the error of a registered source with a hint. The hint differs from
/// that for a path typed just now, because this path was right once.
pub(crate) fn source_failure(name: &str, error: &Error) -> anyhow::Error {
    let missing = matches!(
        error,
        Error::FolderMissing { .. }
            | Error::NotAFolder { .. }
            | Error::Foreign {
                problem: ForeignProblem::Missing,
                ..
            }
    );
    let hint = if matches!(error, Error::SourceEmpty { .. }) {
        EMPTY.to_owned()
    } else if missing {
        format!("connect its drive, or run `kodiak remove {name}` to remove the source")
    } else {
        failure::library_hints(error)
            .into_iter()
            .next()
            .unwrap_or_default()
    };
    refusal(failure::one_line(&error.to_string()), hint)
}

/// Returns the source registered for exactly this folder.
pub(crate) fn registered_at<'a>(config: &'a Config, folder: &Path) -> Option<&'a RegisteredSource> {
    let mut sources = config.sources.iter();
    sources.find(|source| resolved(&source.path) == folder)
}

/// Returns the sources that contain this folder, innermost first, each with the
/// path from its root to the folder.
pub(crate) fn around<'a>(config: &'a Config, folder: &Path) -> Vec<(&'a RegisteredSource, String)> {
    let mut found: Vec<(&RegisteredSource, String)> = Vec::new();
    for source in &config.sources {
        let root = resolved(&source.path);
        if let Ok(inside) = folder.strip_prefix(&root)
            && let Some(inside) = inside.to_str()
            && !inside.is_empty()
        {
            let key = inside.replace(std::path::MAIN_SEPARATOR, "/");
            found.push((source, format!("{key}/")));
        }
    }
    found.sort_by_key(|(_, inside)| inside.len());
    found
}

/// Returns the sources that lie inside this folder.
pub(crate) fn inside<'a>(config: &'a Config, folder: &Path) -> Vec<&'a RegisteredSource> {
    let below = |source: &&RegisteredSource| {
        let root = resolved(&source.path);
        root != folder && root.starts_with(folder)
    };
    config.sources.iter().filter(below).collect()
}

/// Resolves the links in a registered path. A path that does not exist is
/// returned as it is.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Returns the file in a path that continues as if the file were a folder.
fn file_above(path: &Path) -> PathBuf {
    let file = path.ancestors().find(|above| above.is_file());
    file.unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Kind;

    fn config(folder: &Path) -> Config {
        let mut config = Config::default();
        for (name, path) in [
            ("outer", "outer"),
            ("inner", "outer/a/inner"),
            ("gone", "gone"),
        ] {
            config.sources.push(RegisteredSource {
                name: name.into(),
                kind: Kind::Markdown,
                path: folder.join(path),
                globs: Vec::new(),
                writable: false,
                transcripts: None,
                server: None,
            });
        }
        std::fs::create_dir_all(folder.join("outer/a/inner/deep")).unwrap();
        config
    }

    #[test]
    fn a_path_finds_its_sources() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let config = config(&root);
        let names = |path: &str| -> Vec<(String, String)> {
            let around = around(&config, &root.join(path));
            around
                .into_iter()
                .map(|(source, key)| (source.name.clone(), key))
                .collect()
        };
        assert_eq!(
            registered_at(&config, &root.join("outer")).unwrap().name,
            "outer"
        );
        assert!(registered_at(&config, &root).is_none());
        assert_eq!(
            names("outer/a/inner/deep"),
            [
                ("inner".into(), "deep/".into()),
                ("outer".into(), "a/inner/deep/".into())
            ]
        );
        assert!(names("outer").is_empty());
        let below = inside(&config, &root.join("outer"));
        assert_eq!(below.len(), 1);
        assert_eq!(below[0].name, "inner");
    }

    #[test]
    fn a_path_that_is_not_a_folder_is_explained() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.md");
        std::fs::write(&file, "x").unwrap();
        for (path, expected) in [
            (file.clone(), "is a file"),
            (file.join("below"), "is a file"),
            (folder.path().join("none"), "does not exist"),
        ] {
            let said = existing_folder(&path).unwrap_err().to_string();
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn unknown_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let config = config(folder.path());
        assert_eq!(named(&config, &[]).unwrap().len(), 3);
        assert_eq!(named(&config, &["inner".into()]).unwrap()[0].name, "inner");
        named(&config, &["other".into()]).unwrap_err();
    }
}
