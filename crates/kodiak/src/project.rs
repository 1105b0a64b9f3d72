//! Projects: which repository a path belongs to.
//!
//! A project is named by the root of its repository's main worktree, so that all
//! worktrees of a repository and all folders in it are one project. Only files
//! that git has written are read; git itself is never run.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The longest file of git that is read. Those that matter have one line.
const MAX_GIT_FILE_BYTES: u64 = 64 * 1024;

/// Returns the root of the main worktree of the repository that `path` is in, or
/// `None` if it is in none or does not exist.
pub fn root(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    path.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let metadata = fs::symlink_metadata(&git).ok()?;
        if metadata.is_file() {
            return Some(main_worktree(folder, &git));
        }
        // Git itself takes a folder for a repository only if it has a HEAD.
        git.join("HEAD").exists().then(|| folder.to_owned())
    })
}

/// Returns the name of the project that `path` belongs to: the root of its
/// repository, or the path itself if it is in none.
pub fn of(path: &Path) -> String {
    let root = root(path).unwrap_or_else(|| normalized(path));
    root.to_string_lossy().into_owned()
}

/// Returns a path with the folder that a leading `~` stands for, if that is known.
pub fn expanded(path: &str, home: Option<&Path>) -> PathBuf {
    let inside = path
        .strip_prefix('~')
        .filter(|inside| inside.is_empty() || inside.starts_with('/'));
    match (inside, home) {
        (Some(inside), Some(home)) => home.join(inside.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

/// Returns the known projects that `wanted` means: those at this place, however it is
/// written, or else all whose path ends with it, whatever its case. `home` is the folder
/// that a leading `~` stands for.
pub fn meant<'a>(
    wanted: &str,
    known: impl IntoIterator<Item = &'a str>,
    home: Option<&Path>,
) -> Vec<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let wanted = wanted.trim();
    let path = expanded(wanted, home);
    let mut places = vec![PathBuf::from(wanted), normalized(&path)];
    if path.is_absolute() {
        places.push(PathBuf::from(of(&path)));
    }
    // Components are compared, so that a separator at the end does not matter.
    let is_there = |name: &&&str| {
        places.contains(&PathBuf::from(name)) || places.contains(&expanded(name, home))
    };
    let there: Vec<&str> = known.iter().filter(is_there).copied().collect();
    if !there.is_empty() || path.is_absolute() {
        return there;
    }
    let lower = |name: &str| {
        let name = name.trim_end_matches(['/', '\\']).replace('\\', "/");
        name.to_lowercase()
    };
    let wanted = lower(wanted);
    let end = wanted.trim_start_matches("~/");
    let ends_so = |name: &&str| {
        let name = lower(name);
        let before = name.strip_suffix(end);
        !end.is_empty() && before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    known.into_iter().filter(ends_so).collect()
}

/// Returns the root of the main worktree, given a folder whose `.git` is a file. A linked
/// worktree names its own folder inside the repository there, which names the folder that
/// all worktrees share. A submodule is a separate project.
fn main_worktree(folder: &Path, git: &Path) -> PathBuf {
    let linked = || {
        let text = first_line(git)?;
        let own = folder.join(text.strip_prefix("gitdir:")?.trim());
        let shared = normalized(&own.join(first_line(&own.join("commondir"))?));
        let shared = fs::canonicalize(&shared).unwrap_or(shared);
        // A bare repository has no main worktree and stands for itself.
        let is_git = shared.file_name().is_some_and(|name| name == ".git");
        if is_git {
            shared.parent().map(Path::to_owned)
        } else {
            Some(shared)
        }
    };
    linked().unwrap_or_else(|| folder.to_owned())
}

fn first_line(file: &Path) -> Option<String> {
    let text = crate::files::read_text(file, MAX_GIT_FILE_BYTES).ok()?;
    Some(text.lines().next()?.trim().to_owned())
}

/// Returns a path without `.`, `..` and repeated separators, without looking at
/// the disk.
fn normalized(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !normal.pop() {
                    normal.push("..");
                }
            }
            other => normal.push(other),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(folder: &Path) {
        fs::create_dir_all(folder.join(".git")).unwrap();
        fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    #[test]
    fn worktrees_belong_to_the_main_one() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let (main, linked) = (base.join("main"), base.join("linked/deep"));
        repository(&main);
        fs::create_dir_all(main.join("src/inner")).unwrap();
        fs::create_dir_all(&linked).unwrap();
        let own = main.join(".git/worktrees/linked");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        let gitdir = format!("gitdir: {}\n", own.display());
        fs::write(base.join("linked/.git"), gitdir).unwrap();
        assert_eq!(root(&main.join("src/inner")), Some(main.clone()));
        assert_eq!(root(&linked), Some(main.clone()));
        assert_eq!(of(&linked), main.display().to_string());
        // A relative path to the repository works as well.
        fs::write(
            base.join("linked/.git"),
            "gitdir: ../main/.git/worktrees/linked",
        )
        .unwrap();
        assert_eq!(root(&linked), Some(main));
    }

    #[test]
    fn a_submodule_is_a_project_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        repository(&base);
        let inside = base.join("vendor/part");
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(base.join(".git/modules/part")).unwrap();
        fs::write(inside.join(".git"), "gitdir: ../../.git/modules/part\n").unwrap();
        assert_eq!(root(&inside), Some(inside.clone()));
        assert_eq!(root(&base.join("vendor")), Some(base));
    }

    #[test]
    fn a_path_outside_of_repositories_stands_for_itself() {
        assert_eq!(root(Path::new("/no/such/folder")), None);
        assert_eq!(of(Path::new("/no/./such/../folder/")), "/no/folder");
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".git")).unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        assert_ne!(root(&base), Some(base), "an empty .git is no repository");
    }

    #[test]
    fn the_last_component_is_enough() {
        let known = ["/home/a/src/api", "/home/b/API", "atlas", "/x/atlas"];
        let meant = |wanted| meant(wanted, known, None);
        assert_eq!(meant("atlas"), ["atlas"]);
        assert_eq!(meant("src/API/"), ["/home/a/src/api"]);
        assert_eq!(meant("~/src/api"), ["/home/a/src/api"]);
        assert!(meant("rc/api").is_empty() && meant("").is_empty() && meant("/").is_empty());
        assert_eq!(meant("api"), ["/home/a/src/api", "/home/b/API"]);
        assert_eq!(meant("/home/b/API"), ["/home/b/API"]);
        assert!(meant("src").is_empty());
    }

    #[test]
    fn a_place_is_known_however_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(folder.path()).unwrap();
        repository(&home.join("src/web"));
        fs::create_dir_all(home.join("src/web/deep")).unwrap();
        let (web, api) = (of(&home.join("src/web")), of(&home.join("src/api")));
        let known = [
            web.as_str(),
            api.as_str(),
            "~/src/api",
            "/srv/src/api",
            "notes",
        ];
        let meant = |wanted: &str| meant(wanted, known, Some(&home));
        // That the folder does not exist on this machine makes no difference.
        for wanted in ["~/src/api", "~/src/api/", "~/src/../src/api", &api] {
            assert_eq!(meant(wanted), [&api, "~/src/api"], "{wanted}");
        }
        for wanted in ["~/src/web", "~/src/web/deep", &format!("{web}/deep/")] {
            assert_eq!(meant(wanted), [&web], "{wanted}");
        }
        assert_eq!(meant("/srv/src/api"), ["/srv/src/api"]);
        assert!(meant("~/api").is_empty(), "another place of this name");
        assert_eq!(meant("api").len(), 3);
    }
}
