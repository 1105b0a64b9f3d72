//! Privacy: only the owner can read the files of the program.
//!
//! Everything is created that way. Earlier versions did not do so, and their folders
//! are tightened once. Folders that a person named, such as one of notes, keep the
//! permissions they have, wherever they are. The library tightens an index that is
//! elsewhere when it writes to it.

use std::fs;
use std::path::{Path, PathBuf};

use kodiak::files;

use crate::config::Config;
use crate::context::Context;
use crate::paths;

/// Takes the rights of others at the program's folders, if they have any, and says
/// so. Where that fails, for example on a file system without permissions, nothing is
/// said: the next run tries again.
pub(crate) fn tighten(context: &Context<'_>) {
    let mut tightened: Vec<PathBuf> = Vec::new();
    let mut named = None;
    for folder in paths::own_folders() {
        // A person may have put a link in its place, to a folder of their choice.
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|it| it.is_dir());
        if is_folder && files::tighten(&folder).unwrap_or(false) {
            let named = named.get_or_insert_with(|| named_folders(context));
            tighten_inside(&folder, named);
            tightened.push(folder);
        }
    }
    for path in tightened {
        context.output.notice(&format!(
            "others on this machine could read {}; from now on only you can",
            path.display()
        ));
    }
}

/// Returns the folders that a person named. Those that the program made itself are not
/// among them.
fn named_folders(context: &Context<'_>) -> Vec<PathBuf> {
    let Ok(config) = Config::load(&context.config_path) else {
        return Vec::new();
    };
    let usual = |path: &Path| {
        let own = paths::own_folders();
        let names = ["memory", "pages", "sessions"];
        own.iter()
            .any(|own| names.iter().any(|name| path.starts_with(own.join(name))))
    };
    let sources = config.sources.into_iter().map(|source| source.path);
    sources.filter(|path| !usual(path)).collect()
}

/// Tightens everything in a folder, except for the folders that a person named. Links
/// are left alone.
fn tighten_inside(folder: &Path, named: &[PathBuf]) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if named.contains(&path) || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        let _ = files::tighten(&path);
        if kind.is_dir() {
            tighten_inside(&path, named);
        }
    }
}
