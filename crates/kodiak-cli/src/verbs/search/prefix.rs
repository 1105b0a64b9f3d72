//! `search --path`: takes paths as they are shown.
//!
//! A path may start at the root of a source, with the name of a source, at the
//! current folder, at the home folder or at the root of the file system, and may end
//! with the line of a hit.

use std::path::{Path, PathBuf};

use kodiak::Reference;

use crate::config::{Config, RegisteredSource};
use crate::paths;

/// The part of the index that `--path` limits a search to.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Prefixes {
    /// The beginnings of paths within their sources.
    pub(super) paths: Vec<String>,
    /// The sources that were named along with the paths.
    pub(super) sources: Vec<String>,
}

/// Resolves the paths that were typed in the folder `here`.
pub(super) fn resolve(typed: &[String], config: &Config, here: Option<&Path>) -> Prefixes {
    let mut prefixes = Prefixes::default();
    for typed in typed {
        let typed = &absolute(without_line(typed, here));
        let plain = typed.strip_prefix("./").unwrap_or(typed);
        match elsewhere(typed, plain, config, here) {
            Some((source, path)) => {
                prefixes.paths.push(path);
                if !prefixes.sources.contains(&source) {
                    prefixes.sources.push(source);
                }
            }
            None => prefixes.paths.push(plain.to_owned()),
        }
    }
    // Sources limit all paths, so they count only if every path has one.
    if prefixes.sources.len() > 1 || prefixes.paths.len() > 1 {
        prefixes.sources.clear();
    }
    prefixes
}

/// Returns a path without the line of a hit that follows it, unless there is a file of
/// this name.
fn without_line(typed: &str, here: Option<&Path>) -> String {
    let parsed = typed.parse().ok();
    let named = |reference: &Reference| reference.lines.is_some();
    let Some(reference) = parsed.filter(named) else {
        return typed.to_owned();
    };
    let path = here.map_or_else(|| PathBuf::from(typed), |here| here.join(typed));
    if path.exists() {
        typed.to_owned()
    } else {
        reference.target
    }
}

/// Returns a path with the home folder that a tilde stands for: the shell does not
/// expand one in quotes.
fn absolute(typed: String) -> String {
    if !typed.starts_with('~') {
        return typed;
    }
    paths::expanded(&typed)
        .to_str()
        .map_or(typed, str::to_owned)
}

/// Returns the source and the path within it, if the path does not start at the
/// root of a source.
fn elsewhere(
    typed: &str,
    plain: &str,
    config: &Config,
    here: Option<&Path>,
) -> Option<(String, String)> {
    let sources = &config.sources;
    let in_source = |path: &Path| {
        sources.iter().find_map(|source| {
            let inside = path.strip_prefix(&source.path).ok()?.to_str()?;
            let inside = inside.replace(std::path::MAIN_SEPARATOR, "/");
            let open = !inside.is_empty() && typed.ends_with('/');
            let path = format!("{inside}{}", if open { "/" } else { "" });
            Some((source.name.clone(), path))
        })
    };
    if typed.starts_with('/') {
        return in_source(Path::new(typed));
    }
    // Paths are shown as they are typed here, so this goes first.
    if let Some(here) = here
        && let Ok(path) = here.join(typed).canonicalize()
        && let Some(found) = in_source(&path)
    {
        return Some(found);
    }
    let is_there = |source: &RegisteredSource| source.path.join(plain).exists();
    if sources.iter().any(is_there) {
        return None;
    }
    sources.iter().find_map(|source| {
        let inside = plain.strip_prefix(source.name.as_str())?;
        let inside = inside
            .strip_prefix('/')
            .or(inside.is_empty().then_some(""))?;
        Some((source.name.clone(), inside.to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Kind;

    #[test]
    fn paths_start_wherever_they_are_shown_to_start() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("notes/cooking/soup")).unwrap();
        let mut config = Config::default();
        config.sources.push(RegisteredSource {
            name: "brain".into(),
            kind: Kind::Markdown,
            path: root.join("notes"),
            globs: Vec::new(),
            writable: false,
            transcripts: None,
            server: None,
        });
        let absolute = format!("{}/notes/coo", root.display());
        for (typed, here, expected, named) in [
            ("cooking", "", "cooking", false),
            ("./coo", "", "coo", false),
            ("brain/cooking/", "", "cooking/", true),
            ("brain/coo", "", "coo", true),
            ("brain", "", "", true),
            ("notes/cooking/", "", "cooking/", true),
            ("soup", "notes/cooking", "cooking/soup", true),
            ("../cooking", "notes/cooking", "cooking", true),
            (&absolute, "", "coo", true),
            ("brainy/x", "", "brainy/x", false),
            // As hits are shown.
            ("notes/cooking/soup:12", "", "cooking/soup", true),
            ("soup:3-4", "notes/cooking", "cooking/soup", true),
            ("../cooking/soup:1", "notes/cooking", "cooking/soup", true),
            ("cooking/soup:7", "", "cooking/soup", false),
        ] {
            let found = resolve(&[typed.to_owned()], &config, Some(&root.join(here)));
            assert_eq!(found.paths, [expected], "{typed}");
            assert_eq!(!found.sources.is_empty(), named, "{typed}");
        }
    }
}
